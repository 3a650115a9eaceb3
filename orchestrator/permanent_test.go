package orchestrator

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
)

var (
	errLocked = errors.New("the conversation is locked")
	errOutage = errors.New("HTTP 502")
)

// denial is a refusal that tells its cause.
type denial struct{ refusal }

func (d denial) Unwrap() error { return d.refusal.error }

// faulty is a stage on which GitHub takes a part no more.
type faulty struct {
	*stage
	// pull is what reading the pull request fails with from a head on.
	pull map[string]error
}

func (f faulty) PullRequest(ctx context.Context, repo review.Repo, n int) (review.PullRequest, error) {
	if err := f.pull[f.head]; err != nil {
		return review.PullRequest{}, err
	}
	return f.stage.PullRequest(ctx, repo, n)
}

// Every run reaches a named end (threats.md P11, T95): what no later try gets past is one, and it is stored.
func TestPermanentErrorsEndTheRun(t *testing.T) {
	post := func(err error) func(*world, string) (string, error) {
		return func(*world, string) (string, error) { return "", denial{refusal{err}} }
	}
	good := func(w *world, body string) (string, error) { return w.add(body), nil }
	for _, c := range []struct {
		what   string
		set    func(*stage, map[string]error)
		reason string // empty: the run stops and can go on
		// findings and pushed are what the result keeps; comments how many were posted.
		findings, comments int
		pushed             string
	}{
		{"a conversation that is locked when an approval is to be posted", func(s *stage, _ map[string]error) {
			s.fault = append(s.fault, post(errLocked))
		}, "post the report of round 1: the conversation is locked", 0, 0, ""},
		{"one that is locked when findings are", func(s *stage, _ map[string]error) {
			s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
			s.fault = append(s.fault, post(errLocked))
		}, "post the report of round 1: the conversation is locked", 1, 0, ""},
		{"an outage stays resumable", func(s *stage, _ map[string]error) {
			s.fault = append(s.fault, post(errOutage))
		}, "", 0, 0, ""},
		{"a repository that is gone before it was looked at", func(_ *stage, pull map[string]error) { pull[sha(1)] = errLocked },
			"the conversation is locked", 0, 0, ""},
		{"one that is gone after the push: what was pushed is told", func(s *stage, pull map[string]error) {
			s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
			pull[sha(2)] = errLocked
		}, "post the fix of round 1: the conversation is locked", 1, 1, sha(2)},
		{"a conversation that is locked when the second report is to be posted", func(s *stage, _ map[string]error) {
			s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
			s.fault = append(s.fault, good, good, post(errLocked))
		}, "post the report of round 2: the conversation is locked", 0, 2, sha(2)},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, steps := newStage(), newSteps()
			f := faulty{s, map[string]error{}}
			c.set(s, f.pull)
			l := *s.loop()
			l.Forge, l.Poster, l.Outbox, l.History, l.Briefer, l.Agents, l.Executor, l.Record = f, s, s, s, s, s, s, s
			l.Fence = func(string) string { return "fence" }
			l.Sleep = func(context.Context, time.Duration) error { s.now = s.now.Add(time.Second); return nil }
			l.Permanent = func(err error) bool {
				return errors.Is(err, errLocked)
			}
			req := round().Request
			req.Head = sha(1)
			req.Fix = &FixPlan{Agent: AgentPlan{Name: "pr-fix", Role: review.RoleFixer, Kind: "command"}, Verify: []string{"make lint"}}
			got, err := l.Run(t.Context(), steps, req)
			if c.reason == "" {
				if !errors.Is(err, errOutage) || steps.done["finish"] != nil {
					t.Fatalf("ended with %+v and %v, want the error and no end", got, err)
				}
				return
			}
			if err != nil || got.Outcome != review.Failed || !strings.HasSuffix(got.Reason, c.reason) || got.Outcome.ExitStatus() != 1 {
				t.Fatalf("outcome %s (%s), error %v, want failed (%s)", got.Outcome, got.Reason, err, c.reason)
			}
			if got.Consensus != nil || len(got.Findings) != c.findings || len(got.Comments) != c.comments || len(s.comments) != c.comments {
				t.Errorf("verdict %v, %d findings, comments %v; want none, %d and %d", got.Consensus, len(got.Findings), got.Comments, c.findings, c.comments)
			}
			pushed := ""
			for _, r := range got.Rounds {
				if r.Fix != nil {
					pushed = r.Fix.Head
				}
			}
			if pushed != c.pushed {
				t.Errorf("the result tells of the pushed commit %q, want %q", pushed, c.pushed)
			}
			// It stays so, whatever becomes of the cause.
			tasks, orders := len(s.tasks), len(s.orders)
			s.fault, l.Permanent = nil, nil
			clear(f.pull)
			again, err := l.Run(t.Context(), steps, req)
			if err != nil || asJSON(t, again) != asJSON(t, got) || len(s.tasks) != tasks || len(s.orders) != orders {
				t.Errorf("the second time it ends with %+v, %v", again, err)
			}
		})
	}
}

// A fault of prloop's own in a judgement ends the run by name, and does not stop it again and again.
func TestAFaultInAJudgementEndsTheRun(t *testing.T) {
	broken := round()
	broken.Round, broken.Earlier = 2, []Tracked{{}} // no finding of before is without a wording
	var told []review.Event
	l := &Loop{Now: time.Now, Emit: func(e review.Event) { told = append(told, e) }}
	_, err := l.judgement(broken)
	if err == nil || !l.permanent(err) || !strings.Contains(err.Error(), "please report it") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%v", err)
	}
	if len(told) != 1 || !strings.Contains(told[0].Message, "orchestrator.Judge") {
		t.Errorf("the log has no stack: %+v", told)
	}
	if r := abandoned(broken.Request, progress{round: 1, head: headSHA}, err); r.Outcome != review.Failed || !strings.Contains(r.Reason, "prloop has a fault") {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
	if j, err := l.judgement(round()); err != nil || j.Result.Outcome != review.Converged {
		t.Errorf("%s, %v", j.Result.Outcome, err)
	}
}
