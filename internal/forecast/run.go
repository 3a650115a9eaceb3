package forecast

import (
	"fmt"
	"io"
	"slices"

	"github.com/cli/go-gh/v2/pkg/tableprinter"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/modelagent"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// answerTokens is what one answer is taken to have; the answer of a pass is a short one.
const (
	answerTokens = TypicalOutput / 2
	passTokens   = 300
)

// Agent is what one agent would ask.
type Agent struct {
	Name  string      `json:"name"`
	Role  review.Role `json:"role"`
	Kind  string      `json:"kind"`
	Model string      `json:"model,omitempty"`
	// Calls, Input and Output are those of the first round, in calls and tokens; nil when an agent's own program decides.
	Calls  *int `json:"calls"`
	Input  *int `json:"inputTokens"`
	Output *int `json:"outputTokens"`
	// CostUSD is what they cost; nil when that is unknown.
	CostUSD *float64 `json:"costUsd"`
	// MaxCalls is how many calls its limits allow in the whole run, MaxCostUSD how many dollars; nil when no limit in dollars can be held.
	MaxCalls   int      `json:"maxCalls"`
	MaxCostUSD *float64 `json:"maxCostUsd"`
}

// Total is what all agents would ask of one model in the first round.
type Total struct {
	Model   string   `json:"model"`
	Calls   int      `json:"calls"`
	Input   int      `json:"inputTokens"`
	Output  int      `json:"outputTokens"`
	CostUSD *float64 `json:"costUsd"`
}

// Run is what a run would ask.
type Run struct {
	Target string `json:"target"`
	// Files is how many changed files would be given to reviewers, of how many.
	Files   int     `json:"files"`
	Changed int     `json:"changedFiles"`
	Agents  []Agent `json:"agents"`
	Models  []Total `json:"models"`
	// Rounds is how many rounds there may be at most.
	Rounds int `json:"maxRounds"`
	// CostUSD is that of the first round; nil when a price is unknown or an agent's own program decides.
	CostUSD *float64 `json:"costUsd"`
	// MaxCostUSD is the most that models with a known price may cost, LimitUSD the bound of the run; 0 is none.
	MaxCostUSD float64 `json:"maxCostUsd"`
	LimitUSD   float64 `json:"runLimitUsd"`
	// Unbounded are the agents whose dollars nothing bounds.
	Unbounded []string `json:"unbounded"`
}

// Estimate is what a run would ask. price gives the price of a model, nil when nobody knows it; limit is the run's bound in dollars.
func Estimate(req orchestrator.Request, q orchestrator.Questions, brief review.Brief, price func(model string) *gateway.Price, limit float64) (Run, error) {
	r := Run{Target: req.Target.String(), Changed: len(brief.Files), Rounds: 1, LimitUSD: limit, Unbounded: []string{}}
	r.Files, _ = brief.Given()
	if req.Fix != nil {
		r.Rounds = max(req.Rounds, 1)
	}
	add := func(plan orchestrator.AgentPlan, limits review.Limits, task *review.Task, times int) error {
		a, err := agentOf(plan, limits, task, price, times)
		r.Agents = append(r.Agents, a)
		return err
	}
	for i := range q.Finders {
		if err := add(req.Find.Plans()[i], q.Finders[i].Limits, &q.Finders[i], 1); err != nil {
			return r, err
		}
	}
	if q.Scout != nil {
		if err := add(req.Quick.Scout, req.Quick.Limits, q.Scout, 1); err != nil {
			return r, err
		}
	}
	if q.ScanAlone {
		r.Rounds = 1
		r.sum()
		return r, nil
	}
	for i, plan := range req.Agents {
		if err := add(plan, q.Agents[i].Limits, &q.Agents[i], r.Rounds); err != nil {
			return r, err
		}
	}
	if q.Verifier != nil {
		if err := add(req.Verify.Agent, req.Verify.Limits, q.Verifier, r.Rounds); err != nil {
			return r, err
		}
	}
	if d := req.Disputes; d != nil {
		for i, plan := range d.Judges {
			if err := add(plan, d.Limits, q.Judges[i], r.Rounds); err != nil {
				return r, err
			}
		}
	}
	if req.Fix != nil && r.Rounds > 1 {
		if err := add(req.Fix.Agent, req.Fix.Limits, nil, (r.Rounds-1)*orchestrator.FixTries); err != nil {
			return r, err
		}
	}
	r.sum()
	return r, nil
}

// agentOf is what one agent would ask, times times at most. Without a task it is asked in later rounds alone.
func agentOf(plan orchestrator.AgentPlan, limits review.Limits, task *review.Task, price func(string) *gateway.Price, times int) (Agent, error) {
	a := Agent{Name: plan.Name, Role: plan.Role, Kind: plan.Kind, Model: plan.Model}
	known := func(calls, input, output int) {
		a.Calls, a.Input, a.Output = &calls, &input, &output
		free := 0.0
		if a.CostUSD = &free; calls > 0 {
			a.CostUSD = cost(price(plan.Model), input, output)
		}
	}
	switch {
	case plan.Kind == review.KindStatic:
		known(0, 0, 0)
		a.MaxCostUSD = a.CostUSD
		return a, nil
	case plan.Kind == review.KindCommand:
		return a, nil
	case task == nil:
		known(0, 0, 0)
	case plan.Kind == review.KindBuiltin:
		e, err := modelagent.Estimate(*task, modelagent.Options{})
		if err != nil {
			return a, fmt.Errorf("estimate what %s would ask: %w", plan.Name, err)
		}
		output := min(e.Calls, 1) * answerTokens
		if e.Calls > 1 {
			output += (e.Calls - 1) * passTokens
		}
		known(e.Calls, e.Input, output)
	}
	a.MaxCalls = limits.LLMCalls * times
	if price(plan.Model) != nil {
		usd := limits.CostUSD * float64(times)
		a.MaxCostUSD = &usd
	}
	return a, nil
}

// sum adds up what the agents ask.
func (r *Run) sum() {
	all, unknown, most := 0.0, false, 0.0
	for _, a := range r.Agents {
		if a.MaxCostUSD == nil {
			r.Unbounded = append(r.Unbounded, a.Name)
		} else {
			most += *a.MaxCostUSD
		}
		if a.CostUSD == nil {
			unknown = true
		} else {
			all += *a.CostUSD
		}
		if a.Calls == nil || *a.Calls == 0 {
			continue
		}
		at := slices.IndexFunc(r.Models, func(t Total) bool { return t.Model == a.Model })
		if at < 0 {
			free := 0.0
			at, r.Models = len(r.Models), append(r.Models, Total{Model: a.Model, CostUSD: &free})
		}
		t := &r.Models[at]
		t.Calls, t.Input, t.Output = t.Calls+*a.Calls, t.Input+*a.Input, t.Output+*a.Output
		if t.CostUSD == nil || a.CostUSD == nil {
			t.CostUSD = nil
		} else {
			*t.CostUSD += *a.CostUSD
		}
	}
	if !unknown {
		r.CostUSD = &all
	}
	if r.MaxCostUSD = most; r.LimitUSD > 0 {
		r.MaxCostUSD = min(most, r.LimitUSD)
	}
}

// Print prints an estimate: a row for each agent, one for each model, and what that comes to.
func (r Run) Print(w io.Writer, terminal bool, width int) error {
	fmt.Fprintf(w, "%s: estimate of the first round, %d of %d changed files given\n\n", sanitize.Terminal(r.Target), r.Files, r.Changed)
	t := tableprinter.New(w, terminal, width)
	if terminal {
		t.AddHeader([]string{"AGENT", "MODEL", "CALLS", "INPUT", "OUTPUT", "COST", "RUN AT MOST"})
	}
	row := func(cells ...string) {
		for _, c := range cells {
			t.AddField(sanitize.Terminal(c), tableprinter.WithTruncate(nil))
		}
		t.EndRow()
	}
	for _, a := range r.Agents {
		row(a.Name, a.Model, figure(a.Calls), figure(a.Input), figure(a.Output), Dollars(a.CostUSD), fmt.Sprintf("%d calls, %s", a.MaxCalls, Dollars(a.MaxCostUSD)))
	}
	for _, m := range r.Models {
		row("all", m.Model, figure(&m.Calls), figure(&m.Input), figure(&m.Output), Dollars(m.CostUSD), "")
	}
	if err := t.Render(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nfirst round: about %s\n", Dollars(r.CostUSD))
	if i := slices.IndexFunc(r.Agents, isScout); i >= 0 && i+1 < len(r.Agents) {
		fmt.Fprintln(w, "quick scan:  comes first; the others are asked only if it calls for a full review")
	}
	rounds := "1 round"
	if r.Rounds > 1 {
		rounds = fmt.Sprintf("up to %d rounds with fixes between them", r.Rounds)
	}
	most := "at most " + Dollars(&r.MaxCostUSD)
	switch unbounded := len(r.Unbounded) > 0; {
	case unbounded && r.MaxCostUSD == 0:
		most = Dollars(nil)
	case unbounded:
		most += " and what is unknown"
	}
	fmt.Fprintf(w, "whole run:   %s, %s", most, rounds)
	if r.LimitUSD > 0 && r.MaxCostUSD == r.LimitUSD {
		fmt.Fprint(w, " (run_limits.max_cost_usd)")
	}
	fmt.Fprintln(w)
	if !slices.ContainsFunc(r.Agents, func(a Agent) bool { return a.MaxCalls > 0 || a.Calls == nil }) {
		fmt.Fprintln(w, "no model:    nobody who asks one takes part; for the builtin reviewer: --estimate --reviewers builtin")
	}
	for _, name := range r.Unbounded {
		fmt.Fprintf(w, "unknown:     what %s costs, which no bound in dollars holds\n", sanitize.Terminal(name))
	}
	return nil
}

func isScout(a Agent) bool { return a.Role == review.RoleScout }

// figure is a count; unknown where an agent's own program decides.
func figure(n *int) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}
