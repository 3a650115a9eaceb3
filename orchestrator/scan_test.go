package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// scouting is a stage with a scout, an editor and a gate.
type scouting struct {
	*stage
	statuses
	// scan is what the scout answers, per head; without one it fails.
	scan map[string]review.ScoutResult
	// asked are the roles that were asked, in order; collapsed the comments that were.
	asked     []review.Role
	collapsed []string
	edits     int
	// key signs comments; nil for the usual one.
	key []byte
	// earlier are the runs that have ended, newest first; labels those of the pull request.
	earlier []Stored
	labels  []string
	// finds is what a finder answers, shelves what it asks for is read from.
	finds   func(review.Task) review.Answer
	shelves Shelves
}

func newScouting(scan review.ScoutResult) *scouting {
	s := &scouting{stage: newStage(), scan: map[string]review.ScoutResult{sha(1): scan}}
	s.statuses.may = map[string]string{}
	return s
}

func said(c review.Complexity, v review.ScanVerdict) review.ScoutResult {
	return review.ScoutResult{Complexity: c, Verdict: v, Observations: []review.Observation{{Tag: "cart", Text: "The total changes."}}, Reasons: []string{"It is about money."}}
}

func (s *scouting) PullRequest(ctx context.Context, repo review.Repo, n int) (review.PullRequest, error) {
	pr, err := s.stage.PullRequest(ctx, repo, n)
	pr.Labels = s.labels
	return pr, err
}

func (s *scouting) Ask(ctx context.Context, plan AgentPlan, task review.Task, emit func(review.Event)) review.Answer {
	s.asked = append(s.asked, plan.Role)
	if plan.Role == review.RoleFinder {
		s.tasks = append(s.tasks, task)
		return s.finds(task)
	}
	if plan.Role != review.RoleScout {
		return s.stage.Ask(ctx, plan, task, emit)
	}
	s.tasks = append(s.tasks, task)
	got, ok := s.scan[task.HeadSHA]
	if !ok {
		return review.Answer{Receipt: review.AgentReceipt{State: review.AgentFailed, Reason: "exit status 1"}}
	}
	return review.Answer{Scout: &got, Receipt: review.AgentReceipt{State: review.AgentComplete, Seconds: 1}}
}

func (s *scouting) EditComment(_ context.Context, _ review.PullRequest, comment int64, body sanitize.Text) (string, error) {
	s.edits++
	for i := range s.comments {
		if c := &s.comments[i]; strings.HasSuffix(c.URL, fmt.Sprint("#issuecomment-", comment)) {
			c.Body = body.String()
			return c.URL, nil
		}
	}
	return "", refusal{errors.New("HTTP 404")}
}

func (s *scouting) Minimize(_ context.Context, _ review.PullRequest, comment string) (string, error) {
	for i := range s.comments {
		if c := &s.comments[i]; c.ID == comment {
			c.Minimized = true
			s.collapsed = append(s.collapsed, c.ID)
			return c.URL, nil
		}
	}
	return "", refusal{errors.New("HTTP 404")}
}

