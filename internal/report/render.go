package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/review"
)

// heading begins the first line of every report.
const heading = "## prloop: "

// Render gives the report's Markdown, ending in a newline. It holds headings, tables, lists, quotes, fences, code spans,
// emphasis, bare details and summary tags, and links to the repository's own pages; markers are added by who posts.
func Render(d Data) string {
	d = Canonical(d)
	p := page{links: links{d.Target, d.Receipt.HeadSHA}}
	p.add(heading + title(d))
	p.since(d)
	p.why(d)
	p.unread(d.Receipt)
	p.add(d.Remarks...)
	p.look(toLookAt(d.Unverified))
	p.rows(d)
	p.diverging(d.Diverging)
	p.next(steps(p.links, d))
	p.sections(d.Commands)
	p.findings(d)
	p.gone(d.Since)
	p.cured(d.Cured)
	p.receipt(d)
	return strings.Join(p.blocks, "\n\n") + "\n"
}

// page collects blocks, which are separated by blank lines.
type page struct {
	links  links
	blocks []string
}

func (p *page) add(blocks ...string) { p.blocks = append(p.blocks, blocks...) }

// fold adds blocks behind one line.
func (p *page) fold(summary string, blocks func()) {
	p.add(openDetails + "\n<summary>" + summary + "</summary>")
	blocks()
	p.add(closeDetails)
}

// noModel is said in the first line of a report no model took part in (decision 31).
const noModel = "no model took part"

// title is what the review came to, in a few words; every fact stands in it once.
func title(d Data) string {
	n, back, said := 0, 0, 0
	for _, f := range d.Findings {
		n += boolRank(f.Must && !f.Said)
		said += boolRank(f.Must && f.Said)
		back += boolRank(f.Stuck)
	}
	parts := []string{verdictWords(d)}
	switch {
	case d.Outcome == review.StaticOnly:
		parts = []string{"no static findings (" + noModel + ")"}
		if n > 0 {
			parts[0] = count(n, "static finding") + " (" + noModel + ")"
		}
	case d.Receipt.Static:
		parts = append(parts, noModel)
	}
	switch {
	case n == 0, d.Outcome == review.StaticOnly:
	case back == n:
		parts = append(parts, count(n, "finding")+" came back after a fix")
	case back > 0:
		parts = append(parts, fmt.Sprintf("%d to fix, %d of them came back after a fix", n, back))
	default:
		parts = append(parts, fmt.Sprintf("%d to fix", n))
	}
	if said > 0 {
		parts = append(parts, fmt.Sprintf("%d said in %s", said, map[bool]string{true: "a thread", false: "threads"}[said == 1]))
	}
	if d.Verdict != nil && d.Outcome == review.Partial {
		parts = append(parts, partly)
	}
	if d.Verdict != nil && d.Outcome == review.Budget {
		parts = append(parts, "out of budget")
	}
	if d.Rounds > 1 {
		parts = append(parts, fmt.Sprintf("round %d of %d", d.Round, d.Rounds))
	}
	return strings.Join(parts, separator)
}

const partly = "partly reviewed"

// verdictWords are the one name of how the review ended. Only an approval that ends the run, or goes on to nothing, is called one.
func verdictWords(d Data) string {
	switch d.Outcome {
	case review.Stuck, review.Diverging, review.SetAside:
		return "a person is needed"
	case review.NotReviewed:
		return "not reviewed"
	case review.ChangesRequested:
		return "changes requested"
	}
	switch v := d.Verdict; {
	case v != nil && (v.Consensus == review.RequestChanges || v.Consensus == review.NeedsMajorWork):
		return "changes requested"
	case v != nil && v.Consensus == review.Approve && (d.Outcome == "" || d.Outcome == review.Converged):
		return "approved"
	case d.Outcome == review.Partial:
		return partly
	case d.Outcome == review.Budget:
		return "out of budget"
	}
	return "no verdict"
}

