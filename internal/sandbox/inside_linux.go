package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// inside is the init of the new namespaces: when it ends, however it ends, the kernel kills all that is in them.
func inside() (int, error) {
	ctl := bufio.NewReader(os.NewFile(3, "orders"))
	line, err := ctl.ReadBytes('\n')
	if err != nil {
		return 0, nil //nolint:nilerr // nobody is there to work for, so there is nobody to tell
	}
	var j job
	if err := json.Unmarshal(line, &j); err != nil {
		return 0, fmt.Errorf("read policy: %w", err)
	}
	// An agent with the same uid could otherwise read and change this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("close this process to the agent: %w", err)
	}
	// TERM comes as an order; a handler that does nothing, because an ignored signal would be ignored by the agent too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	orders := make(chan struct{}, 1)
	go obey(ctl, orders)
	if err := j.Plan.setUp(); err != nil {
		return 0, err
	}
	if j.Probe {
		return 0, onThread(j.Plan.check)
	}
	watch, err := j.Plan.openScratch()
	if err != nil {
		return 0, err
	}
	agent, err := j.start()
	if err != nil {
		return 0, err
	}
	letGo()
	go watch.run()
	if j.Plan.Inet {
		go watchTCP(j.Plan.Limits.TCPBytes)
	}
	go passTerm(agent, orders)
	code, err := reap(agent)
	watch.enforce() // it may have ended because of a full disk, sooner than anybody looked
	return code, err
}

// obey reads orders until the half outside is gone.
func obey(ctl *bufio.Reader, orders chan<- struct{}) {
	for {
		b, err := ctl.ReadByte()
		if err != nil {
			os.Exit(128 + int(syscall.SIGKILL))
		}
		if b != orderTerm {
			continue
		}
		select {
		case orders <- struct{}{}:
		default:
		}
	}
}

// setUp turns fresh namespaces into the agent's world.
func (p *plan) setUp() error {
	gateway := -1
	if p.Gateway != "" && p.Mode == modeNamespaces {
		fd, err := unix.Open(p.Gateway, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open gateway %s: %w", p.Gateway, err)
		}
		gateway = fd
	}
	if p.Mode == modeBubblewrap {
		gateway = gatewayFD
		if err := p.seedBubblewrap(); err != nil {
			return err
		}
	} else {
		if err := unix.Sethostname([]byte("sandbox")); err != nil {
			return fmt.Errorf("set host name: %w", err)
		}
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("bring loopback up: %w", err)
		}
		if p.Userns {
			halveWatches()
		}
		if err := p.buildRoot(); err != nil {
			return err
		}
	}
	if p.Gateway != "" {
		// The agent never holds the real socket: this process connects to it, by the descriptor, for every caller.
		target := "/proc/self/fd/" + strconv.Itoa(gateway)
		if err := serveUnix(p.Socket, target); err != nil {
			return err
		}
		if p.Port != 0 {
			if err := serveTCP(p.Port, target); err != nil {
				return err
			}
		}
	}
	if p.Mode == modeBubblewrap {
		return nil
	}
	return sealRoot()
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, ifr); err != nil {
		return err
	}
	ifr.SetUint16(ifr.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}

// check is the probe's look around, on a confined thread: what must not work must fail.
func (p *plan) check() error {
	if err := noRoute(); err != nil {
		return err
	}
	if err := p.confine(); err != nil {
		return err
	}
	if os.Getpid() != 1 {
		return errors.New("this process is not the init of a pid namespace")
	}
	if _, err := os.Lstat("/proc/1/status"); err != nil {
		return fmt.Errorf("/proc is not that of the sandbox: %w", err)
	}
	if p.Landlock > 0 {
		if err := os.WriteFile("/usr/prloop-probe", nil, 0o600); err == nil {
			return errors.New("a read-only folder took a file")
		}
	}
	if p.Seccomp {
		if err := unix.Unshare(unix.CLONE_NEWUSER); err == nil {
			return errors.New("a new user namespace was allowed inside")
		}
	}
	return nil
}

// noRoute sees that there is no way out: not by what interfaces /sys lists, which shows the machine's (threats.md "Sandbox tiers"), but by
// where a packet would go.
func noRoute() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("look for a route: %w", err)
	}
	defer unix.Close(fd)
	if unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}}) == nil {
		return errors.New("the network namespace has a route out")
	}
	return nil
}
