package agentrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"

	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// askACP puts the question to an agent over the Agent Client Protocol: the same prompt builtin reviewers get, the tree to
// read, the gateway as its only model (docs/acp.md).
func (c *Launcher) askACP(ctx context.Context, plan orchestrator.AgentPlan, task review.Task, home, clone string, emit func(review.Event)) review.Answer {
	preset, ok := acp.Find(plan.Preset)
	if !ok {
		return unasked(plan, fmt.Errorf("there is no preset %q", plan.Preset))
	}
	if ok, why := preset.Confinable(); !ok {
		return unasked(plan, fmt.Errorf("%s cannot be held to the gateway: %s", preset.Name, why))
	}
	if c.Gateway == nil {
		return unasked(plan, errors.New("no model is configured: set OPENAI_API_KEY"))
	}
	prompt, err := promptFor(task)
	if err != nil {
		return unasked(plan, err)
	}
	tree := clone // a fixer's, in which the workspace moved the configuration of agents aside
	if tree == "" {
		if tree, err = c.quietTree(ctx, task.HeadSHA); err != nil {
			return unasked(plan, err)
		}
	}
	spec := acp.Spec{
		Name: plan.Name, Role: plan.Role, Preset: preset, Command: plan.Path, Args: plan.Args, Env: proc.BaseEnv("HOME="+home, "TMPDIR="+home),
		Dir: home, Cwd: tree, Model: plan.Model, Timeout: plan.Timeout, Idle: idleLimit(task), Quiet: c.quietOf(plan.Name), Self: c.Self, SelfArgs: []string{"agent", "mcp"},
		Endpoint: acp.Endpoint{BaseURL: "http://" + c.Gateway.Addr() + "/v1", Token: c.issue(plan, task)},
	}
	if plan.Path != "" && len(plan.Args) == 0 {
		spec.Args = preset.Args // another copy of the same program
	}
	if task.Command != nil {
		spec.Tools = task.Command.Tools
	}
	var beside []string
	if task.Role == review.RoleCommand {
		lent := task
		lent.Workspace = &review.Workspace{}
		if beside, err = c.mount(ctx, &lent); err != nil {
			return unasked(plan, err)
		}
		spec.Folders = lent.Workspace.Folders
	}
	defer c.Gateway.Release(plan.Name)
	spec.Confine = func(p proc.Spec) (proc.Spec, error) {
		return c.confineACP(p, preset.Needs, home, tree, clone, slices.Sorted(maps.Values(spec.Folders)))
	}
	if c.Confinement.On() {
		if !c.Confinement.full {
			return unasked(plan, errors.New("an ACP agent needs a network namespace to be held to the gateway, and this machine has none"))
		}
		spec.Endpoint.BaseURL = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(gatewayPort)) + "/v1"
	}
	answer := acp.Ask(ctx, spec, task, prompt, c.priced(plan.Name, named(plan.Name, emit)))
	c.account(plan.Name, &answer)
	answer.Receipt.Notes = append(answer.Receipt.Notes, beside...)
	return answer
}

// promptFor is the whole question in one text: what builtin agents are asked in several messages.
func promptFor(task review.Task) (string, error) {
	fence := task.Options.Fence
	if task.Role == review.RoleCommentsAnalyzer {
		var talk review.Discussion
		if task.Discussion != nil {
			talk = *task.Discussion
		}
		found := threads.Analyze(talk, task.PRNumber)
		found.Agent = task.Agent
		question, err := prompts.Comments(found, fence)
		return prompts.CommentsSystem() + "\n" + question, err
	}
	brief, err := prompts.Brief(task, fence)
	if err != nil {
		return "", err
	}
	if task.Role == review.RoleFixer {
		what, err := prompts.Fix(task, fence, "")
		return prompts.FixSystem() + "\n" + brief + "\n" + what, err
	}
	if task.Role == review.RoleVerifier {
		what, err := prompts.Verify(task, fence, task.Limits.ToolCalls)
		return prompts.System() + "\n" + brief + "\n" + what, err
	}
	if task.Role == review.RoleScout {
		what, err := prompts.Scan(task, fence)
		return prompts.ScanSystem() + "\n" + brief + "\n" + what, err
	}
	if task.Role == review.RoleFinder {
		what, err := prompts.Find(task, fence)
		return prompts.FindSystem() + "\n" + brief + "\n" + what, err
	}
	if task.Role == review.RoleCommand {
		system, err := prompts.CommandSystem()
		if err != nil {
			return "", err
		}
		what, err := prompts.Command(task, fence, task.Limits.ToolCalls)
		return system + "\n" + brief + "\n" + what, err
	}
	tail, err := prompts.Tail(prompts.Part{Agent: task.Agent, Findings: task.Limits.Findings, Threshold: task.Options.Threshold, Elevation: task.Options.Elevation, Extra: task.Prompt, Earlier: len(task.Earlier)})
	return prompts.System() + "\n" + brief + "\n" + tail, err
}