// quickly runs a request with a quick scan. nil triggers are those of the quick tier.
func (s *scouting) quickly(t *testing.T, steps Steps, tr *escalate.Triggers, change func(*Request)) (review.RunResult, error) {
	t.Helper()
	l := *s.world.loop()
	l.Forge, l.Poster, l.Outbox, l.Editor, l.Minimizer, l.Gate = s, s, s, s, s, &s.statuses
	l.History, l.Briefer, l.Agents, l.Executor, l.Record = s.stage, s.stage, s, s, s
	if s.briefer != nil {
		l.Briefer = s.briefer
	}
	l.Fence, l.Shelves = func(string) string { return "fence" }, s.shelves
	l.Permanent = func(err error) bool { return errors.As(err, new(refusal)) }
	l.Stored = func(context.Context, Request) iter.Seq2[Stored, error] {
		return func(yield func(Stored, error) bool) {
			for _, e := range s.earlier {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	n := 0
	if s.key != nil {
		l.MarkerKey = s.key
	}
	l.Nonce = func() string { n++; return fmt.Sprintf("%032x", len(s.comments)*100+n) }
	req := round().Request
	req.Head, req.Gate = s.head, &gate.Plan{Policy: gate.Verdict}
	req.Quick = &QuickPlan{Tier: escalate.Quick, Scout: AgentPlan{Name: "scout", Role: review.RoleScout, Kind: review.KindBuiltin}, Limits: review.Limits{ContextTokens: 30_000}}
	if tr != nil {
		req.Quick.Tier, req.Quick.Triggers = escalate.Auto, *tr
	}
	if change != nil {
		change(&req)
	}
	return l.Run(t.Context(), steps, req)
}

// timeline is what stands on the pull request: the headings of its comments, those that are collapsed in brackets.
func (s *scouting) timeline() (out []string) {
	for _, c := range s.comments {
		words := "?"
		for line := range strings.Lines(c.Body) {
			if after, ok := strings.CutPrefix(line, "## prloop: "); ok {
				words = strings.TrimSpace(after)
				break
			}
		}
		if c.Minimized {
			words = "[" + words + "]"
		}
		out = append(out, words)
	}
	return out
}

func TestQuick(t *testing.T) {
	lgtm, flagged, hard := said(review.SimpleChange, review.LooksGood), said(review.SimpleChange, review.Flag), said(review.ComplexChange, review.LooksGood)
	both := &escalate.Triggers{OnComplex: true, OnFlag: true}
	scout, full := []review.Role{review.RoleScout}, []review.Role{review.RoleScout, review.RoleReviewer, review.RoleReviewer, review.RoleCommentsAnalyzer}
	const scanning = "1 pending: Quick scan: the scout is at work"
	const reviewing = "1 pending: Round 1 of 1: 2 reviewers are at work"
	for name, c := range map[string]struct {
		scan     review.ScoutResult
		tr       *escalate.Triggers
		set      func(*scouting)
		change   func(*Request)
		outcome  review.Outcome
		asked    []review.Role
		timeline []string
		statuses []string
	}{
		"looks good":              {lgtm, nil, nil, nil, review.LGTM, scout, []string{"quick scan · looks good"}, []string{scanning, "1 success: Quick scan: looks good"}},
		"a flag":                  {flagged, nil, nil, nil, review.Flagged, scout, []string{"quick scan · flagged"}, []string{scanning, "1 failure: Quick scan: flagged, somebody has to look"}},
		"complex, and no trigger": {hard, nil, nil, nil, review.LGTM, scout, []string{"quick scan · looks good"}, []string{scanning, "1 success: Quick scan: looks good"}},
		"no answer":               {lgtm, nil, func(s *scouting) { delete(s.scan, sha(1)) }, nil, review.NotReviewed, scout, []string{"quick scan · no answer"}, []string{scanning, "1 error: Not reviewed"}},
		"more than fits":          {lgtm, nil, nil, func(r *Request) { r.Quick.Limits.ContextTokens = 10 }, review.Partial, scout, []string{"quick scan · not all of the change was seen"}, []string{scanning, "1 error: The quick scan did not see the whole change"}},
		"auto, and nothing pulls": {lgtm, both, nil, nil, review.LGTM, scout, []string{"quick scan · looks good"}, []string{scanning, "1 success: Quick scan: looks good"}},
		"auto_full_on_flag":       {flagged, both, nil, nil, review.Converged, full, []string{"[escalating to full review]", "approved"}, []string{scanning, reviewing, "1 success: Approved"}},
		"auto_full_on_complex":    {hard, both, nil, nil, review.Converged, full, []string{"[escalating to full review]", "approved"}, []string{scanning, reviewing, "1 success: Approved"}},
		"auto, and no answer":     {lgtm, both, func(s *scouting) { delete(s.scan, sha(1)) }, nil, review.Converged, full, []string{"[escalating to full review]", "approved"}, []string{scanning, reviewing, "1 success: Approved"}},
		"auto, more than fits":    {lgtm, both, nil, func(r *Request) { r.Quick.Limits.ContextTokens = 10 }, review.Converged, full, []string{"[escalating to full review]", "approved"}, []string{scanning, reviewing, "1 success: Approved"}},
		"a path, without a scan":  {lgtm, &escalate.Triggers{Paths: []string{"*.go"}}, nil, nil, review.Converged, full[1:], []string{"approved"}, []string{scanning, reviewing, "1 success: Approved"}},
		"a label, without a scan": {lgtm, &escalate.Triggers{Labels: []string{"deep"}}, func(s *scouting) { s.labels = []string{"Deep"} }, nil, review.Converged, full[1:], []string{"approved"}, []string{scanning, reviewing, "1 success: Approved"}},
		"a label that who took it off may not": {lgtm, &escalate.Triggers{Labels: []string{"deep"}}, func(s *scouting) {
			s.may["mona"], s.may["ann"] = "write", "triage"
			s.statuses.labels = []gate.Labelling{{Label: "deep", By: "ann", Off: true}, {Label: "deep", By: "mona"}}
		}, nil, review.Converged, full[1:], []string{"approved"}, []string{scanning, reviewing, "1 success: Approved"}},
		"a label that was taken off": {lgtm, &escalate.Triggers{Labels: []string{"deep"}}, func(s *scouting) {
			s.may["mona"] = "write"
			s.statuses.labels = []gate.Labelling{{Label: "deep", By: "mona", Off: true}, {Label: "deep", By: "mona"}}
		}, nil, review.LGTM, scout, []string{"quick scan · looks good"}, []string{scanning, "1 success: Quick scan: looks good"}},
		"a stranger, as far as known": {lgtm, &escalate.Triggers{Untrusted: true}, nil, nil, review.Converged, full[1:], []string{"approved"}, []string{scanning, reviewing, "1 success: Approved"}},
		"a dry run":                   {lgtm, both, nil, func(r *Request) { r.DryRun = true }, review.LGTM, scout, nil, nil},
		"presence and no whole":       {lgtm, nil, nil, func(r *Request) { r.Quick.Limits.ContextTokens = 10; r.Gate.Policy = gate.Presence }, review.Partial, scout, []string{"quick scan · not all of the change was seen"}, []string{scanning, "1 error: The quick scan did not see the whole change"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScouting(c.scan)
			if c.set != nil {
				c.set(s)
			}
			got, err := s.quickly(t, newSteps(), c.tr, c.change)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(s.asked[min(1, len(s.asked)):])
			want := slices.Clone(c.asked)
			slices.Sort(want[min(1, len(want)):])
			if c.outcome == review.Converged {
				slices.Sort(s.asked)
				slices.Sort(want)
			}
			if got.Outcome != c.outcome || !slices.Equal(s.asked, want) || !slices.Equal(s.timeline(), c.timeline) || !slices.Equal(s.set, c.statuses) {
				t.Errorf("%s (%s), asked %v, timeline %q, statuses %q;\nwant %s, %v, %q, %q", got.Outcome, got.Reason, s.asked, s.timeline(), s.set, c.outcome, want, c.timeline, c.statuses)
			}
			if again := s.kept["round-1/inputs.json"]; again == "" {
				t.Error("nothing is kept to judge again")
			}
			if slices.Contains(c.asked, review.RoleScout) {
				if task := s.tasks[0]; task.Discussion != nil || len(task.Brief.Guidance)+len(task.Brief.Related) > 0 {
					t.Errorf("the scout is told more than the diff: %+v", task)
				}
				if n := len(got.Receipt.Agents); got.Receipt.Agents[n-1].Name != "scout" && got.Receipt.Agents[0].Name != "scout" && n < 4 {
					t.Errorf("the scout is not in the receipt: %+v", got.Receipt.Agents)
				}
			}
		})
	}
}

// Wherever a run is killed between two steps and resumed, there is one comment of the scan, and it says what is so.
func TestScanSurvivesKills(t *testing.T) {
	both := &escalate.Triggers{OnComplex: true, OnFlag: true}
	for kill := 0; ; kill++ {
		s, steps := newScouting(said(review.ComplexChange, review.Flag)), &killed{remembering: newSteps(), at: kill}
		_, err := s.quickly(t, steps, both, nil)
		if err == nil {
			if kill < 8 {
				t.Fatalf("the run has %d steps", kill)
			}
			break
		}
		if slices.ContainsFunc(s.set, func(x string) bool { return strings.Contains(x, "success") && !strings.Contains(x, "Approved") }) {
			t.Errorf("killed at %q, a scan that is escalated was a success: %q", steps.last, s.set)
		}
		steps.at = -1
		got, err := s.quickly(t, steps, both, nil)
		if err != nil || got.Outcome != review.Converged {
			t.Fatalf("killed at %q: %s, %v", steps.last, got.Outcome, err)
		}
		if want := []string{"[escalating to full review]", "approved"}; !slices.Equal(s.timeline(), want) {
			t.Errorf("killed at %q: %q", steps.last, s.timeline())
		}
	}
}

// killed stops before the step of a number.
type killed struct {
	*remembering
	at   int
	last string
}

func (k *killed) Do(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	if _, done := k.done[name]; !done && k.at == len(k.done) {
		k.last = name
		return nil, errors.New("killed")
	}
	return k.remembering.Do(ctx, name, fn)
}

// Who deletes the comment of a scan ends no review; an edit that may have arrived is made again, once.
func TestScanCommentIsGone(t *testing.T) {
	s := newScouting(said(review.SimpleChange, review.LooksGood))
	if _, err := s.quickly(t, newSteps(), nil, nil); err != nil {
		t.Fatal(err)
	}
	s.comments[0].URL = "https://github.com/o/r/pull/7#issuecomment-99"
	got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run, r.Quick = "second", nil })
	if err != nil || got.Outcome != review.Converged || s.edits != 1 {
		t.Errorf("%s after %d edits, %v", got.Outcome, s.edits, err)
	}
}

// A scan settles nothing that people, or a full review, asked for.
func TestScanSettlesNothing(t *testing.T) {
	lgtm := said(review.SimpleChange, review.LooksGood)
	t.Run("a full review that asked for changes", func(t *testing.T) {
		s := newScouting(lgtm)
		s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
		if got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Quick = nil }); err != nil || got.Outcome != review.ChangesRequested {
			t.Fatal(got.Outcome, err)
		}
		s.head, s.scan[sha(2)] = sha(2), lgtm
		got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "second" })
		if err != nil || got.Outcome != review.Flagged || len(got.Scan.Standing) == 0 {
			t.Errorf("%s (%s), %q, %v", got.Outcome, got.Reason, got.Scan.Standing, err)
		}
		if last := s.set[len(s.set)-1]; !strings.HasPrefix(last, "2 failure") {
			t.Error(last)
		}
		if got := s.timeline(); len(got) != 2 || strings.HasPrefix(got[0], "[") {
			t.Errorf("the report of the full review does not stand: %q", got)
		}
	})
	t.Run("a full review whose report somebody hid", func(t *testing.T) {
		s := newScouting(lgtm)
		s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
		if got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Quick = nil }); err != nil || got.Outcome != review.ChangesRequested {
			t.Fatal(got.Outcome, err)
		}
		for i := range s.comments {
			s.comments[i].Minimized = true
		}
		s.head, s.scan[sha(2)] = sha(2), lgtm
		got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "second" })
		if err != nil || got.Outcome != review.Flagged || !slices.ContainsFunc(got.Scan.Standing, func(s string) bool { return strings.Contains(s, "was hidden") }) {
			t.Errorf("%s (%s), %q, %v", got.Outcome, got.Reason, got.Scan.Standing, err)
		}
	})
	t.Run("a full review that approved", func(t *testing.T) {
		s := newScouting(lgtm)
		if got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Quick = nil }); err != nil || got.Outcome != review.Converged {
			t.Fatal(got.Outcome, err)
		}
		s.head, s.scan[sha(2)] = sha(2), lgtm
		if got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "second" }); err != nil || got.Outcome != review.LGTM {
			t.Errorf("%s (%s), %v", got.Outcome, got.Reason, err)
		}
	})
	t.Run("a full review of another job, which has another key", func(t *testing.T) {
		s := newScouting(lgtm)
		s.base = "main"
		s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
		if got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Quick = nil }); err != nil || got.Outcome != review.ChangesRequested {
			t.Fatal(got.Outcome, err)
		}
		s.key, s.head, s.scan[sha(2)] = []byte("another key"), sha(2), lgtm
		got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "second" })
		if err != nil || got.Outcome != review.Flagged || len(got.Scan.Standing) != 1 || !strings.Contains(got.Scan.Standing[0], "another key") {
			t.Errorf("%s (%s), %q, %v", got.Outcome, got.Reason, got.Scan.Standing, err)
		}
		s.says[sha(2)] = nil // and one of a third job approves
		if got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run, r.Quick = "third", nil }); err != nil || got.Outcome != review.Converged {
			t.Fatal(got.Outcome, err)
		}
		s.key, s.head, s.scan[sha(3)] = []byte("a third key"), sha(3), lgtm
		if got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "fourth" }); err != nil || got.Outcome != review.LGTM {
			t.Errorf("%s (%s), %q, %v", got.Outcome, got.Reason, got.Scan.Standing, err)
		}
	})
	t.Run("a full review that follows on a scan and never reports, as the comment of the scan tells (threats.md T797)", func(t *testing.T) {
		s, both := newScouting(said(review.SimpleChange, review.Flag)), &escalate.Triggers{OnFlag: true}
		s.base = "main"
		for kill := 0; !slices.Contains(s.timeline(), "escalating to full review"); kill++ {
			s.comments, s.asked = nil, nil
			if _, err := s.quickly(t, &killed{remembering: newSteps(), at: kill}, both, nil); err == nil {
				t.Fatal("it was not killed")
			}
		}
		s.head, s.scan[sha(2)] = sha(2), lgtm
		got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "second" })
		if err != nil || got.Outcome != review.Flagged || len(got.Scan.Standing) != 1 || !strings.Contains(got.Scan.Standing[0], "has not reported") {
			t.Errorf("%s (%s), %q, %v", got.Outcome, got.Reason, got.Scan.Standing, err)
		}
		if got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run, r.Quick = "third", nil }); err != nil || got.Outcome != review.Converged {
			t.Fatal(got.Outcome, err)
		}
		s.head, s.scan[sha(3)] = sha(3), lgtm
		if got, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "fourth" }); err != nil || got.Outcome != review.LGTM {
			t.Errorf("%s (%s), %q, %v", got.Outcome, got.Reason, got.Scan.Standing, err)
		}
	})
	t.Run("somebody who asked for changes", func(t *testing.T) {
		s := newScouting(lgtm)
		in := Inputs{Request: Request{Target: round().Request.Target, Quick: &QuickPlan{Tier: escalate.Quick}}, Round: 1, Snapshot: round().Snapshot,
			Scan: &AgentReport{Answer: review.Answer{Scout: &lgtm, Receipt: review.AgentReceipt{State: review.AgentComplete}}}}
		in.Snapshot.Discussion = review.Discussion{Reviews: []review.Review{{ID: "R1", State: "CHANGES_REQUESTED", Author: review.Person{Login: "mona", Association: "MEMBER"}}}}
		if got := Judge(in).Result; got.Outcome != review.Flagged {
			t.Errorf("%s (%s), %q", got.Outcome, got.Reason, got.Scan.Standing)
		}
		_ = s
	})
}

