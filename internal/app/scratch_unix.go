//go:build unix

package app

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// locksFolders is true where a folder in use can be told from one that was left.
const locksFolders = true

// lockFolder locks a folder for as long as the file stays open, at the latest until the process ends. Without wait it
// returns errInUse when somebody else has it. One that is removed before it is ours gives fs.ErrNotExist. Children do not
// inherit it.
func lockFolder(dir string, wait bool) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		if err = unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errInUse
	}
	if err == nil {
		err = findable(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// findable gives fs.ErrNotExist unless the folder still stands where it was opened: a lock on one that nobody can find any
// more keeps nobody out.
func findable(f *os.File) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(f.Name())
	if err == nil && !os.SameFile(mine, there) {
		err = &fs.PathError{Op: "lock", Path: f.Name(), Err: fs.ErrNotExist}
	}
	return err
}
