package orchestrator

import (
	"testing"

	"github.com/prloop/prloop/review"
)

// Each reviewer settles what it raised itself: that another one raised the like, and then no more, does not.
func TestEveryVoiceSettlesItsOwn(t *testing.T) {
	in := round()
	said := func(by, title, text string, line int) review.Finding {
		return review.Finding{
			ID: by + "-1", Priority: review.P0, Category: "security", File: in.Snapshot.Brief.Files[0].Path, Line: &line, Title: title, Description: text,
			Source: review.Source{Type: "agent", Name: by},
		}
	}
	first := said("a", "The password check can be skipped by an empty user", "An empty user passes the password check in login.", 3)
	like := said("b", "The password check logs the user", "The password check in login logs user and password.", 9)
	in.Request.Agents, in.Request.MinReviewers = nil, 2
	for _, name := range []string{"a", "b", "c"} {
		in.Request.Agents = append(in.Request.Agents, AgentPlan{Name: name, Role: review.RoleReviewer, Kind: review.KindCommand})
	}
	for name, c := range map[string]struct {
		second, third []AgentReport
		want          review.Outcome
	}{
		"another one raises the like, then is silent":       {[]AgentReport{failed("a"), answered("b", like), answered("c")}, []AgentReport{failed("a"), answered("b"), answered("c")}, review.Partial},
		"and it looks again itself":                         {[]AgentReport{failed("a"), answered("b", like), answered("c")}, []AgentReport{answered("a"), answered("b"), answered("c")}, review.Converged},
		"it looked while the other raised, the other later": {[]AgentReport{answered("a"), answered("b", like), answered("c")}, []AgentReport{failed("a"), answered("b"), answered("c")}, review.Converged},
	} {
		t.Run(name, func(t *testing.T) {
			now := in
			var j Judgement
			for i, reports := range [][]AgentReport{{answered("a", first), answered("b"), answered("c")}, c.second, c.third} {
				now.Round, now.Reports, now.Earlier, now.Past = i+1, reports, j.Tracked, j.Result.Rounds
				j = Judge(now)
			}
			if j.Result.Outcome != c.want {
				t.Errorf("%s (%s), want %s", j.Result.Outcome, j.Result.Reason, c.want)
			}
		})
	}
}

// What another one raises without the support it needs settles nothing either, although it is the like (threats.md T112).
func TestALikeFindingThatDoesNotCountSettlesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		again AgentReport
		want  review.Outcome
	}{
		"it looks again":      {answered("alpha"), review.Converged},
		"it fails":            {failed("alpha"), review.Partial},
		"it raises it itself": {quoted(says("alpha", found(review.P0, "Divides by zero when empty"))), review.ChangesRequested},
	} {
		in := round()
		in.Request.Agents = append(in.Request.Agents, AgentPlan{Name: "gamma", Role: review.RoleReviewer, Kind: review.KindCommand})
		in.Request.MinSupport, in.Request.MinReviewers = 2, 2
		in.Reports = append(in.Reports, answered("gamma"))
		in.Reports[0] = quoted(says("alpha", found(review.P0, "Divides by zero when empty")))
		first := Judge(in)
		if first.Result.Outcome != review.ChangesRequested {
			t.Fatalf("%s: %s", name, first.Result.Outcome)
		}
		in.Round, in.Earlier, in.Past = 2, first.Tracked, first.Result.Rounds
		in.Reports[0], in.Reports[1] = c.again, says("beta", found(review.P1, "Divides by zero when empty"))
		if r := Judge(in).Result; r.Outcome != c.want {
			t.Errorf("%s: %s (%s), want %s", name, r.Outcome, r.Reason, c.want)
		}
	}
}
