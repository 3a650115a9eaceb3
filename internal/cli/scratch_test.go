package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/prloop/prloop/internal/sandbox"
)

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
