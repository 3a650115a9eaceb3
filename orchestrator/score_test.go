package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/identity"
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
	one := func(line int, text string) review.Finding {
		f := at(review.P3, line, "", text)
		f.Category, f.Score, f.Evidence = review.CategoryStyle, 4, "line"
		return f
	}
	s := newStage()
	change := ofKinds(s, one(3, "a magic number stands where a name would say what it means"), one(60, "the comment repeats what the code says"))
	got := s.run(t, newSteps(), func(r *Request) { change(r); r.Elevation = 2 })
	var want []string
	for _, kind := range []string{review.KindACP, review.KindBuiltin, review.KindCommand, review.KindStatic} {
		want = append(want, "by-"+kind+" P2 6 was 4")
	}
	if d := cmp.Diff(want, scored(got)); d != "" {
		t.Error(d)
	}
	s = newStage()
	change = ofKinds(s, one(3, "a magic number stands where a name would say what it means"))
	if got = s.run(t, newSteps(), func(r *Request) { change(r); r.Elevation = 2 }); got.Issues.P3 != 4 || !strings.Contains(s.comments[0].Body, "1 finding is below the score threshold of 5: counted, not listed") {
		t.Errorf("%+v\n%s", got.Issues, s.comments[0].Body)
	}
}

// small are small findings of one kind in lines 3, 43, ...
func small(n int) (all []review.Finding) {
	for i := range n {
		f := at(review.P2, 3+40*i, fmt.Sprint("L", i), problems[i])
		f.Category, f.Score, f.Evidence, f.Source = review.CategoryStyle, 4, fmt.Sprintf("func number%d() int {", i), review.Source{Type: "agent", Name: "r1"}
		all = append(all, f)
	}
	return all
}

// What is joined is dismissed one by one, and what is left is joined (threats.md T857).
func TestEachOfWhatIsJoinedIsDismissed(t *testing.T) {
	all := small(3)
	in := round()
	in.Request.Elevation, in.Reports = 2, []AgentReport{answered("r1", all...)}
	line := func(f review.Finding) dismissals.Dismissal {
		return dismissals.Dismissal{File: dismissals.Name, Mark: &identity.Mark{ID: identity.ID([]review.Finding{f}), Category: f.Category, File: f.File, Title: f.Title}}
	}
	comment := dismissals.Dismissal{File: "a.go", Code: &dismissals.Code{File: all[0].File, Line: 3, Text: "func number0() int {"}}
	joined := gather(in).findings[0]
	for _, c := range []struct {
		what string
		list []dismissals.Dismissal
		want []string
	}{
		{"none", nil, []string{"3 small findings of one kind (style) add up"}},
		{"one by a line", []dismissals.Dismissal{line(all[0])}, []string{"2 small findings of one kind (style) add up"}},
		{"one by a comment", []dismissals.Dismissal{comment}, []string{"2 small findings of one kind (style) add up"}},
		{"all but one", []dismissals.Dismissal{line(all[0]), line(all[1])}, []string{problems[2]}},
		{"each", []dismissals.Dismissal{comment, line(all[1]), line(all[2])}, nil},
		{"the joined one", []dismissals.Dismissal{line(joined)}, []string{"3 small findings of one kind (style) add up"}},
	} {
		in.Snapshot.Dismissals = &Dismissals{Today: "2026-11-22", List: c.list}
		g := gather(in)
		var titles []string
		for _, f := range g.findings {
			titles = append(titles, f.Title)
		}
		if d := cmp.Diff(c.want, titles); d != "" || len(g.dismissed) != min(len(c.list), 3) && c.what != "the joined one" {
			t.Errorf("%s: %d dismissed: %s", c.what, len(g.dismissed), d)
		}
	}
}

// What stands for several is the same one in the next round, or another reviewer's, only where it stands for the same (threats.md T857).
func TestWhatStandsForSeveralIsKnownByAll(t *testing.T) {
	joined := func(all ...review.Finding) review.Finding {
		in := round()
		in.Request.Elevation, in.Reports = 2, []AgentReport{answered("r1", all...)}
		return gather(in).findings[0]
	}
	all := small(4)
	was := []review.Finding{joined(all[0], all[1])}
	for what, c := range map[string]struct {
		now  review.Finding
		same bool
	}{
		"the same, in another order": {joined(all[1], all[0]), true},
		"another of them":            {joined(all[0], all[2]), false},
		"one more":                   {joined(all[0], all[1], all[2]), false},
		"one of them":                {all[0], false},
	} {
		if got := len(identity.Match(was, []review.Finding{c.now}, nil)) == 1; got != c.same {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// One whose evidence is false is not joined, and a verifier is not asked about what is made of several (threats.md T116).
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
