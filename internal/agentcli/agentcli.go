// Package agentcli has the commands below `prloop agent`: the builtin agents, which prloop starts as children, and the check of other
// programs.
package agentcli

import (
	"context"
	"os"

	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/builtin"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/review"
)

// Commands is `prloop agent`.
func Commands() subcommand.Command {
	return subcommand.Command{
		Use:   "agent",
		Short: "Run a builtin agent, or check an agent of your own",
		Long:  "The builtin agents are this program, run as a child: one JSON request on standard input, one envelope on standard\noutput. `prloop agent check` checks whether another program keeps the same contract.",
		Members: []subcommand.Command{
			child("reviewer", "Review with a model, through prloop's gateway", builtin.Agent.Review),
			child(string(review.RoleCommand), "Do the task of a command with a model and the tools it may use", builtin.Agent.Command),
			child(string(review.RoleVerifier), "Try to refute findings with a model and tools that read the tree", builtin.Agent.Verify),
			child(string(review.RoleScout), "Look at the whole diff once, with a model", builtin.Agent.Scan),
			child(string(review.RoleFinder), "Look for context of a change in files outside it, with a model", builtin.Agent.Find),
			child("comments-analyzer", "Read the discussion by rule, and word it with a model when there is one", builtin.Agent.AnalyzeComments),
			child(string(review.RoleFixer), "Fix findings in the tree the request names, with a model", builtin.Agent.Fix),
			child("static", "Review without a model", builtin.Agent.ReviewStatic),
			check(),
			{
				// The server of the tools an ACP agent reads with and answers through; the agent starts it.
				Use: "mcp", Short: "Serve the tools of an ACP agent", Hidden: true,
				Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
					return acp.ServeMCP(ctx, os.Stdin, os.Stdout, p.Getenv, builtin.Tools)
				},
			},
		},
	}
}

// child is a builtin role as a command.
func child(name, short string, work func(builtin.Agent, context.Context, review.Task, func(review.Event)) (any, error)) subcommand.Command {
	return subcommand.Command{
		Use: name, Short: short,
		Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
			me := builtin.Agent{Socket: p.Getenv(agentrun.EnvSocket), Token: p.Getenv(agentrun.EnvToken), Checkout: p.Getenv(agentrun.EnvCheckout)}
			return builtin.Serve(ctx, p.Stdin, p.Stdout, func(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
				return work(me, ctx, task, emit)
			})
		},
	}
}
