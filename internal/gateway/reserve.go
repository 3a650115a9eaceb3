package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/prloop/prloop/review"
)

// refunds is how many refused calls of one agent do not count: an endpoint that refuses a parameter costs nothing, but an
// agent that only collects refusals must end too.
const refunds = 3

// minOutput is the shortest answer, in tokens, that a call is made for; a request may ask for a shorter one.
const minOutput = 64

// account is what one agent may spend and has spent. A new one is opened each time a token is issued. Locks are taken in
// the order account, run.
type account struct {
	agent string
	run   *runBudget
	// allowed are the models it may ask for.
	allowed []string
	// idle is the longest silence of a model in a call, call the longest call; 0 is without a bound of its own.
	idle, call time.Duration
	liveness   liveness
	// room is for the bytes of its requests that are in memory; looking is held while one is looked into.
	room    *semaphore.Weighted
	looking sync.Mutex
	// requests is how many of its requests are at hand; the lock of the crowd guards it.
	requests int

	mu       sync.Mutex
	own      ledger
	refunded int
	seconds  float64
	input    tally
	cached   tally
	output   tally
	cost     money
	models   []string
	trouble  error
}

// tally is a sum that is unknown as soon as one of its parts is.
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

func newAccount(agent string, limits review.Limits, tokens int, room int64, run *runBudget, now time.Time) *account {
	d := review.DefaultLimits()
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	wall := seconds(cmp.Or(limits.WallTimeSeconds, d.WallTimeSeconds))
	return &account{agent: agent, run: run, room: semaphore.NewWeighted(room), idle: seconds(cmp.Or(limits.IdleSeconds, d.IdleSeconds)), call: seconds(limits.CallSeconds), own: ledger{scope: "agent", until: now.Add(wall), limits: Totals{
		LLMCalls: cmp.Or(limits.LLMCalls, d.LLMCalls), ToolCalls: cmp.Or(limits.ToolCalls, d.ToolCalls), Tokens: tokens,
		CostUSD: cmp.Or(limits.CostUSD, d.CostUSD), WallTime: wall,
	}}}
}

// until is when the wall time ends, of agent or run.
func (a *account) until() time.Time {
	if r := a.run.until; !r.IsZero() && r.Before(a.own.until) {
		return r
	}
	return a.own.until
}

// callLimit is how long a call may take that begins now, and the error of one that takes longer.
func (a *account) callLimit(now time.Time) (time.Duration, error) {
	limit := max(a.until().Sub(now), time.Millisecond)
	if a.call > 0 && a.call <= limit {
		return a.call, &SlowError{a.call}
	}
	return limit, a.timeOver(now.Add(limit))
}

// timeOver is the error of a call that is still on its way when the wall time ends.
func (a *account) timeOver(end time.Time) error {
	for _, l := range []*ledger{&a.run.ledger, &a.own} { // the bounds in time never change
		if !l.until.IsZero() && !end.Before(l.until) {
			return l.over(AxisWallTime, fmt.Sprintf("%.0f s", l.limits.WallTime.Seconds()), "all")
		}
	}
	return errors.New("no whole answer within the time that was left")
}

// reservation is the budget of one call, held from before the call until its outcome is known.
type reservation struct {
	account *account
	model   string
	price   *Price
	// input and output are the tokens held; the request allows no longer answer than output.
	input, output int
	// estimate is in dollars, 0 when the price is unknown.
	estimate float64
	started  time.Time
	// upstream is whom the call goes to; observe, when set, is told how it ended.
	upstream *upstream
	observe  func(Observation)
	// cause is the kind of what went wrong; empty when nothing did, or nothing is known of it.
	cause string
}

// bytesPerInputToken is the fewest bytes a token of text is taken for: rather too many tokens than too few. What is no text is counted by its kind.
const bytesPerInputToken = 3

// ticket is the budget of a call whose request was not read yet: one call, and the tokens its length stands for.
type ticket struct {
	account *account
	tokens  int
	open    bool
}

// enter takes the budget of a call before its request is read; size is its length in bytes, negative when it is not known.
func (a *account) enter(size int64, now time.Time) (*ticket, error) {
	t := &ticket{a, int(max(size, 0))/bytesPerInputToken + 1, true}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	for _, l := range []*ledger{&a.own, &a.run.ledger} {
		if err := l.open(now); err != nil {
			return nil, err
		}
		if _, err := l.room(t.tokens, 0, 0, nil); err != nil {
			return nil, err
		}
	}
	a.charge(1, t.tokens, 0)
	return t, nil
}

// yield makes place for a reservation; the caller holds both locks.
func (t *ticket) yield() {
	if t != nil && t.open {
		t.open = false
		t.account.charge(-1, -t.tokens, 0)
	}
}

// leave ends a call whose request was refused.
func (t *ticket) leave() {
	a := t.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	if t.open {
		t.open = false
		a.charge(-a.refund(), -t.tokens, 0)
	}
}

// refund is how many calls a call that no model answered gives back; the caller holds the lock.
func (a *account) refund() int {
	if a.refunded >= refunds {
		return 0
	}
	a.refunded++
	return 1
}

