package orchestrator

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/weight"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// report is the last stage of a judgement: it renders it. Agents supply fields, the template owns the structure: each free text is sanitized alone
// before it takes its place (threats.md "Sanitization").
func (j verdict) report(result review.RunResult) string {
	c := j.cleaner()
	snap := j.in.Snapshot
	d := report.Data{
		Target: j.in.Request.Target, Round: j.in.Round, Rounds: j.in.Request.rounds(),
		Receipt: c.receipt(j.in.Request.Run, j.receipt),
	}
	if !j.next.goesOn {
		d.Outcome, d.Reason = result.Outcome, c.inline(result.Reason)
	}
	if j.in.Request.FixOff != "" && result.Outcome != review.Converged {
		d.Remarks = append(d.Remarks, c.inline(j.in.Request.FixOff))
	}
	if added := j.addedWords(); added != "" {
		d.Remarks = append(d.Remarks, c.inline(added))
	}
	if bad := j.unpassed(); len(bad) > 0 {
		d.Remarks = append(d.Remarks, c.inline(fmt.Sprintf("This head passed before it was pushed in round %d, and then did not pass %s; the fix report of that round has the log.", j.in.Round-1, commandsOf(bad))))
	}
	if tests := j.fixedTests(); tests != "" {
		d.Remarks = append(d.Remarks, c.inline(tests))
	}
	for _, settled := range j.settledGrave() {
		d.Remarks = append(d.Remarks, c.inline(settled))
	}
	if result.Consensus != nil {
		v := j.verdict
		d.Verdict, d.Why, d.Distinct = &v, c.inline(j.why), result.DistinctIssues
	}
	d.Commands = j.sections(c)
	var silent int
	d.Findings, silent = j.listed(c, j.inlined())
	j.conversation(&d, c)
	d.Unverified = j.apart(c)
	d.Dismissed, d.DismissalNotes = c.dismissed(j.dismissed), c.lines(j.dismissalNotes())
	for _, n := range j.notes {
		d.Notes = append(d.Notes, c.inline(n))
	}
	if s := result.Scan; s != nil && s.Escalated != "" {
		d.Notes = append(d.Notes, c.inline(report.AfterScan(s.Complexity, s.Verdict, s.Escalated)))
	}
	if silent > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s below the score threshold of %d: counted, not listed.",
			plural(silent, "finding is", "findings are"), j.in.Request.threshold()))
	}
	remarks, notes := gate.Words(result.Gate)
	for _, s := range remarks {
		d.Remarks = append(d.Remarks, c.inline(s))
	}
	for _, s := range notes {
		d.Notes = append(d.Notes, c.inline(s))
	}
	if j.next.region != "" {
		d.Diverging = &report.Diverging{Region: j.next.region, Sentence: c.inline(j.next.drift + "."), Commits: j.fixCommits()}
	}
	d.Since, d.Course = j.since(c), course(result.Rounds)
	if !j.in.Request.Target.Local() {
		d.Discussion = &report.Discussion{
			Threads: j.comments.Stats, Truncated: j.comments.ThreadsTruncated,
			ChangesRequestedBy: j.comments.ReviewState.ChangesRequestedBy, Impostors: snap.Pretenders,
		}
	}
	text := report.Render(d)
	if j.in.Request.DryRun && len(j.proposed) > 0 {
		text += "\n" + j.onLines()
	}
	for _, a := range j.in.unposted() {
		text += "\n" + a.Text
	}
	return text
}

// cleaner sanitizes the fields of the report.
func (g gathered) cleaner() cleaner {
	return cleanerFor(g.in.Request.Target)
}

