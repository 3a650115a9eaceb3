//go:build unix

package cli

import (
	"errors"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/store"
)

// threats.md P10, K03: what a process may do with the lease of a pull request, by whether the run that has it lives.
func TestWhoTakesTheLease(t *testing.T) {
	t.Parallel()
	const pull, one, two, three = "acme/widgets#7", "one", "two", "three"
	p := &Proc{Env: []string{"PRLOOP_STATE=" + t.TempDir()}, Stderr: t.Output()}
	open := func() *session {
		s, err := p.openSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.close)
		return s
	}
	first, second, third := open(), open(), open()
	lease, err := first.takeLease(t.Context(), pull, one)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.takeLease(t.Context(), pull, one); !errors.Is(err, engine.ErrBusy) {
		t.Errorf("the same run in another process: %v, want %v", err, engine.ErrBusy)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Errorf("the living run: %v", err)
	}
	var held *store.HeldError
	if _, err := second.takeLease(t.Context(), pull, two); !errors.As(err, &held) || held.Run != one {
		t.Errorf("another run: %v, want that %s has it", err, one)
	}

	// The first gives its lease back and takes its time to end: who has the lease then is alive all the same.
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	lease, err = open().takeLease(t.Context(), pull, three)
	if err != nil {
		t.Fatal(err)
	}
	first.close()
	if _, err := third.takeLease(t.Context(), pull, two+"!"); !errors.As(err, &held) || held.Run != three {
		t.Errorf("another run, once the first has ended: %v, want that %s has it", err, three)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Errorf("the living run: %v", err)
	}
}

// A dead run's lease is nobody's, and it is told from a living one's at once.
func TestLeaseOfADeadRun(t *testing.T) {
	t.Parallel()
	p := &Proc{Env: []string{"PRLOOP_STATE=" + t.TempDir()}, Stderr: t.Output()}
	for _, run := range []string{"killed", "next", "next"} {
		s, err := p.openSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lease, err := s.takeLease(t.Context(), "acme/widgets#7", run)
		if err != nil {
			t.Fatalf("%s: %v", run, err)
		}
		if err := lease.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", run, err)
		}
		s.close() // without giving it back, as the kernel does
	}
}

// The locks of a killed process may be held a moment longer by a child that it was about to start. They keep nobody out.
func TestLeaseOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	const pull = "acme/widgets#7"
	p := &Proc{Env: []string{"PRLOOP_STATE=" + t.TempDir()}, Stderr: t.Output()}
	for _, next := range []string{"killed", "next"} {
		s, err := p.openSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.close)
		if _, err := s.takeLease(t.Context(), pull, "killed"); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(engine.LockPatience/4, s.close) // as the kernel does: the lease itself stays
		if s, err = p.openSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.close)
		if _, err := s.takeLease(t.Context(), pull, next); err != nil {
			t.Errorf("run %s: %v", next, err)
		}
		s.close()
	}
}

// A run that was killed when it had finished, and before it could give its pull request back, does so when it is looked at again.
func TestLeaseOfAFinishedRun(t *testing.T) {
	t.Parallel()
	const pull = "acme/widgets#7"
	p := &Proc{Env: []string{"PRLOOP_STATE=" + t.TempDir()}, Stderr: t.Output()}
	open := func() *session {
		s, err := p.openSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.close)
		return s
	}
	killed, again := open(), open()
	if _, err := killed.takeLease(t.Context(), pull, "killed"); err != nil {
		t.Fatal(err)
	}
	killed.close() // as the kernel does: the lease stays
	if _, err := again.store.Lease(t.Context(), pull, "probe", time.Minute); !errors.As(err, new(*store.HeldError)) {
		t.Fatalf("the lease of the killed run: %v", err)
	}
	for range 2 {
		if err := again.giveBack(t.Context(), pull, "killed"); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := again.takeLease(t.Context(), pull, "next")
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
