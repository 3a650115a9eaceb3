package git

import (
	"errors"
	"testing"
)

// crissCross makes a main and a topic that both merged the same two commits: main as they are, topic with its own text of a.txt.
// Text on both sides of the cross is that of the two commits.
func crissCross(t *testing.T, left, right, main, topic string) (dir string) {
	t.Helper()
	dir = origin(t, map[string]string{"a.txt": "old\n"})
	shell(t, dir, "checkout", "-q", "-b", "right")
	commit(t, dir, map[string]string{"a.txt": right})
	shell(t, dir, "checkout", "-q", "main")
	commit(t, dir, map[string]string{"a.txt": left, "left.txt": "left\n"})
	shell(t, dir, "branch", "left")
	shell(t, dir, "merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "right")
	commit(t, dir, map[string]string{"a.txt": main})
	shell(t, dir, "checkout", "-q", "-b", "topic", "right")
	shell(t, dir, "merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "left")
	commit(t, dir, map[string]string{"a.txt": topic, "left.txt": "left\n", "topic.txt": "topic\n"})
	return dir
}

// What is compared since one of two merge bases alone hides what was taken back of the other.
func TestSeveralMergeBasesAreMerged(t *testing.T) {
	dir := crissCross(t, "old\n", "fixed\n", "fixed\n", "old\n")
	r := open(t, find(t))
	got := fetch(t, r, dir, "refs/heads/main", "refs/heads/topic")
	for range 2 { // the same commit each time
		base, err := r.MergeBase(t.Context(), got["refs/heads/main"], got["refs/heads/topic"])
		if err != nil {
			t.Fatal(err)
		}
		tookBack(t, r, base, got["refs/heads/topic"])
	}
	l, err := r.Local(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	tookBack(t, r, l.MergeBase, l.Head)
	if base, _ := r.MergeBase(t.Context(), got["refs/heads/main"], got["refs/heads/topic"]); base != l.MergeBase {
		t.Errorf("the local range begins at %s, the pull request at %s", l.MergeBase, base)
	}
}

func tookBack(t *testing.T, r *Repository, base, head string) {
	t.Helper()
	d, err := r.Diff(t.Context(), base, head, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Files) != 2 || d.Files[0].Path != "a.txt" || d.Files[0].Deletions != 1 || d.Files[1].Path != "topic.txt" {
		t.Errorf("the change is %s", d.Raw())
	}
}

func TestMergeBasesThatConflict(t *testing.T) {
	dir := crissCross(t, "left\n", "right\n", "right\n", "left\n")
	r := open(t, find(t))
	got := fetch(t, r, dir, "refs/heads/main", "refs/heads/topic")
	if base, err := r.MergeBase(t.Context(), got["refs/heads/main"], got["refs/heads/topic"]); !errors.Is(err, ErrMergeBases) {
		t.Errorf("%s, %v", base, err)
	}
	if _, err := r.Local(t.Context(), dir, "main"); !errors.Is(err, ErrMergeBases) {
		t.Error(err)
	}
}
