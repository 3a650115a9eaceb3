package proc

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// leashName is what the leash is called; a process of this binary with that name is nothing else.
const leashName = "prloop-leash"

// The leash is this same binary, started again under another name. It branches off here, before any other part of the
// program is set up, so that every binary that links this package can hold a leash, tests included.
func init() {
	if len(os.Args) == 1 && os.Args[0] == leashName {
		// The thread that starts the child must never end (finding 5); the main thread does not.
		runtime.LockOSThread()
		os.Exit(leash(os.NewFile(3, "leash")))
	}
}

// leash starts the child it is told to, adopts what its descendants leave behind, and ends the whole tree when told to,
// when the child has ended, or when prloop is gone.
func leash(ctl *os.File) int {
	closeOnExec()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM)
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE)
	in := bufio.NewReader(ctl)
	var j job
	line, err := in.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &j) != nil {
		return 2
	}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// A core dump of a child could hold what it was told; limits are inherited.
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	if j.FileBytes > 0 {
		_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(j.FileBytes), Max: uint64(j.FileBytes)})
	}
	pid, err := startJob(j)
	if err != nil {
		j.Groups.remove()
		return tell(ctl, report{Code: -1, Errno: errnoOf(err)})
	}
	letGo()

	h := &holder{pid: pid, ended: make(chan syscall.WaitStatus, 1)}
	go h.reap()
	orders := make(chan byte)
	go func() {
		defer close(orders)
		for {
			b, err := in.ReadByte()
			if err != nil {
				return
			}
			orders <- b
		}
	}()
	r := h.hold(orders, signals)
	r.OutOfMemory = j.Groups.oomKills()
	j.Groups.remove()
	return tell(ctl, r)
}

// startJob starts the child where it is to be from its first moment on: in its control groups, and first to go when memory runs
// out.
func startJob(j job) (int, error) {
	attr := &os.ProcAttr{
		Dir: string(j.Dir), Env: texts(j.Env), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}}
	leave, err := j.Groups.enter()
	if err != nil {
		return 0, err
	}
	defer leave()
	const adjust = "/proc/self/oom_score_adj"
	if before, err := os.ReadFile(adjust); err == nil && os.WriteFile(adjust, []byte("800"), 0) == nil {
		defer os.WriteFile(adjust, before, 0) //nolint:errcheck // then the leash goes early too, and takes the child along
	}
	p, err := os.StartProcess(string(j.Path), texts(j.Args), attr)
	if err != nil {
		return 0, err
	}
	return p.Pid, nil
}

func texts(list [][]byte) []string {
	out := make([]string, len(list)) // never nil: os.StartProcess reads nil as "inherit"
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// letGo gives up the child's streams: an end of file must mean that the child closed them.
func letGo() {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil || unix.Dup3(null, fd, 0) != nil {
			_ = unix.Close(fd)
		}
	}
}

// holder watches one child.
type holder struct {
	pid   int
	ended chan syscall.WaitStatus
}

// reap collects everything that ends, adopted ones included.
func (h *holder) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // no children left; more can only come through children
			return
		case pid == h.pid:
			h.ended <- ws
		}
	}
}

func (h *holder) tree() []process { return below(processes(), os.Getpid()) }

// hold returns when nothing of the tree is left.
func (h *holder) hold(orders <-chan byte, signals <-chan os.Signal) report {
	told := false
	for {
		select {
		case ws := <-h.ended:
			return h.close(ws, told)
		case order, ok := <-orders:
			told = true
			if ok && order == orderTerm {
				for _, p := range h.tree() {
					p.signal(unix.SIGTERM)
					p.signal(unix.SIGCONT) // one that is stopped hears nothing
				}
				continue
			}
		case <-signals: // prloop is gone
			told = true
		}
		if _, clean := sweep(h.tree); !clean {
			return report{Code: -1, Signal: "killed", Unclean: true}
		}
		return h.close(<-h.ended, told)
	}
}

// close ends what the child left behind. What prloop itself had ended counts as no survivor.
func (h *holder) close(ws syscall.WaitStatus, told bool) report {
	r := report{Code: ws.ExitStatus()}
	if ws.Signaled() {
		r.Code, r.Signal = -1, ws.Signal().String()
	}
	if !told && !settle(h.tree) {
		return r
	}
	killed, clean := sweep(h.tree)
	if !told {
		r.Survivors = killed
	}
	r.Unclean = !clean
	return r
}

func tell(ctl *os.File, r report) int {
	data, err := json.Marshal(r)
	if err != nil {
		return 2
	}
	_ = ctl.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := ctl.Write(data); err != nil {
		return 2
	}
	return 0
}

func errnoOf(err error) int {
	var e syscall.Errno
	if errors.As(err, &e) {
		return int(e)
	}
	return int(syscall.EIO)
}
