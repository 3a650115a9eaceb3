package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// The two reports of a round.
const (
	OpReport = "report"
	OpFix    = "fix"
)

// posted is the stored result of posting one part. A domain failure stands in the result, not in an error: errors come
// back from the store as text.
type posted struct {
	URL string `json:"url,omitempty"`
	// Overtaken says why nothing was posted: the pull request is no longer what the report is about.
	Overtaken string `json:"overtaken,omitempty"`
}

// saying is one report on its way out.
type saying struct {
	round int
	// op is OpReport or OpFix.
	op string
	// pr is the pull request as it was reviewed, with the head the report is about.
	pr review.PullRequest
	// body is the Markdown, not yet sanitized as a whole.
	body string
	// command is the marker of a command's own comment; empty for reports.
	command string
	// raised is what Judgement.raised gives, of a report.
	raised []string
	// since is what Judgement.since gives, of a report.
	since string
	// fixed is what people said that fixes are said to have done, as markers name it.
	fixed []string
	// objected is what Inputs.objected gives.
	objected []string
	// sticky is true for a report whose comment gets others in its place.
	sticky bool
	// resumed is true for a report of a round that another process began, or this one before a restore.
	resumed bool
	// still says what keeps it from being said by now; nil when nothing can.
	still func(ctx context.Context) (string, error)
}

// held is still, asked where it can be.
func (s saying) held(ctx context.Context) (string, error) {
	if s.still == nil {
		return "", nil
	}
	return s.still(ctx)
}

// publish posts the parts of a report in order, each exactly once: intent, one call, acknowledgement (threats.md "Outbox").
// overtaken is the reason when the pull request moved on and the rest was therefore not said.
func (l *Loop) publish(ctx context.Context, steps Steps, req Request, s saying) (urls []string, overtaken string, err error) {
	nonce, err := l.name(ctx, steps, s)
	if err != nil {
		return nil, "", err
	}
	return l.publishAs(ctx, steps, req, s, nonce)
}

// name draws the nonce of a report.
func (l *Loop) name(ctx context.Context, steps Steps, s saying) (string, error) {
	return doJSON(ctx, steps, fmt.Sprintf("round %d: name the %s", s.round, s.op), func(context.Context) (string, error) { return l.Nonce(), nil })
}

// publishAs is publish for a report that has its nonce.
func (l *Loop) publishAs(ctx context.Context, steps Steps, req Request, s saying, nonce string) (urls []string, overtaken string, err error) {
	texts, err := l.seal(req, s, nonce)
	if err != nil {
		return nil, "", err
	}
	for i, text := range texts {
		if i > 0 {
			if err := betweenPart.Hit(); err != nil {
				return urls, "", err
			}
		}
		part := i + 1
		e := effects.Effect{
			Key: effects.CommentKey(req.Run, s.round, s.op, part), Nonce: effects.CommentNonce(nonce, part), Run: req.Run,
			Target: review.Target{Repo: s.pr.Repo, PR: s.pr.Number}, Head: s.pr.HeadSHA, Payload: text.String(), Since: since(s.pr),
		}
		done, err := doJSON(ctx, steps, fmt.Sprintf("round %d: post %s part %d", s.round, s.op, part), func(ctx context.Context) (posted, error) {
			done, err := l.deliverWhile(ctx, l.comment(req.Target.Repo), e, s.pr, s.held)
			if err == nil && done.Overtaken == "" && s.resumed && part == 1 {
				err = l.minimizeForgotten(ctx, req, s, nonce)
			}
			return posted{URL: done.Ref, Overtaken: done.Overtaken}, err
		})
		if err != nil {
			return urls, "", fmt.Errorf("post the %s of round %d: %w", s.op, s.round, err)
		}
		if done.Overtaken != "" {
			return urls, done.Overtaken, nil
		}
		urls = append(urls, done.URL)
	}
	return urls, "", nil
}