// reserve takes the budget of a call before it is made, axis by axis, of the agent, of the run and of what was spent
// before. Output is what the request allows,
// cut to what is left.
func (a *account) reserve(c *call, model string, price *Price, before []before, now time.Time) (*reservation, error) {
	r := &reservation{account: a, model: model, price: price, input: c.size/bytesPerInputToken + 1 + c.media, output: c.maxOutput, started: now}
	least := min(c.maxOutput, minOutput*c.n)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	c.ticket.yield()
	ledgers := []*ledger{&a.own, &a.run.ledger}
	for _, b := range before {
		ledgers = append(ledgers, &ledger{scope: b.name, limits: Totals{CostUSD: b.cap}, charged: b.spent + a.run.own()})
	}
	for _, l := range ledgers {
		if err := l.open(now); err != nil {
			return nil, err
		}
	}
	for _, l := range ledgers {
		var err error
		if r.output, err = l.room(r.input, r.output, least, price); err != nil {
			return nil, err
		}
	}
	if price != nil {
		r.estimate = price.Cost(r.input, 0, r.output)
	}
	a.charge(1, r.input+r.output, r.estimate)
	return r, nil
}

// charge enters into both ledgers; the caller holds both locks.
func (a *account) charge(calls, tokens int, usd float64) {
	a.own.add(calls, tokens, usd)
	a.run.add(calls, tokens, usd)
}

// Charged is what the calls of all agents cost so far, in dollars, with what is held for those that are on their way or
// whose cost will never be known.
func (g *Gateway) Charged() float64 {
	g.run.mu.Lock()
	defer g.run.mu.Unlock()
	return g.run.own()
}

// takeTools counts up to n tool calls and gives how many of them there is a budget for.
func (a *account) takeTools(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	n = min(n, a.own.toolsLeft(), a.run.toolsLeft())
	a.own.tools += n
	a.run.tools += n
	return n
}

// toolsOver is the error of a tool call there is no budget for; nil while there is.
func (a *account) toolsOver() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	for _, l := range []*ledger{&a.own, &a.run.ledger} {
		if l.toolsLeft() == 0 {
			return l.over(AxisToolCalls, fmt.Sprint(l.limits.ToolCalls), fmt.Sprint(l.tools))
		}
	}
	return nil
}

// spent is what an answer says it cost; nil is unknown.
type spent struct {
	model                 string
	input, cached, output *int
	cost                  *float64
	// written is how much of input was put into a cache, which costs a quarter more where it is told.
	written *int
	// finish is why its parts ended, in the endpoint's words.
	finish []string
	// seen is how many bytes of answer came, for answers that do not say what they were.
	seen int
}

// cost is what an answer cost, as its endpoint says or by its price; nil when that is unknown.
func (r *reservation) cost(s spent) *float64 {
	if s.cost == nil && r.price != nil && s.input != nil && s.output != nil {
		c := r.price.Cost(*s.input, value(s.cached), *s.output) + float64(value(s.written))*r.price.Input/4/1e6
		return &c
	}
	return s.cost
}

// settle replaces the reservation by what the call did cost. Of an unknown cost the estimate stays charged.
func (r *reservation) settle(s spent, now time.Time) {
	defer r.report(s, FateAnswered, now)
	defer r.keep()
	cost := r.cost(s)
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.seconds += now.Sub(r.started).Seconds()
	a.input.add(s.input)
	a.output.add(s.output)
	if s.input == nil {
		a.cached.add(nil)
	} else {
		a.cached.sum += value(s.cached) // providers without a cache leave the figure out
	}
	if cost != nil {
		a.charge(0, 0, *cost-r.estimate)
		a.cost.sum += *cost
	} else {
		a.cost.unknown = true
	}
	if s.input != nil && s.output != nil {
		a.charge(0, *s.input+*s.output-r.input-r.output, 0)
	} else if more := s.seen/3 - r.output; more > 0 { // the endpoint went beyond what it was allowed
		a.charge(0, more, 0)
		if cost == nil && r.price != nil {
			a.charge(0, 0, r.price.Cost(0, 0, more))
		}
	}
	model := cmp.Or(s.model, r.model)
	if at, found := slices.BinarySearch(a.models, model); !found {
		a.models = slices.Insert(a.models, at, model)
	}
}

// lose keeps the budget of a call whose cost will never be known.
func (r *reservation) lose(now time.Time) {
	defer r.report(spent{}, FateLost, now)
	defer r.keep()
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
	defer r.report(spent{}, FateRefused, now)
	defer r.keep()
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.seconds += now.Sub(r.started).Seconds()
	a.charge(-a.refund(), -r.input-r.output, -r.estimate)
}

// forgive gives back a call whose stream broke off in the middle, as often as refunds allow: an answer that is not streamed is asked
// for again within its call.
func (r *reservation) forgive() {
	defer r.keep()
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.charge(-a.refund(), 0, 0)
}

// keep has what is spent now kept. An error is that of the next call, which is refused.
func (r *reservation) keep() { _ = r.account.run.save() }

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
		LLMCalls: a.own.calls, ToolCalls: a.own.tools, LLMSeconds: a.seconds, Models: slices.Clone(a.models),
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
