package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/consensus"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Inputs is everything a verdict rests on. Judging the same inputs gives the same bytes, whatever order the answers stand
// in; `prloop replay` proves it from the artifacts.
type Inputs struct {
	Request  Request       `json:"request"`
	Round    int           `json:"round"`
	Snapshot Snapshot      `json:"snapshot"`
	Reports  []AgentReport `json:"reports"`
	// Scan is the scout's answer; nil when no scout was asked. Escalated says why the change is reviewed in full where the request has a quick
	// scan; empty when the scan is all there is.
	Scan      *AgentReport `json:"scan,omitempty"`
	Escalated string       `json:"escalated,omitempty"`
	// Found is what the finder brought; nil when it was not asked.
	Found *Found `json:"found,omitempty"`
	// Verifier is what the verifier said of their findings; nil when it was not asked.
	Verifier *AgentReport `json:"verifier,omitempty"`
	// Disputes is what the judges said of what people said against findings.
	Disputes []AgentReport `json:"disputes,omitempty"`
	// Unruled is true when an answer of a judge fell away because of what was said after it: nothing is fixed before it is asked again.
	Unruled bool `json:"unruled,omitempty"`
	// Earlier are the findings of earlier rounds, at their places in this round's head.
	Earlier []Tracked `json:"earlier,omitempty"`
	// Written are the lines at this round's head that fixes of this run wrote.
	Written []Written `json:"written,omitempty"`
	// Merged names, by commit, who merged dismissals of grave findings: people other than the author of the pull request.
	Merged map[string]string `json:"merged,omitempty"`
	// GateMissing says why the commit status cannot be set; empty when it can.
	GateMissing string `json:"gateMissing,omitempty"`
	// Past is what the earlier rounds came to, oldest first.
	Past []review.RoundResult `json:"past,omitempty"`
	// Inline is what became of the round's comments on lines; nil where there were none to be made.
	Inline *Inlined `json:"inline,omitempty"`
	// Says is the run whose report stands for this one, where this one came to the same; empty when it posted its own.
	Says string `json:"says,omitempty"`

	// find is what a finder is asked now.
	find *review.FindTask
}

// Judgement is what one round comes to.
type Judgement struct {
	Inputs Inputs
	Result review.RunResult
	// GoesOn is true when the fixer is to be asked with Payload; Result then says how the run would end without it.
	GoesOn  bool
	Payload review.FixPayload
	// Tracked is what the next round has to know of this one and those before.
	Tracked []Tracked
	// Report is the Markdown body, not yet sanitized as a whole.
	Report string
	// seen are the distinct findings of the round.
	seen []sighting
	// proposed are the comments on lines that are to be made, cured the threads that are to be settled, and reopened those that are to be
	// opened again, by index in the conversation.
	proposed []proposal
	cured    []cure
	reopened []int
	// answers are what is to be said in disputed threads.
	answers []reply
	// raised is what the marker of the report keeps: who is to be heard again.
	raised []string
	// since is the first commit on which something of that was raised.
	since string
	// fixed is what it keeps of what people said that fixes are said to have done.
	fixed []string
}

// Judge turns a round's answers into verdict, outcome and report. It is a pure function of stages that hand their values on:
// gathered, matched, verdict, and the report of that.
func Judge(in Inputs) Judgement {
	if in.Request.alone() != nil {
		return judgeCommand(in)
	}
	if in.scanned() {
		return judgeScan(in)
	}
	in.Reports = ordered(in.Reports)
	d := decide(match(gather(in).assess()))
	result := d.result()
	return Judgement{Inputs: in, Result: result, GoesOn: d.next.goesOn, Payload: d.next.payload, Tracked: d.tracked, Report: d.report(result), seen: d.sightings(),
		proposed: d.proposed, cured: d.cured, reopened: d.reopened(), answers: d.answers(), raised: d.raised(), since: d.sinceGrave(), fixed: d.fixedSaid()}
}

// verdict is the third stage of a judgement: the verdict, how the round ends by it, and what follows.
type verdict struct {
	matched
	counted
	verdict review.Verdict
	// why is the sentence of the rule that decides, in distinct findings; those of verdict count each as often as it was raised.
	why     string
	receipt review.Receipt
	outcome review.Outcome
	reason  string
	// threads are those of ours that the distinct findings have, by index in the conversation, and cured those whose finding is gone.
	// proposed are the comments on lines to be made; overMost is how many more there would be.
	// decisive are those of our threads for which alone it does not approve (weighing).
	threads  []int
	decisive []int
	cured    []cure
	kept     []reply
	proposed []proposal
	overMost int
	// next is what follows on a review that asks for changes; empty after any other.
	next turn
}

