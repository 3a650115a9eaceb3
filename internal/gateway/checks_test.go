package gateway

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

func (r *rig) runChecks(body string) (int, string) {
	r.t.Helper()
	return r.call(http.MethodPost, pathChecks, r.token, body)
}

// Checks are run for the agent they are lent to, a bounded number of times, and recorded with the conversations.
func TestChecks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	ran := 0
	run := func(_ context.Context, command string) (any, error) {
		if ran++; command != "all" {
			return nil, errors.New("no such command")
		}
		return []int{ran}, nil
	}
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) { o.Cassette = Cassette{Path: path, Mode: Record} })
	if status, body := r.runChecks(`{"command":"all"}`); status != http.StatusForbidden || !strings.Contains(body, CodeRefused) {
		t.Errorf("without leave: %d %s", status, body)
	}
	other := r.g.LendChecks(t.Context(), "somebody-else", 3, run)
	if status, body := r.runChecks(`{"command":"all"}`); status != http.StatusForbidden || ran != 0 {
		t.Errorf("lent to another agent: %d %s", status, body)
	}
	if n := other(); n != 0 {
		t.Errorf("asked %d times", n)
	}
	stop := r.g.LendChecks(t.Context(), "r1", 3, run)
	if status, body := r.runChecks(`{}`); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, body)
	}
	for _, want := range []string{"[1]", "[2]"} {
		if status, body := r.runChecks(`{"command":"all"}`); status != http.StatusOK || body != want {
			t.Errorf("%d %s, want %s", status, body, want)
		}
	}
	if status, body := r.runChecks(`{"command":"rm"}`); status != http.StatusForbidden || !strings.Contains(body, "no such command") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := r.runChecks(`{"command":"all"}`); status != http.StatusPaymentRequired || !strings.Contains(body, CodeBudget) || ran != 3 {
		t.Errorf("one more than there may be: %d %s after %d", status, body, ran)
	}
	if n := stop(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	if status, _ := r.runChecks(`{"command":"all"}`); status != http.StatusForbidden {
		t.Errorf("after the end: %d", status)
	}
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	again := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) { o.Cassette = Cassette{Path: path, Mode: Replay} })
	defer again.g.LendChecks(t.Context(), "r1", 3, func(context.Context, string) (any, error) { return nil, errors.New("it was run") })()
	for _, want := range []string{"[1]", "[2]"} {
		if status, body := again.runChecks(`{"command":"all"}`); status != http.StatusOK || body != want {
			t.Errorf("replayed: %d %s, want %s", status, body, want)
		}
	}
}

// Nothing runs in a fixer's tree once its time is over: the end ends what runs, and waits for it.
func TestChecksEndWithTheAgent(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{})
	began, over := make(chan struct{}), false
	stop := r.g.LendChecks(t.Context(), "r1", 3, func(ctx context.Context, _ string) (any, error) {
		close(began)
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond)
		over = true
		return nil, ctx.Err()
	})
	answered := make(chan int)
	go func() {
		status, _ := r.runChecks(`{"command":"all"}`)
		answered <- status
	}()
	<-began
	if status, body := r.runChecks(`{"command":"all"}`); status != http.StatusTooManyRequests {
		t.Errorf("two at once: %d %s", status, body)
	}
	if n := stop(); n != 1 || !over {
		t.Errorf("asked %d times; it is over: %v", n, over)
	}
	if status := <-answered; status != http.StatusForbidden {
		t.Errorf("HTTP %d", status)
	}
}

// Commands that take longer than half of the time that is left do not cost an agent its answer.
func TestSlowChecks(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{WallTimeSeconds: 1})
	defer r.g.LendChecks(t.Context(), "r1", 3, func(ctx context.Context, _ string) (any, error) {
		<-ctx.Done()
		return nil, errors.New("cut")
	})()
	if status, body := r.runChecks(`{"command":"all"}`); status != http.StatusForbidden || !strings.Contains(body, "half of the time") {
		t.Errorf("%d %s", status, body)
	}
}
