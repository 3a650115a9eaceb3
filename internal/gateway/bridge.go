package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// Bridge passes every connection of l on to the gateway's socket until ctx ends: the way to the gateway for agents that
// speak TCP only, inside a network namespace whose loopback interface is all they have. It closes l and waits for its
// connections.
func Bridge(ctx context.Context, l net.Listener, socket string) error {
	var open sync.WaitGroup
	defer open.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		agent, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return errors.Join(err, l.Close())
		}
		open.Go(func() { cross(ctx, agent, socket) })
	}
}

// cross joins two connections until both directions have ended.
func cross(ctx context.Context, agent net.Conn, socket string) {
	defer agent.Close()
	gateway, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return
	}
	defer gateway.Close()
	defer context.AfterFunc(ctx, func() { _, _ = agent.Close(), gateway.Close() })()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{gateway, agent}, {agent, gateway}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			if half, ok := way[0].(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
		})
	}
	both.Wait()
}
