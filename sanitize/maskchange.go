package sanitize

import (
	"context"
	"slices"
	"strings"
)

// MaskChange masks the files of a change, its diffs and the words about it where they stand; files are names and pieces of files, diffs are texts
// for KeyLines.MaskDiff, each list of words is what one person wrote. What the rules find in a file is taken out of everything when it cannot be
// a word of the others (see Random), and known, which may be nil, has it from
// then on; what they find in words out of these words alone: whoever writes a title or a comment could otherwise take code, or what somebody else says, away from
// those who have to read it. A reviewer has to read the diffs, so a word there that only stands behind a name
// like password stays, as long as nothing else says that it is a secret: `reset_prod_db` runs a command in a shell, MACRO_9 is code between two texts,
// 1.27.0-b4d is what will be installed. Of a text that is a piece of a file, pieces has the lines of keys in the whole file. MaskChange returns
// how many different values were taken out. It ends with the context.
func MaskChange(ctx context.Context, known *Learned, files, diffs []*string, pieces map[*string]KeyLines, words ...[]*string) (int, error) {
	all := map[string]bool{}
	code := learner{all: all, own: map[string]bool{}}
	if known == nil {
		known = &Learned{}
	}
	mask := func(l *learner, s *string) error {
		*s = l.mask(*s, pieces[s].spans(*s))
		*s = l.mask(*s, Secrets(*s))
		return ctx.Err()
	}
	for _, s := range files {
		if err := mask(&code, s); err != nil {
			return 0, err
		}
	}
	for _, s := range diffs {
		keys := pieces[s]
		*s = maskDiff(*s, func(s string) string {
			s = code.mask(s, keys.spans(s))
			return code.mask(s, changeSecrets(s))
		})
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
	known.Learn(code.known...)
	for _, s := range files {
		*s = known.Mask(*s)
	}
	for _, s := range diffs {
		*s = maskDiff(*s, known.Mask)
	}
	for _, list := range words {
		own := learner{all: all, own: map[string]bool{}}
		for _, s := range list {
			if err := mask(&own, s); err != nil {
				return 0, err
			}
		}
		said := &Learned{}
		said.Learn(own.known...)
		for _, s := range list {
			*s = known.Mask(said.Mask(*s))
		}
	}
	return len(all), ctx.Err()
}

// learner masks values, and remembers them. all are the values of all learners, own its own.
type learner struct {
	all, own map[string]bool
	known    []string
}

func (l *learner) mask(s string, spans []Span) string {
	spans = slices.DeleteFunc(spans, func(p Span) bool { return Published(s[p.Start:p.End]) })
	for _, p := range spans {
		v := s[p.Start:p.End]
		if p.More || l.own[v] {
			continue
		}
		l.all[v], l.own[v] = true, true
		l.known = append(l.known, v[:valueEnd(v, 0)]) // all of it, or what stands before the first bracket
	}
	return replaceSpans(s, spans)
}

// maxPiece is the mean length of the pieces of a value, in hundredths of a byte, up to which it is taken for random. Letters and
// digits drawn at random have pieces of about 2.2, names in code of 3 and more.
const maxPiece = 275

// Random reports whether a value can be nothing but a secret wherever it stands: 20 bytes and more that are written like a token, and
// that either have the form of an issuer or are too mixed for a name that somebody chose.
func Random(v string) bool {
	if len(v) < minSecretLen || !hasDigit(v) || candidate.FindString(v) != v {
		return false
	}
	for _, list := range [][]pattern{specPatterns, ownPatterns()} {
		for _, p := range list {
			if containsAny(v, p.words) && p.re.FindString(v) == v && p.sureOf(v) {
				return true
			}
		}
	}
	return hexKey(v) || windowEntropy(v) >= minEntropy && len(v)*100 <= pieces(v)*maxPiece
}

// Generated reports whether a text is too mixed for anything that somebody wrote, whatever signs are in it: 16 bytes and more without a blank.
func Generated(v string) bool {
	return len(v) >= minGenerated && !strings.ContainsAny(v, " \t") && LettersAndDigits(v) && Entropy(v) >= minEntropy && len(v)*100 <= pieces(v)*maxPiece
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
