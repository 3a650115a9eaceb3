package proc

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
)

// locksRead is how many lines of the list of locks are read at most: for each page of it the kernel begins at its start again.
const locksRead = 10 * manyLocks

// locks counts the locks of files that processes of the tree hold or wait for, and stops above manyLocks.
func (c *leashed) locks() (n int) {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer f.Close()
	mine := map[string]bool{}
	for _, p := range c.tree() {
		mine[strconv.Itoa(p.pid)] = true
	}
	list := bufio.NewScanner(f)
	for line := 0; line < locksRead && n <= manyLocks && list.Scan(); line++ {
		if mine[lockOwner(list.Text())] {
			n++
		}
	}
	return n
}

// lockOwner is the number of the process in a line of /proc/locks, which stands before the file:
//
//	1: POSIX  ADVISORY  WRITE 4321 00:2a:77 0 0
//	1: -> POSIX  ADVISORY  WRITE 4322 00:2a:77 0 0
func lockOwner(line string) string {
	f := strings.Fields(line)
	if len(f) > 1 && f[1] == "->" {
		f = slices.Delete(f, 1, 2)
	}
	if len(f) < 5 {
		return ""
	}
	return f[4]
}
