//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Whatever a child made of its folder goes, in little time and without a step outside.
func TestRemove(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	outside := filepath.Join(parent, "outside")
	if err := errors.Join(os.Mkdir(outside, 0o700), os.WriteFile(filepath.Join(outside, "kept"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, fill := range map[string]func(dir string) error{
		"nothing": func(string) error { return nil },
		"many files": func(dir string) error {
			for i := range 5000 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		"links out": func(dir string) error {
			return errors.Join(os.Symlink(outside, filepath.Join(dir, "a")), os.Mkdir(filepath.Join(dir, "b"), 0o700), os.Symlink("..", filepath.Join(dir, "b", "c")))
		},
		"shut folders": func(dir string) error {
			in := filepath.Join(dir, "shut", "in")
			return errors.Join(os.MkdirAll(in, 0o700), os.WriteFile(filepath.Join(in, "x"), nil, 0), os.Chmod(in, 0), os.Chmod(filepath.Dir(in), 0o500), os.Chmod(dir, 0))
		},
		"folders in one another": func(dir string) error { return nest(dir, 3000) },
	} {
		dir := filepath.Join(parent, "home")
		if err := errors.Join(os.Mkdir(dir, 0o700), fill(dir)); err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		if err := Remove(dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: it is still there: %v", name, err)
			_ = os.Rename(dir, dir+"-"+name)
		}
		if took := time.Since(started); took > time.Minute {
			t.Errorf("%s: it took %v", name, took)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "kept")); err != nil {
		t.Error(err)
	}
	if err := Remove(filepath.Join(parent, "never")); err != nil {
		t.Error(err)
	}
}

// nest puts folders into one another.
func nest(dir string, depth int) error {
	at, err := unix.Open(dir, dirFlags, 0)
	for range depth {
		if err == nil {
			err = unix.Mkdirat(at, "d", 0o700)
		}
		if err != nil {
			break
		}
		var next int
		next, err = unix.Openat(at, "d", dirFlags, 0)
		_ = unix.Close(at)
		at = next
	}
	return errors.Join(err, unix.Close(at))
}
