package identity

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// Mark is what a line of a file keeps of a finding, so that it is known again: no line and no evidence, because both go on
// changing long after the line was written.
type Mark struct {
	// ID is that of the finding when it was marked.
	ID       string `json:"id"`
	Category string `json:"category"`
	File     string `json:"file"`
	Title    string `json:"title"`
	// Value is true where the mark is for the value of a secret, whose hash ID is made of, and for nothing else.
	Value bool `json:"value,omitempty"`
}

// MarkThreshold is how alike a title and a finding that is not grave must be where neither fingerprint nor line is known. It is above
// Threshold: of two wordings of one finding it knows two in three, and takes 1.4 in 100 other findings of the same file
// for it (decision 45).
const MarkThreshold = 0.35

// ID names a distinct finding, the gravest wording first: the fingerprint of the first wording that has one, of one that knows the value
// of a secret before all others. Without one it is made of category, file and title. It is 16 hex digits.
func ID(wordings []review.Finding) string {
	known := slices.Clone(wordings)
	slices.SortStableFunc(known, func(a, b review.Finding) int { return valueless(a) - valueless(b) })
	for _, w := range known {
		for _, print := range []string{w.Fingerprint, Fingerprint(w)} {
			if IsID(print) {
				return print
			}
		}
	}
	if len(wordings) == 0 {
		return ""
	}
	return titled(wordings[0])
}

// valueless is 0 for a finding that knows the value of a secret, 1 for all others.
func valueless(f review.Finding) int {
	if f.ValueHash != "" {
		return 0
	}
	return 1
}

// titled names a wording without a fingerprint.
func titled(f review.Finding) string {
	return digits(f.Category, f.File, strings.Join(strings.Fields(strings.ToLower(f.Title)), " "))
}

// IsID reports whether s has the form of an ID.
func IsID(s string) bool {
	_, err := hex.DecodeString(s)
	return len(s) == 16 && err == nil && s == strings.ToLower(s)
}

// Worded reports whether a finding is worded like a mark, whatever it quotes.
func (m Mark) Worded(f review.Finding) bool {
	likeness, same := Likeness(review.Finding{Category: m.Category, File: m.File, Title: m.Title}, f)
	return same && likeness >= MarkThreshold
}

// Recognize says which group of findings each mark is: -1 for none. A mark is one group at most, and a group has one mark at
// most, the surest pairs first, so that a mark never takes a second finding along. A secret whose value is known is known by its ID
// alone, and a mark for a value is for that alone: another value in the same file has the same words. What is grave is known by its fingerprint and words akin to the title: the same
// words may be of other code (threats.md T910), and so is code that the file had and the change adds again, or alters (threats.md T886). It does not depend on the order of either.
func Recognize(marks []Mark, groups [][]review.Finding) []int {
	type pair struct {
		candidate
		mark, group int
	}
	known := make([]sight, len(marks))
	for i, m := range marks {
		f := review.Finding{Category: m.Category, File: m.File, Title: m.Title}
		known[i] = sight{Finding: f, print: m.ID, text: profileOf(m.Title)}
	}
	var pairs []pair
	for g, group := range groups {
		for _, s := range seen(group, nil) {
			s.start, s.end = 0, 0
			if s.print = Fingerprint(s.Finding); s.print == "" {
				s.print = titled(s.Finding)
			}
			grave := s.ValueHash == "" && (s.Priority.Severe() || !s.Priority.Valid() || Security(s.Category))
			if grave && s.Altered {
				continue
			}
			for i, k := range known {
				worded := !grave && !marks[i].Value && s.ValueHash == ""
				if c, ok := compare(k, s); ok && (c.exact && (!marks[i].Value || s.ValueHash != "") && (!grave || c.score >= akin) || worded && c.score >= MarkThreshold) {
					pairs = append(pairs, pair{c, i, g})
				}
			}
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int {
		exact := 0
		if p.exact != q.exact {
			if exact = 1; p.exact {
				exact = -1
			}
		}
		return cmp.Or(exact, cmp.Compare(q.score, p.score), order(groups[p.group][0], groups[q.group][0]), cmp.Compare(marks[p.mark].ID, marks[q.mark].ID), cmp.Compare(marks[p.mark].Title, marks[q.mark].Title))
	})
	of, taken := make([]int, len(marks)), make([]bool, len(groups))
	for i := range of {
		of[i] = -1
	}
	for _, p := range pairs {
		if of[p.mark] < 0 && !taken[p.group] {
			of[p.mark], taken[p.group] = p.group, true
		}
	}
	return of
}
