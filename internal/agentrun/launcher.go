package agentrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/canary"
	"github.com/prloop/prloop/internal/folders"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/static"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// The environment a builtin child finds its gateway by, and a static one the linters' folder. The token is a placeholder that
// opens nothing else.
const (
	EnvSocket   = "PRLOOP_GATEWAY_SOCKET"
	EnvToken    = "PRLOOP_GATEWAY_TOKEN"
	EnvCheckout = "PRLOOP_CHECKOUT"
)

// Launcher lends the loop its agents. Its fields are set before the first agent is asked and not changed after; then its methods
// may be called at the same time.
type Launcher struct {
	// Self is this program, which plays the builtin roles: `agent ROLE`, `agent static` and `agent mcp`.
	Self string
	// Gateway is nil when no agent of the run needs a model.
	Gateway *gateway.Gateway
	// Models are those a command agent may ask for; every other agent may ask for its own alone.
	Models []string
	// Scratch is a private folder; each child gets an empty one below it as home and working directory.
	Scratch string
	// State is the folder children must never see.
	State string
	// Checkout is the folder of a local range, for linters; empty for a pull request, whose tree is nobody's to run.
	Checkout string
	// Repo is prloop's own repository of the target; the heads of all tasks are in it.
	Repo *git.Repository
	// Exclude are the patterns of what agents may not read (spec.md G1), checked with the settings.
	Exclude []string
	// Withholds is true where nothing may read some paths: their objects are in Repo, which agents' tools read and refuse to show, and no code of a pull
	// request may.
	Withholds bool
	// FetchHosts are the hosts whose pages builtin reviewers may ask for.
	FetchHosts []string
	// Search lets builtin reviewers ask the operator's search provider, which the gateway knows.
	Search bool
	// Folders are those beside the tree that commands may read.
	Folders []folders.Folder
	// Fence is the word around untrusted text in what this run's agents are told.
	Fence string
	// Secrets are those this process holds. No child is told; what children made is held against them.
	Secrets []string
	// Canary is a value for the home of every agent that nobody has a use for; it is one of Secrets. Empty plants none.
	Canary string
	// Learned is what the run learned of the change; agents are not shown it, unless ShowSecrets.
	Learned *sanitize.Learned
	// ShowSecrets lets agents read values that look like secrets; they are masked otherwise.
	ShowSecrets bool
	// Confinement says how children are confined, Limits what each of them may take of the machine.
	Confinement Confinement
	Limits      Limits

	seen words
	// trees are the heads as they are, quiet ones without what agents take configuration from.
	trees, quiet trees
}

// Ask runs one reviewer or comments analyzer.
func (c *Launcher) Ask(ctx context.Context, plan orchestrator.AgentPlan, task review.Task, emit func(review.Event)) review.Answer {
	return c.answer(ctx, plan, task, "", emit)
}

// memoryEnv keeps children of this program from collecting garbage while they start, which took a quarter of the processor
// time of it (docs/performance.md). They live shortly and hold little; the limit is for those with a large request.
var memoryEnv = []string{"GOGC=400", "GOMEMLIMIT=96MiB"}

