package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// The environment a builtin child finds its gateway by. The token is a placeholder that opens nothing else.
const (
	envSocket   = "PRLOOP_GATEWAY_SOCKET"
	envToken    = "PRLOOP_GATEWAY_TOKEN"
	envCheckout = "PRLOOP_CHECKOUT"
)

// idleLimit is the longest silence of a child before it counts as hung.
const idleLimit = 5 * time.Minute

// asker lends the loop its agents: it turns a plan into a child process.
type asker struct {
	// self is this program, which plays the builtin roles.
	self string
	// gateway is nil when no agent of the run needs a model.
	gateway *gateway.Gateway
	// scratch is a private folder; each child gets an empty one below it as home and working directory.
	scratch string
	// checkout is the folder of a local range, for linters; empty for a pull request, whose tree is nobody's to run.
	checkout string
	// history and exclude are what the tools of builtin reviewers may read.
	history *history
	exclude []string
	// words are what the run's cassette leaves out.
	words *runWords
	// web are the hosts whose pages builtin reviewers may ask for.
	web []string
	// trees are the heads as they are, quiet ones without what agents take configuration from.
	trees, quiet trees
	// walls say how children are confined; state is the folder they must never see.
	walls walls
	state string
}

// Ask runs one reviewer or comments analyzer.
func (a *asker) Ask(ctx context.Context, plan orchestrator.AgentPlan, task review.Task, emit func(review.Event)) orchestrator.Answer {
	return told(a.answer(ctx, plan, task, "", emit))
}

// told is an answer in the loop's words.
func told(got agents.Answer) orchestrator.Answer {
	return orchestrator.Answer{Reviewer: got.Reviewer, Comments: got.Comments, Fix: got.Fix, Receipt: got.Receipt, Log: string(got.Log)}
}

// memoryEnv keeps children of this program from collecting garbage while they start, which took a quarter of the processor
// time of it (docs/performance.md). They live shortly and hold little; the limit is for those with a large request.
var memoryEnv = []string{"GOGC=400", "GOMEMLIMIT=96MiB"}

