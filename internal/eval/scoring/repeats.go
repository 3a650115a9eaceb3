package scoring

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Repeats are what the repeats of a run come to, each by itself: how much the same agent varies.
type Repeats struct {
	// Precision, Recall and F1 are those of each repeat, in their order; null where it has none.
	Precision []*float64 `json:"precision"`
	Recall    []*float64 `json:"recall"`
	F1        []*float64 `json:"f1"`
}

// repeats adds up each repeat; nil where there is one only.
func repeats(graded []Graded) *Repeats {
	most := 0
	for _, g := range graded {
		most = max(most, g.Repeat)
	}
	if most < 2 {
		return nil
	}
	sums := make([]Counts, most)
	for _, g := range graded {
		sums[g.Repeat-1].add(g.Counts())
	}
	var out Repeats
	for _, c := range sums {
		out.Precision, out.Recall, out.F1 = append(out.Precision, c.Precision()), append(out.Recall, c.Recall()), append(out.F1, c.F1())
	}
	return &out
}

// String says how far apart the repeats are.
func (r Repeats) String() string {
	var parts []string
	for _, row := range []struct {
		name   string
		values []*float64
	}{{Precision, r.Precision}, {Recall, r.Recall}, {F1, r.F1}} {
		var known []float64
		for _, v := range row.values {
			if v != nil {
				known = append(known, *v)
			}
		}
		if len(known) < 2 {
			parts = append(parts, row.name+" -")
			continue
		}
		mean, sum := 0.0, 0.0
		for _, v := range known {
			mean += v / float64(len(known))
		}
		for _, v := range known {
			sum += (v - mean) * (v - mean)
		}
		parts = append(parts, fmt.Sprintf("%s %.1f to %.1f (standard deviation %.1f)", row.name, 100*slices.Min(known), 100*slices.Max(known), 100*math.Sqrt(sum/float64(len(known)-1))))
	}
	return fmt.Sprintf("%d repeats, each by itself: %s", len(r.F1), strings.Join(parts, "; "))
}
