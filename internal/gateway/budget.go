package gateway

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prloop/prloop/review"
)

// refunds is how many refused calls of one agent do not count: an endpoint that refuses a parameter costs nothing, but an
// agent that only collects refusals must end too.
const refunds = 3

// account is what one agent may spend and has spent. A new one is opened each time a token is issued.
type account struct {
	agent  string
	limits review.Limits
	until  time.Time

	mu       sync.Mutex
	calls    int
	refunded int
	// charged is spent or reserved money; it may be over the truth where the truth is not known.
	charged float64
	seconds float64
	input   tally
	cached  tally
	output  tally
	cost    money
	models  []string
	trouble error
}

// tally is a sum that is unknown as soon as one of its parts is (style 9).
type tally struct {
	sum     int
	unknown bool
}

func (t *tally) add(n *int) {
	if n == nil {
		t.unknown = true
		return
	}
	t.sum += *n
}

func (t tally) value(calls int) *int {
	if t.unknown || calls == 0 {
		return nil
	}
	return &t.sum
}

type money struct {
	sum     float64
	unknown bool
}

func newAccount(agent string, limits review.Limits, now time.Time) *account {
	d := review.DefaultLimits()
	limits.LLMCalls = cmp.Or(limits.LLMCalls, d.LLMCalls)
	limits.CostUSD = cmp.Or(limits.CostUSD, d.CostUSD)
	limits.WallTimeSeconds = cmp.Or(limits.WallTimeSeconds, d.WallTimeSeconds)
	return &account{agent: agent, limits: limits, until: now.Add(time.Duration(limits.WallTimeSeconds) * time.Second)}
}

// reservation is the budget of one call, held from before the call until its outcome is known.
type reservation struct {
	account *account
	model   string
	price   *Price
	// estimate is in dollars, 0 when the price is unknown.
	estimate float64
	started  time.Time
}

// reserve takes the budget of a call before it is made, axis by axis. Input is estimated at three bytes a token, output
// at what the request allows: rather too much than too little.
func (a *account) reserve(call *call, price *Price, now time.Time) (*reservation, error) {
	r := &reservation{account: a, model: call.model, price: price, started: now}
	if price != nil {
		r.estimate = price.cost(len(call.body)/3+1, 0, call.maxOutput)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.check(r, now); err != nil {
		return nil, err
	}
	a.calls++
	a.charged += r.estimate
	return r, nil
}

func (a *account) check(r *reservation, now time.Time) error {
	switch {
	case a.calls >= a.limits.LLMCalls:
		return &BudgetError{AxisCalls, fmt.Sprint(a.limits.LLMCalls), fmt.Sprint(a.calls)}
	case !now.Before(a.until):
		return &BudgetError{AxisWallTime, fmt.Sprintf("%d s", a.limits.WallTimeSeconds), "all"}
	case r.price != nil && a.charged+r.estimate > a.limits.CostUSD:
		return &BudgetError{AxisCost, fmt.Sprintf("$%.4f", a.limits.CostUSD), fmt.Sprintf("$%.4f and up to $%.4f for this call", a.charged, r.estimate)}
	}
	return nil
}

// spent is what an answer says it cost; nil is unknown.
type spent struct {
	model                 string
	input, cached, output *int
	cost                  *float64
}

// settle replaces the reservation by what the call did cost. Of an unknown cost the estimate stays charged.
func (r *reservation) settle(s spent, now time.Time) {
	cost := s.cost
	if cost == nil && r.price != nil && s.input != nil && s.output != nil {
		c := r.price.cost(*s.input, value(s.cached), *s.output)
		cost = &c
	}
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seconds += now.Sub(r.started).Seconds()
	a.input.add(s.input)
	a.output.add(s.output)
	if s.input == nil {
		a.cached.add(nil)
	} else {
		a.cached.sum += value(s.cached) // providers without a cache leave the figure out
	}
	if cost != nil {
		a.charged += *cost - r.estimate
		a.cost.sum += *cost
	} else {
		a.cost.unknown = true
	}
	model := cmp.Or(s.model, r.model)
	if at, found := slices.BinarySearch(a.models, model); !found {
		a.models = slices.Insert(a.models, at, model)
	}
}

// lose keeps the budget of a call whose cost will never be known.
func (r *reservation) lose(now time.Time) {
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seconds += now.Sub(r.started).Seconds()
	a.input.add(nil)
	a.cached.add(nil)
	a.output.add(nil)
	a.cost.unknown = true
}

// release gives the budget of a call back that no model answered, as often as refunds allow.
func (r *reservation) release(now time.Time) {
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seconds += now.Sub(r.started).Seconds()
	a.charged -= r.estimate
	if a.refunded < refunds {
		a.refunded++
		a.calls--
	}
}

func (a *account) note(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trouble = err
}

func (a *account) err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.trouble
}

func (a *account) usage() review.Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	answered := len(a.models)
	u := review.Usage{
		LLMCalls: a.calls, LLMSeconds: a.seconds, Models: slices.Clone(a.models),
		InputTokens: a.input.value(answered), CachedTokens: a.cached.value(answered), OutputTokens: a.output.value(answered),
	}
	if answered > 0 && !a.cost.unknown {
		c := a.cost.sum
		u.CostUSD = &c
	}
	return u
}

func value(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
