package scoring

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/review"
)

// TestAssignIsOptimal holds the assignment against trying them all.
func TestAssignIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(0, 5).Draw(t, "rows"), rapid.IntRange(0, 5).Draw(t, "columns")
		weights := make([][]float64, rows)
		for i := range weights {
			for range columns {
				w := float64(rapid.IntRange(-4, 8).Draw(t, "w")) / 8
				weights[i] = append(weights[i], w)
			}
		}
		taken := assign(weights, columns)
		pairs, sum := 0, 0.0
		seen := map[int]bool{}
		for i, k := range taken {
			if k < 0 {
				continue
			}
			if weights[i][k] < 0 || seen[k] {
				t.Fatalf("%v takes what it may not: %v", weights, taken)
			}
			seen[k] = true
			pairs, sum = pairs+1, sum+weights[i][k]
		}
		bestPairs, bestSum := brute(weights, 0, map[int]bool{})
		if pairs != bestPairs || math.Abs(sum-bestSum) > 1e-9 {
			t.Fatalf("%v: %d pairs of %v, not %d of %v", weights, pairs, sum, bestPairs, bestSum)
		}
	})
}

func brute(weights [][]float64, row int, used map[int]bool) (pairs int, sum float64) {
	if row == len(weights) {
		return 0, 0
	}
	pairs, sum = brute(weights, row+1, used)
	for k, w := range weights[row] {
		if w < 0 || used[k] {
			continue
		}
		used[k] = true
		p, s := brute(weights, row+1, used)
		used[k] = false
		if p+1 > pairs || p+1 == pairs && s+w > sum {
			pairs, sum = p+1, s+w
		}
	}
	return pairs, sum
}

func expected(id, text string, line int, categories ...string) cases.Expected {
	return cases.Expected{ID: id, Text: text, Categories: categories, Anchors: []cases.Anchor{{File: "a.go", Start: line, End: line + 1, Side: cases.Right}}}
}

func issue(key, text string, line int, category string) review.Issue {
	return review.Issue{Key: key, File: "a.go", LineStart: line, Category: category, Title: text}
}

func graded(c cases.Case, place, words bool, issues ...review.Issue) Graded {
	return matchers(c, []results.Review{{Result: review.ReviewResult{Issues: issues}}})[0].grade(place, words)
}

const (
	leak  = "The connection is never closed when the query fails, so the pool leaks"
	leak2 = "Pool leak: a failing query leaves its connection open"
	other = "Rename the variable to say what it counts"
)

// TestGate holds the rule of the specification, spec.md R12, clause by clause.
func TestGate(t *testing.T) {
	golden := expected("g", leak, 20, "bug", "logic")
	at := func(change func(*review.Issue)) review.Issue {
		f := issue("f", other, 20, "bug")
		change(&f)
		return f
	}
	end := 17
	for name, row := range map[string]struct {
		f    review.Issue
		fits bool
	}{
		"same place, other words":            {at(func(*review.Issue) {}), true},
		"another accepted category":          {at(func(f *review.Issue) { f.Category = "logic" }), true},
		"a spelling of one":                  {at(func(f *review.Issue) { f.Category = "Correctness" }), true},
		"another category":                   {at(func(f *review.Issue) { f.Category = "style" }), false},
		"an unknown category":                {at(func(f *review.Issue) { f.Category = "vibes" }), false},
		"another file":                       {at(func(f *review.Issue) { f.File = "b.go" }), false},
		"three lines above":                  {at(func(f *review.Issue) { f.LineStart = 17 }), true},
		"four lines above":                   {at(func(f *review.Issue) { f.LineStart = 16 }), false},
		"three lines below the end":          {at(func(f *review.Issue) { f.LineStart = 24 }), true},
		"four lines below the end":           {at(func(f *review.Issue) { f.LineStart = 25 }), false},
		"a range that ends three lines away": {at(func(f *review.Issue) { f.LineStart, f.LineEnd = 10, &end }), true},
		"no line":                            {at(func(f *review.Issue) { f.LineStart = 0 }), false},
	} {
		g := graded(cases.Case{Golden: []cases.Expected{golden}}, true, false, row.f)
		if fits := len(g.Found) == 1; fits != row.fits {
			t.Errorf("%s: right is %v", name, fits)
		}
	}
	tests := expected("g", leak, 20, "style")
	if g := graded(cases.Case{Golden: []cases.Expected{tests}}, true, false, issue("f", other, 20, "tests")); len(g.Found) != 1 {
		t.Error("tests are not style")
	}
}

