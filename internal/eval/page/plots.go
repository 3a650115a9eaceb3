package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/prloop/prloop/internal/eval/scoring"
)

// Plots are laid out here in the units of their view box; the template only draws.

// forest shows each figure of each measure with its interval.
type forest struct {
	Height int
	Ticks  []tick
	Rows   []forestRow
}

type forestRow struct {
	Y             int
	Label, Value  string
	X, Low, High  float64
	Known, Spread bool
	// Class is precision, recall or f1; First begins a measure.
	Class string
	First bool
}

type tick struct {
	At    float64
	Label string
}

const (
	forestLeft, forestWide, forestRowHigh = 140, 310, 20
	barLeft, barWide, barRowHigh          = 130, 230, 34
	curveSide, curveLeft                  = 220, 36
	spentLeft, spentWide, spentRowHigh    = 190, 85, 20
)

func scale(v float64, left, wide int) float64 { return float64(left) + v*float64(wide) }

func ticks(left, wide int) []tick {
	var out []tick
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		out = append(out, tick{scale(v, left, wide), fmt.Sprintf("%.0f", 100*v)})
	}
	return out
}

func newForest(measures []scoring.Measured) forest {
	f := forest{Ticks: ticks(forestLeft, forestWide)}
	y := 14
	for k, m := range measures {
		for n, row := range []struct {
			name, class string
			v           *float64
			i           *scoring.Interval
		}{{"precision", "precision", m.Result.Precision, m.Precision}, {"recall", "recall", m.Result.Recall, m.Recall}, {"F1", "f1", m.Result.F1, m.F1}} {
			r := forestRow{Y: y, Label: row.name + " by " + shown(m.Measure), Class: row.class, Known: row.v != nil, Spread: row.i != nil, First: n == 0 && k > 0, Value: scoring.Percent(row.v, row.i)}
			if r.Known {
				r.X = scale(*row.v, forestLeft, forestWide)
			}
			if r.Spread {
				r.Low, r.High = scale(row.i.Low, forestLeft, forestWide), scale(row.i.High, forestLeft, forestWide)
			}
			f.Rows = append(f.Rows, r)
			y += forestRowHigh
		}
		y += 8
	}
	f.Height = y + 12
	return f
}

// group are the bars of one division: by severity, category, language or size.
type group struct {
	Title  string
	Height int
	Ticks  []tick
	Bars   []bar
	// Left is how many rows are not drawn.
	Left int
}

type bar struct {
	Y                 int
	Name              string
	Precision, Recall half
}

// half is one bar of a pair.
type half struct {
	Known bool
	Wide  float64
	End   float64
	Label string
}

func newHalf(v *float64, part, whole int) half {
	if v == nil {
		return half{}
	}
	return half{true, max(*v*barWide, 1), scale(*v, barLeft, barWide) + 5, fmt.Sprintf("%.0f %%  %d of %d", 100**v, part, whole)}
}

// mostBars is how many rows a division has at most: languages may be many.
const mostBars = 12

func groups(list []scoring.Slice) []group {
	var out []group
	for _, s := range list {
		if len(out) == 0 || out[len(out)-1].Title != s.By {
			out = append(out, group{Title: s.By, Ticks: ticks(barLeft, barWide)})
		}
		g := &out[len(out)-1]
		if len(g.Bars) == mostBars {
			g.Left++
			continue
		}
		g.Bars = append(g.Bars, bar{Y: 6 + barRowHigh*len(g.Bars), Name: shown(s.Name), Precision: newHalf(s.Precision(), s.Right, s.Raised), Recall: newHalf(s.Recall(), s.Found, s.Expected)})
		g.Height = 6 + barRowHigh*len(g.Bars) + 20
	}
	return out
}

// curve is the calibration curve.
type curve struct {
	Points        []point
	Line          string
	Findings      int
	Silent        int
	Error, Brier  string
	X0, Y0, Far   int
	Height, Width int
	Ticks         []tick
}

type point struct {
	X, Y, R float64
	Tip     string
}

func newCurve(c *scoring.Calibration) *curve {
	if c == nil {
		return nil
	}
	out := &curve{Findings: c.Findings, Silent: c.Silent, Error: fmt.Sprintf("%.3f", c.Error), Brier: fmt.Sprintf("%.3f", c.Brier), X0: curveLeft, Y0: curveSide + 8, Far: curveLeft + curveSide,
		Height: curveSide + 48, Width: curveLeft + curveSide + 16, Ticks: ticks(0, curveSide)}
	var path []string
	for _, t := range c.Tenths {
		p := point{X: scale(t.Confidence, curveLeft, curveSide), Y: scale(1-t.Right, 8, curveSide), R: 2 + 12*math.Sqrt(float64(t.Findings)/float64(c.Findings)),
			Tip: fmt.Sprintf("confidence %.2f: %.0f %% of %d right", t.Confidence, 100*t.Right, t.Findings)}
		out.Points, path = append(out.Points, p), append(path, fmt.Sprintf("%.1f,%.1f", p.X, p.Y))
	}
	out.Line = strings.Join(path, " ")
	return out
}

// spent are cost and time of each pull request, as means of its reviews.
type spent struct {
	Height, Width int
	Rows          []spentRow
	Second        int
	Cost, Time    bool
}

type spentRow struct {
	Y                   int
	Name                string
	Cost, Time          float64
	CostLabel, TimeText string
}

func newSpent(list []scoring.CaseCounts) *spent {
	out := &spent{Second: spentLeft + spentWide + 55, Width: spentLeft + 2*(spentWide+55)}
	var dearest, longest float64
	mean := func(sum float64, n int) float64 {
		if n == 0 {
			return 0
		}
		return sum / float64(n)
	}
	for _, c := range list {
		dearest, longest = max(dearest, mean(c.CostUSD, c.Priced)), max(longest, mean(c.Seconds, c.Timed))
	}
	if out.Cost, out.Time = dearest > 0, longest > 0; !out.Cost && !out.Time {
		return nil
	}
	for i, c := range list {
		r := spentRow{Y: 24 + i*spentRowHigh, Name: c.Case, CostLabel: "not told", TimeText: "not told"}
		if v := mean(c.CostUSD, c.Priced); v > 0 {
			r.Cost, r.CostLabel = spentWide*v/dearest, fmt.Sprintf("$%.3f", v)
		}
		if v := mean(c.Seconds, c.Timed); v > 0 {
			r.Time, r.TimeText = spentWide*v/longest, fmt.Sprintf("%.0f s", v)
		}
		out.Rows = append(out.Rows, r)
	}
	out.Height = 24 + len(list)*spentRowHigh + 8
	return out
}
