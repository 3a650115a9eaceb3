package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/internal/tools"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// askACP puts the question to an agent over the Agent Client Protocol: the same prompt builtin reviewers get, the tree to
// read, the gateway as its only model (docs/acp.md).
func (a *asker) askACP(ctx context.Context, plan orchestrator.AgentPlan, task review.Task, home, clone string, emit func(review.Event)) agents.Answer {
	preset, ok := acp.Find(plan.Settings["preset"])
	if !ok {
		return unasked(plan, fmt.Errorf("there is no preset %q", plan.Settings["preset"]))
	}
	if ok, why := preset.Confinable(); !ok {
		return unasked(plan, fmt.Errorf("%s cannot be held to the gateway: %s", preset.Name, why))
	}
	if a.gateway == nil {
		return unasked(plan, errors.New("no model is configured: set OPENAI_API_KEY"))
	}
	prompt, err := promptFor(task)
	if err != nil {
		return unasked(plan, err)
	}
	tree := clone // a fixer's, in which the workbench moved the configuration of agents aside
	if tree == "" {
		if tree, err = a.quietTree(ctx, task.HeadSHA); err != nil {
			return unasked(plan, err)
		}
	}
	spec := acp.Spec{
		Name: plan.Name, Role: plan.Role, Preset: preset, Command: plan.Path, Args: plan.Args, Env: proc.BaseEnv("HOME="+home, "TMPDIR="+home),
		Dir: home, Cwd: tree, Model: plan.Model, Timeout: plan.Timeout, Idle: idleLimit, Self: a.self, SelfArgs: []string{"agent", "mcp"},
		Endpoint: acp.Endpoint{BaseURL: "http://" + a.gateway.Addr() + "/v1", Token: a.gateway.Issue(plan.Name, task.Limits)},
	}
	if plan.Path != "" && len(plan.Args) == 0 {
		spec.Args = preset.Args // another copy of the same program
	}
	defer a.gateway.Release(plan.Name)
	if a.walls.on {
		if !a.walls.ownNetwork {
			return unasked(plan, errors.New("an ACP agent needs a network namespace to be held to the gateway, and this machine has none"))
		}
		spec.Endpoint.BaseURL = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(gatewayPort)) + "/v1"
		spec.Confine = func(p proc.Spec) (proc.Spec, error) { return a.confineACP(p, preset.Needs, home, tree, clone) }
	}
	got := acp.Ask(ctx, spec, task, prompt, a.priced(plan.Name, named(plan.Name, emit)))
	answer := agents.Answer{Reviewer: got.Reviewer, Comments: got.Comments, Fix: got.Fix, Receipt: got.Receipt, Log: got.Log}
	a.account(plan.Name, &answer)
	return answer
}

// promptFor is the whole question in one text: what builtin agents are asked in several messages.
func promptFor(task review.Task) (string, error) {
	fence := task.Settings["fence"]
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
	threshold, err := strconv.Atoi(task.Settings["threshold"])
	if err != nil {
		return "", fmt.Errorf("setting threshold: %w", err)
	}
	tail, err := prompts.Tail(prompts.Part{Agent: task.Agent, Findings: task.Limits.Findings, Threshold: threshold, Extra: task.Prompt})
	return prompts.System() + "\n" + brief + "\n" + tail, err
}

// confineACP puts an ACP agent behind the walls. It may read the tree, its own package, the programs it needs, and this
// program, which it starts as the server of the tools it answers through. A fixer may write its clone.
func (a *asker) confineACP(p proc.Spec, needs []string, home, tree, clone string) (proc.Spec, error) {
	path, err := proc.LookPath(p.Path)
	if err != nil {
		return p, err
	}
	read := append([]string{tree, a.self, filepath.Dir(path)}, a.walls.read...)
	for _, name := range needs {
		if need, err := proc.LookPath(name); err == nil { // without it the agent does worse, and says so
			read = append(read, need)
		}
	}
	policy := sandbox.Policy{
		MinTier: a.walls.weakest, Home: home, ReadOnly: read, Hide: []string{a.state}, Gateway: a.gateway.Socket(), GatewayPort: gatewayPort,
	}
	if clone != "" {
		// What nothing may read cannot be left out of a tree that is to be given back: it is covered.
		covered, err := matching(clone, a.exclude)
		if err != nil {
			return p, fmt.Errorf("cover what a fixer may not read: %w", err)
		}
		policy.ReadOnly, policy.Writable, policy.Hide = policy.ReadOnly[1:], []string{clone}, append(policy.Hide, covered...)
	}
	c, err := a.walls.machine.Wrap(policy, sandbox.Command{Path: path, Args: p.Args, Env: p.Env, Dir: p.Dir})
	p.Path, p.Args, p.Env, p.Dir = c.Path, c.Args, c.Env, c.Dir
	return p, err
}

// hasACP reports whether an agent of a plan speaks ACP. Such agents reach models over TCP only.
func hasACP(agents []orchestrator.AgentPlan) bool {
	return slices.ContainsFunc(agents, func(a orchestrator.AgentPlan) bool { return a.Kind == kindACP })
}

// aside is put before the name of what an agent would take configuration from: it can be read and is not loaded (security 3,
// "Trust of inputs").
const aside = "moved-aside-"

// leaveOut removes what nothing may read (repo policy): an agent reads with tools of its own too.
func leaveOut(dir string, patterns []string) error {
	paths, err := matching(dir, patterns)
	for _, path := range paths {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// matching are the paths of a tree that one of the patterns matches, of a folder only the folder; git's own is passed over.
// The patterns were checked with the settings.
func matching(dir string, patterns []string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || !slices.ContainsFunc(patterns, func(p string) bool { return doublestar.MatchUnvalidated(p, filepath.ToSlash(rel)) }) {
			return err
		}
		paths = append(paths, path)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return paths, err
}

// quietTree exports the head without what nobody may read and with the configuration of agents moved aside at every depth.
func (a *asker) quietTree(ctx context.Context, head string) (string, error) {
	return a.quiet.get(head, filepath.Join(a.scratch, "quiet-"+head), func(dir string) error {
		if err := a.history.repo.Export(ctx, head, dir); err != nil {
			return err
		}
		return errors.Join(leaveOut(dir, a.exclude), moveAside(dir, agentConfiguration()), readable(dir))
	})
}

// agentConfiguration are the names any known agent takes configuration from.
func agentConfiguration() []string {
	var names []string
	for _, p := range acp.Presets() {
		names = append(names, p.Loads...)
	}
	return names
}

// moveAside renames files and folders of the names given, wherever they are; case does not matter, as it does not on disks
// an agent may be made for.
func moveAside(dir string, names []string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, d.Name()) }) {
			return nil
		}
		if err := os.Rename(path, filepath.Join(filepath.Dir(path), aside+d.Name())); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// acpToolbox hands the tools that read a tree to an ACP agent.
type acpToolbox struct{ *tools.Box }

// Specs are the tools' own, in the words of package acp.
func (t acpToolbox) Specs() []acp.ToolSpec {
	var all []acp.ToolSpec
	for _, s := range t.Box.Specs() {
		all = append(all, acp.ToolSpec(s))
	}
	return all
}

// mcpCommand is the server of the tools an ACP agent reads with and answers through; the agent starts it.
func mcpCommand(p *Proc) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve the tools of an ACP agent", Hidden: true, Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return acp.ServeMCP(c.Context(), os.Stdin, os.Stdout, p.env, func(tree string) (acp.Toolbox, error) {
				b, err := tools.Open(readOnly(tree))
				return acpToolbox{b}, err
			})
		},
	}
}
