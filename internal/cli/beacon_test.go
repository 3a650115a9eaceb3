package cli_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// beacon listens where agents must not get: TCP on every address of the machine, UDP, a unix socket and an abstract one.
type beacon struct {
	tcp, udp, unix string
	// others are the addresses for TCP beside the first, which is on loopback.
	others []string

	mu   sync.Mutex
	hits []string
}

func (b *beacon) hit(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hits = append(b.hits, what)
}

// seen are the connections so far.
func (b *beacon) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.hits...)
}

// await waits for a number of connections, or long enough for one that was made to be seen.
func (b *beacon) await(n int, limit time.Duration) []string {
	for deadline := time.Now().Add(limit); len(b.seen()) < n && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	return b.seen()
}

// fastOpen is TCP_FASTOPEN, which package syscall does not name.
const fastOpen = 23

func newBeacon(t *testing.T) *beacon {
	t.Helper()
	b := &beacon{unix: filepath.Join(publicFolder(t), "beacon")}
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, fastOpen, 16) })
	}}
	lc.SetMultipathTCP(true) // takes plain TCP as well
	first := b.listen(t, lc, "tcp4", "127.0.0.1:0")
	b.tcp = first
	_, port, _ := net.SplitHostPort(first)
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.Equal(net.IPv4(127, 0, 0, 1)) && !ip.IP.IsLinkLocalUnicast() {
			b.others = append(b.others, b.listen(t, lc, "tcp", net.JoinHostPort(ip.IP.String(), port)))
		}
	}
	b.listen(t, net.ListenConfig{}, "unix", b.unix)
	b.listen(t, net.ListenConfig{}, "unix", fmt.Sprintf("@prloop-beacon-%d-%s", os.Getpid(), port))
	if err := os.Chmod(b.unix, 0o777); err != nil {
		t.Fatal(err)
	}
	u, err := lc.ListenPacket(context.Background(), "udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	b.udp = u.LocalAddr().String()
	go func() {
		for buf := make([]byte, 100); ; {
			if _, _, err := u.ReadFrom(buf); err != nil {
				return
			}
			b.hit("udp")
		}
	}()
	return b
}

func (b *beacon) listen(t *testing.T, lc net.ListenConfig, network, address string) string {
	t.Helper()
	l, err := lc.Listen(t.Context(), network, address)
	if err != nil {
		t.Fatalf("listen on %s %s: %v", network, address, err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go b.greet(network, c)
		}
	}()
	return l.Addr().String()
}

// greet notes a connection. One of a hunter is none: it knocks at every socket of the machine, those of other tests too.
func (b *beacon) greet(network string, c net.Conn) {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	word := make([]byte, 100)
	if n, _ := c.Read(word); !strings.HasPrefix(string(word[:n]), "GET / HTTP/1.0") {
		b.hit(network)
	}
}

// target is what a mode of fakeagent needs to reach the beacon.
func (b *beacon) target(mode string) string {
	switch mode {
	case "net-udp":
		return b.udp
	case "net-unix":
		return b.unix
	case "net-tcp": // those of the network first: loopback is the sandbox's own
		return strings.Join(append(slices.Clone(b.others), b.tcp), ",")
	case "net-dns":
		return "canary.example.test"
	}
	return b.tcp
}
