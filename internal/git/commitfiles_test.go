package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCommitFiles: a repository made of files is a checkout whose range holds just what was changed, and the same files give the same
// commits, whatever attributes they bring along.
func TestCommitFiles(t *testing.T) {
	g := find(t)
	build := func() (dir, base, head string) {
		dir = t.TempDir()
		put := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := g.Open(t.Context(), filepath.Join(dir, ".git"))
		if err != nil {
			t.Fatal(err)
		}
		put("a", "one\r\n")
		put("run", "#!/bin/sh\n")
		if err := os.Chmod(filepath.Join(dir, "run"), 0o700); err != nil {
			t.Fatal(err)
		}
		put(".gitattributes", "* filter=x ident\n")
		files := map[string]bool{"a": false, "run": true, ".gitattributes": false}
		if base, err = r.CommitFiles(t.Context(), dir, files, "Base\n"); err != nil {
			t.Fatal(err)
		}
		put("a", "two\r\n")
		put("b", "$Id$\n")
		files["b"] = false
		if head, err = r.CommitFiles(t.Context(), dir, files, "Head\n", base); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"../out", ".git/config", "a\nb"} {
			if _, err := r.CommitFiles(t.Context(), dir, map[string]bool{name: false}, "m\n"); !errors.Is(err, ErrMalformedTree) && !errors.Is(err, ErrName) {
				t.Errorf("%q: %v", name, err)
			}
		}
		return dir, base, head
	}
	dir, base, head := build()
	r := open(t, g)
	l, err := r.Local(t.Context(), dir, base)
	if err != nil || l.MergeBase != base || l.HEAD != head {
		t.Fatalf("%+v, %v", l, err)
	}
	if d := cmp.Diff([]string{"added b +1 -0", "modified a +1 -1"}, changed(t, r, l)); d != "" {
		t.Error(d)
	}
	if text, err := r.ReadFile(t.Context(), head, "b", 100); err != nil || string(text) != "$Id$\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, again, other := build(); again != base || other != head {
		t.Errorf("the same files are other commits: %s %s, %s %s", base, head, again, other)
	}
}
