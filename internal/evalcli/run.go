package evalcli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/running"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/sanitize"
)

// ownSettings is the agent that has the operator's settings alone.
const ownSettings = "default"

// runFlags are those of `prloop eval run`.
type runFlags struct {
	agents, folder, only string
	options              running.Options
}

func runCommand(open Open) subcommand.Command {
	var r runFlags
	f, asJSON := newFlags("run")
	f.StringVar(&r.agents, "agents", ownSettings, "`NAMES` of agents: each is NAME.yml in --config, written as a .reviewerc, or a file; default is the operator's settings")
	f.StringVar(&r.folder, "config", ".", "`DIR` of the agents' files")
	f.StringVar(&r.options.Out, "out", "", "`RESULTS` folder, with a result set for each agent; required. What is there already is not done again")
	f.IntVar(&r.options.Repeat, "repeat", 1, "review each case `N` times")
	f.StringVar(&r.only, "only", "", "review these `CASES` alone")
	f.IntVar(&r.options.Parallel, "parallel", 1, "`N` reviews at once")
	f.Float64Var(&r.options.MaxUSD, "max-cost", 0, "`DOLLARS` that all reviews in RESULTS may cost together")
	f.StringVar(&r.options.Replay, "replay", "", "let the recordings in the `RESULTS` of an earlier run answer instead of models")
	f.StringVar(&r.options.Reuse, "reuse", "", "let the recordings in the result set `DIR` answer first, and ask models what they do not hold")
	f.BoolVar(&r.options.Retry, "retry-failed", false, "do reviews again that failed")
	return subcommand.Command{
		Use:   "run CASES",
		Short: "Review cases and save the results",
		Long: "Has each case reviewed by each agent, as prloop run --base would, and keeps findings, costs and recorded conversations in RESULTS.\n" +
			"An interrupted run goes on where it was when it is ordered again. Ends with status 5 when the budget is used up.",
		Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, args []string) error {
			o, err := r.settle(p, args[0])
			if err != nil {
				return err
			}
			return reviewAll(ctx, p, open, o, *asJSON)
		},
	}
}

// settle checks the flags and reads the agents.
func (r *runFlags) settle(p subcommand.Process, dir string) (running.Options, error) {
	o := r.options
	switch {
	case o.Out == "":
		return o, advice.Misuse("--out RESULTS", "it is not said where the results go")
	case o.Repeat < 1 || o.Repeat > 1000:
		return o, advice.Misuse("--repeat 3", "--repeat is 1 to 1000")
	case o.Parallel < 1 || o.Parallel > 64:
		return o, advice.Misuse("--parallel 2", "--parallel is 1 to 64")
	case o.MaxUSD < 0:
		return o, advice.Misuse("--max-cost 5", "--max-cost is more than 0")
	}
	o.Cases, o.Out = p.Path(dir), p.Path(o.Out)
	if o.Replay != "" {
		if o.Replay = p.Path(o.Replay); o.Replay == o.Out {
			return o, advice.Misuse("--out NEW --replay OLD", "results cannot be replayed into themselves")
		}
	}
	if o.Reuse != "" {
		if o.Replay != "" {
			return o, advice.Misuse("give one of the two", "--replay asks no model, --reuse does")
		}
		o.Reuse = p.Path(o.Reuse)
		if _, err := results.Open(o.Reuse); err != nil {
			return o, refused(err)
		}
	}
	for id := range strings.SplitSeq(r.only, ",") {
		if id = strings.TrimSpace(id); id != "" {
			o.Only = append(o.Only, id)
		}
	}
	seen := map[string]bool{}
	for word := range strings.SplitSeq(r.agents, ",") {
		a, err := readAgent(p, p.Path(r.folder), strings.TrimSpace(word))
		if err != nil {
			return o, err
		}
		if seen[a.Name] {
			return o, advice.Misuse("give each agent a name of its own", "there are two agents %s", a.Name)
		}
		seen[a.Name] = true
		o.Agents = append(o.Agents, a)
	}
	return o, nil
}

// readAgent reads the agent a word means.
func readAgent(p subcommand.Process, folder, word string) (running.Agent, error) {
	file := filepath.Join(folder, word+".yml")
	if ext := filepath.Ext(word); ext == ".yml" || ext == ".yaml" {
		file = p.Path(word)
		word = strings.TrimSuffix(filepath.Base(word), ext)
	}
	a := running.Agent{Name: word, Dir: filepath.Dir(file)}
	if !cases.ValidID(word) {
		return a, advice.Misuse("--agents light,thorough", "%q is no name of an agent", word)
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) && word == ownSettings {
		return a, nil
	}
	if err != nil {
		return a, advice.Misuse("write one as a .reviewerc, or name its folder: --config DIR", "agent %s: %w", word, err)
	}
	a.File = &config.File{Name: file, Data: data}
	return a, nil
}

// reviewAll has the cases reviewed and prints what came of it.
func reviewAll(ctx context.Context, p subcommand.Process, open Open, o running.Options, asJSON bool) error {
	sum := sha256.Sum256([]byte(o.Out))
	reviewer, err := open(ctx, filepath.Join("eval", hex.EncodeToString(sum[:8])))
	if err != nil {
		return err
	}
	o.Say = func(line string) { fmt.Fprintln(p.Stderr, sanitize.Terminal(line)) }
	sums, err := running.Run(ctx, reviewer, o)
	if !errors.Is(err, running.ErrBusy) {
		err = errors.Join(err, reviewer.Close(context.WithoutCancel(ctx)))
	}
	if err != nil && sums != nil {
		for _, s := range sums {
			o.Say(fmt.Sprintf("%s: %d of %d reviews are done and kept in %s", s.Agent, s.Done, s.Planned, s.Dir))
		}
		o.Say("go on with the same command")
	}
	if err != nil {
		return refusedRun(err)
	}
	return print(p, asJSON, outcome{o.Cases, sums})
}

// refusedRun adds what to do about a run that could not be begun or ended.
func refusedRun(err error) error {
	for _, row := range []struct {
		is   error
		next string
	}{
		{running.ErrNoRecording, "record it again: prloop eval run without --replay"},
		{results.ErrOtherPins, "choose another --out, or remove the old results"},
		{running.ErrUnknownCase, "leave out --only to review all cases"},
		{running.ErrBusy, "wait for it, or choose another --out"},
	} {
		if errors.Is(err, row.is) {
			return advice.Error{Err: err, Next: row.next, Status: advice.Usage}
		}
	}
	return refused(err)
}

// outcome is what `prloop eval run` prints.
type outcome struct {
	Cases   string            `json:"cases"`
	Results []running.Summary `json:"results"`
}

// Write prints it as a table.
func (o outcome) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "AGENT\tREVIEWS\tFAILED\tANSWERED\tSET ASIDE\tCOUNTED\tPROMINENT\tCOST\tSECONDS")
	for _, s := range o.Results {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%s\t%.0f\n", s.Agent, s.Done, s.Failed, s.Answered, s.SetAside, s.Counted, s.Prominent, running.Dollars(s.CostUSD), s.Seconds)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nANSWERED to PROMINENT are findings a review, in the mean. Score them: prloop eval score %s --cases %s\n", o.Results[0].Dir, o.Cases)
	return err
}
