package orchestrator

import (
	"context"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// reportedBy is a report by our account.
func reportedBy(t *testing.T, run string, o review.Outcome, head, base string) review.Comment {
	t.Helper()
	d := report.Data{Target: review.Target{PR: 7}, Round: 1, Rounds: 1, Outcome: o, Receipt: review.Receipt{HeadSHA: head, BaseSHA: head, MergeBaseSHA: head}}
	if o == review.Converged {
		d.Verdict = &review.Verdict{Consensus: review.Approve}
	}
	texts, err := sanitize.Comment(report.Render(d), sanitize.Marker{ReviewID: "r", Run: run, Round: 1, Nonce: run, RepoID: "o/r", PR: 7, Base: sanitize.BaseNamed(base), Key: make([]byte, sanitize.KeySize)}, sanitize.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_800_000_000, 0)
	return review.Comment{ID: run, URL: "https://github.com/o/r/pull/7#" + run, Author: bot, Body: texts[0].String(), CreatedAt: at, UpdatedAt: at}
}

// What another machine refuses while reviewers are at work is not approved, in a report or in a status; what would not let it pass is said all the same (threats.md T841).
func TestRefusedMeanwhile(t *testing.T) {
	stranger := reportedBy(t, "other", review.ChangesRequested, sha(1), "")
	stranger.Author = review.Person{Login: "mallory", ID: 8}
	changed := reportedBy(t, "other", review.ChangesRequested, sha(1), "")
	changed.Body, changed.UpdatedAt = sanitize.PlainMarker+"\n\n## prloop", changed.UpdatedAt.Add(time.Hour)
	bad := map[string][]review.Finding{"alpha": {at(review.P1, 3, "A", leak)}}
	for name, row := range map[string]struct {
		said    review.Comment
		finds   map[string][]review.Finding
		outcome review.Outcome
		passes  review.Outcome
	}{
		"refused":                    {reportedBy(t, "other", review.ChangesRequested, sha(1), ""), nil, review.Superseded, review.Superseded},
		"a person is needed":         {reportedBy(t, "other", review.Stuck, sha(1), ""), nil, review.Superseded, review.Superseded},
		"approved":                   {reportedBy(t, "other", review.Converged, sha(1), ""), nil, review.Converged, review.Converged},
		"another commit is refused":  {reportedBy(t, "other", review.ChangesRequested, sha(2), ""), nil, review.Converged, review.Converged},
		"by rules alone":             {reportedBy(t, "other", review.StaticOnly, sha(1), ""), nil, review.Converged, review.Converged},
		"without a verdict":          {reportedBy(t, "other", review.Partial, sha(1), ""), nil, review.Converged, review.Converged},
		"for another branch":         {reportedBy(t, "other", review.ChangesRequested, sha(1), "dev"), nil, review.Converged, review.Converged},
		"by a run on record":         {reportedBy(t, "known", review.ChangesRequested, sha(1), ""), nil, review.Converged, review.Converged},
		"by somebody else":           {stranger, nil, review.Converged, review.Converged},
		"a report that was changed":  {changed, nil, review.Superseded, review.Superseded},
		"this run refuses it itself": {reportedBy(t, "other", review.Converged, sha(1), ""), bad, review.ChangesRequested, review.Converged},
		"both refuse":                {reportedBy(t, "other", review.ChangesRequested, sha(1), ""), bad, review.ChangesRequested, review.Superseded},
	} {
		s := &talking{stage: newStage(), discussion: review.Discussion{Comments: []review.Comment{row.said}}}
		s.says[sha(1)], s.forge = row.finds, s
		s.recorded = func(_ context.Context, run string) (bool, error) { return run == "known", nil }
		got := s.run(t, newSteps(), func(r *Request) { r.Fix = nil })
		if got.Outcome != row.outcome || (s.calls > 0) != (row.outcome != review.Superseded) {
			t.Errorf("%s: %s (%s), %d posts", name, got.Outcome, got.Reason, s.calls)
		}

		l, w, _, req := gatedRun() // it comes while the report is posted
		w.comments, l.Recorded = []review.Comment{row.said}, s.recorded
		approve := string(review.Approve)
		p := &progress{round: 1, head: sha(1), as: review.PullRequest{Repo: req.Target.Repo, Number: 7, HeadSHA: sha(1)}}
		r := review.RunResult{Outcome: review.Converged, Consensus: &approve, Receipt: review.Receipt{Complete: 1, Status: "ok"}}
		if got, err := l.stillPasses(t.Context(), inline{}, req, p, r); err != nil || got.Outcome != row.passes {
			t.Errorf("%s, at the end: %s (%s), %v", name, got.Outcome, got.Reason, err)
		}
		p.reports = Reports(w.comments, bot) // it was there before
		if got, err := l.stillPasses(t.Context(), inline{}, req, p, r); err != nil || got.Outcome != review.Converged {
			t.Errorf("%s, before: %s (%s), %v", name, got.Outcome, got.Reason, err)
		}
	}
}
