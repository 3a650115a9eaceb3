package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// stickyName is what a sticky comment is named by: the run and the round whose report it has, and the nonce that it keeps.
type stickyName struct {
	Run   string `json:"run"`
	Round int    `json:"round"`
	Nonce string `json:"nonce"`
}

// sticky reports whether the run's report goes into the one comment that all such runs have: it is the only one of its run, and no answer to
// somebody (decision 80).
func (r Request) sticky() bool {
	return r.Sticky && r.Fix == nil && r.Asked == nil && !r.Alone
}

// reworded is the stored result of giving a comment another report.
type reworded struct {
	posted
	// Gone says why the comment cannot have it, and a new one is made; empty when it can.
	Gone string `json:"gone,omitempty"`
}

// publishSticky gives the comment of earlier reviews this report, or posts one where there is none. A report that does not fit into one comment is
// posted as every other, in parts.
func (l *Loop) publishSticky(ctx context.Context, steps Steps, req Request, p *progress, s saying, snap Snapshot) (urls []string, overtaken string, err error) {
	nonce, err := l.name(ctx, steps, s)
	if err != nil {
		return nil, "", err
	}
	s.sticky = true
	texts, err := l.seal(req, s, nonce)
	if err != nil {
		return nil, "", err
	}
	if len(texts) > 1 {
		s.sticky = false
		return l.publishAs(ctx, steps, req, s, nonce)
	}
	old, err := doJSON(ctx, steps, fmt.Sprintf("round %d: find the comment of reviews", s.round), func(ctx context.Context) (*OurComment, error) {
		return l.stickyComment(ctx, req, s.pr, snap)
	})
	if err != nil {
		return nil, "", err
	}
	if err := stickyFound.Hit(); err != nil {
		return nil, "", err
	}
	if old == nil || l.Editor == nil {
		return l.publishAs(ctx, steps, req, s, nonce)
	}
	if texts, err = l.seal(req, s, old.Sticky.Nonce); err != nil {
		return nil, "", err
	}
	done, err := doJSON(ctx, steps, fmt.Sprintf("round %d: give the comment its report", s.round), func(ctx context.Context) (reworded, error) {
		return l.rewrite(ctx, req, s, *old, texts[0])
	})
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("edit the comment of reviews: %w", err)
	case done.Gone != "":
		l.warn("the report is a new comment: " + done.Gone)
		return l.publishAs(ctx, steps, req, s, nonce)
	case done.Overtaken != "":
		return nil, done.Overtaken, nil
	}
	p.rewritten = done.URL
	return []string{done.URL}, "", nil
}

// stickyComment is the newest sticky comment that stands open; nil when there is none. Where another run was begun and has not ended, what that one
// sent is waited for: it would come twice, or take the place of this report.
func (l *Loop) stickyComment(ctx context.Context, req Request, pr review.PullRequest, snap Snapshot) (*OurComment, error) {
	ours, base := snap.Ours, sanitize.BaseNamed(req.base(pr))
	if l.Unfinished != nil {
		left, err := l.Unfinished(ctx, req)
		if err != nil {
			return nil, err
		}
		if left {
			if err := l.Sleep(ctx, effects.Quarantine); err != nil {
				return nil, err
			}
			if ours, err = l.oursNow(ctx, pr); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range slices.Backward(ours) {
		if c.Sticky != nil && c.Base == base { // a report about another branch is not overwritten
			return &c, nil
		}
	}
	return nil, nil
}

// oursNow are the comments of ours that stand open.
func (l *Loop) oursNow(ctx context.Context, pr review.PullRequest) ([]OurComment, error) {
	viewer, err := l.Forge.Viewer(ctx, pr.Repo.Host)
	if err != nil {
		return nil, err
	}
	d, err := l.Forge.Discussion(ctx, pr)
	if err != nil {
		return nil, err
	}
	kind := l.comment(pr.Repo)
	return standing(d.Comments, func(c review.Comment) bool { return kind.Authentic(c, pr, viewer) }), nil
}

// rewrite gives a comment of ours a report, while it still has the one that was found in it.
func (l *Loop) rewrite(ctx context.Context, req Request, s saying, old OurComment, text sanitize.Text) (reworded, error) {
	payload, err := effects.EditPayload(old.URL, text)
	if err != nil {
		return reworded{}, err
	}
	kind := effects.Rewrite{Editor: l.Editor, Poster: l.Poster, Key: l.MarkerKey, Policy: l.policy(req.Target.Repo), Sleep: l.Sleep}
	var gone string
	done, err := l.deliverWhile(ctx, kind, effects.Effect{
		Key: effects.CommentKey(req.Run, s.round, s.op, 1), Nonce: l.Nonce(), Run: req.Run, Target: req.Target, Head: s.pr.HeadSHA, Payload: payload, Since: since(s.pr),
	}, s.pr, func(ctx context.Context) (why string, err error) {
		now, err := l.oursNow(ctx, s.pr)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(now, func(c OurComment) bool { return c.URL == old.URL && c.Sticky != nil })
		switch {
		case i < 0:
			gone = "somebody deleted, collapsed or edited the comment of earlier reviews"
			return gone, nil
		case *now[i].Sticky != *old.Sticky && now[i].Sticky.Run != req.Run:
			return "another run has reported meanwhile", nil
		}
		return s.held(ctx)
	})
	switch {
	case ctx.Err() != nil:
		return reworded{}, errors.Join(context.Cause(ctx), err)
	case err != nil && l.declined(err): // deleted at this moment, or a right was taken away
		return reworded{Gone: sanitize.Redact(err.Error())}, nil
	case err != nil:
		return reworded{}, err
	case gone != "" && done.Ref == "":
		return reworded{Gone: gone}, nil
	}
	return reworded{posted: posted{URL: done.Ref, Overtaken: done.Overtaken}}, nil
}
