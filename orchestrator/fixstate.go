package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// mergeAttempt takes one try's work into the round's fix. What it costs adds up; what it came to is the last try's.
func mergeAttempt(fix *review.FixOutcome, work review.FixWork, payload review.FixPayload) {
	before, noticed := fix.Agent, []review.Notice(nil)
	if fix.Result != nil {
		noticed = fix.Result.Noticed
	}
	fix.Agent = work.Answer.Receipt
	fix.Agent.Seconds += before.Seconds
	fix.Agent.Attempts += before.Attempts
	fix.Agent.Usage = addUsage(before.Usage, fix.Agent.Usage)
	given := work.Answer.Fix
	if given != nil && len(noticed) > 0 { // the next try of a fixer does not know what the one before saw
		all := *given
		all.Noticed = slices.Concat(noticed, given.Noticed)
		given = &all
	}
	settled, notes := answer.SettleFix(payload, given)
	fix.Result = &settled
	fix.Commits, fix.Refusals, fix.Tests = work.Commits, work.Refusals, work.Tests
	if fix.Commits == nil {
		fix.Commits = []review.FixCommit{}
	}
	fix.Files, fix.Lines = work.Files, work.Lines
	fix.Notes = append(slices.Clone(work.Notes), notes...)
	fix.Checks = nil
}

func addUsage(a, b review.Usage) review.Usage {
	sum := review.Usage{
		LLMCalls: a.LLMCalls + b.LLMCalls, ToolCalls: a.ToolCalls + b.ToolCalls, LLMSeconds: a.LLMSeconds + b.LLMSeconds,
		Models: sortedSet(append(slices.Clone(a.Models), b.Models...)),
	}
	if a.LLMCalls == 0 {
		sum.InputTokens, sum.CachedTokens, sum.OutputTokens, sum.CostUSD = b.InputTokens, b.CachedTokens, b.OutputTokens, b.CostUSD
		return sum
	}
	sum.InputTokens, sum.CachedTokens = plus(a.InputTokens, b.InputTokens), plus(a.CachedTokens, b.CachedTokens)
	sum.OutputTokens, sum.CostUSD = plus(a.OutputTokens, b.OutputTokens), plus(a.CostUSD, b.CostUSD)
	return sum
}

// plus adds figures; unknown plus anything is unknown.
func plus[N int | float64](a, b *N) *N {
	if a == nil || b == nil {
		return nil
	}
	c := *a + *b
	return &c
}

// failing are the checks that keep a fix from being pushed.
func failing(checks []review.Check) []review.Check {
	return slices.DeleteFunc(slices.Clone(checks), review.Check.Good)
}

// unmendable reports whether no fixer could make these checks pass: the commands are not there.
func unmendable(bad []review.Check) bool {
	return !slices.ContainsFunc(bad, func(c review.Check) bool { return c.State != review.CheckMissing })
}

// commandsOf names checks that did not pass, and how.
func commandsOf(bad []review.Check) string {
	var out []string
	for _, c := range bad {
		switch c.State {
		case review.CheckMissing:
			out = append(out, fmt.Sprintf("`%s` (there is no such command)", c.Command))
		case review.CheckTimeout:
			out = append(out, fmt.Sprintf("`%s` (it did not end in time)", c.Command))
		default:
			out = append(out, fmt.Sprintf("`%s` (exit status %d)", c.Command, c.ExitCode))
		}
	}
	return strings.Join(out, ", ")
}

// rules names what refuses a fix, each rule once.
func rules(refusals []review.Refusal) string {
	var out []string
	for _, r := range refusals {
		s := r.Rule
		if r.Path != "" {
			s += " (" + sanitize.CodeSpan(r.Path) + ")"
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	const most = 5
	if n := len(out); n > most {
		out = append(out[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(out, ", ")
}

// redactWork takes secrets out of everything a fixer and the commands on its tree wrote.
func redactWork(w *review.FixWork, known *sanitize.Learned) {
	if f := w.Answer.Fix; f != nil {
		for _, text := range writtenFix(f) {
			*text = known.Redact(*text)
		}
		for i := range f.Noticed {
			f.Noticed[i].File = sanitize.MaskSpelled(f.Noticed[i].File)
		}
	}
	w.Answer.Log = known.Redact(w.Answer.Log)
	redactReceipt(&w.Answer.Receipt, known)
	for _, list := range [][]string{w.Notes, w.Tests} {
		for i := range list {
			list[i] = known.Redact(list[i])
		}
	}
	for i := range w.Refusals {
		r := &w.Refusals[i]
		r.Path, r.Detail = sanitize.MaskSpelled(r.Path), known.Redact(r.Detail)
	}
	for i := range w.Commits {
		w.Commits[i].Message = known.Redact(w.Commits[i].Message)
	}
}

// writtenFix are the texts of an answer that the fixer wrote.
func writtenFix(r *review.FixResult) []*string {
	var out []*string
	for i := range r.FixedIssues {
		f := &r.FixedIssues[i]
		out = append(out, &f.FindingID, &f.Description, &f.Tests, &f.Risk)
	}
	for i := range r.RejectedIssues {
		out = append(out, &r.RejectedIssues[i].FindingID, &r.RejectedIssues[i].Reason)
	}
	for i := range r.Noticed {
		out = append(out, &r.Noticed[i].Text)
	}
	for i := range r.Commits {
		out = append(out, &r.Commits[i].Message)
	}
	return out
}
