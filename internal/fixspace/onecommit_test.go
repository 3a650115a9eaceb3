package fixspace

import (
	"strings"
	"testing"
)

// A fix is one commit, whatever the fixer's are and however many tries it took: nothing is pushed that the next round does not read as it is
// (threats.md T785).
func TestAFixIsOneCommit(t *testing.T) {
	shared := newWorld(t, map[string]string{"a.py": "x = 1\n", "b.txt": "b\n"})
	for what, c := range map[string]struct{ script, want string }{
		"one":                          {`echo 2 >b.txt; git commit -qam "fix: one"`, "fix: one\n"},
		"takes back":                   {`echo 'backdoor()' >>a.py; git commit -qam "fix: one"; git checkout -q HEAD~1 -- a.py; echo c >>b.txt; git commit -qam "fix: two" -m "Because."`, "fix: two\n\nBecause.\n\n- fix: one\n"},
		"makes a text of what ran":     {`echo 'backdoor()' >>a.py; git commit -qam "fix: one"; printf 'x = 1\nNOTE = """\nbackdoor()\n"""\n' >a.py; git commit -qam "fix: two"`, "fix: two\n\n- fix: one\n"},
		"guards in another file later": {`echo 'backdoor()' >>a.py; git commit -qam "fix: one"; echo guard >>b.txt; git commit -qam "fix: two"; echo c >>b.txt; git commit -qam "fix: three"`, "fix: three\n\n- fix: one\n- fix: two\n"},
		"writes what is protected":     {`mkdir -p .github/workflows; echo backdoor >.github/workflows/x.yml; git add -A; git commit -qm "fix: one"; git rm -qr .github; echo c >>b.txt; git add -A; git commit -qm "fix: two"`, "fix: two\n\n- fix: one\n"},
		"leaves the rest":              {`echo 'backdoor()' >>a.py; git commit -qam "fix: one"; git checkout -q HEAD~1 -- a.py; echo c >>b.txt`, "fix: one\n"},
		"says what no message may":     {`echo 2 >a.py; git commit -qam "Fixes #3 [skip ci]" -m "Co-authored-by: x <x@x>"; echo 2 >b.txt; git commit -qam "fix: two"`, "fix: two\n\n- Fixes no. 3 (skip ci)\n"},
	} {
		t.Run(what, func(t *testing.T) {
			w := shared.in(t)
			log := func(tip string) string {
				return w.git(w.workspace.Repo.Dir(), "log", "--format=%B", w.base+".."+tip)
			}
			w.script(c.script)
			work := w.fix(w.order("a.py"))
			trailers := "\nprloop-run: " + w.order().Run + "\nprloop-round: 1\n"
			if got := log(work.Tip); strings.TrimSpace(got) != strings.TrimSpace(c.want+trailers) || len(work.Commits) != 1 {
				t.Fatalf("%q: %+v", got, work)
			}
			if again := w.fix(w.order("a.py")); again.Tip != work.Tip {
				t.Errorf("the same work again is %s, was %s", again.Tip, work.Tip)
			}
			order := w.order("a.py")
			order.Try, order.From = 2, work.Tip
			w.script(`sed -i '$d' b.txt; echo '// c' >>b.txt; git commit -qam "fix: more"`)
			second := w.fix(order)
			first, _, _ := strings.Cut(c.want, "\n")
			if got := log(second.Tip); strings.TrimSpace(got) != strings.TrimSpace("fix: more\n\n- "+first+"\n"+trailers) || len(second.Commits) != 1 {
				t.Errorf("the next try: %q: %+v", got, second)
			}
		})
	}
}