// The next push has a comment of its own, and the one before is collapsed; a run that is asked for in full says so in the comment of the scan.
func TestScansFollowEachOther(t *testing.T) {
	lgtm := said(review.SimpleChange, review.LooksGood)
	s := newScouting(lgtm)
	if _, err := s.quickly(t, newSteps(), nil, nil); err != nil {
		t.Fatal(err)
	}
	s.head, s.scan[sha(2)] = sha(2), said(review.SimpleChange, review.Flag)
	if _, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "second" }); err != nil {
		t.Fatal(err)
	}
	if got, want := s.timeline(), []string{"[quick scan · looks good]", "quick scan · flagged"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	s.stage.says[sha(2)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
	if _, err := s.quickly(t, newSteps(), nil, func(r *Request) {
		r.Run, r.Quick, r.Asked = "third", nil, &review.Asked{Comment: 9, Line: 1, By: "mona", URL: "https://github.com/o/r/pull/7#issuecomment-9"}
	}); err != nil {
		t.Fatal(err)
	}
	got := s.timeline()
	if len(got) != 3 || got[1] != "[escalating to full review]" || !strings.HasPrefix(got[2], "changes requested") || s.edits != 1 {
		t.Errorf("%q after %d edits", got, s.edits)
	}
	if !strings.Contains(s.comments[1].Body, "somebody asked for it") {
		t.Error(s.comments[1].Body)
	}
	for i, c := range s.comments {
		pr := review.PullRequest{Repo: round().Request.Target.Repo, Number: 7}
		if _, err := sanitize.Verify(c.Body, s.world.loop().MarkerKey, pr.Repo.String(), 7); err != nil {
			t.Errorf("comment %d is not authentically ours any more: %v", i+1, err)
		}
	}
}

// A scan of the same commit is not asked for again, and what it said is not said twice.
func TestScanOfTheSameCommit(t *testing.T) {
	s := newScouting(said(review.SimpleChange, review.LooksGood))
	steps := newSteps()
	first, err := s.quickly(t, steps, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.earlier = []Stored{{Inputs: s.inputs(t), Result: first}}
	second, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "second" })
	if err != nil || second.Outcome != review.LGTM || second.Again != first.Run || len(s.asked) != 1 || len(s.comments) != 1 {
		t.Errorf("%s again %q, asked %v, timeline %q, %v", second.Outcome, second.Again, s.asked, s.timeline(), err)
	}
	// A trigger that is pulled since then escalates it, in the same comment.
	s.labels = []string{"deep"}
	third, err := s.quickly(t, newSteps(), &escalate.Triggers{OnFlag: true, Labels: []string{"deep"}}, func(r *Request) { r.Run = "third" })
	if err != nil || third.Outcome != review.Converged || !slices.Equal(s.timeline(), []string{"[escalating to full review]", "approved"}) {
		t.Errorf("%s, timeline %q, %v", third.Outcome, s.timeline(), err)
	}
	// What was reviewed in full is not scanned after that.
	s.earlier = append([]Stored{{Inputs: s.inputs(t), Result: third}}, s.earlier...)
	asked := len(s.asked)
	fourth, err := s.quickly(t, newSteps(), nil, func(r *Request) { r.Run = "fourth" })
	if err != nil || fourth.Outcome != review.Converged || fourth.Again != "third" || len(s.asked) != asked || len(s.comments) != 2 {
		t.Errorf("%s again %q, asked %v, timeline %q, %v", fourth.Outcome, fourth.Again, s.asked[asked:], s.timeline(), err)
	}
}

