//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/prloop/prloop/internal/filelock"
)

const runID = "20261120T221500Z_4f1c0a9b8d7e6f50"

// Child plays the child process of the kill tests, if this one was started as such, and ends: it does the run runID of the database
// named by the environment and kills itself where it is told to.
func Child() {
	if path := os.Getenv("ENGINE_TEST_DB"); path != "" {
		os.Exit(child(path, os.Getenv("ENGINE_TEST_KILL")))
	}
}

func child(path, killIn string) int {
	ctx := context.Background()
	var e *Engine
	e, err := Open(ctx, Options{Address: path, Handler: func(ctx context.Context, s *Steps, in []byte) ([]byte, error) {
		return journey(ctx, s, path+".did", func(step string) {
			if step != killIn {
				return
			}
			if os.Getenv("ENGINE_TEST_FULL") != "" {
				fillDisk()
				return
			}
			if step == "r3" { // the two beside it are to be stored already
				waitStored(e, "r1", "r2")
			}
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		})
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer e.Close(ctx)
	start := time.Now()
	out, err := e.Run(ctx, runID, []byte("in"))
	if errors.Is(err, ErrUnfinished) {
		fmt.Fprintln(os.Stderr, err)
		return 75
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "ran in %v\n", time.Since(start).Round(time.Millisecond))
	fmt.Print(string(out))
	return 0
}

// journey is a run of the usual shape: one step, three at the same time, one step. Each step notes in a file that it was
// done, after the hook.
func journey(ctx context.Context, s *Steps, did string, hook func(step string)) ([]byte, error) {
	do := func(name string) func(context.Context) ([]byte, error) {
		return func(context.Context) ([]byte, error) {
			hook(name)
			return []byte(name), note(did, name)
		}
	}
	a, err := s.Do(ctx, "snapshot", do("snapshot"))
	if err != nil {
		return nil, err
	}
	hook("between")
	outs, errs := s.All(ctx, []Step{{"r1", do("r1")}, {"r2", do("r2")}, {"r3", do("r3")}})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	b, err := s.Do(ctx, "post", do("post"))
	if err != nil {
		return nil, err
	}
	hook("end")
	return []byte(fmt.Sprintf("%s %s %s", a, strings.Join([]string{string(outs[0]), string(outs[1]), string(outs[2])}, "+"), b)), nil
}

func note(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, line)
	return err
}

func notes(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

// waitStored waits until the named steps of runID are stored.
func waitStored(e *Engine, names ...string) {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		steps, err := dbos.GetWorkflowSteps(e.client, runID)
		if err != nil {
			continue
		}
		stored := map[string]bool{}
		for _, s := range steps {
			stored[s.StepName] = true
		}
		if !slices.ContainsFunc(names, func(n string) bool { return !stored[n] }) {
			return
		}
	}
}

func open(t *testing.T, path string, h Handler) *Engine {
	t.Helper()
	e, err := Open(t.Context(), Options{Address: path, Handler: h, Grace: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

func start(t *testing.T, path, killIn string, env ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "ENGINE_TEST_DB="+path, "ENGINE_TEST_KILL="+killIn), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	t.Logf("child killed in %q: %v %s", killIn, err, stderr.String())
	return out, err
}

// threats.md K07-K10, K16: a process killed anywhere is followed by one that reuses what was stored.
func TestKilledRunContinues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "prloop.db")
	for _, at := range []string{"snapshot", "between", "r3", "post", "end"} {
		if _, err := start(t, path, at); err == nil {
			t.Fatalf("child was not killed in %s", at)
		}
	}
	out, err := start(t, path, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := "snapshot r1+r2+r3 post"; string(out) != want {
		t.Errorf("result = %q, want %q", out, want)
	}
	// Everything that had finished was stored before the kill, so nothing was done twice.
	got := notes(t, path+".did")
	slices.Sort(got)
	if want := []string{"post", "r1", "r2", "r3", "snapshot"}; !slices.Equal(got, want) {
		t.Errorf("steps done = %v, want each once: %v", got, want)
	}
	// A finished run gives its stored result; nothing runs.
	again, err := start(t, path, "snapshot")
	if err != nil || string(again) != string(out) {
		t.Errorf("run again = %q, %v; want the stored result", again, err)
	}
}

// Two prloop processes on one file: the second neither takes over nor disturbs the first's run.
func TestLiveRunIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	started, finish := make(chan struct{}), make(chan struct{})
	first := open(t, path, func(ctx context.Context, s *Steps, _ []byte) ([]byte, error) {
		return s.Do(ctx, "slow", func(context.Context) ([]byte, error) {
			close(started)
			<-finish
			return []byte("first"), note(path+".did", "slow")
		})
	})
	result := make(chan string, 1)
	go func() {
		out, err := first.Run(context.Background(), runID, nil)
		result <- fmt.Sprint(string(out), err)
	}()
	<-started
	before, _, err := first.lookup(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}

	second := open(t, path, func(context.Context, *Steps, []byte) ([]byte, error) { return []byte("other"), nil })
	if out, err := second.Run(t.Context(), "another-run", nil); err != nil || string(out) != "other" {
		t.Errorf("another run beside it = %q, %v", out, err)
	}
	for name, f := range map[string]func() ([]byte, error){
		"resume in another engine": func() ([]byte, error) { return second.Resume(t.Context(), runID) },
		"run in another engine":    func() ([]byte, error) { return second.Run(t.Context(), runID, nil) },
		"resume in the same one":   func() ([]byte, error) { return first.Resume(t.Context(), runID) },
	} {
		if _, err := f(); !errors.Is(err, ErrBusy) {
			t.Errorf("%s: err = %v, want ErrBusy", name, err)
		}
	}
	if out, err := start(t, path, ""); err == nil {
		t.Errorf("another process executed a live run: %s", out)
	}
	if after, _, err := second.lookup(t.Context(), runID); err != nil || after.Status != before.Status ||
		after.Attempts != before.Attempts || after.UpdatedAt != before.UpdatedAt {
		t.Errorf("the live run's row changed from %+v to %+v, %v", before, after, err)
	}
	close(finish)
	if got := <-result; got != "first<nil>" {
		t.Errorf("first run = %s", got)
	}
	if did := notes(t, path+".did"); !slices.Equal(did, []string{"slow"}) {
		t.Errorf("steps done = %v, want one", did)
	}
}

// Ctrl-C: the running steps' contexts end at once, what they answer is dropped, and the run can be continued.
func TestCancelLeavesRunResumable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	why := errors.New("a person pressed Ctrl-C")
	running := make(chan struct{}, 2)
	block := true
	var seen error
	var took time.Duration
	var cancelled time.Time
	handler := func(ctx context.Context, s *Steps, _ []byte) ([]byte, error) {
		outs, errs := s.All(ctx, []Step{
			{"quick", func(context.Context) ([]byte, error) { return []byte("q"), note(path+".did", "quick") }},
			{"slow", func(ctx context.Context) ([]byte, error) {
				if block {
					running <- struct{}{}
					<-ctx.Done()
					took, seen = time.Since(cancelled), context.Cause(ctx)
					return []byte("cancelled, dressed up as a result"), nil
				}
				return []byte("s"), note(path+".did", "slow")
			}},
		})
		if errors.Is(errors.Join(errs...), ErrUnfinished) {
			return []byte("half"), nil // a handler that swallows the interruption must not end the run
		}
		return slices.Concat(outs...), errors.Join(errs...)
	}
	e := open(t, path, handler)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-running
		waitStored(e, "quick")
		cancelled = time.Now()
		cancel(why)
	}()
	_, err := e.Run(ctx, runID, nil)
	if !errors.Is(err, ErrUnfinished) || !errors.Is(err, why) {
		t.Fatalf("cancelled run: err = %v, want unfinished because of %v", err, why)
	}
	if seen != why || took > time.Second {
		t.Errorf("step saw %v after %v, want %v at once", seen, took, why)
	}
	t.Logf("step saw the cancellation after %v, run returned after %v", took, time.Since(cancelled))
	if w, ok, err := e.lookup(t.Context(), runID); err != nil || !ok || !pending(w.Status) {
		t.Errorf("stored is %+v, %v; want a pending run", w, err)
	}
	block = false
	out, err := e.Resume(t.Context(), runID)
	if err != nil || string(out) != "qs" {
		t.Errorf("resumed = %q, %v; want qs", out, err)
	}
	if did := notes(t, path+".did"); !slices.Equal(did, []string{"quick", "slow"}) {
		t.Errorf("steps done = %v, want quick once, then slow", did)
	}
}

