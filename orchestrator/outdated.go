package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// mostOutdated bounds how many comments one report collapses.
const mostOutdated = 20

// newest are as many of some comments, the newest last, as one report changes. What is asked of our comments is asked of all (threats.md T228).
func newest(all []OurComment) []OurComment { return all[max(0, len(all)-mostOutdated):] }

// OurComment is a comment of ours that stands open on the pull request.
type OurComment struct {
	// ID is its node id.
	ID  string `json:"id"`
	URL string `json:"url"`
	// Command is the id of the command whose answer it is; empty for a report.
	Command string `json:"command,omitempty"`
	// Asks is true for the beginning of a report that does not approve, Approves for one that does.
	Asks     bool `json:"asks,omitempty"`
	Approves bool `json:"approves,omitempty"`
	// Base is the base branch that a report is about, as markers name it; empty where its marker does not say so.
	Base string `json:"base,omitempty"`
	// Scan is what the comment of a quick scan is named by; nil for every other.
	Scan *scanName `json:"scan,omitempty"`
	// Sticky is what a comment is named by that gets another report in its place; nil for every other.
	Sticky *stickyName `json:"sticky,omitempty"`
}

// standing are the comments of ours that nobody has collapsed, the newest last.
func standing(comments []review.Comment, ours func(review.Comment) bool) []OurComment {
	comments = slices.Clone(comments)
	slices.SortStableFunc(comments, func(a, b review.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	var out []OurComment
	for _, c := range comments {
		if !c.Minimized && sanitize.HasMarker(c.Body) && ours(c) {
			m, _ := sanitize.ParseMarker(c.Body) // it is ours, so it says what it is
			out = append(out, ourComment(c, m))
		}
	}
	return out
}

// unproven is the address of an open report by our account that has a say about a change to a base branch, does not approve, and was signed with another key than ours, as where a
// job has a state folder of its own. It can keep something from passing, and nothing else.
func unproven(comments []review.Comment, own, ours func(review.Comment) bool, base string) string {
	open := slices.DeleteFunc(slices.Clone(comments), func(c review.Comment) bool { return c.Minimized })
	return firstAsking(reportsAbout(open, own, base), func(c review.Comment) bool { return !ours(c) })
}

// hidden is the address of a report of ours that has a say about a change to a base branch, does not approve, and is hidden: what it asks for is not settled by that, whether somebody
// hid it, or one about another branch took its place.
func hidden(comments []review.Comment, ours func(review.Comment) bool, base string) string {
	return firstAsking(reportsAbout(comments, ours, base), func(c review.Comment) bool { return c.Minimized })
}

// newestReport is the newest comment with which a report begins, of those that are from somebody, and what it says; empty when there is none.
func newestReport(comments []review.Comment, from func(review.Comment) bool) (newest review.Comment, said OurComment) {
	var at time.Time
	for _, c := range comments {
		if !sanitize.HasMarker(c.Body) || !from(c) {
			continue
		}
		m, _ := sanitize.ParseMarker(c.Body)
		known, written := ourComment(c, m), writtenAt(c, m)
		if (known.Asks || known.Approves) && !written.Before(at) {
			newest, said, at = c, known, written
		}
	}
	return newest, said
}

// writtenAt is when a report was written: a sticky one is as old as the last change of its comment.
func writtenAt(c review.Comment, m sanitize.Marker) time.Time {
	if m.Sticky && c.UpdatedAt.After(c.CreatedAt) {
		return c.UpdatedAt
	}
	return c.CreatedAt
}

// Reported is a report by our account, whoever hid it and whichever key signed it, and when it was written. Run is empty where its marker cannot be read, Head where
// it does not say about which commit it is. Asks and Base are those of OurComment, but that a run which came to no verdict asks for nothing here.
type Reported struct {
	Run  string    `json:"run"`
	At   time.Time `json:"at"`
	Head string    `json:"head,omitempty"`
	Asks bool      `json:"asks,omitempty"`
	Base string    `json:"base,omitempty"`
}

// undecided are the ends of runs that came to no verdict.
var undecided = []review.Outcome{review.Partial, review.Budget, review.StaticOnly, review.NotReviewed, review.Failed, review.Superseded}

// Reports are those by our account.
func Reports(comments []review.Comment, own review.Person) []Reported {
	var out []Reported
	from := func(c review.Comment) bool { return effects.Same(c.Author, own) }
	for _, c := range comments {
		if !from(c) || !sanitize.HasMarker(c.Body) {
			continue
		}
		m, _ := sanitize.ParseMarker(c.Body)
		switch said := ourComment(c, m); {
		case said.Asks, said.Approves:
			body := allParts(c, comments, from)
			_, _, outcome := report.Concluded(body)
			out = append(out, Reported{m.Run, writtenAt(c, m), report.About(body), said.Asks && !slices.Contains(undecided, outcome), said.Base})
		case m.Run == "" && c.UpdatedAt.After(c.CreatedAt): // somebody may have changed it
			out = append(out, Reported{At: c.UpdatedAt})
		}
	}
	return out
}

// listed are the addresses of all comments of the timeline that carry our marker, with the run whose report a sticky one has, which else is empty; nil
// where not all comments could be read.
func listed(d review.Discussion) map[string]string {
	if d.Truncated {
		return nil
	}
	out := map[string]string{}
	for _, c := range d.Comments {
		if !sanitize.HasMarker(c.Body) {
			continue
		}
		out[c.URL] = ""
		if m, ok := sanitize.ParseMarker(c.Body); ok && m.Sticky {
			out[c.URL] = m.Run
		}
	}
	return out
}

// says is the run whose report the comments of an earlier run have: its own, or the one that it came to the same as.
func (s Stored) says() string { return cmp.Or(s.Inputs.Says, s.Result.Run) }

// deleted reports whether a person deleted the report that the earlier run posted last, or a part of it, or another report has taken its place in its
// comment. What somebody collapsed is there.
func (s Stored) deleted(snap Snapshot) bool {
	var said []string
	for _, url := range s.Result.Comments {
		if strings.Contains(url, "#issuecomment-") && !slices.ContainsFunc(s.Result.Answers, func(a review.CommandComment) bool { return a.URL == url }) {
			said = append(said, url)
		}
	}
	if sc := s.Result.Scan; sc != nil && sc.Escalated != "" { // the report has taken its place
		said = slices.DeleteFunc(said, func(url string) bool { return url == sc.Comment })
	}
	if s.Inputs.Round > 1 && len(said) > 0 { // those of earlier rounds are replaced
		said = said[len(said)-1:]
	}
	return snap.Listed != nil && slices.ContainsFunc(said, func(url string) bool {
		run, there := snap.Listed[url]
		return !there || run != "" && run != s.says()
	})
}

// replaced reports whether another report of ours stands open, and that of the earlier run does not: the head has come back, and people read what was said of
// another one.
func (s Stored) replaced(snap Snapshot) bool {
	reports := slices.DeleteFunc(slices.Clone(snap.Ours), func(c OurComment) bool { return !c.Asks && !c.Approves })
	return len(reports) > 0 && !slices.ContainsFunc(reports, func(c OurComment) bool { return slices.Contains(s.Result.Comments, c.URL) })
}

// replaces reports whether a comment of ours says what this run says again: a report does for a report, and what a command of the review says for what it said. An
// answer that somebody asked for stays.
func (r Request) replaces(c OurComment) bool {
	if c.Command == "" || c.Scan != nil {
		return !r.Alone
	}
	return slices.ContainsFunc(r.Agents, func(a AgentPlan) bool {
		return a.Command != nil && a.Command.posts() && markerOf(*a.Command) == c.Command
	})
}

// minimizeOlder collapses the comments of ours that stood before the report of a round was posted: that one replaces them. Nothing
// is edited. Where it cannot be done the run goes on.
func (l *Loop) minimizeOlder(ctx context.Context, steps Steps, p *progress, req Request, snap Snapshot) error {
	scan := p.quick
	if p.collapsed {
		scan = ""
	}
	p.collapsed = true
	return l.minimize(ctx, steps, fmt.Sprintf("round %d: minimise older reports", p.round), req, snap, scan, p.rewritten, req.replaces)
}

// minimize collapses those that are replaced, and the comment of a scan of this very run, by its address. The one that has this run's report stays.
func (l *Loop) minimize(ctx context.Context, steps Steps, step string, req Request, snap Snapshot, scan, rewritten string, replaced func(OurComment) bool) error {
	older := slices.DeleteFunc(slices.Clone(snap.Ours), func(c OurComment) bool { return !replaced(c) || c.URL == rewritten })
	if l.Minimizer == nil || len(older) == 0 && scan == "" {
		return nil
	}
	_, err := doJSON(ctx, steps, step, func(ctx context.Context) ([]string, error) {
		if scan != "" {
			one, err := l.commentAt(ctx, snap.PR, scan)
			if err != nil {
				return nil, err
			}
			older = append(older, one...)
		}
		return l.collapse(ctx, req, snap.PR, older)
	})
	return err
}

// collapse collapses the newest of some comments of ours. Where it cannot be done the run goes on.
func (l *Loop) collapse(ctx context.Context, req Request, pr review.PullRequest, all []OurComment) (done []string, err error) {
	for _, c := range newest(all) {
		d, err := l.deliver(ctx, effects.Minimize{Minimizer: l.Minimizer}, effects.Effect{
			Key: effects.MinimizeKey(c.ID), Nonce: l.Nonce(), Run: req.Run, Target: req.Target, Head: pr.HeadSHA, Payload: c.ID,
		}, pr)
		switch {
		case ctx.Err() != nil:
			return nil, errors.Join(context.Cause(ctx), err)
		case err != nil:
			l.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: "older reports stay open: " + sanitize.Redact(err.Error())})
			return done, nil
		case d.Overtaken != "":
			return done, nil
		}
		done = append(done, d.Ref)
	}
	return done, nil
}

// minimizeForgotten collapses the reports of a run that were posted after a backup was made, from which its record was restored: the record knows
// nothing of them, and reviewers may have answered otherwise since (threats.md T679). nonce is that of the report which takes their place.
func (l *Loop) minimizeForgotten(ctx context.Context, req Request, s saying, nonce string) error {
	if l.Minimizer == nil {
		return nil
	}
	viewer, err := l.Forge.Viewer(ctx, s.pr.Repo.Host)
	if err != nil {
		return err
	}
	comments, err := l.Poster.CommentsSince(ctx, s.pr, since(s.pr))
	if err != nil {
		return err
	}
	forgotten := standing(comments, func(c review.Comment) bool {
		m, ok := sanitize.ParseMarker(c.Body)
		return ok && m.Run == req.Run && m.Round >= s.round && m.Command == "" && m.Nonce != nonce && effects.Same(c.Author, viewer)
	})
	_, err = l.collapse(ctx, req, s.pr, forgotten)
	return err
}