// why says in one paragraph why the verdict is what it is, by which rule, and what was reviewed.
func (p *page) why(d Data) {
	var says []string
	switch {
	case allBack(d) && strings.HasPrefix(d.Reason, manualReason):
		says = append(says, manual) // the heading says why
	case d.Reason != "" && !strings.HasPrefix(d.Reason, strings.TrimSuffix(d.Why, ".")):
		says = append(says, sentence(d.Reason))
	}
	if v := d.Verdict; v != nil && len(v.Rules) > 0 && d.Why != "" && !strings.Contains(d.Reason, ": "+d.Why) {
		says = append(says, fmt.Sprintf("%s: rule %d decides.", strings.TrimSuffix(sentence(d.Why), "."), v.Rules[0]))
	} else if d.Reason != "" && says == nil {
		says = append(says, sentence(d.Reason))
	}
	if saysManual(d.Outcome, d.Reason) {
		says = append(says, manual)
	}
	p.add(strings.Join(append(says, reviewed(p.links, d.Receipt)), " "))
}

// unread names what nobody reviewed, and what need not be, where the verdict stands.
func (p *page) unread(r review.Receipt) {
	if text := Unread(r.LeftOut); text != "" {
		p.add(unreadStart + inline(text) + ".")
	}
	if text := Excused(r.LeftOut); text != "" {
		p.add(excusedStart + inline(text) + ".")
	}
	if text := Around(r); text != "" {
		p.add(text)
	}
	if shown, all := Shown(r); shown < all {
		p.add(fmt.Sprintf("**Not all findings are shown:** %d of %d; an agent may report as many as %s allows, the most urgent first.", shown, all, span("limits.max_output_issues")))
	}
}

// Shown is how many findings the agents of a round reported, and how many they found.
func Shown(r review.Receipt) (shown, all int) {
	for _, a := range r.Agents {
		if a.Role == review.RoleReviewer {
			shown, all = shown+a.Findings, all+a.Findings+a.Omitted
		}
	}
	return shown, all
}

// lookStart begins what was set aside and a person has to look at, whatever else the review came to (decision 32).
const lookStart = "**For a person to decide:** "

func (p *page) look(list []Finding) {
	if len(list) == 0 {
		return
	}
	lines := []string{lookStart + count(len(list), "finding") + " set aside and not counted."}
	for _, f := range list[:min(len(list), maxLook)] {
		lines = append(lines, fmt.Sprintf("- **%s** %s %s", f.Priority, p.links.brief(f), f.Title))
	}
	if more := len(list) - maxLook; more > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", more))
	}
	p.add(lines[0], strings.Join(lines[1:], "\n"))
}

// maxLook is how many findings that were set aside the beginning names.
const maxLook = 20

// manual is the word of spec.md L5 for a run that only a person can take on.
const manual = "Manual intervention required."

// manualReason begins the reason of a run that says so.
const manualReason = "manual intervention required"

// allBack is true of a stuck run in which all that is to fix came back after a fix: its heading says so, and nothing else has to.
func allBack(d Data) bool {
	must := musts(d.Findings)
	return d.Outcome == review.Stuck && len(must) > 0 && !slices.ContainsFunc(must, func(f Finding) bool { return !f.Stuck })
}

// saysManual is true of a stuck run whose reason does not say it already.
func saysManual(o review.Outcome, reason string) bool {
	return o == review.Stuck && !strings.HasPrefix(reason, manualReason)
}

