package agentcli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func check() subcommand.Command {
	f := subcommand.Flags("check")
	role := f.String("role", string(review.RoleReviewer), "`ROLE`: reviewer, verifier, scout, finder, comments-analyzer, command or pr-fix")
	limit := f.Duration("timeout", 30*time.Second, "`TIME` for each request")
	return subcommand.Command{
		Use:   "check CMD [ARGS...]",
		Short: "Check that a program implements the agent protocol",
		Long: "Runs CMD with sample requests (docs/agents.md) and lists every departure from the contract. A fixer works in clones of a\n" +
			"sample repository, and its work is held against the push policy. Exit status 0 when there is no fault, 1 otherwise.",
		Flags: f, Rest: true,
		Run: func(ctx context.Context, p subcommand.Process, a []string) error {
			r := review.Role(*role)
			if r != review.RoleReviewer && r != review.RoleCommentsAnalyzer && r != review.RoleFixer && r != review.RoleVerifier && r != review.RoleCommand && r != review.RoleScout && r != review.RoleFinder {
				return advice.Misuse("--role reviewer, --role verifier, --role scout, --role finder, --role comments-analyzer, --role command or --role pr-fix", "there is no role %q to check", *role)
			}
			path, err := proc.LookPath(a[0])
			if err != nil {
				return advice.Misuse("check the path; a program in this folder is ./NAME", "%w", err)
			}
			if path, err = filepath.Abs(path); err != nil {
				return err
			}
			spec := agents.Spec{Name: "checked", Role: r, Kind: review.KindCommand, Path: path, Args: a[1:], Env: proc.BaseEnv(), Dir: p.Dir, Timeout: *limit}
			var problems []agents.Problem
			if r == review.RoleFixer {
				if problems, err = fixspace.CheckFixer(ctx, spec); err != nil {
					return err
				}
			} else {
				problems = agents.Check(ctx, spec)
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
					Err:  fmt.Errorf("%s is not a valid %s: %s", a[0], r, subcommand.Plural(failed, "fault", "faults")),
					Next: "docs/agents.md tells the contract; prloop schema " + shapeOf(r) + " prints the shape", Status: advice.Failed,
				}
			}
			fmt.Fprintf(p.Stdout, "%s is a valid %s\n", a[0], r)
			return nil
		},
	}
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
	case review.RoleScout:
		return "scout-result"
	case review.RoleFinder:
		return "finder-result"
	}
	return "reviewer-result"
}
