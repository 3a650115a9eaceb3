// Package enginetest holds what every kind of database has to do under an engine. A test of each kind calls Run.
package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/testkit/eventually"
)

// A Backend is one kind of database.
type Backend struct {
	// New gives the address of a database that nobody has used, for this process and those it starts.
	New func(t *testing.T) string
	// Several is whether several processes may serve one database.
	Several bool
	// Refuse has the database at an address refuse that anything is over, until the function is called.
	Refuse func(t *testing.T, address string) (allow func())
}

// Run does all tests on one kind of database.
func Run(t *testing.T, b Backend) {
	for _, tt := range []struct {
		name string
		fn   func(*testing.T, Backend)
	}{
		{"outcomes", testOutcomes},
		{"refusals", testRefusals},
		{"halted", testHalted},
		{"interrupted", testInterrupted},
		{"one executes", testOneExecutes},
		{"killed at each step", testKilledAtEachStep},
		{"many processes start", testManyProcessesStart},
		{"queues", testQueues},
		{"tasks that were interrupted", testInterruptedTasks},
		{"tasks whose end is refused", testRefusedEnds},
	} {
		t.Run(tt.name, func(t *testing.T) { t.Parallel(); tt.fn(t, b) })
	}
}

const run = "20261120T221500Z_4f1c0a9b8d7e6f50"

func open(t *testing.T, address string, h engine.Handler) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Options{Address: address, Handler: h, Grace: 5 * time.Second})
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

// testOutcomes: what steps and runs answer comes back as it was, the first time, after a halt, and from another engine.
func testOutcomes(t *testing.T, b Backend) {
	removable := errors.New("removable")
	for name, row := range map[string]struct {
		fn   func() ([]byte, error)
		want []byte
		err  string
	}{
		"result": {func() ([]byte, error) { return []byte("{\"a\":\x00\xff}"), nil }, []byte("{\"a\":\x00\xff}"), ""},
		"empty":  {func() ([]byte, error) { return []byte{}, nil }, []byte{}, ""},
		"nil":    {func() ([]byte, error) { return nil, nil }, nil, ""},
		"large":  {func() ([]byte, error) { return bytes.Repeat([]byte("x"), 1<<20), nil }, bytes.Repeat([]byte("x"), 1<<20), ""},
		"error":  {func() ([]byte, error) { return nil, fmt.Errorf("ask: %w", removable) }, nil, "step: ask: removable"},
		"panic":  {func() ([]byte, error) { panic("boom") }, nil, "step: panic: boom"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, address, calls, first := t.Context(), b.New(t), 0, true
			handler := func(ctx context.Context, s *engine.Steps, in []byte) ([]byte, error) {
				out, err := s.Do(ctx, "step", func(context.Context) ([]byte, error) { calls++; return row.fn() })
				if text := fmt.Sprint(err); !bytes.Equal(out, row.want) || (out == nil) != (row.want == nil) || text != row.err && (err != nil || row.err != "") {
					t.Errorf("step: %d bytes, %v; want %d, %s", len(out), err, len(row.want), row.err)
				}
				if first {
					first = false
					return nil, engine.Halt(removable)
				}
				return slices.Concat(in, out), nil
			}
			if _, err := open(t, address, handler).Run(ctx, run, []byte("in ")); !errors.Is(err, removable) || !errors.Is(err, engine.ErrUnfinished) {
				t.Errorf("halted: %v", err)
			}
			e := open(t, address, handler)
			if in, err := e.Input(ctx, run); err != nil || string(in) != "in " {
				t.Errorf("input: %q, %v", in, err)
			}
			want := slices.Concat([]byte("in "), row.want)
			for i, again := range []func() ([]byte, error){
				func() ([]byte, error) { return e.Resume(ctx, run) },
				func() ([]byte, error) { return e.Run(ctx, run, []byte("ignored")) },
				func() ([]byte, error) { return open(t, address, handler).Resume(ctx, run) },
			} {
				if out, err := again(); err != nil || !bytes.Equal(out, want) {
					t.Errorf("%d: %d bytes, %v; want %d", i, len(out), err, len(want))
				}
			}
			if calls != 1 {
				t.Errorf("the step ran %d times", calls)
			}
		})
	}
}

func testRefusals(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	fails := errors.New("own error")
	e := open(t, address, func(context.Context, *engine.Steps, []byte) ([]byte, error) { return nil, fails })
	if _, err := e.Resume(ctx, "unknown"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("an unknown run: %v", err)
	}
	if _, err := e.Input(ctx, "unknown"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("the input of an unknown run: %v", err)
	}
	if alive, err := engine.Executing(address, "unknown"); alive || err != nil {
		t.Errorf("an unknown run is executed: %v, %v", alive, err)
	}
	for _, id := range []string{"", "../x", "a/b", ".hidden", "a\x00"} {
		_, err := e.Run(ctx, id, nil)
		_, asked := engine.Executing(address, id)
		if err == nil || asked == nil {
			t.Errorf("run id %q: %v, %v; want it refused", id, err, asked)
		}
	}
	if _, err := e.Run(ctx, run, nil); !errors.Is(err, fails) {
		t.Errorf("failing: %v", err)
	}
	var stored *engine.RunError
	if _, err := e.Run(ctx, run, nil); !errors.As(err, &stored) || stored.Text != fails.Error() {
		t.Errorf("failed: %v, want its stored error", err)
	}
}

