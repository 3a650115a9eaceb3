package evalcli

import (
	"context"
	"errors"
	"io"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/eval"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/dummies"
	"github.com/prloop/prloop/internal/eval/published"
	"github.com/prloop/prloop/internal/subcommand"
)

// errWrong is the end of a check that does not pass; what is wrong has been printed.
var errWrong = errors.New("the figures are not what they should be")

func dummiesCommand() subcommand.Command {
	f, asJSON := newFlags("dummies")
	seed := f.Uint64("seed", 0, "`SEED` of the random agent")
	return subcommand.Command{
		Use:   "dummies DIR",
		Short: "Check the scoring with a perfect agent and a random one",
		Long: "Scores two made-up agents on review cases: a perfect one must score 1, one that points at random what chance gives. Ends with\n" +
			"status 1 when one of them does not.",
		Flags: f,
		Run: func(_ context.Context, p subcommand.Process, args []string) error {
			set, err := cases.Read(p.Path(args[0]))
			if err != nil {
				return refused(err)
			}
			r, err := dummies.Try(set, *seed)
			if err != nil {
				return refused(err)
			}
			return check(p, *asJSON, r, r.OK())
		},
	}
}

func publishedCommand() subcommand.Command {
	f, asJSON := newFlags("published")
	repeats := f.Bool("count-repeats", false, "count findings the benchmark set aside as repetitions as false alarms, which it does not")
	return subcommand.Command{
		Use:   "published DIR",
		Short: "Recompute published benchmark figures",
		Long:  "Recomputes every row and table Code Review Bench published from the verdicts it recorded. Ends with status 1 when one differs.",
		Flags: f,
		Run: func(_ context.Context, p subcommand.Process, args []string) error {
			d, err := published.Read(p.Path(args[0]))
			if errors.Is(err, eval.ErrNoBench) {
				return advice.Misuse("name a folder with published figures, such as internal/eval/testdata/published", "%w", err)
			}
			if err != nil {
				return err
			}
			r := published.Recompute(d, *repeats)
			return check(p, *asJSON, r, r.OK())
		},
	}
}

// check prints figures and fails when they are not what they should be.
func check(p subcommand.Process, asJSON bool, r interface{ Write(io.Writer) error }, ok bool) error {
	if err := print(p, asJSON, r); err != nil {
		return err
	}
	if !ok {
		return errWrong
	}
	return nil
}
