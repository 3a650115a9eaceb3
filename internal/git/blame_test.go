package git

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A line is brought by the merge, not by the commit that wrote it; what another file held before, and what the first commit
// holds, is not certain.
func TestBrought(t *testing.T) {
	dir := origin(t, map[string]string{"list": "root\n", "notes": "once in notes, which is long enough to be the same file\n"})
	shell(t, dir, "checkout", "-q", "-b", "topic")
	commit(t, dir, map[string]string{"list": "root\nby topic\n"})
	shell(t, dir, "checkout", "-q", "main")
	shell(t, dir, "merge", "-q", "--no-ff", "-m", "Merge", "topic")
	merge := strings.TrimSpace(shell(t, dir, "rev-parse", "HEAD"))
	pushed := commit(t, dir, map[string]string{"list": "root\nby topic\npushed\n"})
	shell(t, dir, "mv", "notes", "moved name")
	shell(t, dir, "commit", "-q", "-m", "Move")
	r := open(t, find(t))
	head := fetch(t, r, dir, "refs/heads/main")["refs/heads/main"]
	for path, want := range map[string][]string{"list": {"", merge, pushed}, "moved name": {""}} {
		got, err := r.Brought(t.Context(), head, path)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v%s", path, err, d)
		}
	}
	if _, err := r.Brought(t.Context(), head, "nothing"); err == nil {
		t.Errorf("a file that is not there is an error: %v", err)
	}
	if _, err := r.Brought(t.Context(), "HEAD", "list"); !errors.Is(err, ErrName) {
		t.Errorf("a name is no commit: %v", err)
	}
}
