package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// lasting are the errors that no later try of the same run gets past: what they speak of is refused, gone or unfit, and no
// wait brings it back (threats.md T95). All others, such as an outage, a rate limit or a full disk, leave a run resumable.
var lasting = []error{
	github.ErrNotLoggedIn, github.ErrNotFound, github.ErrForbidden, github.ErrClosed, github.ErrLocked, github.ErrTooLong, github.ErrMoved,
	git.ErrAuth, git.ErrMalformedTree, git.ErrNoMergeBase, git.ErrTooLarge, git.ErrProtocol,
	sanitize.ErrKnownSecret, sanitize.ErrUnsafe,
}

// incident keeps for a person that an agent saw what nobody may see (threats.md T30), also of a run that is being interrupted.
func (s *session) incident(ctx context.Context, run, detail string) error {
	return s.store.Incident(context.WithoutCancel(ctx), run, store.IncidentSecret, detail)
}

// permanent is the loop's judge of errors; what it calls permanent is remembered for the advice. A known secret in what was to
// be posted is kept as an incident before the run ends (threats.md T30).
func (s *session) permanent(ctx context.Context, run string) func(error) bool {
	return func(err error) bool {
		if !slices.ContainsFunc(lasting, func(l error) bool { return errors.Is(err, l) }) {
			return false
		}
		if errors.Is(err, sanitize.ErrKnownSecret) {
			if failed := s.incident(ctx, run, err.Error()); failed != nil {
				s.log.Error("an incident was not kept: the run stops before its end", "err", failed)
				return false
			}
		}
		s.permanently.Store(&err)
		return true
	}
}

// failed names what ended a run for good, and what a person can do about it. In a run that is looked at again the stored
// reason is all there is.
func (s *session) failed(result review.RunResult) error {
	h := hinted{err: errors.New(result.Reason), status: result.Outcome.ExitStatus(), next: "start a new run: prloop run " + result.Target.String()}
	if result.Target.Local() {
		h.next = "start a new run: prloop run --base " + result.Target.Base
	}
	if err := s.permanently.Load(); err != nil {
		if next := explain(*err).next; next != "" {
			h.next = next + ", then " + h.next
		}
	}
	return h
}
