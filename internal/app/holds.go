package app

import (
	"context"
	"errors"

	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// holds reports whether what a run approved of a pull request, for the base branch that it has now, is approved still, as the pull request was read a moment ago. It is not where
// somebody who may block has requested changes since (threats.md T492), where labels that the verdict rests on say something else (threats.md T860), and where a newer run raised
// something grave on another commit (threats.md T734). Threads, which have to be asked for, are for Said.
func (s *Service) holds(ctx context.Context, pr review.PullRequest, run string) (bool, error) {
	ended, err := s.store.Run(ctx, run)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	if pr.Refused && (ended.Result == nil || ended.Result.Receipt.ReviewsRead != intake.Standing(pr)) {
		return false, nil
	}
	if ended.Result != nil && pr.Labelled != nil { // else its labels are those of then
		st, err := s.requested(ctx, run)
		if ctx.Err() != nil || err == nil && relabelled(st.LabelsRead(pr), *ended.Result) {
			return false, ctx.Err()
		}
	}
	raised, err := s.raisedSince(ctx, pr, run)
	return !raised, err
}

// holds is that, where threads are asked for as well: people may have objected there and be heard by no run about the pull request (threats.md T882).
func (g gatesRuns) holds(ctx context.Context, pr review.PullRequest, run string) (bool, error) {
	if due, err := g.service.holds(ctx, pr, run); err != nil || !due {
		return false, err
	}
	ended, err := g.service.store.Run(ctx, run)
	if errors.Is(err, store.ErrNotFound) || err == nil && ended.Result == nil {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	said, err := g.service.Said(ctx, pr, intake.Known{Heard: ended.Result.Receipt.ThreadsRead})
	return !said, err
}
