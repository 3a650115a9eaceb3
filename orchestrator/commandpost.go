package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// publishCommands posts the own comments of the commands of a round, in the order of their plans, each exactly once. overtaken is as that of publish.
func (l *Loop) publishCommands(ctx context.Context, steps Steps, in Inputs, p *progress) (overtaken string, err error) {
	for _, h := range in.Reports {
		plan := in.Request.command(h)
		if plan == nil || !in.speaks(h) {
			continue
		}
		if err := beforeCommand.Hit(); err != nil {
			return "", err
		}
		l.say("posting the answer of " + plan.ID)
		urls, why, err := l.publishCommand(ctx, steps, in, h)
		for _, url := range urls {
			p.urls = append(p.urls, url)
			p.answers = append(p.answers, review.CommandComment{Command: plan.ID, URL: url})
		}
		if err != nil || why != "" {
			return why, err
		}
	}
	return "", nil
}

// speaks reports whether a command's answer has a comment of its own: where its mode says so, or its agent wished to write something. One that was not asked says nothing,
// unless somebody waits for its answer.
func (in Inputs) speaks(h AgentReport) bool {
	plan, a := in.Request.command(h), h.Answer.Command
	switch {
	case in.Request.Alone:
		return true
	case a == nil:
		return plan.posts() && h.Answer.Receipt.State != review.AgentComplete
	}
	return plan.posts() || len(a.Wishes) > 0
}

// unposted are the own comments of the commands of a review that posts nothing.
func (in Inputs) unposted() (out []review.CommandComment) {
	if in.Request.posts() || in.Request.Alone {
		return nil
	}
	for _, h := range in.Reports {
		if plan := in.Request.command(h); plan != nil && in.speaks(h) {
			out = append(out, review.CommandComment{Command: plan.ID, Text: in.commandReport(h, nil)})
		}
	}
	return out
}

// publishCommand posts one: comments on lines where its type and the diff allow, and what is left on the pull request as a whole.
func (l *Loop) publishCommand(ctx context.Context, steps Steps, in Inputs, h AgentReport) (urls []string, overtaken string, err error) {
	plan := in.Request.command(h)
	s := saying{round: in.Round, op: "answer of " + plan.ID, pr: in.Snapshot.PR, command: markerOf(*plan)}
	left, err := l.leftovers(ctx, steps, in, s)
	if err != nil {
		return nil, "", err
	}
	var there []placedComment // those that stand on lines
	if placed := in.placed(h); len(placed) > 0 && plan.Type != review.IssueComment && l.Reviewer != nil && left.Lines == "" {
		done, err := l.publishLines(ctx, steps, in, s, plan, placed, in.commandReport(h, among(placed)))
		if err != nil || done.Overtaken != "" {
			return nil, done.Overtaken, err
		}
		for _, sent := range done.Sent {
			urls, there = append(urls, sent.URL), append(there, placed[sent.From:sent.To]...)
		}
		if done.Whole {
			return urls, "", nil
		}
		if err := betweenAnswers.Hit(); err != nil {
			return urls, "", err
		}
	}
	s.body = in.commandReport(h, among(there))
	if left.Lines != "" {
		s.body = fmt.Sprintf("An earlier run was interrupted before it summed up; its [comments on lines](%s) stand.\n\n", left.Lines) + s.body
	}
	more, overtaken, err := l.publish(ctx, steps, in.Request, s)
	if err == nil && overtaken == "" {
		err = l.minimizeLeftovers(ctx, steps, in, s, left)
	}
	return append(urls, more...), overtaken, err
}

// place is where a finding or a wish says it belongs: a spelled file, and lines as in findings.
type place struct {
	file      string
	line, end int
}

func (p place) key() string { return fmt.Sprintf("%s\x00%d\x00%d", p.file, p.line, p.end) }

// placedComment is one comment on lines, as it is known before it is sanitized. at are the lines where GitHub takes it.
type placedComment struct {
	place
	at   diff.Place
	body string
}

// among tells which findings and wishes are comments on lines, asked once for each in the order of the answer: of several on one line the
// first are.
func among(placed []placedComment) func(file string, line, end int) bool {
	left := map[string]int{}
	for _, c := range placed {
		left[c.key()]++
	}
	return func(file string, line, end int) bool {
		key := place{file, line, end}.key()
		left[key]--
		return left[key] >= 0
	}
}

// maxLined is how many comments on lines one answer may have: an agent that was talked into it would flood the pull request.
const maxLined = 30

// placed are the findings and wishes of an answer that stand on lines of the diff, where GitHub takes comments, the gravest first. Those
// past the bound stand in its summary.
func (in Inputs) placed(h AgentReport) (out []placedComment) {
	a := h.Answer.Command
	if a == nil {
		return nil
	}
	c, files := cleanerFor(in.Request.Target), gathered{in: in}.hunks()
	most := maxLined
	if m := in.Request.InlineMost; m > 0 {
		most = min(most, m)
	}
	take := func(file string, line, end int, body string) {
		if f := files[file]; f != nil && len(out) < most {
			if at, ok := f.Place(line, end); ok {
				out = append(out, placedComment{place{file, line, end}, at, body})
			}
		}
	}
	for _, f := range in.said(h).findings {
		line, end := lines(f.Line, f.LineEnd)
		take(f.File, line, end, report.RenderLine(c.finding(f)))
	}
	for _, w := range a.Wishes {
		if l := w.Location; l != nil && w.Kind != review.WishPostSummary {
			line, end := lines(l.Line, l.LineEnd)
			take(l.File, line, end, report.RenderWish(c.block(w.Body), w.Kind == review.WishSuggest))
		}
	}
	return out
}

