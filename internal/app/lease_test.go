//go:build unix

package app

import (
	"errors"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/store"
)

// testProcess is a process's service with one run in it.
type testProcess struct{ *run }

func process(t *testing.T, state, id string) testProcess {
	t.Helper()
	s, err := Open(t.Context(), Options{State: state})
	if err != nil {
		t.Fatal(err)
	}
	p := testProcess{&run{Service: s, id: id}}
	t.Cleanup(func() { s.Close(t.Context()) })
	t.Cleanup(p.end)
	return p
}

// end drops what the process has of its run, as the kernel does.
func (p testProcess) end() { p.run.cleanup.run() }

// threats.md P10, K03: what a process may do with the lease of a pull request, by whether the run that has it lives.
func TestWhoTakesTheLease(t *testing.T) {
	t.Parallel()
	const pull, one, two, three = "acme/widgets#7", "one", "two", "three"
	state := t.TempDir()
	first, second, third := process(t, state, one), process(t, state, one), process(t, state, two+"!")
	lease, err := first.takeLease(t.Context(), pull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.takeLease(t.Context(), pull); !errors.Is(err, engine.ErrBusy) {
		t.Errorf("the same run in another process: %v, want %v", err, engine.ErrBusy)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Errorf("the living run: %v", err)
	}
	var held *store.HeldError
	if _, err := process(t, state, two).takeLease(t.Context(), pull); !errors.As(err, &held) || held.Run != one {
		t.Errorf("another run: %v, want that %s has it", err, one)
	}

	// The first gives its lease back and takes its time to end: who has the lease then is alive all the same.
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	lease, err = process(t, state, three).takeLease(t.Context(), pull)
	if err != nil {
		t.Fatal(err)
	}
	first.end()
	if _, err := third.takeLease(t.Context(), pull); !errors.As(err, &held) || held.Run != three {
		t.Errorf("another run, once the first has ended: %v, want that %s has it", err, three)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Errorf("the living run: %v", err)
	}
}

// A dead run's lease is nobody's, and it is told from a living one's at once.
func TestLeaseOfADeadRun(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	for _, run := range []string{"killed", "next", "next"} {
		r := process(t, state, run)
		lease, err := r.takeLease(t.Context(), "acme/widgets#7")
		if err != nil {
			t.Fatalf("%s: %v", run, err)
		}
		if err := lease.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", run, err)
		}
		r.end() // without giving it back, as the kernel does
	}
}

// The locks of a killed process may be held a moment longer by a child that it was about to start. They keep nobody out.
func TestLeaseOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	const pull = "acme/widgets#7"
	state := t.TempDir()
	for _, next := range []string{"killed", "next"} {
		killed, again := process(t, state, "killed"), process(t, state, next)
		if _, err := killed.takeLease(t.Context(), pull); err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		time.AfterFunc(filelock.Patience/4, func() { killed.end(); close(gone) }) // the lease itself stays
		if _, err := again.takeLease(t.Context(), pull); err != nil {
			t.Errorf("run %s: %v", next, err)
		}
		<-gone
		again.end()
	}
}

// A run that was killed when it had finished, and before it could give its pull request back, does so when it is looked at again.
func TestLeaseOfAFinishedRun(t *testing.T) {
	t.Parallel()
	const pull = "acme/widgets#7"
	state := t.TempDir()
	killed, again, next := process(t, state, "killed"), process(t, state, "again"), process(t, state, "next")
	if _, err := killed.takeLease(t.Context(), pull); err != nil {
		t.Fatal(err)
	}
	killed.end() // as the kernel does: the lease stays
	if _, err := again.store.Lease(t.Context(), pull, "probe", time.Minute); !errors.As(err, new(*store.HeldError)) {
		t.Fatalf("the lease of the killed run: %v", err)
	}
	for range 2 {
		if err := again.giveBack(t.Context(), pull, "killed"); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := next.takeLease(t.Context(), pull)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.giveBack(t.Context(), pull, "killed"); err != nil {
		t.Fatal(err)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Errorf("the lease of another run: %v", err)
	}
}
