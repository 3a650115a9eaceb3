// Package judging asks an agent whether an expected finding and a finding of a review mean the same fault, where the deterministic measures leave
// it open, and says how far its word goes (eval.md "A judge"). What answers stands behind an interface.
package judging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
)

// Question is a pair of texts. Which of the two is the expected one is not told.
type Question struct {
	// ID names it within a request.
	ID            string
	First, Second Text
}

// Text is what one side says, and where.
type Text struct {
	File  string
	Line  int
	Words string
}

// Judge answers questions.
type Judge interface {
	// Same says of each question, by its ID, whether both texts mean the same fault.
	Same(ctx context.Context, questions []Question) (map[string]bool, error)
}

// ErrAnswer says that a judge gave no answer that can be used.
var ErrAnswer = errors.New("the judge gave no answer that can be used")

// asked is a pair that is asked about.
type asked struct {
	pair    scoring.Pair
	control bool
	// same are the answers in both orders.
	same [2]bool
}

// Batch is how many questions stand in one request at most.
const Batch = 20

// Decide asks about a result set and gives each review a verdict of that name. Another one, with the name that Lenient gives, takes pairs of which
// the judge contradicts itself for one fault, so that both ends of what is open can be printed.
func Decide(ctx context.Context, name string, judge Judge, known cases.Set, set results.Set) (results.Set, scoring.Agreement, error) {
	r := tally{scoring.Agreement{Judge: name, Contradicted: []scoring.Contradiction{}}}
	out := set
	out.Reviews = slices.Clone(set.Reviews)
	for _, c := range known.Cases {
		var of []results.Review
		var at []int
		for i, v := range out.Reviews {
			if v.Case == c.ID {
				of, at = append(of, v), append(at, i)
			}
		}
		for i, pairs := range scoring.Pairs(c, of) {
			v := &out.Reviews[at[i]]
			if err := r.one(ctx, judge, v, pairs); err != nil {
				return set, r.Agreement, fmt.Errorf("%s/%d: %w", v.Case, v.Repeat, err)
			}
		}
	}
	return out, r.Agreement, nil
}

// tally adds up what a judge said.
type tally struct{ scoring.Agreement }

// Lenient is the name of the verdicts that take what a judge contradicts itself about for the same fault.
func Lenient(judge string) string { return judge + ", doubts as same" }

// one judges one review.
func (r *tally) one(ctx context.Context, judge Judge, v *results.Review, pairs []scoring.Pair) error {
	list := choose(pairs)
	for part := range slices.Chunk(list, Batch) {
		for order := range 2 {
			if err := ask(ctx, judge, part, order); err != nil {
				return err
			}
		}
	}
	var strict, lenient []scoring.Pair
	for _, p := range pairs {
		if p.Same() {
			strict, lenient = append(strict, p), append(lenient, p)
		}
	}
	for _, a := range list {
		both, either := a.same[0] && a.same[1], a.same[0] || a.same[1]
		r.count(*v, *a, both, either)
		if !a.control && both {
			strict = append(strict, a.pair)
		}
		if !a.control && either {
			lenient = append(lenient, a.pair)
		}
	}
	verdicts := map[string]results.Verdict{r.Judge: scoring.Settle(strict), Lenient(r.Judge): scoring.Settle(lenient)}
	for name, other := range v.Verdicts {
		if _, taken := verdicts[name]; !taken {
			verdicts[name] = other
		}
	}
	v.Verdicts = verdicts
	return nil
}

// count adds one pair to the figures.
func (r *tally) count(v results.Review, a asked, both, either bool) {
	r.Itself.Add(both == either)
	switch {
	case a.control && a.pair.Same():
		r.ControlSame.Add(both)
	case a.control:
		r.ControlDifferent.Add(!either)
	default:
		r.Open++
		if a.pair.Place {
			r.Place.Add(both)
		} else {
			r.Words.Add(both)
		}
		switch {
		case both:
			r.Same++
		case !either:
			r.Different++
		default:
			r.Contradicted = append(r.Contradicted, scoring.Contradiction{Case: v.Case, Repeat: v.Repeat, Golden: a.pair.Golden.ID, Title: a.pair.Finding.Title})
		}
	}
}

// choose takes the open pairs of a review, and as controls those that are the same and as many others that are not: of these the ones whose words are
// most alike, which are the hardest.
func choose(pairs []scoring.Pair) []*asked {
	var out []*asked
	var far []scoring.Pair
	controls := 0
	for _, p := range pairs {
		switch {
		case p.Open():
			out = append(out, &asked{pair: p})
		case p.Same():
			out = append(out, &asked{pair: p, control: true})
			controls++
		case !p.KnownWrong:
			far = append(far, p)
		}
	}
	slices.SortStableFunc(far, func(a, b scoring.Pair) int {
		switch {
		case a.Alike > b.Alike:
			return -1
		case a.Alike < b.Alike:
			return 1
		}
		return 0
	})
	for _, p := range far[:min(controls, len(far))] {
		out = append(out, &asked{pair: p, control: true})
	}
	return out
}

// ask puts one request: the expected finding first in order 0, and in order 1 everything the other way round.
func ask(ctx context.Context, judge Judge, part []*asked, order int) error {
	var questions []Question
	for i, a := range part {
		e := Text{Words: a.pair.Golden.Text}
		if len(a.pair.Golden.Anchors) > 0 {
			e.File, e.Line = a.pair.Golden.Anchors[0].File, a.pair.Golden.Anchors[0].Start
		}
		f := Text{File: a.pair.Finding.File, Line: a.pair.Finding.LineStart, Words: strings.TrimSpace(a.pair.Finding.Title + "\n" + a.pair.Finding.Description)}
		q := Question{ID: fmt.Sprintf("Q%d", i+1), First: e, Second: f}
		if order == 1 {
			q.First, q.Second = f, e
		}
		questions = append(questions, q)
	}
	if order == 1 {
		slices.Reverse(questions)
	}
	got, err := judge.Same(ctx, questions)
	if err != nil {
		return err
	}
	for i, a := range part {
		same, ok := got[fmt.Sprintf("Q%d", i+1)]
		if !ok || len(got) != len(part) {
			return fmt.Errorf("%w: %d of %d questions are answered", ErrAnswer, len(got), len(part))
		}
		a.same[order] = same
	}
	return nil
}
