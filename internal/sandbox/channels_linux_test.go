package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// outsideWorld are things of the machine a child must not reach.
type outsideWorld struct {
	TCP, TCP6, UDP int
	Path, Abstract string
	mu             sync.Mutex
	reached        []string
}

func (w *outsideWorld) note(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached = append(w.reached, s)
}

func (w *outsideWorld) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.reached)
}

func (w *outsideWorld) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.reached
	w.reached = nil
	return r
}

// newOutside listens on every kind of address there is.
func newOutside(t *testing.T) *outsideWorld {
	t.Helper()
	w := &outsideWorld{Path: open(t) + "/outside.sock", Abstract: fmt.Sprintf("@prloop-test-%d-%d", os.Getpid(), time.Now().UnixNano())}
	listen := func(network, address string) net.Listener {
		lc := net.ListenConfig{}
		lc.SetMultipathTCP(true) // takes plain TCP as well
		l, err := lc.Listen(t.Context(), network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if tl, ok := l.(*net.TCPListener); ok {
			if raw, err := tl.SyscallConn(); err == nil {
				_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_TCP, unix.TCP_FASTOPEN, 16) })
			}
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				w.note(network)
				c.Close()
			}
		}()
		return l
	}
	w.TCP = listen("tcp4", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		l.Close()
		w.TCP6 = listen("tcp6", "[::1]:0").Addr().(*net.TCPAddr).Port
	}
	listen("unix", w.Path)
	if err := os.Chmod(w.Path, 0o777); err != nil {
		t.Fatal(err)
	}
	listen("unix", w.Abstract)
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	w.UDP = u.LocalAddr().(*net.UDPAddr).Port
	go func() {
		for b := make([]byte, 100); ; {
			if _, _, err := u.ReadFrom(b); err != nil {
				return
			}
			w.note("udp")
		}
	}()
	return w
}

// channels tries every way out and prints which are open (threats.md T51).
func channels(text string) int {
	var w outsideWorld
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		panic(err)
	}
	local := [4]byte{127, 0, 0, 1}
	socket := func(family, kind, protocol int, use func(fd int) error) error {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		tv := unix.Timeval{Sec: 1}
		_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv)
		if use == nil {
			return nil
		}
		return use(fd)
	}
	connect := func(sa unix.Sockaddr) func(int) error {
		return func(fd int) error { return unix.Connect(fd, sa) }
	}
	tcp := &unix.SockaddrInet4{Port: w.TCP, Addr: local}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"tcp", socket(unix.AF_INET, unix.SOCK_STREAM, 0, connect(tcp))},
		{"tcp6", socket(unix.AF_INET6, unix.SOCK_STREAM, 0, connect(&unix.SockaddrInet6{Port: w.TCP6, Addr: [16]byte{15: 1}}))},
		{"tfo", socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error {
			return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, tcp)
		})},
		{"tfo-connect", socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error {
			if err := unix.SetsockoptInt(fd, unix.SOL_TCP, unix.TCP_FASTOPEN_CONNECT, 1); err != nil {
				return err
			}
			if err := unix.Connect(fd, tcp); err != nil {
				return err
			}
			_, err := unix.Write(fd, []byte("x"))
			return err
		})},
		{"mptcp", socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, connect(tcp))},
		{"udp", socket(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error {
			return unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Port: w.UDP, Addr: local})
		})},
		{"dns", lookup(w.UDP)},
		{"raw", socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP, nil)},
		{"ping", socket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP, nil)},
		{"packet", socket(unix.AF_PACKET, unix.SOCK_RAW, 0, nil)},
		{"netlink", socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE, nil)},
		{"vsock", socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0, nil)},
		{"unix", socket(unix.AF_UNIX, unix.SOCK_STREAM, 0, connect(&unix.SockaddrUnix{Name: w.Path}))},
		{"abstract", socket(unix.AF_UNIX, unix.SOCK_STREAM, 0, connect(&unix.SockaddrUnix{Name: w.Abstract}))},
	} {
		if c.err == nil {
			fmt.Println("open", c.name)
		} else {
			fmt.Println("refused", c.name, c.err)
		}
	}
	return 0
}

// lookup asks a name server, which is our own UDP listener.
func lookup(port int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	var sent atomic.Bool // A and AAAA are asked at the same time
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "udp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			sent.Store(true)
		}
		return c, err
	}}
	_, err := r.LookupHost(ctx, "canary.example.test")
	if sent.Load() {
		return nil // nobody answers, but the question went out
	}
	return err
}

// gatewayAt answers every line with "answer " and the line.
func gatewayAt(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				line, err := bufio.NewReader(c).ReadString('\n')
				if err == nil {
					fmt.Fprintf(c, "answer %s", line)
				}
			}()
		}
	}()
}

func ask(network, address string) (string, error) {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintln(c, network); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return line[:len(line)-1], nil
}

// fastOpen tries TCP Fast Open on a listener of its own.
func fastOpen() {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	to := &unix.SockaddrInet4{Port: l.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	try := func(name string, use func(fd int) error) {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = use(fd)
			_ = unix.Close(fd)
		}
		if name == "plain" {
			fmt.Println(name, err == nil)
			return
		}
		var errno unix.Errno
		errors.As(err, &errno)
		fmt.Println(name, unix.ErrnoName(errno))
	}
	try("plain", func(fd int) error { return unix.Connect(fd, to) })
	try("sendto", func(fd int) error { return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, to) })
	try("sendmsg", func(fd int) error { return unix.Sendmsg(fd, []byte("x"), nil, to, unix.MSG_FASTOPEN) })
	try("connect", func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_TCP, unix.TCP_FASTOPEN_CONNECT, 1) })
	try("listen", func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_TCP, unix.TCP_FASTOPEN, 5) })
}
