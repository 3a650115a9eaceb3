package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/builtin"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func agentCommand(p *Invocation) *cobra.Command {
	me := builtin.Agent{Socket: p.env(agentrun.EnvSocket), Token: p.env(agentrun.EnvToken), Checkout: p.env(agentrun.EnvCheckout)}
	return group(&cobra.Command{
		Use:   "agent",
		Short: "The builtin agents, and a check for yours",
		Long:  "The builtin agents are this program, run as a child: one JSON request on standard input, one envelope on standard\noutput. `prloop agent check` tells whether another program keeps the same contract.",
	},
		p.child("reviewer", "Review with a model, through prloop's gateway", me.Review),
		p.child(string(review.RoleCommand), "Do the task of a command with a model and the tools it may use", me.Command),
		p.child(string(review.RoleVerifier), "Try to refute findings with a model and tools that read the tree", me.Verify),
		p.child("comments-analyzer", "Read the discussion by rule, and word it with a model when there is one", me.AnalyzeComments),
		p.child(string(review.RoleFixer), "Fix findings in the tree the request names, with a model", me.Fix),
		p.child("static", "Review without a model", me.ReviewStatic),
		agentCheckCommand(p),
		mcpCommand(p),
	)
}

// child is a builtin role as a command.
func (p *Invocation) child(name, short string, w builtin.Work) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return builtin.Serve(c.Context(), p.Stdin, p.Stdout, w) },
	}
}

// mcpCommand is the server of the tools an ACP agent reads with and answers through; the agent starts it.
func mcpCommand(p *Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve the tools of an ACP agent", Hidden: true, Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return acp.ServeMCP(c.Context(), os.Stdin, os.Stdout, p.env, builtin.Tools)
		},
	}
}

func agentCheckCommand(p *Invocation) *cobra.Command {
	var role string
	var limit time.Duration
	c := &cobra.Command{
		Use:   "check CMD [ARGS...]",
		Short: "Check that a program implements the agent protocol",
		Long: "Runs CMD with sample requests (docs/agents.md) and lists every departure from the contract. A fixer works in clones of a\n" +
			"sample repository, and its work is held against the push policy. Exit status 0 when there is no fault, 1 otherwise.",
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			r := review.Role(role)
			if r != review.RoleReviewer && r != review.RoleCommentsAnalyzer && r != review.RoleFixer && r != review.RoleVerifier && r != review.RoleCommand {
				return advice.Misuse("--role reviewer, --role verifier, --role comments-analyzer, --role command or --role pr-fix", "there is no role %q to check", role)
			}
			path, err := proc.LookPath(a[0])
			if err != nil {
				return advice.Misuse("check the path; a program in this folder is ./NAME", "%w", err)
			}
			if path, err = filepath.Abs(path); err != nil {
				return err
			}
			spec := agents.Spec{Name: "checked", Role: r, Kind: review.KindCommand, Path: path, Args: a[1:], Env: proc.BaseEnv(), Dir: p.Dir, Timeout: limit}
			var problems []agents.Problem
			if r == review.RoleFixer {
				if problems, err = fixspace.CheckFixer(c.Context(), spec); err != nil {
					return err
				}
			} else {
				problems = agents.Check(c.Context(), spec)
			}
			failed := 0
			for _, pr := range problems {
				word := "fault"
				if pr.Warning {
					word = "note"
				} else {
					failed++
				}
				fmt.Fprintf(p.Stdout, "%s: %s request: %s\n", word, pr.Sample, sanitize.Terminal(pr.Reason))
			}
			if failed > 0 {
				return advice.Error{
					Err:  fmt.Errorf("%s is not a valid %s: %s", a[0], r, plural(failed, "fault", "faults")),
					Next: "docs/agents.md tells the contract; prloop schema " + shapeOf(r) + " prints the shape", Status: advice.Failed,
				}
			}
			fmt.Fprintf(p.Stdout, "%s is a valid %s\n", a[0], r)
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&role, "role", string(review.RoleReviewer), "`ROLE`: reviewer, verifier, comments-analyzer, command or pr-fix")
	c.Flags().DurationVar(&limit, "timeout", 30*time.Second, "`TIME` for each request")
	return c
}

// shapeOf is the schema of what a role answers.
func shapeOf(r review.Role) string {
	switch r {
	case review.RoleCommentsAnalyzer:
		return "comments-result"
	case review.RoleFixer:
		return "fix-result"
	case review.RoleVerifier:
		return "verifier-result"
	case review.RoleCommand:
		return "command-result"
	}
	return "reviewer-result"
}
