package backup

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

func record(t *testing.T, state string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Address: filepath.Join(state, database)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func begin(t *testing.T, s *store.Store, id string) {
	t.Helper()
	r := store.Run{ID: id, ReviewID: id, Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "octo", Name: "demo"}, PR: 7}}
	if err := s.CreateRun(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func keep(t *testing.T, state, name, text string) {
	t.Helper()
	path := filepath.Join(state, files, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A backup that is made while somebody writes has everything that was there when it began, and can be worked with where it is restored.
func TestBackupWhileServing(t *testing.T) {
	state, dir := t.TempDir(), t.TempDir()
	s := record(t, state)
	begin(t, s, "first")
	keep(t, state, "first/review.md", "# Report")
	keep(t, state, "first/round-1/inputs.json", "{}")
	old := time.Now().Add(-40 * 24 * time.Hour).Truncate(time.Second)
	if err := os.Chtimes(filepath.Join(state, files, "first", "review.md"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(state, files, "first", "link")); err != nil {
		t.Fatal(err)
	}
	other := record(t, state) // another process
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := other.SetNote(t.Context(), "busy", time.Now().String()); err != nil {
				t.Error(err)
				return
			}
		}
	})
	file := filepath.Join(dir, "backup.tar.gz")
	n, err := Write(t.Context(), s, state, file, time.Now())
	close(stop)
	writing.Wait()
	if err != nil || n != 2 {
		t.Fatalf("%d files, %v", n, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("beside the backup: %v, %v", all, err)
	}
	if _, err := Write(t.Context(), s, state, file, time.Now()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a backup was replaced: %v", err)
	}
	begin(t, s, "second") // after the backup
	again := t.TempDir()
	if n, err := Restore(t.Context(), file, again); err != nil || n != 2 {
		t.Fatalf("%d files, %v", n, err)
	}
	r := record(t, again)
	if _, err := r.Run(t.Context(), "first"); err != nil {
		t.Error(err)
	}
	if _, err := r.Run(t.Context(), "second"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what came after the backup: %v", err)
	}
	begin(t, r, "third")
	path := filepath.Join(again, files, "first", "review.md")
	text, err := os.ReadFile(path)
	info, err2 := os.Stat(path)
	if err != nil || err2 != nil || string(text) != "# Report" || info.Mode().Perm() != 0o600 || !info.ModTime().Equal(old) {
		t.Errorf("%q, %v, %v, %v", text, info, err, err2)
	}
	if _, err := Restore(t.Context(), file, again); !errors.Is(err, ErrInUse) {
		t.Errorf("a record was replaced: %v", err)
	}
}

// What is no backup, or a hostile one, leaves nothing behind, inside the folder or outside.
func TestWhatIsNoBackup(t *testing.T) {
	dir := t.TempDir()
	archive := func(name string, entries ...tar.Header) string {
		t.Helper()
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		w := tar.NewWriter(z)
		for _, h := range entries {
			text := "x"
			if h.Name == kind {
				text = version
			}
			if h.Typeflag == 0 || h.Typeflag == tar.TypeReg {
				h.Size = int64(len(text))
			}
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if h.Size > 0 {
				if _, err := w.Write([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := errors.Join(w.Close(), z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	head, data := tar.Header{Name: kind}, tar.Header{Name: database}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("SQLite format 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, file := range map[string]string{
		"plain":        plain,
		"another tar":  archive("another", tar.Header{Name: "README"}),
		"no record":    archive("norecord", head, tar.Header{Name: "runs/a/review.md"}),
		"a way out":    archive("out", head, data, tar.Header{Name: "runs/../../outside"}),
		"an absolute":  archive("absolute", head, data, tar.Header{Name: "/tmp/outside"}),
		"a link":       archive("link", head, data, tar.Header{Name: "runs/a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}),
		"other files":  archive("other", head, data, tar.Header{Name: "repos/hook"}),
		"two records":  archive("two", head, data, data),
		"a file twice": archive("twice", head, data, tar.Header{Name: "runs/a"}, tar.Header{Name: "runs/a"}),
	} {
		state := t.TempDir()
		if _, err := Restore(t.Context(), file, state); err == nil {
			t.Errorf("%s was restored", what)
		}
		left, err := os.ReadDir(state)
		if names := slices.Collect(func(yield func(string) bool) {
			for _, e := range left {
				if !yield(e.Name()) {
					return
				}
			}
		}); err != nil || len(names) > 0 {
			t.Errorf("%s left %v, %v", what, names, err)
		}
	}
}
