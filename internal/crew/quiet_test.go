package crew

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
func TestMoveAside(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "opencode.json", "sub/.Claude/settings.json", "sub/b.go"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := moveAside(dir, agentConfiguration()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.go", "sub/b.go", "moved-aside-opencode.json", "sub/moved-aside-.Claude/settings.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"opencode.json", "sub/.Claude"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is still loaded: %v", name, err)
		}
	}
}