// answer runs one agent. clone is the folder a fixer works in; empty for everybody else, who write nothing.
func (a *asker) answer(ctx context.Context, plan orchestrator.AgentPlan, task review.Task, clone string, emit func(review.Event)) agents.Answer {
	a.words.learn(task)
	home, err := os.MkdirTemp(a.scratch, "agent-")
	if err != nil {
		return unasked(plan, fmt.Errorf("make a home for the agent: %w", err))
	}
	defer sandbox.Remove(home) //nolint:errcheck // what is left goes with the run's folder
	spec := agents.Spec{
		Name: plan.Name, Role: plan.Role, Kind: plan.Kind, Model: plan.Model, Dir: home, Timeout: plan.Timeout, Idle: idleLimit,
		Env: proc.BaseEnv("HOME="+home, "TMPDIR="+home),
	}
	if clone != "" {
		spec.Dir = clone
	}
	switch plan.Kind {
	case kindACP:
		return a.askACP(ctx, plan, task, home, clone, emit)
	case kindCommand:
		spec.Path, spec.Args = plan.Path, plan.Args
		if a.gateway != nil && a.walls.ownNetwork { // elsewhere that port would be the machine's
			spec.Env = append(spec.Env, gatewayEnv(a.gateway.Socket(), a.gateway.Issue(plan.Name, task.Limits))...)
			defer a.gateway.Release(plan.Name)
		}
	case kindBuiltin:
		if a.gateway == nil {
			return unasked(plan, errors.New("no model is configured: set OPENAI_API_KEY"))
		}
		spec.Path, spec.Args = a.self, []string{"agent", string(plan.Role)}
		spec.Env = append(spec.Env, memoryEnv...)
		spec.Env = append(spec.Env, envSocket+"="+a.gateway.Socket(), envToken+"="+a.gateway.Issue(plan.Name, task.Limits))
		defer a.gateway.Release(plan.Name)
	case kindStatic:
		spec.Path, spec.Args = a.self, []string{"agent", "static"}
		spec.Env = append(spec.Env, memoryEnv...)
		if plan.Role == review.RoleCommentsAnalyzer {
			spec.Args = []string{"agent", string(plan.Role)}
		}
		if a.checkout != "" {
			spec.Env = append(spec.Env, envCheckout+"="+a.checkout)
		}
	default:
		return unasked(plan, fmt.Errorf("agents of kind %q are unknown", plan.Kind))
	}
	var read []string
	if plan.Kind == kindBuiltin && plan.Role == review.RoleReviewer && task.Limits.ToolCalls > 0 {
		if task.Workspace, err = a.workspace(ctx, task.HeadSHA); err != nil {
			emit(review.Event{Kind: review.EventLog, Level: "warn", Agent: plan.Name, Message: "reviews without tools: " + err.Error()})
		} else {
			read = []string{task.Workspace.Tree, task.Workspace.GitDir}
			if task.Workspace.FetchHosts = a.web; len(a.web) > 0 {
				a.gateway.Permit(plan.Name)
			}
		}
	}
	if clone != "" && plan.Kind == kindBuiltin {
		task.Workspace = &review.Workspace{Tree: clone, Exclude: a.exclude}
	}
	if err := a.confine(&spec, home, clone, read); err != nil {
		return unasked(plan, err)
	}
	news := named(plan.Name, emit)
	var warned []string
	if plan.Kind == kindBuiltin {
		news = warnings(&warned, a.priced(plan.Name, news))
	}
	answer := agents.Ask(ctx, spec, task, news)
	switch plan.Kind {
	case kindCommand: // what the gateway did not count it may say itself: it can have another way to a model
		if a.gateway != nil && a.gateway.Usage(plan.Name).LLMCalls > 0 {
			a.account(plan.Name, &answer)
		}
	case kindBuiltin:
		a.account(plan.Name, &answer)
		answer.Receipt.Notes = append(answer.Receipt.Notes, warned...)
		if hosts := a.gateway.Fetched(plan.Name); len(hosts) > 0 {
			answer.Receipt.Notes = append(answer.Receipt.Notes, "was given pages of "+strings.Join(hosts, ", "))
		}
	case kindStatic: // it has no way to a model, so nothing is known to be nothing
		var none, free = 0, 0.0
		answer.Receipt.Usage = review.Usage{InputTokens: &none, CachedTokens: &none, OutputTokens: &none, CostUSD: &free}
	}
	return answer
}

// priced replaces what a builtin child says it spent by what the gateway counted since the last news, cost included.
func (a *asker) priced(name string, emit func(review.Event)) func(review.Event) {
	var seen review.Usage
	return func(e review.Event) {
		if e.Kind == review.EventUsage && e.Usage != nil {
			now := a.gateway.Usage(name)
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

// maxWarnings is how many warnings of one child stand in its receipt.
const maxWarnings = 5

// warnings keeps what a builtin child warns of, such as a review cut short: the receipt says it.
func warnings(into *[]string, emit func(review.Event)) func(review.Event) {
	return func(e review.Event) {
		if e.Kind == review.EventLog && e.Level == "warn" && len(*into) < maxWarnings {
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
func (a *asker) account(name string, answer *agents.Answer) {
	tools := answer.Receipt.Usage.ToolCalls
	answer.Receipt.Usage = a.gateway.Usage(name)
	answer.Receipt.Usage.ToolCalls = tools
	err := a.gateway.Err(name)
	if err == nil { // it may have been ended between two calls
		err = a.gateway.TimeUp(name)
	}
	if err == nil || answer.Receipt.State == review.AgentComplete {
		return
	}
	answer.Receipt.Reason = err.Error()
	var budget *gateway.BudgetError
	if errors.As(err, &budget) {
		answer.Receipt.OutOf = string(budget.Axis)
	}
}

// named stamps a child's events with its name, which the child itself may not choose.
func named(agent string, emit func(review.Event)) func(review.Event) {
	return func(e review.Event) {
		e.Agent, e.Time = agent, time.Now()
		e.Message = sanitize.Redact(e.Message)
		emit(e)
	}
}

// unasked is the answer of an agent that could not be started.
func unasked(plan orchestrator.AgentPlan, err error) agents.Answer {
	return agents.Answer{Receipt: review.AgentReceipt{
		Name: plan.Name, Role: plan.Role, Kind: plan.Kind, Model: plan.Model, State: review.AgentFailed, Reason: err.Error(),
	}}
}
