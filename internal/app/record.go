package app

import (
	"context"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// recorder keeps a run's artifacts and its end.
type recorder struct {
	store  *store.Store
	folder *files
	lease  *store.Lease // nil when nobody shares the pull request
}

// held refuses what a run that lost its lease wants to record: another process may have recorded more by now (threats.md T292).
func (r recorder) held(ctx context.Context) error {
	if r.lease == nil {
		return nil
	}
	return r.lease.Check(ctx)
}

func (r recorder) Save(ctx context.Context, run, name string, data []byte) error {
	if err := r.held(ctx); err != nil {
		return err
	}
	return r.folder.Save(ctx, run, name, data)
}

// Round keeps the verdict of a round. Saying it again replaces it.
func (r recorder) Round(ctx context.Context, result review.RunResult) error {
	if err := r.held(ctx); err != nil {
		return err
	}
	verdict := review.Verdict{Issues: result.Issues, Distinct: result.Distinct, Rules: result.Rules}
	if result.Consensus != nil {
		verdict.Consensus = review.Conclusion(*result.Consensus)
	}
	round := store.Round{Run: result.Run, Number: result.Round, Verdict: verdict, Receipt: result.Receipt, Findings: result.Findings}
	return r.store.SaveRound(ctx, round)
}

func (r recorder) Finish(ctx context.Context, result review.RunResult) error {
	if err := r.held(ctx); err != nil {
		return err
	}
	return r.store.FinishRun(ctx, result)
}

// outbox is the store's, held against the run's lease; the lease is nil when nobody shares the pull request.
type outbox struct {
	*store.Store
	lease *store.Lease
}

// Sure is effects.Surer.
func (o outbox) Sure() error {
	if o.lease == nil {
		return o.Store.Sure()
	}
	return o.lease.Sure()
}

// Sending refuses a run that lost its lease.
func (o outbox) Sending(ctx context.Context, nonce string) error {
	if o.lease == nil {
		return o.Store.Sending(ctx, nonce)
	}
	return o.Store.Sending(ctx, nonce, o.lease)
}
