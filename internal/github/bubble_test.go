package github_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/contract"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

var widgets = review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}

// outside does work outside of a test's bubble, whose clock stands still meanwhile. It is made before the bubble.
type outside struct {
	jobs chan job
	idle chan chan struct{}
}

type job struct {
	do   func()
	over chan struct{}
}

func newOutside(t *testing.T) *outside {
	o := &outside{jobs: make(chan job), idle: make(chan chan struct{}, 300)}
	for range cap(o.idle) {
		o.idle <- make(chan struct{})
	}
	go func() {
		for j := range o.jobs {
			go func() {
				j.do()
				j.over <- struct{}{}
			}()
		}
	}()
	t.Cleanup(func() { close(o.jobs) })
	return o
}

func (o *outside) do(work func()) {
	over := <-o.idle
	o.jobs <- job{work, over}
	<-over
	o.idle <- over
}

// world is a forge that goes by the clock of a bubble, and how a client in the bubble reaches it: without a network, but for gh.
type world struct {
	*forge.Forge
	out   *outside
	clock atomic.Int64
	gh    string
	// ghTime is how long gh may take, by the world's clock.
	ghTime time.Duration
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{out: newOutside(t), gh: forgetest.GH(t), ghTime: time.Minute}
	w.clock.Store(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()) // where bubbles begin
	checker, err := contract.New()
	if err != nil {
		t.Fatal(err)
	}
	w.Forge, err = forge.Start(forge.Options{Contract: checker, Now: func() time.Time { return time.Unix(0, w.clock.Load()) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, v := range w.Violations() {
			t.Errorf("a request or answer broke GitHub's published contract: %s", v)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// tick tells the forge what time it is in the bubble.
func (w *world) tick() { w.clock.Store(time.Now().UnixNano()) }

// client is a process of its own, in the bubble.
func (w *world) client(t *testing.T) *github.Client {
	t.Helper()
	c, err := github.New(t.Context(), github.Options{Env: w.Env(""), GH: w.gh})
	if err != nil {
		t.Fatal(err)
	}
	c.Through(w, w.start)
	return c
}

// start starts gh outside.
func (w *world) start(_ context.Context, spec proc.Spec) (res proc.Result, err error) {
	w.tick()
	spec.Timeout = w.ghTime
	w.out.do(func() { res, err = proc.Run(context.Background(), spec) })
	return res, err
}

var errReset = errors.New("read: connection reset by peer")

// RoundTrip carries one request to the forge. What takes time takes the bubble's.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	w.tick()
	in := r.Clone(context.Background())
	in.Body, in.Host = io.NopCloser(bytes.NewReader(body)), r.URL.Host
	var a *forge.Answer
	w.out.do(func() { a = w.Answer(in) })
	over := func() { w.tick(); a.Over() }
	switch {
	case a.Silent:
		<-r.Context().Done()
		over()
		return nil, context.Cause(r.Context())
	case a.Lost:
		over()
		return nil, errReset
	}
	var content io.Reader = bytes.NewReader(a.Body)
	if a.Bomb > 0 {
		content = io.LimitReader(blanks{}, a.Bomb)
	}
	if a.Takes > 0 {
		content = io.MultiReader(&pause{r.Context(), a.Takes, over}, content)
	} else {
		over()
	}
	return &http.Response{StatusCode: a.Status, Status: http.StatusText(a.Status), Header: a.Headers, Body: io.NopCloser(content), ContentLength: -1, Request: r}, nil
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// pause is a body that takes its time.
type pause struct {
	ctx  context.Context
	left time.Duration
	over func()
}

func (p *pause) Read([]byte) (int, error) {
	defer p.over()
	select {
	case <-p.ctx.Done():
		return 0, context.Cause(p.ctx)
	case <-time.After(p.left):
		return 0, io.EOF
	}
}
