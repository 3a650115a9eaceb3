package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"time"
)

// What a hostile agent costs is bounded here. The length of a request is declared, or taken to be the limit; budget is taken
// for it before a byte of it is read (budget.go); the requests of one agent that are in memory are together no longer than the
// longest may be, from the first byte to the last of the answer; and it has one of them looked into at a time.

// declared is how many bytes a request may take up.
func declared(r *http.Request, limit int64) (int64, *refusal) {
	switch {
	case r.ContentLength > limit:
		return 0, tooLarge(limit)
	case r.ContentLength < 0:
		return limit, nil
	}
	return r.ContentLength, nil
}

// together is how many calls of one agent may be on their way: an answer takes up memory too.
const together = 8

// enter waits for room in memory for the request of an agent and what is held of the answer, until leave is called.
func (g *Gateway) enter(r *http.Request, a *account, size int64) (leave func(), no *refusal) {
	size = max(size, g.options.RequestLimit/together)
	ctx, cancel := context.WithTimeout(r.Context(), g.options.roomTimeout)
	defer cancel()
	if a.room.Acquire(ctx, size) != nil {
		return nil, refuse(http.StatusTooManyRequests, CodeBusy, "other requests of this agent take up all the memory it may have, and waiting %s did not help", g.options.roomTimeout)
	}
	return func() { a.room.Release(size) }, nil
}

// take reads a request and looks into it.
func (g *Gateway) take(w http.ResponseWriter, r *http.Request, a *account, path string, size int64) (*call, *refusal) {
	body, no := g.read(w, r, size)
	if no != nil {
		return nil, no
	}
	defer g.sweep(size)
	a.looking.Lock()
	defer a.looking.Unlock()
	return inspect(path, body, g.mask)
}

// bytesPerValue is what looking at one value of a request leaves behind, at most, besides its text.
const bytesPerValue = 36

// sweep collects what requests left behind once it is as much as the longest may take up: until Go does, it may be as much
// again as all that prloop holds.
func (g *Gateway) sweep(size int64) {
	g.litter(size + bytesPerValue*int64(mostValues(int(size))))
}

// litter counts bytes that are left behind.
func (g *Gateway) litter(size int64) {
	if g.garbage.Add(size) >= g.options.RequestLimit {
		g.garbage.Store(0)
		runtime.GC()
	}
}

// read reads a body of a known size, or one of an unknown size up to it.
func (g *Gateway) read(w http.ResponseWriter, r *http.Request, size int64) ([]byte, *refusal) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(g.options.bodyTimeout))
	body, n := make([]byte, size), 0
	var err error
	for n < len(body) && err == nil {
		var more int
		more, err = r.Body.Read(body[n:])
		n += more
	}
	if err == nil { // it is full: the end must follow
		var more int
		if more, err = r.Body.Read(make([]byte, 1)); more > 0 {
			g.drain(w, r)
			return nil, tooLarge(size)
		}
	}
	if !errors.Is(err, io.EOF) {
		w.Header().Set("Connection", "close") // nothing that follows is a request
		return nil, refuse(http.StatusBadRequest, CodeRefused, "request body did not arrive whole")
	}
	g.crowd.arrived(r)
	_ = rc.SetReadDeadline(time.Time{}) // it would cut the answer too
	return body[:n], nil
}

// drainLimit bounds how much of a request is read only to be thrown away, in bytes.
const drainLimit = 64 << 20

// drain throws away what is left of a body that is refused: a caller that is still writing would not read why.
func (g *Gateway) drain(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(g.options.bodyTimeout))
	if n, err := io.Copy(io.Discard, io.LimitReader(r.Body, drainLimit)); err != nil || n == drainLimit {
		w.Header().Set("Connection", "close")
		return
	}
	_ = rc.SetReadDeadline(time.Time{})
}

func tooLarge(limit int64) *refusal {
	return refuse(http.StatusRequestEntityTooLarge, CodeTooLarge, "request is larger than %d bytes", limit)
}
