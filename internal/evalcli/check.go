package evalcli

import (
	"context"
	"errors"
	"io"

	"github.com/prloop/prloop/internal/eval"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/dummies"
	"github.com/prloop/prloop/internal/eval/published"
)

// errWrong is the end of a check that does not pass; what is wrong has been printed.
var errWrong = errors.New("the figures are not what they should be")

func dummiesCommand() Command {
	f, asJSON := newFlags("dummies")
	seed := f.Uint64("seed", 0, "`SEED` of the random agent")
	return Command{
		Use:   "dummies DIR",
		Short: "Check that cases are scored as they should be",
		Long: "Scores two made-up agents on review cases: a perfect one must score 1, one that points at random what chance gives. Ends with\n" +
			"status 1 when one of them does not.",
		Flags: f,
		Run: func(_ context.Context, p Process, args []string) error {
			set, err := cases.Read(p.path(args[0]))
			if err != nil {
				return refused(err)
			}
			r, err := dummies.Try(set, *seed)
			if err != nil {
				return refused(err)
			}
			return p.check(*asJSON, r, r.OK())
		},
	}
}

func publishedCommand() Command {
	f, asJSON := newFlags("published")
	repeats := f.Bool("count-repeats", false, "count findings the benchmark set aside as repetitions as false alarms, which it does not")
	return Command{
		Use:   "published DIR",
		Short: "Recompute the figures others published",
		Long:  "Recomputes every row and table Code Review Bench published from the verdicts it recorded. Ends with status 1 when one differs.",
		Flags: f,
		Run: func(_ context.Context, p Process, args []string) error {
			d, err := published.Read(p.path(args[0]))
			if errors.Is(err, eval.ErrNoBench) {
				return usage("name a folder with published figures, such as internal/eval/testdata/published", "%w", err)
			}
			if err != nil {
				return err
			}
			r := published.Recompute(d, *repeats)
			return p.check(*asJSON, r, r.OK())
		},
	}
}

// check prints figures and fails when they are not what they should be.
func (p Process) check(asJSON bool, r interface{ Write(io.Writer) error }, ok bool) error {
	if err := p.print(asJSON, r); err != nil {
		return err
	}
	if !ok {
		return errWrong
	}
	return nil
}
