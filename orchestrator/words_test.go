package orchestrator

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/review"
)

// What a report says of a round, in its own words.
func TestWordsOfAReport(t *testing.T) {
	suggests := found(review.P1, leak)
	suggests.Suggestion = "Close the body when the call returns."
	unread := answer.Doubt(nil, "it claims 1 P0 and lists 0")[0]
	for name, c := range map[string]struct {
		reports    []AgentReport
		has, hasNo []string
	}{
		"a P0 set aside beside changes requested is named at the top and in what to do": {
			[]AgentReport{answered("alpha", found(review.P2, leak)), answered("beta", unread)},
			[]string{
				"**For a person:** 1 finding set aside and not counted, see Unverified: P0 A finding that could not be read.",
				"- Look at the findings that were set aside (below, under Unverified), and decide whether they are real.",
				"- Fix what is P0, P1 or P2 (1 finding); P3 is optional.",
			},
			[]string{"evidence is not in the file"},
		},
		"a P2 set aside needs nobody": {
			[]AgentReport{answered("alpha"), {Answer: answered("beta", found(review.P2, leak)).Answer, Evidence: []Evidence{{Status: EvidenceFalse, Reason: "quotes code that is not there"}}}},
			[]string{"Reason: quotes code that is not there"}, []string{"For a person", "Look at the findings"},
		},
		"findings that are one keep the suggestion of either": {
			[]AgentReport{answered("alpha", found(review.P1, leak)), answered("beta", suggests)},
			[]string{"> Close the body when the call returns.", "2 findings are P1", "by `alpha`, `beta`"}, nil,
		},
		"what one of two finished reviewing was given to both": {
			[]AgentReport{answered("alpha"), failed("beta")},
			[]string{
				"`a.go` (given to 2 reviewers, of which 1 gave no complete answer; 2 needed)",
				"Given to reviewers: 1 of 1 file and 1 of 1 hunk", "; 0 files read whole by enough reviewers, of 1 complete reviewer (2 needed).",
			},
			[]string{"\nReviewed: "},
		},
		"what both reviewed": {[]AgentReport{answered("alpha"), answered("beta")}, []string{"\nReviewed: 1 of 1 file and 1 of 1 hunk"}, []string{"Given to reviewers: ", "For a person"}},
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
