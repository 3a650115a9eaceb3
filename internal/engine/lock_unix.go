//go:build unix

package engine

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// flock locks f without waiting, for us alone or shared; errHeld when somebody holds it the other way.
func flock(f *os.File, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		}
		return err
	}
}
