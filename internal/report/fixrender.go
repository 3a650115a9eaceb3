package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/review"
)

// Headings of the sections of a fix report.
const (
	secFixed    = "### Fixed"
	secRejected = "### Rejected by the fixer"
	secMissing  = "### Not fixed"
	secRefused  = "### Refused by the push policy"
	secTests    = "### Tests changed"
	secChecks   = "### Checks"
	secPatch    = "### Patch"
	// offBranch follows a heading of what was done and is not on the branch.
	offBranch = ", but not on the branch"
	// sumNoticed begins the summary of what the fixer noticed.
	sumNoticed = "Noticed, not changed: "
)

// RenderFix gives the Markdown of a fix report, under the same rules as Render.
func RenderFix(d FixData) string {
	d = CanonicalFix(d)
	p := page{links: links{d.Target, d.Base}}
	p.add(heading + fixTitle(d))
	p.add(strings.Join(p.gist(d), " "))
	p.add(d.Remarks...)
	p.next(fixSteps(p.links, d))
	p.refusals(d.Refusals)
	p.tests(d.Tests)
	p.fixed(d)
	p.rejected(secRejected, d.Rejected)
	p.rejected(secMissing, d.Missing)
	failed := bad(d.Checks)+bad(d.PushedChecks) > 0
	if failed {
		p.add(secChecks)
		p.checks(d)
	}
	p.patch(d)
	p.noticed(d.Noticed)
	p.fixReceipt(d, !failed)
	return strings.Join(p.blocks, "\n\n") + "\n"
}

// score is how many of the findings were fixed.
func score(d FixData) string {
	return fmt.Sprintf("%d of %s fixed", len(d.Fixed), count(d.asked(), "finding"))
}

// fixTitle is what became of the fix, in a few words. That nothing could be verified stands in it, for a push is taken for more.
func fixTitle(d FixData) string {
	var text string
	switch d.State {
	case FixPushed:
		text = score(d) + " and pushed"
	case FixPatch:
		text = score(d) + ", handed over as a patch"
	case FixRefused:
		text = "fix not pushed, it breaks " + count(len(d.Refusals), "rule") + " of the push policy"
	case FixVerifyFailed:
		text = "fix not pushed, " + outOf(bad(d.Checks), len(d.Checks))
	case FixUnchanged:
		text = "nothing fixed, the fixer changed no file"
		if d.Files > 0 {
			text = "nothing fixed, changes not pushed"
		}
	case FixSuperseded:
		text = "fix not pushed, the branch moved"
	default:
		text = "fix failed"
	}
	parts := []string{text}
	if bad(d.PushedChecks) > 0 {
		parts = append(parts, "checks fail on the pushed head")
	}
	if (d.State == FixPushed || d.State == FixPatch) && passed(d.Checks)+passed(d.PushedChecks)+bad(d.Checks)+bad(d.PushedChecks) == 0 {
		parts = append(parts, unverified)
	}
	switch d.Outcome {
	case review.Stuck, review.Diverging, review.SetAside:
		parts = append(parts, "a person is needed")
	case review.Budget:
		parts = append(parts, "out of budget")
	}
	if d.Rounds > 1 {
		parts = append(parts, fmt.Sprintf("round %d of %d", d.Round, d.Rounds))
	}
	return strings.Join(parts, separator)
}

const unverified = "nothing could be verified"

