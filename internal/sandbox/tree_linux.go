package sandbox

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// killRest ends what the agent left, where no pid namespace does it: its children have become ours, and when one of them
// dies its own children do.
func killRest() {
	for {
		for _, pid := range children() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		// A child whose parent is still dying becomes ours in a moment; without any child there is none to come.
		if _, err := unix.Wait4(-1, nil, 0, nil); err == unix.ECHILD {
			return
		}
	}
}

// children lists this process's own. Only it can collect them, so none of the numbers can have been given to another.
func children() []int {
	var list []int
	eachProcess(func(pid int, _ os.FileInfo, stat []string) {
		if stat[1] == strconv.Itoa(os.Getpid()) {
			list = append(list, pid)
		}
	})
	return list
}

// threadsOf counts the threads of a user.
func threadsOf(uid int) (n uint64) {
	eachProcess(func(_ int, info os.FileInfo, stat []string) {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid && len(stat) > 17 {
			threads, _ := strconv.ParseUint(stat[17], 10, 64)
			n += threads
		}
	})
	return n
}

// eachProcess gives what /proc/PID/stat says from the state on: what stands before is chosen by the process and may hold
// anything, what follows its last bracket may be trusted.
func eachProcess(f func(pid int, info os.FileInfo, stat []string)) {
	names, _ := os.ReadDir("/proc")
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		info, err := n.Info()
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + n.Name() + "/stat")
		if err != nil {
			continue
		}
		if stat := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:])); len(stat) > 1 {
			f(pid, info, stat)
		}
	}
}
