package gateway

import (
	"net"
	"syscall"
)

// peerOf is the process that opened a connection to a unix socket; 0 when that is not known. All connections of one sandbox come from
// one process (internal/sandbox, bridge_linux.go).
func peerOf(conn net.Conn) (pid int32) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if who, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = who.Pid
		}
	})
	return pid
}