// testHalted: a step that is halted is done again; what was stored beside and before it is not.
func testHalted(t *testing.T, b Backend) {
	denied, allow := errors.New("HTTP 403"), false
	var mu sync.Mutex
	did := map[string]int{}
	e := open(t, b.New(t), func(ctx context.Context, s *engine.Steps, _ []byte) ([]byte, error) {
		do := func(name string) engine.Step {
			return engine.Step{Name: name, Fn: func(context.Context) ([]byte, error) {
				mu.Lock()
				defer mu.Unlock()
				did[name]++
				if name == "post" && !allow {
					return nil, engine.Halt(denied)
				}
				return []byte(name), nil
			}}
		}
		reads, errs := s.All(ctx, []engine.Step{do("r1"), do("r2")})
		post, err := s.Do(ctx, "post", do("post").Fn)
		return slices.Concat(reads[0], reads[1], post), errors.Join(append(errs, err)...)
	})
	if _, err := e.Run(t.Context(), run, nil); !errors.Is(err, denied) || !errors.Is(err, engine.ErrUnfinished) {
		t.Errorf("halted: %v", err)
	}
	allow = true
	if out, err := e.Resume(t.Context(), run); err != nil || string(out) != "r1r2post" {
		t.Errorf("resumed: %q, %v", out, err)
	}
	if did["r1"] != 1 || did["r2"] != 1 || did["post"] != 2 {
		t.Errorf("done: %v", did)
	}
}

