package eval

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// StuckOptions are how much is played; the zero value is what the tests hold.
type StuckOptions struct {
	// Turns is how many pairs of rounds are drawn for each pull request of a recording and each setting; default 20.
	Turns int
}

// StuckReport is how well findings that return after a fix are recognised.
type StuckReport struct {
	Split string `json:"split"`
	// Pulls is how many recorded pull requests took part, Turns how often two rounds were played.
	Pulls int        `json:"pulls"`
	Turns int        `json:"turns"`
	Rows  []StuckRow `json:"rows"`
	// Met is true when one reviewer a round, which is the hardest setting, reaches the goal on the held-back half.
	Met bool `json:"met"`
}

// StuckRow is one setting on both halves.
type StuckRow struct {
	Setting  string     `json:"setting"`
	Fitted   StuckTally `json:"fitted"`
	HeldBack StuckTally `json:"heldBack"`
}

// StuckTally counts what became of the second round's findings.
type StuckTally struct {
	// Returned are problems that the first round raised and the second raises again, Recognised those of them that were
	// matched. Compared are pairs of findings about different problems, Mistaken those that were matched.
	Returned   int `json:"returned"`
	Recognised int `json:"recognised"`
	Compared   int `json:"compared"`
	Mistaken   int `json:"mistaken"`
	// New are findings of the second round about problems the first did not raise; Blamed those that were taken for a
	// returning one all the same, each of which would be kept from the fixer.
	New    int `json:"new"`
	Blamed int `json:"blamed"`
	// Recall, FalseMatch and FalseAlarm are the shares, 0 to 1.
	Recall     float64 `json:"recall"`
	FalseMatch float64 `json:"falseMatch"`
	FalseAlarm float64 `json:"falseAlarm"`
}

func (t *StuckTally) settle() {
	t.Recall, t.FalseMatch, t.FalseAlarm = share(t.Recognised, t.Returned), share(t.Mistaken, t.Compared), share(t.Blamed, t.New)
}

// The settings.
const (
	StuckMapped   = "one reviewer a round, lines mapped"
	StuckSeveral  = "three reviewers a round, lines mapped"
	StuckUnmapped = "one reviewer a round, lines as they were"
	StuckWords    = "one reviewer a round, no lines known"
	StuckIDs      = "one reviewer a round, by the model's id"
)

// Stuck plays two rounds with a fix between them: the first round's findings are said to be fixed, and other tools review
// again. What returns is worded as those tools worded it, has another id and a category nearby, and stands where the fix
// moved its lines to, a few lines off. A pair is the same problem when both were judged to be one expected finding.
func Stuck(ctx context.Context, b Dataset, o StuckOptions) (StuckReport, error) {
	if o.Turns <= 0 {
		o.Turns = 20
	}
	pairs := b.Pairs()
	r := StuckReport{Split: Split, Pulls: len(pairs)}
	settings := []struct {
		name      string
		reviewers int
		play      func(turn) []identity.Pair
	}{
		{StuckMapped, 1, turn.mapped}, {StuckSeveral, 3, turn.mapped}, {StuckUnmapped, 1, turn.unmapped}, {StuckWords, 1, turn.words}, {StuckIDs, 1, turn.ids},
	}
	for _, s := range settings {
		row := StuckRow{Setting: s.name}
		for _, p := range pairs {
			if err := ctx.Err(); err != nil {
				return r, err
			}
			tally := &row.Fitted
			if HeldBack(p.URL) {
				tally = &row.HeldBack
			}
			for n := range o.Turns {
				draw := seeded(p.URL, p.Recording, fmt.Sprint(s.reviewers, " ", n))
				first, second, ok := twoSides(draw, p.Tools, s.reviewers)
				if !ok {
					break
				}
				t := newTurn(draw, first, second)
				t.score(s.play(t), tally)
				r.Turns++
			}
		}
		row.Fitted.settle()
		row.HeldBack.settle()
		r.Rows = append(r.Rows, row)
	}
	held := r.Rows[0].HeldBack
	r.Met = held.Returned > 0 && held.Recall >= GoalRecall && held.FalseMatch <= GoalFalseMatch
	return r, nil
}

// seeded draws the same for the same words.
func seeded(words ...string) *rand.Rand {
	sum := sha256.Sum256(fmt.Append(nil, words))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
}

// twoSides draws the reviewers of two rounds; nobody reviews twice, so that every wording of the second is another one.
func twoSides(draw *rand.Rand, tools []ToolPairs, n int) (first, second []ToolPairs, ok bool) {
	if len(tools) < 2*n {
		return nil, nil, false
	}
	order := draw.Perm(len(tools))
	for i := range n {
		first, second = append(first, tools[order[i]]), append(second, tools[order[n+i]])
	}
	return first, second, true
}

// noted is a finding with what is known of it.
type noted struct {
	review.Finding
	// about are the expected findings it was judged to be; unclear is true when the judges disagree.
	about   []int
	unclear bool
}

func (t ToolPairs) noted() []noted {
	about := t.expected()
	out := make([]noted, len(t.Findings))
	for i, f := range Findings(t.Tool, t.Findings) {
		out[i] = noted{Finding: f, about: about[i], unclear: slices.ContainsFunc(t.Contested, func(c [2]int) bool { return c[1] == i })}
	}
	return out
}

// label says what two findings are to each other. Two findings that nobody expected may be the same one, which nobody
// judged: such a pair counts neither way.
func label(a, b noted) (same, known bool) {
	if a.unclear || b.unclear || len(a.about)+len(b.about) == 0 {
		return false, false
	}
	return slices.ContainsFunc(a.about, func(e int) bool { return slices.Contains(b.about, e) }), true
}
