package github

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// limits is what GitHub asked of this process: the times before which it is asked nothing. Every request goes by it, whichever run makes
// it (threats.md P13), and so does what gh is started for.
type limits struct {
	mu sync.Mutex
	// all ends a secondary limit, which is one for everything.
	all time.Time
	// of ends the primary limits, by what they are for.
	of map[string]time.Time
	// left is what GitHub said last is left, by what it is for.
	left map[string]Budget
	// at is GitHub's time of its last answer, and heard when that came, by a clock that nobody sets.
	at, heard time.Time
}

// What has a primary limit of its own.
const (
	core    = "core"
	graphql = "graphql"
	free    = "rate_limit" // asking how much is left
)

// resource is whose limit a request counts against.
func resource(r *http.Request) string {
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/graphql"):
		return graphql
	case strings.HasSuffix(path, "/rate_limit"):
		return free
	}
	return core
}

// until is when a request of one of the resources may be made; zero when it may be now.
func (l *limits) until(resources ...string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	latest := l.all
	for _, r := range resources {
		if at := l.of[r]; at.After(latest) {
			latest = at
		}
	}
	if !latest.After(time.Now()) {
		return time.Time{}
	}
	return latest
}

// hold keeps a time that GitHub named. No resource is all of them. A time never comes earlier.
func (l *limits) hold(resource string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if resource == "" {
		if until.After(l.all) {
			l.all = until
		}
		return
	}
	if l.of == nil {
		l.of = map[string]time.Time{}
	}
	if until.After(l.of[resource]) {
		l.of[resource] = until
	}
}

// refusalLimit bounds what is read of a refusal to find out whether it is a limit.
const refusalLimit = 64 << 10

// heed keeps what an answer says about limits. The body of a refusal is read and put back.
func (l *limits) heed(r *http.Request, resp *http.Response) error {
	l.date(resp.Header)
	l.budget(r, resp.Header)
	used := resp.Header.Get("X-RateLimit-Remaining") == "0"
	refused := resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusTooManyRequests
	if !refused {
		if used { // the last one there was
			l.hold(resource(r), nextAllowed(resp.Header))
		}
		return nil
	}
	said, err := io.ReadAll(io.LimitReader(resp.Body, refusalLimit))
	if err != nil {
		return err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(said), resp.Body), resp.Body}
	switch {
	case resp.StatusCode == http.StatusForbidden && !limited(string(said), resp.Header):
	case used && resp.Header.Get("Retry-After") == "":
		l.hold(resource(r), nextAllowed(resp.Header))
	default:
		l.hold("", nextAllowed(resp.Header))
	}
	return nil
}

// date keeps GitHub's time, which goes on.
func (l *limits) date(h http.Header) {
	at, err := http.ParseTime(h.Get("Date"))
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && at.After(l.at) {
		l.at, l.heard = at, time.Now()
	}
}

// now is the time by GitHub's clock; this machine's where it has not answered yet.
func (l *limits) now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() {
		return time.Now()
	}
	return l.at.Add(time.Since(l.heard))
}

func (l *limits) answered() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// limitedUntil is the error of a request that is not made.
func limitedUntil(at time.Time) *Error {
	return &Error{Kind: ErrRateLimited, Until: at, unsent: true}
}

// turn is whose turn to write it is. Who waits for it may wait for as long as a limit takes.
type turn chan struct{}

func (t turn) Lock()   { t <- struct{}{} }
func (t turn) Unlock() { <-t }

// waitForTurn keeps writes apart, and waits for the end of limits that is near. Nothing was sent when it fails. The caller holds writing.
func (c *Client) waitForTurn(ctx context.Context, op string) error {
	stopped := func(err error) error {
		return &Error{Op: op, Kind: ErrUnavailable, Cause: err, Detail: describe(err), write: true}
	}
	for began := time.Now(); ; {
		var wait time.Duration
		if !c.lastWrite.IsZero() {
			wait = c.writeGap - time.Since(c.lastWrite)
		}
		if until := c.limits.until(core, graphql); !until.IsZero() {
			if wait = max(wait, time.Until(until)+c.margin()); time.Since(began)+wait > c.maxWait {
				e := limitedUntil(until)
				e.Op, e.write = op, true
				return e
			}
		}
		if wait <= 0 {
			if ctx.Err() != nil {
				return stopped(context.Cause(ctx))
			}
			return nil
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return stopped(context.Cause(ctx))
		case <-t.C:
		}
	}
}
