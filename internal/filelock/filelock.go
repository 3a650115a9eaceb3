// Package filelock holds advisory locks on files and folders. The kernel gives a lock back when its process ends, however it ends.
// A lock belongs to the open file, not to the process: two in one process keep each other out, and a program that is started does
// not inherit it.
//
// A file must hold nothing else. In particular it is never a database: closing a SQLite file takes the locks of all its connections
// in this process away (https://www.sqlite.org/howtocorrupt.html, 2.2).
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// ErrHeld: somebody else has a lock that keeps this one out.
var ErrHeld = errors.New("the lock is held")

// Folders is whether a folder can be locked. Where it cannot, locking one does nothing and succeeds.
const Folders = runtime.GOOS != "windows"

// Patience is how long a lock may outlive the process that was killed with it. A child holds all descriptors of its parent from the
// moment it is split off until it executes its program, and the lock with them: up to 0.2 s were measured with ten processes to
// each processor. Whoever has a lock for longer lives.
const Patience = 2 * time.Second

const pause = 5 * time.Millisecond // between two tries

// errGone: what was locked does not stand at its path any more. Such a lock keeps nobody out.
var errGone = errors.New("removed before it was locked")

// A Lock is a lock that is held, for as long as something refers to it.
type Lock struct{ f *flock.Flock }

// TryFile locks the file at path, which is created with mode 0600 if need be, or gives ErrHeld.
func TryFile(path string) (*Lock, error) {
	for {
		if l, err := try(path, os.O_RDWR|os.O_CREATE, (*flock.Flock).TryLock); !errors.Is(err, errGone) {
			return l, err
		}
	}
}

// File is TryFile that asks again until ctx ends; its error is then the cause.
func File(ctx context.Context, path string) (*Lock, error) { return wait(ctx, path, TryFile) }

// TryFolder locks the folder at path, or gives ErrHeld. One that is not there, or is removed before it is ours, gives
// fs.ErrNotExist.
func TryFolder(path string) (*Lock, error) { return tryFolder(path, (*flock.Flock).TryLock) }

func tryFolder(path string, lock func(*flock.Flock) (bool, error)) (*Lock, error) {
	if !Folders {
		return &Lock{flock.New(path)}, nil
	}
	l, err := try(path, os.O_RDONLY, lock)
	if errors.Is(err, errGone) {
		err = &fs.PathError{Op: "lock", Path: path, Err: fs.ErrNotExist}
	}
	return l, err
}

// TryShared locks the folder at path beside others who share it, and keeps TryFolder out.
func TryShared(path string) (*Lock, error) { return tryFolder(path, (*flock.Flock).TryRLock) }

// Shared is TryShared that asks again until ctx ends; its error is then the cause.
func Shared(ctx context.Context, path string) (*Lock, error) { return wait(ctx, path, TryShared) }

// Folder is TryFolder that asks again until ctx ends; its error is then the cause.
func Folder(ctx context.Context, path string) (*Lock, error) { return wait(ctx, path, TryFolder) }

// Soon bounds a wait by Patience. Its cause is ErrHeld.
func Soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, Patience, ErrHeld)
}

// Held reports whether somebody has the lock of the file at path. It creates nothing; whoever takes the lock at the same moment
// finds it held.
func Held(path string) (bool, error) {
	l, err := try(path, os.O_RDONLY, (*flock.Flock).TryRLock)
	switch {
	case err == nil:
		return false, l.Close()
	case errors.Is(err, ErrHeld):
		return true, nil
	case errors.Is(err, errGone) || errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, err
}

// Close gives the lock back; its file or folder stays.
func (l *Lock) Close() error { return l.f.Close() }

// Remove gives the lock back and removes its file, or its folder when that is empty. That comes first, while nobody else can have
// the lock: whoever waited for it finds out that it is gone.
func (l *Lock) Remove() error {
	err := os.Remove(l.f.Path())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.Close())
}

// try locks what stands at path.
func try(path string, flag int, lock func(*flock.Flock) (bool, error)) (*Lock, error) {
	f := flock.New(path, flock.SetFlag(flag))
	ok, err := lock(f)
	for errors.Is(err, syscall.EINTR) {
		ok, err = lock(f)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !ok {
		return nil, fmt.Errorf("lock %s: %w", path, ErrHeld)
	}
	mine, err := f.Stat()
	if err == nil {
		var there fs.FileInfo
		there, err = os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, there) {
			err = errGone
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{f}, nil
}

func wait(ctx context.Context, path string, try func(string) (*Lock, error)) (*Lock, error) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		l, err := try(path)
		if !errors.Is(err, ErrHeld) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
