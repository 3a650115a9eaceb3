package eval

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// AgreementOptions say which sets of reviewers are looked at. The zero value is the standing test.
type AgreementOptions struct {
	// Size is how many reviewers a set has; 0 means 4. Support is how many of them must raise a finding; 0 means 2.
	Size, Support int
	// Sets is how many sets are drawn for each recording and judge; 0 means 400. Where there are no more, all are taken.
	Sets int
	// Seed makes the draw; the same seed draws the same sets.
	Seed uint64
	// Floor is the F1 a reviewer must reach alone to take part, 0 to 1; 0 means 0.25.
	Floor float64
}

func (o AgreementOptions) defaults() AgreementOptions {
	o.Size, o.Support, o.Sets, o.Floor = cmp.Or(o.Size, 4), cmp.Or(o.Support, 2), cmp.Or(o.Sets, 400), cmp.Or(o.Floor, 0.25)
	return o
}

// AgreementReport is what agreement between reviewers is worth.
type AgreementReport struct {
	Size    int            `json:"size"`
	Support int            `json:"support"`
	Seed    uint64         `json:"seed"`
	Floor   float64        `json:"floor"`
	Rows    []AgreementRow `json:"rows"`
}

// AgreementRow is one recording by the verdicts of one judge.
type AgreementRow struct {
	Recording string `json:"recording"`
	Judge     string `json:"judge"`
	// Pulls were scored; LeftOut were not, for their texts are held out.
	Pulls   int `json:"pulls"`
	LeftOut int `json:"leftOut"`
	// Tools took part: those that reach the floor alone.
	Tools []string `json:"tools"`
	// Sets is how many sets were looked at; Every is true when these are all there are.
	Sets  int  `json:"sets"`
	Every bool `json:"every"`
	// Best is the mean over sets of their best member alone, Everything of all findings joined, Supported of the joined
	// ones with enough support. FirstWording is Supported where a joined finding is only what its first member says: a
	// lower bound, for the recordings know no priority to choose that member by.
	Best         Score `json:"best"`
	Everything   Score `json:"everything"`
	Supported    Score `json:"supported"`
	FirstWording Score `json:"firstWording"`
	// BeatsBest and BeatsEverything are the shares of sets in which Supported has the higher F1; EverythingLoses is the
	// share in which Everything has a lower F1 than the best member, FirstBeatsBest that in which FirstWording has a higher
	// one. Gain is the median of Supported minus Best, in F1.
	BeatsBest       float64 `json:"beatsBest"`
	FirstBeatsBest  float64 `json:"firstBeatsBest"`
	BeatsEverything float64 `json:"beatsEverything"`
	EverythingLoses float64 `json:"everythingLoses"`
	Gain            float64 `json:"gain"`
}

// Agreement scores sets of recorded reviewers: their best member alone, everything they say, and what enough of them say.
// Findings are joined by identity.Join, as in a run. A joined finding is the one expected finding most of its members
// were judged to be; one that brings nothing new is false, and what is expected and not brought is missed. Members alone
// are scored as published. Counts are summed over pull requests (micro average). Judges without texts are passed over.
func Agreement(ctx context.Context, b Dataset, o AgreementOptions) (AgreementReport, error) {
	o = o.defaults()
	report := AgreementReport{Size: o.Size, Support: o.Support, Seed: o.Seed, Floor: o.Floor, Rows: []AgreementRow{}}
	for _, r := range b.Recordings {
		for _, judge := range r.Judges {
			f := fieldOf(r, judge, o.Floor)
			if len(f.pulls) == 0 || len(f.tools) < o.Size {
				continue
			}
			row, err := f.row(ctx, o)
			if err != nil {
				return report, err
			}
			row.Recording, row.Judge, row.LeftOut = r.Name, judge, len(r.Pulls)-len(f.pulls)
			report.Rows = append(report.Rows, row)
		}
	}
	return report, nil
}

// field is one recording as one judge saw it, ready to be scored.
type field struct {
	tools []string
	alone map[string]Score
	pulls []fieldPull
}

type fieldPull struct {
	expected int
	// known are all tools' findings, brings the expected ones each of them is, by the same index.
	known  identity.Known
	brings [][]string
	// by is tool -> the indexes of its findings.
	by map[string][]int
}

