//go:build unix

package npmagent

import (
	"os"
	"syscall"
)

// lock waits for the file's lock, so that test binaries that run side by side install an agent once. The system gives it up when
// the holder dies.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
