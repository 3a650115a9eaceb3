package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/review"
)

// Headings of the sections; Parse finds its way by them.
const (
	secTodo       = "## What to do"
	secFindings   = "## Findings"
	secStuck      = "## Stuck"
	secDiverging  = "## Diverging"
	secRounds     = "## How this run went"
	secUnverified = "## Unverified"
	secDiscussion = "## Discussion"
	secNotes      = "## Notes"
	secReceipt    = "## Receipt"
)

// staticOnly is the first sentence of a report no model took part in (decision 31).
const staticOnly = "**Static analysis only: no model took part in this review.**"

// Render gives the report's Markdown, ending in a newline. It holds headings, tables, lists, quotes, fences, code spans,
// emphasis, bare details and summary tags, and links to the repository's own pages; markers are added by who posts.
func Render(d Data) string {
	d = Canonical(d)
	p := page{links: links{d.Target, d.Receipt.HeadSHA}}
	p.head(d)
	p.verdict(d)
	p.todo(d)
	p.add(reviewed(p.links, d.Receipt))
	if text := Excused(d.Receipt.LeftOut); text != "" {
		p.add(excusedStart + inline(text) + ".")
	}
	p.stuck(d.Stuck)
	p.diverging(d.Diverging)
	p.findings(d)
	p.list(secUnverified, "These were set aside and are not counted, each for the reason it gives.", d.Unverified)
	p.rounds(d.Course)
	p.discussion(d.Discussion)
	p.notes(d.Notes)
	p.receipt(d.Receipt)
	return strings.Join(p.blocks, "\n\n") + "\n"
}

// page collects blocks, which are separated by blank lines.
type page struct {
	links  links
	blocks []string
}

func (p *page) add(blocks ...string) { p.blocks = append(p.blocks, blocks...) }

var titles = map[review.Conclusion]string{
	review.Approve:        "approved",
	review.RequestChanges: "changes requested",
	review.NeedsMajorWork: "needs major work",
}

// title is the heading: what the review came to, in a few words.
func title(d Data) string {
	text := "no verdict"
	if d.Verdict != nil {
		if t, ok := titles[d.Verdict.Consensus]; ok {
			text = t
		}
	}
	switch d.Outcome {
	case review.Stuck, review.Diverging:
		text += ", a person is needed"
	case review.SetAside:
		text = "a person is needed"
	case review.StaticOnly:
		if text = "static findings (no model took part)"; d.Verdict == nil {
			text = "no static findings (no model took part)"
		}
	case review.Partial:
		text += ", not everything was reviewed"
	}
	return text
}

func (p *page) head(d Data) {
	if d.Receipt.Static {
		p.add(staticOnly) // the first line: nobody should take such a report for more than it is
	}
	p.add("# Review: " + title(d))
	if text := Unread(d.Receipt.LeftOut); text != "" {
		p.add(unreadStart + inline(text) + ".")
	}
	p.add(fmt.Sprintf("Round %d of %d for %s.", d.Round, d.Rounds, p.target(d.Target)))
	p.outcome(d.Outcome, d.Reason)
	p.look(toLookAt(d.Unverified))
}

// lookStart begins the line about what was set aside and a person has to look at; Parse passes over it.
const lookStart = "**For a person:** "

// look names what was set aside and only a person settles, whatever else the review came to.
func (p *page) look(list []Finding) {
	if len(list) == 0 {
		return
	}
	var names []string
	for _, f := range list {
		names = append(names, string(f.Priority)+" "+f.Title)
	}
	p.add(lookStart + count(len(list), "finding") + " set aside and not counted, see Unverified: " + named(names, len(names)) + ".")
}

// manual is the word of spec.md L5 for a run that only a person can take on.
const manual = "**Manual intervention required.**"

// outcome says how the run ended, when it did.
func (p *page) outcome(o review.Outcome, reason string) {
	if o == "" {
		return
	}
	text := "**Outcome: " + span(string(o)) + "**"
	if reason != "" {
		text += separator + reason
	}
	p.add(text)
	if saysManual(o, reason) {
		p.add(manual)
	}
}

// saysManual is true of a stuck run whose reason does not say it already.
func saysManual(o review.Outcome, reason string) bool {
	return o == review.Stuck && !strings.HasPrefix(reason, "manual intervention required")
}

func (p *page) target(t review.Target) string {
	switch {
	case t.Local():
		return "local changes since " + span(t.Base)
	case t.Repo.Owner == "":
		return fmt.Sprintf("pull request %d", t.PR)
	}
	return fmt.Sprintf("[%s](%s)", span(t.String()), p.links.pull())
}

// Beginnings of the line about what was reviewed; what was only given to somebody is not called reviewed.
const (
	reviewedStart = "Reviewed: "
	givenStart    = "Given to reviewers: "
)

