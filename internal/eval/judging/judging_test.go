package judging_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/judging"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/review"
)

// judge answers by what the two texts say.
type judge struct {
	say   func(first, second string) bool
	asked []judging.Question
	lacks bool
}

func (j *judge) Same(_ context.Context, questions []judging.Question) (map[string]bool, error) {
	out := map[string]bool{}
	for _, q := range questions {
		j.asked = append(j.asked, q)
		out[q.ID] = j.say(q.First.Words, q.Second.Words)
	}
	if j.lacks {
		delete(out, questions[0].ID)
	}
	return out, nil
}

const (
	leak   = "The password is written to the log together with the whole connection string."
	loop   = "The retry loop never ends when the server keeps answering with status 503."
	cursor = "The database cursor is not closed when reading rows fails half way."
)

func expected(id, text string, line int) cases.Expected {
	return cases.Expected{ID: id, Text: text, Categories: []string{"bug"}, Anchors: []cases.Anchor{{File: "a.go", Start: line, End: line, Side: "right"}}}
}

// example has one pair that place and words agree on, one that stands at the place in other words, one with the words elsewhere, and a
// known-wrong comment that is said again at an expected place.
func example() (cases.Set, results.Set) {
	c := cases.Case{ID: "one", Golden: []cases.Expected{expected("G1", leak, 10), expected("G2", loop, 50), expected("G3", cursor, 90)}}
	c.Negatives = []cases.Expected{expected("N1", "The import of the errors package is unused and should be removed.", 51)}
	issue := func(key, title string, line int) review.Issue {
		return review.Issue{Key: key, Title: title, File: "a.go", LineStart: line, Category: "bug"}
	}
	set := results.Set{Manifest: results.Manifest{Name: "x", Repeats: 1, Cases: []results.Planned{{ID: "one"}}}, Sealed: true}
	set.Reviews = []results.Review{{Case: "one", Repeat: 1, Result: review.ReviewResult{Status: review.StatusOK, Issues: []review.Issue{
		issue("exact", leak, 10),
		issue("place", "Hammering goes on forever if upstream is overloaded", 51),
		issue("words", cursor, 400),
		issue("wrong", "The import of the errors package is unused and should be removed.", 52),
		issue("far", "A constant would be nicer", 700),
	}}}}
	return cases.Set{Cases: []cases.Case{c}}, set
}

func decide(t *testing.T, j judging.Judge) (scoring.Report, scoring.Agreement) {
	t.Helper()
	known, set := example()
	judged, a, err := judging.Decide(t.Context(), "reader", j, known, set)
	if err != nil {
		t.Fatal(err)
	}
	if set.Reviews[0].Verdicts != nil {
		t.Error("the set itself was changed")
	}
	r, err := scoring.Score(known, judged, scoring.Options{Measures: []string{scoring.Content, scoring.Judge + judging.Lenient("reader"), scoring.Judge + "reader"}})
	if err != nil {
		t.Fatal(err)
	}
	return r, a
}

func found(m scoring.Measured) string {
	var out []string
	for _, e := range m.Graded[0].Found {
		out = append(out, e.ID)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestOnlyWhatIsOpenIsAsked: a judge decides what place and words leave open, in both orders, and nothing else.
func TestOnlyWhatIsOpenIsAsked(t *testing.T) {
	j := &judge{say: func(a, b string) bool {
		return strings.Contains(a+b, "Hammering") || a == cursor && b == cursor || a == leak && b == leak
	}}
	r, a := decide(t, j)
	if found(r.Measures[0]) != "G1" || found(r.Measures[2]) != "G1 G2 G3" {
		t.Errorf("content: %s, judge: %s", found(r.Measures[0]), found(r.Measures[2]))
	}
	if a.Open != 2 || a.Same != 2 || a.Place != (scoring.Share{Agreed: 1, Of: 1}) || a.Words != (scoring.Share{Agreed: 1, Of: 1}) || a.ControlSame != (scoring.Share{Agreed: 1, Of: 1}) ||
		a.ControlDifferent.Of != 1 || a.Itself.Agreed != a.Itself.Of || len(a.Contradicted) != 0 {
		t.Errorf("%+v", a)
	}
	firsts := map[string]int{}
	for _, q := range j.asked {
		if strings.Contains(q.First.Words+q.Second.Words, "unused") {
			t.Error("a comment that people judged wrong is asked about")
		}
		firsts[q.ID+q.First.Words]++
	}
	for _, q := range j.asked {
		if q.First.Words != q.Second.Words && firsts[q.ID+q.First.Words] != 1 {
			t.Errorf("%s is asked twice in one order", q.ID)
		}
	}
}

// TestAJudgeThatContradictsItself is named, and never averaged: what it says both ways about counts as different, and both ends are printed.
func TestAJudgeThatContradictsItself(t *testing.T) {
	r, a := decide(t, &judge{say: func(first, second string) bool { return first == second || strings.Contains(first, "Hammering") }})
	if a.Same != 1 || len(a.Contradicted) != 1 || a.Contradicted[0].Golden != "G2" || a.Itself.Of-a.Itself.Agreed != 1 {
		t.Errorf("%+v", a)
	}
	if found(r.Measures[2]) != "G1 G3" || found(r.Measures[1]) != "G1 G2 G3" {
		t.Errorf("strict %s, lenient %s", found(r.Measures[2]), found(r.Measures[1]))
	}
	var b strings.Builder
	if err := a.Write(&b); err != nil || !strings.Contains(b.String(), `contradicts itself, counted as different: one/1: G2 and "Hammering goes on forever`) {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestControlsChangeNoVerdict: what place and words agree on stands, whatever the judge says of it, and its disagreement is counted.
func TestControlsChangeNoVerdict(t *testing.T) {
	for _, says := range []bool{true, false} {
		r, a := decide(t, &judge{say: func(_, _ string) bool { return says }})
		want := map[bool]string{true: "G1 G2 G3", false: "G1"}[says]
		if found(r.Measures[2]) != want || a.ControlSame.Agreed+a.ControlDifferent.Agreed != 1 {
			t.Errorf("%v: %s, %+v", says, found(r.Measures[2]), a)
		}
	}
}

func TestAnAnswerThatLacksQuestionsIsRefused(t *testing.T) {
	known, set := example()
	_, _, err := judging.Decide(t.Context(), "reader", &judge{say: func(_, _ string) bool { return true }, lacks: true}, known, set)
	if !errors.Is(err, judging.ErrAnswer) || !strings.Contains(fmt.Sprint(err), "one/1") {
		t.Error(err)
	}
}

// TestSettle: of two findings that are one expected finding the more alike counts, the other repeats it; a finding may be two expected ones.
func TestSettle(t *testing.T) {
	pair := func(golden, key string, alike float64) scoring.Pair {
		return scoring.Pair{Golden: cases.Expected{ID: golden}, Finding: review.Issue{Key: key}, Alike: alike}
	}
	v := scoring.Settle([]scoring.Pair{pair("G1", "a", 0.2), pair("G1", "b", 0.9), pair("G2", "b", 0.3), pair("G3", "c", 0.1)})
	if fmt.Sprint(v.Same) != "[{G1 b 1} {G2 b 1} {G3 c 1}]" || fmt.Sprint(v.Repeats) != "[a]" {
		t.Errorf("%+v", v)
	}
}
