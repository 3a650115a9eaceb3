package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

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

// publishCommand posts one: comments on lines where its type and the diff allow, and what is left on the pull request as a whole.
func (l *Loop) publishCommand(ctx context.Context, steps Steps, in Inputs, h AgentReport) (urls []string, overtaken string, err error) {
	plan := in.Request.command(h)
	s := saying{round: in.Round, op: "answer of " + plan.ID, pr: in.Snapshot.PR, command: markerOf(*plan)}
	onLines := func(string, int, int) bool { return false }
	if placed := in.placed(h); len(placed) > 0 && plan.Type != review.IssueComment && l.Reviewer != nil {
		onLines = among(placed)
		done, err := l.publishLines(ctx, steps, in, s, plan, placed, in.commandReport(h, among(placed)))
		if err != nil || done.Overtaken != "" {
			return nil, done.Overtaken, err
		}
		switch {
		case done.Misplaced: // GitHub sees another diff than git: all of it stands in the comment
			onLines = nil
		default:
			urls = append(urls, done.URL)
			if done.Whole {
				return urls, "", nil
			}
			if err := betweenAnswers.Hit(); err != nil {
				return urls, "", err
			}
		}
	}
	s.body = in.commandReport(h, onLines)
	more, overtaken, err := l.publish(ctx, steps, in.Request, s)
	return append(urls, more...), overtaken, err
}

// placedComment is one comment on lines, as it is known before it is sanitized.
type placedComment struct {
	// file is spelled, line and end are as in findings.
	file      string
	line, end int
	body      string
}

func (c placedComment) key() string { return fmt.Sprintf("%s\x00%d\x00%d", c.file, c.line, c.end) }

// among tells which findings and wishes are comments on lines, asked once for each in the order of the answer: of several on one line the
// first are.
func among(placed []placedComment) func(file string, line, end int) bool {
	left := map[string]int{}
	for _, c := range placed {
		left[c.key()]++
	}
	return func(file string, line, end int) bool {
		key := placedComment{file: file, line: line, end: end}.key()
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
	c, at := cleaner{sanitize.Policy{Repo: in.Request.Target.Repo}}, in.anchors()
	most := maxLined
	if m := in.Request.InlineMost; m > 0 {
		most = min(most, m)
	}
	take := func(file string, line, end int, body string) {
		if len(out) < most && at(file, line, end) {
			out = append(out, placedComment{file, line, end, body})
		}
	}
	findings, _ := said(h)
	for _, f := range findings {
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

// anchors tells which lines of the head version stand in the diff, from one to another without a gap.
func (in Inputs) anchors() func(file string, line, end int) bool {
	files := map[string]*diff.Diff{}
	for _, f := range in.Snapshot.Brief.Files {
		if d, err := diff.Parse(f.Diff); err == nil && len(d.Files) == 1 && utf8.ValidString(spelling.Raw(f.Path)) {
			files[f.Path] = d
		}
	}
	return func(file string, line, end int) bool {
		d := files[file]
		if d == nil || line < 1 || end-line > maxSpan {
			return false
		}
		for n := line; n <= max(line, end); n++ {
			if !d.Files[0].Has(n) {
				return false
			}
		}
		return true
	}
}

// maxSpan is how many lines one comment spans at most.
const maxSpan = 500

// onLines is the stored result of posting comments on lines.
type onLines struct {
	posted
	// Misplaced is true when GitHub takes no comment on one of the lines: nothing was posted. Whole is true when the review says all there is to say.
	Misplaced bool `json:"misplaced,omitempty"`
	Whole     bool `json:"whole,omitempty"`
}

// publishLines posts comments on lines as one review, exactly once. Its own text is the whole answer where that fits and its type is not both.
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
	s.body = whole
	texts, err := l.seal(req, s, nonce)
	if err != nil {
		return fail(err)
	}
	result := onLines{Whole: plan.Type == review.LineComments && len(texts) == 1}
	if !result.Whole {
		m := l.commandMarker(req, s, nonce)
		m.Asked = "" // the summary is what answers, and it is still to come
		if texts, err = sanitize.Comment(report.RenderLines(plan.ID, len(placed)), m, l.policy(req.Target.Repo)); err != nil {
			return fail(err)
		}
	}
	var comments []effects.LineComment
	for i, c := range placed {
		body, err := sanitize.Comment(c.body, l.commandMarker(req, s, effects.CommentNonce(nonce, i+1)), l.policy(req.Target.Repo))
		if err != nil {
			return fail(err)
		}
		one := effects.LineComment{Path: spelling.Raw(c.file), Line: c.line, Body: body[0]}
		if c.end > c.line {
			one.Start, one.Line = c.line, c.end
		}
		comments = append(comments, one)
	}
	payload, err := effects.ReviewPayload(texts[0], comments)
	if err != nil {
		return fail(err)
	}
	return doJSON(ctx, steps, fmt.Sprintf("round %d: post lines of the %s", s.round, s.op), func(ctx context.Context) (onLines, error) {
		kind := effects.Review{Reviewer: l.Reviewer, Key: l.MarkerKey, Policy: l.policy(req.Target.Repo), Sleep: l.Sleep}
		done, err := l.deliver(ctx, kind, effects.Effect{
			Key: effects.CommentKey(req.Run, s.round, "lines of the "+s.op, 1), Nonce: nonce, Run: req.Run,
			Target: review.Target{Repo: s.pr.Repo, PR: s.pr.Number}, Head: s.pr.HeadSHA, Payload: payload, Since: since(s.pr),
		}, s.pr)
		if errors.Is(err, effects.ErrMisplaced) {
			return onLines{Misplaced: true}, nil
		}
		result.URL, result.Overtaken = done.Ref, done.Overtaken
		return result, err
	})
}
