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

// mostOutdated bounds how many comments one report collapses.
const mostOutdated = 20

// OurComment is a comment of ours that stands open on the pull request.
type OurComment struct {
	// ID is its node id.
	ID  string `json:"id"`
	URL string `json:"url"`
	// Command is the id of the command whose answer it is; empty for a report.
	Command string `json:"command,omitempty"`
}

// standing are the comments of ours that nobody has collapsed, the newest last.
func standing(comments []review.Comment, ours func(review.Comment) bool) []OurComment {
	comments = slices.Clone(comments)
	slices.SortStableFunc(comments, func(a, b review.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	var out []OurComment
	for _, c := range comments {
		if !c.Minimized && sanitize.HasMarker(c.Body) && ours(c) {
			m, _ := sanitize.ParseMarker(c.Body) // it is ours, so it says what it is
			out = append(out, OurComment{c.ID, c.URL, m.Command})
		}
	}
	return out[max(0, len(out)-mostOutdated):]
}

// replaces reports whether a comment of ours says what this run says again: a report does for a report, and what a command of the review says for what it said. An
// answer that somebody asked for stays.
func (r Request) replaces(c OurComment) bool {
	if c.Command == "" {
		return !r.Alone
	}
	return slices.ContainsFunc(r.Agents, func(a AgentPlan) bool {
		return a.Command != nil && a.Command.posts() && markerOf(*a.Command) == c.Command
	})
}

// minimizeOlder collapses the comments of ours that stood before the report of a round was posted: that one replaces them. Nothing
// is edited. Where it cannot be done the run goes on.
func (l *Loop) minimizeOlder(ctx context.Context, steps Steps, round int, req Request, snap Snapshot) error {
	older := slices.DeleteFunc(slices.Clone(snap.Ours), func(c OurComment) bool { return !req.replaces(c) })
	if l.Minimizer == nil || len(older) == 0 {
		return nil
	}
	_, err := doJSON(ctx, steps, fmt.Sprintf("round %d: minimise older reports", round), func(ctx context.Context) ([]string, error) {
		var done []string
		for _, c := range older {
			d, err := l.deliver(ctx, effects.Minimize{Minimizer: l.Minimizer}, effects.Effect{
				Key: effects.MinimizeKey(c.ID), Nonce: l.Nonce(), Run: req.Run, Target: req.Target, Head: snap.PR.HeadSHA, Payload: c.ID,
			}, snap.PR)
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
	})
	return err
}
