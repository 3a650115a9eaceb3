package sandbox

import (
	"os"
	"strconv"
	"strings"

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
	names, _ := os.ReadDir("/proc")
	var list []int
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + n.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name may hold anything; what follows its last bracket is state and parent.
		after := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if len(after) > 1 && after[1] == strconv.Itoa(os.Getpid()) {
			list = append(list, pid)
		}
	}
	return list
}
