package agentrun

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLeaveOut(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "keys/a.pem", "vendor/x/y.go", "sub/b.pem", "sub/b.go", ".git/b.pem"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	patterns := []string{"**/*.pem", "vendor/**"}
	found, err := matching(dir, patterns)
	if err != nil || len(found) != 3 || !slices.Contains(found, filepath.Join(dir, "vendor")) {
		t.Errorf("%q %v: of a folder that is excluded, only the folder", found, err)
	}
	if err := leaveOut(dir, patterns); err != nil {
		t.Fatal(err)
	}
	var left []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			left = append(left, filepath.ToSlash(rel))
		}
		return err
	})
	if got := strings.Join(left, " "); err != nil || got != ".git/b.pem a.go sub/b.go" {
		t.Errorf("left are %s, %v", got, err)
	}
}

// What an agent would take configuration from is still there to be read, under a name it does not look for.
func TestQuietTree(t *testing.T) {
	b := newBranch(t)
	c := b.executor.Launcher
	c.Exclude = []string{"secret/**"}
	work := t.TempDir()
	for _, name := range []string{"a.go", "opencode.json", "sub/.Claude/settings.json", "sub/b.go", "moved-aside-opencode.json", "secret/key"} {
		file := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := c.quietTree(t.Context(), b.commit(work))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.go": "a.go", "sub/b.go": "sub/b.go", "moved-aside-opencode.json": "moved-aside-opencode.json",
		"moved-aside-2-opencode.json": "opencode.json", "sub/moved-aside-2-.Claude/settings.json": "sub/.Claude/settings.json"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	for _, name := range []string{"opencode.json", "sub/.Claude", "secret/key"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}
