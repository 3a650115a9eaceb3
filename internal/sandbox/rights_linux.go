package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// bareSecurebits: uid 0 means nothing to exec, no right survives a change of uid, none is ever raised again; all locked.
const bareSecurebits = 1<<0 | 1<<1 | 1<<3 | 1<<5 | 1<<6 | 1<<7

// dropRights takes every capability from the calling thread, out of the bounding set too; with switchUID it keeps the two
// it needs to become someone else, which that step itself ends. The thread must be locked.
func dropRights(switchUID bool) error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&hdr, &have[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	if have[0].Permitted|have[1].Permitted|have[0].Inheritable|have[1].Inheritable == 0 {
		// Nothing to lose, and no_new_privs keeps it from coming back; the bounding set is not ours to change.
		return nil
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && c > unix.CAP_SETPCAP {
			break // past the last one this kernel knows
		}
		if err != nil {
			return fmt.Errorf("drop capability %d from the bounding set: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, bareSecurebits, 0, 0, 0); err != nil {
		return fmt.Errorf("set securebits: %w", err)
	}
	var keep [2]unix.CapUserData
	if switchUID {
		keep[0].Effective = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
		keep[0].Permitted = keep[0].Effective
	}
	if err := unix.Capset(&hdr, &keep[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// queuedSignals is how many signals and timers may wait: the kernel counts them by user, and without room timers of others fail.
const queuedSignals = 4096

// halveWatches leaves a child that may watch half of what a user may have of inotify. The kernel counts all user namespaces of a user together, so one
// child could take what the others and the user's own programs need. Where /proc may not be written, it still can (SECURITY.md).
func halveWatches() {
	for _, what := range []string{"instances", "watches"} {
		text, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_" + what)
		if all, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			_ = os.WriteFile("/proc/sys/user/max_inotify_"+what, strconv.AppendInt(nil, all/2, 10), 0)
		}
	}
}

// limit sets the resource limits of this process, which the agent inherits. They bind this process too, so all are far
// above what it needs. Memory is bounded by who starts the sandbox: a limit on address space keeps runtimes that reserve much
// more than they use (Node.js, Go, Java) from starting.
//
// Others is how many processes and threads the kernel counts together with the sandbox's.
func (l Limits) limit(others uint64) error {
	for _, r := range []struct {
		name  string
		which int
		value uint64
	}{
		{"core size", unix.RLIMIT_CORE, 0},
		{"file size", unix.RLIMIT_FSIZE, l.FileBytes},
		{"open files", unix.RLIMIT_NOFILE, l.Files},
		{"locked memory", unix.RLIMIT_MEMLOCK, 64 << 10},
		{"message queues", unix.RLIMIT_MSGQUEUE, 0},
		{"queued signals", unix.RLIMIT_SIGPENDING, queuedSignals},
		{"processes", unix.RLIMIT_NPROC, l.Processes + others}, // last: it counts this process's threads
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(r.which, &now); err != nil {
			return fmt.Errorf("limit %s: %w", r.name, err)
		}
		v := min(r.value, now.Max)
		if err := unix.Setrlimit(r.which, &unix.Rlimit{Cur: v, Max: v}); err != nil {
			return fmt.Errorf("limit %s: %w", r.name, err)
		}
	}
	return nil
}
