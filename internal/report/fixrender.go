package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/review"
)

// Headings of the sections of a fix report.
const (
	fixTitle    = "# Fix: "
	secFixed    = "## Fixed"
	secRejected = "## Rejected by the fixer"
	secMissing  = "## Not fixed"
	secNoticed  = "## Noticed, not changed"
	secRefused  = "## Refused by the push policy"
	secTests    = "## Tests deleted, skipped or weakened"
	secChecks   = "## Checks"
	secCommits  = "## Commits"
	secPatch    = "## Patch"
)

var fixTitles = map[FixState]string{
	FixPushed: "pushed", FixPatch: "handed over as a patch", FixRefused: "refused", FixVerifyFailed: "checks failed",
	FixUnchanged: "nothing changed", FixSuperseded: "superseded", FixFailed: "failed",
}

// RenderFix gives the Markdown of a fix report, under the same rules as Render.
func RenderFix(d FixData) string {
	d = CanonicalFix(d)
	p := page{links: links{d.Target, d.Base}}
	p.add(fixTitle + fixTitles[d.State])
	p.add(fmt.Sprintf("Round %d of %d for %s.", d.Round, d.Rounds, p.target(d.Target)))
	p.outcome(d.Outcome, d.Reason)
	p.add(strings.Join(p.gist(d), " "))
	p.fixTodo(d)
	p.refusals(d.Refusals)
	p.tests(d.Tests)
	p.fixed(d)
	p.rejected(secRejected, d.Rejected)
	p.rejected(secMissing, d.Missing)
	p.noticed(d.Noticed)
	p.checks(d)
	p.commits(d.Commits)
	p.patch(d)
	p.notes(d.Notes)
	p.fixReceipt(d)
	return strings.Join(p.blocks, "\n\n") + "\n"
}

// gist is what became of the fix in at most four sentences, the decisive one first.
func (p *page) gist(d FixData) []string {
	score := fmt.Sprintf("%d of %s fixed", len(d.Fixed), count(d.asked(), "finding"))
	size := fmt.Sprintf("%s, %s, %s", count(len(d.Commits), "commit"), count(d.Files, "file"), count(d.Lines, "line"))
	none := "**Nothing was pushed:** "
	var out []string
	switch d.State {
	case FixPushed:
		out = []string{"**Pushed:** " + score + " in " + p.links.commit(d.Head) + " (" + size + ")."}
		if bad(d.PushedChecks) > 0 {
			out = append(out, "**The pushed head does not pass its checks.**")
		}
	case FixPatch:
		why := "prloop may not push to this branch"
		if d.Outcome == review.Budget {
			why = "the run's time is used up"
		}
		out = []string{none + why + ", so the fix is handed over as a patch.", upper(score) + " (" + size + ")."}
	case FixRefused:
		out = []string{none + "the fix breaks " + count(len(d.Refusals), "rule") + " of the push policy."}
	case FixVerifyFailed:
		out = []string{none + "the fix does not pass the checks of this repository (" + outOf(bad(d.Checks), len(d.Checks)) + ")."}
	case FixUnchanged:
		out = []string{none + "the fixer changed no file."}
	case FixSuperseded:
		out = []string{none + "the branch moved from " + p.links.commit(d.Base) + " to " + p.links.commit(d.NewerHead) + " in the meantime, and what stands there was not touched."}
	default:
		out = []string{none + "the fixer's work could not be used."}
	}
	if n := passed(d.Checks); n > 0 && bad(d.Checks) == 0 {
		out = append(out, "The fix passed "+count(n, "check")+aside(d.Checks)+".")
	}
	if n := passed(d.PushedChecks); n > 0 && bad(d.PushedChecks) == 0 {
		out = append(out, "The pushed head passed "+count(n, "check")+" too"+aside(d.PushedChecks)+".")
	}
	return out
}

// passed counts checks that ran and passed.
func passed(checks []review.Check) int {
	n := 0
	for _, c := range checks {
		if c.State == review.CheckPassed {
			n++
		}
	}
	return n
}

