package orchestrator

import (
	"context"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// TestThePullRequestChangesInTheMiddle is threats.md T91 and T92: from wherever a pull request is closed, merged or given another
// base, nobody is asked and nothing is said or pushed any more, and the run ends as superseded by that.
func TestThePullRequestChangesInTheMiddle(t *testing.T) {
	changes := map[string]struct {
		do   func(*stage)
		want string
	}{
		"closed":       {func(s *stage) { s.state = "CLOSED" }, "the pull request is closed by now"},
		"merged":       {func(s *stage) { s.state = "MERGED" }, "the pull request has been merged"},
		"another base": {func(s *stage) { s.base = "release" }, `now to be merged into "release", not "main"`},
	}
	for _, c := range []struct {
		when string
		// behind is how the name of the step ends behind which it happens; "ask" is before the reviewers answer, and nothing is
		// before everything.
		behind                  string
		comments, asked, orders int
		head                    string
	}{
		{"before it is read", "", 0, 0, 0, sha(1)},
		{"while reviewers work", "ask", 0, 3, 0, sha(1)},
		{"before the fixer is asked", ": keep", 1, 3, 0, sha(1)},
		{"while the fixer works", ": fix, try 1", 1, 3, 1, sha(1)},
		{"while the fix is verified", ": verify, try 1", 1, 3, 1, sha(1)},
		{"right behind the push", ": push", 1, 3, 1, sha(2)},
		{"before the next round", ": keep the fix", 2, 3, 1, sha(2)},
	} {
		for what, change := range changes {
			t.Run(what+" "+c.when, func(t *testing.T) {
				s, steps := newStage(), &acting{remembering: newSteps()}
				s.base = "main"
				s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
				s.fixes = []review.FixWork{fixes(sha(2), "A")}
				s.diffs["1..2"] = edited(10)
				switch do := func() { change.do(s) }; c.behind {
				case "":
					do()
				case "ask":
					steps.ask = do
				default:
					steps.behind = map[string]func(){c.behind: do}
				}
				got := s.run(t, steps, func(r *Request) { r.BaseRef = "main" })
				if got.Outcome != review.Superseded || !strings.Contains(got.Reason, change.want) {
					t.Errorf("%s (%s), want superseded (…%s…)", got.Outcome, got.Reason, change.want)
				}
				if len(s.comments) != c.comments || len(s.tasks) != c.asked || len(s.orders) != c.orders || s.head != c.head {
					t.Errorf("%d comments, %d tasks for reviewers, %d for the fixer, head %s; want %d, %d, %d, %s", len(s.comments),
						len(s.tasks), len(s.orders), short(s.head), c.comments, c.asked, c.orders, short(c.head))
				}
				if asked := got.Round == 1 && len(s.tasks) > 0; asked != (len(got.Receipt.Agents) > 0) {
					t.Errorf("%d tasks for reviewers, and the receipt names %+v", len(s.tasks), got.Receipt.Agents)
				}
				if want := c.orders == 1 && c.head == sha(1); (s.kept["round-1/fix.patch"] != "") != want {
					t.Errorf("the fix is kept as a patch: %v, want %v", !want, want)
				}
			})
		}
	}
}

// acting lets something happen behind a step, by how its name ends, or before the reviewers are asked.
type acting struct {
	*remembering
	behind map[string]func()
	ask    func()
}

func (a *acting) Do(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	out, err := a.remembering.Do(ctx, name, fn)
	for ending, do := range a.behind {
		if strings.HasSuffix(name, ending) {
			do()
		}
	}
	return out, err
}

func (a *acting) All(ctx context.Context, steps []Step) ([][]byte, []error) {
	if a.ask != nil {
		a.ask()
	}
	return a.remembering.All(ctx, steps)
}

// TestOursIsNotOvertaken: killed behind the push, merged, then resumed. The push is found, and the run does not say that
// nothing was pushed.
func TestOursIsNotOvertaken(t *testing.T) {
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
	s.fixes = []review.FixWork{fixes(sha(2), "A")}
	s.diffs["1..2"] = edited(10)
	s.push = func(string) Pushed { s.head = sha(1); return Pushed{Done: true} } // it finds its commit there
	pushed := func() { s.head, s.state = sha(2), "MERGED" }
	got := s.run(t, &acting{remembering: newSteps(), behind: map[string]func(){": verify, try 1": pushed}}, nil)
	if got.Outcome != review.Superseded || len(got.Rounds) != 1 || got.Rounds[0].Fix.Head != sha(2) || got.Rounds[0].Fix.State != review.FixPushed {
		t.Errorf("%s (%s), rounds %+v; want the fix pushed", got.Outcome, got.Reason, got.Rounds)
	}
}
