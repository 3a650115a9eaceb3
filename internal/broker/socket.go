package broker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// socketMode lets the user and the group of a broker in.
const socketMode = 0o660

// Listen listens at a unix socket. One that a process left behind is removed; one that is served is not.
func Listen(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		if c, dialErr := net.Dial("unix", path); dialErr == nil {
			c.Close()
			return nil, err
		}
		if info, statErr := os.Lstat(path); errors.Is(statErr, fs.ErrNotExist) || statErr == nil && info.Mode()&fs.ModeSocket == 0 {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		if l, err = net.Listen("unix", path); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// DownError: nobody listens at a socket, or this process may not open it. Nothing was sent.
type DownError struct {
	Path  string
	Cause error
}

// Error names the socket and what the system says.
func (e *DownError) Error() string {
	why := e.Cause
	var op *net.OpError
	if errors.As(why, &op) {
		why = op.Err
	}
	return fmt.Sprintf("no broker answers at %s: %v", e.Path, why)
}

// Unwrap gives the cause.
func (e *DownError) Unwrap() error { return e.Cause }

// Transport sends every request to the socket at a path, whatever host it names. Nothing is encrypted on the way.
func Transport(path string) *http.Transport {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := net.Dialer{Timeout: 10 * time.Second}
		c, err := d.DialContext(ctx, "unix", path)
		if err != nil {
			return nil, &DownError{path, err}
		}
		return c, nil
	}
	return &http.Transport{DialContext: dial, DialTLSContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second}
}

// NewServer bounds what callers of a broker may take.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}

// Serve serves until ctx ends. What is under way then has as long as grace.
func Serve(ctx context.Context, s *http.Server, l net.Listener, grace time.Duration) error {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		_ = s.Shutdown(last)
		_ = s.Close()
	})
	if err := s.Serve(l); stop() || !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	return nil
}

// Through sends requests whose credential is Held to the socket at a path, and all others as direct does. Without a path there is no broker.
func Through(path string, direct http.RoundTripper) http.RoundTripper {
	if path == "" {
		return direct
	}
	return through{Transport(path), direct}
}

type through struct{ broker, direct http.RoundTripper }

func (t through) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, h := range credentials {
		if strings.Contains(r.Header.Get(h), Held) {
			return t.broker.RoundTrip(r)
		}
	}
	return t.direct.RoundTrip(r)
}
