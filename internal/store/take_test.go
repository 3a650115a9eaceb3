//go:build unix

package store

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/filelock"
)

// die gives up what the kernel takes from a process that ends: the lease itself stays.
func die(t *testing.T, l *Lease) {
	t.Helper()
	if err := l.mark.Close(); err != nil {
		t.Error(err)
	}
}

// threats.md P10, K03: what a process may do with the lease of a pull request, by whether the run that has it lives.
func TestWhoTakesTheLease(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prloop.db")
	first, second := open(t, path), open(t, path)
	lease, err := first.Take(t.Context(), pull, run1, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Take(t.Context(), pull, run1, time.Minute); !errors.Is(err, ErrAlive) {
		t.Errorf("the same run in another process: %v, want %v", err, ErrAlive)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Errorf("the living run: %v", err)
	}
	var held *HeldError
	if _, err := second.Take(t.Context(), pull, run2, time.Minute); !errors.As(err, &held) || held.Run != run1 {
		t.Errorf("another run: %v, want that %s has it", err, run1)
	}
	if err := second.GiveBack(t.Context(), pull, run1); err != nil || lease.Check(t.Context()) != nil {
		t.Errorf("given back for a living run: %v, then %v", err, lease.Check(t.Context()))
	}
	if err := errors.Join(lease.Release(t.Context()), lease.Release(t.Context())); err != nil {
		t.Fatal(err)
	}
	next, err := second.Take(t.Context(), pull, run2, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(t.Context()); err != nil || next.Check(t.Context()) != nil {
		t.Errorf("released once more: %v, then %v", err, next.Check(t.Context()))
	}
	if _, err := first.Take(t.Context(), pull, run3, time.Minute); !errors.As(err, &held) || held.Run != run2 {
		t.Errorf("a third run: %v, want that %s has it", err, run2)
	}
	runtime.KeepAlive(next) // its mark is an open file, which is closed with what nobody holds any more
}

// A dead run's lease is nobody's, and it is told from a living one's at once.
func TestLeaseOfADeadRun(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, run := range []string{run1, run2, run2} {
		lease, err := s.Take(t.Context(), pull, run, time.Hour)
		if err != nil {
			t.Fatalf("%s: %v", run, err)
		}
		if err := lease.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", run, err)
		}
		die(t, lease)
	}
}

// The locks of a killed process may be held a moment longer by a child that it was about to start. They keep nobody out.
func TestLeaseOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, next := range []string{run1, run2} {
		killed, err := s.Take(t.Context(), pull, run1, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		time.AfterFunc(filelock.Patience/4, func() { die(t, killed); close(gone) })
		again, err := s.Take(t.Context(), pull, next, time.Hour)
		if err != nil {
			t.Fatalf("run %s: %v", next, err)
		}
		<-gone
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A run that was killed when it had finished, and before it could give its pull request back, does so when it is looked at again.
func TestLeaseOfAFinishedRun(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	killed, err := s.Take(t.Context(), pull, run1, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	die(t, killed)
	if _, err := s.Lease(t.Context(), pull, run2, time.Hour); !errors.As(err, new(*HeldError)) {
		t.Fatalf("the lease of the killed run: %v", err)
	}
	for range 2 {
		if err := s.GiveBack(t.Context(), pull, run1); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := s.Lease(t.Context(), pull, run2, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.GiveBack(t.Context(), pull, run1); err != nil {
		t.Fatal(err)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Errorf("the lease of another run: %v", err)
	}
}