// rows is a table of all that has to be fixed: none is folded, and each leads to its line. What is alike in a file, as the values of a rule about secrets are,
// shares a row where it would fill the table.
func (p *page) rows(d Data) {
	must := musts(d.Findings)
	if len(must) == 0 {
		return
	}
	heads := []string{"", "To fix", "Where"}
	switch n := len(saids(must)); {
	case n == len(must):
		heads[1] = "Said in a thread"
	case n > 0:
		heads[1] = "To fix, or said in a thread"
	}
	finders := tellsFinders(must)
	if finders {
		heads = append(heads, "Found by")
	}
	if d.Since != nil {
		heads = append(heads, fmt.Sprintf("Since round %d", d.Since.Round))
	}
	lines := []string{header(heads...)}
	for _, group := range alike(must) {
		f := group[0]
		title, where := f.Title, []string{p.links.brief(f)}
		for _, g := range group[1:] {
			where = append(where, p.links.more(g))
		}
		if len(group) > 1 {
			title += fmt.Sprintf(" (%d times)", len(group))
		}
		cells := []string{"**" + string(f.Priority) + "**", title, strings.Join(where, ", ")}
		if finders {
			by := cmp.Or(spans(f.By), none)
			if f.Confirmed {
				by += separator + "confirmed"
			}
			cells = append(cells, by)
		}
		if d.Since != nil {
			cells = append(cells, standing(f))
		}
		lines = append(lines, row(cells...))
	}
	p.add(strings.Join(lines, "\n"))
	are := "are"
	if unposted(must) {
		are = "would be"
	}
	switch n := onLines(must); {
	case n == len(must):
		p.add("The details " + are + " in comments on these lines.")
	case n == 1:
		p.add("The details of 1 finding " + are + " in a comment on its line; those of the others follow.")
	case n > 1:
		p.add(fmt.Sprintf("The details of %d findings %s in comments on their lines; those of the others follow.", n, are))
	}
}

// maxAlike is how many findings that are alike have rows of their own.
const maxAlike = 5

// alike groups the findings for the rows of the table: those of one file whose rows would say the same but for the line are a group where there are many.
func alike(must []Finding) (groups [][]Finding) {
	type key struct {
		Priority               review.Priority
		File, Title, By, Stand string
		Confirmed              bool
	}
	keyOf := func(f Finding) key { return key{f.Priority, f.File, f.Title, spans(f.By), standing(f), f.Confirmed} }
	many, at := map[key]int{}, map[key]int{}
	for _, f := range must {
		many[keyOf(f)]++
	}
	for _, f := range must {
		k := keyOf(f)
		if i, ok := at[k]; ok && many[k] > maxAlike {
			groups[i] = append(groups[i], f)
			continue
		}
		at[k] = len(groups)
		groups = append(groups, []Finding{f})
	}
	return groups
}

// onLines is how many findings have a comment on their lines.
func onLines(list []Finding) (n int) {
	for _, f := range list {
		n += boolRank(f.Inline)
	}
	return n
}

// unposted reports whether a comment on lines is one that nobody has posted, as in a dry run.
func unposted(list []Finding) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Inline && f.Thread == "" })
}

func musts(list []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(list), func(f Finding) bool { return !f.Must })
}

// saids are those of some findings that people said in threads of prloop's.
func saids(list []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(list), func(f Finding) bool { return !f.Said })
}

// tellsFinders reports whether who found what tells the findings apart.
func tellsFinders(list []Finding) bool {
	for _, f := range list {
		if f.Confirmed || !slices.Equal(f.By, list[0].By) {
			return true
		}
	}
	return false
}

// standing is the cell of what became of a finding.
func standing(f Finding) string {
	if f.Stuck {
		return "**came back** after its fix"
	}
	return string(f.Standing)
}

// next says what happens now: one sentence, or a list.
func (p *page) next(steps []string) {
	switch len(steps) {
	case 0:
	case 1:
		p.add(nextStart + " " + steps[0])
	default:
		p.add(nextStart, bullets(steps))
	}
}

const nextStart = "**Next:**"

// common is why no builtin reviewer has a complete answer, where the reason is the same for all who are to review; empty where it is not. What programs of
// others say of themselves stays in the receipt.
func common(r review.Receipt) string {
	why := ""
	for _, a := range r.Agents {
		switch {
		case a.Role != review.RoleReviewer || a.Kind == review.KindStatic:
		case a.Kind != review.KindBuiltin || a.Reason == "" || why != "" && a.Reason != why:
			return ""
		default:
			why = a.Reason
		}
	}
	return why
}

