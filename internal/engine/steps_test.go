//go:build unix

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// What steps and handlers answer comes back as it was, the first time and when it is replayed.
func TestOutcomes(t *testing.T) {
	big := bytes.Repeat([]byte("8 MB of a reviewer's answer, \x00\xff too "), 8<<20/37)
	custom := errors.New("own error")
	tests := []struct {
		name    string
		fn      func(context.Context) ([]byte, error)
		want    []byte
		wantErr string
	}{
		{"a result comes back", func(context.Context) ([]byte, error) { return []byte(`{"a":1}`), nil }, []byte(`{"a":1}`), ""},
		{"an empty result is not nil", func(context.Context) ([]byte, error) { return []byte{}, nil }, []byte{}, ""},
		{"nil stays nil", func(context.Context) ([]byte, error) { return nil, nil }, nil, ""},
		{"8 MB come back", func(context.Context) ([]byte, error) { return big, nil }, big, ""},
		{"an error comes back as text", func(context.Context) ([]byte, error) { return nil, fmt.Errorf("ask: %w", custom) }, nil, "step: ask: own error"},
		{"a panic is an error", func(context.Context) ([]byte, error) { panic("boom") }, nil, "step: panic: boom"},
		{"a nil dereference is an error", func(context.Context) ([]byte, error) { var p *struct{ x int }; p.x = 1; return nil, nil }, nil, "step: panic: runtime error: invalid memory address or nil pointer dereference"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "prloop.db")
			calls := 0
			removable := errors.New("removable")
			check := func(out []byte, err error) {
				t.Helper()
				if !bytes.Equal(out, tt.want) || (out == nil) != (tt.want == nil) {
					t.Errorf("result has %d bytes, want %d (nil: %v, want %v)", len(out), len(tt.want), out == nil, tt.want == nil)
				}
				if got := fmt.Sprint(err); got != tt.wantErr && (err != nil || tt.wantErr != "") {
					t.Errorf("err = %q, want %q", got, tt.wantErr)
				}
				if errors.Is(err, custom) {
					t.Error("a step's error keeps its value the first time, which a resumed run would miss")
				}
			}
			first := true
			e := open(t, path, func(ctx context.Context, s *Steps, _ []byte) ([]byte, error) {
				out, err := s.Do(ctx, "step", func(ctx context.Context) ([]byte, error) { calls++; return tt.fn(ctx) })
				check(out, err)
				if first {
					return nil, Halt(removable)
				}
				return out, nil
			})
			if _, err := e.Run(t.Context(), runID, nil); !errors.Is(err, removable) || !errors.Is(err, ErrUnfinished) {
				t.Fatalf("halted: %v", err)
			}
			first = false
			out, err := e.Resume(t.Context(), runID)
			if err != nil || !bytes.Equal(out, tt.want) {
				t.Errorf("resumed: %d bytes, %v", len(out), err)
			}
			if stored, err := e.Run(t.Context(), runID, nil); err != nil || !bytes.Equal(stored, tt.want) || (stored == nil) != (tt.want == nil) {
				t.Errorf("stored: %d bytes, %v", len(stored), err)
			}
			if calls != 1 {
				t.Errorf("step ran %d times, want once", calls)
			}
		})
	}
}

// A step that is halted is done again; the steps beside it keep their results.
func TestHaltedStepIsDoneAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	denied := errors.New("HTTP 403")
	allow := false
	var e *Engine
	e = open(t, path, func(ctx context.Context, s *Steps, _ []byte) ([]byte, error) {
		outs, errs := s.All(ctx, []Step{
			{"read", func(context.Context) ([]byte, error) { return []byte("r"), note(path+".did", "read") }},
			{"post", func(context.Context) ([]byte, error) {
				if !allow {
					waitStored(e, "read")
					return nil, fmt.Errorf("post: %w", Halt(denied))
				}
				return []byte("p"), nil
			}},
		})
		return slices.Concat(outs...), errors.Join(errs...)
	})
	if _, err := e.Run(t.Context(), runID, nil); !errors.Is(err, denied) || !errors.Is(err, ErrUnfinished) {
		t.Fatalf("halted: %v", err)
	}
	allow = true
	if out, err := e.Resume(t.Context(), runID); err != nil || string(out) != "rp" {
		t.Errorf("resumed = %q, %v", out, err)
	}
	if did := notes(t, path+".did"); len(did) != 1 {
		t.Errorf("read ran %d times, want once", len(did))
	}
}

