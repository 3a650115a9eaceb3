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