// gist is what became of the fix in a few sentences, the decisive one first.
func (p *page) gist(d FixData) []string {
	size := fmt.Sprintf("%s, %s, %s", count(len(d.Commits), "commit"), count(d.Files, "file"), count(d.Lines, "line"))
	none := "Nothing was pushed: "
	var out []string
	switch d.State {
	case FixPushed:
		out = []string{"Pushed in " + p.links.commit(d.Head) + " (" + size + ")."}
	case FixPatch:
		why := "prloop may not push to this branch"
		if d.Outcome == review.Budget {
			why = "the run's time is used up"
		}
		out = []string{none + why + " (" + size + ")."}
	case FixRefused:
		if d.Reason == "" { // which says so
			out = []string{none + "the push policy refuses the fix."}
		}
	case FixVerifyFailed:
		out = []string{none + "the fix does not pass the checks of this repository."}
	case FixUnchanged:
		out = []string{none + "there is nothing to push."}
		if d.Files > 0 {
			out = []string{none + "the changes of the fixer (" + count(d.Files, "file") + ", " + count(d.Lines, "line") + ") fix no finding."}
		}
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
	if d.Reason != "" {
		out = append(out, sentence(d.Reason))
	}
	if saysManual(d.Outcome, d.Reason) {
		out = append(out, manual)
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

// fixSteps are made of the other facts.
func fixSteps(l links, d FixData) []string {
	var steps []string
	say := func(format string, args ...any) { steps = append(steps, fmt.Sprintf(format, args...)) }
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
		say("Apply the patch below to %s, or %s.", l.commit(d.Base), other)
	case FixRefused:
		if slices.ContainsFunc(d.Refusals, func(r review.Refusal) bool { return r.Rule == "unasked-file" }) {
			say("To have a file changed that `unasked-file` refuses, name its whole path in a new comment on a line of the change (needs write access; an answer in a thread of prloop's does not count), and run prloop again.")
		}
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
		if d.Outcome == review.Budget {
			say("Raise the limit named above, then run again.")
		} else {
			say("See the notes and the receipt for the reason, then run again.")
		}
	}
	if n := len(d.Tests); n > 0 {
		say("The fix touches tests (%d): look whether they still check what they did.", n)
	}
	if n := len(d.Missing); n > 0 && d.State != FixSuperseded {
		say("Fix what the fixer left (%d).", n)
	}
	if n := len(d.Rejected); n > 0 && d.State != FixSuperseded {
		how := ""
		if !d.Target.Local() {
			how = " Where the fixer is right, say why in the finding's thread, or resolve it."
		}
		say("Judge the findings the fixer rejected (%d): they count until a review drops them.%s", n, how)
	}
	if d.GitHubToken && d.State == FixPushed {
		say(noCI)
	}
	if d.State == FixPushed && d.Outcome == "" {
		say(reviewFollows)
	}
	return steps
}

// reviewFollows says what a push is followed by.
const reviewFollows = "The pushed head is reviewed again; that report follows."

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
	fixedIn    = " · fixed in "
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
		line := p.item(f.Item)
		if f.Commit != "" {
			line += fixedIn + p.links.id(f.Commit)
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
		heading += offBranch
	}
	p.add(heading, bullets(lines))
}

// item names a finding: how urgent it is, what it says and where it stood.
func (p *page) item(i Item) string {
	text := i.Title
	if i.Priority != "" {
		text = "**" + string(i.Priority) + "** " + text
	}
	if i.File != "" {
		text += separator + p.links.brief(Finding{File: i.File, Line: i.Line})
	}
	return text
}

func (p *page) rejected(heading string, list []RejectedItem) {
	if len(list) == 0 {
		return
	}
	var lines []string
	for _, r := range list {
		line := p.item(r.Item)
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
	p.fold(sumNoticed+strconv.Itoa(len(list)), func() { p.add(notCounted, bullets(lines)) })
}

const (
	onFix    = "On the fix:"
	onPushed = "On the pushed head:"
)

// checks lists both runs of the commands; the logs of those that did not pass are collapsed below them.
func (p *page) checks(d FixData) {
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
	var lines []string
	for _, c := range list {
		line := c.Message
		if c.SHA != "" {
			line = p.links.id(c.SHA) + separator + line
		}
		lines = append(lines, line)
	}
	p.named(commitsName, lines)
}

const commitsName = "Commits:"

func (p *page) fixReceipt(d FixData, checks bool) {
	gist := append([]string{score(d), count(d.Tries, "try")}, spent([]review.AgentReceipt{d.Agent})...)
	if d.Tries != 1 {
		gist[1] = fmt.Sprintf("%d tries", d.Tries)
	}
	p.fold(sumReceipt+strings.Join(gist, ", "), func() {
		facts := []string{"For: " + p.target(d.Target), fmt.Sprintf("Round: %d of %d", d.Round, d.Rounds), "State: " + span(string(d.State))}
		if d.Outcome != "" {
			fact := "Outcome: " + span(string(d.Outcome))
			if d.Reason != "" {
				fact += separator + d.Reason
			}
			facts = append(facts, fact)
		}
		p.add(bullets(append(facts,
			fmt.Sprintf("Touched: %d files, %d lines", d.Files, d.Lines),
			fmt.Sprintf("Optional findings deferred: %d", d.Deferred),
			fmt.Sprintf("Tries: %d", d.Tries),
			"Reviewed head: "+span(d.Base),
			"Pushed head: "+span(d.Head),
			"Newer head: "+span(d.NewerHead),
		)))
		if checks {
			p.checks(d)
		}
		p.commits(d.Commits)
		p.agents([]review.AgentReceipt{d.Agent})
		p.named("Notes:", d.Notes)
	})
}
