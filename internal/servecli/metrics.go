package servecli

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/metrics"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
)

// measured is where the figures of a process come from.
type measured struct{ *app.Service }

func (m measured) Backlog(ctx context.Context) (store.Backlog, error) { return m.Record().Backlog(ctx) }

func (m measured) Paused(ctx context.Context) (time.Time, error) {
	return queue.Paused(ctx, m.Record())
}

// measure shows the metrics of a process at an address until the function is called; nil metrics without one.
func (o *options) measure(ctx context.Context, h host.Host, p subcommand.Process, s *app.Service) (end func(), err error) {
	if o.metrics == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", o.metrics)
	if err != nil {
		return nil, advice.Misuse("choose another address for the metrics", "%w", err)
	}
	var accounts []string
	for _, r := range o.Serves {
		accounts = append(accounts, r.Owner)
	}
	m := metrics.New(metrics.Options{Source: measured{s}, Version: p.Version, Accounts: accounts, Log: h.Log().Named("metrics")})
	s.Measure(m)
	o.Heard, o.Refused = m.Heard, m.Refused
	o.Said(fmt.Sprintf("metrics at http://%s/metrics", l.Addr()))
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := m.Serve(ctx, l); err != nil && ctx.Err() == nil {
			h.Log().Error("the metrics ended", "err", err)
		}
	}()
	return func() {
		stop()
		<-ended
	}, nil
}
