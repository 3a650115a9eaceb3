package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/review"
)

const unknown = "unknown"

// receipt is the proof of review that closes every report.
func (p *page) receipt(r review.Receipt) {
	p.add(secReceipt, openDetails+"\n<summary>What was given to whom, who answered, what it cost</summary>")
	facts := []string{
		fmt.Sprintf("Given: %d of %d files, %d of %d hunks", r.FilesGiven, r.Files, r.HunksGiven, r.Hunks),
		fmt.Sprintf("Read whole by enough reviewers: %s", count(r.FilesReviewed, "file")),
		fmt.Sprintf("Reviewers: %d complete, %d needed", r.Complete, r.MinReviewers),
		"Head: " + span(r.HeadSHA),
		"Merge base: " + span(r.MergeBaseSHA),
		"Base: " + span(r.BaseSHA),
		"Review id: " + span(r.ReviewID),
		"Prompts: " + span(r.PromptVersion),
		"Context: " + span(r.Status),
	}
	if r.Isolation != "" {
		facts = append(facts, "Isolation: "+r.Isolation)
	}
	if r.Config != "" {
		facts = append(facts, "Configuration: "+r.Config)
	}
	if r.Calibration != "" {
		facts = append(facts, "Calibration: "+r.Calibration)
	}
	if r.Masked > 0 {
		values := "values that look like secrets"
		if r.Masked == 1 {
			values = "value that looks like a secret"
		}
		facts = append(facts, fmt.Sprintf("Masked: %d %s, before agents read the change", r.Masked, values))
	}
	p.add(bullets(facts))
	p.agents(r.Agents)
	if len(r.LeftOut) > 0 {
		lines := []string{header("Left out", "Why", "May go unread")}
		for _, l := range r.LeftOut {
			path := "..."
			if l.Path != "" {
				path = span(l.Path)
			}
			lines = append(lines, row(path, l.Reason, yesNo(l.Excused)))
		}
		p.add(strings.Join(lines, "\n"))
	}
	if len(r.Warnings) > 0 {
		p.add("Warnings:", bullets(r.Warnings))
	}
	p.add(closeDetails)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (p *page) agents(agents []review.AgentReceipt) {
	if len(agents) == 0 {
		return
	}
	lines := []string{header("No.>", "Agent", "Role", "Kind", "Model", "State", "Given", "Findings>", "Attempts>", "Time>", "Calls", "Tokens", "Cost>")}
	var remarks []string
	for i, a := range agents {
		lines = append(lines, row(append([]string{strconv.Itoa(i + 1)}, agentCells(a)...)...))
		if a.Reason != "" {
			remarks = append(remarks, fmt.Sprintf("No. %d is not complete: %s", i+1, a.Reason))
		}
		for _, n := range a.Notes {
			remarks = append(remarks, fmt.Sprintf("No. %d, note: %s", i+1, n))
		}
	}
	p.add(strings.Join(lines, "\n"))
	if remarks != nil {
		p.add(bullets(remarks))
	}
}

func agentCells(a review.AgentReceipt) []string {
	u := a.Usage
	return []string{
		span(a.Name), span(string(a.Role)), span(a.Kind), span(a.Model), span(string(a.State)),
		fmt.Sprintf("%d files, %d hunks", a.FilesGiven, a.HunksGiven),
		strconv.Itoa(a.Findings), strconv.Itoa(a.Attempts), strconv.FormatFloat(a.Seconds, 'f', 1, 64) + " s",
		fmt.Sprintf("%d model, %d tool", u.LLMCalls, u.ToolCalls),
		tokens(u),
		dollars(u.CostUSD),
	}
}

func tokens(u review.Usage) string {
	if u.InputTokens == nil && u.CachedTokens == nil && u.OutputTokens == nil {
		return unknown
	}
	return fmt.Sprintf("%s in, %s cached%s, %s out", number(u.InputTokens), number(u.CachedTokens), share(u.CachedTokens, u.InputTokens), number(u.OutputTokens))
}

// share is a part of a whole in percent, rounded down; empty when one of them is not known.
func share(part, whole *int) string {
	if part == nil || whole == nil || *whole <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d %%)", 100**part / *whole)
}

// number keeps unknown apart from zero.
func number(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(*n)
}

func dollars(usd *float64) string {
	if usd == nil {
		return unknown
	}
	return strconv.FormatFloat(*usd, 'f', 4, 64) + " USD"
}
