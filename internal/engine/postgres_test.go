//go:build unix

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/postgres"
)

// The variables by which the test binary is a worker that does one run.
const (
	envWorker = "ENGINE_TEST_WORKER"
	envGo     = "ENGINE_TEST_GO"
)

// crew is a run of five reviewers and a post. Those whose names are in wait answer when the file is there.
func crew(who, wait, file string, did func(string)) engine.Handler {
	return func(ctx context.Context, s *engine.Steps, _ []byte) ([]byte, error) {
		var reviewers []engine.Step
		for i := range 5 {
			name := fmt.Sprintf("reviewer-%d", i)
			reviewers = append(reviewers, engine.Step{Name: name, Fn: func(ctx context.Context) ([]byte, error) {
				did(name)
				for strings.Contains(wait, name) {
					if _, err := os.Stat(file); err == nil {
						break
					}
					time.Sleep(time.Millisecond)
				}
				return []byte(who + " "), nil
			}})
		}
		outs, errs := s.All(ctx, reviewers)
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		post, err := s.Do(ctx, "post", func(context.Context) ([]byte, error) { did("post"); return []byte(who), nil })
		return append([]byte(strings.Join([]string{string(outs[0]), string(outs[1]), string(outs[2]), string(outs[3]), string(outs[4])}, "")), post...), err
	}
}

// worker plays the process that is stopped or killed.
func worker() {
	address := os.Getenv(envWorker)
	if address == "" {
		return
	}
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Options{Address: address, Handler: crew("first", "reviewer-3 reviewer-4", os.Getenv(envGo), func(step string) { fmt.Println(step) })})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("pid", os.Getpid())
	_, err = e.Run(ctx, "run", nil)
	fmt.Println("ended", errors.Is(err, engine.ErrUnfinished), err)
	e.Close(ctx)
	os.Exit(0)
}

// first is such a process.
type first struct {
	pid   int
	ended chan error

	mu    sync.Mutex
	lines []string
}

func (f *first) said() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.lines, "\n") + "\n"
}

// begin starts one, and waits until three of its reviewers have answered and two are at work.
func begin(t *testing.T, address, file string) *first {
	t.Helper()
	f := &first{ended: make(chan error, 1)}
	go func() {
		res, err := proc.Run(t.Context(), proc.Spec{Path: os.Args[0], Direct: true, Timeout: 2 * time.Minute,
			Env: append(os.Environ(), envWorker+"="+address, envGo+"="+file), OnLine: func(b []byte) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.lines = append(f.lines, string(b))
			}})
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, res.StderrTail)
		}
		f.ended <- err
	}()
	eventually.True(t, "three answers and two questions", func() bool {
		said := f.said()
		return strings.Contains(said, "reviewer-3") && strings.Contains(said, "reviewer-4") &&
			postgres.SQL(t, address, "SELECT count(*) FROM information_schema.tables WHERE table_name = 'operation_outputs'") == "1" &&
			postgres.SQL(t, address, "SELECT count(*) FROM dbos.operation_outputs") == "3"
	})
	_, rest, _ := strings.Cut(f.said(), "pid ")
	var err error
	if f.pid, err = strconv.Atoi(strings.Fields(rest + " 0")[0]); err != nil || f.pid == 0 {
		t.Fatal(f.said(), err)
	}
	return f
}