// conversation tells what became of comments on lines, and of threads.
func (j verdict) conversation(d *report.Data, c cleaner) {
	if in := j.in.Inline; in != nil && in.Refused != "" {
		d.Remarks = append(d.Remarks, c.inline("Not every finding could be put on its line, and those that could not stand here in full: "+in.Refused+"."))
	}
	if j.in.Snapshot.Discussion.Truncated && j.onLinesAsked() {
		d.Notes = append(d.Notes, "No comments on lines are made: the discussion was not read whole, and prloop may have made them before.")
	}
	if j.overMost > 0 {
		d.Notes = append(d.Notes, c.inline(fmt.Sprintf("%s on no line: a pull request gets %d comments on lines at most (`publish.comments_per_pull_request`).",
			plural(j.overMost, "finding stands", "findings stand"), j.in.Request.InlineMost)))
	}
	s := j.in.Snapshot.Conversation
	if s == nil {
		return
	}
	for _, i := range j.reopened() {
		t := s.Threads[i]
		how := "If the finding is wrong, someone with write access other than the author can resolve the thread, from another account than the one prloop posts as. Where nobody else has write access, it counts until the code is changed."
		why := "its finding is still there"
		switch {
		case j.objected(t):
			why, how = "somebody says there that its finding is not gone", "If it is, who said so can resolve the thread, or someone with write access other than the author."
		case j.in.Snapshot.persons().ByApp:
			how = report.ByApp
		}
		d.Remarks = append(d.Remarks, c.inline(fmt.Sprintf("A thread was resolved and %s, so it counts as open: %s (%s). %s", why, t.Assessment.Finding, t.URL, how)))
	}
	for _, r := range j.kept {
		if t := s.Threads[r.thread]; r.answer.Status == conversation.Pending {
			d.Remarks = append(d.Remarks, c.inline(fmt.Sprintf("A thread that was resolved is open again: %s (%s): %s. It counts where a reviewer raises its finding again.", t.Assessment.Finding, t.URL, j.in.Snapshot.voidWhy(t))))
		} else if r.answer.Because == conversation.BecauseVoid {
			d.Remarks = append(d.Remarks, c.inline(fmt.Sprintf("A thread that was resolved counts as open: %s (%s): %s. prloop opens it again: if the finding is settled at this commit, someone with write access other than the author can resolve the thread once more.", t.Assessment.Finding, t.URL, j.in.Snapshot.voidWhy(t))))
		}
	}
	for _, t := range s.Threads {
		if j.in.Snapshot.persons().Untold(t) {
			d.Remarks = append(d.Remarks, c.inline(fmt.Sprintf("A thread that the account of prloop resolved counts as open, for an answer of prloop's in it was changed, and may have been the reason: %s (%s). Someone with write access can open it and resolve it from another account.", t.Assessment.Finding, t.URL)))
		}
	}
	people := j.in.Snapshot.persons()
	for i, t := range s.Threads {
		said := people.Objections(t, objections.GraveThread(t))
		if slices.Contains(j.decisive, i) {
			said = append(said, people.Later(t)...)
		}
		if at := slices.IndexFunc(said, func(r conversation.Reply) bool { return people.Lapsed(t, r) }); at >= 0 {
			d.Remarks = append(d.Remarks, c.inline(fmt.Sprintf("What %s said in a thread counts although they approved since: %s (%s). The code near it is not known to be as it was at the commit that they approved. It counts until they approve once more with no more than thanks, or somebody settles the thread.", said[at].Author, t.Assessment.Finding, t.URL)))
		}
	}
	unsettled := j.unsettled()
	for g, group := range j.groups {
		if why := unsettled[g]; why != "" {
			d.Remarks = append(d.Remarks, c.inline(fmt.Sprintf("%s: %s.", j.findings[group[0]].Title, why)))
		}
	}
	for _, cured := range j.cured {
		if j.in.Round > 1 { // what is gone since the round before says it
			break
		}
		t := s.Threads[cured.thread]
		d.Cured = append(d.Cured, report.Cured{Title: c.inline(t.Assessment.Finding), Thread: t.URL})
	}
	d.Left = j.openThreads()
	d.Threadless = j.threadless()
	for _, i := range j.decisive {
		d.Unsettled = append(d.Unsettled, j.in.Snapshot.placed(i))
	}
	d.ByApp = j.in.Snapshot.persons().ByApp
	for _, ig := range s.Metadata.Ignored {
		if ig.Own {
			d.Notes = append(d.Notes, c.inline(fmt.Sprintf("A comment in prloop's name is ignored: %s (%s).", ig.Why, ig.URL)))
		}
	}
}

// openThreads are the open threads of ours that an approval does not link from a finding, and that nothing settles.
func (j verdict) openThreads() (out []report.Finding) {
	if j.outcome != review.Converged {
		return nil
	}
	s, now := j.in.Snapshot, j.in.rulings()
	for i, t := range s.Conversation.Threads {
		settled := slices.ContainsFunc(j.cured, func(c cure) bool { return c.thread == i }) || now[i].Status == conversation.Resolved
		if s.live(i) && !t.Closed && !settled && !j.links(i) {
			out = append(out, s.placed(i))
		}
	}
	return out
}

