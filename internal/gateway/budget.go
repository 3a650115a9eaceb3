package gateway

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// Totals bound what may be spent together; 0 is without bound.
type Totals struct {
	LLMCalls, ToolCalls int
	// Tokens are input and output, cached input included.
	Tokens  int
	CostUSD float64
	// WallTime counts from the start of the gateway.
	WallTime time.Duration
}

// ledger is one set of bounds with what is spent or reserved of them. Its owner's lock guards it.
type ledger struct {
	// scope is whose bounds they are, for people: agent or run.
	scope  string
	limits Totals
	// until ends the wall time; zero is never.
	until time.Time

	calls, tools, tokens int
	// charged is spent or reserved money; it may be over the truth where the truth is not known.
	charged float64
}

// runBudget is the ledger all agents of a run share, with what was spent elsewhere of the same money.
type runBudget struct {
	mu sync.Mutex
	ledger
	// before is the part of charged that others spent before the gateway was started.
	before float64

	// keeping is held while keep is told, so that what it is told last is the newest.
	keeping sync.Mutex
	keep    func(Totals) error
}

func newPurse(o Options) *runBudget {
	return &runBudget{before: o.Spent.CostUSD, keep: o.Keep, ledger: ledger{
		scope: scopeRun, limits: o.Run, calls: o.Spent.LLMCalls, tools: o.Spent.ToolCalls, tokens: o.Spent.Tokens, charged: o.Spent.CostUSD,
	}}
}

// own is what this gateway charged; the caller holds the lock.
func (p *runBudget) own() float64 { return p.charged - p.before }

// save tells what is spent or reserved now.
func (p *runBudget) save() error {
	if p.keep == nil {
		return nil
	}
	p.keeping.Lock()
	defer p.keeping.Unlock()
	p.mu.Lock()
	now := Totals{LLMCalls: p.calls, ToolCalls: p.tools, Tokens: p.tokens, CostUSD: p.charged}
	p.mu.Unlock()
	return p.keep(now)
}

func (l *ledger) over(axis Axis, limit, spent string) error {
	return &BudgetError{Axis: axis, Limit: limit, Spent: spent, Scope: l.scope}
}

// open refuses calls that no size of answer would make fit.
func (l *ledger) open(now time.Time) error {
	switch {
	case l.limits.LLMCalls > 0 && l.calls >= l.limits.LLMCalls:
		return l.over(AxisCalls, fmt.Sprint(l.limits.LLMCalls), fmt.Sprint(l.calls))
	case !l.until.IsZero() && !now.Before(l.until):
		return l.over(AxisWallTime, fmt.Sprintf("%.0f s", l.limits.WallTime.Seconds()), "all")
	}
	return nil
}

// room is how many tokens of output the ledger still has for a call, at most output. An error says that it has fewer
// than least.
func (l *ledger) room(input, output, least int, price *Price) (int, error) {
	if t := l.limits.Tokens; t > 0 {
		output = min(output, t-l.tokens-input)
		if output < least {
			return 0, l.over(AxisTokens, fmt.Sprint(t), fmt.Sprintf("%d and up to %d for this call", l.tokens, input+least))
		}
	}
	if l.limits.CostUSD > 0 && price != nil {
		output = min(output, price.buys(l.limits.CostUSD-l.charged, input))
		if output < least {
			return 0, l.over(AxisCost, fmt.Sprintf("$%.4f", l.limits.CostUSD),
				fmt.Sprintf("$%.4f and up to $%.4f for this call", l.charged, price.Cost(input, 0, least)))
		}
	}
	return output, nil
}

// buys is how many tokens of output money is good for after the input is paid; negative when not even that.
func (p Price) buys(usd float64, input int) int {
	left := usd - p.Cost(input, 0, 0)
	switch {
	case left < 0:
		return -1
	case p.Output <= 0:
		return math.MaxInt32
	}
	return int(min(left*1e6/p.Output, math.MaxInt32))
}

func (l *ledger) toolsLeft() int {
	if l.limits.ToolCalls <= 0 {
		return math.MaxInt32
	}
	return max(0, l.limits.ToolCalls-l.tools)
}

func (l *ledger) add(calls, tokens int, usd float64) {
	l.calls += calls
	l.tokens += tokens
	l.charged += usd
}
