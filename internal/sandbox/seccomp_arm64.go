//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0
)

var archDenied = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_MEMFD_SECRET}

var archWatches []uint32
