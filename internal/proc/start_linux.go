package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// job is what the leash is told to start. Byte slices, because arguments and paths need not be valid UTF-8.
type job struct {
	Path, Dir []byte
	Args, Env [][]byte
	// FileBytes bounds each file the child writes; 0 does not.
	FileBytes int64
	// Groups are the control groups the child is to be in.
	Groups groups
}

// report is what the leash says at the end.
type report struct {
	Code      int    `json:"code"`
	Signal    string `json:"signal,omitempty"`
	Survivors int    `json:"survivors,omitempty"`
	Unclean   bool   `json:"unclean,omitempty"`
	// OutOfMemory is true when the kernel ended a part of the tree for the memory all of it held.
	OutOfMemory bool `json:"out_of_memory,omitempty"`
	// Errno is set when the child could not be started.
	Errno int `json:"errno,omitempty"`
}

// Orders of one byte, from prloop to the leash.
const (
	orderTerm = 'T'
	orderKill = 'K'
)

func start(spec Spec, std [3]*os.File) (child, error) {
	if spec.Direct {
		return startDirect(spec, std)
	}
	return startLeashed(spec, std)
}

// leashed is a child behind a leash.
type leashed struct {
	cmd    *exec.Cmd
	ctl    *os.File
	groups groups
}

func startLeashed(spec Spec, std [3]*os.File) (child, error) {
	// A socket rather than a pipe: one descriptor carries orders down, the report up, and the news of our death.
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make the leash's socket: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, fmt.Errorf("make the leash's socket: %w", err)
	}
	ctl, far := os.NewFile(uintptr(fds[0]), "leash"), os.NewFile(uintptr(fds[1]), "leash")
	defer far.Close()
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{leashName}, Env: []string{}, Dir: "/",
		Stdin: std[0], Stdout: std[1], Stderr: std[2], ExtraFiles: []*os.File{far},
		// The end of the socket is what tells the leash of our death; the signal is the second string.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}}
	if err := theFamily().start(cmd); err != nil {
		ctl.Close()
		return nil, fmt.Errorf("start the leash: %w", err)
	}
	c := &leashed{cmd: cmd, ctl: ctl, groups: makeGroups(spec.Bounds)}
	j := jobOf(spec)
	j.Groups = c.groups
	order, err := json.Marshal(j)
	if err == nil {
		_, err = ctl.Write(append(order, '\n'))
	}
	if err != nil {
		c.destroy()
		c.wait()
		return nil, fmt.Errorf("give the leash its job: %w", err)
	}
	return c, nil
}

func jobOf(spec Spec) job {
	j := job{Path: []byte(spec.Path), Dir: []byte(spec.Dir), Args: [][]byte{[]byte(spec.Path)}, FileBytes: spec.Bounds.FileBytes}
	for _, a := range spec.Args {
		j.Args = append(j.Args, []byte(a))
	}
	for _, e := range spec.Env {
		j.Env = append(j.Env, []byte(e))
	}
	return j
}

func (c *leashed) term() { _, _ = c.ctl.Write([]byte{orderTerm}) }
func (c *leashed) kill() { _, _ = c.ctl.Write([]byte{orderKill}) }

// destroy does without the leash: the child may have stopped it.
func (c *leashed) destroy() {
	pid := c.cmd.Process.Pid
	sweep(func() []process { return below(processes(), pid) })
	_ = c.cmd.Process.Kill()
}

func (c *leashed) wait() status {
	var r report
	err := json.NewDecoder(c.ctl).Decode(&r)
	_ = c.cmd.Wait() // the leash's own end says nothing
	theFamily().forget(c.cmd.Process.Pid)
	c.ctl.Close()
	st := status{code: r.Code, signal: r.Signal, survivors: r.Survivors, unclean: r.Unclean, oom: r.OutOfMemory}
	if r.Errno != 0 {
		st.err = syscall.Errno(r.Errno)
	}
	if err != nil {
		st.code, st.lost = -1, true
		killed, clean := theFamily().sweepOrphans()
		st.survivors, st.unclean = killed, !clean
		c.groups.remove()
	}
	return st
}

func (c *leashed) tree() []process { return below(recent(), c.cmd.Process.Pid) }

func (c *leashed) outOfMemory() bool { return c.groups.oomKills() }

func (c *leashed) fileHolders() (dirs []string) {
	for _, p := range c.tree() {
		dirs = append(dirs, fmt.Sprintf("/proc/%d/fd", p.pid))
	}
	return dirs
}

// holds leaves to control groups what they bound.
func (c *leashed) holds(limit int64) (resident, processes int64) {
	if c.groups.Memory.Dir != "" && c.groups.Pids.Dir != "" {
		return 0, 0
	}
	tree := c.tree()
	if c.groups.Pids.Dir == "" {
		processes = int64(len(tree))
	}
	if c.groups.Memory.Dir == "" && limit > 0 {
		resident = residentAbove(tree, limit)
	}
	return resident, processes
}

// direct is a child without a leash.
type direct struct {
	boundless
	cmd *exec.Cmd
}

func startDirect(spec Spec, std [3]*os.File) (child, error) {
	cmd := command(spec, std)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := theFamily().start(cmd); err != nil {
		return nil, pathCause(err)
	}
	return &direct{cmd: cmd}, nil
}

func (c *direct) each(sig unix.Signal) {
	for _, p := range below(processes(), c.cmd.Process.Pid) {
		p.signal(sig)
	}
	_ = c.cmd.Process.Signal(sig)
}

func (c *direct) term() { c.each(unix.SIGTERM) }

func (c *direct) kill() {
	sweep(func() []process { return below(processes(), c.cmd.Process.Pid) })
	_ = c.cmd.Process.Kill()
}

func (c *direct) destroy() { c.kill() }

func (c *direct) wait() status {
	st := exitStatus(c.cmd.Wait(), c.cmd)
	pid := c.cmd.Process.Pid
	f := theFamily()
	f.forget(pid)
	// One look is enough for a tool of our own that left nothing: these are started by the hundred.
	if f.bereft() || !settle(func() []process { return f.left(pid) }) {
		return st
	}
	killed, clean := f.sweepOrphans()
	st.survivors, st.unclean = killed, !clean
	return st
}

// settleFor is what descendants get to end by themselves once the first process has: the members of a pipeline end in any
// order, and one that is on its way out is no survivor.
const settleFor = 200 * time.Millisecond

func settle(find func() []process) (left bool) {
	for deadline := time.Now().Add(settleFor); ; time.Sleep(5 * time.Millisecond) {
		if len(find()) == 0 {
			return false
		}
		if time.Now().After(deadline) {
			return true
		}
	}
}

// pathCause takes the packaging off, which names a path the caller names too.
func pathCause(err error) error {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return cause(err)
}
