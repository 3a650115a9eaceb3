//go:build unix

package tools

import "syscall"

// noFollow keeps an open for writing from following a link that takes the place of a file.
const noFollow = syscall.O_NOFOLLOW
