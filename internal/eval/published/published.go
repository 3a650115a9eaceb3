// Package published recomputes figures others published, from the verdicts they recorded: only who can do that should
// publish figures of one's own (eval.md "Others' numbers first").
package published

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/eval"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Row is what one judge counted of one tool's review of one pull request.
type Row struct{ Found, False, Missed int }

// UnmarshalJSON reads [tp, fp, fn].
func (r *Row) UnmarshalJSON(data []byte) error {
	var n []int
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	if len(n) != 3 {
		return fmt.Errorf("a row has %d numbers, not three", len(n))
	}
	*r = Row{n[0], n[1], n[2]}
	return nil
}

// total is a line of the benchmark's tables: sums over pull requests.
type total struct {
	Reviews    int     `json:"reviews"`
	TP         int     `json:"tp"`
	FP         int     `json:"fp"`
	FN         int     `json:"fn"`
	Candidates int     `json:"candidates"`
	Precision  float64 `json:"precision"`
	Recall     float64 `json:"recall"`
	F1         float64 `json:"f1"`
}

// Data is what was recorded and what was published.
type Data struct {
	Recorded eval.Dataset
	// Rows are state -> judge -> address -> tool -> row; a state's name begins with its day.
	Rows map[string]map[string]map[string]map[string]Row
	// totals are recording -> judge -> tool.
	totals map[string]map[string]map[string]total
}

// judges are the benchmark's names of the judges whose verdicts were recorded.
var judges = map[string]string{
	"anthropic_claude-opus-4-5-20251101":   "claude-opus-4.5",
	"anthropic_claude-sonnet-4-5-20250929": "claude-sonnet-4.5",
	"openai_gpt-5.2":                       "gpt-5.2",
}

const maxBytes = 256 << 20

// Read reads recordings and published figures from a folder, which is eval.ErrNoBench without them.
func Read(dir string) (Data, error) {
	var d Data
	var err error
	if d.Recorded, err = eval.Open(dir); err != nil {
		return d, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return d, err
	}
	defer root.Close()
	if err := readJSON(root.FS(), "published-counts.json.gz", &d.Rows); err != nil {
		return d, err
	}
	return d, readJSON(root.FS(), "expected.json", &d.totals)
}

