package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterRules say what a system call filter leaves open.
type filterRules struct {
	// inet allows TCP sockets; there is nothing but a loopback interface to use them on.
	inet bool
	// unixSockets allows unix sockets of every kind. Pairs are always allowed: they lead nowhere else.
	unixSockets bool
	// others is set where the processes of the machine are in sight.
	others bool
	// watch allows inotify.
	watch bool
}

// denied are the calls no agent needs: they change the machine, look into other processes, or are wide doors into the
// kernel. Those of one architecture only are in archDenied.
var denied = []uint32{
	// other processes
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD,
	unix.SYS_KCMP, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	// mounts and name spaces
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS, unix.SYS_OPEN_TREE,
	unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	// a ring does what the filter forbids, out of its sight
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	// kernel interfaces with a history
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
	// the machine
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
}

// shares are the calls that settle how much of the machine a process or thread gets, with the argument that says which; 0 is whoever calls.
// Landlock knows none of them, and the kernel lets every process of a user do them to every other.
var shares = map[uint32]uint32{
	unix.SYS_SETPRIORITY: 1, unix.SYS_IOPRIO_SET: 1, unix.SYS_SCHED_SETAFFINITY: 0, unix.SYS_SCHED_SETATTR: 0,
	unix.SYS_SCHED_SETPARAM: 0, unix.SYS_SCHED_SETSCHEDULER: 0,
}

// attributes are the calls that give a file extended attributes. What the kernel keeps of these for a file system in memory is on no process, and on
// no bound of that file system. Tools do without, as on file systems that have none.
var attributes = []uint32{unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT}

// watches are the calls by which a process hears who opens a file that others read too, those of /usr above all (threats.md T686). Programs poll or
// do without, as where these are missing. Those of one architecture only are in archWatches.
var watches = []uint32{unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH}

// leases are the commands of fcntl by which who owns a file, and may only read it, makes everybody who opens it wait until the lease is
// given back, or for 45 s: another child, and prloop's own git. F_SETDELEG does so on folders too, F_NOTIFY is the same interface's way to watch one.
var leases = []uint32{unix.F_SETLEASE, unix.F_NOTIFY, setDelegation}

// openFileLocks are the commands of fcntl for locks that belong to an open file, of which nothing tells whose they are. Programs take locks of
// the process instead, as before Linux 3.15.
var openFileLocks = []uint32{unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW}

// tcpOptions are the options of a TCP connection that send before it is one, hand it to another protocol, or give it keys of routers, which are
// memory on no account (threats.md T659).
var tcpOptions = []uint32{unix.TCP_FASTOPEN, unix.TCP_FASTOPEN_CONNECT, unix.TCP_FASTOPEN_KEY, unix.TCP_ULP, unix.TCP_REPAIR,
	unix.TCP_MD5SIG, unix.TCP_MD5SIG_EXT, addKeyAO, addKeyAO + 1, addKeyAO + 2}

const (
	// addKeyAO is TCP_AO_ADD_KEY, which the library does not name; the next are TCP_AO_DEL_KEY and TCP_AO_INFO.
	addKeyAO = 38

	// setDelegation is F_SETDELEG, which Linux 6.19 has and the library does not name.
	setDelegation = 1024 + 16

	// newSpaces are the flags of clone and unshare that make namespaces; the one for time means something else to clone.
	newSpaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
		unix.CLONE_NEWPID | unix.CLONE_NEWNET

	// Where seccomp_data holds what, in bytes. Arguments are read by their low half: all that are looked at are ints or
	// have no flag above.
	offNumber, offArch, offArgs = 0, 4, 16
)

// filter is a classic BPF program under construction. Every check is a block that either returns or leaves at its end, so
// that no jump is far.
type filter []unix.SockFilter

func (f *filter) op(code uint16, k uint32, jt, jf uint8) {
	*f = append(*f, unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf})
}

func (f *filter) load(off uint32)    { f.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, off, 0, 0) }
func (f *filter) ret(verdict uint32) { f.op(unix.BPF_RET|unix.BPF_K, verdict, 0, 0) }
func (f *filter) fail(errno unix.Errno) {
	f.ret(unix.SECCOMP_RET_ERRNO | uint32(errno))
}

