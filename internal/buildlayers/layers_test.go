package buildlayers

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tree makes a folder with files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T) *Folder {
	t.Helper()
	f, err := Open(filepath.Join(t.TempDir(), "layers"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *Folder) has(t *testing.T, name, text string) {
	t.Helper()
	l, err := f.Take(name)
	if text == "" {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	defer l.Close()
	if data, err := os.ReadFile(filepath.Join(l.Path, "a")); err != nil || string(data) != text {
		t.Errorf("%s: %q %v", name, data, err)
	}
}

func TestPutAndTake(t *testing.T) {
	f := folder(t)
	f.has(t, "x", "")
	for _, text := range []string{"first", "second"} {
		from := tree(t, map[string]string{"a": text})
		if err := f.Put("x", from, 1<<20); err != nil {
			t.Fatal(err)
		}
		f.has(t, "x", text)
		if _, err := os.Lstat(from); err == nil {
			t.Error("what was kept is still where it was made")
		}
	}
	l, err := f.Take("x")
	if err != nil {
		t.Fatal(err)
	}
	third := tree(t, map[string]string{"a": "third"})
	large := tree(t, map[string]string{"a": "large"})
	if err := f.Put("large", large, 4); err != nil {
		t.Error(err)
	}
	f.has(t, "large", "")
	if err := f.Put("x", third, 1<<20); err != nil {
		t.Fatal(err)
	}
	f.has(t, "x", "second")
	if _, err := os.Lstat(third); err == nil {
		t.Error("what came too late was left")
	}
	if err := f.prune(time.Now().Add(time.Hour), time.Minute, 0); err != nil {
		t.Error(err)
	}
	f.has(t, "x", "second")
	if err := errors.Join(l.Close(), f.prune(time.Now().Add(time.Hour), time.Minute, 0)); err != nil {
		t.Error(err)
	}
	f.has(t, "x", "")
}

func TestPrune(t *testing.T) {
	f := folder(t)
	now := time.Now()
	for name, age := range map[string]time.Duration{"new": time.Hour, "older": 2 * time.Hour, "oldest": 3 * time.Hour, "ancient": 100 * time.Hour} {
		if err := f.Put(name, tree(t, map[string]string{"a": name, "b": strings.Repeat("x", 1000)}), 1<<20); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(f.dir, name), now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	half := filepath.Join(f.dir, gone+"half")
	put(t, filepath.Join(half, "a"), "half")
	if err := f.prune(now, 50*time.Hour, 2500); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(half); err == nil {
		t.Error("what a kill left while it was removed stays")
	}
	for name, text := range map[string]string{"new": "new", "older": "older", "oldest": "", "ancient": ""} {
		f.has(t, name, text)
	}
	if err := os.Chtimes(filepath.Join(f.dir, "new"), now.Add(-40*time.Hour), now.Add(-40*time.Hour)); err != nil {
		t.Fatal(err)
	}
	f.has(t, "new", "new") // using it makes it young
	if err := f.prune(now, 30*time.Hour, 1<<30); err != nil {
		t.Fatal(err)
	}
	f.has(t, "new", "new")
}

func TestCopy(t *testing.T) {
	outside := tree(t, map[string]string{"secret": "secret"})
	from := tree(t, map[string]string{"bin/tool": "#!/bin/sh\n", "lib/deep/er/x": "x", "tracked/a": "changed", "tracked/new": "new", "closed": "closed", "folder/x": "x", "file": "layer"})
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := errors.Join(os.Chmod(from+"/bin/tool", 0o4755), os.Symlink("../bin/tool", from+"/lib/tool"), os.Symlink(outside, from+"/way"), syscall.Mkfifo(from+"/pipe", 0o600),
		os.Chtimes(from+"/bin/tool", then, then)); err != nil {
		t.Fatal(err)
	}
	to := tree(t, map[string]string{"file": "commit", "folder": "a file of the commit"})
	if err := os.Symlink(outside, to+"/lib"); err != nil { // a way out of the folder that is copied into
		t.Fatal(err)
	}
	err := Copy(t.Context(), to, from, func(path string) bool { return path == "tracked/a" }, Bounds{1 << 20, 100})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"bin/tool": "#!/bin/sh\n", "tracked/new": "new", "closed": "closed", "file": "commit", "folder": "a file of the commit"} {
		if data, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(data) != want {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
	if info, err := os.Stat(to + "/bin/tool"); err != nil || info.Mode() != 0o755 || !info.ModTime().Equal(then) {
		t.Errorf("%v %v", info, err)
	}
	if target, err := os.Readlink(to + "/way"); err != nil || target != outside {
		t.Errorf("a link leads to %q: %v", target, err)
	}
	for _, name := range []string{"pipe", "tracked/a"} {
		if _, err := os.Lstat(filepath.Join(to, name)); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("something was written outside: %v %v", entries, err)
	}
}

func TestCopyIsBounded(t *testing.T) {
	from := tree(t, map[string]string{"a": "12345", "b": "12345"})
	if err := Copy(t.Context(), t.TempDir(), from, nil, Bounds{10, 2}); err != nil {
		t.Error(err)
	}
	if err := Copy(t.Context(), t.TempDir(), from, nil, Bounds{9, 2}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many bytes: %v", err)
	}
	if err := Copy(t.Context(), t.TempDir(), from, nil, Bounds{10, 1}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many files: %v", err)
	}
	if err := os.Truncate(from+"/a", 1<<40); err != nil {
		t.Skip(err)
	}
	if err := Copy(t.Context(), t.TempDir(), from, nil, Bounds{1 << 30, 2}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file that is all hole: %v", err)
	}
	deep := t.TempDir()
	if err := os.MkdirAll(filepath.Join(deep, strings.Repeat("d/", deepest+2)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Copy(t.Context(), t.TempDir(), deep, nil, Bounds{1 << 30, 1 << 20}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("folders without end: %v", err)
	}
}

// A hole stays one: what took no room on the disk takes none when it is copied, and no byte is another one.
func TestCopyKeepsHoles(t *testing.T) {
	const mb = 1 << 20
	blocks := func(name string) int64 {
		t.Helper()
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	from, to := t.TempDir(), t.TempDir()
	for name, at := range map[string][]int64{"hole": nil, "ends": {0, 64*mb - 4}, "odd": {4095, 70_001, 3*mb + 1}, "dense": {0, 4096, 8192}} {
		f, err := os.Create(filepath.Join(from, name))
		if err == nil {
			err = f.Truncate(64 * mb)
		}
		for _, off := range at {
			_, put := f.WriteAt([]byte("data"), off)
			err = errors.Join(err, put)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if blocks(filepath.Join(from, name)) > mb {
			t.Skip("files have no holes here")
		}
	}
	put(t, filepath.Join(from, "small"), "x\x00")
	put(t, filepath.Join(from, "empty"), "")
	if err := Copy(t.Context(), to, from, nil, Bounds{1 << 30, 100}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hole", "ends", "odd", "dense", "small", "empty"} {
		want, err := os.ReadFile(filepath.Join(from, name))
		got, err2 := os.ReadFile(filepath.Join(to, name))
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d, %v %v", name, len(got), len(want), err, err2)
		}
		if n := blocks(filepath.Join(to, name)); n > mb {
			t.Errorf("%s takes %d bytes of the disk", name, n)
		}
	}
}

// A copy of a large file ends when it is told to.
func TestCopyEnds(t *testing.T) {
	from := tree(t, map[string]string{"a": ""})
	if err := os.Truncate(from+"/a", 1<<40); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Copy(ctx, t.TempDir(), from, nil, Bounds{2 << 40, 2}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
