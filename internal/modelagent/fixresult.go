package modelagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// fixed is what a model submits.
type fixed struct {
	Fixed    []fixedOne      `json:"fixed"`
	Rejected []rejectedOne   `json:"rejected"`
	Noticed  []review.Notice `json:"noticed,omitempty"`
}

type fixedOne struct {
	FindingID   string `json:"findingId"`
	Description string `json:"description"`
	Tests       string `json:"tests,omitempty"`
	Risk        string `json:"risk,omitempty"`
}

type rejectedOne struct {
	FindingID string `json:"findingId"`
	Reason    string `json:"reason"`
}

var fixParameters = json.RawMessage(`{"type":"object","properties":{` +
	`"fixed":{"type":"array","items":{"type":"object","properties":{"findingId":{"type":"string"},"description":{"type":"string","description":"what was changed, in one or two sentences"},` +
	`"tests":{"type":"string","description":"which tests cover it, or why none was added"},"risk":{"type":"string","description":"what may still go wrong; empty for nothing"}},` +
	`"required":["findingId","description"],"additionalProperties":false}},` +
	`"rejected":{"type":"array","items":{"type":"object","properties":{"findingId":{"type":"string"},"reason":{"type":"string","description":"what is wrong with the finding"}},` +
	`"required":["findingId","reason"],"additionalProperties":false}},` +
	`"noticed":{"type":"array","maxItems":10,"items":{"type":"object","properties":{"file":{"type":"string"},"line":{"type":"integer","minimum":1},"text":{"type":"string"}},` +
	`"required":["text"],"additionalProperties":false},"description":"what you saw that no finding names, and did not change"}},"required":["fixed","rejected"],"additionalProperties":false}`)

// check holds the lists to the invariant of spec.md A5; the error is for the model to fix them.
func (g fixed) check(p review.FixPayload) error {
	asked, optional := map[string]int{}, map[string]bool{}
	for _, f := range p.OptionalIssues {
		optional[f.ID] = true
	}
	for _, f := range p.IssuesToFix {
		asked[f.ID] = 0
	}
	var faults []string
	named := func(id string) {
		_, ok := asked[id]
		switch {
		case ok:
			asked[id]++
		case !optional[id]:
			faults = append(faults, fmt.Sprintf("%.80q was not asked for", id))
		}
	}
	for _, f := range g.Fixed {
		named(f.FindingID)
	}
	for _, f := range g.Rejected {
		named(f.FindingID)
		if strings.TrimSpace(f.Reason) == "" {
			faults = append(faults, fmt.Sprintf("%.80q is rejected without a reason", f.FindingID))
		}
	}
	var silent, twice []string
	for _, f := range p.IssuesToFix {
		n := asked[f.ID]
		if n == 0 && !slices.Contains(silent, f.ID) {
			silent = append(silent, f.ID)
		}
		if n > 1 && !slices.Contains(twice, f.ID) {
			twice = append(twice, f.ID)
		}
	}
	if len(silent) > 0 {
		faults = append(faults, "neither fixed nor rejected: "+clip(strings.Join(silent, ", ")))
	}
	if len(twice) > 0 {
		faults = append(faults, "named more than once: "+clip(strings.Join(twice, ", ")))
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults[:min(len(faults), 5)], "; "))
	}
	return nil
}

// result is a submission in the shape of spec.md A5, without its counts. A builtin fixer makes no commits.
func (g fixed) result(task review.Task) review.FixResult {
	r := review.FixResult{Agent: task.Agent, PRNumber: task.PRNumber, Commits: []review.FixCommit{}, Noticed: g.Noticed}
	for _, f := range g.Fixed {
		r.FixedIssues = append(r.FixedIssues, review.FixedIssue{FindingID: f.FindingID, Description: f.Description, Tests: f.Tests, Risk: f.Risk})
	}
	for _, f := range g.Rejected {
		r.RejectedIssues = append(r.RejectedIssues, review.RejectedIssue{FindingID: f.FindingID, Reason: f.Reason})
	}
	r.Summary.Deferred = len(task.Fix.OptionalIssues) // settling takes off what was fixed in passing
	return r
}

// fromResult reads an answer in the shape of spec.md A5 as a submission.
func fromResult(r review.FixResult) fixed {
	g := fixed{Noticed: r.Noticed}
	for _, f := range r.FixedIssues {
		g.Fixed = append(g.Fixed, fixedOne{f.FindingID, f.Description, f.Tests, f.Risk})
	}
	for _, f := range r.RejectedIssues {
		g.Rejected = append(g.Rejected, rejectedOne{f.FindingID, f.Reason})
	}
	return g
}

// readable makes hidden characters visible in what a fixer's task alone holds (threats.md T40): findings are words of models
// that read untrusted text, and logs are written by code of the pull request.
func readable(t review.Task) review.Task {
	show := func(s string) string { out, _ := sanitize.Visible(s); return out }
	findings := func(list []review.Finding) []review.Finding {
		list = slices.Clone(list)
		for i := range list {
			f := &list[i]
			f.Title, f.Description, f.Suggestion, f.Evidence = show(f.Title), show(f.Description), show(f.Suggestion), show(f.Evidence)
		}
		return list
	}
	fix := *t.Fix
	fix.IssuesToFix, fix.OptionalIssues = findings(fix.IssuesToFix), findings(fix.OptionalIssues)
	t.Fix = &fix
	t.Claims = slices.Clone(t.Claims)
	for i := range t.Claims {
		t.Claims[i].Text = show(t.Claims[i].Text)
	}
	if s := t.Setback; s != nil {
		s := *s
		s.Checks, s.Refusals = slices.Clone(s.Checks), slices.Clone(s.Refusals)
		for i := range s.Checks {
			s.Checks[i].Log = show(s.Checks[i].Log)
		}
		for i := range s.Refusals {
			s.Refusals[i].Path, s.Refusals[i].Detail = show(s.Refusals[i].Path), show(s.Refusals[i].Detail)
		}
		t.Setback = &s
	}
	return t
}
