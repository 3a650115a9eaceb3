package fixspace

import (
	"slices"
	"strings"
	"testing"
)

// Nothing is pushed that the fix as a whole does not show: where a commit takes back what another wrote, in this try or in the one before, there is one
// (threats.md T785).
func TestCommitsThatTakeBack(t *testing.T) {
	shared := newWorld(t, map[string]string{"a.go": "package a\n\nfunc A() {}\n", "b.go": "package a\n", "long.go": strings.Repeat("// line\n", 60)})
	for what, c := range map[string]struct {
		script string
		want   []string
	}{
		"a line":                 {`echo 'func Backdoor() {}' >>a.go; git commit -qam "fix: one"; git checkout -q HEAD~1 -- a.go; echo '// b' >>b.go; git commit -qam "fix: two"`, []string{"fix: two"}},
		"a line, uncommitted":    {`echo 'func Backdoor() {}' >>a.go; echo '// b' >>b.go; git commit -qam "fix: one"; git checkout -q HEAD~1 -- a.go`, []string{"fix: address review findings"}},
		"an empty file":          {`touch c.go; git add -A; git commit -qm "fix: one"; rm c.go; echo '// b' >>b.go; git add -A; git commit -qm "fix: two"`, []string{"fix: two"}},
		"behind another name":    {`git mv long.go d.go; echo 'func Backdoor() {}' >>d.go; git commit -qam "fix: one"; seq -f '// %g' 60 >d.go; echo '// b' >>b.go; git commit -qam "fix: two"`, []string{"fix: two"}},
		"a line that comes back": {`sed -i '3d' a.go; git commit -qam "fix: one"; echo 'func A() {}' >>a.go; echo '// b' >>b.go; git commit -qam "fix: two"`, []string{"fix: two"}},
		"nothing":                {`echo 'func C() {}' >>a.go; git commit -qam "fix: one"; echo 'func D() {}' >>a.go; echo '// b' >>b.go; git commit -qam "fix: two"`, []string{"fix: one", "fix: two"}},
	} {
		t.Run(what, func(t *testing.T) {
			w := shared.in(t)
			w.script(c.script + "; fixed=$(git rev-parse HEAD)")
			work := w.fix(w.order())
			joined := len(c.want) == 1
			if got := messages(work.Commits); !slices.Equal(got, c.want) || (len(work.Apart) == 2) != joined || slices.Contains(work.Notes, noteOneCommit) != joined {
				t.Fatalf("%q: %+v", got, work)
			}
			if log := w.git(w.workspace.Repo.Dir(), "log", "-p", w.base+".."+work.Tip); joined && strings.Contains(log, "Backdoor") || strings.Count(log, "commit ") != len(c.want) {
				t.Error(log)
			}
			if got := work.Answer.Fix.FixedIssues[0].CommitSHA; got != work.Tip {
				t.Errorf("fixed in %s, the tip is %s", got, work.Tip)
			}
			if again := w.fix(w.order()); again.Tip != work.Tip {
				t.Errorf("the same work again is %s, was %s", again.Tip, work.Tip)
			}
			order := w.order()
			order.Try, order.From = 2, work.Tip
			w.script(`sed -i '$d' b.go; echo '// c' >>b.go; git commit -qam "fix: three"`)
			if second := w.fix(order); len(second.Commits) != 1 || second.Commits[0].Message != "fix: three" || len(second.Apart) != len(c.want)+1 {
				t.Errorf("the next try takes a line back: %+v", second)
			}
		})
	}
}