// testInterrupted: when the caller's context ends, or the engine closes, running steps end, what they answer is dropped, and the
// run can be gone on with.
func testInterrupted(t *testing.T, b Backend) {
	why, address := errors.New("Ctrl-C"), b.New(t)
	running := make(chan struct{}, 1)
	handler := func(ctx context.Context, s *engine.Steps, in []byte) ([]byte, error) {
		return s.Do(ctx, "slow", func(ctx context.Context) ([]byte, error) {
			running <- struct{}{}
			<-ctx.Done()
			return []byte("cancelled, dressed up as a result"), nil
		})
	}
	e := open(t, address, handler)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-running; cancel(why) }()
	if _, err := e.Run(ctx, run, nil); !errors.Is(err, engine.ErrUnfinished) || !errors.Is(err, why) {
		t.Errorf("interrupted: %v", err)
	}
	closed := make(chan error, 1)
	go func() { <-running; closed <- e.Close(context.Background()) }()
	if _, err := e.Resume(t.Context(), run); !errors.Is(err, engine.ErrUnfinished) || !errors.Is(err, engine.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	must(t, <-closed)
	out, err := open(t, address, func(ctx context.Context, s *engine.Steps, _ []byte) ([]byte, error) {
		return s.Do(ctx, "slow", func(context.Context) ([]byte, error) { return []byte("done"), nil })
	}).Resume(t.Context(), run)
	if err != nil || string(out) != "done" {
		t.Errorf("gone on with: %q, %v", out, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testOneExecutes: a run that is executed is left alone by other calls, engines and processes, and seen by them.
func testOneExecutes(t *testing.T, b Backend) {
	address := b.New(t)
	started, finish := make(chan struct{}), make(chan struct{})
	first := open(t, address, func(ctx context.Context, s *engine.Steps, _ []byte) ([]byte, error) {
		return s.Do(ctx, "slow", func(context.Context) ([]byte, error) {
			close(started) // a second time it panics
			<-finish
			return []byte("first"), nil
		})
	})
	result := make(chan string, 1)
	go func() {
		out, err := first.Run(context.Background(), run, nil)
		result <- fmt.Sprint(string(out), err)
	}()
	<-started
	second := open(t, address, func(context.Context, *engine.Steps, []byte) ([]byte, error) { return []byte("other"), nil })
	if out, err := second.Run(t.Context(), "another-run", nil); err != nil || string(out) != "other" {
		t.Errorf("another run beside it: %q, %v", out, err)
	}
	for name, e := range map[string]*engine.Engine{"the same engine": first, "another engine": second} {
		if _, err := e.Resume(t.Context(), run); !errors.Is(err, engine.ErrBusy) {
			t.Errorf("%s: %v, want ErrBusy", name, err)
		}
	}
	if out, err := process(t, address, "", nil); err != nil || out != "busy" {
		t.Errorf("another process: %q, %v; want that it is busy", out, err)
	}
	if alive, err := engine.Executing(address, run); !alive || err != nil {
		t.Errorf("it is executed: %v, %v", alive, err)
	}
	close(finish)
	if got := <-result; got != "first<nil>" {
		t.Errorf("the first: %s", got)
	}
	if alive, err := engine.Executing(address, run); alive || err != nil {
		t.Errorf("it is executed afterwards: %v, %v", alive, err)
	}
}

// The variables by which the test binary is another process.
const (
	envAddress = "ENGINETEST_ADDRESS"
	envKill    = "ENGINETEST_KILL"
)

// process starts the test binary as another process that does the journey and kills itself in a step; each step it does is told.
func process(t *testing.T, address, kill string, did func(string)) (string, error) {
	var out string
	res, err := proc.Run(t.Context(), proc.Spec{Path: os.Args[0], Direct: true, Timeout: 2 * time.Minute,
		Env: append(os.Environ(), envAddress+"="+address, envKill+"="+kill),
		OnLine: func(b []byte) {
			if step, ok := strings.CutPrefix(string(b), "did "); !ok {
				out = string(b)
			} else if did != nil {
				did(step)
			}
		}})
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, res.StderrTail)
	}
	return out, err
}

// Main plays the other process, if this one was started as such, and ends. TestMain calls it first.
func Main() {
	address := os.Getenv(envAddress)
	if address == "" {
		return
	}
	if err := journey(address, os.Getenv(envKill)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// journey is a run of the usual shape: one step, two at the same time, one step.
func journey(address, kill string) error {
	ctx := context.Background()
	step := func(name string) engine.Step {
		return engine.Step{Name: name, Fn: func(context.Context) ([]byte, error) {
			if name == kill {
				self, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = self.Kill()
				}
				time.Sleep(time.Minute)
				return nil, err
			}
			fmt.Println("did " + name)
			return []byte(name), nil
		}}
	}
	e, err := engine.Open(ctx, engine.Options{Address: address, Handler: func(ctx context.Context, s *engine.Steps, in []byte) ([]byte, error) {
		var all []byte
		for _, steps := range [][]engine.Step{{step("snapshot")}, {step("r1"), step("r2")}, {step("post")}} {
			outs, errs := s.All(ctx, steps)
			if err := errors.Join(errs...); err != nil {
				return nil, err
			}
			all = slices.Concat(all, slices.Concat(outs...))
		}
		return slices.Concat(in, all), nil
	}})
	if err != nil {
		return err
	}
	defer e.Close(ctx) //nolint:errcheck // it ends
	out, err := e.Run(ctx, run, []byte("in "))
	if errors.Is(err, engine.ErrBusy) {
		out, err = []byte("busy"), nil
	}
	fmt.Println(string(out))
	return err
}

// testKilledAtEachStep: a process that is killed is followed by one that uses what was stored.
func testKilledAtEachStep(t *testing.T, b Backend) {
	address := b.New(t)
	var mu sync.Mutex
	did := map[string]int{}
	note := func(step string) {
		mu.Lock()
		defer mu.Unlock()
		did[step]++
	}
	for _, at := range []string{"snapshot", "r1", "post"} {
		_, err := process(t, address, at, note)
		var ended *proc.ExitError
		if !errors.As(err, &ended) || ended.Signal != "killed" {
			t.Fatalf("in %s: %v, want that it was killed", at, err)
		}
		// What the kernel gives back may take a moment.
		eventually.True(t, "the run not to be executed", func() bool {
			alive, err := engine.Executing(address, run)
			return err == nil && !alive
		})
	}
	out, err := process(t, address, "", note)
	if err != nil || out != "in snapshotr1r2post" {
		t.Errorf("gone on with: %q, %v", out, err)
	}
	// r2 may or may not have been stored when its neighbour was killed; what came before was.
	if did["snapshot"] != 1 || did["r1"] != 1 || did["r2"] < 1 || did["r2"] > 2 || did["post"] != 1 {
		t.Errorf("done: %v", did)
	}
	if out, err := process(t, address, "snapshot", note); err != nil || out != "in snapshotr1r2post" {
		t.Errorf("once more: %q, %v; want the stored result", out, err)
	}
}

// testManyProcessesStart: processes that make the same new database and do the same run do each step once (threats.md K31).
func testManyProcessesStart(t *testing.T, b Backend) {
	address := b.New(t)
	var mu sync.Mutex
	did := map[string]int{}
	outs := make([]string, 5)
	var wg sync.WaitGroup
	for i := range outs {
		wg.Go(func() {
			var err error
			outs[i], err = process(t, address, "", func(step string) {
				mu.Lock()
				defer mu.Unlock()
				did[step]++
			})
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	for _, out := range outs {
		if out != "busy" && out != "in snapshotr1r2post" {
			t.Errorf("a process said %q", out)
		}
	}
	for _, step := range []string{"snapshot", "r1", "r2", "post"} {
		if did[step] != 1 {
			t.Errorf("%s was done %d times", step, did[step])
		}
	}
}
