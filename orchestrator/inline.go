package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// The words of Request.Inline; empty is none of them, and means off.
const (
	InlineProminent = "prominent"
	InlineAll       = "all"
)

// mostInline bounds the comments of one review: their parts are numbered with two digits.
const mostInline = 50

// proposal is a comment on lines that a round has to make.
type proposal struct {
	// group is the distinct finding, lead its gravest wording that has a place, also are the others.
	group int
	lead  review.Finding
	also  []review.Finding
	place diff.Place
	// shown is what people read, identity names the finding.
	shown    report.Finding
	identity string
}

// Inlined is what became of the comments on lines that a round had to make.
type Inlined struct {
	// At gives the address of each that was posted, by its number among the distinct findings.
	At map[int]string `json:"at,omitempty"`
	// Refused says why those that are not there are not; empty when all are.
	Refused string `json:"refused,omitempty"`
}

// proposals are the comments on lines that a round has to make (decision 51): of each distinct finding of reviewers that the report
// shows openly, or is grave and counts, or lists where all are asked for, and that scores high enough, if GitHub takes a comment on its lines, no open
// thread says it already, and the pull request has not seen too many of ours. None where not all threads were read, one of which may say it (threats.md T391).
func (j verdict) proposals(c cleaner) (out []proposal, over int) {
	mode := j.in.Request.Inline
	if !j.onLinesAsked() || j.in.Snapshot.Discussion.Truncated {
		return nil, 0
	}
	open, files := j.open(), j.hunks()
	left, unsettled := mostInline, j.unsettled()
	if most, s := j.in.Request.InlineMost, j.in.Snapshot.Conversation; most > 0 && s != nil {
		left = min(left, max(0, most-s.Metadata.Posted))
	}
	for g, group := range j.groups {
		if !j.shown(g) || j.threads[g] >= 0 || mode == InlineProminent && !(j.must(g) && (open[g] || j.grave(group))) || !j.loud(group) {
			continue
		}
		p, ok := j.placed(group, files)
		if !ok {
			continue
		}
		if len(out) == left {
			over++
			continue
		}
		p.group, p.shown, p.identity = g, j.joined(c, group), j.identify(group)
		p.shown.Reason = c.inline(unsettled[g])
		out = append(out, p)
	}
	return out, over
}

// grave reports whether a wording of a distinct finding is.
func (g gathered) grave(group []int) bool {
	return slices.ContainsFunc(group, func(i int) bool { return objections.Grave(g.findings[i]) })
}

// onLinesAsked reports whether comments on lines are asked for.
func (j verdict) onLinesAsked() bool {
	mode := j.in.Request.Inline
	return !j.in.Request.Target.Local() && (mode == InlineProminent || mode == InlineAll)
}

// loud reports whether a distinct finding is one of reviewers, scores high enough, and does not stand in a thread of people. A grave one stands only in
// one that holds it: the author could have begun any other first, and resolves it (threats.md T804).
func (j verdict) loud(group []int) bool {
	loud, grave := false, slices.ContainsFunc(group, func(i int) bool { return j.findings[i].Source.Type == "agent" && objections.Grave(j.findings[i]) })
	for _, i := range group {
		switch f := j.findings[i]; {
		case f.Source.Type == "agent":
			loud = loud || !j.in.Request.scores().Silent(f)
		case !grave || j.held(f.Source):
			return false
		}
	}
	return loud
}

// held reports whether a finding is what somebody says in a thread that holds what is grave.
func (j verdict) held(from review.Source) bool {
	return from.ReviewID != nil && slices.ContainsFunc(j.in.Snapshot.Discussion.Threads, func(t review.Thread) bool {
		return t.ID == *from.ReviewID && objections.Holds(j.in.Snapshot.persons(), t)
	})
}

// hunks are the changed files of the round by name.
func (g gathered) hunks() map[string]*diff.File {
	out := map[string]*diff.File{}
	for _, f := range g.in.Snapshot.Brief.Files {
		d, err := diff.Parse(f.Diff)
		if err != nil || f.Omitted != "" || !utf8.ValidString(spelling.Raw(f.Path)) {
			continue // nothing of it has a place, or GitHub has no name for it
		}
		for i := range d.Files {
			if d.Files[i].Change != diff.Deleted {
				out[f.Path] = &d.Files[i]
			}
		}
	}
	return out
}

