//go:build unix

package git

import (
	"os"
	"syscall"
)

// noFollow makes opening a link an error, and a pipe with nobody at its other end no wait.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// linkedElsewhere reports that the file has other names, which may stand outside the folder it was found in.
func linkedElsewhere(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}
