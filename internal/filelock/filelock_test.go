package filelock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// The test binary is also the other process: it has the lock until it is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("FILELOCK_TEST_PATH"); path != "" {
		l, err := TryFile(path)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("locked")
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // until it is killed
		l.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// kinds are the two kinds of locks.
var kinds = []struct {
	name string
	make func(path string) error
	try  func(string) (*Lock, error)
	wait func(context.Context, string) (*Lock, error)
}{
	{"file", func(path string) error { return os.WriteFile(path, nil, 0o600) }, TryFile, File},
	{"folder", func(path string) error { return os.Mkdir(path, 0o700) }, TryFolder, Folder},
}

func TestOneHolder(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			if k.name == "folder" && !Folders {
				t.Skip("folders cannot be locked here")
			}
			path := filepath.Join(t.TempDir(), "x")
			if err := k.make(path); err != nil {
				t.Fatal(err)
			}
			first, err := k.try(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.try(path); !errors.Is(err, ErrHeld) {
				t.Errorf("the second: %v, want ErrHeld", err)
			}
			why := errors.New("no more time")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, why)
			defer cancel()
			if _, err := k.wait(ctx, path); !errors.Is(err, why) {
				t.Errorf("waited: %v, want the cause", err)
			}
			time.AfterFunc(20*time.Millisecond, func() { first.Close() })
			second, err := k.wait(t.Context(), path)
			if err != nil {
				t.Fatalf("once it was given back: %v", err)
			}
			if err := second.Remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("removed: %v", err)
			}
		})
	}
}

// A lock on what nobody can find any more is none.
func TestRemovedBeforeItIsLocked(t *testing.T) {
	if !Folders {
		t.Skip("a file that is open cannot be removed here")
	}
	for _, k := range kinds {
		for how, leave := range map[string]func(string) error{
			"removed": os.Remove,
			"replaced": func(path string) error {
				return errors.Join(os.Rename(path, path+".old"), k.make(path))
			},
		} {
			t.Run(k.name+" "+how, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x")
				if err := k.make(path); err != nil {
					t.Fatal(err)
				}
				_, err := try(path, os.O_RDONLY, func(f *flock.Flock) (bool, error) {
					ok, err := f.TryLock()
					return ok, errors.Join(err, leave(path))
				})
				if !errors.Is(err, errGone) {
					t.Errorf("%v, want %v", err, errGone)
				}
			})
		}
	}
	if _, err := TryFolder(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// Many take turns on a lock whose file each removes: two are never inside.
func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	var inside sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				l, err := File(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if !inside.TryLock() {
					t.Error("somebody else is inside")
					return
				}
				time.Sleep(100 * time.Microsecond)
				inside.Unlock()
				if err := l.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// The lock of a process that is killed is free; one that lives is seen, and asking takes nothing.
func TestKilledHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if held, err := Held(path); held || err != nil {
		t.Errorf("no file: held %v, %v", held, err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FILELOCK_TEST_PATH="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe() // it lives until then at the latest
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("%q, %v", line, err)
	}
	for range 2 {
		if held, err := Held(path); !held || err != nil {
			t.Errorf("a living holder: held %v, %v", held, err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, ErrHeld)
	defer cancel()
	if _, err := File(ctx, path); !errors.Is(err, ErrHeld) {
		t.Errorf("a living holder: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // it was killed
	if held, err := Held(path); held || err != nil {
		t.Errorf("a dead holder: held %v, %v", held, err)
	}
	soon, cancel := Soon(t.Context())
	defer cancel()
	l, err := File(soon, path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", fi, err)
	}
}
