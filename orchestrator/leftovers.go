package orchestrator

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// leftover is what a run on another machine said in answer to the same line of a comment before it was interrupted. Nobody has its record, so that it cannot be gone on with.
type leftover struct {
	// Lines is the address of the review that bears its comments on lines; empty when there is none. They stand, and are not made again.
	Lines string `json:"lines,omitempty"`
	// Parts are the parts of its answer on the pull request. They are collapsed once the whole answer stands.
	Parts []OurComment `json:"parts,omitempty"`
}

// leftovers looks for what another run left of the answer to the line that asked for this one.
func (l *Loop) leftovers(ctx context.Context, steps Steps, in Inputs, s saying) (leftover, error) {
	asked := in.Request.Asked
	if asked == nil || !in.Request.Alone || in.Request.DryRun {
		return leftover{}, nil
	}
	return doJSON(ctx, steps, fmt.Sprintf("round %d: look for an earlier %s", s.round, s.op), func(ctx context.Context) (left leftover, err error) {
		viewer, err := l.Forge.Viewer(ctx, s.pr.Repo.Host)
		if err != nil {
			return left, err
		}
		comments, err := l.Poster.CommentsSince(ctx, s.pr, asked.Since)
		if err != nil {
			return left, err
		}
		var reviews []review.Comment
		if l.Reviewer != nil {
			if reviews, err = l.Reviewer.Reviews(ctx, s.pr); err != nil {
				return left, err
			}
		}
		earlier := func(c review.Comment) (sanitize.Marker, bool) { // another state folder's key cannot be held against anything: the account is the proof
			m, ok := sanitize.ParseMarker(c.Body)
			return m, ok && m.Asked == asked.Key() && m.Run != in.Request.Run && effects.Same(c.Author, viewer)
		}
		for _, c := range reviews {
			if _, ok := earlier(c); ok {
				left.Lines = c.URL
			}
		}
		for _, c := range comments {
			if m, ok := earlier(c); ok && !c.Minimized {
				left.Parts = append(left.Parts, ourComment(c, m))
			}
		}
		return left, nil
	})
}

// minimizeLeftovers collapses the parts that the whole answer replaces.
func (l *Loop) minimizeLeftovers(ctx context.Context, steps Steps, in Inputs, s saying, left leftover) error {
	snap := in.Snapshot
	snap.Ours = left.Parts
	return l.minimize(ctx, steps, fmt.Sprintf("round %d: minimise parts of an earlier %s", s.round, s.op), in.Request, snap, "", "", func(OurComment) bool { return true })
}
