package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/testkit/eventually"
)

func nothing(context.Context, *engine.Steps, []byte) ([]byte, error) { return nil, nil }

// testQueues: tasks come by priority, one of a key at a time, and no more at once than there are workers.
func testQueues(t *testing.T, b Backend) {
	e := open(t, b.New(t), nothing)
	var mu sync.Mutex
	var order []string
	working, most := 0, 0
	gate := make(chan struct{})
	work := func(ctx context.Context, key string) error {
		mu.Lock()
		order, working = append(order, key), working+1
		most = max(most, working)
		mu.Unlock()
		defer func() { mu.Lock(); working--; mu.Unlock() }()
		select {
		case <-gate:
		case <-ctx.Done():
		}
		if key == "bad" {
			panic("a task may break")
		}
		return nil
	}
	add := func(key string, priority uint, want bool) {
		t.Helper()
		if added, err := e.Add(t.Context(), engine.Task{Queue: "q", Key: key, Priority: priority}); err != nil || added != want {
			t.Fatalf("add %s: %v, %v; want %v", key, added, err, want)
		}
	}
	add("late", 9, true)
	add("bad", 1, true)
	add("second", 2, true)
	add("late", 1, false) // it waits already
	if _, err := e.Add(t.Context(), engine.Task{Queue: "q", Key: "settling", Priority: 1, Delay: time.Hour}); err != nil {
		t.Fatal(err)
	}
	w, err := e.Serve(t.Context(), engine.Queue{Name: "q", Workers: 1, Work: work}, engine.Queue{Name: "r", Workers: 1, Work: work})
	if err != nil {
		t.Fatal(err)
	}
	if !b.Several {
		if _, err := e.Serve(t.Context(), engine.Queue{Name: "q", Workers: 1, Work: work}); !errors.Is(err, engine.ErrServed) {
			t.Errorf("a second process serves: %v", err)
		}
	}
	states := func() (out []string) {
		tasks, err := e.Tasks(t.Context(), "q", "r")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range tasks {
			out = append(out, fmt.Sprintf("%s %s %d", p.Key, p.State, p.Priority))
		}
		slices.Sort(out)
		return out
	}
	want := []string{"bad working 1", "late waiting 9", "second waiting 2", "settling delayed 1"}
	eventually.True(t, "the queue to be as expected", func() bool { return slices.Equal(states(), want) })
	add("bad", 1, false) // it is being done
	close(gate)
	eventually.True(t, "the queue to be as expected", func() bool { return slices.Equal(states(), []string{"settling delayed 1"}) })
	mu.Lock()
	if !slices.Equal(order, []string{"bad", "second", "late"}) || most != 1 {
		t.Errorf("order %v, %d at once", order, most)
	}
	mu.Unlock()
	add("late", 9, true) // done, so it may come again
	eventually.True(t, "the queue to be as expected", func() bool { return len(states()) == 1 })
	w.Close()
	if err := e.ForgetTasks(t.Context()); err != nil {
		t.Error(err)
	}
}

// testInterruptedTasks: a task that was interrupted is dropped, one that waits stays, and the next process that serves does it.
func testInterruptedTasks(t *testing.T, b Backend) {
	e := open(t, b.New(t), nothing)
	begun, done := make(chan string, 10), make(chan string, 10)
	w, err := e.Serve(t.Context(), engine.Queue{Name: "q", Workers: 1, Work: func(ctx context.Context, key string) error {
		begun <- key
		<-ctx.Done()
		return nil // dressed up as done
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"interrupted", "waiting"} {
		if _, err := e.Add(t.Context(), engine.Task{Queue: "q", Key: key, Priority: uint(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-begun; got != "interrupted" {
		t.Fatalf("%s began", got)
	}
	w.Close()
	tasks, err := e.Tasks(t.Context(), "q")
	if err != nil || len(tasks) != 1 || tasks[0].Key != "waiting" {
		t.Fatalf("left: %+v, %v", tasks, err)
	}
	if w, err = e.Serve(t.Context(), engine.Queue{Name: "q", Workers: 1, Work: func(_ context.Context, key string) error { done <- key; return nil }}); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if got := <-done; got != "waiting" {
		t.Errorf("%s was done", got)
	}
	if added, err := e.Add(t.Context(), engine.Task{Queue: "q", Key: "interrupted"}); err != nil || !added {
		t.Errorf("added again: %v, %v", added, err)
	}
	if got := <-done; got != "interrupted" {
		t.Errorf("%s was done", got)
	}
}

// testRefusedEnds: a task is dropped whose end the database did not take, and one that is being done is not (threats.md T687).
func testRefusedEnds(t *testing.T, b Backend) {
	address := b.New(t)
	e := open(t, address, nothing)
	done := make(chan string, 10)
	w, err := e.Serve(t.Context(), engine.Queue{Name: "q", Workers: 2, Work: func(ctx context.Context, key string) error {
		done <- key
		if key == "long" {
			<-ctx.Done()
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	add := func(key string, want bool) {
		t.Helper()
		if added, err := e.Add(t.Context(), engine.Task{Queue: "q", Key: key}); err != nil || added != want {
			t.Fatalf("add %s: %v, %v; want %v", key, added, err, want)
		}
	}
	add("long", true)
	<-done
	allow := b.Refuse(t, address)
	add("short", true)
	<-done
	for range 2 { // the second time it has been seen already, but not for long
		if keys, err := w.Stale(t.Context()); err != nil || len(keys) != 0 {
			t.Errorf("dropped at once: %v, %v", keys, err)
		}
	}
	add("short", false)
	eventually.True(t, "what is over to be dropped", func() bool {
		keys, err := w.Stale(t.Context())
		if err != nil || len(keys) > 0 && !slices.Equal(keys, []string{"short"}) {
			t.Errorf("dropped: %v, %v", keys, err)
		}
		return len(keys) > 0
	})
	allow()
	add("short", true)
	if got := <-done; got != "short" {
		t.Errorf("%s was done", got)
	}
	add("long", false)
}
