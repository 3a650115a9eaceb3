//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// x32Bit marks the calls of a second convention that shares this one's name.
	x32Bit = 0x40000000
)

var archDenied = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_MEMFD_SECRET, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_CREATE_MODULE,
	unix.SYS_QUERY_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS__SYSCTL}

var archWatches = []uint32{unix.SYS_INOTIFY_INIT}
