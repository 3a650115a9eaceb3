package sanitize

import "strings"

// MaskChange masks the texts and the diffs of a change where they stand; diffs are texts for KeyLines.MaskDiff. What the rules find in one of
// them is taken out of all when it cannot be a word of the others (see Random): whoever writes a title could otherwise make code
// unreadable. A reviewer has to read the diffs, so a word there that only stands behind a name like password stays, as long as
// nothing else says that it is a secret: `reset_prod_db` runs a command in a shell, MACRO_9 is code between two texts, 1.27.0-b4d is
// what will be installed. Of a text that is a piece of a file, pieces has the lines of private keys in the whole file. MaskChange returns how
// many different values were taken out.
func MaskChange(texts, diffs []*string, pieces map[*string]KeyLines) int {
	values := map[string]bool{}
	var known []string
	learn := func(s string, spans []Span) string {
		for _, p := range spans {
			v := s[p.Start:p.End]
			if !p.More && !values[v] && Random(v) {
				known = append(known, v)
			}
			if !p.More {
				values[v] = true
			}
		}
		return replaceSpans(s, spans)
	}
	for _, s := range texts {
		*s = learn(*s, pieces[s].spans(*s))
		*s = learn(*s, Secrets(*s))
	}
	for _, s := range diffs {
		keys := pieces[s]
		*s = maskDiff(*s, func(s string) string {
			s = learn(s, keys.spans(s))
			return learn(s, changeSecrets(s))
		})
	}
	for _, v := range known {
		for _, list := range [][]*string{texts, diffs} {
			for _, s := range list {
				*s = strings.ReplaceAll(*s, v, Redacted)
			}
		}
	}
	return len(values)
}

// maxPiece is the mean length of the pieces of a value, in hundredths of a byte, up to which it is taken for random. Letters and
// digits drawn at random have pieces of about 2.2, names in code of 3 and more.
const maxPiece = 275

// Random reports whether a value can be nothing but a secret wherever it stands: 20 bytes and more that are written like a token, and
// that either have the form of an issuer or are too mixed for a name that somebody chose.
func Random(v string) bool {
	return Issued(v) || tokenLike(v) && windowEntropy(v) >= minEntropy && len(v)*100 <= pieces(v)*maxPiece
}

// Issued reports whether all of a value has the form of an issuer, of those that Random knows. Nobody else makes such values; how
// mixed a value is, whoever makes it up chooses.
func Issued(v string) bool {
	if !tokenLike(v) {
		return false
	}
	for _, list := range [][]pattern{specPatterns, ownPatterns()} {
		for _, p := range list {
			if containsAny(v, p.words) && p.re.FindString(v) == v && p.sureOf(v) {
				return true
			}
		}
	}
	return false
}

func tokenLike(v string) bool {
	return len(v) >= minSecretLen && hasDigit(v) && candidate.FindString(v) == v
}

// pieces counts the words and numbers of a value: runs of small letters, perhaps with a capital before, of capitals, and of digits.
func pieces(v string) int {
	n, last := 0, ' '
	for i := range len(v) {
		kind := ' '
		switch c := v[i]; {
		case c >= 'a' && c <= 'z':
			kind = 'a'
		case c >= 'A' && c <= 'Z':
			kind = 'A'
		case c >= '0' && c <= '9':
			kind = '0'
		}
		if kind != last && kind != ' ' && !(kind == 'a' && last == 'A') {
			n++
		}
		last = kind
	}
	return n
}
