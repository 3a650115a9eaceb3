package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A git that is killed while it moves a ref leaves its lock, which would be in the way of every fetch from then on (see
// threats.md T29): an old one is taken away, one that may be somebody's is waited for.
func TestLocksOfTheDeadAreTakenAway(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": "one\n"})
	r := open(t, find(t))
	fetch := func(ctx context.Context) error {
		_, err := r.Fetch(ctx, FetchOptions{URL: "file://" + src, Refs: []string{"refs/heads/main"}})
		return err
	}
	if err := fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	commit(t, src, map[string]string{"a.txt": "two\n"})
	lock := filepath.Join(r.Dir(), filepath.FromSlash(Tracking("refs/heads/main"))+".lock")
	plant := func(age time.Duration) {
		t.Helper()
		when := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(lock, nil, 0o600), os.Chtimes(lock, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	plant(time.Hour)
	if err := fetch(t.Context()); err != nil {
		t.Errorf("an hour old: %v", err)
	}
	commit(t, src, map[string]string{"a.txt": "three\n"})
	plant(0)
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := fetch(short); err == nil {
		t.Error("a lock that may be in use is no obstacle")
	}
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("the lock of a living process is gone: %v", err)
	}
}
