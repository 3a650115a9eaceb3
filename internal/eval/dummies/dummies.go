// Package dummies proves that a folder of cases is scored as it should be: an agent that says what is expected scores 1,
// and one that points at random scores what chance gives (eval.md "Dummies").
package dummies

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/review"
)

// Report is how both dummies scored.
type Report struct {
	Pulls int `json:"pulls"`
	// Perfect are the F1 of the perfect agent, by measure.
	Perfect map[string]float64 `json:"perfect"`
	// Guesses is how many findings the random agent made, Right how many of them count by place. Chance is the share that
	// should be right, and Low and High bound Right in 999 of 1,000 runs.
	Guesses int     `json:"guesses"`
	Right   int     `json:"right"`
	Chance  float64 `json:"chance"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

// OK reports whether both dummies score what they should.
func (r Report) OK() bool {
	for _, f1 := range r.Perfect {
		if f1 != 1 {
			return false
		}
	}
	return r.Low <= float64(r.Right) && float64(r.Right) <= r.High
}

// Write prints the figures.
func (r Report) Write(w io.Writer) error {
	for _, m := range slices.Sorted(maps.Keys(r.Perfect)) {
		fmt.Fprintf(w, "perfect agent, by %s: F1 %.3f, should be 1.000\n", m, r.Perfect[m])
	}
	_, err := fmt.Fprintf(w, "random agent, by place: %d of %d guesses are right, should be %.1f (%.1f to %.1f in 999 of 1,000 runs)\n",
		r.Right, r.Guesses, r.Chance*float64(r.Guesses), r.Low, r.High)
	return err
}

// guesses is how often the random agent reviews each case, with one finding each time.
const guesses = 500

// Try scores both dummies on cases. The random agent needs cases with code.
func Try(set cases.Set, seed uint64) (Report, error) {
	r := Report{Pulls: len(set.Cases), Perfect: map[string]float64{}}
	p, err := scoring.Score(set, perfect(set), scoring.Options{Samples: 1})
	if err != nil {
		return r, fmt.Errorf("score the perfect agent: %w", err)
	}
	for _, m := range p.Measures {
		if m.Result.F1 != nil {
			r.Perfect[m.Measure] = *m.Result.F1
		}
	}
	guessed, err := random(set, seed)
	if err != nil {
		return r, err
	}
	g, err := scoring.Score(set, guessed, scoring.Options{Measures: []string{scoring.Place}, Samples: 1})
	if err != nil {
		return r, fmt.Errorf("score the random agent: %w", err)
	}
	r.Guesses, r.Right = g.Reviews, g.Measures[0].Total.Found
	var expected, variance float64
	for _, c := range set.Cases {
		p := chance(c)
		expected += guesses * p
		variance += guesses * p * (1 - p)
	}
	// 3.29 standard deviations hold 999 of 1,000.
	r.Chance, r.Low, r.High = expected/float64(r.Guesses), max(0, expected-3.29*math.Sqrt(variance)), expected+3.29*math.Sqrt(variance)
	return r, nil
}

func begin(name string, set cases.Set, repeats int) results.Set {
	m := results.Manifest{Format: results.Format, Name: name, Repeats: repeats}
	for _, c := range set.Cases {
		m.Cases = append(m.Cases, results.Planned{ID: c.ID, Input: c.InputDigest})
	}
	return results.Set{Manifest: m, Sealed: true}
}

// perfect says what is expected, word for word, at its first place.
func perfect(set cases.Set) results.Set {
	s := begin("perfect", set, 1)
	for _, c := range set.Cases {
		r := results.Review{Case: c.ID, Repeat: 1, Result: review.ReviewResult{Status: review.StatusOK}}
		for _, e := range c.Golden {
			f := review.Issue{Key: e.ID, Severity: e.Severity, Category: e.Categories[0], Title: e.Text}
			if places := c.Places(e); len(places) > 0 {
				f.File, f.LineStart, f.LineEnd = places[0].File, places[0].Start, &places[0].End
			}
			r.Result.Issues = append(r.Result.Issues, f)
		}
		s.Reviews = append(s.Reviews, r)
	}
	return s
}

// random points at any line of any changed file, with any of the six categories.
func random(set cases.Set, seed uint64) (results.Set, error) {
	s, dice := begin("random", set, guesses), rand.New(rand.NewPCG(seed, 0))
	for _, c := range set.Cases {
		lines := lengths(c)
		files := slices.Sorted(maps.Keys(lines))
		if len(files) == 0 {
			return s, fmt.Errorf("the random agent has nothing to point at: %s has no code", c.ID)
		}
		for n := range guesses {
			file := files[dice.IntN(len(files))]
			s.Reviews = append(s.Reviews, results.Review{Case: c.ID, Repeat: n + 1, Result: review.ReviewResult{Status: review.StatusOK, Issues: []review.Issue{{
				Key: "guess", File: file, LineStart: 1 + dice.IntN(lines[file]), Category: cases.Categories()[dice.IntN(len(cases.Categories()))],
			}}}})
		}
	}
	return s, nil
}

// lengths are the changed files at the head and how many lines they have.
func lengths(c cases.Case) map[string]int {
	out := map[string]int{}
	if c.Code == nil {
		return out
	}
	for file, text := range c.Code.Head {
		if n := len(slices.Collect(strings.Lines(text))); n > 0 {
			out[file] = n
		}
	}
	return out
}

// chance is the share of all guesses about a case that the rule counts as right.
func chance(c cases.Case) float64 {
	lines, right := lengths(c), 0.0
	for file, n := range lines {
		for _, category := range cases.Categories() {
			hit := make([]bool, n+1)
			for _, e := range c.Golden {
				for _, a := range c.Places(e) {
					for l := max(1, a.Start-scoring.Tolerance); slices.Contains(e.Categories, category) && a.File == file && l <= min(n, a.End+scoring.Tolerance); l++ {
						hit[l] = true
					}
				}
			}
			for _, h := range hit {
				if h {
					right += 1 / float64(n)
				}
			}
		}
	}
	return right / float64(len(lines)*len(cases.Categories()))
}