// takeOver opens an engine that goes on with the run once its process counts as gone.
func takeOver(t *testing.T, address string) {
	t.Helper()
	var mu sync.Mutex
	did := map[string]int{}
	e, err := engine.Open(t.Context(), engine.Options{Address: address, Handler: crew("second", "", "", func(step string) {
		mu.Lock()
		defer mu.Unlock()
		did[step]++
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.WithoutCancel(t.Context()))
	if _, err := e.Resume(t.Context(), "run"); !errors.Is(err, engine.ErrBusy) {
		t.Errorf("before its lease is over: %v, want ErrBusy", err)
	}
	eventually.True(t, "the run to be an orphan", func() bool {
		ids, err := e.Orphans(t.Context())
		if err != nil {
			t.Error(err)
		}
		return len(ids) == 1 && ids[0] == "run"
	})
	out, err := e.Resume(t.Context(), "run")
	if err != nil || string(out) != "first first first second second second" {
		t.Errorf("gone on with: %q, %v", out, err)
	}
	if len(did) != 3 || did["reviewer-3"] != 1 || did["reviewer-4"] != 1 || did["post"] != 1 {
		t.Errorf("asked again: %v, want those that had not answered", did)
	}
	if ids, err := e.Orphans(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("orphans at the end: %v, %v", ids, err)
	}
}

// threats.md T93, T195: a process that is stopped for longer than its lease wakes while another has gone on with its run. Two of its
// reviewers answer then: it stores neither of them and posts nothing.
func TestStoppedProcessWritesNothing(t *testing.T) {
	address, file := postgres.New(t)+"&prloop_lease=2s", t.TempDir()+"/go"
	f := begin(t, address, file)
	if err := syscall.Kill(f.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	takeOver(t, address)
	dump := func() string {
		return postgres.SQL(t, address, "SELECT * FROM dbos.operation_outputs ORDER BY function_id") + postgres.SQL(t, address, "SELECT workflow_uuid, status, output, executor_id FROM dbos.workflow_status")
	}
	before := dump()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(f.pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := <-f.ended; err != nil {
		t.Error(err)
	}
	if said := f.said(); strings.Contains(said, "post") || !strings.Contains(said, "ended") {
		t.Errorf("it said:\n%s", said)
	}
	if after := dump(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// A process is killed while two of five reviewers are at work: another asks these two and no other.
func TestKilledAmongReviewers(t *testing.T) {
	address := postgres.New(t) + "&prloop_lease=2s"
	f := begin(t, address, "")
	if err := syscall.Kill(f.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-f.ended
	takeOver(t, address)
}

// What a process leaves when it is told to end is free at once.
func TestHandedOver(t *testing.T) {
	address, ctx := postgres.New(t), t.Context()
	running := make(chan struct{}, 1)
	open := func(handOver bool) *engine.Engine {
		e, err := engine.Open(ctx, engine.Options{Address: address, HandOver: handOver, Handler: func(ctx context.Context, s *engine.Steps, _ []byte) ([]byte, error) {
			return s.Do(ctx, "slow", func(ctx context.Context) ([]byte, error) {
				running <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			})
		}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	other := open(false)
	defer other.Close(context.WithoutCancel(ctx))
	for _, handOver := range []bool{true, false} {
		e, id, ended := open(handOver), fmt.Sprint("run-", handOver), make(chan error, 1)
		go func() { _, err := e.Run(context.WithoutCancel(ctx), id, nil); ended <- err }()
		<-running
		if err := e.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, engine.ErrUnfinished) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if ids, err := other.Orphans(ctx); err != nil || len(ids) != 1 || ids[0] != "run-true" {
		t.Errorf("orphans: %v, %v; want the one that was handed over", ids, err)
	}
}

// A task of a process that is killed is dropped once it counts as dead, and may be added again; that of one that lives is left alone.
func TestTasksOfTheDead(t *testing.T) {
	address, ctx := postgres.New(t)+"&prloop_lease=2s", t.Context()
	open := func() *engine.Engine {
		e, err := engine.Open(ctx, engine.Options{Address: address, Handler: func(context.Context, *engine.Steps, []byte) ([]byte, error) { return nil, nil }})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	defer e.Close(context.WithoutCancel(ctx))
	begun := make(chan string, 10)
	w, err := e.Serve(ctx, engine.Queue{Name: "q", Workers: 1, Work: func(ctx context.Context, key string) error {
		begun <- key
		if key == "mine" {
			<-ctx.Done()
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := e.Add(ctx, engine.Task{Queue: "q", Key: "mine"}); err != nil {
		t.Fatal(err)
	}
	<-begun
	// What a process leaves that is killed: a task at work, of an executor whose process is no more.
	if _, err := e.Add(ctx, engine.Task{Queue: "q", Key: "theirs"}); err != nil {
		t.Fatal(err)
	}
	postgres.SQL(t, address, `UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = 'gone-1-x/y' WHERE deduplication_id = 'theirs'`)
	if keys, err := w.Reap(ctx, "of others"); err != nil || len(keys) != 0 {
		t.Errorf("reaped in another queue: %v, %v", keys, err)
	}
	if keys, err := w.Reap(ctx, "q"); err != nil || len(keys) != 1 || keys[0] != "theirs" {
		t.Errorf("reaped: %v, %v", keys, err)
	}
	if keys, err := w.Reap(ctx, "q"); err != nil || len(keys) != 0 {
		t.Errorf("reaped again: %v, %v", keys, err)
	}
	if added, err := e.Add(ctx, engine.Task{Queue: "q", Key: "mine"}); err != nil || added {
		t.Errorf("what is being done was added: %v, %v", added, err)
	}
	if added, err := e.Add(ctx, engine.Task{Queue: "q", Key: "theirs"}); err != nil || !added {
		t.Errorf("added again: %v, %v", added, err)
	}
	if keys := w.Close(); len(keys) != 1 || keys[0] != "mine" {
		t.Errorf("dropped at the end: %v", keys)
	}
}
