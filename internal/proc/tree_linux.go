package proc

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// process is what /proc says about a process.
type process struct {
	pid, parent, session int
	// started is the start time in clock ticks since boot; with the pid it names a process for good.
	started uint64
	zombie  bool
}

// processes lists all that /proc shows.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	list := make([]process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			list = append(list, p)
		}
	}
	return list
}

// readProcess parses /proc/PID/stat. The name in it is chosen by the process and may hold spaces and brackets; what
// follows its last bracket may be trusted.
func readProcess(pid int) (process, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	i := bytes.LastIndexByte(data, ')')
	f := bytes.Fields(data[i+1:])
	if i < 0 || len(f) < 20 {
		return process{}, false
	}
	// A process whose first thread has ended reads as a zombie although its other threads run on.
	dead := f[0][0] == 'Z' || f[0][0] == 'X'
	threads, _ := strconv.Atoi(string(f[17]))
	p := process{pid: pid, zombie: dead && threads < 2}
	p.parent, _ = strconv.Atoi(string(f[1]))
	p.session, _ = strconv.Atoi(string(f[3]))
	p.started, _ = strconv.ParseUint(string(f[19]), 10, 64)
	return p, true
}

// below returns the living descendants of the roots, without the roots.
func below(all []process, roots ...int) []process {
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []process
	seen := map[int]bool{}
	for queue := roots; len(queue) > 0; queue = queue[1:] {
		for _, c := range children[queue[0]] {
			if seen[c.pid] {
				continue
			}
			seen[c.pid] = true
			queue = append(queue, c.pid)
			if !c.zombie {
				found = append(found, c)
			}
		}
	}
	return found
}

// signal sends a signal to exactly this process: its pid may long belong to another (T103). The descriptor is taken
// first and the start time compared after, so it cannot change in between.
func (p process) signal(sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, ok := readProcess(p.pid); ok && now.started == p.started {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// sweepFor bounds a sweep; a fork bomb may win for a while.
const sweepFor = 10 * time.Second

// sweep kills what find finds until two scans in a row find nothing (security 8). It reports whether it succeeded and how
// many different processes it had to kill.
func sweep(find func() []process) (killed int, clean bool) {
	type key struct {
		pid     int
		started uint64
	}
	seen := map[key]bool{}
	empty := 0
	for deadline := time.Now().Add(sweepFor); time.Now().Before(deadline); {
		found := find()
		if len(found) == 0 {
			if empty++; empty == 2 {
				return len(seen), true
			}
			continue
		}
		empty = 0
		for _, p := range found { // all are stopped before the first dies, so that none can fork in answer
			p.signal(unix.SIGSTOP)
			seen[key{p.pid, p.started}] = true
		}
		for _, p := range found {
			p.signal(unix.SIGKILL)
		}
		time.Sleep(time.Millisecond) // dying takes the kernel a moment
	}
	return len(seen), false
}
