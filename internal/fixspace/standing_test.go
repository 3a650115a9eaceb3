package fixspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/prloop/prloop/review"
)

// What reviewers take for rules, and what agents' files of the base or of the reviewed head import, is protected, unless the operator opens it; from a
// scheduled job as well (threats.md T746, T747).
func TestInstructionsAreProtected(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "CLAUDE.md": "@docs/base.md\n", "docs/base.md": "x\n", "docs/rules.md": "x\n", "docs/word.md": "x\n"})
	base := w.base
	w.base = w.commit(map[string]string{"CLAUDE.md": "@docs/head.md\n", "docs/head.md": "x\n"})
	w.fetch()
	guidance := []string{"docs/rules.md"}
	for what, c := range map[string]struct {
		script  string
		allow   []string
		refused string
	}{
		"guidance":             {"echo 1 >docs/rules.md", nil, "docs/rules.md"},
		"imported by the base": {"echo 1 >docs/base.md", nil, "docs/base.md"},
		"imported by the head": {"echo 1 >docs/head.md", nil, "docs/head.md"},
		"prose":                {"echo 1 >docs/word.md", nil, ""},
		"what is opened":       {"echo 1 >docs/head.md; echo 1 >docs/rules.md", []string{"docs/*"}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			w := w.in(t)
			w.script(c.script)
			o := w.order("docs/rules.md", "docs/base.md", "docs/head.md", "docs/word.md")
			o.Allow, o.Guidance, o.Task.BaseSHA = c.allow, guidance, base
			work := w.fix(o)
			if c.refused == "" && work.Tip == "" || c.refused != "" && (len(work.Refusals) != 1 || work.Refusals[0].Rule != "protected-path" || work.Refusals[0].Path != c.refused) {
				t.Errorf("%q, refused: %+v", work.Tip, work.Refusals)
			}
		})
	}
	for _, name := range []string{"docs/rules.md", "docs/head.md"} {
		w.agent(func(clone string) {
			if err := os.WriteFile(filepath.Join(clone, name), nil, 0o600); err != nil {
				t.Error(err)
			}
		}, review.Wish{Kind: review.WishCommit, Body: "all"})
		o := w.jobOrder(review.JobTerms{})
		o.Guidance = guidance
		work, err := w.workspace.Job(t.Context(), o, nil)
		if err != nil || work.Tip != "" || len(work.Refusals) != 1 || work.Refusals[0].Rule != "protected-path" {
			t.Errorf("a command, %s: %+v, %v", name, work, err)
		}
	}
}

// No fix changes what the base branch has moved since, or what only its tip protects: a merge brings it there (threats.md T845).
func TestWhatTheBaseBranchHasIsProtected(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "ci/build.yml": "x\n", "tools/test_run.py": "def test_a(): pass\n", "ci/more.yml": "x\n"})
	base := w.base
	w.git(w.origin, "mv", "ci/build.yml", "build.yml")
	w.git(w.origin, "mv", "tools/test_run.py", "run.py")
	tip := w.commit(map[string]string{".gitlab-ci.yml": "include: {local: ci/more.yml}\n"})
	w.fetch()
	w.git(w.origin, "reset", "-q", "--hard", base)
	w.base = w.commit(map[string]string{"a.txt": "b\n"})
	w.fetch()
	for name, rule := range map[string]string{"ci/build.yml": "unasked-file", "tools/test_run.py": "unasked-file", "ci/more.yml": "protected-path", "a.txt": ""} {
		w := w.in(t)
		w.script("echo '# 1' >>" + name)
		o := w.order("ci/build.yml", "ci/more.yml")
		o.Task.BaseSHA, o.Base = base, tip
		work := w.fix(o)
		if rule == "" && work.Tip == "" || rule != "" && (len(work.Refusals) != 1 || work.Refusals[0].Rule != rule) {
			t.Errorf("%s: %q, refused: %+v", name, work.Tip, work.Refusals)
		}
	}
}

// What a fix may not change is more than its lines in anybody's change, by its name, by what the trees say of it, or by what kind of entry it is (threats.md T771).
func TestSensitive(t *testing.T) {
	ci := "include: {local: ci/test.yml}\n"
	w := newWorld(t, map[string]string{"a.txt": "a\n", "CLAUDE.md": "@docs/base.md\n", "docs/base.md": "x\n", "docs/rules.md": "x\n", "docs/word.md": "x\n", ".gitlab-ci.yml": ci, "ci/test.yml": "x: 1\n", "Makefile": "check:\n\ttrue\n"})
	for name, want := range map[string]bool{"a.txt": false, "docs/word.md": false, "docs/new.md": false, "docs/base.md": true, "docs/rules.md": true, "ci/test.yml": true, "Makefile": true, "check/README.md": true} {
		w.git(w.origin, "reset", "-q", "--hard", w.base)
		head := w.commit(map[string]string{name: "y: 2\n"})
		w.fetch()
		refused, err := Sensitive(t.Context(), w.workspace.Repo, []string{"docs/rules.md"}, w.base, head, w.base)
		if err != nil || (len(refused) > 0) != want {
			t.Errorf("%s: %+v, %v", name, refused, err)
		}
	}
}
