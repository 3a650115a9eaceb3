package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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

// The time of other commands is not that of a collection.
func TestACollectionHasItsOwnTime(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	slow := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nif [ \"$1\" = gc ]; then sleep 3; fi\nexec "+real+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	g, err := Find(t.Context(), Options{Path: slow, Protocols: []string{"file"}, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, g)
	for _, at := range []time.Time{time.Now(), time.Now().Add(collectEvery)} {
		if err := r.Collect(t.Context(), at); err != nil {
			t.Error(err)
		}
	}
}

// What a killed collection leaves keeps no later one from its work (threats.md T357).
func TestCollectAfterAKill(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": "one\n"})
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	var blobs strings.Builder // the second pack, of what nothing refers to, takes a while
	for i := range 1500 {
		fmt.Fprintf(&blobs, "blob\ndata <<.\n%d\n.\n", i)
	}
	load := exec.Command("git", "--git-dir", r.dir, "-c", "fastimport.unpackLimit=10000", "-c", "core.fsync=none", "fast-import", "--quiet")
	load.Stdin = strings.NewReader(blobs.String())
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	packs := func() []string {
		names, _ := filepath.Glob(filepath.Join(r.dir, "objects", "pack", ".tmp-*.pack"))
		return names
	}
	gc := exec.Command("git", "--git-dir", r.dir, "-c", "gc.cruftPacks=true", "gc", "--quiet")
	gc.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := gc.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); len(packs()) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if err := syscall.Kill(-gc.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = gc.Wait()
	if len(packs()) == 0 {
		t.Skip("it was killed too late to leave anything")
	}
	// A kill a moment earlier or later leaves locks.
	for _, name := range []string{"packed-refs.lock", "gc.pid.lock", "objects/info/commit-graph.lock"} {
		write(t, r.dir, name, "")
	}
	old := time.Now().Add(-collectEvery)
	for _, pattern := range leavings {
		names, _ := filepath.Glob(filepath.Join(r.dir, pattern))
		for _, name := range names {
			if err := os.Chtimes(name, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	again, err := r.git.Open(t.Context(), r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Time{time.Now(), time.Now().Add(collectEvery)} {
		if err := again.Collect(t.Context(), at); err != nil {
			t.Error(err)
		}
	}
	if left := packs(); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}
