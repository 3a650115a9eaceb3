package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Nobody waits for a process that tries a filter longer than that may take, and what one says is told.
func TestWhoTriesAFilterIsBounded(t *testing.T) {
	slow, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errNoFilter)
	defer cancel()
	shell := func(script string) func(*os.File) (int, error) {
		return func(said *os.File) (int, error) {
			return syscall.ForkExec("/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{Files: []uintptr{0, 1, said.Fd()}})
		}
	}
	if err := listen(slow, shell("exec sleep 600")); !errors.Is(err, errNoFilter) {
		t.Errorf("one that does not end: %v", err)
	}
	if err := listen(t.Context(), shell("echo no filters >&2; exit 1")); err == nil || err.Error() != "no filters" {
		t.Errorf("one that fails: %v", err)
	}
	if err := listen(t.Context(), shell("exit 0")); err != nil {
		t.Errorf("one that ends: %v", err)
	}
}

// The filter refuses what it is to refuse, whoever calls, and nothing beside it: read as the kernel reads it, so that no call is made.
func TestFilterRefuses(t *testing.T) {
	var program []bpf.Instruction
	for _, i := range (filterRules{inet: true}).program() {
		program = append(program, bpf.RawInstruction{Op: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K}.Disassemble())
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		call []uint32
		want uint32
	}{
		{"a filter of a socket", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"a program of a socket", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_SOCKET, unix.SO_ATTACH_BPF}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"filters of several", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"programs of several", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_EBPF}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"another option of a socket", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_SOCKET, unix.SO_REUSEADDR}, unix.SECCOMP_RET_ALLOW},
		{"fast open", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_TCP, unix.TCP_FASTOPEN_CONNECT}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"a key of a router", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_TCP, unix.TCP_MD5SIG}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"a key of several", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_TCP, unix.TCP_MD5SIG_EXT}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"a newer key of a router", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_TCP, 38}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"what it does with keys", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_TCP, 40}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"no delay", []uint32{unix.SYS_SETSOCKOPT, 3, unix.SOL_TCP, unix.TCP_NODELAY}, unix.SECCOMP_RET_ALLOW},
		{"a policy of pages", []uint32{unix.SYS_MBIND}, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{"rules of Landlock", []uint32{unix.SYS_LANDLOCK_CREATE_RULESET}, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{"an instance of inotify", []uint32{unix.SYS_INOTIFY_INIT1}, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{"a watch", []uint32{unix.SYS_INOTIFY_ADD_WATCH}, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{"a mark of fanotify", []uint32{unix.SYS_FANOTIFY_MARK}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"a filter of calls", []uint32{unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER}, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{"a filter of calls, as before there was seccomp", []uint32{unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER}, unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)},
		{"a name of a mapping", []uint32{unix.SYS_PRCTL, unix.PR_SET_VMA, unix.PR_SET_VMA_ANON_NAME}, unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)},
		{"a name of a thread", []uint32{unix.SYS_PRCTL, unix.PR_SET_NAME}, unix.SECCOMP_RET_ALLOW},
		{"a lock of an open file", []uint32{unix.SYS_FCNTL, 3, unix.F_OFD_SETLK}, unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)},
		{"a lock of an open file, waited for", []uint32{unix.SYS_FCNTL, 3, unix.F_OFD_SETLKW}, unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)},
		{"a lock of the process", []uint32{unix.SYS_FCNTL, 3, unix.F_SETLK}, unix.SECCOMP_RET_ALLOW},
		{"another process with these files", []uint32{unix.SYS_CLONE, unix.CLONE_FILES | unix.CLONE_VM}, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"a thread", []uint32{unix.SYS_CLONE, unix.CLONE_FILES | unix.CLONE_VM | unix.CLONE_THREAD}, unix.SECCOMP_RET_ALLOW},
		{"a process", []uint32{unix.SYS_CLONE, unix.CLONE_VM | unix.CLONE_VFORK}, unix.SECCOMP_RET_ALLOW},
		{"a read", []uint32{unix.SYS_READ, 3}, unix.SECCOMP_RET_ALLOW},
	} {
		data := make([]byte, offArgs+8*6)
		put := func(at int, v uint32) { binary.BigEndian.PutUint32(data[at:], v) } // as this interpreter reads a word
		put(offNumber, c.call[0])
		put(offArch, auditArch)
		for n, arg := range c.call[1:] {
			put(offArgs+8*n, arg)
		}
		if got, err := vm.Run(data); err != nil || uint32(got) != c.want {
			t.Errorf("%s: %#x, %v, want %#x", c.name, uint32(got), err, c.want)
		}
	}
}
