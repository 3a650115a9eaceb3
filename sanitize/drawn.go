package sanitize

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Bounds of a value of letters and digits that was drawn.
const (
	// minDrawnValue is how long it is at least, in bytes.
	minDrawnValue = 13
	// maxStretch is the mean length of its stretches, in hundredths of a byte. Values that are drawn have 1.4, names in code 5 and more: of values with 16 bytes of letters of both
	// cases and digits four in a thousand are over it, and hardly a name in public code is below.
	maxStretch = 235
	// minDrawnHexEntropy is what hex of that length has nearly always, in bits for each byte.
	minDrawnHexEntropy = 2.5
)

var (
	// hexValue is hex of that length.
	hexValue = lazyregexp.New(`^(?:[0-9a-f]{13,}|[0-9A-F]{13,})$`)
	// pathData is a piece of the path of an icon in SVG.
	pathData = lazyregexp.New(`^[0-9]{0,4}(?:[AaCcHhLlMmQqSsTtVvZz]{1,2}[0-9]{1,4})+[Zz]?$`)
)

// Drawn reports whether a value of letters and digits was drawn rather than chosen: whoever chooses one makes it of words. It judges what stands near the name of a secret,
// whatever stands between them (threats.md T848).
func Drawn(v string) bool {
	if len(v) < minDrawnValue || strings.IndexFunc(v, noAlnum) >= 0 {
		return false
	}
	v = v[:min(len(v), maxWorded)] // enough to tell
	if hexValue.MatchString(v) && LettersAndDigits(v) && Entropy(v) >= minDrawnHexEntropy {
		return !MadeUp(v)
	}
	return mixedUp(v) && drawn(v) >= minDrawn && !MadeUp(v) && !pathData.MatchString(v) && mixedUp(kindOfKey.ReplaceAllString(v, "Digest"))
}

// drawnIn reports whether a part of a value was drawn, as one in a query of an address is.
func drawnIn(v string) bool { return slices.ContainsFunc(strings.FieldsFunc(v, noAlnum), Drawn) }

func noAlnum(c rune) bool { return c > 'z' || !alnum(byte(c)) }

// mixedUp reports whether the letters and digits of a value change too often for words.
func mixedUp(v string) bool { return len(v)*100 <= stretches(v)*maxStretch }

// stretches counts the pieces of a value of letters and digits, and each anew behind two letters that hardly stand side by side in words.
func stretches(v string) int {
	n := pieces(v)
	for i := 1; i < len(v); i++ {
		if first, next := v[i-1]|0x20, v[i]|0x20; first >= 'a' && next >= 'a' && (v[i-1] < 'a' || v[i] >= 'a') {
			n += oddPairs(string([]byte{first, next}))
		}
	}
	return n
}
