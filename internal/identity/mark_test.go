package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/prloop/prloop/review"
)

func markOf(f review.Finding) Mark {
	return Mark{ID: ID([]review.Finding{f}), Category: f.Category, File: f.File, Title: f.Title}
}

func TestRecognize(t *testing.T) {
	first := review.Finding{Priority: review.P2, Category: "bug", File: "a.go", Line: at(40), Title: "Close error of the response body is ignored", Description: "Nobody looks at it."}
	quoted := first
	quoted.Evidence = "defer resp.Body.Close()"
	for _, row := range []struct {
		name   string
		marked review.Finding
		change func(*review.Finding)
		want   bool
	}{
		{"the same words, many lines below", first, func(f *review.Finding) { f.Line = at(900) }, true},
		{"other words for it", first, func(f *review.Finding) {
			f.Title, f.Description = "Ignored error", "The error that Close of the response body returns is ignored."
		}, true},
		{"other words, the same code", quoted, func(f *review.Finding) {
			f.Title, f.Description, f.Evidence = "Leak", "", "defer  resp.Body.Close()"
		}, true},
		{"other words, the same code, a P1", quoted, func(f *review.Finding) { f.Priority, f.Title, f.Description = review.P1, "Leak", "" }, false},
		{"akin words, the same code, a P1", quoted, func(f *review.Finding) {
			f.Priority, f.Title, f.Description = review.P1, "Response body is leaked", "Nobody sees that Close failed."
		}, true},
		{"the same words, other code, a P1 (threats.md T910)", quoted, func(f *review.Finding) { f.Priority, f.Evidence = review.P1, "defer reply.Body.Close()" }, false},
		{"the same words, other code, a P2 about security (threats.md T910)", quoted, func(f *review.Finding) { f.Category, f.Evidence = "security", "defer reply.Body.Close()" }, false},
		{"the same words, other code, a P2", quoted, func(f *review.Finding) { f.Evidence = "defer reply.Body.Close()" }, true},
		{"akin words, no code, a P1 (threats.md T910)", first, func(f *review.Finding) { f.Priority, f.Title = review.P1, "Ignored close error of the response body" }, false},
		{"the same words, the same code many lines below, a P1", quoted, func(f *review.Finding) { f.Priority, f.Line = review.P1, at(900) }, true},
		{"the same words, a P1 in altered code", quoted, func(f *review.Finding) { f.Priority, f.Altered = review.P1, true }, false},
		{"the same words, a P2 in altered code", quoted, func(f *review.Finding) { f.Altered = true }, true},
		{"another problem of the file", first, func(f *review.Finding) {
			f.Title, f.Description = "Quadratic loop", "Every order is compared with each other order."
		}, false},
		{"another file", first, func(f *review.Finding) { f.File = "b.go" }, false},
		{"a category of another family", first, func(f *review.Finding) { f.Category = "tests" }, false},
	} {
		now := row.marked
		row.change(&now)
		if got := Recognize([]Mark{markOf(row.marked)}, [][]review.Finding{{now}})[0] == 0; got != row.want {
			t.Errorf("%s: known again %v", row.name, got)
		}
	}
}

func TestAMarkTakesOneFinding(t *testing.T) {
	f := review.Finding{Category: "bug", File: "a.go", Line: at(4), Title: "error of Close is ignored"}
	other := f
	other.Line, other.Title = at(9), "error of Close is ignored here too"
	mark := markOf(f)
	if d := cmp.Diff([]int{1}, Recognize([]Mark{mark}, [][]review.Finding{{other}, {f}})); d != "" {
		t.Errorf("the surest one, and no other: %s", d)
	}
	if d := cmp.Diff([]int{0, -1}, Recognize([]Mark{mark, mark}, [][]review.Finding{{f}})); d != "" {
		t.Errorf("of two marks of one finding the first: %s", d)
	}
}

func TestIDIsOfTheFindingNotOfItsPlace(t *testing.T) {
	f := review.Finding{Category: "Bugs", File: "a.go", Line: at(4), Title: "Error of  Close is ignored"}
	moved := f
	moved.Category, moved.Line, moved.Title, moved.Description = "bug", at(40), "error of Close is ignored", "other words"
	if a, b := ID([]review.Finding{f}), ID([]review.Finding{moved}); a != b || !IsID(a) {
		t.Errorf("%q and %q", a, b)
	}
	quoting := f
	quoting.Evidence = "defer resp.Body.Close()"
	if got := ID([]review.Finding{f, quoting}); got != Fingerprint(quoting) {
		t.Errorf("what one wording quotes names it for all: %q", got)
	}
}

// Behind a mask all values look alike, so words do not tell which one was meant (threats.md T443).
func TestASecretIsKnownByItsValueAlone(t *testing.T) {
	one := review.Finding{Category: "security", File: "a.go", Line: at(4), Title: "Adds a secret", Evidence: "AUTH_TOKEN = [REDACTED] // of the tests", ValueHash: "01"}
	two, model := one, one
	two.ValueHash, model.ValueHash, model.Priority = "02", "", review.P0
	if got := Recognize([]Mark{markOf(one)}, [][]review.Finding{{two}, {one}}); got[0] != 1 {
		t.Errorf("a mark is for its value: %v", got)
	}
	if got := Recognize([]Mark{markOf(one), markOf(model)}, [][]review.Finding{{two}}); got[0] != -1 || got[1] != -1 {
		t.Errorf("neither is another value: %v", got)
	}
	valued := markOf(one)
	if valued.Value = true; Recognize([]Mark{valued}, [][]review.Finding{{model}, {two}, {one}})[0] != 2 || Recognize([]Mark{valued}, [][]review.Finding{{model}})[0] != -1 {
		t.Error("a mark for a value is for no words")
	}
	if ID([]review.Finding{model, one}) != Fingerprint(one) || Fingerprint(one) == Fingerprint(two) {
		t.Error("who knows the value names the finding")
	}
	one.Source.Name, model.Source.Name = "static", "model"
	if groups := Join([]review.Finding{one, model}); len(groups) != 1 {
		t.Errorf("a model quotes the same line: %v", groups)
	}
	if pairs := Match([]review.Finding{one}, []review.Finding{two}, nil); len(pairs) != 1 {
		t.Errorf("in the next round it is the same line: %v", pairs)
	}
}

func TestRecognizeIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbered(anyFindings().Draw(t, "marked")), numbered(anyFindings().Draw(t, "now"))
		known := func(a, b []review.Finding) map[Mark][]string {
			var marks []Mark
			for _, f := range a {
				marks = append(marks, markOf(f))
			}
			var groups [][]review.Finding
			for _, f := range b {
				f.ID = "" // the same content is the same finding here
				groups = append(groups, []review.Finding{f})
			}
			out := map[Mark][]string{}
			for i, g := range Recognize(marks, groups) {
				if g >= 0 {
					out[marks[i]] = append(out[marks[i]], groups[g][0].Title)
				}
			}
			return out
		}
		if d := cmp.Diff(known(a, b), known(a, shuffled(t, b)), sorted); d != "" {
			t.Fatal(d)
		}
	})
}

var sorted = cmp.Transformer("sorted", func(list []string) map[string]int {
	n := map[string]int{}
	for _, s := range list {
		n[s]++
	}
	return n
})
