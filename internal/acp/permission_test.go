package acp

import (
	"os"
	"path/filepath"
	"testing"
)

// A link says where it leads inside the clone, and nothing about the machine: one that leads out is refused, whatever is there (threats.md T322).
func TestLinksAreFollowedInTheCloneAlone(t *testing.T) {
	machine := t.TempDir()
	clone := filepath.Join(machine, "rooms", "tree")
	for _, dir := range []string{"rooms/tree/sub", "rooms/tree/.git", "there"} {
		if err := os.MkdirAll(filepath.Join(machine, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeTree(t, clone, map[string]string{"rows.go": "package rows\n", "sub/x.go": "package sub\n", ".git/config": ""})
	c := &client{cwd: clone, edits: true}
	for _, row := range []struct {
		what, target, path string
		want               bool
	}{
		{"a file of the clone", "sub/x.go", "q", true},
		{"a file of the clone, from a folder", "../../rows.go", "sub/deep/q", true},
		{"a folder, and what is new in it", "sub", "q/new.go", true},
		{"through a folder and back", "sub/../rows.go", "q", true},
		{"a folder of the machine that is there", machine + "/there/../rooms/tree/rows.go", "q", false},
		{"a folder of the machine that is not", machine + "/nosuch/../rooms/tree/rows.go", "q", false},
		{"the clone by its place on the machine", clone + "/rows.go", "q", false},
		{"out and in again", "../tree/rows.go", "q", false},
		{"out and in again, from a folder", "../../../tree/rows.go", "sub/deep/q", false},
		{"beside the clone", "../../there", "q", false},
		{"git's folder", ".git/config", "q", false},
		{"git's folder, by a folder that is there", "sub/../.git", "q/config", false},
		{"nothing yet", "sub/nothing", "q", false},
		{"nothing yet, and on", "nothing", "q/new.go", false},
		{"itself", "q", "q", false},
		{"a file, as if it were a folder", "rows.go", "q/x", false},
	} {
		link := filepath.Join(clone, "q")
		if filepath.Dir(row.path) == "sub/deep" {
			link = filepath.Join(clone, row.path)
		}
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(row.target, link); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{row.path, filepath.Join(clone, row.path)} {
			if got := c.writable(path); got != row.want {
				t.Errorf("%s: %s -> %s: %v", row.what, path, row.target, got)
			}
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{".": true, "": true, "new/er/x.go": true, "sub/x.go": true, "../tree/rows.go": true, "../there": false, ".git": false, "sub/.GIT/x": false, "rows.go/x": false} {
		if got := c.writable(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}
