package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/filelock"
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

// Of a fetch that is ended nothing stays but what another may be at work in, and that only as long (threats.md T716).
func TestAFetchThatIsEndedLeavesNothing(t *testing.T) {
	r := open(t, writingFetch(t, 1<<60))
	o := FetchOptions{URL: "file:///x", Refs: []string{"refs/heads/main"}}
	left := func() []string {
		names, _ := filepath.Glob(filepath.Join(r.dir, packs, "tmp_*"))
		return names
	}
	other, err := filelock.TryShared(filepath.Join(r.dir, packs))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Fetch(t.Context(), o); !errors.Is(err, ErrNoRoom) || len(left()) != 1 {
		t.Fatalf("beside another: %v, left are %q", err, left())
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Fetch(t.Context(), o); !errors.Is(err, ErrNoRoom) || len(left()) != 0 {
		t.Errorf("alone: %v, left are %q", err, left())
	}
	write(t, r.dir, packs+"tmp_pack_of_the_killed", "PACK")
	if _, err := r.git.Open(t.Context(), r.dir); err != nil || len(left()) != 0 {
		t.Errorf("opened: %v, left are %q", err, left())
	}
}

// A disk that is full all the same is named too, in whatever words git has for it (threats.md T715).
func TestAFullDiskIsNamed(t *testing.T) {
	for said, full := range map[string]bool{
		"fatal: write error: No space left on device\nfatal: index-pack failed":            true,
		"fatal: sha1 file 'objects/pack/tmp_pack_8khyQU' write error. Out of diskspace":    true,
		"error: unable to write file ./objects/ab/cd: Disk quota exceeded":                 true,
		"fatal: unable to access 'https://github.com/acme/widgets.git/': Connection reset": false,
	} {
		err := wrap(t.Context(), "fetch", proc.Result{StderrTail: []byte(said)}, errors.New("exit status 128"))
		if errors.Is(err, ErrNoRoom) != full {
			t.Errorf("%q: %v", said, err)
		}
	}
}