// Closing the engine interrupts as Ctrl-C does.
func TestCloseInterrupts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	running := make(chan struct{})
	e := open(t, path, func(ctx context.Context, s *Steps, _ []byte) ([]byte, error) {
		return s.Do(ctx, "slow", func(ctx context.Context) ([]byte, error) {
			close(running)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	})
	result := make(chan error, 1)
	go func() { _, err := e.Run(context.Background(), runID, nil); result <- err }()
	<-running
	if err := e.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-result; !errors.Is(err, ErrUnfinished) || !errors.Is(err, ErrClosed) {
		t.Errorf("run of a closed engine: %v, want unfinished and closed", err)
	}
	if _, err := open(t, path, func(context.Context, *Steps, []byte) ([]byte, error) { return []byte("ok"), nil }).Resume(t.Context(), runID); err != nil {
		t.Errorf("resume after close: %v", err)
	}
}

// The lock of a killed process may be held a moment longer by a child that it was about to start.
func TestLockOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prloop.db")
	e := open(t, path, func(context.Context, *Steps, []byte) ([]byte, error) { return []byte("done"), nil })
	dying, err := filelock.TryFile(sqliteFile{path}.lockOf(runID))
	if err != nil {
		t.Fatal(err)
	}
	if alive, err := Executing(path, runID); !alive || err != nil {
		t.Errorf("with its lock held a run is executed: %v, %v", alive, err)
	}
	time.AfterFunc(filelock.Patience/4, func() { dying.Close() }) // the kernel leaves the file
	if out, err := e.Run(t.Context(), runID, nil); err != nil || string(out) != "done" {
		t.Errorf("the run is gone on with: %q, %v", out, err)
	}
	for _, id := range []string{runID, "never"} {
		if alive, err := Executing(path, id); alive || err != nil {
			t.Errorf("%s is executed afterwards: %v, %v", id, alive, err)
		}
	}
}
