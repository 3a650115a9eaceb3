package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/proc"
)

// writingFetch is git with fetches that are in the middle of a pack until they are ended.
func writingFetch(t *testing.T, freeBytes int64) *Git {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git")
	text := "#!/bin/sh\nif [ \"$1\" = fetch ]; then echo PACK >\"$GIT_DIR/objects/pack/tmp_pack_$$\"; exec sleep 60; fi\nexec git \"$@\"\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := Find(t.Context(), Options{Path: path, Protocols: []string{"file"}, FreeBytes: freeBytes})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A fetch takes what the disk has above what has to stay free, and not more (threats.md T715).
func TestAFetchLeavesRoom(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": "one\n"})
	o := FetchOptions{URL: "file://" + src, Refs: []string{"refs/heads/main"}}
	_, err := open(t, writingFetch(t, 1<<60)).Fetch(t.Context(), o)
	if !errors.Is(err, ErrNoRoom) || !strings.Contains(err.Error(), "it needs more of the disk than may be used") || !strings.Contains(err.Error(), "(host-disk-low)") {
		t.Errorf("a fetch of more than the disk may give: %v", err)
	}
	free, err := proc.FreeOn(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g, err := Find(t.Context(), Options{Protocols: []string{"file"}, FreeBytes: free / 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, g).Fetch(t.Context(), o); err != nil {
		t.Error(err)
	}
}
