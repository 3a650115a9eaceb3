package proc

import (
	"bytes"
	"os"
	"slices"
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
	// running is true when the first thread runs or waits for a processor, and threads is how many there are.
	running bool
	threads int
}

// processes lists all that /proc shows. A look follows every child, and of some hundred processes each: one buffer serves
// them all, and nothing but the list is left for the garbage collector.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	list := make([]process, 0, len(names))
	buf := make([]byte, statBytes)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := statOf(pid, buf); ok {
			list = append(list, p)
		}
	}
	return list
}

// statBytes holds any /proc/PID/stat: 52 numbers of at most 20 digits and a name of at most 64 bytes.
const statBytes = 2 << 10

func readProcess(pid int) (process, bool) { return statOf(pid, make([]byte, statBytes)) }

// statOf parses /proc/PID/stat. The name in it is chosen by the process and may hold spaces and brackets; what follows
// its last bracket may be trusted.
func statOf(pid int, buf []byte) (process, bool) {
	data := stat(pid, buf)
	i := bytes.LastIndexByte(data, ')')
	if i < 0 || i+2 > len(data) {
		return process{}, false
	}
	var f [20][]byte
	rest := data[i+2:]
	for n := range f {
		var more bool
		if f[n], rest, more = bytes.Cut(rest, []byte{' '}); !more || len(f[n]) == 0 {
			return process{}, false
		}
	}
	// A process whose first thread has ended reads as a zombie although its other threads run on.
	dead := f[0][0] == 'Z' || f[0][0] == 'X'
	p := process{pid: pid, running: f[0][0] == 'R'}
	p.threads, _ = strconv.Atoi(string(f[17]))
	p.zombie = dead && p.threads < 2
	p.parent, _ = strconv.Atoi(string(f[1]))
	p.session, _ = strconv.Atoi(string(f[3]))
	p.started, _ = strconv.ParseUint(string(f[19]), 10, 64)
	return p, true
}

func stat(pid int, buf []byte) []byte { return readOnce("/proc/"+strconv.Itoa(pid)+"/stat", buf) }

// readOnce reads a file of /proc into buf with three system calls. The kernel hands it over in one piece.
func readOnce(path string, buf []byte) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Read(fd, buf)
		if err == unix.EINTR {
			continue
		}
		return buf[:max(n, 0)]
	}
}

// ownChildren are the children of this process, by the lists the kernel keeps for each of its threads. ok is false where
// it keeps none. A child that ends while a list is read may hide another one for that moment.
func ownChildren() (pids []int, ok bool) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, false
	}
	buf := make([]byte, statBytes)
	for _, t := range threads {
		list := readOnce("/proc/self/task/"+t.Name()+"/children", buf)
		if list == nil || len(list) == len(buf) {
			return nil, false // also when the thread has ended: its children are another's by now
		}
		for field := range bytes.FieldsSeq(list) {
			pid, err := strconv.Atoi(string(field))
			if err != nil {
				return nil, false
			}
			pids = append(pids, pid)
		}
	}
	return pids, true
}

// below returns the living descendants of the roots, without the roots.
func below(all []process, roots ...int) []process {
	if !slices.ContainsFunc(all, func(p process) bool { return slices.Contains(roots, p.parent) }) {
		return nil // as after nearly every child
	}
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

// signal sends a signal to exactly this process: its pid may long belong to another (threats.md T103). The descriptor is taken
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

// sweep kills what find finds until two scans in a row find nothing (threats.md "Sandbox tiers"). It reports whether it succeeded and how
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
