package agentrun

import (
	"github.com/prloop/prloop/internal/openai"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// ModelsOf are the models a plan names for its agent: its own, and the one that re-examines what it is unsure of.
func ModelsOf(plan orchestrator.AgentPlan) []string {
	var out []string
	for _, name := range []string{plan.Model, plan.Escalation} {
		if name != "" && name != openai.NoEscalation {
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
