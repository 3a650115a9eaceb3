package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// candidate is one model that may answer a call, at the endpoint that serves it.
type candidate struct {
	model    string
	upstream *upstream
}

// key names a candidate as it is for one agent. No status is the endpoint's alone: a rate limit may be one request that is larger than it, a missing payment one
// that asks for more tokens than are paid for. So no agent's refusals choose another's model (threats.md T353). Where all are refused, each asks once to know.
func (c candidate) key(agent string) string {
	return c.upstream.Name + "\x00" + c.model + "\x00" + agent
}

// How long a model is left alone when its endpoint does not say.
const (
	coolDown     = 30 * time.Second
	coolDownLong = 10 * time.Minute // no money, a refused key, no such model: waiting a little does not help
	coolDownMost = time.Hour
)

// candidates are the model that was asked for and those that stand in for it, in order. Models that cool down come
// last, the soonest ready first: a model is never refused for cooling when there is no better one.
func (g *Gateway) candidates(agent, model string) []candidate {
	var list []candidate
	for _, name := range append([]string{model}, g.options.Fallbacks[model]...) {
		c := candidate{name, route(g.upstreams, name)}
		if c.upstream != nil && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	if len(list) < 2 {
		return list
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.options.now()
	wait := func(c candidate) time.Duration { return max(0, g.cooling[c.key(agent)].Sub(now)) }
	slices.SortStableFunc(list, func(a, b candidate) int { return int(wait(a) - wait(b)) })
	return list
}

// cool leaves a model alone for as long as its endpoint asks, for the agent that asked.
func (g *Gateway) cool(agent string, c candidate, resp *http.Response, err error) time.Duration {
	var e *EndpointError
	wait := coolDown
	switch {
	case errors.As(err, &e) && e.Trouble != TroubleRate && e.Trouble != TroubleServer:
		wait = coolDownLong
	case resp != nil:
		if told := resetAfter(resp, g.options.now()); told > 0 {
			wait = min(told, coolDownMost)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cooling[c.key(agent)] = g.options.now().Add(wait)
	return wait
}

// resetAfter reads Retry-After, else the reset time of the limit that is used up: a span such as 6m0s, seconds, or a
// time since 1970 in seconds or milliseconds. 0 without any.
func resetAfter(resp *http.Response, now time.Time) time.Duration {
	if d := retryAfter(resp); d > 0 {
		return d
	}
	var longest time.Duration
	for _, kind := range []string{"requests", "tokens"} {
		if left := resp.Header.Get("X-Ratelimit-Remaining-" + kind); left == "" || left == "0" {
			longest = max(longest, span(resp.Header.Get("X-Ratelimit-Reset-"+kind), now))
		}
	}
	return max(longest, span(resp.Header.Get("X-Ratelimit-Reset"), now))
}

func span(s string, now time.Time) time.Duration {
	if d, err := time.ParseDuration(s); err == nil {
		return d
	}
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil || n <= 0:
		return 0
	case n > 1e12:
		return time.UnixMilli(n).Sub(now)
	case n > 1e9:
		return time.Unix(n, 0).Sub(now)
	}
	return time.Duration(n) * time.Second
}

// movesOn reports whether another model may be asked after err: the endpoint is at fault, not the request, nor the caller's
// patience.
func movesOn(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, errTooLarge) || errors.As(err, new(*BudgetError)) {
		return false
	}
	var e *EndpointError
	return errors.As(err, &e) && e.movesOn() || errors.As(err, new(*UnreachableError))
}

// tell makes a change of model visible.
func (g *Gateway) tell(agent, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	g.log(agent).Warn(message)
	g.options.Note(agent, message)
}

// otherModel marks calls that another model can take over, for which no long pause is worth it.
type otherModel struct{}

// patience is the longest Retry-After that is waited for while another model is ready.
const patience = 2 * time.Second

func hasOther(ctx context.Context) bool { return ctx.Value(otherModel{}) != nil }
