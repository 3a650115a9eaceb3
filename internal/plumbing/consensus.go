// Package plumbing has the commands that need no run: the verdict for reviews made by anyone, the filter of comments, the schemas, and
// the check of a configuration file.
package plumbing

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/prloop/prloop/consensus"
	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/review"
)

// plainVerdict is what `prloop consensus --json` prints.
type plainVerdict struct {
	Consensus review.Conclusion `json:"consensus"`
	Issues    review.Counts     `json:"issues"`
	// Rules are all matching rules, the deciding one first.
	Rules []int `json:"rules"`
}

// Consensus is `prloop consensus`.
func Consensus() subcommand.Command {
	f := subcommand.Flags("consensus")
	comments := f.String("comments", "", "comments analyzer result in `FILE`")
	asJSON := f.Bool("json", false, "print JSON: consensus, issues, rules")
	return subcommand.Command{
		Use:   "consensus RESULT.json...",
		Short: "Compute the verdict for reviewer envelopes",
		Long: "Reads reviewer results and, behind --comments, a comments analyzer result (prloop schema shows both), and\n" +
			"prints the verdict by the fixed rules. Exit status 0 for approve, 3 for anything else, 2 for a file that is not valid.",
		Flags: f,
		Run: func(_ context.Context, p subcommand.Process, files []string) error {
			var findings []review.Finding
			var state review.ReviewState
			for _, file := range files {
				r, err := readEnvelope(p, file, answer.DecodeReviewer)
				if err != nil {
					return err
				}
				findings = append(findings, r.Findings...)
			}
			if *comments != "" {
				r, err := readEnvelope(p, *comments, answer.DecodeComments)
				if err != nil {
					return err
				}
				findings, state = append(findings, r.PendingIssues...), r.ReviewState
			}
			v := consensus.Decide(findings, state)
			if err := printVerdict(p.Stdout, v, *asJSON); err != nil {
				return err
			}
			if v.Consensus != review.Approve {
				return subcommand.Status(review.ChangesRequested.ExitStatus())
			}
			return nil
		},
	}
}

// readEnvelope reads and decodes one file; "-" is standard input.
func readEnvelope[T any](p subcommand.Process, file string, decode func([]byte) (T, schema.Notes, error)) (T, error) {
	var zero T
	data, err := p.Read(file)
	if err != nil {
		return zero, advice.Error{Err: err, Next: "check the path", Status: advice.Usage}
	}
	out, _, err := decode(data)
	if err != nil {
		return zero, advice.Error{
			Err: fmt.Errorf("read %s: %w", file, err), Next: "compare it with: prloop schema reviewer-result, prloop schema comments-result",
			Status: advice.Usage,
		}
	}
	return out, nil
}

func printVerdict(w io.Writer, v review.Verdict, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(plainVerdict{Consensus: v.Consensus, Issues: v.Issues, Rules: v.Rules})
	}
	fmt.Fprintf(w, "consensus: %s\n", v.Consensus)
	fmt.Fprintf(w, "issues: P0 %d, P1 %d, P2 %d, P3 %d\n", v.Issues.P0, v.Issues.P1, v.Issues.P2, v.Issues.P3)
	for i, r := range v.Rules {
		fmt.Fprintf(w, "rule %d: %s\n", r, v.Reasons[i])
	}
	return nil
}