// decide draws the conclusion.
func decide(m matched) verdict {
	d := verdict{matched: m, counted: m.supported(), receipt: m.makeReceipt(), threads: m.threaded()}
	d.verdict = consensus.Decide(d.counting, m.comments.ReviewState)
	d.verdict.Distinct = d.distinct
	d.why = consensus.Decide(d.leads, m.comments.ReviewState).Reasons[0]
	d.notes = slices.Clone(m.notes)
	for _, words := range []func() (string, string){d.unsupportedWords, d.notTakenWords} {
		if reason, note := words(); note != "" {
			d.why += reason
			d.notes = append(d.notes, note)
		}
	}
	if note := m.uninvited(); note != "" {
		d.notes = append(d.notes, note)
	}
	d.outcome, d.reason = m.ends(d.verdict.Consensus, d.why, d.counted)
	if d.outcome == review.Converged {
		if d.decisive = d.weighing(d.cures()); len(d.decisive) > 0 {
			d.outcome, d.reason = review.ChangesRequested, m.in.unresolvedWords(len(d.decisive))
		}
	}
	if d.outcome == review.ChangesRequested {
		d.next = m.converge(d.counted, d.reason)
		d.outcome, d.reason, d.tracked = d.next.outcome, d.next.reason, d.next.tracked
	}
	if d.outcome == review.ChangesRequested && !d.next.goesOn && m.in.Request.staticOnly() && m.found() {
		d.outcome = review.StaticOnly
	}
	d.proposed, d.overMost = d.proposals(d.cleaner())
	gone := d.cures()
	d.kept = d.leftOpen(gone)
	d.cured = slices.DeleteFunc(gone, func(c cure) bool {
		return objections.SaysGrave(m.in.Snapshot.persons(), m.in.Snapshot.Conversation.Threads[c.thread])
	})
	d.receipt.Objected = m.in.objected(d.cured)
	return d
}

// result is what the round comes to.
func (d verdict) result() review.RunResult {
	in := d.in
	result := review.RunResult{
		Run: in.Request.Run, Target: in.Request.Target, URL: in.Snapshot.PR.URL, Outcome: d.outcome, Reason: d.reason,
		Round: in.Round, Rules: d.verdict.Rules, Issues: d.verdict.Issues, Distinct: d.verdict.Distinct,
		DistinctIssues: review.Count(d.leads), Findings: d.findings, Groups: []review.Group{}, Unsupported: d.unsupported, NotTaken: d.notTaken, Unverified: d.unverified, Dismissed: d.dismissed, DismissalNotes: d.dismissalNotes(), Receipt: d.receipt, Objected: objected(d.comments), Comments: []string{}, Started: in.Request.Started,
		Stuck: []review.Finding{},
	}
	if d.speaks(d.outcome) {
		word := string(d.verdict.Consensus)
		result.Consensus = &word
	}
	for g, group := range d.groups {
		result.Groups = append(result.Groups, review.Group{Findings: group, ID: d.identify(group), Counts: d.counts[group[0]], Stuck: slices.Contains(d.stuck, g)})
	}
	for _, g := range d.stuck {
		result.Stuck = append(result.Stuck, d.findings[d.groups[g][0]])
	}
	result.Scan = in.scanResult()
	result.Gate = in.gate(result)
	result.Review = d.reviewResult(result)
	result.Rounds = append(slices.Clone(in.Past), review.RoundResult{
		Round: in.Round, Head: in.Snapshot.Range.Head, Consensus: result.Consensus, Issues: result.Issues, Distinct: result.Distinct, DistinctIssues: &result.DistinctIssues,
		Stuck: len(d.stuck), Introduced: d.introduced, Agents: d.receipt.Agents,
	})
	return result
}

// settled reports whether somebody who raised an earlier finding gave a complete answer in this round, and none who did says that it
// remains or that nobody can tell. A person's is settled by the person.
func (g gathered) settled(t Tracked) bool {
	if g.doubted(t) {
		return false
	}
	return slices.ContainsFunc(t.Findings, func(f review.Finding) bool {
		if t.silent(f.Source) {
			return true
		}
		if !objections.Grave(f) { // who thought it minor does not settle that it is grave
			return !slices.ContainsFunc(t.Findings, objections.Grave)
		}
		return f.Source.Type != "agent" || g.looked(f.Source.Name)
	})
}

// notRevisited are the grave wordings of an earlier finding whose own reviewers have not looked again, or looked and doubt that it is gone: each settles
// its own, and nobody else's. Those who raise it again in now do.
func (g gathered) notRevisited(earlier, now Tracked) (left []review.Finding) {
	for _, f := range earlier.Findings {
		mine := func(o review.Finding) bool { return sameSource(o.Source, f.Source) }
		open := !g.looked(f.Source.Name) && !earlier.silent(f.Source) || g.doubtedBy(earlier, f.Source)
		if objections.Grave(f) && f.Source.Type == "agent" && open && !slices.ContainsFunc(now.Findings, mine) {
			left = append(left, f)
		}
	}
	return left
}

// looked reports whether an agent gave a complete answer in this round.
func (g gathered) looked(agent string) bool {
	return slices.ContainsFunc(g.in.Reports, func(h AgentReport) bool {
		return h.Answer.Receipt.Name == agent && hasLooked(h.Answer.Receipt)
	})
}

// withoutRules reports whether the static reviewer was asked and did not end well. It does not count towards a verdict, but
// what it would have found is not to be passed over.
func (g gathered) withoutRules() bool {
	return slices.ContainsFunc(g.in.Reports, func(h AgentReport) bool {
		r := h.Answer.Receipt
		return r.Role == review.RoleReviewer && r.Kind == review.KindStatic && r.State != review.AgentComplete
	})
}