// Steps of one All run at the same time and answer by position.
func TestAllIsParallel(t *testing.T) {
	meet := make(chan struct{})
	e := open(t, filepath.Join(t.TempDir(), "prloop.db"), func(ctx context.Context, s *Steps, _ []byte) ([]byte, error) {
		outs, errs := s.All(ctx, []Step{
			{"waits", func(ctx context.Context) ([]byte, error) {
				select {
				case <-meet:
					return []byte("1"), nil
				case <-time.After(10 * time.Second):
					return nil, errors.New("the other step never ran")
				}
			}},
			{"wakes", func(context.Context) ([]byte, error) { close(meet); return []byte("2"), nil }},
			{"same name", func(context.Context) ([]byte, error) { return []byte("3"), nil }},
			{"same name", func(context.Context) ([]byte, error) { return []byte("4"), nil }},
		})
		return slices.Concat(outs...), errors.Join(errs...)
	})
	if out, err := e.Run(t.Context(), runID, nil); err != nil || string(out) != "1234" {
		t.Errorf("all = %q, %v; want 1234", out, err)
	}
}

func TestRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	ctx := t.Context()
	fails := errors.New("handler's own error")
	e := open(t, path, func(ctx context.Context, s *Steps, in []byte) ([]byte, error) {
		switch string(in) {
		case "fail":
			return nil, fails
		case "panic":
			panic("boom")
		}
		return s.Do(ctx, "outer", func(ctx context.Context) ([]byte, error) {
			return s.Do(ctx, "inner", func(context.Context) ([]byte, error) { return nil, nil })
		})
	})
	if _, err := e.Resume(ctx, "unknown"); !errors.Is(err, ErrNotFound) {
		t.Errorf("resume an unknown run: %v", err)
	}
	for _, id := range []string{"", "../x", "a/b", ".hidden", "a b", "a\x00"} {
		if _, err := e.Run(ctx, id, nil); err == nil {
			t.Errorf("run id %q was accepted", id)
		}
	}
	if _, err := e.Run(ctx, "failing", []byte("fail")); !errors.Is(err, fails) {
		t.Errorf("failing run: %v", err)
	}
	var re *RunError
	if _, err := e.Run(ctx, "failing", nil); !errors.As(err, &re) || re.Text != fails.Error() {
		t.Errorf("failed run, again: %v, want its stored error", err)
	}
	if _, err := e.Run(ctx, "panicking", []byte("panic")); err == nil || errors.Is(err, ErrUnfinished) {
		t.Errorf("panicking run: %v", err)
	}
	var se *StepError
	if _, err := e.Run(ctx, "nested", nil); !errors.As(err, &se) {
		t.Errorf("a step inside a step: %v, want the step to fail", err)
	}
	for _, id := range []string{"failing", "panicking", "nested"} {
		if w, ok, err := e.lookup(ctx, id); err != nil || !ok || w.Status != dbos.WorkflowStatusError {
			t.Errorf("stored of %s is %+v, %v; want failed", id, w, err)
		}
	}
}

// Without a handler there is nothing an engine could do.
func TestHandlerIsNeeded(t *testing.T) {
	if _, err := Open(t.Context(), Options{Address: filepath.Join(t.TempDir(), "x.db")}); err == nil {
		t.Error("opened")
	}
}

// A variable of DBOS's own in the environment would change the executor id or the version behind our back.
func TestEnvironmentIsRefused(t *testing.T) {
	t.Setenv("DBOS__VMID", "local")
	handler := func(context.Context, *Steps, []byte) ([]byte, error) { return nil, nil }
	if _, err := Open(t.Context(), Options{Address: filepath.Join(t.TempDir(), "x.db"), Handler: handler}); err == nil {
		t.Error("opened")
	}
}

// A folder's name may hold anything.
func TestOddPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%41", "prloop.db")
	e := open(t, path, func(context.Context, *Steps, []byte) ([]byte, error) { return []byte("ok"), nil })
	if _, err := e.Run(t.Context(), runID, nil); err != nil {
		t.Fatal(err)
	}
	if m, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(path)), "*")); err != nil || len(m) != 1 {
		t.Errorf("files beside the folder: %v, %v", m, err)
	}
}

// Opening is part of every start of prloop; the goal is 100 ms.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "prloop.db")
	for b.Loop() {
		e, err := Open(b.Context(), Options{Address: path})
		if err != nil {
			b.Fatal(err)
		}
		if err := e.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// A run of one step, from nothing to its stored result.
func BenchmarkRun(b *testing.B) {
	e, err := Open(b.Context(), Options{Address: filepath.Join(b.TempDir(), "prloop.db"), Handler: func(ctx context.Context, s *Steps, _ []byte) ([]byte, error) {
		return s.Do(ctx, "one", func(context.Context) ([]byte, error) { return []byte("1"), nil })
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close(b.Context())
	for i := 0; b.Loop(); i++ {
		if _, err := e.Run(b.Context(), fmt.Sprint("run-", i), nil); err != nil {
			b.Fatal(err)
		}
	}
}