func fates(g Graded) map[string]Fate {
	out := map[string]Fate{}
	for _, f := range g.Findings {
		out[f.Key] = f.Fate
	}
	return out
}

func TestFates(t *testing.T) {
	c := cases.Case{
		Golden:    []cases.Expected{expected("g1", leak, 20, "bug"), expected("g2", "The retry loop never ends: the counter is not increased", 22, "bug")},
		Negatives: []cases.Expected{expected("n1", "The error message should not be capitalised", 21, "bug")},
	}
	wrong := issue("wrong", "Error message must not be capitalised", 21, "bug")
	one, two := issue("one", leak2, 20, "bug"), issue("two", leak, 21, "bug")
	if f := fates(graded(c, true, true, one, two, wrong, issue("far", other, 90, "bug"))); f["one"] != FateRepeat ||
		f["two"] != FateRight || f["wrong"] != FateKnownWrong || f["far"] != FateUnlisted {
		t.Errorf("by content: %v", f)
	}
	// By place alone two of the three are right, whatever they say.
	if g := graded(c, true, false, one, two, wrong); len(g.Found) != 2 || g.Counts().Raised != 3 {
		t.Errorf("by place: %+v", g)
	}
	// What is known to be wrong is wrong in other words than the nearest expected finding, but an expected finding is not.
	if f := fates(graded(c, true, true, issue("f", leak, 21, "bug"))); f["f"] != FateRight {
		t.Errorf("an expected finding beside a known-wrong one: %v", f)
	}
	// One that is like both counts as what it is more like, even if nothing else is left for the expected one.
	near := cases.Case{Golden: c.Golden[:1], Negatives: []cases.Expected{expected("n1", "The connection pool is never closed at the end of the program", 21, "bug")}}
	for text, want := range map[string]Fate{"The pool of connections is never closed when the program ends": FateKnownWrong, "When a query fails its connection is never closed": FateRight} {
		if f := fates(graded(near, true, true, issue("f", text, 21, "bug"))); f["f"] != want {
			t.Errorf("%q: %v", text, f)
		}
		if m := matchers(near, []results.Review{{Result: review.ReviewResult{Issues: []review.Issue{issue("f", text, 21, "bug")}}}})[0]; m.alike[0][0] < 0.25 || m.wrongAlike[0][0] < 0.25 {
			t.Errorf("%q is not like both: %v, %v", text, m.alike, m.wrongAlike)
		}
	}
	if g := graded(c, false, true, issue("f", leak, 0, "style")); len(g.Found) != 1 {
		t.Errorf("by words: %+v", g)
	}
}

// TestOrderDoesNotMatter shuffles what an agent says.
func TestOrderDoesNotMatter(t *testing.T) {
	c := cases.Case{Golden: []cases.Expected{expected("g1", leak, 20, "bug"), expected("g2", leak2, 22, "bug"), expected("g3", other, 21, "bug")}}
	all := []review.Issue{issue("a", leak, 20, "bug"), issue("b", leak2, 21, "bug"), issue("c", leak, 20, "bug"), issue("d", other, 24, "bug")}
	rapid.Check(t, func(t *rapid.T) {
		shuffled := rapid.Permutation(all).Draw(t, "order")
		for _, words := range []bool{false, true} {
			if got, want := fates(graded(c, true, words, shuffled...)), fates(graded(c, true, words, all...)); !mapsEqual(got, want) {
				t.Fatalf("words %v: %v, not %v", words, got, want)
			}
		}
	})
}

func mapsEqual(a, b map[string]Fate) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

func TestJudged(t *testing.T) {
	c := cases.Case{Golden: []cases.Expected{{ID: "g1"}, {ID: "g2"}, {ID: "g3"}}}
	issues := []review.Issue{{Key: "c1"}, {Key: "c2"}, {Key: "c3"}}
	v := results.Verdict{Same: []results.Same{{Golden: "g1", Finding: "c1"}, {Golden: "g2", Finding: "c1"}}, Repeats: []string{"c3"}}
	without, with := Judged(c, issues, v, false).Counts(), Judged(c, issues, v, true).Counts()
	if without.Found != 2 || without.Missed != 1 || without.False() != 1 || with.False() != 2 || with.Repeats != 1 {
		t.Errorf("%+v, %+v", without, with)
	}
	if p := without.Precision(); p == nil || math.Abs(*p-2.0/3) > 1e-9 {
		t.Errorf("one finding that is two expected ones counts as two: precision %v", p)
	}
	if !slices.Equal([]int{without.Raised, with.Raised}, []int{2, 3}) {
		t.Errorf("raised %d and %d", without.Raised, with.Raised)
	}
}
