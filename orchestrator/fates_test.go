package orchestrator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// rejects is a work that rejects an id beside what it fixes.
func rejects(w review.FixWork, id string) review.FixWork {
	w.Answer.Fix.RejectedIssues = []review.RejectedIssue{{FindingID: id, Reason: "It is meant so."}}
	return w
}

// What became of findings: each has one fate, and its rounds, in the order in which they were raised.
func TestFates(t *testing.T) {
	a, b := at(review.P1, 10, "A", leak), at(review.P2, 100, "B", nilMap)
	one := func(f ...review.Finding) map[string][]review.Finding {
		return map[string][]review.Finding{"alpha": f, "beta": nil}
	}
	for _, c := range []struct {
		what   string
		set    func(*stage)
		change func(*Request)
		want   string
	}{
		{"fixed and not seen again", func(s *stage) {
			s.says[sha(1)] = one(a)
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
		}, nil, "P1 fixed 1-1"},
		{"fixed by its own word and rejected, both gone", func(s *stage) {
			s.says[sha(1)] = one(a, b)
			s.fixes, s.diffs["1..2"] = []review.FixWork{rejects(fixes(sha(2), "A"), "B")}, edited(10)
		}, nil, "P1 fixed 1-1, P2 rejected 1-1"},
		{"rejected and raised again", func(s *stage) {
			s.says[sha(1)], s.says[sha(2)] = one(a, b), one(b)
			s.fixes, s.diffs["1..2"] = []review.FixWork{rejects(fixes(sha(2), "A"), "B")}, edited(10)
		}, func(r *Request) { r.Rounds = 2 }, "P1 fixed 1-1, P2 disputed 1-2"},
		{"came back in other words", func(s *stage) {
			s.says[sha(1)], s.says[sha(2)] = one(a), one(at(review.P1, 12, "X9", leak2))
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
		}, nil, "P1 stuck 1-2"},
		{"nobody fixes", func(s *stage) { s.says[sha(1)] = one(a) }, func(r *Request) { r.Fix = nil }, "P1 open 1-1"},
		{"a fix that is handed over was not reviewed", func(s *stage) {
			s.says[sha(1)] = one(a)
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
		}, func(r *Request) { r.Fix.PatchOnly = "a fork" }, "P1 claimed 1-1"},
		{"a fixer that claims and changes nothing fixed nothing", func(s *stage) {
			s.says[sha(1)], s.fixes = one(a), []review.FixWork{fixes("", "A")}
		}, nil, "P1 open 1-1"},
		{"a fix that is refused says nothing", func(s *stage) {
			s.says[sha(1)] = one(a)
			bad := fixes("", "A")
			bad.Refusals = []review.Refusal{{Rule: "protected-path", Path: "x"}}
			s.fixes = []review.FixWork{bad, bad, bad}
		}, nil, "P1 open 1-1"},
		{"gone without anybody's word: a suggestion", func(s *stage) {
			s.says[sha(1)] = one(a, at(review.P3, 100, "B", nilMap))
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
		}, nil, "P1 fixed 1-1, P3 gone 1-1"},
		{"one that its reviewer did not look at again is claimed", func(s *stage) {
			s.says[sha(1)] = map[string][]review.Finding{"alpha": {a}, "beta": {a}}
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
			s.silent = map[string]string{"beta": sha(2)}
		}, func(r *Request) { r.MinReviewers = 1 }, "P1 claimed 1-1"},
		{"nothing was found", func(s *stage) { s.says[sha(1)] = one() }, nil, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := newStage()
			c.set(s)
			got := s.run(t, newSteps(), c.change)
			var list []string
			for _, f := range got.Fates {
				list = append(list, fmt.Sprintf("%s %s %d-%d", f.Priority, f.Fate, f.First, f.Last))
				if f.Priority != review.P3 && !f.Counted || len(f.By) == 0 || f.By[0].Name != "alpha" {
					t.Errorf("%+v", f)
				}
			}
			if line := strings.Join(list, ", "); line != c.want {
				t.Errorf("%s, want %s (the run ended as %s: %s)", line, c.want, got.Outcome, got.Reason)
			}
		})
	}
}

// What a verifier refutes is refuted in the end, however often it is raised, and one finding; what it gives a chance carries that.
func TestRefutedFate(t *testing.T) {
	in := round()
	in.Reports[0] = says("alpha", found(review.P2, "Divides by zero when empty"), found(review.P1, "Leaks the handle of every file"))
	in.Reports[1] = says("beta", found(review.P2, "Divides by zero when empty"))
	in = verified(in, chance("F1", 0.7), review.Assessment{FindingID: "F2", Status: review.Refuted, Reason: "No.", Fact: proof()})
	in.Verifier.Answer.Receipt.Usage.Models = []string{"doubter"}
	first := Judge(in)
	second := in
	second.Round, second.Earlier, second.Past = 2, first.Tracked, first.Result.Rounds
	again := Judge(second)
	got := fates(append(first.seen, again.seen...), again.Tracked, again.Result.Rounds)
	if len(got) != 2 || got[0].Fate != review.FateOpen || got[1].Fate != review.FateRefuted || got[1].Last != 2 || len(got[1].By) != 2 {
		t.Fatalf("%+v", got)
	}
	if f := got[0]; f.Probability == nil || *f.Probability != 0.7 || f.VerifiedBy != "doubter" || !f.Prominent {
		t.Errorf("%+v", f)
	}
	if got[1].Counted || got[1].Prominent {
		t.Errorf("what was refuted counts: %+v", got[1])
	}
	in.Earlier, in.Round = nil, 1 // counted first, refuted later
	in.Verifier = nil
	first = Judge(in)
	second.Earlier, second.Past = first.Tracked, first.Result.Rounds
	again = Judge(second)
	if got := fates(append(first.seen, again.seen...), again.Tracked, again.Result.Rounds); len(got) != 2 || got[1].Fate != review.FateRefuted || !got[1].Counted {
		t.Errorf("%+v", got)
	}
}
