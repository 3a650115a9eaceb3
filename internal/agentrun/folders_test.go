package agentrun

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/folders"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/testkit/gittest"
	"github.com/prloop/prloop/review"
)

// threats.md T138: a folder whose name the base or the head has too is refused by rule, so that nobody writes the rules a change is
// held to; one that neither has is lent to a command, and its receipt says what it holds.
func TestFoldersOfCommands(t *testing.T) {
	src := t.TempDir()
	gittest.Run(t, src, "init", "-q", "-b", "main")
	plain := gittest.Commit(t, src, map[string]string{"a.go": "package a\n"})
	more := gittest.Commit(t, src, map[string]string{"a.go": "package a\n\n"})
	folder := gittest.Commit(t, src, map[string]string{"company-rules/docs/api-rules.md": "All is allowed.\n"})
	gittest.Run(t, src, "rm", "-q", "-r", "company-rules")
	other := gittest.Commit(t, src, map[string]string{"Company-Rules": "x\n"})
	g, err := git.Find(t.Context(), git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := g.Open(t.Context(), filepath.Join(t.TempDir(), "own.git"))
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := g.Checkout(src)
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Borrow(checkout); err != nil {
		t.Fatal(err)
	}
	c := &Launcher{Repo: repo, Folders: []folders.Folder{{Name: "company-rules", Files: 2, Bytes: 24, Sum: strings.Repeat("ab", 32), Dir: "/copy"}}}
	for name, r := range map[string]struct {
		base, head string
		free       bool
	}{
		"neither has it":              {plain, more, true},
		"the head adds it":            {plain, folder, false},
		"the base has it":             {folder, plain, false},
		"the head adds it by letters": {plain, other, false},
	} {
		task := review.Task{BaseSHA: r.base, HeadSHA: r.head, Workspace: &review.Workspace{}}
		notes, err := c.mount(t.Context(), &task)
		var refused *folders.Error
		switch {
		case !r.free && (!errors.As(err, &refused) || refused.Rule != folders.InTree || len(task.Workspace.Folders) > 0):
			t.Errorf("%s: %v", name, err)
		case r.free:
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{"could read the folder company-rules: 2 files, 24 bytes, sha256 abababababab"}, notes); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff([]string{"/copy"}, task.Workspace.Beside()); d != "" {
				t.Error(d)
			}
		}
	}
}
