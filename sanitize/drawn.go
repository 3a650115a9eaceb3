package sanitize

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Bounds of a value that was drawn.
const (
	// minDrawnValue is how long it is at least, in bytes.
	minDrawnValue = 13
	// minSignedValue is how long one with signs is at least, and minDrawnSigned how many letters and digits it has: what people make up for tests is shorter.
	minSignedValue = 16
	minDrawnSigned = 10
	// maxStretch is the mean length of its stretches, in hundredths of a byte. Values that are drawn have 1.4, names in code 5 and more: of values with 16 bytes of letters of both
	// cases and digits four in a thousand are over it, and hardly a name in public code is below.
	maxStretch = 235
	// minDrawnHexEntropy is what hex of that length has nearly always, in bits for each byte.
	minDrawnHexEntropy = 2.5
)

var (
	// hexValue is hex of that length.
	hexValue = lazyregexp.New(`^(?:[0-9a-f]{13,}|[0-9A-F]{13,})$`)
	// hexPart is a part of a value with signs that tells nothing.
	hexPart = lazyregexp.New(`^(?:[0-9a-f]{4,}|[0-9A-F]{4,})$`)
	// pathData is a piece of the path of an icon in SVG.
	pathData = lazyregexp.New(`^[0-9]*(?:[AaCcHhLlMmQqSsTtVvZz]{1,2}[0-9]+)+[Zz]?$`)
)

// Drawn reports whether a value was drawn rather than chosen: whoever chooses one makes it of words. Of one with signs, no part between them is a word, and what is neither
// a number nor hex is judged as if there were none. It judges what stands near the name of a secret, whatever stands between them (threats.md T848).
func Drawn(v string) bool {
	if len(v) < minDrawnValue {
		return false
	}
	v = v[:min(len(v), maxWorded)] // enough to tell
	bare := v
	if strings.IndexFunc(v, noAlnum) >= 0 {
		if len(v) < minSignedValue {
			return false
		}
		if bare = unsigned(v); len(bare) < minDrawnSigned {
			return false
		}
	} else if hexValue.MatchString(v) && LettersAndDigits(v) && Entropy(v) >= minDrawnHexEntropy {
		return !standIn(v, nil)
	}
	return mixedUp(bare) && differ(bare) && drawn(bare) >= minDrawn && !standIn(v, nil) && !pathData.MatchString(bare) && mixedUp(kindOfKey.ReplaceAllString(bare, "Digest"))
}

// unsigned is a value with signs without these, and without the words, the numbers and the hex between them, such as the parts of a UUID. It is empty where that is nothing but hex,
// and where words make up more. A dot joins names.
func unsigned(v string) string {
	var bare string
	inWords := 0
	for _, part := range strings.FieldsFunc(v, noAlnum) {
		var t wordTally
		switch {
		case t.add(part) && t.inWords > t.rest:
			inWords += len(part)
		case !hexPart.MatchString(part):
			bare += part
		}
	}
	if strings.Contains(v, ".") || hexPart.MatchString(bare) || inWords > len(bare) {
		return ""
	}
	return bare
}

// drawnIn reports whether a part of a value was drawn, as one in a query of an address is.
func drawnIn(v string) bool { return slices.ContainsFunc(strings.FieldsFunc(v, noAlnum), Drawn) }

func noAlnum(c rune) bool { return c > 'z' || !alnum(byte(c)) }

// differ reports whether more than half of the first bytes of a value differ, as those of the pattern of a date do not.
func differ(v string) bool {
	v = v[:min(len(v), 16)]
	n := 0
	for i := range len(v) {
		if strings.IndexByte(v[:i], v[i]) < 0 {
			n++
		}
	}
	return n*2 > len(v)
}

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
