package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

// scored are the findings of a run as "who priority score was original".
func scored(got review.RunResult) (out []string) {
	for _, f := range got.Findings {
		out = append(out, fmt.Sprintf("%s %s %d was %d", f.Source.Name, f.Priority, f.Score, f.OriginalScore))
	}
	slices.Sort(out)
	return out
}

// ofKinds asks one reviewer of each kind, which all say the same.
func ofKinds(s *stage, findings ...review.Finding) func(*Request) {
	s.says[sha(1)] = map[string][]review.Finding{}
	var plans []AgentPlan
	for _, kind := range []string{review.KindBuiltin, review.KindStatic, review.KindCommand, review.KindACP} {
		plans = append(plans, AgentPlan{Name: "by-" + kind, Role: review.RoleReviewer, Kind: kind})
		for i, f := range findings {
			f.ID = fmt.Sprint(i)
			s.says[sha(1)]["by-"+kind] = append(s.says[sha(1)]["by-"+kind], f)
		}
	}
	return func(r *Request) { r.Agents, r.Fix = plans, nil }
}

func secret(score int) review.Finding {
	f := at(review.PriorityOfScore(score), 3, "S", "the token is written to the log in clear text")
	f.Category, f.Score, f.Evidence = review.CategorySecurity, score, "line"
	return f
}

// Security findings of every kind of reviewer gain two where personal or financial data is handled (spec.md D3.1), and whoever
// reads them sees what the reviewer itself said.
func TestEveryKindIsRaised(t *testing.T) {
	for _, c := range []struct {
		what      string
		sensitive bool
		finding   func() review.Finding
		want      string
	}{
		{"a sensitive repository", true, func() review.Finding { return secret(7) }, "P0 9 was 7"},
		{"another one", false, func() review.Finding { return secret(7) }, "P1 7 was 0"},
		{"a reviewer that raised it before", true, func() review.Finding {
			f := secret(9)
			f.OriginalScore = 7
			return f
		}, "P0 9 was 7"},
	} {
		s, steps := newStage(), newSteps()
		change := ofKinds(s, c.finding())
		got := s.run(t, steps, func(r *Request) { change(r); r.Sensitive = c.sensitive })
		var want []string
		for _, kind := range []string{review.KindACP, review.KindBuiltin, review.KindCommand, review.KindStatic} {
			want = append(want, "by-"+kind+" "+c.want)
		}
		if d := cmp.Diff(want, scored(got)); d != "" {
			t.Errorf("%s: %s", c.what, d)
		}
		said := strings.Contains(s.comments[0].Body, "score raised from 7 to 9")
		if said != c.sensitive {
			t.Errorf("%s: the report says\n%s", c.what, s.comments[0].Body)
		}
		for _, a := range got.Receipt.Agents {
			noted := slices.ContainsFunc(a.Notes, func(n string) bool { return strings.Contains(n, "scores of security findings were raised") })
			if noted != c.sensitive {
				t.Errorf("%s: the receipt of %s notes %q", c.what, a.Name, a.Notes)
			}
		}
		// A stored answer is raised already: a run that goes on raises nothing again.
		if again := s.run(t, steps, func(r *Request) { change(r); r.Sensitive = c.sensitive }); !cmp.Equal(scored(again), scored(got)) {
			t.Errorf("%s: again it is %q", c.what, scored(again))
		}
	}
}

// Small findings of one kind add up, whoever found them; the others are counted and not listed.
func TestEveryKindAddsUp(t *testing.T) {
	small := func(line int, text string) review.Finding {
		f := at(review.P3, line, "", text)
		f.Category, f.Score, f.Evidence = review.CategoryStyle, 4, "line"
		return f
	}
	s := newStage()
	change := ofKinds(s, small(3, "a magic number stands where a name would say what it means"), small(60, "the comment repeats what the code says"))
	got := s.run(t, newSteps(), func(r *Request) { change(r); r.Elevation = 2 })
	var want []string
	for _, kind := range []string{review.KindACP, review.KindBuiltin, review.KindCommand, review.KindStatic} {
		want = append(want, "by-"+kind+" P2 6 was 4")
	}
	if d := cmp.Diff(want, scored(got)); d != "" {
		t.Error(d)
	}
	s = newStage()
	change = ofKinds(s, small(3, "a magic number stands where a name would say what it means"))
	if got = s.run(t, newSteps(), func(r *Request) { change(r); r.Elevation = 2 }); got.Issues.P3 != 4 || !strings.Contains(s.comments[0].Body, "1 finding is below the score threshold of 5: counted, not listed") {
		t.Errorf("%+v\n%s", got.Issues, s.comments[0].Body)
	}
}

// A finding of small ones that were joined has the evidence of one of them, so one whose evidence is false is not joined, and a verifier
// is not asked about what is made of several (threats.md T116).
func TestWhatIsJoinedStandsForItself(t *testing.T) {
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{}
	var all []review.Finding
	for i := range 3 {
		f := at(review.P2, 3+40*i, fmt.Sprint(i), fmt.Sprint("number ", i, " is wrong"))
		f.Category, f.Score, f.Evidence = review.CategoryBug, 4, "line"
		all = append(all, f)
	}
	all[0].Evidence = "this stands nowhere"
	s.says[sha(1)]["one"] = all
	got := s.run(t, newSteps(), func(r *Request) {
		r.Agents, r.Fix, r.Elevation = []AgentPlan{{Name: "one", Role: review.RoleReviewer, Kind: review.KindCommand}}, nil, 2
		r.Verify = &VerifyPlan{Agent: AgentPlan{Name: "verifier", Role: review.RoleVerifier, Kind: review.KindCommand}, Limits: review.Limits{Candidates: 30}}
	})
	if d := cmp.Diff([]string{"one P2 6 was 4"}, scored(got)); d != "" || got.Outcome != review.ChangesRequested || len(got.Unverified) != 1 {
		t.Errorf("%s, %d set aside: %s", got.Outcome, len(got.Unverified), d)
	}
	for _, a := range got.Receipt.Agents {
		if a.Role == review.RoleVerifier {
			t.Errorf("the verifier was asked: %+v", a)
		}
	}
}
