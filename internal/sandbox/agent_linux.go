package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// confine puts the calling thread under everything the plan has. The order matters: the rules need files to be opened,
// the capabilities a call the filter could refuse, and each step takes from the next what it does not need.
func (p *plan) confine() error {
	others := uint64(0)
	if p.Mode == modeRules && p.UID == 0 {
		others = threadsOf(os.Geteuid()) // no user namespace and no uid of its own keep the count apart
	}
	if err := p.Limits.limit(others); err != nil {
		return err
	}
	if err := unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("keep open files from the agent: %w", err)
	}
	if err := dropRights(p.switchUID()); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if p.Landlock > 0 {
		if err := restrict(p.Landlock, p.grants(), p.Mode == modeRules); err != nil {
			return err
		}
	}
	if p.Seccomp {
		// Inside a network and a mount namespace there is no unix socket but the gateway's and the agent's own.
		return applyFilter(filterRules{inet: p.Inet, unixSockets: p.Mode != modeRules || p.Gateway != "", others: p.Mode == modeRules, watch: p.Watch})
	}
	return nil
}

// switchUID reports whether the agent becomes someone else on the way to its program. In a user namespace it is already.
func (p *plan) switchUID() bool { return p.UID != 0 && !p.Userns && p.Mode != modeBubblewrap }

// start forks the agent from a thread that was confined for it and is used for nothing else. The agent dies with that
// thread where no pid namespace ends it, so the thread stays there. Elsewhere it ends: Landlock lets the agent signal what it confines as well.
func (j *job) start() (int, error) {
	type started struct {
		pid int
		err error
	}
	result := make(chan started, 1)
	go func() {
		runtime.LockOSThread()
		pid, err := j.fork()
		result <- started{pid, err}
		if j.Plan.Mode == modeRules {
			select {}
		}
	}()
	s := <-result
	return s.pid, s.err
}

func (j *job) fork() (int, error) {
	p := &j.Plan
	if err := p.confine(); err != nil {
		return 0, err
	}
	attr := &syscall.ProcAttr{Dir: p.Dir, Env: texts(j.Env), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}}
	if p.switchUID() {
		attr.Sys.Credential = &syscall.Credential{Uid: uint32(p.UID), Gid: uint32(p.UID)}
	}
	if p.Mode == modeRules {
		attr.Sys.Pdeathsig = syscall.SIGKILL
	}
	pid, err := syscall.ForkExec(string(j.Path), texts(j.Args), attr)
	if err != nil {
		return 0, fmt.Errorf("start %s in %s: %w", j.Path, p.Dir, err)
	}
	return pid, nil
}

func texts(list [][]byte) []string {
	out := make([]string, len(list)) // never nil, which would mean "inherit"
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// reap collects all that ends until the agent has, and returns its status.
func reap(agent int) (int, error) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, fmt.Errorf("wait for the agent: %w", err)
		case pid == agent && (ws.Exited() || ws.Signaled()):
			return statusOf(ws), nil
		}
	}
}

// passTerm sends the agent TERM at the first of each order; one that leaves for other reasons gets it only once.
func passTerm(agent int, orders <-chan struct{}) {
	if _, ok := <-orders; ok {
		_ = unix.Kill(agent, unix.SIGTERM)
	}
}

// confineHere is all there is without namespaces: the agent is a child of this process, and so is, in the end, whatever
// it starts.
func confineHere(j job, signals <-chan os.Signal) (int, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("adopt what the agent leaves: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("close this process to the agent: %w", err)
	}
	p := &j.Plan
	if p.Gateway != "" {
		if err := os.Remove(p.Socket); err != nil && !os.IsNotExist(err) {
			return 0, fmt.Errorf("serve the gateway: %w", err)
		}
		if err := serveUnix(p.Socket, p.Gateway); err != nil {
			return 0, err
		}
	}
	agent, err := j.start()
	if err != nil {
		return 0, err
	}
	letGo()
	orders := make(chan struct{}, 1)
	go passTerm(agent, orders)
	go func() {
		for range signals {
			select {
			case orders <- struct{}{}:
			default:
			}
		}
	}()
	code, err := reap(agent)
	killRest()
	return code, err
}