// reviewed is the receipt in a sentence, for those who do not open it.
func reviewed(l links, r review.Receipt) string {
	at := ""
	if r.HeadSHA != "" {
		at = " at " + l.commit(r.HeadSHA)
	}
	files := fmt.Sprintf("%d of %s and %d of %s%s", r.FilesGiven, count(r.Files, "file"), r.HunksGiven, count(r.Hunks, "hunk"), at)
	by := fmt.Sprintf("%s (%d needed)", count(r.Complete, "complete reviewer"), r.MinReviewers)
	if r.FilesReviewed < r.FilesGiven {
		return fmt.Sprintf("%s%s; %s read whole by enough reviewers, of %s.", givenStart, files, count(r.FilesReviewed, "file"), by)
	}
	return reviewedStart + files + ", by " + by + "."
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func (p *page) verdict(d Data) {
	if d.Verdict == nil {
		return
	}
	v := d.Verdict
	p.add("**Consensus: " + span(string(v.Consensus)) + "**")
	cells := []string{"Findings"}
	head := []string{"Priority"}
	for i, n := range []int{v.Issues.P0, v.Issues.P1, v.Issues.P2, v.Issues.P3} {
		l := review.Levels()[i]
		head = append(head, string(l.Priority)+" "+l.Label+">")
		cells = append(cells, strconv.Itoa(n))
	}
	head = append(head, "All>", "Distinct>")
	cells = append(cells, strconv.Itoa(v.Issues.Total()), strconv.Itoa(v.Distinct))
	p.add(header(head...) + "\n" + row(cells...))
	var rules []string
	for i, n := range v.Rules {
		verb := "matches too"
		if i == 0 {
			verb = "decides"
		}
		rules = append(rules, strings.TrimSpace(fmt.Sprintf("- Rule %d %s: %s", n, verb, v.Reasons[i])))
	}
	if rules != nil {
		p.add(strings.Join(rules, "\n"))
	}
}

// todo is made of the other facts; Parse passes over it.
func (p *page) todo(d Data) {
	var steps []string
	say := func(format string, args ...any) { steps = append(steps, "- "+fmt.Sprintf(format, args...)) }
	switch v := d.Verdict; {
	case d.Outcome == review.SetAside:
	case d.Outcome == review.StaticOnly && v == nil:
		say("Review the change, or have a model review it: rules find known patterns only.")
	case v == nil && Unread(d.Receipt.LeftOut) != "" && d.Receipt.Complete >= d.Receipt.MinReviewers:
		say("Review by hand what was not read, or leave it out on purpose (`context.exclude`).")
	case v == nil:
		say("Run the review again: too few reviewers answered for a verdict. The receipt names who did not, and why.")
	default:
		// Of a stuck run everything that counts is stuck, and named by the next line.
		if must := v.Issues.P0 + v.Issues.P1 + v.Issues.P2; must > 0 && (d.Outcome != review.Stuck || len(d.Stuck) == 0) {
			say("Fix what is P0, P1 or P2 (%s); P3 is optional.", count(must, "finding"))
		}
	}
	if d.Outcome == review.SetAside || len(toLookAt(d.Unverified)) > 0 {
		say("Look at the findings that were set aside (below, under Unverified), and decide whether they are real.")
	}
	if n := len(d.Stuck); n > 0 {
		say("Look at the stuck findings by hand (%d): fixing them did not help.", n)
	}
	if g := d.Diverging; g != nil {
		step := "Look at %s by hand: the fixes there do not settle it."
		if len(g.Commits) > 0 {
			step = "Look at %s by hand, or take the fixes there back."
		}
		say(step, span(g.Region))
	}
	if t := d.Discussion; t != nil {
		if len(t.ChangesRequestedBy) > 0 {
			say("Settle the requested changes with %s.", spans(logins(t.ChangesRequestedBy)))
		}
		if t.Threads.Unresolved > 0 {
			say("Resolve the open review threads (%d).", t.Threads.Unresolved)
		}
	}
	switch {
	case len(steps) > 0:
	case d.Verdict.Consensus == review.Approve && (d.Outcome == "" || d.Outcome == review.Converged):
		say("Nothing.")
	default:
		say("See why the run ended: %s.", cmp.Or(string(d.Outcome), string(d.Verdict.Consensus), "no outcome is recorded"))
	}
	p.add(secTodo, strings.Join(steps, "\n"))
}

func logins(people []review.ChangesRequestedBy) []string {
	var out []string
	for _, c := range people {
		out = append(out, c.Login)
	}
	return names(out)
}

func (p *page) discussion(d *Discussion) {
	if d == nil {
		return
	}
	t := d.Threads
	lines := []string{fmt.Sprintf("- Threads: %d, of these %d resolved and %d unresolved.", t.Total, t.Resolved, t.Unresolved)}
	if t == (review.ThreadStats{}) {
		lines[0] = linesNoThreads
	}
	if d.Truncated {
		lines = append(lines, linesTruncated)
	}
	for _, c := range d.ChangesRequestedBy {
		lines = append(lines, "- Changes requested by "+span(c.Login)+", association "+span(c.Association)+".")
	}
	for _, who := range d.Impostors {
		lines = append(lines, "- A comment of "+span(who)+" carries the marker of this tool but is not ours: it was ignored.")
	}
	p.add(secDiscussion, strings.Join(lines, "\n"))
}

const linesNoThreads = "- There are no review threads."

const linesTruncated = "- Not all threads could be read."

func (p *page) notes(notes []string) {
	if len(notes) > 0 {
		p.add(secNotes, bullets(notes))
	}
}

func bullets(lines []string) string { return "- " + strings.Join(lines, "\n- ") }