// steps are made of the other facts. An approval has none but to look at what it leaves open, in threads or without one.
func steps(l links, d Data) []string {
	var steps []string
	say := func(format string, args ...any) { steps = append(steps, fmt.Sprintf(format, args...)) }
	must := musts(d.Findings)
	stuck := slices.DeleteFunc(slices.Clone(must), func(f Finding) bool { return !f.Stuck })
	said := saids(must)
	open := 0 // what the fixer, or whoever pushes, is asked to fix
	for _, f := range must {
		open += boolRank(!f.Stuck && !f.Waits)
	}
	switch {
	case d.Outcome == "" && d.Verdict != nil && d.Verdict.Consensus != review.Approve && open > 0:
		say("The fixer is asked to fix %s; its report follows.", these(open, open == len(must)))
	case d.Outcome == review.StaticOnly && open == 0 && d.Target.Local():
		say("Review the change, or have a model review it: rules find known patterns only. A model needs a key: set `OPENAI_API_KEY`, and check it with `prloop doctor`.")
	case d.Outcome == review.StaticOnly && open == 0:
		say("Review the change, or have a model review it: rules find known patterns only.")
	case d.Outcome == review.SetAside:
	case d.Verdict == nil && ByHand(d.Outcome, d.Receipt) != "":
		say("%s", ByHand(d.Outcome, d.Receipt))
	case d.Outcome == review.NotReviewed && d.Receipt.Files == 0: // the diff is empty
	case d.Verdict == nil && d.Receipt.Complete >= d.Receipt.MinReviewers && slices.ContainsFunc(d.Receipt.Agents, func(a review.AgentReceipt) bool {
		return a.Role == review.RoleCommand && a.State != review.AgentComplete
	}):
		say("Run the review again: a command gave no complete answer. The receipt names it, and why.")
	case d.Verdict == nil && d.Receipt.Complete >= d.Receipt.MinReviewers && d.Discussion != nil && d.Discussion.Truncated:
		say("Look at the discussion, and decide by hand: it is longer than what prloop reads.")
	case d.Verdict == nil && d.Outcome == review.Partial && d.Receipt.Complete >= d.Receipt.MinReviewers && slices.ContainsFunc(d.Commands, func(s Section) bool { return s.Short != "" }):
		say("Review by hand what a command was not given, or have a maintainer raise its limit in `.reviewerc`, or change its `files` or `output.counts` there (`files.exclude` names what it need not be given), and run the review again.")
	case d.Verdict == nil && d.Outcome == review.Partial && d.Receipt.Complete >= d.Receipt.MinReviewers:
		say("Run the review again: a part of it is missing, as said above. The receipt names who gave no complete answer, and why.")
	case d.Verdict == nil && d.Outcome == review.Budget && common(d.Receipt) != "":
		say("Raise the limit that was reached, then run the review again: %s", common(d.Receipt))
	case d.Verdict == nil && d.Outcome == review.Budget:
		say("Raise the limit that was reached, then run the review again. The receipt says who gave no answer, and why.")
	case d.Verdict == nil && common(d.Receipt) != "":
		say("See to what kept all reviewers from a complete answer, then run the review again: %s", common(d.Receipt))
	case d.Verdict == nil:
		say("Run the review again: too few reviewers answered for a verdict. The receipt names who did not, and why.")
	case open > len(said) && d.Target.Local(): // there may be nothing to push yet
		say("Fix %s and review again.", these(open-len(said), open-len(said) == len(must)))
	case open > len(said):
		say("Fix %s and push.", these(open-len(said), open-len(said) == len(must)))
	}
	if d.Outcome == review.StaticOnly && open > 0 && d.Target.Local() {
		say("Have a model review the change too: set `OPENAI_API_KEY`, and check it with `prloop doctor`.")
	}
	if len(said) > 0 && d.Outcome != "" {
		say("Somebody who may block said something, since the code changed or prloop called the problem gone, in these threads of prloop's: %s. Change the code if something is left to do; else have them resolve the thread, which settles it.", l.places(said))
	}
	if d.Outcome == review.SetAside || len(toLookAt(d.Unverified)) > 0 {
		say("Look at what was set aside, and decide whether it is real.")
	}
	if len(stuck) > 0 {
		what := "what came back"
		if allBack(d) {
			what = map[bool]string{true: "it", false: "them"}[len(stuck) == 1]
		}
		say("Look at %s by hand: fixing did not help, and the fixer is not asked again.", what)
	}
	if g := d.Diverging; g != nil {
		step := "Look at %s by hand: the fixes there do not settle it."
		if len(g.Commits) > 0 {
			step = "Look at %s by hand, or take the fixes there back."
		}
		say(step, span(g.Region))
	}
	if t := d.Discussion; t != nil {
		if who := blocking(t.ChangesRequestedBy); len(who) > 0 {
			say("Settle the requested changes with %s.", spans(who))
		}
		if t.Threads.Unresolved > 0 {
			say("Resolve the open review threads (%d).", t.Threads.Unresolved)
		}
	}
	if len(d.Unsettled) > 0 {
		const code = "Change the code that these threads of prloop's are about"
		if d.ByApp {
			say(code+": %s. In a pull request of an app, who resolves a thread takes back only what they said there.", l.places(d.Unsettled))
		} else {
			say(code+", or have somebody with write access who did not open the pull request resolve them: %s.", l.places(d.Unsettled))
		}
	}
	if len(d.Left) > 0 {
		say("Check whether the problems of these open threads of prloop's, which nobody raised again, are gone, and resolve the threads if so: %s.", l.places(d.Left))
	}
	if t := d.Threadless; t != nil {
		say("Check whether something grave that %s raised at %s is gone: it has no thread, and was not raised again ([report](%s)).", spans(t.By), span(t.Commit), t.Report)
	}
	return steps
}