// inputs are those that the last run kept.
func (s *scouting) inputs(t *testing.T) (in Inputs) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.kept["round-1/inputs.json"]), &in); err != nil {
		t.Fatal(err)
	}
	return in
}

// A scan is a success only where every changed line stood in the scout's request, whatever the change, the budget and the scout's words are.
func TestScanPassesOnlyWhatItSaw(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 71))
	passed := 0
	for range 300 {
		s := newScouting(said(pick(r, []review.Complexity{review.TrivialChange, review.SimpleChange, review.ComplexChange}), pick(r, []review.ScanVerdict{review.LooksGood, review.LooksGood, review.Flag})))
		var files []review.BriefFile
		for i := range r.IntN(5) {
			f := changed(fmt.Sprintf("f%d.go", i))
			switch r.IntN(8) {
			case 0:
				f.Omitted, f.Diff, f.HunksGiven = "too large", "", 0
			case 1:
				f.HunksGiven, f.Hunks = f.Hunks, f.Hunks+1
			case 2:
				f.Additions++
			case 3:
				f.Omitted, f.Excused, f.Diff, f.HunksGiven = "lock file", true, "", 0
			}
			files = append(files, f)
		}
		brief := review.Brief{Status: pick(r, []string{"ok", "ok", "ok", "truncated"}), Files: files}
		s.briefer = briefs{brief}
		if r.IntN(6) == 0 {
			delete(s.scan, sha(1))
		}
		policy := pick(r, gate.Policies[1:])
		got, err := s.quickly(t, newSteps(), nil, func(req *Request) { req.Quick.Limits.ContextTokens = 20 + r.IntN(300); req.Gate.Policy = policy })
		if err != nil {
			t.Fatal(err)
		}
		last := s.set[len(s.set)-1]
		if !strings.Contains(last, " success:") {
			continue
		}
		passed++
		if len(s.tasks) != 1 || brief.Status != "ok" {
			t.Fatalf("%s by %s: %s, %d questions, brief %s", got.Outcome, policy, last, len(s.tasks), brief.Status)
		}
		for _, f := range files {
			at := slices.IndexFunc(s.tasks[0].Brief.Files, func(g review.BriefFile) bool { return g.Path == f.Path })
			if !f.Excused && (s.tasks[0].Brief.Files[at].Diff != f.Diff || !coverage.Whole(f)) {
				t.Fatalf("%s by %s passes, and %s was not in the request whole", got.Outcome, policy, f.Path)
			}
		}
	}
	if passed < 20 {
		t.Errorf("%d of the scans passed: the test shows nothing", passed)
	}
}

