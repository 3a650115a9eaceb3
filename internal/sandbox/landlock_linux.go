package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock versions and what they added, as far as the sandbox uses it.
const (
	landlockRefer    = 2
	landlockTruncate = 3
	landlockTCP      = 4
	landlockIoctl    = 5
	landlockScopes   = 6 // signals and abstract unix sockets
)

// Access rights of Landlock in the sandbox's words.
const (
	mayList  = unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE
	mayUse   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE // devices
	mayWrite = mayRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// onFiles are the rights that mean something for a file.
	onFiles = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// grant allows something beneath a path.
type grant struct {
	path   string
	rights uint64
	// optional grants are for paths that a system may not have.
	optional bool
}

// landlockABI asks the kernel for its version.
func landlockABI() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS:
		return 0, errors.New("the kernel was built without it")
	case errno == unix.EOPNOTSUPP:
		return 0, errors.New("it is switched off at boot")
	case errno != 0:
		return 0, errno
	}
	return int(v), nil
}

// handled is all that a version can forbid, up to the newest the sandbox knows: what is not handled is allowed.
func handled(abi int, denyTCP bool) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: 1<<13 - 1} // version 1
	if abi >= landlockRefer {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= landlockTruncate {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= landlockTCP && denyTCP {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= landlockIoctl {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= landlockScopes {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

// restrict puts the calling thread, and all it forks, under rules. It is strict: a kernel that does not take them all is
// an error, never a smaller set of rules. The thread must be locked.
func restrict(abi int, grants []grant, denyTCP bool) error {
	attr := handled(abi, denyTCP)
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0) // an older kernel takes a longer structure whose end is zero
	if errno != 0 {
		return fmt.Errorf("make Landlock rules: %w", errno)
	}
	defer unix.Close(int(ruleset))
	for _, g := range grants {
		if err := allow(int(ruleset), g, attr.Handled_access_fs); err != nil {
			return fmt.Errorf("allow %s in Landlock: %w", g.path, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("apply Landlock rules: %w", errno)
	}
	return nil
}

func allow(ruleset int, g grant, known uint64) error {
	fd, err := unix.Open(g.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if g.optional && errors.Is(err, unix.ENOENT) {
			return nil
		}
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rights := g.rights & known
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= onFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// devices are the ones a child may use: git, for one, does not work without them (threats.md "Sandbox tiers").
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// grants are the rules for a plan: the same lists as the mounts.
func (p *plan) grants() []grant {
	var list []grant
	for _, d := range devices {
		list = append(list, grant{d, mayUse, true})
	}
	for _, b := range p.Binds {
		switch {
		case b.Hide, b.Write && !b.Dir: // a socket lies in the home
		case b.Write:
			list = append(list, grant{b.Path, mayWrite, false})
		default:
			list = append(list, grant{b.Path, mayRead, false})
		}
	}
	if p.Mode == modeRules {
		// No /proc: it is the machine's. The links among the system's folders lead to folders that are listed as well.
		return append(list, grant{"/usr", mayList, true}, grant{"/etc/passwd", mayRead, true}, grant{"/etc/group", mayRead, true},
			grant{"/etc/hosts", mayRead, true}, grant{"/etc/nsswitch.conf", mayRead, true})
	}
	return append(list, grant{"/", mayList, false}, grant{"/proc", mayRead, false}, grant{"/etc", mayRead, false},
		grant{"/tmp", mayWrite, false}, grant{"/var/tmp", mayWrite, false},
		grant{"/dev/shm", mayWrite, false}, grant{"/dev", mayList, false})
}
