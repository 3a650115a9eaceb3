package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// perSocket is what the kernel keeps of a connection without its buffers, about.
	perSocket = 4 << 10
	// tcpEvery is the time between two looks at the connections, and tcpShare bounds the part of the time that looks take: one in so many.
	tcpEvery, tcpShare = 250 * time.Millisecond, 20
)

// watchTCP ends the sandbox by name when the child's TCP connections hold too much, most of it in their queues. No limit of the kernel's holds for the
// queues of one child: a control group of version 1 counts none of them, and none counts connections that nobody has accepted (threats.md T661).
func watchTCP(most uint64) {
	for {
		began := time.Now()
		if n, err := tcpMemory(); err == nil && n > most {
			endBy(fmt.Sprintf("%s: had more than %d MB in TCP connections", RuleMemory, most>>20))
		}
		time.Sleep(max(tcpEvery, tcpShare*time.Since(began)))
	}
}

// tcpMemory is what the kernel keeps for TCP connections of this network namespace, in bytes. A kernel without sock_diag does not tell.
func tcpMemory() (bytes uint64, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		n, err := tcpMemoryOf(fd, family)
		if err != nil {
			return 0, err
		}
		bytes += n
	}
	return bytes, nil
}

// The parts of sock_diag that are used, as linux/inet_diag.h has them.
const (
	sockDiagByFamily = 20
	diagMemory       = 7 // INET_DIAG_SKMEMINFO: receive queue, its limit, in flight, its limit, reserved, send queue, options, backlog
	diagRequestBytes = 56
	diagAnswerBytes  = 72
	timeWait         = 6 // a state in which nothing but a note is kept
)

func tcpMemoryOf(fd int, family byte) (bytes uint64, err error) {
	order := binary.NativeEndian
	ask := make([]byte, unix.SizeofNlMsghdr+diagRequestBytes)
	order.PutUint32(ask, uint32(len(ask)))
	order.PutUint16(ask[4:], sockDiagByFamily)
	order.PutUint16(ask[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	what := ask[unix.SizeofNlMsghdr:]
	what[0], what[1], what[2] = family, unix.IPPROTO_TCP, 1<<(diagMemory-1)
	order.PutUint32(what[4:], ^uint32(1<<timeWait))
	if err := unix.Sendto(fd, ask, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, os.NewSyscallError("sendto", err)
	}
	for buf := make([]byte, 32<<10); ; {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, os.NewSyscallError("recvfrom", err)
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return 0, err
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return bytes, nil
			case unix.NLMSG_ERROR:
				return 0, fmt.Errorf("sock_diag: %w", unix.ENOTSUP)
			}
			bytes += perSocket + buffers(m.Data)
		}
	}
}

// buffers is what one answer says a connection keeps in its queues.
func buffers(answer []byte) (bytes uint64) {
	if len(answer) < diagAnswerBytes {
		return 0
	}
	order := binary.NativeEndian
	for rest := answer[diagAnswerBytes:]; len(rest) >= unix.SizeofNlAttr; {
		size := int(order.Uint16(rest))
		if size < unix.SizeofNlAttr || size > len(rest) {
			break
		}
		if order.Uint16(rest[2:]) == diagMemory {
			for _, n := range []int{0, 4, 5, 6, 7} { // the limits are none of it, and what is in flight is in the send queue
				if at := unix.SizeofNlAttr + 4*n; at+4 <= size {
					bytes += uint64(order.Uint32(rest[at:]))
				}
			}
		}
		rest = rest[min(len(rest), (size+unix.NLA_ALIGNTO-1)&^(unix.NLA_ALIGNTO-1)):]
	}
	return bytes
}
