package folders

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rules makes a workspace with a folder as a workflow checks it out.
func rules(t *testing.T) (workspace, folder string) {
	t.Helper()
	workspace = t.TempDir()
	folder = filepath.Join(workspace, "company-rules")
	for name, text := range map[string]string{"docs/api-rules.md": "Name every field.\n", "README.md": "Rules\n", ".git/config": "[core]\n", "sub/.git": "gitdir: x\n"} {
		at := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return workspace, folder
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestTake(t *testing.T) {
	workspace, folder := rules(t)
	link(t, "docs/api-rules.md", filepath.Join(folder, "near"))
	link(t, "nowhere", filepath.Join(folder, "dangling"))
	if err := os.WriteFile(filepath.Join(folder, "large.bin"), make([]byte, fileBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	f, err := Take(t.Context(), workspace, "company-rules", to)
	if err != nil {
		t.Fatal(err)
	}
	if f.Files != 2 || f.Bytes != 24 || f.Skipped != 4 || f.Dir != to {
		t.Errorf("%+v", f)
	}
	var got []string
	if err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(to, path)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"README.md", "docs/api-rules.md"}, got); d != "" {
		t.Error(d)
	}
	again, err := Take(t.Context(), workspace, "company-rules", filepath.Join(t.TempDir(), "copy"))
	if err != nil || again.Sum != f.Sum {
		t.Errorf("%v: the same files have another sum", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "README.md"), []byte("Rulez\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if other, err := Take(t.Context(), workspace, "company-rules", filepath.Join(t.TempDir(), "copy")); err != nil || other.Sum == f.Sum {
		t.Errorf("%v: other files have the same sum", err)
	}
	if want := "company-rules: 2 files, 24 bytes, sha256 " + f.Sum[:12] + ", left out 4 (links, large files)"; f.String() != want {
		t.Errorf("got %s, want %s", f, want)
	}
}

// threats.md T137, T138: what could be somebody else's is refused by a rule, and nothing of it can be read.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, workspace, folder string)
		want   Rule
	}{
		"there is none": {func(t *testing.T, workspace, folder string) { _ = os.RemoveAll(folder) }, Missing},
		"it is a file": {func(t *testing.T, workspace, folder string) {
			_ = os.RemoveAll(folder)
			if err := os.WriteFile(folder, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, Missing},
		"it is a link": {func(t *testing.T, workspace, folder string) {
			if err := os.Rename(folder, filepath.Join(workspace, "tree")); err != nil {
				t.Fatal(err)
			}
			link(t, "tree", folder)
		}, Link},
		"a link leads out of it": {func(t *testing.T, workspace, folder string) {
			link(t, "/etc/passwd", filepath.Join(folder, "docs", "x"))
		}, Link},
		"a link leads up": {func(t *testing.T, workspace, folder string) { link(t, "../..", filepath.Join(folder, "docs", "x")) }, Link},
		"a link leads out behind others": {func(t *testing.T, workspace, folder string) {
			link(t, "..", filepath.Join(folder, "docs", "up"))
			link(t, "docs/up/../x", filepath.Join(folder, "y"))
			link(t, "..", filepath.Join(folder, "x"))
		}, Link},
		"it is a submodule": {func(t *testing.T, workspace, folder string) {
			_ = os.RemoveAll(filepath.Join(folder, ".git"))
			if err := os.WriteFile(filepath.Join(folder, ".git"), []byte("gitdir: ../.git/modules/x\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, Submodule},
		"it is too large": {func(t *testing.T, workspace, folder string) {
			text := bytes.Repeat([]byte("x"), fileBytes)
			for i := range mostBytes/fileBytes + 1 {
				if err := os.WriteFile(filepath.Join(folder, strings.Repeat("x", i+1)), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			workspace, folder := rules(t)
			c.change(t, workspace, folder)
			f, err := Take(t.Context(), workspace, "company-rules", filepath.Join(t.TempDir(), "copy"))
			var refused *Error
			if !errors.As(err, &refused) || refused.Rule != c.want || f.Dir != "" {
				t.Errorf("%+v %v, want %s", f, err, c.want)
			}
		})
	}
}

func TestUnclaimed(t *testing.T) {
	for path, free := range map[string]bool{"docs/company-rules/x": true, "company-rules2": true, "company-rules": false, "company-rules/a/b": false, "Company-Rules/x": false} {
		err := Unclaimed("company-rules", []string{"a.go", path}, "the head")
		if (err == nil) != free {
			t.Errorf("%s: %v", path, err)
		}
	}
}
