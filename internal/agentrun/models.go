package agentrun

import (
	"cmp"
	"time"

	"github.com/prloop/prloop/internal/modelagent"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// ModelsOf are the models a plan names for its agent: its own, and the one a verifier hands doubtful findings to.
func ModelsOf(plan orchestrator.AgentPlan) []string {
	var out []string
	for _, name := range []string{plan.Model, plan.Stronger} {
		if name != "" && name != modelagent.NoStronger {
			out = append(out, name)
		}
	}
	return out
}

// issue gives an agent its token of the gateway.
func (c *Launcher) issue(plan orchestrator.AgentPlan, task review.Task) string {
	models := ModelsOf(plan)
	if plan.Kind == review.KindCommand { // its program chooses
		models = c.Models
	}
	return c.Gateway.Issue(plan.Name, task.Limits, models...)
}

// idleLimit is the longest silence of a child before it counts as hung.
func idleLimit(task review.Task) time.Duration {
	return time.Duration(cmp.Or(task.Limits.IdleSeconds, review.DefaultLimits().IdleSeconds)) * time.Second
}

// quietOf tells how long ago a model sent a byte for an agent: one that waits for its model is not silent.
func (c *Launcher) quietOf(name string) func() time.Duration {
	if c.Gateway == nil {
		return nil
	}
	return func() time.Duration { return c.Gateway.Quiet(name) }
}