// placed finds the lines for a comment about a distinct finding: those of its gravest wording that has any in the diff. What stands for several in more than one file has no place: a
// thread is known again by the file that it is in.
func (j verdict) placed(group []int, files map[string]*diff.File) (p proposal, ok bool) {
	if slices.ContainsFunc(group, func(i int) bool { return j.findings[i].Several() && j.findings[i].File == "" }) {
		return p, false
	}
	said := wholly(j.findings, group)
	for at, f := range said {
		file := files[f.File]
		if file == nil || f.Line == nil {
			continue
		}
		last := 0
		if f.LineEnd != nil {
			last = *f.LineEnd
		}
		if p.place, ok = file.Place(*f.Line, last); ok {
			p.lead, p.also = f, slices.Delete(said, at, at+1)
			return p, true
		}
	}
	return p, false
}

// wholly are the wordings of a distinct finding, and of one that stands for several each of these, as grave as it: a thread shows and settles them, and nothing else.
func wholly(findings []review.Finding, group []int) (out []review.Finding) {
	for _, i := range group {
		f := findings[i]
		if !f.Several() {
			out = append(out, f)
		}
		for _, p := range f.Parts {
			p.Priority = f.Priority
			out = append(out, p)
		}
	}
	return out
}

// inlined says of each distinct finding whether a comment on its lines says it, and where that is.
func (j verdict) inlined() map[int]string {
	out := map[int]string{}
	if j.in.Request.Inline == InlineProminent || j.in.Request.Inline == InlineAll {
		for g, t := range j.threads {
			if t >= 0 {
				out[g] = j.in.Snapshot.Conversation.Threads[t].URL
			}
		}
	}
	switch {
	case j.in.Request.DryRun:
		for _, p := range j.proposed {
			out[p.group] = ""
		}
	case j.in.Inline != nil:
		for g, url := range j.in.Inline.At {
			out[g] = url
		}
	}
	return out
}

// sentReview is a review as it is on GitHub: the numbers of its comments, from and up to, and where it is.
type sentReview struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	URL  string `json:"url"`
}

// inlineResult is the stored result of posting comments on lines.
type inlineResult struct {
	Sent      []sentReview `json:"sent,omitempty"`
	Refused   string       `json:"refused,omitempty"`
	Overtaken string       `json:"overtaken,omitempty"`
}

// inline posts the comments on lines of a round as one review, exactly once, and says where each is. A review that GitHub does not take
// costs the round nothing: its findings stand in the report. overtaken is as that of publish.
func (l *Loop) inline(ctx context.Context, steps Steps, req Request, judged Judgement) (out *Inlined, overtaken string, err error) {
	round, snap := judged.Inputs.Round, judged.Inputs.Snapshot
	if len(judged.proposed) == 0 || l.Reviewer == nil {
		return nil, "", nil
	}
	l.say(fmt.Sprintf("posting %s", plural(len(judged.proposed), "comment on a line", "comments on lines")))
	nonce, err := doJSON(ctx, steps, fmt.Sprintf("round %d: name the comments on lines", round), func(context.Context) (string, error) {
		return l.Nonce(), nil
	})
	if err != nil {
		return nil, "", err
	}
	comments, err := l.lineComments(req, round, judged, nonce)
	if err != nil {
		return nil, "", fmt.Errorf("sanitize the comments on lines of round %d: %w", round, err)
	}
	sent, err := doJSON(ctx, steps, fmt.Sprintf("round %d: post comments on lines", round), func(ctx context.Context) (inlineResult, error) {
		return l.sendReview(ctx, req, judged, comments, nonce, 0, len(comments))
	})
	if err != nil {
		return nil, "", fmt.Errorf("post the comments on lines of round %d: %w", round, err)
	}
	if sent.Overtaken != "" {
		return nil, sent.Overtaken, nil
	}
	out = &Inlined{Refused: sent.Refused, At: map[int]string{}}
	at := map[string]string{}
	if len(sent.Sent) > 0 {
		at, err = doJSON(ctx, steps, fmt.Sprintf("round %d: find the comments on lines", round), func(ctx context.Context) (map[string]string, error) {
			return l.lineAddresses(ctx, snap.PR)
		})
		if err != nil {
			return nil, "", err
		}
	}
	for _, s := range sent.Sent {
		for i := s.From; i < s.To; i++ {
			c := comments[i]
			out.At[c.group] = cmp.Or(at[lineName(nonce, c.part)], s.URL)
		}
	}
	return out, "", nil
}

// lineComment is a comment on its way out.
type lineComment struct {
	effects.LineComment
	group, part int
}

// nonceOf names the review that begins with a comment; the one with all of them has the name that was drawn.
func nonceOf(nonce string, from, to, all int) string {
	if from == 0 && to == all {
		return nonce
	}
	return fmt.Sprintf("%s-%d-%d", nonce, from, to)
}

// lineName is what a comment is called: all of a round share a nonce.
func lineName(nonce string, part int) string { return fmt.Sprintf("%s/%d", nonce, part) }

