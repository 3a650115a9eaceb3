package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// child is a started process with all it starts in turn.
type child interface {
	// term asks the whole tree to end.
	term()
	// kill ends the whole tree by force.
	kill()
	// destroy does the same without any help of the tree itself; the last resort.
	destroy()
	// wait returns once the first process has ended and nothing of the tree is left.
	wait() status

	// holds is how much memory the tree has resident, in bytes, and how many processes it is. More than limit it says only
	// when it is sure.
	holds(limit int64) (resident, processes int64)
	// outOfMemory reports whether the kernel ended a part of the tree because all of it held too much.
	outOfMemory() bool
	// locks is how many locks of files the tree has; it need not count on above manyLocks.
	locks() int
	// fileHolders are folders of links to the files that the tree has open.
	fileHolders() []string
	// atWork is what the tree has at work. shares is false when the processors are not shared out by that.
	atWork() (has crowd, shares bool)
	// standBack has all of the tree wait while others have something for the processors to do.
	standBack()
}

// boundless is a child of which nothing is known.
type boundless struct{}

func (boundless) holds(int64) (resident, processes int64) { return 0, 0 }
func (boundless) outOfMemory() bool                       { return false }
func (boundless) locks() int                              { return 0 }
func (boundless) fileHolders() []string                   { return nil }
func (boundless) atWork() (has crowd, shares bool)        { return crowd{}, false }
func (boundless) standBack()                              {}

// status is how a child ended.
type status struct {
	code      int
	signal    string
	survivors int
	unclean   bool
	lost      bool  // the leash was killed; code and signal are unknown
	oom       bool  // the kernel ended a part of the tree because all of it held too much memory
	err       error // it never started
}

// destroyAfter is how long a kill through the leash may take before prloop kills on its own.
const destroyAfter = 2 * time.Second

// drainFor is how long streams may stay open after nothing of the tree is left. Only what escaped the tree can hold them
// (finding 6: without a bound this waits as long as a grandchild likes).
const drainFor = time.Second

// Run starts a child, supervises it to its end and returns what it left. The error is nil when the child ended by itself
// with status 0; an *ExitError when it did not; it wraps ErrNotFound when there is no such program. When Run returns,
// nothing of the child is left unless Result.Unclean says so.
func Run(ctx context.Context, spec Spec) (Result, error) {
	spec = spec.withDefaults()
	res := Result{ExitCode: -1}
	if err := ctx.Err(); err != nil {
		return res, fmt.Errorf("run %s: %w", spec.Path, context.Cause(ctx))
	}
	path, err := LookPath(spec.Path)
	if err != nil {
		return res, err
	}
	spec.Path = path
	if spec.Dir == "" {
		if spec.Dir, err = os.Getwd(); err != nil {
			return res, fmt.Errorf("run %s: %w", path, err)
		}
	}
	s, err := openStreams(spec)
	if err != nil {
		return res, fmt.Errorf("run %s: %w", path, err)
	}
	w, err := watchBounds(spec.Bounds)
	if err != nil {
		s.closeChildEnds()
		s.closeAll()
		return res, fmt.Errorf("run %s: %w", path, err)
	}
	started := time.Now()
	defer observed(spec, started)
	c, err := start(spec, s.childEnds())
	s.closeChildEnds()
	if err != nil {
		s.closeAll()
		w.folders.close()
		return res, startError(spec, err)
	}
	s.begin(started)
	look := w.start(c, s.stop)
	ended := make(chan status, 1)
	go func() { ended <- c.wait() }()
	st, reason, why := supervise(ctx, spec, c, s, ended)
	s.finish(drainFor)
	tooMuch := look.finish()
	if reason == ReasonNone {
		// A limit passed in the last moment counts although the child was quick enough to end.
		select {
		case stop := <-s.stop:
			reason, why = stop.reason, stop.err
		default:
			switch {
			case st.oom:
				tooMuch = w.memory()
			case tooMuch.reason == ReasonNone && st.code > 0 && spec.Bounds.Ended != nil:
				tooMuch.reason, tooMuch.err = spec.Bounds.Ended(st.code, s.tail.Bytes())
			}
			reason, why = tooMuch.reason, tooMuch.err
		}
	}

	res.ExitCode, res.Signal, res.Survivors, res.Unclean = st.code, st.signal, st.survivors, st.unclean
	res.Reason, res.Took = reason, time.Since(started)
	s.fill(&res)
	return res, outcome(spec, &res, st, why)
}

func outcome(spec Spec, res *Result, st status, why error) error {
	if st.err != nil {
		return startError(spec, st.err)
	}
	if st.lost && res.Reason == ReasonNone {
		res.Reason = ReasonLeashLost
	}
	if res.Reason == ReasonNone && res.ExitCode == 0 {
		return nil
	}
	return &ExitError{Path: spec.Path, Code: res.ExitCode, Signal: res.Signal, Reason: res.Reason,
		Took: res.Took, StderrTail: res.StderrTail, Idle: spec.Idle, Cause: why}
}

// startError says what was missing. The kernel answers "no such file" for a missing interpreter and a missing folder too.
func startError(spec Spec, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if _, statErr := os.Stat(spec.Dir); statErr != nil {
			return fmt.Errorf("run %s in %s: %w", spec.Path, spec.Dir, cause(statErr))
		}
		return fmt.Errorf("run %s: %w (or the interpreter its first line names)", spec.Path, ErrNotFound)
	}
	return fmt.Errorf("run %s: %w", spec.Path, err)
}

// supervise waits for the child's end and brings it about when a limit is passed.
func supervise(ctx context.Context, spec Spec, c child, s *streams, ended <-chan status) (status, Reason, error) {
	st, reason, why := watch(ctx, spec, s, ended)
	if st != nil {
		return *st, ReasonNone, nil
	}
	s.discard()
	for i, step := range []struct {
		do   func()
		wait time.Duration
	}{{c.term, spec.Grace}, {c.kill, destroyAfter}} {
		if i == 0 && reason.greedy() {
			continue
		}
		step.do()
		select {
		case st := <-ended:
			return st, reason, why
		case <-time.After(step.wait):
		}
	}
	c.destroy()
	return <-ended, reason, why
}