// links reports whether the report lists a finding that has a thread of ours, with a link to that. What it says of other code links nothing grave.
func (j verdict) links(thread int) bool {
	linked, known := j.inlined(), j.in.Snapshot.wordings()
	for g, group := range j.groups {
		about := func(w wording) bool {
			return w.thread == thread && objections.Grave(w.Finding) && slices.ContainsFunc(group, func(i int) bool { return !w.elsewhere(j.findings[i]) })
		}
		if j.threads[g] == thread && linked[g] != "" && j.shown(g) && (!objections.GraveThread(j.in.Snapshot.Conversation.Threads[thread]) || slices.ContainsFunc(known, about)) {
			return true
		}
	}
	return false
}

// placed is a thread of ours, by index in the conversation, as a report links it.
func (s Snapshot) placed(thread int) report.Finding {
	t := s.Conversation.Threads[thread]
	return report.Finding{File: s.named(t), Line: t.Line, Thread: t.URL}
}

// onLines shows the comments on lines as they would be posted.
func (j verdict) onLines() string {
	var list []report.Finding
	for _, p := range j.proposed {
		f := p.shown
		f.File, f.Line, f.LineEnd = p.lead.File, p.place.Line, 0
		if p.place.Start > 0 {
			f.Line, f.LineEnd = p.place.Start, p.place.Line
		}
		list = append(list, f)
	}
	return report.OnLines(list, j.in.Request.Target, j.in.Snapshot.Range.Head)
}

// listed are the distinct findings as the report shows them, and how many more are below the score threshold.
func (j verdict) listed(c cleaner, inlined map[int]string) (out []report.Finding, silent int) {
	open := j.open()
	for g, group := range j.groups {
		if !j.shown(g) {
			silent++
			continue
		}
		f := j.joined(c, group)
		f.Stuck, f.Must, f.Standing, f.Open = slices.Contains(j.stuck, g), j.must(g), j.standing(g), open[g]
		if f.Stuck {
			f.Reason = c.inline(j.stuckBecause(g))
		} else if slices.Contains(j.waiting, g) {
			f.Waits, f.Reason = true, c.inline(j.waitsFor(g))
		}
		f.Thread, f.Inline = inlined[g]
		if url := j.in.Snapshot.saidAt(j.findings[group[0]]); url != "" && f.Priority == review.P2 && !f.Stuck && !f.Waits {
			f.Said, f.Thread = true, url
		}
		f.Inline = f.Inline && !f.Stuck && !f.Waits // why it is stuck, or for whom it waits, stands nowhere else
		out = append(out, f)
	}
	return out, silent
}

// saidAt is the address of the thread of ours in which people say what a finding is made of; empty where it is made of something else.
func (s Snapshot) saidAt(f review.Finding) string {
	if s.Conversation == nil || !slices.ContainsFunc(s.Discussion.Threads, func(t review.Thread) bool { return t.Cured && f.ID == "thread-"+t.ID }) {
		return ""
	}
	for _, t := range s.Conversation.Threads {
		if f.ID == "thread-"+t.Node {
			return t.URL
		}
	}
	return ""
}

// must reports whether a distinct finding has to be fixed: it counts, or it is stuck.
func (j verdict) must(g int) bool { return j.musts(j.counted)[g] }

// musts says of the distinct findings whether they have to be fixed.
func (m matched) musts(c counted) []bool {
	out := make([]bool, len(m.groups))
	for g, group := range m.groups {
		out[g] = m.findings[group[0]].Priority != review.P3 && (c.counts[group[0]] || slices.Contains(m.stuck, g))
	}
	return out
}

// shown reports whether the report lists a distinct finding. It does not when every voice that gave a score is below the threshold; a
// finding without a score is never silenced (spec.md D3.1, "silence"), and none that has to be fixed: a verdict rests on nothing
// that the reader does not see.
func (j verdict) shown(g int) bool {
	return j.must(g) || slices.ContainsFunc(j.groups[g], func(i int) bool { return !j.in.Request.scores().Silent(j.findings[i]) })
}

// open says of each distinct finding whether it stands in the open part of the report.
func (j verdict) open() []bool {
	var facts []weight.Facts
	var offered []bool
	var at []int
	for g, group := range j.groups {
		if !j.shown(g) {
			continue
		}
		known := j.weigh(group)
		facts, offered, at = append(facts, known), append(offered, slices.Contains(j.stuck, g) || j.offers(known)), append(at, g)
	}
	out := make([]bool, len(j.groups))
	for i, open := range weight.Open(facts, offered, j.in.Request.budget()) {
		out[at[i]] = open || slices.Contains(j.stuck, at[i])
	}
	return out
}