// lineComments seals the comments. What the last gate does not let through stays in the report.
func (l *Loop) lineComments(req Request, round int, judged Judgement, nonce string) ([]lineComment, error) {
	var out []lineComment
	head := judged.Inputs.Snapshot.Range.Head
	for i, p := range judged.proposed {
		m := l.marker(req, round, nonce)
		m.Part, m.Parts, m.Base = i+2, len(judged.proposed)+1, sanitize.BaseNamed(req.base(judged.Inputs.Snapshot.PR))
		var block []sanitize.Value
		for _, f := range append(conversation.Opening(p.lead, p.identity, p.shown.By, p.place.Line, head), conversation.Also(p.lead, p.also)...) {
			block = append(block, sanitize.Value(f))
		}
		text, err := sanitize.Note(report.OnLine(p.shown, req.Target, head), block, m, l.policy(req.Target.Repo))
		switch {
		case errors.Is(err, sanitize.ErrKnownSecret):
			return nil, err
		case err != nil:
			continue
		}
		out = append(out, lineComment{effects.LineComment{Path: spelling.Raw(p.lead.File), Start: p.place.Start, Line: p.place.Line, Body: text}, p.group, m.Part})
	}
	return out, nil
}

// sendReview posts some of the comments as one review. Where GitHub says that a line is not in its diff, nothing of it is there, and
// the halves are sent apart, so that one bad place costs no other comment.
func (l *Loop) sendReview(ctx context.Context, req Request, judged Judgement, all []lineComment, nonce string, from, to int) (inlineResult, error) {
	round, pr := judged.Inputs.Round, judged.Inputs.Snapshot.PR
	if from == to {
		return inlineResult{}, nil
	}
	m := l.marker(req, round, nonceOf(nonce, from, to, len(all)))
	m.Part, m.Parts = 1, 1
	texts, err := sanitize.Comment(report.Lead(to-from, req.Target, judged.Inputs.Snapshot.Range.Head), m, l.policy(req.Target.Repo))
	if err != nil {
		return inlineResult{}, err
	}
	var comments []effects.LineComment
	for _, c := range all[from:to] {
		comments = append(comments, c.LineComment)
	}
	payload, err := effects.ReviewPayload(texts[0], comments)
	if err != nil {
		return inlineResult{Refused: sanitize.Redact(err.Error())}, nil
	}
	done, err := l.deliver(ctx, effects.Review{Reviewer: l.Reviewer, Key: l.MarkerKey, Policy: l.policy(req.Target.Repo), Sleep: l.Sleep}, effects.Effect{
		Key: effects.ReviewKey(req.Run, round, from, to), Nonce: m.Nonce, Run: req.Run, Target: review.Target{Repo: pr.Repo, PR: pr.Number}, Head: pr.HeadSHA,
		Payload: payload, Since: since(pr),
	}, pr)
	switch {
	case errors.Is(err, effects.ErrMisplaced) && to-from > 1:
		middle := (from + to) / 2
		one, err := l.sendReview(ctx, req, judged, all, nonce, from, middle)
		if err != nil || one.Overtaken != "" {
			return one, err
		}
		two, err := l.sendReview(ctx, req, judged, all, nonce, middle, to)
		return inlineResult{Sent: append(one.Sent, two.Sent...), Refused: cmp.Or(one.Refused, two.Refused), Overtaken: two.Overtaken}, err
	case err != nil && l.declined(err):
		return inlineResult{Refused: sanitize.Redact(err.Error())}, nil
	case err != nil:
		return inlineResult{}, err
	case done.Overtaken != "":
		return inlineResult{Overtaken: done.Overtaken}, nil
	}
	return inlineResult{Sent: []sentReview{{from, to, done.Ref}}}, nil
}

// declined reports whether GitHub refuses a write for good and did nothing, so that the run goes on without it. What the sanitizer
// refuses ends the run as it does for a report.
func (l *Loop) declined(err error) bool {
	var r interface{ Refused() bool }
	return errors.As(err, &r) && r.Refused() && l.permanent(err) && !errors.Is(err, sanitize.ErrKnownSecret) && !errors.Is(err, sanitize.ErrUnsafe)
}

// lineAddresses finds the comments of ours in threads, by the names in their markers.
func (l *Loop) lineAddresses(ctx context.Context, pr review.PullRequest) (map[string]string, error) {
	list, err := l.Replier.ThreadCommentsSince(ctx, pr, since(pr))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, c := range list {
		if m, err := sanitize.Verify(c.Body, l.MarkerKey, pr.Repo.String(), pr.Number); err == nil {
			out[lineName(m.Nonce, m.Part)] = c.URL
		}
	}
	return out, nil
}
