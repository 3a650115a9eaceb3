package dashboard

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Bounds on what one connection may take. Answers may take long to be made: the page of a run that goes on stays open.
const (
	headerTime = 10 * time.Second
	readTime   = 30 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
	closeTime  = 5 * time.Second
)

// timely ends connections whose other side does not read: what is written waits for it no longer than writeTime.
type timely struct{ net.Listener }

func (l timely) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return timelyConn{c}, nil
}

type timelyConn struct{ net.Conn }

// Write ends with an error when it takes too long.
func (c timelyConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// Serve serves pages until ctx ends.
func (d *Dashboard) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: d, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() {
		closing, done := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer done()
		if server.Shutdown(closing) != nil {
			_ = server.Close()
		}
	})
	defer stop()
	if err := server.Serve(timely{l}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
