package scoring

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// Tolerance is how many lines a finding may stand beside the expected one (spec.md R12).
const Tolerance = 3

// Fate is what a finding counts as.
type Fate string

// The fates. All but Right are false alarms.
const (
	// FateRight is an expected finding.
	FateRight Fate = "right"
	// FateKnownWrong says again what people judged wrong: a certain false alarm.
	FateKnownWrong Fate = "known wrong"
	// FateRepeat would be right, but another finding is the same expected one; or a judge said so.
	FateRepeat Fate = "repeat"
	// FateUnlisted is nothing people expected: false, or true and not listed.
	FateUnlisted Fate = "unlisted"
)

// Graded is one review of one case, graded by one measure.
type Graded struct {
	Case     string
	Repeat   int
	Findings []Finding
	// Found and Missed are the expected findings.
	Found, Missed []cases.Expected
}

// Finding is a finding and what it counts as.
type Finding struct {
	review.Issue
	Fate Fate
	// Golden names the expected finding or the known-wrong comment it is, or comes nearest to; empty for neither.
	Golden string
}

// Counts sums up a graded review.
func (g Graded) Counts() Counts {
	c := Counts{Reviews: 1, Found: len(g.Found), Missed: len(g.Missed)}
	for _, f := range g.Findings {
		c.Raised++
		switch f.Fate {
		case FateKnownWrong:
			c.KnownWrong++
		case FateRepeat:
			c.Repeats++
		case FateUnlisted:
			c.Unlisted++
		}
	}
	return c
}

// matcher compares the findings of one review with what is expected of the case.
type matcher struct {
	c      cases.Case
	issues []review.Issue
	// from is the index of the first of them among the texts of the case.
	from int
	// gate and wrongGate are true where file, category and lines fit, by expected finding or negative and by finding.
	gate, wrongGate [][]bool
	// alike and wrongAlike are the similarities of the words.
	alike, wrongAlike [][]float64
}

// matchers reads the texts of a case and of all its reviews once.
func matchers(c cases.Case, reviews []results.Review) []*matcher {
	var texts []review.Finding
	for _, e := range slices.Concat(c.Golden, c.Negatives) {
		texts = append(texts, review.Finding{Title: e.Text})
	}
	var out []*matcher
	for _, r := range reviews {
		m := &matcher{c: c, issues: slices.Clone(r.Result.Issues), from: len(texts)}
		// One order, whatever the agent's: of equals always the same one is taken.
		slices.SortStableFunc(m.issues, func(a, b review.Issue) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.LineStart, b.LineStart), strings.Compare(a.Title, b.Title),
				strings.Compare(a.Description, b.Description), strings.Compare(a.Key, b.Key))
		})
		for _, f := range m.issues {
			texts = append(texts, review.Finding{Title: f.Title, Description: f.Description})
		}
		out = append(out, m)
	}
	known := identity.Know(texts)
	for i, e := range slices.Concat(c.Golden, c.Negatives) {
		places := c.Places(e)
		for _, m := range out {
			gate, alike := make([]bool, len(m.issues)), make([]float64, len(m.issues))
			for k, f := range m.issues {
				gate[k] = slices.Contains(e.Categories, Category(f.Category)) && near(places, f)
				alike[k] = known.Similarity(i, m.from+k)
			}
			if i < len(c.Golden) {
				m.gate, m.alike = append(m.gate, gate), append(m.alike, alike)
			} else {
				m.wrongGate, m.wrongAlike = append(m.wrongGate, gate), append(m.wrongAlike, alike)
			}
		}
	}
	return out
}

// Category brings a category to one of the six of spec.md R1. Tests and design, which only prloop knows, are style: the three
// are one family to identity.
func Category(s string) string {
	switch s = identity.Category(s); s {
	case review.CategoryTests, review.CategoryDesign:
		return review.CategoryStyle
	}
	return s
}

// near reports whether a finding stands at one of the places, within Tolerance.
func near(places []cases.Anchor, f review.Issue) bool {
	end := f.LineStart
	if f.LineEnd != nil {
		end = max(end, *f.LineEnd)
	}
	return f.LineStart > 0 && slices.ContainsFunc(places, func(a cases.Anchor) bool {
		return a.File == f.File && max(0, f.LineStart-a.End, a.Start-end) <= Tolerance
	})
}

// best is the expected finding or negative that a finding resembles most among those that fit; -1 when none does.
func best(fits [][]bool, alike [][]float64, finding int) (at int, score float64) {
	at = -1
	for i := range alike {
		if (fits == nil || fits[i][finding]) && alike[i][finding] >= identity.Threshold && alike[i][finding] > score {
			at, score = i, alike[i][finding]
		}
	}
	return at, score
}

