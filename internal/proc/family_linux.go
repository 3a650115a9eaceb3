package proc

import (
	"os"
	"os/exec"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// family is what this process has started and what fell to it.
//
// All children are started by one thread that never ends: the kernel sends the death signal when the *thread* that
// started the child dies, and Go retires threads as it likes (finding 5).
type family struct {
	orders chan func()

	mu      sync.Mutex // held while starting and while looking for orphans: a child is registered before it can be seen
	members map[int]bool
	session int
}

var theFamily = sync.OnceValue(func() *family {
	f := &family{orders: make(chan func()), members: map[int]bool{}}
	f.session, _ = unix.Getsid(0)
	ready := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		// Orphans of our children become our children, so that they can be found and ended. It is an attribute of the
		// whole process.
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
		closeOnExec()
		close(ready)
		for order := range f.orders {
			order()
		}
	}()
	<-ready
	return f
})

// closeOnExec keeps descriptors this process was started with from being passed on; Go's own are marked already.
func closeOnExec() {
	if unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	names, _ := os.ReadDir("/proc/self/fd")
	for _, e := range names {
		var fd int
		for _, c := range e.Name() {
			fd = fd*10 + int(c-'0')
		}
		if fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// start starts a command on the one thread and registers it.
func (f *family) start(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	f.orders <- func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		err := cmd.Start()
		if err == nil {
			f.members[cmd.Process.Pid] = true
		}
		done <- err
	}
	return <-done
}

// forget unregisters a child that has been waited for.
func (f *family) forget(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.members, pid)
}

// sweepOrphans ends what fell to this process: descendants of children that ran without a leash or killed it.
func (f *family) sweepOrphans() (killed int, clean bool) {
	return sweep(func() []process { return f.left(0) })
}

// bereft reports that nothing fell to this process, as is nearly always so after a child of the direct kind. It looks at
// this process's children alone, a tenth of the work that left does; when it is not sure it says no.
func (f *family) bereft() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	pids, ok := ownChildren()
	for _, pid := range pids {
		if f.members[pid] {
			continue
		}
		if p, there := readProcess(pid); there && p.session != f.session {
			return false
		}
	}
	return ok
}

// left lists what fell to this process, with all below it. They are told from children that other code of this process
// started by their session: all of ours begin one of their own. Whatever is in the session given is listed too, unless
// it is 0.
func (f *family) left(session int) []process {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := processes()
	self := os.Getpid()
	var roots []int
	var found []process
	for _, p := range all {
		if session != 0 && p.session == session && !p.zombie {
			found = append(found, p)
		}
		if p.parent != self || p.session == f.session || f.members[p.pid] {
			continue
		}
		if p.zombie {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
			continue
		}
		roots = append(roots, p.pid)
		found = append(found, p)
	}
	if len(roots) == 0 {
		return found
	}
	return append(found, below(all, roots...)...)
}
