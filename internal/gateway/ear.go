package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// ear knows when a model last sent a byte for an agent. The zero value has heard nothing.
type ear struct {
	// waiting counts the calls in which a model is waited for now.
	waiting atomic.Int32
	// heard is when that ended last, in nanoseconds since 1970; 0 before the first time.
	heard atomic.Int64
}

// wait says that a model is waited for until the function it gives is called.
func (e *ear) wait() (done func()) {
	e.waiting.Add(1)
	return func() {
		e.heard.Store(time.Now().UnixNano())
		e.waiting.Add(-1)
	}
}

// Quiet is how long ago a model sent its last byte for an agent: 0 while one is waited for, whose silence the gateway itself ends,
// and very long for an agent that asked none.
func (g *Gateway) Quiet(agent string) time.Duration {
	g.mu.Lock()
	a := g.accounts[agent]
	g.mu.Unlock()
	switch {
	case a == nil:
		return 1<<63 - 1
	case a.ear.waiting.Load() > 0:
		return 0
	}
	return time.Since(time.Unix(0, a.ear.heard.Load()))
}

// listener is the context key of the account whose call a request is.
type listener struct{}

func withListener(ctx context.Context, a *account) context.Context {
	return context.WithValue(ctx, listener{}, a)
}

// listen makes one attempt of a call and ends it with a *SilentError when its model sends no byte for as long as it may. The time
// in which nobody reads does not count.
func listen(next http.RoundTripper, req *http.Request) (*http.Response, error) {
	a, _ := req.Context().Value(listener{}).(*account)
	if a == nil {
		return next.RoundTrip(req)
	}
	ctx, end := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(a.idle, func() { end(&SilentError{a.idle}) })
	resp, err := next.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		err = silenced(ctx, err)
		end(nil)
		return nil, err
	}
	resp.Body = &heardBody{ReadCloser: resp.Body, account: a, ctx: ctx, end: end, timer: timer}
	return resp, nil
}

// silenced gives the reason a call was ended for, when it was ended for silence.
func silenced(ctx context.Context, err error) error {
	var silent *SilentError
	if errors.As(context.Cause(ctx), &silent) {
		return silent
	}
	return err
}

// heardBody is the body of an answer whose silence is counted.
type heardBody struct {
	io.ReadCloser
	account *account
	ctx     context.Context
	end     context.CancelCauseFunc
	timer   *time.Timer
}

// Read waits for the model.
func (b *heardBody) Read(p []byte) (int, error) {
	done := b.account.ear.wait()
	defer done()
	b.timer.Reset(b.account.idle)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = silenced(b.ctx, err)
	}
	return n, err
}

// Close ends the attempt.
func (b *heardBody) Close() error {
	b.timer.Stop()
	b.end(nil)
	return b.ReadCloser.Close()
}
