package orchestrator

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/review"
)

// What a report says of a round, in its own words.
func TestWordsOfAReport(t *testing.T) {
	suggests := found(review.P1, leak)
	suggests.Suggestion = "Close the body when the call returns."
	quiet := found(review.P2, leak)
	quiet.Score = 3
	unread := answer.Doubt(nil, "it claims 1 P0 and lists 0")[0]
	for name, c := range map[string]struct {
		reports    []AgentReport
		has, hasNo []string
	}{
		"a P0 set aside beside changes requested is named at the top and in what to do": {
			[]AgentReport{answered("alpha", found(review.P2, leak)), answered("beta", unread)},
			[]string{
				"**For a person to decide:** 1 finding set aside and not counted.\n\n- **P0** no file A finding that could not be read",
				"- Look at what was set aside, and decide whether it is real.",
				"- Fix this finding and push.",
			},
			[]string{"evidence is not in the file"},
		},
		"what could not be read is told of where a P1 of the same reviewer counts (threats.md T899)": {
			[]AgentReport{answered("alpha", found(review.P1, leak), unread), answered("beta")}, []string{"1 finding is P1 (critical)", "**For a person to decide:** 1 finding set aside"}, nil,
		},
		"a P2 set aside needs nobody": {
			[]AgentReport{answered("alpha"), {Answer: answered("beta", found(review.P2, leak)).Answer, Evidence: []evidence.Result{{Status: evidence.False, Reason: "quotes code that is not there"}}}},
			[]string{"**Reason:** quotes code that is not there"}, []string{"For a person", "Look at"},
		},
		"findings that are one keep the suggestion of either": {
			[]AgentReport{answered("alpha", found(review.P1, leak)), answered("beta", suggests)},
			[]string{"**Fix:** Close the body when the call returns.", "1 finding is P1 (critical): rule 2 decides.", "- Rule 2 decides: 2 findings are P1 (critical).", "found by `alpha`, `beta`"}, []string{"\n2 findings"},
		},
		"what the verdict rests on is listed, whatever its score": {
			[]AgentReport{answered("alpha", quiet), answered("beta")}, []string{"## prloop: changes requested · 1 to fix\n", "| **P2** | " + leak + " | ["}, []string{"counted, not listed"},
		},
		"what one of two finished reviewing was given to both": {
			[]AgentReport{answered("alpha"), failed("beta")},
			[]string{
				"`a.go` (given to 2 reviewers, of which 1 gave no complete answer; 2 needed)",
				"Given to reviewers: 1 of 1 file and 1 of 1 hunk", "; 0 files read whole by enough reviewers, by 1 reviewer of the 2 needed.",
			},
			[]string{" Reviewed: "},
		},
		"what both reviewed": {[]AgentReport{answered("alpha"), answered("beta")}, []string{" Reviewed: the one changed file at "}, []string{"Given to reviewers: ", "For a person"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := round()
			in.Request.MinReviewers = 2
			for _, h := range c.reports {
				if h.Answer.Reviewer != nil {
					for i := range h.Answer.Reviewer.Findings {
						h.Answer.Reviewer.Findings[i].Source = review.Source{Type: "agent", Name: h.Answer.Receipt.Name}
					}
				}
			}
			in.Reports = append(c.reports, in.Reports[2])
			text := Judge(in).Report
			for _, s := range c.has {
				if !strings.Contains(text, s) {
					t.Errorf("without %q:\n%s", s, text)
				}
			}
			for _, s := range c.hasNo {
				if strings.Contains(text, s) {
					t.Errorf("with %q:\n%s", s, text)
				}
			}
		})
	}
}
