package dashboard

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Bounds on what one connection may take. Answers have no bound of their own: the page of a run that goes on stays open.
const (
	headerTime = 10 * time.Second
	readTime   = 30 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
	closeTime  = 5 * time.Second
)

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
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
