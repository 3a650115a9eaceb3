package orchestrator

import (
	"testing"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
)

// A fix that writes into a file which the next round leaves out goes back to the fixer, unless the operator opened the file.
func TestFixesOfWhatNobodyReads(t *testing.T) {
	file := func(name string) string {
		return "diff --git a/" + name + " b/" + name + "\nindex 1111111..2222222 100644\n--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-a\n+b\n"
	}
	for _, allow := range [][]string{nil, {"vendor/**"}} {
		s := newStage()
		s.brief = review.BriefFile{Path: "vendor/x/a.go", Omitted: "vendored", Excused: true}
		s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "F", leak)}, "beta": nil}
		s.diffs["1..2"], s.diffs["1..3"] = file("a.go")+file("vendor/x/a.go"), file("a.go")
		s.fixes = []review.FixWork{fixes(sha(2), "F"), fixes(sha(3), "F")}
		got := s.run(t, newSteps(), func(r *Request) { r.Fix.Allow = allow })
		if allow != nil {
			if len(s.orders) != 1 || s.head != sha(2) {
				t.Errorf("opened: %d orders, the branch is at %s: %+v", len(s.orders), s.head, got)
			}
			continue
		}
		if len(s.orders) != 2 || s.orders[1].Task.Setback == nil || s.orders[1].Task.Setback.Refusals[0].Rule != pushpolicy.RuleUnread || s.head != sha(3) {
			t.Errorf("%d orders, the branch is at %s: %+v", len(s.orders), s.head, got)
		}
	}
}

// So does one that makes a file unreadable which was read (threats.md T783); one that nobody could read before is as it was.
func TestFixesThatMakeFilesUnreadable(t *testing.T) {
	const file = "diff --git a/b.py b/b.py\nindex 1111111..2222222 100644\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-a\n+b\n"
	for before, refused := range map[string]bool{"": true, "too large": false} {
		s := newStage()
		s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "F", leak)}, "beta": nil}
		s.briefs = func(at Range) review.BriefFile {
			f := review.BriefFile{Path: "b.py", Change: "modified", Omitted: before}
			switch {
			case at.Head == sha(2):
				f.Omitted = "text that says it is in another encoding"
			case before == "":
				f = changed("b.py")
			}
			return f
		}
		s.diffs["1..2"], s.diffs["1..3"] = file, file
		s.fixes = []review.FixWork{fixes(sha(2), "F"), fixes(sha(3), "F")}
		s.run(t, newSteps(), func(*Request) {})
		if again := len(s.orders) == 2 && s.orders[1].Task.Setback != nil && s.orders[1].Task.Setback.Refusals[0].Rule == pushpolicy.RuleUnread; again != refused {
			t.Errorf("%q before: %+v", before, s.orders)
		}
	}
}