// when runs a block if the loaded word equals k.
func (f *filter) when(k uint32, block func(*filter)) { f.test(unix.BPF_JEQ, k, block) }

// whenAny runs a block if the loaded word has any bit of k.
func (f *filter) whenAny(k uint32, block func(*filter)) { f.test(unix.BPF_JSET, k, block) }

func (f *filter) test(op uint16, k uint32, block func(*filter)) {
	var body filter
	block(&body)
	f.op(unix.BPF_JMP|op|unix.BPF_K, k, 0, uint8(len(body)))
	*f = append(*f, body...)
}

// argument loads an argument of the call.
func (f *filter) argument(n uint32) { f.load(offArgs + 8*n) }

// call runs a block for one system call; a block that does not return allows it.
func (f *filter) call(number uint32, block func(*filter)) {
	f.when(number, func(f *filter) {
		block(f)
		f.ret(unix.SECCOMP_RET_ALLOW)
	})
}

// refuseFlags refuses a call when an argument has any of the bits.
func (f *filter) refuseFlags(number, argument, bits uint32) {
	f.call(number, func(f *filter) {
		f.argument(argument)
		f.whenAny(bits, func(f *filter) { f.fail(unix.EPERM) })
	})
}

// own refuses a call whose argument names a process other than by 0.
func (f *filter) own(number, argument uint32) {
	f.call(number, func(f *filter) {
		f.argument(argument)
		f.when(0, func(f *filter) { f.ret(unix.SECCOMP_RET_ALLOW) })
		f.fail(unix.EPERM)
	})
}

// program builds the filter.
func (r filterRules) program() filter {
	var f filter
	f.load(offArch)
	// Another calling convention numbers its calls otherwise.
	f.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, auditArch, 1, 0)
	f.ret(unix.SECCOMP_RET_KILL_PROCESS)
	f.load(offNumber)
	if x32Bit != 0 {
		f.op(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32Bit, 0, 1)
		f.fail(unix.ENOSYS)
	}
	for _, list := range [][]uint32{denied, archDenied} {
		for _, number := range list {
			f.when(number, func(f *filter) { f.fail(unix.EPERM) })
		}
	}
	// The flags of clone3 lie in memory, where a filter cannot look; without it the C library uses clone.
	f.when(unix.SYS_CLONE3, func(f *filter) { f.fail(unix.ENOSYS) })
	// Memory that no process maps is on nobody's account where memory is watched (threats.md T88, T124). Programs use /dev/shm and POSIX
	// semaphores instead, as on kernels without these; queues of messages and semaphores of System V take gigabytes. So do policies that pages have of their own,
	// which no control group counts, and rules of Landlock (threats.md T646).
	for _, number := range []uint32{unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MBIND, unix.SYS_LANDLOCK_CREATE_RULESET} {
		f.when(number, func(f *filter) { f.fail(unix.ENOSYS) })
	}
	for _, number := range attributes {
		f.when(number, func(f *filter) { f.fail(unix.ENOTSUP) })
	}
	if !r.watch {
		for _, number := range slices.Concat(watches, archWatches) {
			f.when(number, func(f *filter) { f.fail(unix.ENOSYS) })
		}
	}
	// What is reserved for asynchronous I/O is counted for the whole machine, whoever takes it. Databases do without, as on kernels that lack it.
	f.when(unix.SYS_IO_SETUP, func(f *filter) { f.fail(unix.ENOSYS) })
	// Thousands of filters that end with their processes have Linux 6.18 stand still: what frees their machine code waits for itself (threats.md T646).
	f.when(unix.SYS_SECCOMP, func(f *filter) { f.fail(unix.ENOSYS) })
	// Names of mappings are memory on no account. The C library and Go do without, as on kernels that have none.
	f.call(unix.SYS_PRCTL, func(f *filter) {
		f.argument(0)
		for _, what := range []uint32{unix.PR_SET_SECCOMP, unix.PR_SET_VMA} {
			f.when(what, func(f *filter) { f.fail(unix.EINVAL) })
		}
	})
	f.call(unix.SYS_CLONE, func(f *filter) {
		f.argument(0)
		f.whenAny(newSpaces, func(f *filter) { f.fail(unix.EPERM) })
		// Locks of files are counted by the process that took them, which must not share its files with another (threats.md T660).
		f.op(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, unix.CLONE_FILES|unix.CLONE_THREAD, 0, 0)
		f.when(unix.CLONE_FILES, func(f *filter) { f.fail(unix.EPERM) })
	})
	f.refuseFlags(unix.SYS_UNSHARE, 0, newSpaces|unix.CLONE_NEWTIME)
	// Limits of another process would end it, or keep the sandbox's own from watching.
	f.own(unix.SYS_PRLIMIT64, 0)
	if r.others {
		for _, number := range slices.Sorted(maps.Keys(shares)) {
			f.own(number, shares[number])
		}
	}
	// TCP Fast Open sends on a socket that never connects, past a rule about connecting (finding 3).
	f.refuseFlags(unix.SYS_SENDTO, 3, unix.MSG_FASTOPEN)
	f.refuseFlags(unix.SYS_SENDMSG, 2, unix.MSG_FASTOPEN)
	f.refuseFlags(unix.SYS_SENDMMSG, 3, unix.MSG_FASTOPEN)
	f.call(unix.SYS_SETSOCKOPT, func(f *filter) {
		f.argument(1)
		f.when(unix.SOL_TCP, func(f *filter) {
			f.argument(2)
			for _, option := range tcpOptions {
				f.when(option, func(f *filter) { f.fail(unix.EPERM) })
			}
		})
		// Filters of sockets are memory on no account, and machine code as those of calls are.
		f.when(unix.SOL_SOCKET, func(f *filter) {
			f.argument(2)
			for _, option := range []uint32{unix.SO_ATTACH_FILTER, unix.SO_ATTACH_BPF, unix.SO_ATTACH_REUSEPORT_CBPF, unix.SO_ATTACH_REUSEPORT_EBPF} {
				f.when(option, func(f *filter) { f.fail(unix.EPERM) })
			}
		})
	})
	f.call(unix.SYS_FCNTL, func(f *filter) {
		f.argument(1)
		for _, command := range leases {
			f.when(command, func(f *filter) { f.fail(unix.EPERM) })
		}
		for _, command := range openFileLocks {
			f.when(command, func(f *filter) { f.fail(unix.EINVAL) })
		}
	})
	// Typing into a terminal, and line disciplines.
	f.call(unix.SYS_IOCTL, func(f *filter) {
		f.argument(1)
		for _, request := range []uint32{unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSETD} {
			f.when(request, func(f *filter) { f.fail(unix.EPERM) })
		}
	})
	r.sockets(&f)
	f.ret(unix.SECCOMP_RET_ALLOW)
	return f
}

