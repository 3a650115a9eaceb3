package report

import (
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// maxLog bounds, in bytes, what a report shows of one check's log: the end, where the error stands.
const maxLog = 4_000

// CanonicalFix is d as a fix report shows it; see Canonical.
func CanonicalFix(d FixData) FixData {
	c := FixData{
		Target: target(d.Target), Round: max(d.Round, 0), Rounds: max(d.Rounds, 0), Outcome: review.Outcome(word(string(d.Outcome))),
		State: d.State, Base: oid(d.Base), Head: oid(d.Head), NewerHead: oid(d.NewerHead),
		Deferred: max(d.Deferred, 0), Files: max(d.Files, 0), Lines: max(d.Lines, 0), Tries: max(d.Tries, 0),
		Tests: texts(d.Tests), Remarks: sentences(d.Remarks), Notes: texts(d.Notes), Agent: agent(d.Agent),
	}
	if c.Outcome != "" {
		c.Reason = inline(d.Reason)
	}
	if !slices.Contains(fixStates, c.State) {
		c.State = FixFailed
	}
	c.GitHubToken = d.GitHubToken && c.State == FixPushed
	for _, f := range d.Fixed {
		c.Fixed = append(c.Fixed, FixedItem{Item: item(f.Item), Commit: c.pushed(f.Commit), Text: inline(f.Text),
			Tests: inline(f.Tests), Risk: inline(f.Risk)})
	}
	for _, n := range d.Noticed {
		if n.Text = inline(n.Text); n.Text == "" {
			continue
		}
		if n.File = pathWord(n.File); n.File == "" || n.Line < 0 {
			n.Line = 0
		}
		c.Noticed = append(c.Noticed, n)
	}
	c.Rejected, c.Missing = rejected(d.Rejected), rejected(d.Missing)
	for _, k := range d.Commits {
		subject, _, _ := strings.Cut(strings.TrimSpace(k.Message), "\n")
		if subject = itemTitle(subject); subject == "(no title)" {
			subject = "(no message)"
		}
		c.Commits = append(c.Commits, review.FixCommit{SHA: c.pushed(k.SHA), Message: subject})
	}
	c.Checks, c.PushedChecks = checks(d.Checks), checks(d.PushedChecks)
	for _, r := range d.Refusals {
		c.Refusals = append(c.Refusals, review.Refusal{Rule: word(r.Rule), Path: pathWord(r.Path), Detail: inline(r.Detail)})
	}
	if c.State == FixPatch {
		var left int
		c.Patch, left = edits(d.Patch)
		c.PatchLeft = max(d.PatchLeft, 0) + left
	}
	if c.State != FixPushed {
		c.PatchFile = fileName(d.PatchFile)
	}
	return c
}

var fixStates = []FixState{FixPushed, FixPatch, FixRefused, FixVerifyFailed, FixUnchanged, FixSuperseded, FixFailed}

// item is a finding as a list shows it.
func item(i Item) Item {
	i.Title = itemTitle(i.Title)
	if !i.Priority.Valid() {
		i.Priority = ""
	}
	if i.File = pathWord(i.File); i.File == "" || i.Line < 0 {
		i.Line = 0
	}
	return i
}

// pushed keeps the id of a commit that people can find: one that was not pushed is a name for nothing.
func (d FixData) pushed(sha string) string {
	if d.State != FixPushed {
		return ""
	}
	return oid(sha)
}

// itemTitle is one line that holds no separator of facts.
func itemTitle(s string) string {
	if s = strings.ReplaceAll(inline(s), "·", "-"); s == "" {
		return "(no title)"
	}
	return s
}

func rejected(list []RejectedItem) []RejectedItem {
	var out []RejectedItem
	for _, r := range list {
		out = append(out, RejectedItem{Item: item(r.Item), Reason: inline(r.Reason)})
	}
	return out
}

var checkStates = []review.CheckState{review.CheckPassed, review.CheckFailed, review.CheckMissing, review.CheckTimeout, review.CheckSkipped}

// checks keep the logs of those that did not pass.
func checks(list []review.Check) []review.Check {
	var out []review.Check
	for _, c := range list {
		c.Command, c.Seconds = command(c.Command), rounded(c.Seconds, 1)
		if !slices.Contains(checkStates, c.State) {
			c.State = review.CheckFailed // what is not known is no pass
		}
		if c.Log = logEnd(c.Log); c.Good() {
			c.Log = ""
		}
		out = append(out, c)
	}
	return out
}

// command is one line fit for a code span in a table, pipes included.
func command(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(fold(s), "`", "'"))
}

// logEnd is the last whole lines of a log that fit into maxLog.
func logEnd(s string) string {
	s = code(s)
	if len(s) <= maxLog {
		return s
	}
	s = s[len(s)-maxLog:]
	if _, rest, ok := strings.Cut(s, "\n"); ok {
		s = rest
	}
	return code(s)
}

// codeLines is code that keeps its blank lines, each line with its line end.
func codeLines(s string) string {
	if s == "" {
		return ""
	}
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "?"))
	var out strings.Builder
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		out.WriteString(strings.TrimRightFunc(strings.Map(visible, l), unicode.IsSpace) + "\n")
	}
	return out.String()
}

func visible(r rune) rune {
	if unicode.IsControl(r) && r != '\t' {
		return -1
	}
	return r
}

var plainName = lazyregexp.New(`^[0-9A-Za-z_][0-9A-Za-z._/-]{0,199}$`)

// fileName keeps a name that a shell takes as it is.
func fileName(s string) string {
	if !plainName.MatchString(s) {
		return ""
	}
	return s
}
