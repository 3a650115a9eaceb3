package sanitize

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// window is how many bytes of a known secret give it away (security 7.4, layer 0): the trick of cutting its first
// characters off does not help.
const window = 12

// Leaks reports whether s holds a known secret, or 12 bytes of one: as it is, upper or lower case, as hex, reversed, in
// base64 at any alignment, also when spaces, line ends, hidden characters or punctuation were put between, or when it was
// written as entities (security 7.4, layer 0). Rot13 and the like are out of reach.
func Leaks(s string, p Policy) bool {
	windows, whole := traces(p.Known)
	if len(windows) == 0 && len(whole) == 0 {
		return false
	}
	cleaned := clean(s)
	texts := []string{s, squeeze(cleaned), letters(cleaned)}
	if strings.Contains(cleaned, "&") {
		decoded := decodeEntities(cleaned)
		texts = append(texts, decoded, squeeze(decoded), letters(decoded))
	}
	for _, t := range texts {
		t = strings.ToLower(t)
		for i := 0; i+window <= len(t) && len(windows) > 0; i++ {
			if _, hit := windows[t[i:i+window]]; hit {
				return true
			}
		}
		if containsAny(t, whole) {
			return true
		}
	}
	return false
}

// traces gives the lower-case windows of long secrets and the whole spellings of short ones.
func traces(known []string) (windows map[string]struct{}, whole []string) {
	windows = map[string]struct{}{}
	for _, secret := range known {
		secret = strings.TrimSpace(secret)
		if len(secret) < 8 {
			continue
		}
		for _, e := range spellings(secret) {
			e = strings.ToLower(e)
			for _, t := range []string{e, squeeze(e), letters(e)} {
				switch {
				case len(secret) < 16 && len(t) >= 8:
					whole = append(whole, t)
				case len(secret) >= 16:
					for i := 0; i+window <= len(t); i++ {
						windows[t[i:i+window]] = struct{}{}
					}
				}
			}
		}
	}
	return windows, whole
}

// spellings are the ways a secret could be written down, case aside.
func spellings(secret string) []string {
	back := []byte(secret)
	slices.Reverse(back)
	out := []string{secret, string(back), hex.EncodeToString([]byte(secret)), hex.EncodeToString(back)}
	for shift := range 3 {
		// A secret inside a longer base64 text starts at one of three alignments; the characters that also depend on
		// the neighbours are left out.
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			e := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
			from := []int{0, 2, 3}[shift]
			to := len(e)
			if (shift+len(secret))%3 != 0 {
				to--
			}
			out = append(out, e[from:to])
		}
	}
	return out
}

// squeeze drops white space and everything outside ASCII.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return -1
		}
		return r
	}, s)
}

// letters drops everything but letters and digits: quotes, plus signs and list marks between the pieces of a secret.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') {
			return r
		}
		return -1
	}, s)
}
