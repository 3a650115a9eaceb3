package postgres

import (
	"bytes"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/prloop/prloop/internal/testkit/eventually"
	testkit "github.com/prloop/prloop/internal/testkit/postgres"
)

// The lock of a run is given back by a process that did not hear that it had got it: it lives on, and nobody else could go on with the run.
func TestALockNobodyHeardOf(t *testing.T) {
	const run = "the run"
	var lose atomic.Bool
	address := testkit.New(t)
	m, err := Join(t.Context(), through(t, address, func(client, server net.Conn) {
		var lost atomic.Bool // the answer to what is asked here
		go func() {
			defer server.Close()
			for b := make([]byte, 1<<16); ; {
				n, err := client.Read(b)
				if bytes.Contains(b[:n], []byte(run)) && lose.CompareAndSwap(true, false) {
					lost.Store(true)
				}
				if _, failed := server.Write(b[:n]); err != nil || failed != nil {
					return
				}
			}
		}()
		go func() {
			defer client.Close()
			for b := make([]byte, 1<<16); ; {
				n, err := server.Read(b)
				if err != nil || lost.Load() {
					return
				}
				if _, err := client.Write(b[:n]); err != nil {
					return
				}
			}
		}()
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Leave()
	other, err := Join(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Leave()
	lose.Store(true)
	if err := m.Lock(t.Context(), run); err == nil || errors.Is(err, ErrHeld) || lose.Load() {
		t.Fatalf("without an answer: %v", err)
	}
	eventually.True(t, "the lock to be anybody's", func() bool {
		err := other.Lock(t.Context(), run)
		if err != nil && !errors.Is(err, ErrHeld) {
			t.Error(err)
		}
		return err == nil
	})
	for _, m := range []*Member{m, other} {
		if err := m.Lock(t.Context(), run); !errors.Is(err, ErrHeld) {
			t.Errorf("taken twice: %v", err)
		}
	}
	if err := other.Unlock(t.Context(), run, false); err != nil {
		t.Fatal(err)
	}
	// A statement that comes when its connection was given up takes the lock once more, for nobody.
	if _, err := m.pool.Exec(t.Context(), `INSERT INTO prloop.run_locks (run, process, taken) VALUES ($1, $2, 1)`, run, m.id); err != nil {
		t.Fatal(err)
	}
	if err := m.Lock(t.Context(), run); err != nil {
		t.Errorf("of a lock that no part of this process has: %v", err)
	}
}
