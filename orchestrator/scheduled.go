package orchestrator

import (
	"context"
	"errors"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// CheckWork holds what the agent of a scheduled command said against the repository, as answers in a review are, before any of it is stored: credentials, evidence,
// identity, the command's bounds, secrets, masks in the place of values, secrets that it brings, and that the review of its pull request would read what it wrote. What stands is left in the answer; the rest is told apart. Nothing is left of work whose agent held a credential:
// failed is how asking it ended, sanitize.ErrKnownSecret where a message of its commits held one.
func (l *Loop) CheckWork(ctx context.Context, req Request, plan AgentPlan, o review.JobOrder, w review.JobWork, failed error) (review.JobWork, error) {
	if failed != nil && !errors.Is(failed, sanitize.ErrKnownSecret) {
		return w, failed
	}
	w, err := l.guardWork(ctx, plan, o, w, failed != nil)
	if err != nil {
		return w, err
	}
	refused, err := l.valued(ctx, o.From, w.Tip, w.Commits)
	if err != nil {
		return w, err
	}
	if w.Refusals = append(w.Refusals, refused...); len(refused) > 0 {
		w.Tip = ""
	}
	if err := l.unseenWork(ctx, req, o, &w); err != nil {
		return w, err
	}
	r := &w.Answer.Receipt
	r.Name, r.Role, r.Kind = plan.Name, plan.Role, plan.Kind
	if w.Answer.Command != nil {
		if err := l.sort(ctx, plan, o, &w); err != nil {
			return w, err
		}
	}
	known := l.Learned
	w.Answer = redactReport(AgentReport{Answer: w.Answer}, known).Answer
	redactFindings(w.Settled, known)
	for i := range w.Unverified {
		for _, text := range append(written(&w.Unverified[i].Finding), &w.Unverified[i].Reason) {
			*text = known.Redact(*text)
		}
	}
	if p := w.Pull; p != nil {
		p.Title, p.Body, p.Branch = known.Redact(p.Title), known.Redact(p.Body), known.Redact(p.Branch)
	}
	return w, nil
}

// guardWork fails the agent when its words, one of its commits or the message of one carry a credential this process holds (threats.md T30): nothing of its work is kept.
func (l *Loop) guardWork(ctx context.Context, plan AgentPlan, o review.JobOrder, w review.JobWork, message bool) (review.JobWork, error) {
	what, kind, err := l.held(ctx, w, o.From, w.Tip, w.Commits)
	if kind == "" && message {
		what, kind = "commit messages", sanitize.AnyCredential
	}
	if kind == "" || err != nil {
		return w, err
	}
	answer, err := l.caught(ctx, o.Run, plan, w.Answer.Receipt, what, kind)
	return review.JobWork{Answer: answer, Notes: []string{"nothing of its work is taken: it held a credential"}}, err
}

// sort tells the findings of a work that stand from those whose evidence is false, and from those that the work itself settled: the code they quote stood where the agent
// began, and does not stand in what it committed.
func (l *Loop) sort(ctx context.Context, plan AgentPlan, o review.JobOrder, w *review.JobWork) error {
	before := evidence.New(l.History, o.From, o.Head, nil)
	now := before
	if w.Tip != "" {
		now = evidence.New(l.History, w.Tip, o.Head, nil)
	}
	facts, _, err := examined(ctx, plan, &w.Answer, review.Brief{}, now, func(_ review.Finding, ev evidence.Result) bool { return ev.Status == evidence.False })
	if err != nil {
		return err
	}
	c := w.Answer.Command
	all := c.Findings
	c.Findings = []review.Finding{}
	for i, f := range all {
		was := facts[i]
		if was.Status == evidence.False && w.Tip != "" {
			if was, _, err = before.Place(ctx, &f, false); err != nil {
				return err
			}
		}
		switch {
		case f.Unconfirmed != "":
			w.Unverified = append(w.Unverified, review.Unverified{Finding: f, Reason: f.Unconfirmed})
		case was.Status == evidence.False:
			w.Unverified = append(w.Unverified, review.Unverified{Finding: f, Reason: was.Reason})
		case facts[i].Status == evidence.False:
			w.Settled = append(w.Settled, f)
		default:
			c.Findings = append(c.Findings, f)
		}
	}
	w.Answer.Receipt.Findings = len(c.Findings)
	return nil
}
