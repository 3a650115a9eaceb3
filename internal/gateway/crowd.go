package gateway

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Agents open connections, and an agent may open as many as its processes have descriptors. What is bounded here is how many prloop keeps of
// all of them, and how many requests of one agent are looked at. When there are too many, whoever has the most loses one, and never one
// whose request is whole: no agent costs another its request.
const (
	// mostConnections is how many are kept, or partOfAgent for each agent that has a token when that is more. It is more than the
	// whole requests that one agent can have: together, and its questions to the web and of checks.
	mostConnections = 128
	partOfAgent     = 32
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

// guest is one connection.
type guest struct {
	net.Conn
	// peer is the process that opened it; 0 when that is not known.
	peer int32
	// agent is whose token came on it last; nil before one did.
	agent *account
	stage stage
}

// owner is who a connection counts for: the agent, or before its token came the process.
func (g *guest) owner() any {
	if g.agent != nil {
		return g.agent
	}
	return g.peer
}

// stage is how far the request on a connection is.
type stage int

const (
	// idle is without a token of ours.
	idle stage = iota
	// coming is with a token, and without all of its body.
	coming
	// arrived is with all of it, until the answer was given.
	arrived
)

// door lets connections in.
type door struct {
	net.Listener
	crowd *crowd
	// agents is how many have a token.
	agents func() int
	// left is told how many bytes a connection that went has left behind, at most.
	left func(int64)
}

// Accept gives the next connection, for which another may have to go.
func (d door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g := &guest{Conn: conn, peer: peerOf(conn)}
		gone := d.crowd.let(g, d.agents())
		if gone != nil {
			_ = gone.Conn.Close()
			d.left(2 * longestHead)
		}
		if gone != g {
			return g, nil
		}
	}
}

// let lets somebody in where so many agents have a token, and gives whoever has to go for that; nil when there is room.
func (c *crowd) let(g *guest, agents int) (gone *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.guests) >= max(mostConnections, partOfAgent*agents) {
		if gone = c.next(); gone == nil {
			return g
		}
		c.guests = slices.DeleteFunc(c.guests, func(o *guest) bool { return o == gone })
	}
	c.guests = append(c.guests, g)
	return gone
}

// next is who goes first: of the owner with the most connections the one whose request is least far, and of these the oldest. It is
// nobody when all requests are whole.
func (c *crowd) next() *guest {
	count := map[any]int{}
	for _, g := range c.guests {
		count[g.owner()]++
	}
	var next *guest
	for _, g := range c.guests {
		if g.stage < arrived && (next == nil || cmp.Or(count[g.owner()]-count[next.owner()], int(next.stage-g.stage)) > 0) {
			next = g
		}
	}
	return next
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

// serve says that a request of an account is at hand, until done is called; no says that it has too many.
func (c *crowd) serve(r *http.Request, a *account) (done func(), no *refusal) {
	g, _ := r.Context().Value(guestKey{}).(*guest)
	c.mu.Lock()
	defer c.mu.Unlock()
	if g != nil {
		g.agent = a
	}
	if a.requests >= mostRequests {
		return nil, refuse(http.StatusTooManyRequests, CodeBusy, "%d requests of this agent are being answered already", mostRequests)
	}
	a.requests++
	if g != nil {
		g.stage = coming
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		a.requests--
		if g != nil {
			g.stage = idle
		}
	}, nil
}

// arrived says that the body of a request came.
func (c *crowd) arrived(r *http.Request) {
	g, _ := r.Context().Value(guestKey{}).(*guest)
	if g == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g.stage = arrived
}
