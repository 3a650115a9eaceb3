package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bridgeLimit is how many connections to the gateway one sandbox may have at a time; more wait.
const bridgeLimit = 64

// serveUnix listens on path and carries every connection to the socket at target. The agent may run under any uid: who
// reaches the path is decided by the mounts.
func serveUnix(path, target string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	}
	if err == nil {
		err = os.Chmod(path, 0o666)
	}
	return serve(fd, err, target)
}

// serveTCP does the same on a port of the loopback interface.
func serveTCP(port int, target string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	return serve(fd, err, target)
}

func serve(fd int, err error, target string) error {
	if err == nil {
		err = unix.Listen(fd, bridgeLimit)
	}
	if err != nil {
		return fmt.Errorf("serve the gateway: %w", err)
	}
	go func() {
		slots := make(chan struct{}, bridgeLimit)
		for {
			slots <- struct{}{}
			near, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
			if err != nil {
				<-slots
				if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED) {
					time.Sleep(10 * time.Millisecond) // out of descriptors for a moment
				}
				continue
			}
			go func() {
				defer func() { <-slots }()
				carry(near, target)
			}()
		}
	}()
	return nil
}

// carry connects to the gateway and copies both ways until both are done.
func carry(near int, target string) {
	a := os.NewFile(uintptr(near), "agent")
	defer a.Close()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	if err = unix.Connect(fd, &unix.SockaddrUnix{Name: target}); err == nil {
		err = unix.SetNonblock(fd, true) // from here on Go waits without a thread
	}
	if err != nil {
		_ = unix.Close(fd)
		return
	}
	b := os.NewFile(uintptr(fd), "gateway")
	defer b.Close()
	var both sync.WaitGroup
	both.Go(func() { pass(b, a) })
	both.Go(func() { pass(a, b) })
	both.Wait()
}

// pass copies one way and passes the end on. After an error the other way ends as well.
func pass(to, from *os.File) {
	_, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	how := unix.SHUT_WR
	if err != nil {
		how = unix.SHUT_RDWR
		closeHalf(from, how)
	}
	closeHalf(to, how)
}

func closeHalf(f *os.File, how int) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), how) })
}
