package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What nothing refers to goes when it is old; what is young, or referred to, stays (threats.md T357).
func TestCollect(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": "one\n"})
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	head := shell(t, src, "rev-parse", "HEAD")
	object := func(text string, age time.Duration) string {
		name := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		id := shell(t, r.dir, "hash-object", "-w", name)
		at := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(r.dir, "objects", id[:2], id[2:]), at, at); err != nil {
			t.Fatal(err)
		}
		return id
	}
	old, young := object("old", objectLife+time.Hour), object("young", objectLife-48*time.Hour)
	there := func(id string) bool {
		return strings.HasSuffix(shell(t, r.dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"), id) ||
			strings.Contains(shell(t, r.dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"), id+"\n")
	}
	now := time.Now()
	for _, c := range []struct {
		at   time.Time
		gone bool
	}{{now, false}, {now.Add(collectEvery / 2), false}, {now.Add(collectEvery), true}} {
		if err := r.Collect(t.Context(), c.at); err != nil {
			t.Fatal(err)
		}
		if there(old) == c.gone || !there(young) || !there(head) {
			t.Errorf("after %s: old %v, young %v, head %v", c.at.Sub(now), there(old), there(young), there(head))
		}
	}
	if got := shell(t, r.dir, "rev-parse", "refs/prloop/remote/heads/main"); got != head {
		t.Errorf("the ref is %q, want %q", got, head)
	}
}
