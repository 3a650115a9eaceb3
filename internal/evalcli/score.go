package evalcli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/judging"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/internal/subcommand"
)

// ErrWorse is the end of a gate that does not pass: the interval says worse.
var ErrWorse = errors.New("worse")

// scoreFlags are those of all commands that score.
type scoreFlags struct {
	cases, by, stage string
	options          scoring.Options
}

func (s *scoreFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.cases, "cases", "", "`DIR` of the review cases; required")
	f.StringVar(&s.by, "by", "place,content", "`MEASURES`: place, content, words or judge:NAME; details are by the last one")
	f.StringVar(&s.stage, "stage", "", "`STAGE` whose findings are scored: answered, set_aside, counted or prominent; of two results one for each, as answered,prominent")
	f.BoolVar(&s.options.Partial, "partial", false, "score what an interrupted run left, and name what is missing")
	f.BoolVar(&s.options.SkipUnplaced, "skip-unplaced", false, "leave out expected findings without place, and name them")
	f.BoolVar(&s.options.CountRepeats, "count-repeats", false, "count findings a judge set aside as repetitions as false alarms")
	f.IntVar(&s.options.Samples, "samples", 2000, "draw pull requests `N` times for the intervals")
	f.Uint64Var(&s.options.Seed, "seed", 0, "`SEED` of the draw")
}

// settle checks the flags.
func (s *scoreFlags) settle() error {
	if s.cases == "" {
		return advice.Misuse("--cases DIR", "it is not said where the review cases are")
	}
	if s.options.Samples < 1 || s.options.Samples > 100_000 {
		return advice.Misuse("--samples 2000", "--samples is 1 to 100,000")
	}
	s.options.Measures = strings.Split(s.by, ",")
	for _, m := range s.options.Measures {
		judge, recorded := strings.CutPrefix(m, scoring.Judge)
		if m != scoring.Place && m != scoring.Content && m != scoring.Words && (!recorded || judge == "") {
			return advice.Misuse("--by place,content", "%q is no measure", m)
		}
	}
	return nil
}

// score reads and scores result sets.
func (s *scoreFlags) score(p subcommand.Process, dirs ...string) (known cases.Set, out []scoring.Report, err error) {
	if err := s.settle(); err != nil {
		return known, nil, err
	}
	if known, err = cases.Read(p.Path(s.cases)); err != nil {
		return known, nil, refused(err)
	}
	stages := strings.Split(s.stage, ",")
	for i, dir := range dirs {
		set, err := openAt(p.Path(dir), stages[min(i, len(stages)-1)])
		if err != nil {
			return known, nil, refused(err)
		}
		r, err := scoring.Score(known, set, s.options)
		if err != nil {
			return known, nil, refused(err)
		}
		out = append(out, r)
	}
	return known, out, nil
}

// openAt reads a result set at a stage; the empty one is that of its reviews.
func openAt(dir, stage string) (results.Set, error) {
	set, err := results.Open(dir)
	if err == nil && stage != "" {
		err = set.At(stage)
	}
	return set, err
}

// refused adds what to do about input that is not scored.
func refused(err error) error {
	for _, row := range []struct {
		is   error
		next string
	}{
		{scoring.ErrInterrupted, "finish the run, or score what is there: --partial"},
		{scoring.ErrUnplaced, "leave them out: --skip-unplaced, or score by words alone: --by words"},
		{scoring.ErrOtherData, "score results with the cases they were made from, and compare results of the same cases"},
		{scoring.ErrNoVerdict, "name a judge that judged every review: --by judge:NAME"},
		{scoring.ErrFew, "compare on more pull requests"},
		{judging.ErrAnswer, "choose another model for the judge"},
		{cases.ErrBad, "docs/eval.md tells what a case holds"},
		{results.ErrBad, "docs/eval.md tells what a result set holds"},
	} {
		if errors.Is(err, row.is) {
			return advice.Error{Err: err, Next: row.next, Status: advice.Usage}
		}
	}
	return err
}

