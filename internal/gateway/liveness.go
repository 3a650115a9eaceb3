package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// liveness knows when a model last sent a byte for an agent. The zero value has seen none.
type liveness struct {
	// waiting counts the calls in which a model is waited for now.
	waiting atomic.Int32
	// ended is when that was over last, in nanoseconds since 1970; 0 before the first time.
	ended atomic.Int64
}

// wait says that a model is waited for until the function it gives is called.
func (l *liveness) wait() (done func()) {
	l.waiting.Add(1)
	return func() {
		l.ended.Store(time.Now().UnixNano())
		l.waiting.Add(-1)
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
	case a.liveness.waiting.Load() > 0:
		return 0
	}
	return time.Since(time.Unix(0, a.liveness.ended.Load()))
}

// accountKey is the context key of the account whose call a request is.
type accountKey struct{}

func withAccount(ctx context.Context, a *account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// endSilent makes one attempt of a call and ends it with a *SilentError when its model sends no byte for as long as it may. The time
// in which nobody reads does not count.
func endSilent(next http.RoundTripper, req *http.Request) (*http.Response, error) {
	a, _ := req.Context().Value(accountKey{}).(*account)
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
	resp.Body = &watchedBody{ReadCloser: resp.Body, account: a, ctx: ctx, end: end, timer: timer}
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

// watchedBody is the body of an answer whose silence is counted.
type watchedBody struct {
	io.ReadCloser
	account *account
	ctx     context.Context
	end     context.CancelCauseFunc
	timer   *time.Timer
}

// Read waits for the model.
func (b *watchedBody) Read(p []byte) (int, error) {
	done := b.account.liveness.wait()
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
func (b *watchedBody) Close() error {
	b.timer.Stop()
	b.end(nil)
	return b.ReadCloser.Close()
}
