package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// escalateOwn gives the comment of the run's own scan, and those of earlier ones that stand open, the words that a full review follows.
func (l *Loop) escalateOwn(ctx context.Context, steps Steps, req Request, p *progress, in *Inputs, said review.RunResult) (bool, review.RunResult, error) {
	if p.quick == "" {
		return l.escalateOlder(ctx, steps, req, p, in)
	}
	body := report.RenderEscalating(in.scanReport(said), cleanerFor(req.Target).inline(in.Escalated))
	return l.escalating(ctx, steps, req, p, in, OurComment{URL: p.quick, Scan: &scanName{req.ReviewID, req.Run, p.round, p.quickNonce}}, body)
}

// escalateOlder does the same for comments of earlier scans that stand open.
func (l *Loop) escalateOlder(ctx context.Context, steps Steps, req Request, p *progress, in *Inputs) (bool, review.RunResult, error) {
	why := in.Escalated
	if why == "" {
		why = "somebody asked for it"
		if req.Asked == nil {
			why = "every change is reviewed in full"
		}
	}
	c := cleanerFor(req.Target)
	body := report.RenderEscalating(report.Scan{Target: req.Target}, c.inline(why))
	for _, one := range newest(slices.DeleteFunc(slices.Clone(in.Snapshot.Ours), func(c OurComment) bool { return c.Scan == nil })) {
		if ended, result, err := l.escalating(ctx, steps, req, p, in, one, body); ended || err != nil {
			return ended, result, err
		}
	}
	return false, review.RunResult{}, nil
}

// escalating edits one comment of a scan, once in its life. Where GitHub refuses it for good the review goes on: a person may have deleted it.
func (l *Loop) escalating(ctx context.Context, steps Steps, req Request, p *progress, in *Inputs, c OurComment, body string) (bool, review.RunResult, error) {
	if l.Editor == nil || req.DryRun || req.Target.Local() {
		return false, review.RunResult{}, nil
	}
	m := l.marker(req, c.Scan.Round, c.Scan.Nonce)
	m.ReviewID, m.Run, m.Command, m.Asked, m.Base = c.Scan.ReviewID, c.Scan.Run, scanMarker, "", sanitize.BaseNamed(req.base(in.Snapshot.PR))
	texts, err := sanitize.Comment(body, m, l.policy(req.Target.Repo))
	if err != nil {
		return false, review.RunResult{}, fmt.Errorf("sanitize the words of a scan: %w", err)
	}
	payload, err := effects.EditPayload(c.URL, texts[0])
	if err != nil {
		return false, review.RunResult{}, err
	}
	done, err := doJSON(ctx, steps, "escalating: "+c.URL, func(ctx context.Context) (posted, error) {
		d, err := l.deliver(ctx, effects.Edit{Editor: l.Editor, Policy: l.policy(req.Target.Repo)}, effects.Effect{
			Key: effects.EditKey(c.URL, "escalating"), Nonce: l.Nonce(), Run: req.Run, Target: req.Target, Head: in.Snapshot.PR.HeadSHA, Payload: payload,
		}, in.Snapshot.PR)
		switch {
		case ctx.Err() != nil:
			return posted{}, errors.Join(context.Cause(ctx), err)
		case err != nil && l.declined(err): // somebody deleted it, or took the right away
			l.warn("the comment of a quick scan does not say that a full review follows: " + sanitize.Redact(err.Error()))
			return posted{}, nil
		}
		return posted{URL: d.Ref, Overtaken: d.Overtaken}, err
	})
	if err == nil && done.Overtaken != "" {
		return true, superseded(req, *p, in.Snapshot.PR.URL, done.Overtaken), nil
	}
	return false, review.RunResult{}, err
}

// unreported is the address of a scan's comment by our account, whichever key signed it, that says that a full review for a base branch follows, where no report about that branch has followed:
// the review was cut short. Of the comments of scans, those that say so alone name a branch.
func unreported(comments []review.Comment, own func(review.Comment) bool, base string) string {
	here, reports := sanitize.BaseNamed(base), reportsAbout(comments, own, base)
	for _, c := range comments {
		m, _ := sanitize.ParseMarker(c.Body)
		if m.Command == scanMarker && m.Base != "" && m.Base == here && own(c) && !slices.ContainsFunc(reports, func(r aReport) bool {
			return r.says.Base == here && !r.at.Before(c.CreatedAt) && !r.at.Before(c.EditedAt)
		}) {
			return c.URL
		}
	}
	return ""
}

// commentAt is a comment of this run that stands at an address; empty when it is gone.
func (l *Loop) commentAt(ctx context.Context, pr review.PullRequest, url string) ([]OurComment, error) {
	all, err := l.Poster.CommentsSince(ctx, pr, since(pr))
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.URL == url {
			return []OurComment{{ID: c.ID, URL: c.URL}}, nil
		}
	}
	return nil, nil
}
