// Package calibration says what the probabilities a model states are worth: a curve for each model, fitted to how often what it said
// held (decision 41). It is pure and works in whole numbers, so that it fits and reads the same on every machine.
package calibration

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Format is the version of a table's layout.
const Format = 1

const (
	// one is a probability of 1: all of them are in thousandths.
	one = 1000
	// bins is how many there are, each as wide as the others.
	bins  = 10
	width = one / bins
	// trust is how many findings the model's own word is worth in each bin: with as many, the curve lies halfway between what was stated
	// and what held.
	trust = 10
)

// What is calibrated.
const (
	// Probability is the verifier's: how likely a maintainer fixes the problem.
	Probability = "probability"
	// Confidence is a reviewer's in its own finding.
	Confidence = "confidence"
)

// Where it is known from whether a finding held.
const (
	FromEval = "eval" // expected findings of review cases
	FromRuns = "runs" // what became of findings
)

// An Observation is one finding whose truth came to be known.
type Observation struct {
	// Model stated it, Of is Probability or Confidence.
	Model, Of string
	// Stated is what it said, 0 to 1.
	Stated float64
	Held   bool
	// From is FromEval or FromRuns.
	From string
}

// Table is what is known of all models.
type Table struct {
	Format int `json:"format"`
	// Curves are sorted by what they are of and by model; each of both stands there once.
	Curves []Curve `json:"curves"`
}

// Curve is what a model's numbers are worth.
type Curve struct {
	Model string `json:"model"`
	Of    string `json:"of"`
	// Eval and Runs are how many findings of each origin it was fitted to.
	Eval int `json:"eval"`
	Runs int `json:"runs"`
	// Bins are ten, for what was stated from 0 to 1.
	Bins []Bin `json:"bins"`
}

// Bin are the findings of which a number in one tenth of the range was stated. Probabilities are in thousandths.
type Bin struct {
	From int `json:"from"`
	// Findings is how many there are, Held how many of them held.
	Findings int `json:"findings"`
	Held     int `json:"held"`
	// Stated is the mean of what was stated, or the middle of the bin where nothing was. Chance is what that is worth.
	Stated int `json:"stated"`
	Chance int `json:"chance"`
}

// Interval is where the share that holds lies in truth with 95 % certainty, in thousandths, by the score method of Wilson.
func (b Bin) Interval() (low, high int) {
	if b.Findings == 0 {
		return 0, one
	}
	const z = 1.959964
	n := float64(b.Findings)
	p := float64(b.Held) / n
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	scale := one / (1 + z*z/n)
	return max(0, int(math.Round((middle-half)*scale))), min(one, int(math.Round((middle+half)*scale)))
}

// thousandths rounds a stated probability as the weighing does.
func thousandths(p float64) int { return min(max(int(p*one+0.5), 0), one) }

func bin(stated int) int { return min(stated/width, bins-1) }

// Fit makes the table of observations, in whatever order they stand. In each bin the share that held is shrunk towards what the model
// stated, by the weight of trust findings; neighbours that are then out of order are joined, so that a higher word is never worth less.
func Fit(all []Observation) Table {
	type key struct{ of, model string }
	sums := map[key]*[bins]int{}
	curves := map[key]*Curve{}
	for _, o := range all {
		k, stated := key{o.Of, o.Model}, thousandths(o.Stated)
		c := curves[k]
		if c == nil {
			c, sums[k] = &Curve{Model: o.Model, Of: o.Of, Bins: make([]Bin, bins)}, new([bins]int)
			curves[k] = c
		}
		if o.From == FromEval {
			c.Eval++
		} else {
			c.Runs++
		}
		b := &c.Bins[bin(stated)]
		b.Findings++
		if o.Held {
			b.Held++
		}
		sums[k][bin(stated)] += stated
	}
	t := Table{Format: Format, Curves: []Curve{}}
	for k, c := range curves {
		for i := range c.Bins {
			b := &c.Bins[i]
			b.From, b.Stated = i*width, i*width+width/2
			if b.Findings > 0 {
				b.Stated = rounded(sums[k][i], b.Findings)
			}
		}
		c.settle()
		t.Curves = append(t.Curves, *c)
	}
	slices.SortFunc(t.Curves, order)
	return t
}

