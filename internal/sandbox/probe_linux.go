package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probeLimit bounds a probe; a machine on which a spawn takes that long is not usable either.
const probeLimit = 10 * time.Second

// look tries every part by use, not by version: a fix or a ban can be on either side of a version number.
func (m *Machine) look(ctx context.Context, r *Report) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	try := func(name string, f func() (string, error)) {
		if why, masked := m.missing[name]; masked {
			r.say(name, false, why)
			return
		}
		detail, err := f()
		if err != nil {
			detail = err.Error()
		}
		r.say(name, err == nil, detail)
	}
	try(PartLandlock, func() (string, error) {
		abi, err := probeLandlock()
		r.landlock = abi
		return fmt.Sprintf("ABI %d", abi), err
	})
	try(PartSeccomp, func() (string, error) { return probeSeccomp(ctx) })
	try(PartNamespaces, func() (string, error) { return probeNamespaces(ctx, r) })
	try(PartBubblewrap, func() (string, error) { return probeBubblewrap(ctx, cmp.Or(m.bwrap, findBubblewrap()), r) })
	if os.Geteuid() == 0 {
		uid := freeUID()
		detail := fmt.Sprintf("uids from %d", uid&^0xffff)
		if uid == 0 {
			detail = noUID
		}
		r.say(PartUID, uid != 0, detail)
	}
	try(PartCgroup, probeCgroup)
}

// onThread runs f on a thread that ends with it, so that what f forbids itself stays with that thread.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: Go ends the thread with the goroutine
		done <- f()
	}()
	return <-done
}

// probeLandlock forbids a thread every file and sees whether it is kept from one.
func probeLandlock() (int, error) {
	abi, err := landlockABI()
	if err != nil {
		return 0, err
	}
	err = onThread(func() error {
		if err := restrict(abi, nil, false); err != nil {
			return err
		}
		fd, err := unix.Open("/etc", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(fd)
			return fmt.Errorf("rules are taken but not enforced")
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return abi, nil
}

// probeSeccomp has a process of its own try a filter: a kernel that has come to a stop there ends neither it nor whoever waits for it (threats.md T646).
func probeSeccomp(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, filterPatience, errNoFilter)
	defer cancel()
	return "filter on " + runtime.GOARCH, listen(ctx, func(said *os.File) (int, error) {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return 0, err
		}
		defer null.Close()
		return syscall.ForkExec("/proc/self/exe", filterArgs, &syscall.ProcAttr{Dir: "/", Env: []string{}, Files: []uintptr{null.Fd(), null.Fd(), said.Fd()}})
	})
}

// filterPatience bounds how long a filter may take: it takes less than a millisecond, and the process that tries it some.
const filterPatience = 5 * time.Second

var errNoFilter = fmt.Errorf("the kernel does not answer: a process that installs a filter did not end within %s", filterPatience)

// listen starts a process, and gives what it says on standard error where it fails. Nobody waits for it longer than ctx allows.
func listen(ctx context.Context, start func(said *os.File) (pid int, err error)) error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	pid, err := start(in)
	in.Close()
	if err != nil {
		return err
	}
	type end struct {
		code int
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		code, err := waitFor(pid)
		ended <- end{code, err}
	}()
	select {
	case <-ctx.Done():
		_ = unix.Kill(pid, unix.SIGKILL)
		return context.Cause(ctx)
	case e := <-ended:
		if e.err != nil || e.code == 0 {
			return e.err
		}
		return said(out, e.code)
	}
}

// said is what a process wrote before it ended with a status.
func said(out *os.File, code int) error {
	text := make([]byte, 1000)
	n, _ := out.Read(text)
	if line, _, _ := strings.Cut(string(text[:n]), "\n"); line != "" {
		return errors.New(strings.TrimPrefix(line, setupPrefix))
	}
	return fmt.Errorf("the check inside ended with status %d", code)
}

// tryFilter forbids a thread netlink sockets and sees whether it is kept from one.
func tryFilter() error {
	return onThread(func() error {
		if err := applyFilter(filterRules{}); err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(fd)
			return errors.New("the filter is taken but not enforced")
		}
		return nil
	})
}

