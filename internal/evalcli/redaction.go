package evalcli

import (
	"context"
	"errors"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/eval/redaction"
	"github.com/prloop/prloop/internal/subcommand"
)

func redactionCommand() subcommand.Command {
	f, asJSON := newFlags("redaction")
	return subcommand.Command{
		Use:   "redaction DIR",
		Short: "Measure how many secrets are redacted, and how many false alarms there are",
		Long: "Redacts the samples of scanners (*.jsonl.gz, one JSON object a line: rule, label tp or fp, text, secrets) and counts secrets that\n" +
			"are gone and harmless texts that were changed. Ends with status 1 when a goal of docs/eval.md is missed.",
		Flags: f,
		Run: func(_ context.Context, p subcommand.Process, args []string) error {
			r, err := redaction.Measure(p.Path(args[0]))
			if errors.Is(err, redaction.ErrNoSamples) {
				return advice.Misuse("name a folder of samples, such as sanitize/testdata/redaction", "%w", err)
			}
			if err != nil {
				return err
			}
			return check(p, *asJSON, r, r.Met)
		},
	}
}