// seal turns a report body into comments: sanitized, capped, and marked as ours.
func (l *Loop) seal(req Request, s saying, nonce string) ([]sanitize.Text, error) {
	body := s.body
	if req.Asked != nil {
		body = req.Asked.Says() + "\n\n" + body
	}
	texts, err := sanitize.Comment(body, l.commandMarker(req, s, nonce), l.policy(req.Target.Repo))
	if err != nil {
		return nil, fmt.Errorf("sanitize the %s of round %d: %w", s.op, s.round, err)
	}
	return texts, nil
}

// commandMarker is the marker of what a saying posts, with the command whose answer it is, if it is one.
func (l *Loop) commandMarker(req Request, s saying, nonce string) sanitize.Marker {
	m := l.marker(req, s.round, nonce)
	m.Command, m.Sticky, m.Raised, m.Since, m.Fixed, m.Objected = s.command, s.sticky, s.raised, s.since, s.fixed, s.objected
	if s.command == "" {
		m.Base = sanitize.BaseNamed(req.base(s.pr))
	}
	return m
}

// marker names what a round posts.
func (l *Loop) marker(req Request, round int, nonce string) sanitize.Marker {
	asked := ""
	if req.Asked != nil {
		asked = req.Asked.Key()
	}
	return sanitize.Marker{
		ReviewID: req.ReviewID, Run: req.Run, Round: round, RepoID: req.Target.Repo.String(), PR: req.Target.PR,
		Nonce: nonce, Asked: asked, Key: l.MarkerKey,
	}
}

// policy is what texts about a repository are sanitized by.
func (l *Loop) policy(repo review.Repo) sanitize.Policy {
	return sanitize.Policy{Repo: repo, Known: l.Secrets, Learned: l.Learned}
}

// comment is the kind of effect a part of a report is.
func (l *Loop) comment(repo review.Repo) effects.Comment {
	return effects.Comment{Poster: l.Poster, Key: l.MarkerKey, Policy: l.policy(repo), Sleep: l.Sleep}
}

// deliver makes an effect on a pull request while that is what it was.
func (l *Loop) deliver(ctx context.Context, k effects.Kind, e effects.Effect, was review.PullRequest) (effects.Done, error) {
	return l.deliverWhile(ctx, k, e, was, saying{}.held)
}

// deliverWhile is deliver for what can be overtaken in one more way.
func (l *Loop) deliverWhile(ctx context.Context, k effects.Kind, e effects.Effect, was review.PullRequest, overtaken func(context.Context) (string, error)) (effects.Done, error) {
	viewer, err := l.Forge.Viewer(ctx, was.Repo.Host)
	if err != nil {
		return effects.Done{}, err
	}
	e.As = viewer
	d := effects.Delivery{Outbox: l.Outbox, Sleep: l.Sleep, Overtaken: func(ctx context.Context) (string, error) {
		now, err := l.Forge.PullRequest(ctx, was.Repo, was.Number)
		if err != nil {
			return "", err
		}
		if why := staleReason(was, now); why != "" {
			return why, nil
		}
		return overtaken(ctx)
	}}
	return d.Deliver(ctx, k, e)
}

// since is a moment before anything of ours about the snapshot pr stands in can have been posted. It is GitHub's own time, as
// GitHub compares it with its own: this machine's clock may be wrong by days (threats.md T96). The minute is for the clocks of
// GitHub's machines among each other. A time GitHub did not tell is zero, and all comments are read.
func since(pr review.PullRequest) time.Time {
	if pr.UpdatedAt.IsZero() {
		return time.Time{}
	}
	return pr.UpdatedAt.Add(-time.Minute)
}

// doJSON is Steps.Do for a value that is stored as JSON.
func doJSON[T any](ctx context.Context, steps Steps, name string, fn func(context.Context) (T, error)) (T, error) {
	var out T
	data, err := steps.Do(ctx, name, func(ctx context.Context) ([]byte, error) {
		v, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, fmt.Errorf("read stored result of %q: %w", name, err)
	}
	return out, nil
}
