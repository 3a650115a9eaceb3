package evalcli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/spf13/pflag"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/judging"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/running"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/subcommand"
)

// judgeFlags say who is asked about what the measures leave open.
type judgeFlags struct{ agent, folder, record, replay string }

func (j *judgeFlags) add(f *pflag.FlagSet) {
	f.StringVar(&j.agent, "judge", "", "ask `AGENT`, NAME.yml in --config, whether two texts mean the same fault where place and words contradict each other")
	f.StringVar(&j.folder, "config", ".", "`DIR` of the judge's file")
	f.StringVar(&j.record, "record", "", "keep what the judge answers in `FILE`; answers that are there already are used")
	f.StringVar(&j.replay, "replay", "", "let the recording in `FILE` answer instead of a model")
}

// settle checks the flags.
func (j *judgeFlags) settle() error {
	switch {
	case j.agent == "" && (j.record != "" || j.replay != ""):
		return advice.Misuse("--judge AGENT", "--record and --replay are of a judge")
	case j.record != "" && j.replay != "":
		return advice.Misuse("give one of the two", "--replay asks no model, --record does")
	}
	return nil
}

// ask has a result set judged, and scores it by the judge too. The set stays as it is.
func (j *judgeFlags) ask(ctx context.Context, p subcommand.Process, open Open, known cases.Set, dir string, s scoreFlags) (report scoring.Report, err error) {
	a, err := readAgent(p, p.Path(j.folder), j.agent)
	if err != nil {
		return report, err
	}
	set, err := openAt(p.Path(dir), s.stage)
	if err != nil {
		return report, refused(err)
	}
	sum := sha256.Sum256([]byte(p.Path(dir) + "\x00" + j.agent))
	reviewer, err := open(ctx, filepath.Join("eval", "judge-"+hex.EncodeToString(sum[:8])))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, reviewer.Close(context.WithoutCancel(ctx))) }()
	set, agreement, err := j.decide(ctx, p, reviewer, a, known, set)
	if err != nil {
		return report, refusedRun(err)
	}
	measure := scoring.Judge + a.Name
	s.options.Measures = append(s.options.Measures, measure)
	if len(agreement.Contradicted) > 0 {
		// The strict reading comes last: details are by it.
		s.options.Measures[len(s.options.Measures)-1] = scoring.Judge + judging.Lenient(a.Name)
		s.options.Measures = append(s.options.Measures, measure)
	}
	report, err = scoring.Score(known, set, s.options)
	report.Agreement = &agreement
	return report, refused(err)
}

// decide asks the judge, and closes what it was asked through.
func (j *judgeFlags) decide(ctx context.Context, p subcommand.Process, reviewer Reviewer, a running.Agent, known cases.Set, set results.Set) (results.Set, scoring.Agreement, error) {
	var c gateway.Cassette
	var mu sync.Mutex // the gateway tells from goroutines of its own
	var missed error
	switch {
	case j.record != "":
		c = gateway.Cassette{Path: p.Path(j.record), Mode: gateway.Record, From: p.Path(j.record)}
	case j.replay != "":
		c = gateway.Cassette{Path: p.Path(j.replay), Mode: gateway.Replay, Missed: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			missed = err
		}}
	}
	judge, end, err := reviewer.Judge(ctx, a, c)
	if err != nil {
		return set, scoring.Agreement{}, err
	}
	out, agreement, err := judging.Decide(ctx, a.Name, judge, known, set)
	err = errors.Join(err, end())
	if missed != nil {
		err = fmt.Errorf("%w: %w", running.ErrNoRecording, missed)
	}
	return out, agreement, err
}