// aside tells of the checks that say nothing.
func aside(checks []review.Check) string {
	if n := len(checks) - passed(checks) - bad(checks); n > 0 {
		return fmt.Sprintf(" (%d skipped)", n)
	}
	return ""
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func outOf(bad, all int) string { return fmt.Sprintf("%d of %s failed", bad, count(all, "check")) }

// bad counts checks that did not pass.
func bad(checks []review.Check) int {
	n := 0
	for _, c := range checks {
		if !c.Good() {
			n++
		}
	}
	return n
}

// absent reports whether nothing but missing commands keeps the checks from passing.
func absent(checks []review.Check) bool {
	missing := 0
	for _, c := range checks {
		if c.State == review.CheckMissing {
			missing++
		}
	}
	return missing > 0 && missing == bad(checks)
}

// fixTodo is made of the other facts.
func (p *page) fixTodo(d FixData) {
	var steps []string
	say := func(format string, args ...any) { steps = append(steps, "- "+fmt.Sprintf(format, args...)) }
	switch d.State {
	case FixPushed:
		if bad(d.PushedChecks) > 0 {
			say("Look at the checks that fail on the pushed head: they passed before, or did not run.")
		}
	case FixPatch:
		other := "allow edits by maintainers on the pull request and run again"
		if d.Outcome == review.Budget {
			other = "run again with more wall_time"
		}
		say("Apply the patch below to %s, or %s.", p.links.commit(d.Base), other)
	case FixRefused:
		say("Decide on what was refused by hand; who runs prloop may allow paths.")
	case FixVerifyFailed:
		switch {
		case absent(d.Checks):
			say("Install what the commands below need where prloop runs, or configure others as `verify`: no fixer can fix that.")
		case d.Tries > 1:
			say("Fix by hand what the logs below show: the fixer was told, and did not manage.")
		default:
			say("Fix by hand what the logs below show: the fixer was not told any more.")
		}
	case FixSuperseded:
		say("Run the review again: it starts from the newer head.")
	case FixFailed:
		say("See the notes and the receipt for the reason, then run again.")
	}
	if n := len(d.Tests); n > 0 {
		say("Check the tests the fix deletes, skips or weakens (%d).", n)
	}
	if n := len(d.Missing); n > 0 && d.State != FixSuperseded {
		say("Fix what the fixer left (%d).", n)
	}
	if n := len(d.Rejected); n > 0 && d.State != FixSuperseded {
		say("Judge the findings the fixer rejected (%d): they still count until a review drops them.", n)
	}
	if d.GitHubToken && d.State == FixPushed {
		say(noCI)
	}
	if steps != nil {
		p.add(secTodo, strings.Join(steps, "\n"))
	}
}

// noCI warns of decision 14.
const noCI = "Start CI by hand: this push was made with the job's own token, and GitHub starts no workflow for such a push."

func (p *page) refusals(list []review.Refusal) {
	if len(list) == 0 {
		return
	}
	var lines []string
	for _, r := range list {
		line := span(r.Rule)
		if r.Path != "" {
			line += " in " + span(r.Path)
		}
		lines = append(lines, strings.TrimSpace(line+": "+r.Detail))
	}
	p.add(secRefused, bullets(lines))
}

func (p *page) tests(list []string) {
	if len(list) > 0 {
		p.add(secTests, bullets(list))
	}
}

const (
	moreDone   = "\n  Done: "
	moreTests  = "\n  Tests: "
	moreRisk   = "\n  Risk: "
	moreReason = "\n  Reason: "
)

func (p *page) fixed(d FixData) {
	if len(d.Fixed) == 0 {
		return
	}
	var lines []string
	for _, f := range d.Fixed {
		line := span(f.ID) + " " + f.Title
		if f.Commit != "" {
			line += separator + p.links.id(f.Commit)
		}
		for _, more := range []struct{ lead, text string }{{moreDone, f.Text}, {moreTests, f.Tests}, {moreRisk, f.Risk}} {
			if more.text != "" {
				line += more.lead + more.text
			}
		}
		lines = append(lines, line)
	}
	heading := secFixed
	if d.State != FixPushed {
		heading += ", but not on the branch"
	}
	p.add(heading, bullets(lines))
}

func (p *page) rejected(heading string, list []RejectedItem) {
	if len(list) == 0 {
		return
	}
	var lines []string
	for _, r := range list {
		line := span(r.ID) + " " + r.Title
		if r.Reason != "" {
			line += moreReason + r.Reason
		}
		lines = append(lines, line)
	}
	p.add(heading, bullets(lines))
}

// notCounted stands above what the fixer noticed.
const notCounted = "The fixer saw this beside the findings. It is not counted; the next review is told."

func (p *page) noticed(list []NoticedItem) {
	if len(list) == 0 {
		return
	}
	var lines []string
	for _, n := range list {
		where := span(n.File)
		if n.Line > 0 {
			where += fmt.Sprintf(" line %d", n.Line)
		}
		lines = append(lines, where+": "+n.Text)
	}
	p.add(secNoticed, notCounted, bullets(lines))
}

const (
	onFix    = "On the fix:"
	onPushed = "On the pushed head:"
)

// checks lists both runs of the commands; the logs of those that did not pass are collapsed below them.
func (p *page) checks(d FixData) {
	if len(d.Checks)+len(d.PushedChecks) == 0 {
		return
	}
	p.add(secChecks)
	var logs []string
	add := func(on string, list []review.Check) {
		var lines []string
		for _, c := range list {
			line := checkLine(c)
			if c.Log != "" {
				n := strconv.Itoa(len(logs)/3 + 1)
				line += ", log " + n
				logs = append(logs, openDetails+"\n<summary>The end of log "+n+"</summary>", fence(c.Log, ""), closeDetails)
			}
			lines = append(lines, line)
		}
		if lines != nil {
			p.add(on, bullets(lines))
		}
	}
	add(onFix, d.Checks)
	add(onPushed, d.PushedChecks)
	p.add(logs...)
}

// checkLine makes what needs a look stand out.
func checkLine(c review.Check) string {
	state := string(c.State)
	if !c.Good() {
		state = "**" + state + "**"
	}
	line := span(c.Command) + " " + state
	if c.ExitCode != 0 {
		line += fmt.Sprintf(", exit %d", c.ExitCode)
	}
	return line + ", " + strconv.FormatFloat(c.Seconds, 'f', 1, 64) + " s"
}

func (p *page) commits(list []review.FixCommit) {
	if len(list) == 0 {
		return
	}
	var lines []string
	for _, c := range list {
		line := c.Message
		if c.SHA != "" {
			line = p.links.id(c.SHA) + separator + line
		}
		lines = append(lines, line)
	}
	p.add(secCommits, bullets(lines))
}

func (p *page) fixReceipt(d FixData) {
	p.add(secReceipt, openDetails+"\n<summary>Which commits, who fixed, what it cost</summary>")
	p.add(bullets([]string{
		fmt.Sprintf("Touched: %d files, %d lines", d.Files, d.Lines),
		fmt.Sprintf("Optional findings deferred: %d", d.Deferred),
		fmt.Sprintf("Tries: %d", d.Tries),
		"Reviewed head: " + span(d.Base),
		"Pushed head: " + span(d.Head),
		"Newer head: " + span(d.NewerHead),
	}))
	p.agents([]review.AgentReceipt{d.Agent})
	p.add(closeDetails)
}
