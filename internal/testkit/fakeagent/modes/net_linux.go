package modes

import (
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// rawTCP sends a word to -target over a socket of our own making, past what package net would choose.
func (a *agent) rawTCP(protocol, flags int) error {
	to, err := netip.ParseAddrPort(a.target)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	tv := unix.NsecToTimeval((2 * time.Second).Nanoseconds())
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv)
	sa := &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	word := []byte("fakeagent was here\n")
	if flags != 0 {
		return unix.Sendto(fd, word, flags, sa)
	}
	if err := unix.Connect(fd, sa); err != nil {
		return err
	}
	_, _ = unix.Write(fd, word)
	return nil
}

func (a *agent) fastOpen() error  { return a.rawTCP(0, unix.MSG_FASTOPEN) }
func (a *agent) multipath() error { return a.rawTCP(unix.IPPROTO_MPTCP, 0) }
