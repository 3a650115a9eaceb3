package app

import (
	"context"
	"errors"
	"slices"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/sanitize"
)

// permanentErrors are the errors that no later try of the same run gets past: what they speak of is refused, gone or unfit, and no
// wait brings it back (threats.md T95). All others, such as an outage, a rate limit or a full disk, leave a run resumable.
var permanentErrors = []error{
	github.ErrNotLoggedIn, github.ErrNotFound, github.ErrForbidden, github.ErrClosed, github.ErrLocked, github.ErrTooLong, github.ErrStatusesSpent, github.ErrMoved, github.ErrPendingReview, effects.ErrMisplaced,
	git.ErrAuth, git.ErrMalformedTree, git.ErrNoMergeBase, git.ErrMergeBases, git.ErrTooLarge, git.ErrProtocol,
	diff.ErrMalformed, diff.ErrTruncated, diff.ErrIncomplete,
	sanitize.ErrKnownSecret, sanitize.ErrUnsafe,
}

// incident keeps for a person that an agent saw what nobody may see (threats.md T30), also of a run that is being interrupted.
func (r *run) incident(ctx context.Context, run, detail string) error {
	return r.store.Incident(context.WithoutCancel(ctx), run, store.IncidentSecret, detail)
}

// permanent is the loop's judge of errors; what it calls permanent is remembered for the advice. A known secret in what was to
// be posted is kept as an incident before the run ends (threats.md T30).
func (r *run) permanent(ctx context.Context) func(error) bool {
	return func(err error) bool {
		if !slices.ContainsFunc(permanentErrors, func(l error) bool { return errors.Is(err, l) }) {
			return false
		}
		if errors.Is(err, sanitize.ErrKnownSecret) {
			if failed := r.incident(ctx, r.id, err.Error()); failed != nil {
				r.log.Error("an incident was not kept: the run stops before its end", "err", failed)
				return false
			}
		}
		r.permanently.Store(&err)
		return true
	}
}
