package artifacts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSavedFilesArePrivateAndReadBack(t *testing.T) {
	f, err := Open(filepath.Join(t.TempDir(), "runs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second, which replaces it"} {
		if err := f.Save("r1", "round-1/a.answer.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := f.Load("r1", "round-1/a.answer.json")
		if err != nil || string(got) != text {
			t.Fatalf("read back %q, %v; want %q", got, err, text)
		}
	}
	for path, want := range map[string]fs.FileMode{
		f.Path("r1"): 0o700, filepath.Join(f.Path("r1"), "round-1"): 0o700,
		filepath.Join(f.Path("r1"), "round-1", "a.answer.json"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s is %v, want %v", filepath.Base(path), got, want)
		}
	}
	if names, err := f.Names("r1"); err != nil || len(names) != 1 || names[0] != "round-1/a.answer.json" {
		t.Errorf("names %q, %v", names, err)
	}
	if names, err := f.Names("r2"); err != nil || names != nil {
		t.Errorf("names of a run without files: %q, %v", names, err)
	}
	left, err := os.ReadDir(filepath.Join(f.Path("r1"), "round-1"))
	if err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v; want the artifact alone", len(left), err)
	}
}

func TestNamesCannotLeaveTheFolder(t *testing.T) {
	root := t.TempDir()
	f, err := Open(filepath.Join(root, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ run, name string }{
		{"..", "x"}, {"a/b", "x"}, {"", "x"}, {"r", "../../x"}, {"r", "/etc/x"},
	} {
		if err := f.Save(c.run, c.name, []byte("x")); err == nil {
			t.Errorf("Save(%q, %q) was allowed", c.run, c.name)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was written outside the folder")
	}
	if _, err := f.Load("r", "missing"); err == nil {
		t.Error("loading a missing file gave no error")
	}
}

// What nobody has added to for long goes, whole; what is recent in any part of it stays, and so does what is
// asked to.
func TestExpire(t *testing.T) {
	root := filepath.Join(t.TempDir(), "runs")
	f, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	since, old := now.Add(-time.Hour), now.Add(-2*time.Hour)
	for _, run := range []string{"old", "again", "mine", "young"} {
		if err := errors.Join(f.Save(run, "review.md", []byte("x")), f.Save(run, "round-1/a.log", []byte("x"))); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	err = errors.Join(os.Mkdir(elsewhere, 0o700), os.Chtimes(elsewhere, old, old), os.Symlink(elsewhere, filepath.Join(root, "link")))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"old/round-1", "old", "again", "mine/round-1", "mine"} {
		if err := os.Chtimes(filepath.Join(root, dir), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Expire(since, func(run string) bool { return run == "mine" }); err != nil {
		t.Error(err)
	}
	for run, want := range map[string]bool{"old": false, "again": true, "mine": true, "young": true} {
		if got := f.Kept(run); got != want {
			t.Errorf("%s is kept: %v, want %v", run, got, want)
		}
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
}
