package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/sandbox"
)

// T104: what a kill in the middle of git work left goes after a day, and nothing that only has such a name.
func TestSweepHalfMade(t *testing.T) {
	t.Parallel()
	repos, now := t.TempDir(), time.Now()
	old, stays := now.Add(-2*halfMadeFor), []string{
		"github.com/acme/index-cards.git/refs", "github.com/index-corp/widgets.git/refs", "github.com/acme/widgets.git/objects/index-1",
	}
	goes := []string{"github.com/acme/.new-123/refs", "github.com/acme/widgets.git/index-123", "local/0a1b.git/index-take-9/x"}
	young := []string{"github.com/acme/.new-456", "github.com/acme/widgets.git/index-456"}
	for _, name := range slices.Concat(stays, goes, young) {
		if err := os.MkdirAll(filepath.Join(repos, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Concat(stays, goes) {
		for dir := filepath.Join(repos, name); dir != repos; dir = filepath.Dir(dir) {
			if err := os.Chtimes(dir, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	sweepHalfMade(repos, now)
	for _, name := range slices.Concat(stays, young) {
		if _, err := os.Stat(filepath.Join(repos, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
	for _, name := range goes {
		if _, err := os.Stat(filepath.Join(repos, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

// A child may shut its own folders; they go all the same.
func TestRemoveTree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(filepath.Join(dir, "shut", "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shut/in", "shut", "."} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := sandbox.Remove(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