// places links threads by where they stand.
func (l links) places(threads []Finding) string {
	var where []string
	for _, f := range threads[:min(len(threads), maxLook)] {
		where = append(where, l.brief(f))
	}
	if more := len(threads) - maxLook; more > 0 {
		where = append(where, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(where, ", ")
}

// these names n findings of the table.
func these(n int, all bool) string {
	switch {
	case !all && n == 1:
		return "the other finding"
	case !all:
		return fmt.Sprintf("the other %d findings", n)
	case n == 1:
		return "this finding"
	}
	return fmt.Sprintf("these %d findings", n)
}

// Beginnings of the sentence about what was reviewed; what was only given to somebody is not called reviewed.
const (
	reviewedStart = "Reviewed: "
	givenStart    = "Given to reviewers: "
	searchedStart = "Searched by rules: "
)

// reviewed is the receipt in a sentence, for those who do not open it.
func reviewed(l links, r review.Receipt) string {
	at := ""
	if r.HeadSHA != "" {
		at = " at " + l.commit(r.HeadSHA)
	}
	files := fmt.Sprintf("%d of %s and %d of %s%s", r.FilesGiven, count(r.Files, "file"), r.HunksGiven, count(r.Hunks, "hunk"), at)
	by := ", by " + count(r.Complete, "reviewer")
	if r.Complete < r.MinReviewers {
		by += fmt.Sprintf(" of the %d needed", r.MinReviewers)
	}
	start := reviewedStart
	if r.Static {
		start, by = searchedStart, ""
	}
	switch {
	case r.FilesReviewed < r.FilesGiven:
		return fmt.Sprintf("%s%s; %s read whole by enough reviewers%s.", givenStart, files, count(r.FilesReviewed, "file"), by)
	case r.Files > 0 && r.FilesReviewed == r.Files && r.HunksGiven == r.Hunks:
		return start + all(r.Files) + at + by + "."
	}
	return start + files + by + "."
}

func all(files int) string {
	if files == 1 {
		return "the one changed file"
	}
	return fmt.Sprintf("all %d changed files", files)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// blocking are the people whose request for changes counts; the receipt names the others too.
func blocking(people []review.ChangesRequestedBy) []string {
	var out []string
	for _, c := range people {
		if review.MayBlock(c.Association) {
			out = append(out, c.Login)
		}
	}
	return names(out)
}

func bullets(lines []string) string { return "- " + strings.Join(lines, "\n- ") }
