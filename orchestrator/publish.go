package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

const (
	// quarantine is how long a post may still appear after the end of the process that sent it, or of its wait for the
	// answer: GitHub ends a request after 10 s (threats.md "Outbox"), and two more cover the way there.
	quarantine = 12 * time.Second
	// postTries is how often one part is sent in all, each time only after it was proven absent.
	postTries = 2
	// settleTries bounds the search for two equal readings of the comment list (threats.md T59).
	settleTries = 6
)

// posted is the stored result of posting one part. A domain failure stands in the result, not in an error: errors come
// back from the store as text.
type posted struct {
	URL string `json:"url,omitempty"`
	// Overtaken says why nothing was posted: the pull request is no longer what the report is about.
	Overtaken string `json:"overtaken,omitempty"`
}

// refused is the optional ability of a posting error to say that nothing was posted for certain.
type refused interface{ Refused() bool }

// saying is one report on its way out.
type saying struct {
	round int
	// op is OpReport or OpFix.
	op string
	// pr is the pull request as it was reviewed, with the head the report is about.
	pr review.PullRequest
	// body is the Markdown, not yet sanitized as a whole.
	body string
}

// publish posts the parts of a report in order, each exactly once: intent, one call, acknowledgement (threats.md "Outbox").
// overtaken is the reason when the pull request moved on and the rest was therefore not said.
func (l *Loop) publish(ctx context.Context, steps Steps, req Request, s saying) (urls []string, overtaken string, err error) {
	nonce, err := doJSON(ctx, steps, fmt.Sprintf("round %d: name the %s", s.round, s.op), func(context.Context) (string, error) {
		return l.Nonce(), nil
	})
	if err != nil {
		return nil, "", err
	}
	texts, err := l.seal(req, s.round, s.body, nonce)
	if err != nil {
		return nil, "", fmt.Errorf("sanitize the %s of round %d: %w", s.op, s.round, err)
	}
	for i, text := range texts {
		if i > 0 {
			if err := betweenPart.Hit(); err != nil {
				return urls, "", err
			}
		}
		p := Posting{Nonce: nonce, Run: req.Run, Round: s.round, Op: s.op, Part: i + 1, Parts: len(texts), PR: s.pr, Body: text}
		done, err := doJSON(ctx, steps, fmt.Sprintf("round %d: post %s part %d", s.round, s.op, p.Part), func(ctx context.Context) (posted, error) {
			return l.post(ctx, p)
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
func (l *Loop) seal(req Request, round int, body, nonce string) ([]sanitize.Text, error) {
	m := sanitize.Marker{
		ReviewID: req.ReviewID, Run: req.Run, Round: round, RepoID: req.Target.Repo.String(), PR: req.Target.PR,
		Nonce: nonce, Key: l.MarkerKey,
	}
	return sanitize.Comment(body, m, sanitize.Policy{Repo: req.Target.Repo, Known: l.Secrets})
}

// post brings one part to GitHub.
func (l *Loop) post(ctx context.Context, p Posting) (posted, error) {
	poster, err := l.Forge.Viewer(ctx, p.PR.Repo.Host)
	if err != nil {
		return posted{}, err
	}
	p.Poster = poster
	for tries := 0; ; {
		stored, err := l.Outbox.Intend(ctx, p)
		if err != nil {
			return posted{}, err
		}
		if stored.URL != "" {
			return posted{URL: stored.URL}, nil
		}
		if !stored.SentAt.IsZero() { // begun by us, or by a process that is no more
			url, err := l.reconcile(ctx, stored)
			if err != nil || url != "" {
				return posted{URL: url}, err
			}
			if err := l.Outbox.Absent(ctx, stored); err != nil {
				return posted{}, err
			}
			continue // it is intended anew, as who we are now
		}
		// Nothing is said about a commit that is no longer the head, a diff that nobody would merge (threats.md T92),
		// or to people who have decided (threats.md T91).
		pr, err := l.Forge.PullRequest(ctx, p.PR.Repo, p.PR.Number)
		if err != nil {
			return posted{}, err
		}
		if why := overtaken(p.PR, pr); why != "" {
			return posted{Overtaken: why}, nil
		}
		if err := l.Outbox.Sending(ctx, stored); err != nil {
			return posted{}, err
		}
		// What was begun is finished even when the process was told to stop (threats.md T100).
		writing, done := finishing(ctx)
		url, err := l.Poster.Post(writing, p.PR, stored.Body)
		done()
		if err == nil {
			return posted{URL: url}, l.Outbox.Acked(context.WithoutCancel(ctx), stored, url)
		}
		var r refused
		if errors.As(err, &r) && r.Refused() { // certainly not there: a resumed run may send it at once
			return posted{}, errors.Join(err, l.Outbox.Absent(context.WithoutCancel(ctx), stored))
		}
		if tries++; tries == postTries || ctx.Err() != nil {
			return posted{}, err
		}
	}
}

// drainTime is how long one write may take once the process was told to stop (threats.md T100).
const drainTime = 15 * time.Second

// finishing is a context for one write: it outlives ctx by drainTime.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	writing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(drainTime, func() { cancel(context.Cause(ctx)) })
	})
	return writing, func() { stop(); cancel(nil) }
}

// reconcile finds out whether a comment that may have been posted exists: it waits until GitHub cannot finish the call
// any more, then reads the list until two readings agree. An empty URL means the comment is not there. It is looked for as
// whoever sent it, who need not be the account of today. The wait is whole and
// begins when nobody sends any more: how long ago a call was begun says neither how long it went on, nor does the clock that
// told it have to be the one there is now (threats.md T96).
func (l *Loop) reconcile(ctx context.Context, p Posting) (string, error) {
	if err := l.Sleep(ctx, quarantine); err != nil {
		return "", err
	}
	var before []string
	for try := range settleTries {
		comments, err := l.Poster.CommentsSince(ctx, p.PR, since(p.PR))
		if err != nil {
			return "", err
		}
		var ids []string
		for _, c := range comments {
			ids = append(ids, c.ID)
			if m, ok := sanitize.ParseMarker(c.Body); ok && m.Nonce == p.Nonce && m.Part == p.Part && l.authentic(c, p.PR, p.Poster) {
				return c.URL, l.Outbox.Acked(ctx, p, c.URL)
			}
		}
		slices.Sort(ids)
		if try > 0 && slices.Equal(ids, before) {
			return "", nil
		}
		before = ids
		if err := l.Sleep(ctx, time.Second); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("comments of pull request %d do not settle: cannot tell whether the report was posted", p.PR.Number)
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
