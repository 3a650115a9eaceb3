package daemon

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/engine"
)

// queues are those of which this process does tasks.
func (d *Daemon) queues() []engine.Queue {
	all := []engine.Queue{{Name: comments, Workers: hearing, Poll: d.poll, Work: d.in(comments)}}
	if d.Reviews > 0 {
		all = append(all, engine.Queue{Name: reviews, Workers: d.Reviews, Poll: d.poll, Work: d.in(reviews)})
	}
	return all
}

// Work sees to what stands in the queues until ctx ends. What is wanted is written down, and put there, by the processes that serve; of those
// and of these there may be several where they share a database. An error is the cause of Engine.Gone: others have what this process had.
func (d *Daemon) Work(ctx context.Context) error {
	workers, err := d.engine.Serve(ctx, d.queues()...)
	if err != nil {
		return unlessTold(ctx, err)
	}
	defer d.end(workers)
	reaping, stop := context.WithCancel(ctx)
	defer stop()
	go d.reap(reaping, workers)
	go d.obey(reaping)
	select {
	case <-ctx.Done():
		return nil
	case <-d.gone():
		return context.Cause(d.engine.Gone())
	}
}

// obeying is how often a process that only works looks for runs of its own that somebody cancelled.
const obeying = time.Second

// obey interrupts the runs of this process that somebody cancels.
func (d *Daemon) obey(ctx context.Context) {
	ticker := time.NewTicker(obeying)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := d.cancelWanted(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("whether somebody cancelled a run is not known", "err", err)
		}
	}
}

// gone is closed when others have what this process had; nil where that cannot be.
func (d *Daemon) gone() <-chan struct{} {
	if g := d.engine.Gone(); g != nil {
		return g.Done()
	}
	return nil
}

const (
	// reaping is how often a process looks for what dead ones were at work on.
	reaping = 2 * time.Second
	// recounting is how often it looks for what has no task, and is noted as having one.
	recounting = 10 * time.Second
)

// reap has what dead processes were at work on seen to by others. Any process does so for all queues: those that do reviews may all be dead.
func (d *Daemon) reap(ctx context.Context, w *engine.Workers) {
	ticker := time.NewTicker(reaping)
	defer ticker.Stop()
	var counted time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := d.putBack(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("what was left is not put back yet", "err", err)
		}
		subjects, err := w.Reap(ctx, reviews, comments)
		if err != nil && ctx.Err() == nil {
			d.Log.Warn("what dead processes were at work on was not taken over", "err", err)
		}
		for _, s := range subjects {
			d.Said(s + ": the process that was at work on it is gone; another goes on")
			d.requeue(ctx, s)
		}
		if subjects, err = w.Stale(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("what this process is not at work on any more is still listed as its work", "err", err)
		}
		for _, s := range subjects {
			d.Log.Warn("the database did not take that a look was over; it is seen to again", "subject", s)
			d.requeue(ctx, s)
		}
		if time.Since(counted) < recounting {
			continue
		}
		counted = time.Now()
		if err := d.recount(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("what has no task any more is not put back yet", "err", err)
		}
	}
}

// putBack has those subjects put into the queue again that were left: their tasks are over, and they are still wanted.
func (d *Daemon) putBack(ctx context.Context) error {
	d.mu.Lock()
	left := slices.Sorted(maps.Keys(d.left))
	d.mu.Unlock()
	for _, subject := range left {
		if err := d.record.Requeue(ctx, subject); err != nil {
			return err
		}
		d.mu.Lock()
		delete(d.left, subject)
		d.mu.Unlock()
	}
	return nil
}

// requeue has a subject put into the queue again whose task was dropped.
func (d *Daemon) requeue(ctx context.Context, subject string) {
	if err := d.record.Requeue(ctx, subject); err != nil {
		d.Log.Error("a subject waits until somebody counts the queue again", "subject", subject, "err", err)
	}
	d.wake()
}

// end lets runs go on for the time they have, interrupts those that are left, and leaves them to others.
func (d *Daemon) end(w *engine.Workers) {
	d.draining.Store(true)
	for until := time.Now().Add(d.Drain); time.Now().Before(until) && d.atWork() > 0 && (d.engine.Gone() == nil || d.engine.Gone().Err() == nil); {
		time.Sleep(20 * time.Millisecond)
	}
	for _, subject := range w.Close() {
		d.requeue(context.Background(), subject)
	}
}