// probeNamespaces sets up a whole sandbox and has its checks run inside. Root needs no user namespace and does without;
// where root is not what it seems (a container's), it tries with one.
func probeNamespaces(ctx context.Context, r *Report) (string, error) {
	var last error
	for _, userns := range []bool{false, true} {
		if !userns && os.Geteuid() != 0 {
			continue
		}
		p := probePlan(r)
		p.Mode, p.Userns = modeNamespaces, userns
		if last = probeInside(ctx, p); last == nil {
			r.userns = userns
			if userns {
				return "user, pid, net, mount, ipc, uts", nil
			}
			return "pid, net, mount, ipc, uts (root needs no user namespace)", nil
		}
	}
	return "", fmt.Errorf("%w%s", last, refused())
}

func probePlan(r *Report) *plan {
	p := &plan{Landlock: r.landlock, Seccomp: r.Part(PartSeccomp).OK, Home: "/tmp", Dir: "/", Limits: Limits{}.withDefaults()}
	for _, path := range append(append([]string(nil), system...), plainEtc()...) {
		p.addSystem(path)
	}
	p.sort()
	return p
}

// refused names the namespaces the kernel refuses one by one, when all together did not work.
func refused() string {
	var names []string
	for _, n := range []struct {
		name string
		flag uintptr
	}{{"user", 0}, {"pid", unix.CLONE_NEWPID}, {"net", unix.CLONE_NEWNET}, {"mount", unix.CLONE_NEWNS},
		{"ipc", unix.CLONE_NEWIPC}, {"uts", unix.CLONE_NEWUTS}} {
		// A child that only has to start: this program with nothing to do inside ends at once.
		attr := &syscall.ProcAttr{Env: []string{}, Files: []uintptr{}, Sys: &syscall.SysProcAttr{Cloneflags: n.flag | unix.CLONE_NEWUSER}}
		pid, err := syscall.ForkExec("/proc/self/exe", insideArgs, attr)
		if err != nil {
			names = append(names, n.name+" namespace: "+err.Error())
			continue
		}
		_, _ = waitFor(pid)
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// probeInside runs the checks inside and returns what they say on standard error.
func probeInside(ctx context.Context, p *plan) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	defer in.Close()
	return onThread(func() error { // the thread must live as long as the child, or the kernel kills it
		pid, ctl, err := startInside(job{Plan: *p, Path: []byte("/"), Probe: true}, [3]uintptr{null.Fd(), null.Fd(), in.Fd()})
		if err != nil {
			return err
		}
		defer ctl.Close()
		stop := context.AfterFunc(ctx, func() { _ = unix.Kill(pid, unix.SIGKILL) })
		code, err := waitFor(pid)
		if !stop() && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || code == 0 {
			return err
		}
		_ = in.Close()
		return said(out, code)
	})
}

// probeBubblewrap looks for bwrap, and tries it only where it is needed.
func probeBubblewrap(ctx context.Context, path string, r *Report) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("bwrap is not installed")
	case r.Part(PartNamespaces).OK:
		return path + ", not needed", nil
	case os.Geteuid() == 0:
		return "", fmt.Errorf("%s is not used as root: its child would keep root's uid", path)
	}
	p := probePlan(r)
	p.Mode, p.Bubblewrap = modeBubblewrap, path
	if err := probeInside(ctx, p); err != nil {
		return "", err
	}
	r.bwrap = path
	return path, nil
}

// probeCgroup makes a group and removes it again.
func probeCgroup() (string, error) {
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		dir, err := os.MkdirTemp(root, "prloop-probe-")
		if err != nil {
			continue
		}
		_, err = os.Stat(filepath.Join(dir, "cgroup.kill"))
		_ = os.Remove(dir)
		if err == nil {
			return root, nil
		}
	}
	return "", fmt.Errorf("no cgroup v2 folder is writable; the pid namespace does without")
}
