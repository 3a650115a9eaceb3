package gateway

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Agents open connections, and an agent may open as many as its processes have descriptors. What is bounded here is how many prloop keeps of
// all of them, and how many requests of one agent are looked at; an agent that takes more loses its own, and not those of others.
const (
	mostConnections = 128
	// mostRequests is how many requests of one agent are at hand, those that wait for room too.
	mostRequests = 48
	// idleTime is how long a connection stays on which nothing is asked.
	idleTime = 2 * time.Minute
	// longestHead is how long the head of a request may be, in bytes.
	longestHead = 16 << 10
)

// crowd are the connections of all agents, the oldest first.
type crowd struct {
	mu     sync.Mutex
	guests []*guest
}

// guest is one connection; busy while a request with a token of ours is answered on it.
type guest struct {
	net.Conn
	busy bool
}

// door lets connections in.
type door struct {
	net.Listener
	crowd *crowd
	// left is told how many bytes a connection that went has left behind, at most.
	left func(int64)
}

// Accept gives the next connection. When there are too many, the one goes that is the oldest of those on which nothing is answered.
func (d door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g := &guest{Conn: conn}
		gone := d.crowd.let(g)
		if gone != nil {
			_ = gone.Conn.Close()
			d.left(2 * longestHead)
		}
		if gone != g {
			return g, nil
		}
	}
}

// let lets somebody in, and gives whoever has to go for that; nil when there is room.
func (c *crowd) let(g *guest) (gone *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.guests) >= mostConnections {
		at := slices.IndexFunc(c.guests, func(o *guest) bool { return !o.busy })
		if at < 0 {
			return g
		}
		gone = c.guests[at]
		c.guests = slices.Delete(c.guests, at, at+1)
	}
	c.guests = append(c.guests, g)
	return gone
}

// watch is what a server tells of its connections.
func (c *crowd) watch(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guests = slices.DeleteFunc(c.guests, func(g *guest) bool { return net.Conn(g) == conn })
}

type guestKey struct{}

// know makes a connection known to the requests on it.
func know(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, conn)
}

// serve says that a request of an account is answered, until done is called; no says that it has too many.
func (c *crowd) serve(r *http.Request, a *account) (done func(), no *refusal) {
	g, _ := r.Context().Value(guestKey{}).(*guest)
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.requests >= mostRequests {
		return nil, refuse(http.StatusTooManyRequests, CodeBusy, "%d requests of this agent are being answered already", mostRequests)
	}
	a.requests++
	if g != nil {
		g.busy = true
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		a.requests--
		if g != nil {
			g.busy = false
		}
	}, nil
}
