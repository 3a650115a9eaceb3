package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/consensus"
	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// plainVerdict is what `prloop consensus --json` prints.
type plainVerdict struct {
	Consensus review.Conclusion `json:"consensus"`
	Issues    review.Counts     `json:"issues"`
	// Rules are all matching rules, the deciding one first.
	Rules []int `json:"rules"`
}

func consensusCommand(p *Invocation) *cobra.Command {
	var comments string
	var asJSON bool
	c := &cobra.Command{
		Use:   "consensus RESULT.json...",
		Short: "Print the verdict for reviewer envelopes made by anyone",
		Long: "Reads reviewer results and, behind --comments, a comments analyzer result (prloop schema shows both), and\n" +
			"prints the verdict by the fixed rules. Exit status 0 for approve, 3 for anything else, 2 for a file that is not valid.",
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			var findings []review.Finding
			var state review.ReviewState
			for _, file := range files {
				r, err := readEnvelope(p, file, answer.DecodeReviewer)
				if err != nil {
					return err
				}
				findings = append(findings, r.Findings...)
			}
			if comments != "" {
				r, err := readEnvelope(p, comments, answer.DecodeComments)
				if err != nil {
					return err
				}
				findings, state = append(findings, r.PendingIssues...), r.ReviewState
			}
			v := consensus.Decide(findings, state)
			if err := printVerdict(p.Stdout, v, asJSON); err != nil {
				return err
			}
			if v.Consensus != review.Approve {
				return exitStatus(review.ChangesRequested.ExitStatus())
			}
			return nil
		},
	}
	c.Flags().StringVar(&comments, "comments", "", "comments analyzer result in `FILE`")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: consensus, issues, rules")
	return c
}

// readEnvelope reads and decodes one file; "-" is standard input.
func readEnvelope[T any](p *Invocation, file string, decode func([]byte) (T, schema.Notes, error)) (T, error) {
	var zero T
	data, err := readInput(p, file)
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

// readInput reads a file relative to the working directory, or standard input for "-".
func readInput(p *Invocation, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(io.LimitReader(p.Stdin, inputLimitBytes))
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.Dir, file)
	}
	return os.ReadFile(file)
}

// inputLimitBytes bounds what plumbing commands read from standard input.
const inputLimitBytes = 64 << 20

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

func sanitizeCommand(p *Invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "sanitize",
		Short: "Filter a comment body from standard input to standard output",
		Long:  "Takes secrets, full diffs, mentions, images and everything else prloop would not post out of a comment body,\nand puts the marker on line 1. Filtering twice changes nothing.",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			body, err := io.ReadAll(io.LimitReader(p.Stdin, inputLimitBytes))
			if err != nil {
				return fmt.Errorf("read standard input: %w", err)
			}
			text, err := sanitize.Filter(string(body))
			if err != nil {
				return fmt.Errorf("sanitize standard input: %w", err)
			}
			_, err = io.WriteString(p.Stdout, text.String())
			return err
		},
	}
}

// fileSchemas are the schemas of the files a person writes, by the names they have in docs/schema.
var fileSchemas = map[string]config.Kind{"reviewerc": config.Repository, "config": config.Operator}

func schemaCommand(p *Invocation) *cobra.Command {
	names := slices.AppendSeq(schema.Names(), maps.Keys(fileSchemas))
	slices.Sort(names)
	return &cobra.Command{
		Use:   "schema NAME",
		Short: "Print the JSON Schema of one of the shapes",
		Long: "Names: " + strings.Join(names, ", ") + ".\n" +
			"reviewerc is that of .reviewerc, config that of the operator's file; editors complete and check by them.",
		ValidArgs: names,
		Args:      args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, a []string) error {
			if kind, ok := fileSchemas[a[0]]; ok {
				_, err := p.Stdout.Write(config.Schema(kind))
				return err
			}
			data, err := schema.Schema(a[0])
			if err != nil {
				err := fmt.Errorf("there is no schema %q", a[0])
				if near := nearest.Name(a[0], names); near != "" {
					err = fmt.Errorf("%w; did you mean %q?", err, near)
				}
				return advice.Misuse("one of: "+strings.Join(names, ", "), "%w", err)
			}
			_, err = p.Stdout.Write(data)
			return err
		},
	}
}

func versionCommand(p *Invocation) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return progress.JSON(p.Stdout, map[string]string{"version": Version, "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprintln(p.Stdout, "prloop", Version)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
