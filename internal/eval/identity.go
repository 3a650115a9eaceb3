package eval

import (
	"context"
	"slices"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// The goal for the held-back half (design.md "Identity").
const (
	GoalRecall     = 0.85
	GoalFalseMatch = 0.03
)

// IdentityReport is how well findings are recognised.
type IdentityReport struct {
	Split string `json:"split"`
	// Pulls and Reviews are how many there are in both halves.
	Pulls   int           `json:"pulls"`
	Reviews int           `json:"reviews"`
	Rows    []IdentityRow `json:"rows"`
	// Met is true when prloop's own method reaches the goal on the held-back half.
	Met bool `json:"met"`
}

// IdentityRow is one way to tell which findings are the same one, on both halves.
type IdentityRow struct {
	Method   string `json:"method"`
	Fitted   Tally  `json:"fitted"`
	HeldBack Tally  `json:"heldBack"`
}

// Tally counts pairs by label and answer.
type Tally struct {
	// Same are pairs with that label, Recognised those of them that were matched.
	Same       int `json:"same"`
	Recognised int `json:"recognised"`
	// Different are the others, Joined those of them that were matched all the same.
	Different int `json:"different"`
	Joined    int `json:"joined"`
	// Recall and FalseMatch are the shares, 0 to 1; 0 of 0 is 0.
	Recall     float64 `json:"recall"`
	FalseMatch float64 `json:"falseMatch"`
}

func (t *Tally) add(same, matched bool) {
	one := 0
	if matched {
		one = 1
	}
	if same {
		t.Same, t.Recognised = t.Same+1, t.Recognised+one
	} else {
		t.Different, t.Joined = t.Different+1, t.Joined+one
	}
}

func (t *Tally) settle() {
	t.Recall, t.FalseMatch = share(t.Recognised, t.Same), share(t.Joined, t.Different)
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Names of the rows.
const (
	MethodMatch  = "prloop, one to one"
	MethodAlone  = "prloop, each pair by itself"
	MethodHalf   = "word overlap 0.5 (specs)"
	MethodThird  = "word overlap 0.3"
	MethodJoined = "prloop, two tools' wordings joined"
)

// Identity measures identity.Match on the labelled pairs, as two rounds would be matched, against the plain word overlap of
// the specs. The last row is identity.Join where it is used: two tools' wordings of one problem, labelled through the
// expected finding both were found to be, in the first recording. The pairs have neither file nor line, so all this is
// the words alone; with places there are fewer chances to err.
func Identity(ctx context.Context, b Dataset) (IdentityReport, error) {
	pairs := b.Pairs()
	r := IdentityReport{Split: Split, Pulls: len(pairs)}
	for _, m := range []string{MethodMatch, MethodAlone, MethodHalf, MethodThird, MethodJoined} {
		r.Rows = append(r.Rows, IdentityRow{Method: m})
	}
	for _, p := range pairs {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		half := func(row int) *Tally {
			if HeldBack(p.URL) {
				return &r.Rows[row].HeldBack
			}
			return &r.Rows[row].Fitted
		}
		for _, t := range p.Tools {
			r.Reviews++
			matchTool(p, t, half)
		}
		if p.Recording == b.Recordings[0].Name {
			joinTools(p, half(4))
		}
	}
	for i := range r.Rows {
		r.Rows[i].Fitted.settle()
		r.Rows[i].HeldBack.settle()
	}
	held := r.Rows[0].HeldBack
	r.Met = held.Same > 0 && held.Recall >= GoalRecall && held.FalseMatch <= GoalFalseMatch
	return r, nil
}

// matchTool adds one tool's pairs to the first four rows.
func matchTool(p Pairs, t ToolPairs, half func(int) *Tally) {
	expected, found := Findings("people", p.Expected), Findings(t.Tool, t.Findings)
	matched := map[[2]int]bool{}
	for _, m := range identity.Match(expected, found, nil) {
		matched[[2]int{m.A, m.B}] = true
	}
	known := identity.Know(append(expected, found...))
	for i := range p.Expected {
		for k := range t.Findings {
			at := [2]int{i, k}
			if slices.Contains(t.Contested, at) {
				continue
			}
			same, other := slices.Contains(t.Same, at), len(p.Expected)+k
			plain := known.Overlap(i, other)
			half(0).add(same, matched[at])
			half(1).add(same, known.Similarity(i, other) >= identity.Threshold)
			half(2).add(same, plain >= 0.5)
			half(3).add(same, plain >= 0.3)
		}
	}
}

// joinTools adds the pairs of each two tools whose findings are known to be about something.
func joinTools(p Pairs, tally *Tally) {
	var all []review.Finding
	indexes := make([][]int, len(p.Tools)) // tool -> its findings in all
	for x, t := range p.Tools {
		for _, f := range Findings(t.Tool, t.Findings) {
			indexes[x], all = append(indexes[x], len(all)), append(all, f)
		}
	}
	known := identity.Know(all)
	for x, tx := range p.Tools {
		for y := x + 1; y < len(p.Tools); y++ {
			group := map[int]int{}
			for g, members := range known.Join(slices.Concat(indexes[x], indexes[y])) {
				for _, m := range members {
					group[m] = g
				}
			}
			other := p.Tools[y].expected()
			for i, a := range tx.expected() {
				for k, b := range other {
					same := slices.ContainsFunc(a, func(e int) bool { return slices.Contains(b, e) })
					tally.add(same, group[i] == group[len(tx.Findings)+k])
				}
			}
		}
	}
}

// expected maps a finding to the expected ones it is; contested findings are left out.
func (t ToolPairs) expected() map[int][]int {
	out := map[int][]int{}
	for _, s := range t.Same {
		out[s[1]] = append(out[s[1]], s[0])
	}
	for _, c := range t.Contested {
		delete(out, c[1])
	}
	return out
}
