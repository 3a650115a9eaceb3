package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadTree(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(path string) error
		wrong string
	}{
		{"a file", func(path string) error { return os.WriteFile(path, []byte("model: m\n"), 0o644) }, ""},
		{"a link to a file", func(path string) error {
			return errors.Join(os.WriteFile(path+".yml", []byte("model: m\n"), 0o644), os.Symlink(".reviewerc.yml", path))
		}, "is a link, but must be a plain file"},
		{"a link to nothing", func(path string) error { return os.Symlink("nowhere", path) }, "is a link, but must be a plain file"},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o755) }, "is a folder, but must be a file"},
		{"one nobody may read", func(path string) error { return os.WriteFile(path, []byte("model: m\n"), 0) }, "cannot be read: permission denied"},
		{"one too large", func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("# note\n", 20_000)), 0o644) }, "is larger than 64 KB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.wrong, "permission") && (os.Getuid() == 0 || runtime.GOOS == "windows") {
				t.Skip("root may read everything")
			}
			top := t.TempDir()
			if err := c.make(filepath.Join(top, RepositoryFile)); err != nil {
				t.Fatal(err)
			}
			f, err := ReadTree(top)
			if err == nil {
				_, err = Resolve(Input{Repository: f})
			}
			switch {
			case c.wrong == "" && (err != nil || string(f.Data) != "model: m\n"):
				t.Errorf("%+v, %v", f, err)
			case c.wrong != "" && (err == nil || err.Error() != ".reviewerc: "+c.wrong):
				t.Errorf("got %v, want %s", err, c.wrong)
			}
		})
	}
	if f, err := ReadTree(t.TempDir()); f != nil || err != nil {
		t.Errorf("no file: %v, %v", f, err)
	}
}