// untold says of which reviewer, or command that counts, a limit may have kept something back that has to be fixed, where nothing of what it told counts any more; empty when of none.
// The most urgent are told first: behind a P3 there is nothing else, but for what has a limit of its own.
func (g gathered) untold() string {
	minor := func(f review.Finding) bool { return f.Priority == review.P3 && f.Unconfirmed == "" }
	others := func(f review.Finding) bool { return (f.Priority != review.P3 || objections.Grave(f)) && !ofSecrets(f) }
	for _, h := range g.in.Reports {
		r, said := h.Answer.Receipt, h.Answer.Reviewer
		if h.Untold > 0 && said == nil && g.in.Request.decides(h) {
			return "the command " + h.untoldWords(g.in.Request.command(h).ID)
		}
		if said != nil && said.Omitted > 0 && (h.Untold > 0 || overfull(h) || full(h, review.MostGrave, others) || !slices.ContainsFunc(said.Findings, minor)) {
			return fmt.Sprintf("%s found %d more than it may report, and what it reported is settled", sanitize.CodeSpan(r.Name), said.Omitted)
		}
	}
	return ""
}

// untoldWords say what the limit of a command leaves out.
func (h AgentReport) untoldWords(id string) string {
	return fmt.Sprintf("%s found %d more to be fixed than it may report, and nothing that it reported counts: raise its `maxFindings`, or set `output.counts` to false", sanitize.CodeSpan(id), h.Untold)
}

// overfull reports whether the static reviewer found as many secrets as it reports, and more.
func overfull(h AgentReport) bool { return full(h, review.MostSecrets, ofSecrets) }

// full reports whether the static reviewer reports as many findings of a kind as it may, and found more than it reports.
func full(h AgentReport, most int, of func(review.Finding) bool) bool {
	said, n := h.Answer.Reviewer, 0
	if h.Answer.Receipt.Kind != review.KindStatic || said == nil || said.Omitted == 0 {
		return false
	}
	for _, f := range said.Findings {
		if of(f) {
			n++
		}
	}
	return n >= most
}

// ofSecrets reports whether a finding of the static reviewer is one of its rules about secrets.
func ofSecrets(f review.Finding) bool { return strings.HasPrefix(f.ID, secretRule) }

// found reports whether a reviewer, not a person, raised something that has to be fixed.
func (g gathered) found() bool {
	return slices.ContainsFunc(g.findings, func(f review.Finding) bool { return f.Source.Type == "agent" && f.Priority != review.P3 })
}

// setAside are the findings that were set aside and are too severe to be passed over (decision 32).
func (g gathered) setAside() []review.Unverified {
	return slices.DeleteFunc(slices.Clone(g.unverified), func(u review.Unverified) bool { return !tooGrave(u) })
}

// setAsideWords say why such findings need a person.
func (g gathered) setAsideWords() string {
	all := g.setAside()
	no := len(slices.DeleteFunc(slices.Clone(all), func(u review.Unverified) bool { return !refuted(u) }))
	switch {
	case no == len(all):
		return fmt.Sprintf("%s refuted by the verifier, whose word alone settles none that grave: a person has to look", plural(no, "finding was", "findings were"))
	case no > 0:
		return fmt.Sprintf("%s set aside, %d of them by the verifier: a person has to look", plural(len(all), "finding was", "findings were"), no)
	}
	return fmt.Sprintf("%s set aside and nothing proves %s wrong: a person has to look", plural(len(all), "P0 or P1 finding was", "P0 or P1 findings were"), them(len(all)))
}

// unpassed are the verify commands that passed on the last fix and failed once it was pushed: on the head under review.
func (g gathered) unpassed() []review.Check {
	n := len(g.in.Past)
	if n == 0 || g.in.Past[n-1].Fix == nil {
		return nil
	}
	return failing(g.in.Past[n-1].Fix.PushedChecks)
}

// fixedTests says which files of tests prloop's own commits of the pull request change or add; empty when they do not. The fix reports that say how are collapsed.
func (g gathered) fixedTests() string {
	changed, added := filesNamed(g.in.Snapshot.TestsChanged), filesNamed(g.in.Snapshot.TestsAdded)
	switch {
	case changed == "" && added == "":
		return ""
	case changed == "":
		return fmt.Sprintf("Fixes by prloop add files of tests: %s.", added)
	case added != "":
		added = fmt.Sprintf(" They add %s.", added)
	}
	return fmt.Sprintf("Fixes by prloop change files of tests: %s. Look whether they still check what they did.%s", changed, added)
}

// filesNamed lists some files.
func filesNamed(files []string) string {
	var names []string
	for _, file := range files[:min(len(files), mostNamed)] {
		names = append(names, sanitize.CodeSpan(file))
	}
	if more := len(files) - mostNamed; more > 0 {
		names = append(names, plural(more, "more file", "more files"))
	}
	return strings.Join(names, ", ")
}

// plural writes a count with the right words.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// short abbreviates an object id for people.
func short(id string) string { return id[:min(len(id), 10)] }