// fieldOf keeps the pull requests whose every finding has its text, and the tools that reach the floor on them.
func fieldOf(r Recording, judge string, floor float64) field {
	f := field{alone: map[string]Score{}}
	counts := map[string]count{}
	for _, p := range r.Pulls {
		one, ok := p.field(judge)
		if !ok {
			continue
		}
		f.pulls = append(f.pulls, one)
		for tool := range p.Reviews[judge] {
			c := counts[tool]
			c.pulls++
			c.add(one.expected, one.said(one.by[tool]))
			counts[tool] = c
		}
	}
	for tool, c := range counts {
		if f.alone[tool] = c.score(); c.pulls == len(f.pulls) && f.alone[tool].F1 >= floor {
			f.tools = append(f.tools, tool)
		}
	}
	slices.Sort(f.tools)
	return f
}

// field makes a pull request ready; ok is false when texts are missing.
func (p Pull) field(judge string) (one fieldPull, ok bool) {
	one = fieldPull{expected: len(p.Golden), by: map[string][]int{}}
	var all []review.Finding
	for tool, rev := range p.Reviews[judge] {
		if !rev.worded() {
			return fieldPull{}, false
		}
		var texts []string
		for _, id := range rev.Findings() {
			var brings []string
			for _, h := range rev.True {
				if h.Finding == id {
					brings = append(brings, h.Golden)
				}
			}
			one.by[tool] = append(one.by[tool], len(one.brings))
			texts, one.brings = append(texts, rev.Text[id]), append(one.brings, brings)
		}
		all = append(all, Findings(tool, texts)...)
	}
	one.known = identity.Know(all)
	return one, len(all) > 0
}

// said gives the expected findings that each of some findings is.
func (p fieldPull) said(which []int) [][]string {
	var out [][]string
	for _, i := range which {
		out = append(out, p.brings[i])
	}
	return out
}

// row draws the sets and scores them side by side, each into its slot.
func (f field) row(ctx context.Context, o AgreementOptions) (AgreementRow, error) {
	sets, every := draw(len(f.tools), o)
	outcomes := make([]scores, len(sets))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, set := range sets {
		g.Go(func() error {
			outcomes[i] = f.together(set, o.Support)
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return AgreementRow{}, err
	}
	row := AgreementRow{Pulls: len(f.pulls), Tools: f.tools, Sets: len(sets), Every: every}
	var wins, over, loses, first int
	var gains []float64
	for i, out := range outcomes {
		best := f.best(sets[i])
		row.Best, row.Everything = row.Best.plus(best), row.Everything.plus(out.everything)
		row.Supported, row.FirstWording = row.Supported.plus(out.supported), row.FirstWording.plus(out.first)
		gains = append(gains, out.supported.F1-best.F1)
		wins += one(out.supported.F1 > best.F1)
		first += one(out.first.F1 > best.F1)
		over += one(out.supported.F1 > out.everything.F1)
		loses += one(out.everything.F1 < best.F1)
	}
	n := float64(len(sets))
	row.Best, row.Everything, row.Supported, row.FirstWording = row.Best.over(n), row.Everything.over(n), row.Supported.over(n), row.FirstWording.over(n)
	row.BeatsBest, row.BeatsEverything, row.EverythingLoses = share(wins, len(sets)), share(over, len(sets)), share(loses, len(sets))
	row.FirstBeatsBest = share(first, len(sets))
	slices.Sort(gains)
	row.Gain = (gains[(len(gains)-1)/2] + gains[len(gains)/2]) / 2
	return row, nil
}

// best is the score of a set's best member alone.
func (f field) best(set []int) Score {
	var best Score
	for _, t := range set {
		if s := f.alone[f.tools[t]]; s.F1 > best.F1 {
			best = s
		}
	}
	return best
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// draw gives sets of indexes of n tools: all there are, in order, or as many as asked for, all different, by the seed.
func draw(n int, o AgreementOptions) (sets [][]int, every bool) {
	var all [][]int
	choose(n, o.Size, func(set []int) { all = append(all, slices.Clone(set)) })
	if len(all) <= o.Sets {
		return all, true
	}
	r := rand.New(rand.NewPCG(o.Seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:o.Sets], false
}