func order(a, b Curve) int { return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.Model, b.Model)) }

func rounded(a, b int) int { return (2*a + b) / (2 * b) }

// settle computes what each bin is worth: means of the shrunk shares over as few neighbours as make them rise.
func (c *Curve) settle() {
	type pool struct{ sum, weight, bins int }
	var pools []pool
	for _, b := range c.Bins {
		pools = append(pools, pool{one*b.Held + trust*b.Stated, b.Findings + trust, 1})
		for n := len(pools); n > 1 && pools[n-2].sum*pools[n-1].weight > pools[n-1].sum*pools[n-2].weight; n = len(pools) {
			last := pools[n-1]
			pools = pools[:n-1]
			p := &pools[n-2]
			p.sum, p.weight, p.bins = p.sum+last.sum, p.weight+last.weight, p.bins+last.bins
		}
	}
	i := 0
	for _, p := range pools {
		for range p.bins {
			c.Bins[i].Chance = rounded(p.sum, p.weight)
			i++
		}
	}
}

// Worth is what a stated probability is worth, in thousandths. Between two bins the correction changes evenly; a nil curve corrects
// nothing.
func (c *Curve) Worth(stated float64) int { return c.at(thousandths(stated)) }

func (c *Curve) at(p int) int {
	if c == nil {
		return p
	}
	b := c.Bins
	next := slices.IndexFunc(b, func(b Bin) bool { return b.Stated >= p })
	var shift int
	switch {
	case next < 0:
		shift = b[len(b)-1].Chance - b[len(b)-1].Stated
	case next == 0:
		shift = b[0].Chance - b[0].Stated
	default:
		low, high := b[next-1], b[next]
		span := high.Stated - low.Stated
		return rounded(low.Chance*span+(high.Chance-low.Chance)*(p-low.Stated), span)
	}
	return min(max(p+shift, 0), one)
}

// Find is the curve of a model; nil when the table has none. A nil table has none of any.
func (t *Table) Find(of, model string) *Curve {
	if t == nil || model == "" {
		return nil
	}
	i, ok := slices.BinarySearchFunc(t.Curves, Curve{Of: of, Model: model}, order)
	if !ok {
		return nil
	}
	return &t.Curves[i]
}

// ID names the table by its content.
func (t Table) ID() string {
	data, err := json.Marshal(t)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// Encode writes a table as Decode reads it.
func (t Table) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(t, "", " ")
	return append(data, '\n'), err
}

// Decode reads a table and refuses one that Fit did not make: what weighs findings is not taken half.
func Decode(data []byte) (Table, error) {
	var t Table
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return t, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return t, errors.New("there is more than one value")
	}
	if t.Format != Format {
		return t, fmt.Errorf("it has format %d, not %d", t.Format, Format)
	}
	for i, c := range t.Curves {
		if i > 0 && order(t.Curves[i-1], c) >= 0 {
			return t, fmt.Errorf("the curve of %s of %s stands twice or out of order", c.Of, c.Model)
		}
		if err := c.check(); err != nil {
			return t, fmt.Errorf("%s of %s: %w", c.Of, c.Model, err)
		}
	}
	return t, nil
}

// check refuses a curve whose bins do not follow from its counts.
func (c Curve) check() error {
	if c.Model == "" || c.Of != Probability && c.Of != Confidence || len(c.Bins) != bins || c.Eval < 0 || c.Runs < 0 {
		return errors.New("it has no model, is of something unknown, or has not ten bins")
	}
	again, n := Curve{Bins: slices.Clone(c.Bins)}, 0
	for i, b := range c.Bins {
		if b.From != i*width || b.Held < 0 || b.Findings < b.Held || b.Findings > 1<<32 || b.Stated < b.From || bin(b.Stated) != i && b.Stated != b.From+width {
			return fmt.Errorf("bin %d cannot be", i+1)
		}
		n += b.Findings
	}
	again.settle()
	if n != c.Eval+c.Runs || !slices.Equal(again.Bins, c.Bins) {
		return errors.New("its figures do not follow from its counts")
	}
	return nil
}
