package proc

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// atWork counts what the tree has at work, unless a control group gives it its share of the processors.
func (c *leashed) atWork() (has crowd, shares bool) {
	if c.groups.CPU.Dir != "" {
		return crowd{}, false
	}
	return crowdOf(c.tree()), true
}

// standBack leaves all threads of the tree, and what they start, the time that nobody else has a use for: to the kernel a few hundred of them weigh
// as much as one thread. The flag takes nothing from what they start; without it the kernel refuses where a thread has set it for itself.
func (c *leashed) standBack() {
	idle := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	for _, p := range c.tree() {
		if now, ok := readProcess(p.pid); !ok || now.started != p.started {
			continue // the number may be another's by now (threats.md T103)
		}
		p.eachThread(func(t process) { _ = unix.SchedSetAttr(t.pid, &idle, 0) })
	}
}

func crowdOf(tree []process) (c crowd) {
	sessions := map[int]bool{}
	for _, p := range tree {
		p.eachThread(func(t process) {
			if t.running {
				c.threads++
				sessions[p.session] = true
			}
		})
	}
	c.sessions = len(sessions)
	return c
}

// eachThread calls do for each thread of a process. /proc/TID/stat has the state of that thread.
func (p process) eachThread(do func(thread process)) {
	if p.threads < 2 {
		do(p)
		return
	}
	dir, err := os.Open("/proc/" + strconv.Itoa(p.pid) + "/task")
	if err != nil {
		return // it has ended
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	buf := make([]byte, statBytes)
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil {
			if t, ok := statOf(tid, buf); ok {
				do(t)
			}
		}
	}
}
