package running

import (
	"context"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/eval/results"
)

// reserve waits until the budget has room for the most a review may cost, and takes it; false when it will never have.
func (r *run) reserve(ctx context.Context, w row) bool {
	for {
		r.mu.Lock()
		most := w.set.MostUSD
		switch fits := r.MaxUSD == 0 || r.Replay != "" || r.earlier+r.spent+r.held+most <= r.MaxUSD; {
		case r.stopped != nil:
			r.mu.Unlock()
			return false
		case fits:
			r.held += most
			r.mu.Unlock()
			return true
		case r.held == 0:
			r.stopped = fmt.Errorf("%w: $%.2f of $%.2f are spent, and the next review (%s) may cost $%.2f", ErrBudget, r.earlier+r.spent, r.MaxUSD, w, most)
			r.mu.Unlock()
			return false
		}
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// spent is what a review cost; nil where an agent that asked models cannot tell.
func spent(v results.Review) *float64 {
	sum := 0.0
	for _, a := range v.Agents {
		if a.Usage.LLMCalls > 0 && a.Usage.CostUSD == nil {
			return nil
		}
		if a.Usage.CostUSD != nil {
			sum += *a.Usage.CostUSD
		}
	}
	return &sum
}

// cost is what a review cost, or the most it may have cost where nobody can tell: unknown is not nothing.
func (s *set) cost(v results.Review) float64 {
	if usd := spent(v); usd != nil {
		return *usd
	}
	return s.MostUSD
}

// Dollars writes a cost that may be unknown.
func Dollars(usd *float64) string {
	if usd == nil {
		return "cost unknown"
	}
	return fmt.Sprintf("$%.4f", *usd)
}