func readJSON(folder fs.FS, name string, v any) error {
	f, err := folder.Open(path.Join("code-review-bench", name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it has no %s", eval.ErrNoBench, name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := json.NewDecoder(io.LimitReader(r, maxBytes)).Decode(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Report is how the recomputed figures compare with the published ones.
type Report struct {
	States []State `json:"states"`
	// Rows and Exact count published rows with a recording, and those that came out the same; Totals and ExactTotals lines
	// of the tables.
	Rows        int `json:"rows"`
	Exact       int `json:"exact"`
	Totals      int `json:"totals"`
	ExactTotals int `json:"exactTotals"`
	// Unrecorded are published rows of days nobody recorded verdicts of.
	Unrecorded int `json:"unrecorded"`
	// Differences name the first rows that are not the same.
	Differences []string `json:"differences"`
}

// State is one published state.
type State struct {
	Name  string `json:"name"`
	Rows  int    `json:"rows"`
	Exact int    `json:"exact"`
	// SetAside is how many findings are repetitions the benchmark put aside. Precision is that of all rows as published,
	// WithRepeats what it would be if repetitions were false alarms.
	SetAside    int     `json:"setAside"`
	Precision   float64 `json:"precision"`
	WithRepeats float64 `json:"withRepeats"`
}

// OK reports whether every figure is the published one.
func (r Report) OK() bool { return r.Rows > 0 && r.Exact == r.Rows && r.ExactTotals == r.Totals }

// maxNamed is how many differences are named.
const maxNamed = 20

func (r *Report) differ(format string, args ...any) {
	if len(r.Differences) < maxNamed {
		r.Differences = append(r.Differences, fmt.Sprintf(format, args...))
	}
}

// Recompute scores the recorded verdicts and holds every row and total against what was published. countRepeats makes
// repetitions false alarms, which the benchmark does not.
func Recompute(d Data, countRepeats bool) Report {
	var r Report
	for _, name := range slices.Sorted(maps.Keys(d.Rows)) {
		at := slices.IndexFunc(d.Recorded.Recordings, func(rec eval.Recording) bool {
			return strings.HasPrefix(name, strings.TrimPrefix(rec.Name, "verdicts-")+" ")
		})
		if at < 0 {
			for _, byPull := range d.Rows[name] {
				for _, byTool := range byPull {
					r.Unrecorded += len(byTool)
				}
			}
			continue
		}
		s := r.state(name, d.Rows[name], d.Recorded.Recordings[at], countRepeats)
		r.States, r.Rows, r.Exact = append(r.States, s), r.Rows+s.Rows, r.Exact+s.Exact
	}
	for _, rec := range d.Recorded.Recordings {
		r.tables(rec, d.totals[rec.Name], countRepeats)
	}
	return r
}

func (r *Report) state(name string, rows map[string]map[string]map[string]Row, rec eval.Recording, countRepeats bool) State {
	s := State{Name: name}
	pulls := map[string]eval.Pull{}
	for _, p := range rec.Pulls {
		pulls[p.URL] = p
	}
	var as, with scoring.Counts
	for _, judge := range slices.Sorted(maps.Keys(rows)) {
		for _, url := range slices.Sorted(maps.Keys(rows[judge])) {
			for _, tool := range slices.Sorted(maps.Keys(rows[judge][url])) {
				want := rows[judge][url][tool]
				s.Rows++
				rev, ok := pulls[url].Reviews[judges[judge]][tool]
				if !ok {
					r.differ("%s: %s, %s, %s: published, but there is no verdict", name, judge, url, tool)
					continue
				}
				got := count(pulls[url], rev, countRepeats)
				if row := rowOf(got); row == want {
					s.Exact++
				} else {
					r.differ("%s: %s, %s, %s: %v, published %v", name, judge, url, tool, row, want)
				}
				s.SetAside += rev.SetAside()
				sum(&as, count(pulls[url], rev, false))
				sum(&with, count(pulls[url], rev, true))
			}
		}
	}
	s.Precision, s.WithRepeats = value(as.Precision()), value(with.Precision())
	return s
}

func sum(to *scoring.Counts, c scoring.Counts) {
	to.Found, to.Missed, to.Repeats, to.Unlisted = to.Found+c.Found, to.Missed+c.Missed, to.Repeats+c.Repeats, to.Unlisted+c.Unlisted
}

func rowOf(c scoring.Counts) Row { return Row{c.Found, c.False(), c.Missed} }

func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

// count grades a recorded review as any other by a judge.
func count(p eval.Pull, rev eval.Review, countRepeats bool) scoring.Counts {
	var c cases.Case
	for _, g := range p.Golden {
		c.Golden = append(c.Golden, cases.Expected{ID: g.ID})
	}
	var issues []review.Issue
	for _, id := range rev.Findings() {
		issues = append(issues, review.Issue{Key: id})
	}
	var v results.Verdict
	for _, h := range rev.True {
		v.Same = append(v.Same, results.Same(h))
	}
	for n := range rev.SetAside() {
		key := fmt.Sprintf("set-aside-%d", n)
		issues, v.Repeats = append(issues, review.Issue{Key: key}), append(v.Repeats, key)
	}
	return scoring.Judged(c, issues, v, countRepeats).Counts()
}

// tables holds the sums of a recording against the published tables, to six decimals.
func (r *Report) tables(rec eval.Recording, want map[string]map[string]total, countRepeats bool) {
	for _, judge := range slices.Sorted(maps.Keys(want)) {
		for _, tool := range slices.Sorted(maps.Keys(want[judge])) {
			var sums scoring.Counts
			var got total
			for _, p := range rec.Pulls {
				rev, ok := p.Reviews[judge][tool]
				if !ok {
					continue
				}
				sum(&sums, count(p, rev, countRepeats))
				got.Reviews, got.Candidates = got.Reviews+1, got.Candidates+rev.Total
			}
			got.TP, got.FP, got.FN = sums.Found, sums.False(), sums.Missed
			got.Precision, got.Recall, got.F1 = six(sums.Precision()), six(sums.Recall()), six(sums.F1())
			r.Totals++
			if got == want[judge][tool] {
				r.ExactTotals++
			} else {
				r.differ("%s: %s, %s: %+v, published %+v", rec.Name, judge, tool, got, want[judge][tool])
			}
		}
	}
}

// six rounds to six decimals, and a half to the even one, as the tables do.
func six(p *float64) float64 { return math.RoundToEven(value(p)*1e6) / 1e6 }

// Write prints the figures.
func (r Report) Write(w io.Writer) error {
	for _, s := range r.States {
		fmt.Fprintf(w, "%s: %d of %d rows are the published ones\n  precision over all of them %.1f %%; %.1f %% if the %d repetitions set aside were false alarms\n",
			sanitize.Terminal(s.Name), s.Exact, s.Rows, 100*s.Precision, 100*s.WithRepeats, s.SetAside)
	}
	fmt.Fprintf(w, "%d of %d rows and %d of %d lines of the tables are exact; %d rows are of days without recorded verdicts\n", r.Exact, r.Rows, r.ExactTotals, r.Totals, r.Unrecorded)
	for _, d := range r.Differences {
		fmt.Fprintf(w, "  %s\n", sanitize.Terminal(d))
	}
	return nil
}
