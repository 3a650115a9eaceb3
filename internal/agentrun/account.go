package agentrun

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// priced replaces what a builtin child says it spent by what the gateway counted since the last news, cost included.
func (c *Launcher) priced(name string, emit func(review.Event)) func(review.Event) {
	var seen review.Usage
	return func(e review.Event) {
		if e.Kind == review.EventUsage && e.Usage != nil {
			now := c.Gateway.Usage(name)
			e.Usage = &review.Usage{
				LLMCalls: now.LLMCalls - seen.LLMCalls, ToolCalls: e.Usage.ToolCalls, InputTokens: since(now.InputTokens, seen.InputTokens),
				CachedTokens: since(now.CachedTokens, seen.CachedTokens), OutputTokens: since(now.OutputTokens, seen.OutputTokens),
				CostUSD: since(now.CostUSD, seen.CostUSD), Models: now.Models,
			}
			seen = now
		}
		emit(e)
	}
}

// maxWarnings is how many lines that one child logged stand in its receipt.
const maxWarnings = 5

// receipted keeps what a child logs at a level: the receipt says it. A builtin one warns, such as of a review cut short; a static
// one says which linters ran.
func receipted(level string, into *[]string, emit func(review.Event)) func(review.Event) {
	return func(e review.Event) {
		if e.Kind == review.EventLog && e.Level == level && len(*into) < maxWarnings {
			*into = append(*into, sanitize.Redact(e.Message))
		}
		emit(e)
	}
}

// since is what was added to a figure that may be unknown; unknown stays unknown.
func since[N int | float64](now, before *N) *N {
	if now == nil {
		return nil
	}
	d := *now
	if before != nil {
		d -= *before
	}
	return &d
}

// account replaces what a builtin child says it spent by what the gateway counted, and names what went wrong there.
func (c *Launcher) account(name string, answer *review.Answer) {
	tools := answer.Receipt.Usage.ToolCalls
	answer.Receipt.Usage = c.Gateway.Usage(name)
	answer.Receipt.Usage.ToolCalls = tools
	c.explain(name, answer)
}

// explain names what went wrong at the gateway, in place of what an agent that is not complete says of it.
func (c *Launcher) explain(name string, answer *review.Answer) {
	err := c.Gateway.Err(name)
	if err == nil { // it may have been ended between two calls
		err = c.Gateway.TimeUp(name)
	}
	if err == nil || answer.Receipt.State == review.AgentComplete {
		return
	}
	answer.Receipt.Reason, answer.Receipt.Detail = gateway.Kind(err), err.Error()
	var endpoint *gateway.EndpointError
	if errors.As(err, &endpoint) {
		answer.Receipt.Next = endpoint.Next()
		answer.Receipt.Detail = strings.TrimRight(answer.Receipt.Detail, ". ") + "; try: " + answer.Receipt.Next
	}
	var budget *gateway.BudgetError
	if errors.As(err, &budget) {
		answer.Receipt.OutOf = budget.Of()
		if said := budget.Raised(boundsOf(answer.Receipt.Role)); !strings.HasSuffix(answer.Receipt.Reason, said) {
			answer.Receipt.Reason += said
		}
	}
}

// boundsOf is the group of settings that hold the budgets of agents of a role.
func boundsOf(r review.Role) string {
	switch r {
	case review.RoleVerifier:
		return "verification"
	case review.RoleFixer:
		return "fix"
	case review.RoleScout:
		return "quick"
	case review.RoleFinder:
		return "discovery"
	}
	return "limits"
}

// believable takes a cost that an agent says it had for unknown when it is more than an agent may have: budgets then count the most that it may, and nobody
// uses up a budget of all by a word (threats.md T381).
func believable(r *review.AgentReceipt, most float64) {
	if said := r.Usage.CostUSD; most > 0 && said != nil && *said > most {
		r.Usage.CostUSD = nil
		r.Notes = append(r.Notes, fmt.Sprintf("said that it spent %.2f USD; an agent may spend %.2f (limits.max_cost_usd), so its cost counts as unknown", *said, most))
	}
}

// idle reports whether the gateway made no call at all for an agent. A call that was refused counts for nothing and took its
// time: what it cost is not known.
func idle(u review.Usage) bool { return u.LLMCalls == 0 && u.LLMSeconds == 0 && len(u.Models) == 0 }

// nothing is the usage of an agent that asked no model: known, and zero.
func nothing(u review.Usage) review.Usage {
	var none, free = 0, 0.0
	u.InputTokens, u.CachedTokens, u.OutputTokens, u.CostUSD = &none, &none, &none, &free
	return u
}

// named stamps a child's events with its name, which the child itself may not choose.
func named(agent string, emit func(review.Event)) func(review.Event) {
	return func(e review.Event) {
		e.Agent, e.Time = agent, time.Now()
		e.Message = sanitize.Redact(e.Message)
		emit(e)
	}
}