// grade assigns findings to expected ones, each to one at most: as many as possible, and of all such assignments the one whose
// words are most alike. place asks for file, category and lines, words for similar words; a finding that resembles a comment
// known to be wrong more than any expected one is then never right.
func (m *matcher) grade(place, words bool) Graded {
	fits, wrongFits := m.gate, m.wrongGate
	if !place {
		fits, wrongFits = nil, nil
	}
	g := Graded{Case: m.c.ID}
	wrong := make([]int, len(m.issues))
	for k := range m.issues {
		var against float64
		wrong[k], against = best(wrongFits, m.wrongAlike, k)
		if _, score := best(fits, m.alike, k); words && score >= against {
			wrong[k] = -1
		}
	}
	weights := make([][]float64, len(m.c.Golden))
	for i := range weights {
		weights[i] = make([]float64, len(m.issues))
		for k := range m.issues {
			weights[i][k] = -1
			if (!place || m.gate[i][k]) && (!words || m.alike[i][k] >= identity.Threshold && wrong[k] < 0) {
				weights[i][k] = m.alike[i][k]
			}
		}
	}
	taken := assign(weights, len(m.issues))
	for k, f := range m.issues {
		out := Finding{Issue: f, Fate: FateUnlisted}
		i := slices.Index(taken, k)
		repeats := slices.IndexFunc(weights, func(row []float64) bool { return row[k] >= 0 })
		switch {
		case i >= 0:
			out.Fate, out.Golden = FateRight, m.c.Golden[i].ID
		case wrong[k] >= 0:
			out.Fate, out.Golden = FateKnownWrong, m.c.Negatives[wrong[k]].ID
		case repeats >= 0:
			out.Fate, out.Golden = FateRepeat, m.c.Golden[repeats].ID
		}
		g.Findings = append(g.Findings, out)
	}
	for i, e := range m.c.Golden {
		if taken[i] >= 0 {
			g.Found = append(g.Found, e)
		} else {
			g.Missed = append(g.Missed, e)
		}
	}
	return g
}

// Judged grades a review by a recorded verdict. A finding may be several expected ones. Findings that repeat another are
// false alarms if countRepeats is set, and otherwise not counted at all.
func Judged(c cases.Case, issues []review.Issue, v results.Verdict, countRepeats bool) Graded {
	g := Graded{Case: c.ID}
	of := map[string]string{}
	found := map[string]bool{}
	for _, s := range v.Same {
		of[s.Finding], found[s.Golden] = s.Golden, true
	}
	for _, f := range issues {
		golden, right := of[f.Key]
		switch {
		case right:
			g.Findings = append(g.Findings, Finding{f, FateRight, golden})
		case !slices.Contains(v.Repeats, f.Key):
			g.Findings = append(g.Findings, Finding{f, FateUnlisted, ""})
		case countRepeats:
			g.Findings = append(g.Findings, Finding{f, FateRepeat, ""})
		}
	}
	for _, e := range c.Golden {
		if found[e.ID] {
			g.Found = append(g.Found, e)
		} else {
			g.Missed = append(g.Missed, e)
		}
	}
	return g
}

// assign gives each row the column it takes, -1 for none: as many pairs as possible, and of all such assignments one of the
// greatest weight. Weights are 0 to 1; a negative one is no pair. It is the Hungarian method with potentials; every row has a
// column of its own that means none.
func assign(weights [][]float64, columns int) []int {
	rows := len(weights)
	all := columns + rows
	cost := func(i, j int) float64 {
		if j >= columns || weights[i][j] < 0 {
			return 0
		}
		return -float64(rows+1) - weights[i][j] // one more pair outweighs all similarities
	}
	u, v := make([]float64, rows+1), make([]float64, all+1)
	rowOf, way := make([]int, all+1), make([]int, all+1) // 1-based; 0 is none
	for i := 1; i <= rows; i++ {
		rowOf[0] = i
		least, used := make([]float64, all+1), make([]bool, all+1)
		for j := range least {
			least[j] = math.Inf(1)
		}
		j := 0
		for rowOf[j] != 0 {
			used[j] = true
			row, delta, next := rowOf[j], math.Inf(1), 0
			for k := 1; k <= all; k++ {
				if used[k] {
					continue
				}
				if d := cost(row-1, k-1) - u[row] - v[k]; d < least[k] {
					least[k], way[k] = d, j
				}
				if least[k] < delta {
					delta, next = least[k], k
				}
			}
			for k := range used {
				if used[k] {
					u[rowOf[k]] += delta
					v[k] -= delta
				} else {
					least[k] -= delta
				}
			}
			j = next
		}
		for j != 0 {
			rowOf[j], j = rowOf[way[j]], way[j]
		}
	}
	taken := make([]int, rows)
	for i := range taken {
		taken[i] = -1
	}
	for j := 1; j <= columns; j++ {
		if i := rowOf[j]; i > 0 && weights[i-1][j-1] >= 0 {
			taken[i-1] = j - 1
		}
	}
	return taken
}