// sockets closes every family and kind but the few that are of use: no UDP, raw, netlink, packet, vsock, MPTCP.
func (r filterRules) sockets(f *filter) {
	f.when(unix.SYS_SOCKETPAIR, func(f *filter) {
		f.argument(0)
		f.when(unix.AF_UNIX, func(f *filter) { f.ret(unix.SECCOMP_RET_ALLOW) })
		f.fail(unix.EAFNOSUPPORT)
	})
	f.when(unix.SYS_SOCKET, func(f *filter) {
		f.argument(0)
		if r.unixSockets {
			f.when(unix.AF_UNIX, func(f *filter) { f.ret(unix.SECCOMP_RET_ALLOW) })
		}
		if r.inet {
			for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
				f.when(family, plainTCP)
			}
		}
		f.fail(unix.EAFNOSUPPORT)
	})
}

func plainTCP(f *filter) {
	f.argument(1)
	f.op(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf, 0, 0) // the rest are flags
	f.when(unix.SOCK_STREAM, func(f *filter) {
		f.argument(2)
		for _, protocol := range []uint32{0, unix.IPPROTO_TCP} {
			f.when(protocol, func(f *filter) { f.ret(unix.SECCOMP_RET_ALLOW) })
		}
	})
	f.fail(unix.EPROTONOSUPPORT)
}

// applyFilter puts the calling thread, and all it forks, under a filter. The thread must be locked.
func applyFilter(r filterRules) error {
	if auditArch == 0 {
		return errors.New("there is no system call filter for " + runtime.GOARCH)
	}
	f := r.program()
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(f)
	if errno != 0 {
		return fmt.Errorf("install system call filter: %w", errno)
	}
	return nil
}