// standing is what became of a distinct finding since the round before.
func (m matched) standing(g int) report.Standing {
	switch old := m.same[g]; {
	case old < 0 || m.in.Earlier[old].SetAside:
		return report.New
	case m.in.Earlier[old].Round == m.in.Round-1:
		return report.Still
	}
	return report.Back
}

// since is what is gone since the round before; nil in the first.
func (m matched) since(c cleaner) *report.Since {
	if m.in.Round < 2 {
		return nil
	}
	s := report.Since{Round: m.in.Round - 1}
	for i, t := range m.in.Earlier {
		first := t.Findings[0]
		switch {
		case t.Round != s.Round || t.SetAside || len(t.quiet) > 0 || first.Priority == review.P3 || slices.Contains(m.same, i):
		case m.doubted(t):
			s.Doubted++
		case !m.settled(t) || len(m.notRevisited(t, Tracked{})) > 0:
			s.Unasked++
		default:
			g := report.Gone{Priority: first.Priority, Title: c.inline(first.Title), Fixed: t.FixedIn > 0}
			if g.Fixed && t.Claim != nil && t.Claim.Kind == review.ClaimFixed {
				g.Commit = t.Claim.Commit
			}
			s.Gone = append(s.Gone, g)
		}
	}
	return &s
}

// offers reports whether a finding may stand in the open part of the report: under RuleVerified what counts, else what the same rule
// would take.
func (j verdict) offers(f weight.Facts) bool {
	if j.in.Request.Rule == RuleVerified {
		return f.Counts()
	}
	return f.Taken()
}

// apart are the findings that were set aside. What the verifier refuted stands there once, however many raised it.
func (j verdict) apart(c cleaner) []report.Finding {
	var out []report.Finding
	at := map[string]int{}
	for _, u := range j.unverified {
		who := u.Finding.Source.Name
		if refuted(u) {
			id := u.Finding.Assessment.FindingID
			if i, there := at[id]; there {
				out[i].By, out[i].Look = append(out[i].By, who), out[i].Look || tooGrave(u)
				continue
			}
			at[id] = len(out)
		}
		f := c.finding(u.Finding)
		f.By, f.Reason, f.Look = []string{who}, c.inline(u.Reason), tooGrave(u)
		out = append(out, f)
	}
	return out
}

// course is how the run went so far, in figures.
func course(rounds []review.RoundResult) []report.RoundLine {
	var out []report.RoundLine
	for _, r := range rounds {
		n := r.Shown()
		line := report.RoundLine{Round: r.Round, Head: r.Head, P0: n.P0, P1: n.P1, P2: n.P2, P3: n.P3, Stuck: r.Stuck}
		if r.Consensus != nil {
			line.Consensus = review.Conclusion(*r.Consensus)
		}
		if r.Fix != nil && r.Fix.Head != "" && r.Fix.Result != nil {
			line.Fixed, line.Rejected = len(r.Fix.Result.FixedIssues), len(r.Fix.Result.RejectedIssues)
		}
		out = append(out, line)
	}
	return out
}

// joined makes one shown finding of those that are the same one: the wording of the most urgent, which stands first, what the others say and
// what each would do about it, and the names of all who raised it.
func (m matched) joined(c cleaner, group []int) report.Finding {
	f := c.finding(m.findings[group[0]])
	f.Suggestions, f.Identity = nil, m.identify(group)[:shortID]
	for n, i := range group {
		one := m.findings[i]
		if n > 0 {
			w := report.Wording{By: one.Source.Name, Priority: one.Priority, Title: c.inline(one.Title), Description: c.block(one.Description)}
			if one.Category != f.Category {
				w.Category = one.Category
			}
			f.Also = append(f.Also, w)
		}
		if one.Source.Type != "agent" || one.Several() { // nobody can dismiss it
			f.Identity = ""
		}
		f.By = append(f.By, one.Source.Name)
		f.Confirmed = f.Confirmed || one.Assessment != nil && one.Assessment.Status == review.Confirmed
		if m.support[i] == evidence.Verified && f.Evidence == "" {
			f.Evidence = sanitize.Redact(one.Evidence)
		}
		f.Suggestions = append(f.Suggestions, c.suggestion(one)...)
	}
	slices.Sort(f.By)
	f.By = slices.Compact(f.By)
	return f
}

// shortID is how many digits of an identity people are shown.
const shortID = 8