// answer runs one agent. clone is the folder a fixer works in; empty for everybody else, who write nothing.
func (c *Launcher) answer(ctx context.Context, plan orchestrator.AgentPlan, task review.Task, clone string, emit func(review.Event)) review.Answer {
	c.seen.learn(task)
	if err := c.show(plan, task); err != nil {
		return unasked(plan, err)
	}
	if err := c.Limits.Room(c.Scratch); err != nil {
		return unasked(plan, err)
	}
	home, err := os.MkdirTemp(c.Scratch, "agent-")
	if err != nil {
		return unasked(plan, fmt.Errorf("make a home for the agent: %w", err))
	}
	defer sandbox.Remove(home) //nolint:errcheck // what is left goes with the run's folder
	if c.Canary != "" {
		if err := canary.Plant(home, c.Canary); err != nil {
			return unasked(plan, err)
		}
	}
	spec := agents.Spec{
		Name: plan.Name, Role: plan.Role, Kind: plan.Kind, Model: plan.Model, Dir: home, Timeout: plan.Timeout, Idle: idleLimit(task), Quiet: c.quietOf(plan.Name),
		Env: proc.BaseEnv("HOME="+home, "TMPDIR="+home), Bounds: c.agentBounds(home, clone),
	}
	if clone != "" {
		spec.Dir = clone
	}
	switch plan.Kind {
	case review.KindACP:
		return c.askACP(ctx, plan, task, home, clone, emit)
	case review.KindCommand:
		spec.Path, spec.Args = plan.Path, plan.Args
		if c.Gateway != nil && c.Confinement.full { // elsewhere that port would be the machine's
			spec.Env = append(spec.Env, gatewayEnv(c.Gateway.Socket(), c.issue(plan, task))...)
			defer c.Gateway.Release(plan.Name)
		}
	case review.KindBuiltin:
		if c.Gateway == nil {
			return unasked(plan, errors.New("no model is configured: set OPENAI_API_KEY"))
		}
		spec.Path, spec.Args = c.Self, []string{"agent", string(plan.Role)}
		spec.Env = append(spec.Env, memoryEnv...)
		spec.Env = append(spec.Env, EnvSocket+"="+c.Gateway.Socket(), EnvToken+"="+c.issue(plan, task))
		defer c.Gateway.Release(plan.Name)
	case review.KindStatic:
		spec.Path, spec.Args = c.Self, []string{"agent", "static"}
		switch {
		case plan.Role == review.RoleCommentsAnalyzer:
			spec.Args = []string{"agent", string(plan.Role)}
		case c.Checkout != "": // the user's own tree: its linters have the user's home and caches, as in a shell
			spec.Env = proc.BaseEnv(append(static.CacheEnv(), "TMPDIR="+home, EnvCheckout+"="+c.Checkout)...)
		}
		spec.Env = append(spec.Env, memoryEnv...)
	default:
		return unasked(plan, fmt.Errorf("agents of kind %q are unknown", plan.Kind))
	}
	var read []string
	if plan.Kind == review.KindBuiltin && readsTree(plan.Role) && task.Limits.ToolCalls > 0 {
		if task.Workspace, err = c.workspace(ctx, task.HeadSHA); err != nil {
			emit(review.Event{Kind: review.EventLog, Level: "warn", Agent: plan.Name, Message: "works without tools: " + err.Error()})
		} else {
			lent, err := c.Repo.Borrowed()
			if err != nil {
				return unasked(plan, err)
			}
			read = append([]string{task.Workspace.Tree, task.Workspace.GitDir}, lent...)
			task.Workspace.FetchHosts, task.Workspace.Search = c.FetchHosts, c.Search
			if len(c.FetchHosts) > 0 || c.Search {
				c.Gateway.Permit(plan.Name)
			}
		}
	}
	if clone != "" && plan.Kind == review.KindBuiltin {
		own := &review.Workspace{Tree: clone, Exclude: c.Exclude, Unmasked: c.ShowSecrets, Masked: c.masked()}
		if there := task.Workspace; plan.Role == review.RoleCommand && there != nil { // the clone's own git is the agent's
			own.GitDir, own.Folders, own.FetchHosts, own.Search = there.GitDir, there.Folders, there.FetchHosts, there.Search
		}
		task.Workspace = own
	}
	var beside []string
	if task.Role == review.RoleCommand && task.Workspace != nil {
		if beside, err = c.mount(ctx, &task); err != nil {
			return unasked(plan, err)
		}
	}
	read = append(read, task.Workspace.Beside()...)
	if err := c.confine(&spec, home, clone, read); err != nil {
		return unasked(plan, err)
	}
	news := named(plan.Name, emit)
	var warned []string
	switch plan.Kind {
	case review.KindBuiltin:
		news = receipted("warn", &warned, c.priced(plan.Name, news))
	case review.KindStatic:
		news = receipted("info", &warned, news)
	}
	answer := agents.Ask(ctx, spec, task, news)
	switch plan.Kind {
	case review.KindCommand: // what the gateway did not count it may say itself: it can have another way to a model
		if c.Gateway != nil && c.Gateway.Usage(plan.Name).LLMCalls > 0 {
			c.account(plan.Name, &answer)
			break
		}
		if c.Gateway != nil && c.Gateway.Err(plan.Name) != nil { // its calls were refused
			c.explain(plan.Name, &answer)
		}
		believable(&answer.Receipt, task.Limits.CostUSD)
	case review.KindBuiltin:
		c.account(plan.Name, &answer)
		if idle(answer.Receipt.Usage) { // the gateway is its only way to a model
			answer.Receipt.Usage = nothing(answer.Receipt.Usage)
		}
		answer.Receipt.Notes = append(append(answer.Receipt.Notes, warned...), beside...)
		if hosts := c.Gateway.Fetched(plan.Name); len(hosts) > 0 {
			answer.Receipt.Notes = append(answer.Receipt.Notes, "asked "+strings.Join(hosts, ", ")+" for pages")
		}
		if n := c.Gateway.Searched(plan.Name); n > 0 {
			answer.Receipt.Notes = append(answer.Receipt.Notes, fmt.Sprintf("asked the search provider %d times", n))
		}
	case review.KindStatic: // it has no way to a model, so nothing is known to be nothing
		answer.Receipt.Usage = nothing(review.Usage{})
		answer.Receipt.Notes = append(answer.Receipt.Notes, warned...)
	}
	return answer
}

// masked are the values that tools mask wherever they stand.
func (c *Launcher) masked() []string {
	if c.ShowSecrets {
		return nil
	}
	return c.Learned.Values()
}

// readsTree reports whether agents of a role have tools that read the tree.
func readsTree(r review.Role) bool {
	return r == review.RoleReviewer || r == review.RoleVerifier || r == review.RoleCommand
}

// show tells the gateway what a reviewer or the verifier is told of the change. The snapshot has masked it, and what counts as read is counted on
// that (decision 30), so that nothing of it may be masked once more on its way. What other agents and the repository's instructions
// add is not part of it. The static reviewer is told the true bytes, and asks no model.
func (c *Launcher) show(plan orchestrator.AgentPlan, task review.Task) error {
	if c.Gateway == nil || plan.Kind == review.KindStatic || plan.Role != review.RoleScout && plan.Role != review.RoleFinder && !readsTree(plan.Role) {
		return nil
	}
	task.Role, task.Verify, task.Command, task.Find = review.RoleReviewer, nil, nil, nil // a verifier is told the same of the change
	task.Earlier, task.Claims, task.Rewritten, task.Noticed, task.Prompt = nil, nil, nil, nil, ""
	task.Options.Fence = cmp.Or(task.Options.Fence, c.Fence)
	prompt, err := promptFor(task)
	if err != nil {
		return err
	}
	texts := []string{prompt}
	for _, f := range task.Brief.Files { // a command has them as they are
		texts = append(texts, f.Diff)
	}
	c.Gateway.Show(texts...)
	return nil
}

// unasked is the answer of an agent that could not be started.
func unasked(plan orchestrator.AgentPlan, err error) review.Answer {
	return review.Answer{Receipt: review.AgentReceipt{
		Name: plan.Name, Role: plan.Role, Kind: plan.Kind, Model: plan.Model, State: review.AgentFailed, Reason: "it could not be started", Detail: err.Error(),
	}}
}
