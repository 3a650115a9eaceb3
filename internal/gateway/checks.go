package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// pathChecks has the verify commands run on a fixer's work so far: {"command": "…"}, where "all" is all of them.
const pathChecks = "/prloop/checks"

// checkLedger are the agents that may have checks run.
type checkLedger struct {
	mu sync.Mutex
	of map[string]*checking
}

// checking is what one agent may have run.
type checking struct {
	ask func(ctx context.Context, command string) (any, error)
	// times is how often, left how often still.
	times, left int
	// busy is true while one runs: they share the agent's tree.
	busy bool
	runs sync.WaitGroup
	ctx  context.Context
}

// LendChecks lets an agent have checks run up to times times, by ask, until stop is called, which ends what runs, waits for it and
// gives how often it was asked.
func (g *Gateway) LendChecks(ctx context.Context, agent string, times int, ask func(ctx context.Context, command string) (any, error)) (stop func() int) {
	ctx, cancel := context.WithCancel(ctx)
	c := &checking{ask: ask, times: times, left: times, ctx: ctx}
	g.checks.mu.Lock()
	defer g.checks.mu.Unlock()
	if g.checks.of == nil {
		g.checks.of = map[string]*checking{}
	}
	g.checks.of[agent] = c
	return func() int {
		g.checks.mu.Lock()
		if g.checks.of[agent] == c {
			delete(g.checks.of, agent)
		}
		g.checks.mu.Unlock()
		cancel()
		c.runs.Wait()
		return c.times - c.left
	}
}

// take counts a run before it begins. done has to be called when it ended.
func (b *checkLedger) take(agent string) (c *checking, done func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c = b.of[agent]
	switch {
	case c == nil:
		return nil, nil, nil
	case c.left <= 0:
		return c, nil, &BudgetError{Axis: AxisChecks, Limit: fmt.Sprint(c.times), Spent: fmt.Sprint(c.times), Scope: "agent"}
	case c.busy:
		return c, nil, errBusy
	}
	c.left--
	c.busy = true
	c.runs.Add(1)
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		c.busy = false
		c.runs.Done()
	}, nil
}

var (
	errBusy       = errors.New("the checks before have not ended")
	errSlowChecks = errors.New("the commands did not end within half of the time that was left; they run after the work is handed over")
)

// askChecks has checks run for one agent. They are recorded and replayed like a call to a model.
func (g *Gateway) askChecks(w http.ResponseWriter, r *http.Request, a *account) {
	text, no := g.text(w, r, "command")
	if no != nil {
		no.send(w)
		return
	}
	c, done, err := g.checks.take(a.agent)
	var budget *BudgetError
	switch {
	case errors.As(err, &budget): // not noted: an agent that may have no more can still answer
		refuse(http.StatusPaymentRequired, CodeBudget, "%s", err).send(w)
		return
	case err != nil:
		refuse(http.StatusTooManyRequests, CodeBusy, "%s", err).send(w)
		return
	case c == nil:
		refuse(http.StatusForbidden, CodeRefused, "this agent may not have checks run").send(w)
		return
	}
	defer done()
	// The rest is kept for the agent: without it, commands that take long would cost it its answer.
	ctx, cancel := context.WithTimeoutCause(r.Context(), time.Until(a.until())/2, errSlowChecks)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	answer, err := g.webAnswer(ctx, a, question{path: pathChecks, field: "command", axis: AxisChecks, ask: c.ask}, text)
	if errors.Is(context.Cause(ctx), errSlowChecks) {
		err = errSlowChecks
	}
	if err != nil {
		g.options.Log.Info("no checks were run", "agent", a.agent, "err", err)
		refuse(http.StatusForbidden, CodeRefused, "%s", fmt.Sprint(err)).send(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}
