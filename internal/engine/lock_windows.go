package engine

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The kinds of locks.
const (
	exclusive = windows.LOCKFILE_EXCLUSIVE_LOCK
	shared    = 0
)

// flock locks f without waiting; errHeld when somebody has a lock that keeps this one out.
func flock(f *os.File, kind uint32) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY|kind, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}
