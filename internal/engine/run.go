package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// storeWait bounds the wait for a finished handler's result to be stored; another process may hold the database for a while.
const storeWait = 30 * time.Second

// validID holds for ids that can be file names anywhere; run ids are {UTC timestamp}_{review_id}.
var validID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`).MatchString

// Run does the run id, or continues it, or gives what it ended with. input is stored when the run is new and ignored when
// it is not. When ctx ends, the contexts of the running steps end at once and Run returns an *UnfinishedError; the run
// stays pending. Other errors: ErrBusy, ErrVersion, ErrClosed, the handler's own, or *RunError for a run that failed earlier.
func (e *Engine) Run(ctx context.Context, id string, input []byte) ([]byte, error) {
	if input == nil {
		input = []byte{}
	}
	return e.run(ctx, id, input)
}

// Resume is Run for a run that exists; ErrNotFound if it does not.
func (e *Engine) Resume(ctx context.Context, id string) ([]byte, error) { return e.run(ctx, id, nil) }

// run creates the run if need be and input is not nil.
func (e *Engine) run(ctx context.Context, id string, input []byte) ([]byte, error) {
	if !validID(id) {
		return nil, fmt.Errorf("run %q: not a run id", id)
	}
	w, ok, err := e.lookup(ctx, id)
	if err != nil || ok && !pending(w.Status) {
		return e.ended(w, err)
	}
	release, err := e.lock(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	w, ok, err = e.lookup(ctx, id) // again: it may have ended in between
	switch {
	case err != nil || ok && !pending(w.Status):
		release(false)
		return e.ended(w, err)
	case !ok && input == nil:
		release(false)
		return nil, fmt.Errorf("run %s: %w", id, ErrNotFound)
	case ok && w.ApplicationVersion != Version:
		release(false)
		return nil, fmt.Errorf("run %s: %w (its steps are those of version %s, ours of %s)", id, ErrVersion, w.ApplicationVersion, Version)
	}
	begin := func(c dbos.Context, queue string) error {
		_, err := dbos.Enqueue[[]byte](c, queue, kind, input, dbos.WithEnqueueWorkflowID(id))
		return err
	}
	if ok {
		begin = func(c dbos.Context, queue string) error {
			_, err := dbos.ResumeWorkflow[[]byte](c, id, dbos.WithResumeQueue(queue))
			return err
		}
	}
	return e.execute(ctx, id, release, begin)
}

// lock takes the lock of a run, or gives ErrBusy.
func (e *Engine) lock(ctx context.Context, id string) (release func(handOver bool), err error) {
	give, err := e.dialect.lock(ctx, id)
	if err != nil {
		return nil, err
	}
	return func(handOver bool) {
		if err := give(handOver); err != nil {
			e.log.Debug("something of the lock of a run is left", "run", id, "err", err)
		}
	}, nil
}

// ended gives what a finished run ended with; err is that of looking it up.
func (e *Engine) ended(w dbos.WorkflowStatus, err error) ([]byte, error) {
	if err != nil {
		return nil, fmt.Errorf("look up run: %w", err)
	}
	h, err := dbos.RetrieveWorkflow[[]byte](e.client, w.ID)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", w.ID, err)
	}
	sealed, err := h.GetResult()
	if err != nil && w.Status == dbos.WorkflowStatusError {
		return nil, &RunError{ID: w.ID, Text: err.Error()}
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: read stored result: %w", w.ID, err)
	}
	out, _, err := unseal(sealed)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", w.ID, err)
	}
	return out, nil
}

// live is one execution of a run in this process.
type live struct {
	id      string
	log     hclog.Logger
	handler Handler
	// ctx ends when the run is to stop: with the caller's context, with Halt, with the engine. Its cause says why.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// returned receives the handler's error, nil too, when its outcome is about to be recorded.
	returned chan error
	// lost receives why that outcome could not be recorded.
	lost chan error
}

func (l *live) unfinished() error { return &UnfinishedError{ID: l.id, Cause: context.Cause(l.ctx)} }

// execute does or continues the run under its lock.
func (e *Engine) execute(ctx context.Context, id string, release func(bool), begin func(dbos.Context, string) error) ([]byte, error) {
	l := &live{id: id, log: e.log, handler: e.opts.Handler, returned: make(chan error, 1), lost: make(chan error, 1)}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	defer l.cancel(nil)
	leave, err := e.enter(id, l.cancel)
	if err != nil {
		release(e.opts.HandOver)
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	defer leave()
	if gone := e.Gone(); gone != nil {
		defer context.AfterFunc(gone, func() { l.cancel(context.Cause(gone)) })()
	}

	c, err := e.launch(ctx, l, begin)
	var handlerErr error
	if err != nil {
		l.cancel(err)
	} else {
		select {
		case <-l.ctx.Done():
		case handlerErr = <-l.returned:
			e.awaitStored(ctx, l)
		}
	}
	// Others go on with it when this process ends and the run does not.
	handOver := e.opts.HandOver && errors.Is(context.Cause(l.ctx), ErrClosed)
	if c != nil {
		if stuck := dbos.Shutdown(c, e.opts.Grace); stuck != nil {
			// Something of the run still goes on in this process, so nobody else may take the run: the lock stays.
			e.log.Warn("run did not stop in time", "run", id, "err", stuck)
		} else {
			release(handOver)
		}
	} else {
		release(handOver)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	if err := dbos.DeleteQueue(e.client, queueOf(id)); err != nil {
		e.log.Debug("queue of run could not be removed", "run", id, "err", err)
	}
	return e.outcome(ctx, l, handlerErr)
}

// outcome says how an execution ended, by what is stored.
func (e *Engine) outcome(ctx context.Context, l *live, handlerErr error) ([]byte, error) {
	w, ok, err := e.lookup(context.WithoutCancel(ctx), l.id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("run %s: %w", l.id, err)
	case ok && pending(w.Status):
		return nil, l.unfinished()
	}
	e.prune()
	if handlerErr != nil {
		return nil, fmt.Errorf("run %s: %w", l.id, handlerErr) // the value itself, this one time
	}
	return e.ended(w, nil)
}

// queueOf names the queue only this run is ever in.
func queueOf(id string) string { return "run-" + id }

// launch starts a DBOS context for this run alone. The run stands in its queue before anybody listens, so it starts at once.
func (e *Engine) launch(ctx context.Context, l *live, begin func(dbos.Context, string) error) (dbos.Context, error) {
	c, err := e.newContext(ctx, bridge{log: l.log, lost: func(err error) {
		select {
		case l.lost <- err:
		default: // the first reason is enough
		}
	}}, true)
	if err != nil {
		return nil, err
	}
	queue := queueOf(l.id)
	dbos.RegisterWorkflow(c, l.workflow, dbos.WithWorkflowName(kind))
	dbos.ListenQueues(c, queue)
	if _, err := dbos.RegisterQueue(c, queue); err != nil {
		return c, err
	}
	if err := begin(c, queue); err != nil {
		return c, err
	}
	return c, dbos.Launch(c)
}

// workflow is what DBOS runs: the handler. Its context is the run's and not DBOS's, so that its cause is the caller's; DBOS's
// ends a moment later.
func (l *live) workflow(c dbos.Context, input []byte) ([]byte, error) {
	out, err := l.call(l.ctx, &Steps{c: c, live: l}, input)
	if h := (halt{}); errors.As(err, &h) {
		l.cancel(h.error)
	}
	if l.ctx.Err() != nil {
		<-c.Done() // as for steps: what is answered during an interruption is not recorded
		return nil, c.Err()
	}
	l.returned <- err
	if err != nil {
		return nil, err
	}
	return seal(out, nil), nil
}

// call runs the handler; a panic is an error of the run.
func (l *live) call(ctx context.Context, s *Steps, input []byte) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("run panicked", "run", l.id, "panic", p, "stack", string(debug.Stack()))
			out, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return l.handler(ctx, s, input)
}

// awaitStored waits until the outcome of the run is stored; if it is not, the run counts as stopped.
func (e *Engine) awaitStored(ctx context.Context, l *live) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), storeWait, errors.New("the database is busy"))
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		if w, ok, err := e.lookup(ctx, l.id); err == nil && ok && !pending(w.Status) {
			return
		}
		select {
		case err := <-l.lost:
			l.cancel(fmt.Errorf("store its result: %w", cause(err)))
			return
		case <-ctx.Done():
			l.cancel(fmt.Errorf("store its result: %w", context.Cause(ctx)))
			return
		case <-time.After(wait):
		}
	}
}
