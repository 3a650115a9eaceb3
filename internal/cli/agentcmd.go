package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/crew"
	"github.com/prloop/prloop/internal/openai"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/static"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func agentCommand(p *Proc) *cobra.Command {
	c := &cobra.Command{
		Use:   "agent",
		Short: "The builtin agents, and a check for yours",
		Long:  "The builtin agents are this program, run as a child: one JSON request on standard input, one envelope on standard\noutput. `prloop agent check` tells whether another program keeps the same contract.",
	}
	c.AddCommand(
		p.child("reviewer", "Review with a model, through prloop's gateway", p.reviewWork),
		p.child("comments-analyzer", "Read the discussion by rule, and word it with a model when there is one", p.commentsWork),
		p.child(string(review.RoleFixer), "Mend findings in the tree the request names, with a model", p.fixWork),
		p.child("static", "Review without a model", p.staticWork),
		agentCheckCommand(p),
		mcpCommand(p),
		agentPromptsCommand(p),
	)
	return c
}

// work is a builtin agent's answer to one request.
type work func(ctx context.Context, task review.Task, emit func(review.Event)) (any, error)

func (p *Proc) child(name, short string, w work) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			err := agents.Serve(c.Context(), p.Stdin, p.Stdout, w)
			// A model's broken answer is handed on as it is, so that the parent can keep the findings in it that are
			// valid; the exit status says that it is no answer (design 5).
			var invalid *openai.InvalidError
			if errors.As(err, &invalid) {
				_, _ = p.Stdout.Write(append(invalid.Raw, '\n'))
			}
			return err
		},
	}
}

// modelOptions are how a builtin child reaches its model: only through the gateway that started it.
func (p *Proc) modelOptions() openai.Options {
	return openai.Options{Socket: p.env(crew.EnvSocket), Token: p.env(crew.EnvToken)}
}

func (p *Proc) reviewWork(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	o := p.modelOptions()
	o.Tools = openTools(task, p.fetch)
	return openai.Review(ctx, task, o, emit)
}

func (p *Proc) commentsWork(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	if p.env(crew.EnvSocket) == "" {
		if task.Discussion == nil {
			return threads.Analyze(review.Discussion{}, task.PRNumber), nil
		}
		return threads.Analyze(*task.Discussion, task.PRNumber), nil
	}
	return openai.AnalyzeComments(ctx, task, p.modelOptions(), emit)
}

func (p *Proc) fixWork(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	return openai.Fix(ctx, task, p.modelOptions(), openEditor(task), emit)
}

func (p *Proc) staticWork(ctx context.Context, task review.Task, emit func(review.Event)) (any, error) {
	return static.Review(ctx, task, static.Options{CheckoutDir: p.env(crew.EnvCheckout)}, emit)
}

func agentCheckCommand(p *Proc) *cobra.Command {
	var role string
	var limit time.Duration
	c := &cobra.Command{
		Use:   "check CMD [ARGS...]",
		Short: "Tell whether a program is a valid agent",
		Long: "Runs CMD with sample requests (docs/agents.md) and lists every departure from the contract. A fixer works in clones of a\n" +
			"sample repository, and its work is held against the push policy. Exit status 0 when there is no fault, 1 otherwise.",
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			r := review.Role(role)
			if r != review.RoleReviewer && r != review.RoleCommentsAnalyzer && r != review.RoleFixer {
				return usage("--role reviewer, --role comments-analyzer or --role pr-fix", "there is no role %q to check", role)
			}
			path, err := proc.LookPath(a[0])
			if err != nil {
				return usage("check the path; a program in this folder is ./NAME", "%w", err)
			}
			if path, err = filepath.Abs(path); err != nil {
				return err
			}
			spec := agents.Spec{Name: "checked", Role: r, Kind: kindCommand, Path: path, Args: a[1:], Env: proc.BaseEnv(), Dir: p.Dir, Timeout: limit}
			var problems []agents.Problem
			if r == review.RoleFixer {
				if problems, err = p.checkFixer(c.Context(), spec); err != nil {
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
				return hinted{
					err:  fmt.Errorf("%s is not a valid %s: %s", a[0], r, plural(failed, "fault", "faults")),
					next: "docs/agents.md tells the contract; prloop schema " + shapeOf(r) + " prints the shape", status: exitFailed,
				}
			}
			fmt.Fprintf(p.Stdout, "%s is a valid %s\n", a[0], r)
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&role, "role", string(review.RoleReviewer), "`ROLE`: reviewer, comments-analyzer or pr-fix")
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
	}
	return "reviewer-result"
}
