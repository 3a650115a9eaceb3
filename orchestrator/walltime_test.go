package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
)

// The wall time of a run is hard (design.md "Budgets"), and no commit of prloop's own is the last word (decision 24).
func TestWallTime(t *testing.T) {
	const lint, build = "make lint", "make build"
	for _, c := range []struct {
		what     string
		set      func(*stage)
		change   func(*Request)
		outcome  review.Outcome
		reason   string
		head     string
		verified []string
		fix      review.FixState
		says     string
	}{
		{"commands run once when there is no time for twice: the pushed commit is the one that passed", func(s *stage) {
			s.takes[sha(2)] = 25 * time.Minute
		}, nil, review.Converged, "", sha(2), []string{sha(2)}, review.FixPushed, "The pushed head was not verified again"},
		{"commands that outlast the run are cut, and their fix is handed over", func(s *stage) {
			s.takes[sha(2)] = 40 * time.Minute
		}, nil, review.Budget, "its checks had not ended", sha(1), []string{sha(2)}, review.FixPatch, "**timeout**"},
		{"a command that failed before the time was up has said enough", func(s *stage) {
			s.takes[sha(2)] = 20 * time.Minute
			s.fails[sha(2)] = []review.Check{{Command: lint, State: review.CheckFailed, ExitCode: 2}}
		}, func(r *Request) { r.Fix.Verify = []string{lint, build} }, review.Budget, "does not pass `make lint` (exit status 2)", sha(1), []string{sha(2)},
			review.FixVerifyFailed, "**failed**, exit 2"},
		{"nothing is pushed that there is no time to review", func(s *stage) {
			s.reviewed, s.takes[sha(2)] = 12*time.Minute, 10*time.Minute
		}, nil, review.Budget, "not enough wall time", sha(1), []string{sha(2)}, review.FixPatch, "run again with more wall_time"},
		{"nor when nothing is verified", func(s *stage) {
			s.reviewed = 16 * time.Minute
		}, func(r *Request) { r.Fix.Verify = nil }, review.Budget, "not enough wall time", sha(1), nil, review.FixPatch, "the run's time is used up"},
		{"what runs on the reviewed head takes time too", func(s *stage) {
			s.takes[sha(1)], s.takes[sha(2)] = 12*time.Minute, 9*time.Minute
			s.fails[sha(1)] = []review.Check{{Command: lint, State: review.CheckFailed, ExitCode: 2}}
			s.fails[sha(2)] = s.fails[sha(1)]
		}, func(r *Request) { r.Fix.Detected = true }, review.Converged, "", sha(2), []string{sha(2), sha(1)}, review.FixPushed, "was not verified again"},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage()
				s.takes = map[string]time.Duration{}
				s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
				s.fixes = []review.FixWork{fixes(sha(2), "A")}
				s.diffs["1..2"] = edited(10)
				c.set(s)
				began := time.Now()
				got := s.run(t, newSteps(), c.change)
				if got.Outcome != c.outcome || !strings.Contains(got.Reason, c.reason) || s.head != c.head {
					t.Errorf("outcome %s (%s) at %s, want %s (…%s…) at %s", got.Outcome, got.Reason, short(s.head), c.outcome, c.reason, short(c.head))
				}
				if !slices.Equal(s.verified, c.verified) {
					t.Errorf("commands ran on %v, want %v", s.verified, c.verified)
				}
				if took := time.Since(began) + s.reviewed; took > defaultWallTime {
					t.Errorf("the run took %s of its %s", took, defaultWallTime)
				}
				fix := got.Rounds[0].Fix
				if fix == nil || fix.State != c.fix || !strings.Contains(s.kept["round-1/fix.md"], c.says) {
					t.Errorf("the fix is %+v, its report\n%s\nwant %s and %q", fix, s.kept["round-1/fix.md"], c.fix, c.says)
				}
			})
		})
	}
}

// slowReader takes its time for each brief.
type slowReader struct {
	*stage
	takes []time.Duration
}

func (s *slowReader) Brief(ctx context.Context, r Range, o ContextOptions, limits review.Limits) (review.Brief, error) {
	took := s.takes[0]
	s.takes = s.takes[1:]
	select {
	case <-ctx.Done():
		return review.Brief{}, fmt.Errorf("build brief: %w", context.Cause(ctx))
	case <-time.After(took):
		return s.stage.Brief(ctx, r, o, limits)
	}
}

// Reading the change is a part of the run's wall time, which ends it by name (threats.md T386).
func TestReadingTakesWallTime(t *testing.T) {
	const late = "the budget for wall time ran out before the change had been read"
	for _, c := range []struct {
		reads           []time.Duration // in the first round, of the fix, in the second round
		reviewed        time.Duration
		outcome         review.Outcome
		reason, head    string
		asked, complete int
	}{
		{[]time.Duration{time.Minute, time.Minute, time.Minute}, time.Minute, review.Converged, "", sha(2), 6, 2},
		{[]time.Duration{defaultWallTime + time.Second}, 0, review.Budget, late, sha(1), 0, 0},
		{[]time.Duration{time.Minute, defaultWallTime}, time.Minute, review.Budget, "the fixer's budget for wall time ran out", sha(1), 3, 2},
		{[]time.Duration{time.Minute, 0, defaultWallTime}, time.Minute, review.Budget, late, sha(2), 3, 0}, // who answered about the first head says nothing about the second
		{[]time.Duration{10 * time.Minute, 0}, 8 * time.Minute, review.Budget, "not enough wall time is left to review a push", sha(1), 3, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage()
			s.reviewed, s.briefer = c.reviewed, &slowReader{s, c.reads}
			s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
			steps := newSteps()
			began := time.Now()
			got := s.run(t, steps, nil)
			if took := time.Since(began); took > defaultWallTime {
				t.Errorf("it took %s", took)
			}
			if got.Outcome != c.outcome || !strings.Contains(got.Reason, c.reason) || s.head != c.head || len(s.tasks) != c.asked || got.Receipt.Complete != c.complete {
				t.Errorf("outcome %s (%s) at %s, %d agents asked, %d complete; want %+v", got.Outcome, got.Reason, short(s.head), len(s.tasks), got.Receipt.Complete, c)
			}
			if again := s.run(t, steps, nil); again.Outcome != got.Outcome || again.Reason != got.Reason {
				t.Errorf("gone on with, it ends as %s (%s)", again.Outcome, again.Reason)
			}
		})
	}
}

