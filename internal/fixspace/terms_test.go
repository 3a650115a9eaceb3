package fixspace

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

// A fixer is told of the tests with the file's name first, then of those beside it, and of none that is far away.
func TestNearTests(t *testing.T) {
	task := review.Task{Brief: review.Brief{Files: []review.BriefFile{{Path: "shop/stock.go"}}}, Fix: &review.FixPayload{IssuesToFix: []review.Finding{{File: "web/page.py"}, {}}}}
	files := []string{"other/far_test.go", "shop/price_test.go", "shop/stock.go", "shop/stock_test.go", "shop/sub/x_test.go", "tests/test_page.py", "web/page.py"}
	got, all := near(files, task)
	if want := []string{"shop/stock_test.go", "tests/test_page.py", "shop/price_test.go", "shop/sub/x_test.go"}; !slices.Equal(got, want) || all != 5 {
		t.Errorf("%q of %d", got, all)
	}
	files = nil
	for range 3 * nearTests {
		files = append(files, "shop/"+strings.Repeat("a", len(files)+1)+"_test.go")
	}
	if got, all := near(files, task); len(got) != nearTests || all != 3*nearTests {
		t.Errorf("%d of %d", len(got), all)
	}
	if got, all := near([]string{"shop/stock.go"}, task); len(got) != 0 || all != 0 {
		t.Errorf("%q of %d", got, all)
	}
}

// What a try is held to is told in numbers, with what the fixes before it used up.
func TestTerms(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "package a\n", "a_test.go": "package a\n"})
	o := w.order()
	o.Verify, o.Detected, o.PRFiles, o.PRLines = []string{"make test", "x\u200b"}, true, 9, 300
	o.Setup = &review.Check{Command: "npm ci", State: review.CheckFailed, Log: "no \u200b network"}
	o.Task.Brief.Files = []review.BriefFile{{Path: "a.go"}}
	o.First = w.base
	o.From = w.commit(map[string]string{"a.go": "package b\n"})
	o.Reviewed = o.From
	w.fetch()
	var got *review.FixTerms
	w.workspace.Ask = func(_ context.Context, task review.Task, _ string, _ func(review.Event)) review.Answer {
		got = task.Terms
		return review.Answer{}
	}
	w.fix(o)
	want := &review.FixTerms{Verify: []string{"make test", "x⟨U+200B⟩"}, Detected: true, Tests: []string{"a_test.go"}, TestFiles: 1, Setup: &review.Check{Command: "npm ci", State: review.CheckFailed, Log: "no ⟨U+200B⟩ network"}, Files: 18, Lines: 600, FilesUsed: 1, LinesUsed: 2}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