// onLines is the stored result of posting comments on lines: the reviews that bear them. Whole is true when one says all there is to say.
type onLines struct {
	Sent      []sentReview `json:"sent,omitempty"`
	Whole     bool         `json:"whole,omitempty"`
	Overtaken string       `json:"overtaken,omitempty"`
}

// linesOut are comments on lines on their way out, sealed.
type linesOut struct {
	saying
	id       string
	nonce    string
	comments []effects.LineComment
	// whole is the text of the review with all of them, if that says all there is to say.
	whole *sanitize.Text
}

// publishLines posts comments on lines as one review, exactly once. Its own text is the whole answer where that fits and its type is not both.
// A line that GitHub does not take costs no other its comment.
func (l *Loop) publishLines(ctx context.Context, steps Steps, in Inputs, s saying, plan *CommandPlan, placed []placedComment, whole string) (onLines, error) {
	req := in.Request
	nonce, err := doJSON(ctx, steps, fmt.Sprintf("round %d: name the lines of the %s", s.round, s.op), func(context.Context) (string, error) {
		return l.Nonce(), nil
	})
	if err != nil {
		return onLines{}, err
	}
	fail := func(err error) (onLines, error) {
		return onLines{}, fmt.Errorf("sanitize the %s of round %d: %w", s.op, s.round, err)
	}
	out := linesOut{saying: s, id: plan.ID, nonce: nonce}
	s.body = whole
	texts, err := l.seal(req, s, nonce)
	if err != nil {
		return onLines{}, err
	}
	if plan.Type == review.LineComments && len(texts) == 1 {
		out.whole = &texts[0]
	}
	for i, c := range placed {
		body, err := sanitize.Comment(c.body, l.commandMarker(req, s, effects.CommentNonce(nonce, i+1)), l.policy(req.Target.Repo))
		if err != nil {
			return fail(err)
		}
		out.comments = append(out.comments, effects.LineComment{Path: spelling.Raw(c.file), Start: c.at.Start, Line: c.at.Line, Body: body[0]})
	}
	return doJSON(ctx, steps, fmt.Sprintf("round %d: post lines of the %s", s.round, s.op), func(ctx context.Context) (onLines, error) {
		return l.sendLines(ctx, req, out, 0, len(out.comments))
	})
}

// sendLines posts some of the comments as one review, or as halves where GitHub does not take one of their lines.
func (l *Loop) sendLines(ctx context.Context, req Request, out linesOut, from, to int) (onLines, error) {
	all := from == 0 && to == len(out.comments)
	nonce, op := nonceOf(out.nonce, from, to, len(out.comments)), "lines of the "+out.op
	if !all {
		op = fmt.Sprintf("lines %d-%d of the %s", from, to, out.op)
	}
	text, whole := out.whole, all && out.whole != nil
	if !whole {
		m := l.commandMarker(req, out.saying, nonce)
		if m.Asked != "" {
			m.Part, m.Parts = 1, 2 // the summary is what answers, and it is still to come
		}
		texts, err := sanitize.Comment(report.RenderLines(out.id, to-from), m, l.policy(req.Target.Repo))
		if err != nil {
			return onLines{}, fmt.Errorf("sanitize the %s of round %d: %w", op, out.round, err)
		}
		text = &texts[0]
	}
	payload, err := effects.ReviewPayload(*text, out.comments[from:to])
	if err != nil {
		return onLines{}, err
	}
	kind := effects.Review{Reviewer: l.Reviewer, Key: l.MarkerKey, Policy: l.policy(req.Target.Repo), Sleep: l.Sleep}
	done, err := l.deliver(ctx, kind, effects.Effect{
		Key: effects.CommentKey(req.Run, out.round, op, 1), Nonce: nonce, Run: req.Run,
		Target: review.Target{Repo: out.pr.Repo, PR: out.pr.Number}, Head: out.pr.HeadSHA, Payload: payload, Since: since(out.pr),
	}, out.pr)
	switch {
	case errors.Is(err, effects.ErrMisplaced) && to-from > 1:
		middle := (from + to) / 2
		one, err := l.sendLines(ctx, req, out, from, middle)
		if err != nil || one.Overtaken != "" {
			return one, err
		}
		two, err := l.sendLines(ctx, req, out, middle, to)
		return onLines{Sent: append(one.Sent, two.Sent...), Overtaken: two.Overtaken}, err
	case errors.Is(err, effects.ErrMisplaced), err != nil && l.declined(err): // it stands in the summary
		return onLines{}, nil
	case err != nil || done.Overtaken != "":
		return onLines{Overtaken: done.Overtaken}, err
	}
	return onLines{Sent: []sentReview{{from, to, done.Ref}}, Whole: whole}, nil
}
