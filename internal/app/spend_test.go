package app

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// TestEveryDollarCountsOnce follows a run that is killed in its second round and resumed. The gateway adds what it charged
// itself to what its caps say, so these leave that out, and nothing else.
func TestEveryDollarCountsOnce(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	target := review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, PR: 7}
	open := func(id string) (*run, *float64, []gateway.Cap) {
		r := process(t, state, id).run
		if err := r.store.CreateRun(t.Context(), store.Run{ID: id, Target: target}); err != nil {
			t.Fatal(err)
		}
		charged := new(float64)
		r.spend.run, r.spend.charged = id, func() float64 { return *charged }
		r.settings = config.Settings{Budgets: config.Budgets{PerPullRequestUSD: 1, PerDayUSD: 1}, Limits: review.Limits{CostUSD: 2}}
		return r, charged, r.caps(target)
	}
	says := func(caps []gateway.Cap, want float64, when string) {
		t.Helper()
		for _, c := range caps {
			if got, err := c.Spent(t.Context()); err != nil || math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: outside this gateway the %s cost $%.2f (%v), want $%.2f", when, c.Name, got, err, want)
			}
		}
	}
	round := func(n int, costs ...*float64) review.RunResult {
		r := review.RunResult{Run: "one", Target: target, Round: n}
		for i, c := range costs {
			r.Receipt.Agents = append(r.Receipt.Agents, review.AgentReceipt{Name: string(rune('a' + i)), Usage: review.Usage{LLMCalls: 1, CostUSD: c}})
		}
		return r
	}
	keep := func(s *run, r review.RunResult) {
		t.Helper()
		if err := (counting{recorder{store: s.store, folder: s.folder}, &s.spend}).Round(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	usd := func(d float64) *float64 { return &d }

	other, _, _ := open("other")
	if err := other.store.SaveRound(context.Background(), store.Round{Run: "other", Number: 1, Receipt: round(1, usd(0.01)).Receipt}); err != nil {
		t.Fatal(err)
	}
	s, charged, caps := open("one")
	says(caps, 0.01, "at the beginning")
	*charged = 0.40
	keep(s, round(1, usd(0.40)))
	says(caps, 0.01, "its first round kept")
	*charged = 0.50
	keep(s, round(1, usd(0.40), usd(0.10)))
	says(caps, 0.01, "with the fix")
	*charged = 0.70 // of the second round, which is never kept: an answer for $0.20 is stored
	s, charged, caps = open("one")
	says(caps, 0.51, "resumed")
	*charged = 0.05
	says(caps, 0.51, "resumed, another agent asked")
	keep(s, round(2, usd(0.20), usd(0.05)))
	says(caps, 0.71, "resumed, its second round kept")
	*charged = 0.15 // a call whose answer never came: the gateway holds an estimate, the most it may be counts
	keep(s, round(2, usd(0.20), usd(0.05), nil))
	says(caps, 2.61, "resumed, with a fix whose cost nobody knows")

	_, _, caps = open("next")
	says(caps, 2.76, "the next run")
	s.spend.run = "one"
	if spent, err := s.spend.spent(t.Context(), "", 0, time.Now().Add(time.Hour)); err != nil || spent != 0 {
		t.Errorf("of a time after the run began: $%.2f, %v; want nothing", spent, err)
	}
}