// briefs gives one brief.
type briefs struct{ brief review.Brief }

func (b briefs) Brief(context.Context, Range, ContextOptions, review.Limits) (review.Brief, error) {
	return b.brief, nil
}

// A scan and a command name what a change brings in that no diff shows, as a review does (threats.md T811).
func TestWhatIsKeptElsewhereIsNamed(t *testing.T) {
	module, pointer := changed("lib"), changed("tool.py")
	module.Diff = strings.Replace(module.Diff, "+new", "+Subproject commit "+sha(9), 1)
	pointer.Diff = strings.Replace(pointer.Diff, "+new", "+oid sha256:"+strings.Repeat("4d", 32), 1)
	in := round()
	in.Snapshot.Brief.Files = []review.BriefFile{module, pointer}
	reviewed := Judge(in).Report
	scan := in
	lgtm := said(review.SimpleChange, review.LooksGood)
	scan.Reports, scan.Request.Quick = nil, &QuickPlan{Tier: escalate.Quick}
	scan.Scan = &AgentReport{Answer: review.Answer{Receipt: review.AgentReceipt{Name: "scout", Role: review.RoleScout, State: review.AgentComplete}, Scout: &lgtm}}
	asked := in
	asked.Request.Alone, asked.Request.Agents = true, []AgentPlan{{Name: "!look", Role: review.RoleCommand, Command: &CommandPlan{ID: "look", Mode: review.SeparateComment, Exclude: []string{"lib"}}}}
	asked.Reports = []AgentReport{{Answer: review.Answer{Receipt: review.AgentReceipt{Name: "!look", Role: review.RoleCommand, State: review.AgentComplete}, Command: &review.CommandAnswer{}}}}
	for name, report := range map[string]string{"review": reviewed, "scan": Judge(scan).Report, "command": Judge(asked).Report} {
		if got := strings.Contains(report, "`lib` is a submodule: nobody was shown"); got == (name == "command") { // it is about other files
			t.Errorf("%s names the submodule: %v\n%s", name, got, report)
		}
		if !strings.Contains(report, "`tool.py` is kept in Git LFS: nobody was shown") {
			t.Errorf("%s does not name the pointer:\n%s", name, report)
		}
	}
}
