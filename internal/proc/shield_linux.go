package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Shield closes this process to others of the same user: its environment, memory and descriptors in /proc can no longer be
// read, and it cannot be traced or dumped (threats.md T71, T72). A child that no sandbox keeps from /proc could
// otherwise read there what its own environment does not hold. Root reads on; children of this process are open again
// once they have been started. A user namespace cannot be made by a shielded process, so it comes after any probe for one.
func Shield() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process to other processes of the user: %w", err)
	}
	return nil
}