// So is checking an answer, which then counts as none; one that came in at the last moment is checked all the same (threats.md T643).
func TestCheckingTakesWallTime(t *testing.T) {
	for _, c := range []struct {
		wallTime, reading, took time.Duration
		outcome                 review.Outcome
		complete, findings      int
	}{
		{0, 2 * defaultWallTime, defaultWallTime, review.Budget, 1, 0},
		{10 * time.Second, checkLeast / 2, checkLeast / 2, review.ChangesRequested, 2, 1},
		{10 * time.Second, 2 * checkLeast, checkLeast, review.Budget, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage()
			s.reading = c.reading
			s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
			began := time.Now()
			got := s.run(t, newSteps(), func(r *Request) { r.WallTime, r.Fix = c.wallTime, nil })
			if took := time.Since(began); took != c.took {
				t.Errorf("it took %s, want %s", took, c.took)
			}
			if got.Outcome != c.outcome || strings.Contains(got.Reason, "wall time") != (c.outcome == review.Budget) || got.Receipt.Complete != c.complete || len(got.Findings) != c.findings {
				t.Errorf("outcome %s (%s), %d complete, %d findings; want %+v", got.Outcome, got.Reason, got.Receipt.Complete, len(got.Findings), c)
			}
		})
	}
}

// A stop ends the check of an answer too; a run that is ended has none.
func TestChecksEndWithTheRun(t *testing.T) {
	wait := func(ctx context.Context) (AgentReport, error) {
		<-ctx.Done()
		return AgentReport{}, context.Cause(ctx)
	}
	answer := review.Answer{Receipt: review.AgentReceipt{State: review.AgentComplete, Findings: 1}, Reviewer: &review.ReviewerResult{}, Log: "words"}
	l := &Loop{Watch: func(ctx context.Context) (context.Context, func()) {
		watched, cancel := context.WithCancelCause(ctx)
		cancel(&StopError{Why: "mona asked for a stop"})
		return watched, func() {}
	}}
	got, err := l.inTime(t.Context(), time.Hour, answer, wait)
	if r := got.Answer.Receipt; err != nil || got.Answer.Reviewer != nil || got.Answer.Log != "words" || r.State != review.AgentFailed || r.Reason != "mona asked for a stop" || r.Findings != 0 {
		t.Errorf("stopped: %+v, %v", got.Answer, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.inTime(ended, time.Hour, answer, wait); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	broken := errors.New("the disk is full")
	if _, err := (&Loop{}).inTime(t.Context(), time.Hour, answer, func(context.Context) (AgentReport, error) { return AgentReport{}, broken }); !errors.Is(err, broken) {
		t.Errorf("what is no matter of time: %v", err)
	}
}

// endless is a history in which no comparison comes to an end by itself.
type endless struct{ shelf }

func (endless) Diff(ctx context.Context, _, _ string) (*diff.Diff, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// So is following the code that threads of earlier commits are about.
func TestFollowingThreadsTakesWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		snap := raised(nil, showing(saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero"))).Snapshot
		l := &Loop{History: endless{}, Briefer: newStage()}
		if err := l.read(t.Context(), &snap, Request{}, time.Minute); !errors.Is(err, errWallTime) || snap.Took != time.Minute {
			t.Errorf("after %s: %v", snap.Took, err)
		}
	})
}

// So is masking, which reads all that strangers say.
func TestMaskingTakesWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		snap := Snapshot{Discussion: review.Discussion{Comments: []review.Comment{{Body: "Hello."}}}}
		err := snap.within(t.Context(), time.Minute, func(ctx context.Context) error {
			<-ctx.Done()
			_, err := masked(ctx, snap, nil, nil)
			return err
		})
		if !errors.Is(err, errWallTime) || snap.Took != time.Minute {
			t.Errorf("after %s: %v", snap.Took, err)
		}
	})
}

// A fixer that the end of the run's wall time cuts has its price all the same.
func TestACutFixerIsAccountedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cost := newStage(), 0.25
		s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
		s.lasts = true
		s.fixes = []review.FixWork{{Answer: review.Answer{Receipt: review.AgentReceipt{State: review.AgentFailed, Reason: "stopped", Attempts: 1, Seconds: 1799,
			Usage: review.Usage{LLMCalls: 3, CostUSD: &cost}}}}}
		got := s.run(t, newSteps(), nil)
		if got.Outcome != review.Budget || !strings.Contains(got.Reason, "wall time") {
			t.Errorf("outcome %s (%s), want budget for wall time", got.Outcome, got.Reason)
		}
		agent := got.Rounds[0].Fix.Agent
		if agent.State != review.AgentFailed || agent.OutOf != "wall time" || agent.Seconds != 1799 || agent.Usage.LLMCalls != 3 || agent.Usage.CostUSD == nil || *agent.Usage.CostUSD != cost {
			t.Errorf("the receipt of the fixer is %+v", agent)
		}
	})
}
