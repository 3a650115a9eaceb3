package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideArgs are how the half of the trampoline inside is called.
var insideArgs = []string{"prloop", InitCommand, "inside"}

// filterArgs are how a process is called that tries a filter.
var filterArgs = []string{"prloop", InitCommand, "filter"}

// setupPrefix opens the line on standard error that says why no agent was started.
const setupPrefix = "prloop: set up sandbox: "

// The trampoline is this same binary. It branches off here, before any other part of the program is set up.
func init() {
	if len(os.Args) < 3 || os.Args[1] != InitCommand {
		return
	}
	// The thread that starts a child must live as long as it (finding 5); the main thread does.
	runtime.LockOSThread()
	code, err := 0, error(nil)
	switch what := os.Args[2:]; {
	case len(what) == 1 && what[0] == insideArgs[2]:
		code, err = inside()
	case len(what) == 1 && what[0] == filterArgs[2]:
		err = tryFilter()
	default:
		code, err = outside(what)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", setupPrefix, err)
		code = ExitSetup
	}
	os.Exit(code)
}

// outside does what needs the machine's own namespaces, starts the half inside, and stands between it and prloop.
func outside(args []string) (int, error) {
	if len(args) < 2 {
		return 0, errors.New("this command is for prloop itself")
	}
	// What prloop has open stays here.
	if err := unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return 0, fmt.Errorf("keep open files to this process: %w", err)
	}
	j := job{Path: []byte(args[1])}
	if err := json.Unmarshal([]byte(args[0]), &j.Plan); err != nil {
		return 0, fmt.Errorf("read policy: %w", err)
	}
	for _, a := range args[1:] {
		j.Args = append(j.Args, []byte(a))
	}
	for _, e := range os.Environ() {
		j.Env = append(j.Env, []byte(e))
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return 0, fmt.Errorf("forbid core files: %w", err)
	}
	if j.Plan.UID != 0 {
		for _, b := range j.Plan.Binds {
			if b.Write && b.Dir {
				if err := giveAway(b.Source, j.Plan.UID); err != nil {
					return 0, err
				}
			}
		}
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if j.Plan.Mode == modeRules {
		return confineHere(j, signals)
	}
	pid, ctl, err := startInside(j, [3]uintptr{0, 1, 2})
	if err != nil {
		return 0, err
	}
	letGo()
	go func() {
		for range signals {
			_, _ = ctl.Write([]byte{orderTerm})
		}
	}()
	return waitFor(pid)
}

// orderTerm asks the half inside to send TERM to the agent. The end of the pipe tells it that we are gone.
const orderTerm = 'T'

// startInside starts the half inside with its standard streams and tells it its job. The caller's thread must live as
// long as the child, and ctl must stay open.
func startInside(j job, std [3]uintptr) (pid int, ctl *os.File, err error) {
	data, err := json.Marshal(j)
	if err != nil {
		return 0, nil, err
	}
	far, ctl, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer far.Close()
	path, argv := "/proc/self/exe", insideArgs
	attr := &syscall.ProcAttr{Dir: "/", Env: []string{}, Files: []uintptr{std[0], std[1], std[2], far.Fd()}}
	if j.Plan.Mode == modeBubblewrap {
		b, err := bubblewrap(j.Plan)
		if err != nil {
			ctl.Close()
			return 0, nil, err
		}
		defer b.close()
		path, argv = j.Plan.Bubblewrap, b.argv
		attr.Files = append(attr.Files, b.files...)
		attr.Sys = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	} else {
		attr.Sys = newSpacesFor(j.Plan)
	}
	if pid, err = syscall.ForkExec(path, argv, attr); err != nil {
		ctl.Close()
		return 0, nil, fmt.Errorf("make namespaces: %w", err)
	}
	if _, err := ctl.Write(append(data, '\n')); err != nil && !errors.Is(err, unix.EPIPE) {
		ctl.Close()
		return 0, nil, fmt.Errorf("hand over the policy: %w", err)
	}
	return pid, ctl, nil
}

// newSpacesFor are the attributes of a process in new namespaces. Where they need a user namespace, the one uid in it is
// not 0, and ambient capabilities carry the rights for the set-up over exec: mapped to a uid other than 0 they would be
// lost there.
func newSpacesFor(p plan) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS}
	if !p.Userns {
		return attr
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	uid, gid := os.Geteuid(), os.Getegid()
	if p.UID != 0 { // root in a container that has no other way
		uid, gid = p.UID, p.UID
		attr.Credential = &syscall.Credential{Uid: insideUID, Gid: insideUID, NoSetGroups: true}
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: insideUID, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: insideUID, HostID: gid, Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE}
	return attr
}

// letGo gives up the child's streams: an end of file must mean that the agent closed them. Standard error stays, for a
// line about what goes wrong.
func letGo() {
	if null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		for fd := range 2 {
			_ = unix.Dup3(null, fd, 0)
		}
	}
}

// waitFor waits for one child and returns its status as a shell tells it.
func waitFor(pid int) (int, error) {
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(pid, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the sandbox: %w", err)
		case ws.Exited() || ws.Signaled():
			return statusOf(ws), nil
		}
	}
}

func statusOf(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}
