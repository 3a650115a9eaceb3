//go:build unix

package engine

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// The kinds of locks.
const (
	exclusive = unix.LOCK_EX
	shared    = unix.LOCK_SH
)

// flock locks f without waiting; errHeld when somebody has a lock that keeps this one out.
func flock(f *os.File, kind int) error {
	for {
		err := unix.Flock(int(f.Fd()), kind|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		}
		return err
	}
}