// identify gives the identity of a distinct finding.
func (m matched) identify(group []int) string {
	var wordings []review.Finding
	for _, i := range group {
		wordings = append(wordings, m.findings[i])
	}
	return identity.ID(wordings)
}

// stuckBecause says what the fixer claimed of a finding that is back.
func (m matched) stuckBecause(g int) string {
	t := m.tracked[g]
	why := fmt.Sprintf("reported fixed in round %d, found again in round %d", t.FixedIn, m.in.Round)
	if t.Claim != nil && t.Claim.Commit != "" {
		why = fmt.Sprintf("reported fixed in round %d by commit %s, found again in round %d", t.FixedIn, short(t.Claim.Commit), m.in.Round)
	}
	if source := m.findings[m.groups[g][0]].Source; source.Type != "agent" {
		why += "; " + ifDone(source)
	}
	return why
}

// ifDone is how people say that what one of them asked for is done. A review is no conversation.
func ifDone(asked review.Source) string {
	if asked.Type == "review" {
		return "if it is done, approve, or dismiss the review"
	}
	return "if it is done, resolve the conversation"
}

// waitsFor says of what people said whose word it waits for now.
func (m matched) waitsFor(g int) string {
	t, when, fixed := m.tracked[g], "by an earlier run", ""
	if t.FixedIn > 0 {
		when = fmt.Sprintf("in round %d", t.FixedIn)
	}
	if t.Claim != nil && t.Claim.Commit != "" {
		fixed = " by commit " + short(t.Claim.Commit)
	}
	source := m.findings[m.groups[g][0]].Source
	return fmt.Sprintf("reported fixed %s%s, for %s to confirm: %s", when, fixed, sanitize.CodeSpan(source.Name), ifDone(source))
}

// cleaner sanitizes the fields of one report.
type cleaner struct{ policy sanitize.Policy }

// cleanerFor is the one for what is said of a target: its fields link to the pages of its repository and to no pull request but itself.
func cleanerFor(t review.Target) cleaner {
	return cleaner{sanitize.Policy{Repo: t.Repo, PR: t.PR}}
}

func (c cleaner) inline(s string) string { return sanitize.Inline(s, c.policy) }
func (c cleaner) block(s string) string  { return sanitize.Field(s, c.policy) }

func (c cleaner) finding(f review.Finding) report.Finding {
	out := report.Finding{
		ID: f.ID, Priority: f.Priority, Category: f.Category, File: f.File, Title: c.inline(f.Title),
		Description: c.block(f.Description), Suggestions: c.suggestion(f),
		Evidence: sanitize.Redact(f.Evidence), Language: f.Language, Score: f.Score, OriginalScore: f.OriginalScore,
	}
	if f.Line != nil {
		out.Line = *f.Line
	}
	if f.LineEnd != nil {
		out.LineEnd = *f.LineEnd
	}
	if f.Cause != nil {
		out.Cause = f.Cause.Commit
	}
	return out
}

// suggestion is what a finding says to do, if it does.
func (c cleaner) suggestion(f review.Finding) []report.Suggestion {
	if f.Suggestion == "" {
		return nil
	}
	return []report.Suggestion{{By: f.Source.Name, Text: c.block(f.Suggestion)}}
}

// receipt is the receipt of a run as everybody may read it.
func (c cleaner) receipt(run string, r review.Receipt) review.Receipt {
	r.Warnings, r.Calibration = c.lines(r.Warnings), c.inline(r.Calibration)
	r.LeftOut = slices.Clone(r.LeftOut)
	for i := range r.LeftOut {
		r.LeftOut[i].Reason = c.inline(r.LeftOut[i].Reason)
	}
	if r.Found != nil {
		f := *r.Found
		f.Excerpts, f.Refused = slices.Clone(f.Excerpts), c.lines(f.Refused)
		for i := range f.Excerpts {
			f.Excerpts[i].Reason = c.inline(f.Excerpts[i].Reason)
		}
		r.Found = &f
	}
	r.Agents = slices.Clone(r.Agents)
	for i := range r.Agents {
		a := &r.Agents[i]
		if a.Detail != "" {
			a.Reason, a.Detail = fmt.Sprintf("%s (whoever runs prloop sees more: `prloop show %s`)", a.Reason, run), ""
		}
		a.Reason, a.Next, a.Notes = c.inline(a.Reason), "", c.lines(a.Notes)
	}
	return r
}

func (c cleaner) lines(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = c.inline(s)
	}
	return out
}
