package app

import (
	"context"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// spendLedger keeps what a run's gateway charged apart from what the store has of the same run. The store learns of a round when it
// is kept, with what this process asked for in it and what processes before it did; the gateway knows what it charged itself
// and nothing else. Each dollar counts once.
type spendLedger struct {
	store *store.Store
	run   string
	// most is what an agent whose cost nobody knows may have cost, in dollars.
	most float64
	// charged is what the gateway of this process charged.
	charged func() float64

	mu    sync.Mutex
	begun bool
	// before is what the run cost outside this process, as far as it was kept.
	before float64
}

// dollars counts what is unknown as the most it may be.
func (t *spendLedger) dollars(s store.Spent) float64 { return s.CostUSD + t.most*float64(s.Unpriced) }

// spent is what was spent outside this process's gateway: by other runs, and by earlier processes of this one.
func (t *spendLedger) spent(ctx context.Context, repo string, pr int, since time.Time) (float64, error) {
	if err := t.begin(ctx); err != nil {
		return 0, err
	}
	own, others, err := t.store.Spent(ctx, repo, pr, since, t.run)
	sum := t.dollars(others)
	if own.Runs > 0 { // it began within the time that is asked about
		t.mu.Lock()
		sum += t.before
		t.mu.Unlock()
	}
	return sum, err
}

// begin counts what the run cost before this process charged anything.
func (t *spendLedger) begin(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		return nil
	}
	own, _, err := t.store.Spent(ctx, "", 0, time.Time{}, t.run)
	if err == nil {
		t.before, t.begun = t.dollars(own), true
	}
	return err
}

// kept counts what a round that was just kept holds of earlier processes: all of it that this one did not charge. Nobody is
// asked while a round is kept, so what was charged so far is in the store too.
func (t *spendLedger) kept(ctx context.Context) error {
	own, _, err := t.store.Spent(ctx, "", 0, time.Time{}, t.run)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.before = max(t.before, t.dollars(own)-t.charged())
	}
	return err
}

// watch has the ledger told of rounds that are kept, and what the gateway charges.
func (t *spendLedger) watch(g *gateway.Gateway, r orchestrator.Recorder) orchestrator.Recorder {
	if g == nil {
		return r
	}
	t.charged = g.Charged
	return counting{r, t}
}

// counting is a recorder whose rounds are counted.
type counting struct {
	orchestrator.Recorder
	ledger *spendLedger
}

// Round keeps the round, then counts it.
func (c counting) Round(ctx context.Context, result review.RunResult) error {
	if err := c.ledger.begin(ctx); err != nil {
		return err
	}
	if err := c.Recorder.Round(ctx, result); err != nil {
		return err
	}
	return c.ledger.kept(ctx)
}
