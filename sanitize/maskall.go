package sanitize

import "strings"

// MaskAll masks texts that belong together, such as those of a pull request, where they stand; diffs are texts for MaskDiff.
// What the rules find in one of them and what is no ordinary word is taken out of all. It returns how many different values were
// taken out.
func MaskAll(texts, diffs []*string) int {
	values := map[string]bool{}
	var known []string
	learn := func(s string) string {
		spans := Secrets(s)
		for _, p := range spans {
			v := s[p.Start:p.End]
			if !p.More && !values[v] && len(v) >= minSecretLen && hasDigit(v) && windowEntropy(v) >= minEntropy {
				known = append(known, v)
			}
			if !p.More {
				values[v] = true
			}
		}
		return replaceSpans(s, spans)
	}
	for _, s := range texts {
		*s = learn(*s)
	}
	for _, s := range diffs {
		*s = maskDiff(*s, learn)
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
