//go:build unix

package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// fillDisk makes every later write of this process to a file fail, as on a full disk.
func fillDisk() {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &l); err != nil {
		panic(err)
	}
	l.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &l); err != nil {
		panic(err)
	}
}

// A full disk (threats.md T97). The run stops, says so, and continues when there is space.
func TestFullDiskStopsTheRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	_, err := start(t, path, "between", "ENGINE_TEST_FULL=1")
	if ee := (*exec.ExitError)(nil); !errors.As(err, &ee) || ee.ExitCode() != 75 {
		t.Fatalf("run on a full disk: %v, want it unfinished", err)
	}
	out, err := start(t, path, "")
	if err != nil || string(out) != "snapshot r1+r2+r3 post" {
		t.Errorf("resumed = %q, %v", out, err)
	}
	did := notes(t, path+".did")
	if n := len(slices.DeleteFunc(slices.Clone(did), func(s string) bool { return s != "snapshot" })); n != 1 {
		t.Errorf("steps done = %v, want the stored step once", did)
	}
}

// The result of a handler that cannot be stored is not a result.
func TestFullDiskAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	_, err := start(t, path, "end", "ENGINE_TEST_FULL=1")
	if ee := (*exec.ExitError)(nil); !errors.As(err, &ee) || ee.ExitCode() != 75 {
		t.Fatalf("run on a full disk: %v, want it unfinished", err)
	}
	if out, err := start(t, path, ""); err != nil || string(out) != "snapshot r1+r2+r3 post" {
		t.Errorf("resumed = %q, %v", out, err)
	}
}

// threats.md K31: several processes make the same new database.
func TestManyProcessesStartAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	var wg sync.WaitGroup
	ok := make([]bool, 6)
	for i := range ok {
		wg.Go(func() {
			_, err := start(t, path, "")
			ok[i] = err == nil
		})
	}
	wg.Wait()
	// One does the run; the others find it done or busy. None may fail otherwise, and no step runs twice.
	if !slices.Contains(ok, true) {
		t.Error("no process could do the run")
	}
	did := notes(t, path+".did")
	slices.Sort(did)
	if want := []string{"post", "r1", "r2", "r3", "snapshot"}; !slices.Equal(did, want) {
		t.Errorf("steps done = %v, want %v", did, want)
	}
	for name, mode := range map[string]os.FileMode{path: 0o600, path + ".locks": os.ModeDir | 0o700} {
		if fi, err := os.Stat(name); err != nil || fi.Mode() != mode {
			t.Errorf("%s: mode %v, %v; want %v", name, fi.Mode(), err, mode)
		}
	}
	if left, err := os.ReadDir(path + ".locks"); err != nil || len(left) != 0 {
		t.Errorf("locks left behind: %v, %v", left, err)
	}
}

// A run whose steps come in another order is refused instead of waiting for ever.
func TestOtherVersionIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	e := open(t, path, func(context.Context, *Steps, []byte) ([]byte, error) { return nil, nil })
	if _, err := dbos.Enqueue[[]byte](e.client, queueOf(runID), kind, []byte{}, dbos.WithEnqueueWorkflowID(runID),
		dbos.WithEnqueueApplicationVersion("0")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Resume(t.Context(), runID); !errors.Is(err, ErrVersion) {
		t.Errorf("resume: %v, want ErrVersion", err)
	}
}

// A handler that asks for other steps than it did before is stopped, and nothing of it is recorded.
func TestChangedStepsStopTheRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	name, later := "one", errors.New("later")
	e := open(t, path, func(ctx context.Context, s *Steps, _ []byte) ([]byte, error) {
		if _, err := s.Do(ctx, name, func(context.Context) ([]byte, error) { return nil, nil }); err != nil {
			return nil, err
		}
		return nil, Halt(later)
	})
	if _, err := e.Run(t.Context(), runID, nil); !errors.Is(err, later) {
		t.Fatal(err)
	}
	name = "two"
	if _, err := e.Resume(t.Context(), runID); !errors.Is(err, ErrUnfinished) || !errors.Is(err, ErrVersion) {
		t.Errorf("changed step: %v", err)
	}
	name = "one"
	if _, err := e.Resume(t.Context(), runID); !errors.Is(err, later) {
		t.Errorf("back to the first name: %v, want to go on", err)
	}
}

// Killed between queueing a run and starting it: the run waits for whoever asks for it, and no other process takes it.
func TestQueuedRunIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	var ran []string
	e := open(t, path, func(ctx context.Context, s *Steps, in []byte) ([]byte, error) {
		ran = append(ran, string(in))
		return s.Do(ctx, "look around", func(context.Context) ([]byte, error) {
			time.Sleep(300 * time.Millisecond) // long enough to start what stands in any queue listened to, which takes 10 ms
			return nil, nil
		})
	})
	if _, err := dbos.RegisterQueue(e.client, queueOf(runID)); err != nil {
		t.Fatal(err)
	}
	if _, err := dbos.Enqueue[[]byte](e.client, queueOf(runID), kind, []byte("queued"), dbos.WithEnqueueWorkflowID(runID)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "another-run", []byte("another")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), runID, []byte("ignored")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"another", "queued"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	if q, err := dbos.ListQueues(e.client); err != nil || len(q) != 0 {
		t.Errorf("queues left behind: %v, %v", q, err)
	}
}
