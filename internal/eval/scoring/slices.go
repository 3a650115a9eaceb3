package scoring

import (
	"cmp"
	"slices"

	"github.com/prloop/prloop/internal/eval/cases"
)

// Slice is a part of the findings: those of one severity, category, language or size.
type Slice struct {
	// By is one of the By constants, Name the part.
	By   string `json:"by"`
	Name string `json:"name"`
	// Found and Expected are expected findings of the part, Right and Raised findings an agent put there.
	Found    int `json:"found"`
	Expected int `json:"expected"`
	Right    int `json:"right"`
	Raised   int `json:"raised"`
}

// Recall is nil where nothing is expected, Precision where nothing was raised.
func (s Slice) Recall() *float64 { return ratio(s.Found, s.Expected) }

// Precision is the share of the findings in the part that are right.
func (s Slice) Precision() *float64 { return ratio(s.Right, s.Raised) }

// What findings are divided by.
const (
	BySeverity = "severity"
	ByCategory = "category"
	ByLanguage = "language"
	BySize     = "size"
)

// sizes are the classes of cases.Case.Size in their order; other words come after them.
var sizes = []string{"1-40 lines", "41-170 lines", "171-600 lines", "over 600 lines", "small", "medium", "large"}

// slicesOf divides all findings: an expected one by its own severity and by the first category accepted for it, an agent's by
// what the agent said.
func slicesOf(byID map[string]cases.Case, graded []Graded) []Slice {
	parts := map[[2]string]*Slice{}
	part := func(by, name string) *Slice {
		name = cmp.Or(name, cases.Unknown)
		key := [2]string{by, name}
		if parts[key] == nil {
			parts[key] = &Slice{By: by, Name: name}
		}
		return parts[key]
	}
	of := func(c cases.Case, severity, category string, do func(*Slice)) {
		do(part(BySeverity, severity))
		do(part(ByCategory, category))
		do(part(ByLanguage, c.Language))
		do(part(BySize, c.Size()))
	}
	for _, g := range graded {
		c := byID[g.Case]
		for _, e := range g.Found {
			of(c, e.Severity, firstCategory(e), func(s *Slice) { s.Found, s.Expected = s.Found+1, s.Expected+1 })
		}
		for _, e := range g.Missed {
			of(c, e.Severity, firstCategory(e), func(s *Slice) { s.Expected++ })
		}
		for _, f := range g.Findings {
			of(c, f.Severity, Category(f.Category), func(s *Slice) {
				if s.Raised++; f.Fate == FateRight {
					s.Right++
				}
			})
		}
	}
	var out []Slice
	for _, s := range parts {
		out = append(out, *s)
	}
	order := map[string][]string{BySeverity: cases.Severities(), ByCategory: cases.Categories(), BySize: sizes}
	rank := func(s Slice) int {
		if i := slices.Index(order[s.By], s.Name); i >= 0 {
			return i
		}
		return len(sizes) + len(cases.Categories()) // after all that are known
	}
	group := []string{BySeverity, ByCategory, ByLanguage, BySize}
	slices.SortFunc(out, func(a, b Slice) int {
		return cmp.Or(cmp.Compare(slices.Index(group, a.By), slices.Index(group, b.By)), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// firstCategory is the first one accepted; where all are, nobody said.
func firstCategory(e cases.Expected) string {
	if len(e.Categories) == len(cases.Categories()) {
		return ""
	}
	return e.Categories[0]
}