func scoreCommand(open Open) subcommand.Command {
	var s scoreFlags
	var j judgeFlags
	var baseline, figure string
	f, asJSON := newFlags("score")
	s.add(f)
	j.add(f)
	f.StringVar(&baseline, "require", "", "fail when worse than `FILE`, which an earlier score --json printed")
	addFigure(f, &figure)
	return subcommand.Command{
		Use:   "score RESULTS",
		Short: "Score the reviews of cases",
		Long: "Scores a result set: precision, recall and F1, by severity, category, language and size, calibration, cost and time.\n" +
			"With --require it ends with status 3 when the interval says that it is worse than the baseline. With --judge an agent is asked, twice,\n" +
			"about pairs that places and words leave open.",
		Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, args []string) error {
			if err := checkFigure(figure); err != nil {
				return err
			}
			if err := j.settle(); err != nil {
				return err
			}
			known, reports, err := s.score(p, args[0])
			if err == nil && j.agent != "" {
				reports[0], err = j.ask(ctx, p, open, known, args[0], s)
			}
			if err != nil {
				return err
			}
			if baseline == "" {
				return print(p, *asJSON, reports[0])
			}
			old, err := readReport(p.Path(baseline))
			if err != nil {
				return err
			}
			return gate(p, *asJSON, old, reports[0], reports[0].Primary().Measure, figure, s.options)
		},
	}
}

func compareCommand() subcommand.Command {
	var s scoreFlags
	var figure string
	f, asJSON := newFlags("compare")
	s.add(f)
	gated := f.Bool("gate", false, "end with status 3 when the interval says that B is worse")
	addFigure(f, &figure)
	return subcommand.Command{
		Use:   "compare A B",
		Short: "Compare two result sets of the same cases",
		Long: "Holds result set B against A, by the last measure of --by, on the same pull requests: better or worse is said only when the\n" +
			"95 % interval of the difference lies on one side of 0.",
		Flags: f,
		Run: func(_ context.Context, p subcommand.Process, args []string) error {
			if err := checkFigure(figure); err != nil {
				return err
			}
			_, reports, err := s.score(p, args[0], args[1])
			if err != nil {
				return err
			}
			measure := reports[0].Primary().Measure
			if *gated {
				return gate(p, *asJSON, reports[0], reports[1], measure, figure, s.options)
			}
			c, err := scoring.Compare(reports[0], reports[1], measure, s.options)
			if err != nil {
				return refused(err)
			}
			return print(p, *asJSON, c)
		},
	}
}

func addFigure(f *pflag.FlagSet, figure *string) {
	f.StringVar(figure, "on", scoring.F1, "`FIGURE` that must not be worse: F1, precision or recall")
}

func checkFigure(figure string) error {
	if figure != scoring.F1 && figure != scoring.Precision && figure != scoring.Recall {
		return advice.Misuse("--on F1", "--on is F1, precision or recall")
	}
	return nil
}

// gate prints a comparison and fails when b is worse. A figure that cannot be compared does not pass either.
func gate(p subcommand.Process, asJSON bool, a, b scoring.Report, measure, figure string, o scoring.Options) error {
	c, err := scoring.Compare(a, b, measure, o)
	if err != nil {
		return refused(err)
	}
	if err := print(p, asJSON, c); err != nil {
		return err
	}
	d, ok := c.Find(figure)
	if !ok {
		return fmt.Errorf("gate on %s: it has no value on both sides", figure)
	}
	if d.Verdict == scoring.Worse {
		return fmt.Errorf("gate: the %s of %s is %w than that of %s", figure, b.Name, ErrWorse, a.Name)
	}
	return nil
}

// readReport reads what an earlier score printed.
func readReport(file string) (scoring.Report, error) {
	var r scoring.Report
	raw, err := os.ReadFile(file)
	if err != nil {
		return r, fmt.Errorf("read baseline: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil || r.Data == "" {
		return r, advice.Misuse("make one with: prloop eval score RESULTS --cases DIR --json > FILE", "%s is no baseline: %v", file, err)
	}
	return r, nil
}
