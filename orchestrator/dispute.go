package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// DisputePlan is who judges what people say against findings (decision 56), and whom a dispute goes to that is a person's.
type DisputePlan struct {
	// Judges are in the role of a verifier; the first whose model raised nothing of a dispute judges it, else the first.
	Judges []AgentPlan   `json:"judges"`
	Limits review.Limits `json:"limits"`
	// Ask are logins, and teams as org/team.
	Ask []string `json:"ask,omitempty"`
}

// dispute is a thread in which somebody said something that a judge is asked about.
type dispute struct {
	// thread is its index in the conversation, id what the judge knows it by, judge who that is, by index in the plan.
	thread int
	id     string
	judge  int
	// cure is true when nobody said anything: it is asked whether a push cured the finding.
	cure bool
}

// disputes are the threads of a round that are to be judged, in the order they were opened in.
func (in Inputs) disputes() (out []dispute) {
	plan, s := in.Request.Disputes, in.Snapshot.Conversation
	if plan == nil || s == nil || len(plan.Judges) == 0 {
		return nil
	}
	people := in.Snapshot.persons()
	for i, t := range s.Threads {
		if len(people.Open(t)) > 0 && len(out) < plan.Limits.Candidates {
			out = append(out, dispute{thread: i, id: fmt.Sprintf("D%d", len(out)+1), judge: in.judgeOf(t)})
		}
	}
	for _, i := range in.missed() { // which these are depends on a verifier, who is asked later: they are numbered as threads
		if t := s.Threads[i]; len(people.Open(t)) == 0 && len(out) < plan.Limits.Candidates {
			out = append(out, dispute{thread: i, id: fmt.Sprintf("C%d", i+1), judge: in.judgeOf(t), cure: true})
		}
	}
	return out
}

// missed are the open threads of an earlier head, by index in the conversation, whose finding nobody found again although enough reviewers
// read the whole change, and of which nothing shows that it is gone: the code it quotes stands there. A push may have cured it elsewhere.
func (in Inputs) missed() []int {
	s := in.Snapshot.Conversation
	if !slices.ContainsFunc(s.Threads, func(t conversation.Thread) bool { return in.stale(t) }) {
		return nil
	}
	in.Disputes, in.Request.Disputes = nil, nil // they are not asked yet
	m := match(gather(in).assess())
	if !m.whole() {
		return nil
	}
	threads, aside := m.threaded(), m.threadsAside()
	var out []int
	for i, t := range s.Threads {
		if in.stale(t) && !slices.Contains(threads, i) && !aside[i] && !slices.Contains(in.Snapshot.Gone, t.ID) && m.fixed(t) == nil {
			out = append(out, i)
		}
	}
	return out
}

// stale reports whether a thread is open and about an earlier head.
func (in Inputs) stale(t conversation.Thread) bool {
	return in.Snapshot.persons().Live(t) && !t.Closed && t.Head != in.Snapshot.Range.Head
}

// judgeOf is the judge of a thread: the first with another model than those who raised its finding.
func (in Inputs) judgeOf(t conversation.Thread) int {
	raised := map[string]bool{}
	for _, a := range in.Request.reviewers() {
		if slices.Contains(t.RaisedBy, a.Name) && a.Model != "" {
			raised[a.Model] = true
		}
	}
	return max(0, slices.IndexFunc(in.Request.Disputes.Judges, func(p AgentPlan) bool { return !raised[p.Model] }))
}

// isJudge reports whether a plan is one of the judges', and which.
func (r Request) isJudge(name string) (at int, ok bool) {
	if r.Disputes == nil {
		return 0, false
	}
	at = slices.IndexFunc(r.Disputes.Judges, func(p AgentPlan) bool { return p.Name == name })
	return at, at >= 0
}

// allSaid is the finding of a thread with all that the thread shows of it: what a judge says of it settles all of that.
func allSaid(t conversation.Thread) review.Finding {
	f := t.Asserted()
	for _, w := range t.Also {
		f.Description += fmt.Sprintf("\n\nAnother reviewer says of it (%s, %s): %s\n\n%s", w.Priority, w.Category, w.Finding, w.Assessment)
		if w.Evidence != "" {
			f.Description += "\n\nIt quotes:\n\n" + w.Evidence
		}
	}
	f.Description = strings.TrimSpace(f.Description)
	return f
}

// judgePayload is what a judge is asked: the findings as their threads say them, without who raised them, and what was said since.
func (in Inputs) judgePayload(judge int) *review.VerifyPayload {
	p := review.VerifyPayload{Findings: []review.Finding{}}
	if v := in.Request.Verify; v != nil {
		p.LookBelow, p.ExtraFiles, p.ExtraLines = v.LookBelow, v.ExtraFiles, v.ExtraLines
	}
	people := in.Snapshot.persons()
	for _, d := range in.disputes() {
		if d.judge != judge {
			continue
		}
		t := in.Snapshot.Conversation.Threads[d.thread]
		f := allSaid(t)
		f.ID, f.Source = d.id, review.Source{Type: "agent"}
		p.Findings = append(p.Findings, f)
		talk := review.Dispute{FindingID: d.id, Said: []review.Remark{}}
		for i, r := range t.DeveloperReplies {
			if d.cure {
				break
			}
			if i == t.Answered && t.Reason != "" {
				talk.Said = append(talk.Said, review.Remark{By: "prloop", Body: t.Reason})
			}
			switch v := people.Voice(r.Author, r.Bot); {
			case !v.Heard(): // what strangers said before our last answer is no part of it either
			case v.Author:
				talk.Said = append(talk.Said, review.Remark{By: "author", Body: r.Body})
			default:
				talk.Said = append(talk.Said, review.Remark{By: "developer", Body: r.Body})
			}
		}
		p.Disputes = append(p.Disputes, talk)
	}
	for i, d := range p.Disputes {
		p.Disputes[i].Said = latest(d.Said, talkBytes/len(p.Disputes))
	}
	return &p
}

// judgeDisputes asks the judges about what people said since our last answers, each as a step of its own. What one does not answer stays
// as it is.
func (l *Loop) judgeDisputes(ctx context.Context, steps Steps, req Request, in Inputs, spent time.Duration) (out []AgentReport, err error) {
	in.Reports = ordered(in.Reports)
	asked := in.disputes()
	for at := range len(asked) {
		if slices.ContainsFunc(asked[:at], func(d dispute) bool { return d.judge == asked[at].judge }) {
			continue
		}
		plan := req.Disputes.Judges[asked[at].judge]
		plan.Limits = &req.Disputes.Limits
		report, err := doJSON(ctx, steps, fmt.Sprintf("round %d: ask %s", in.Round, plan.Name), func(ctx context.Context) (AgentReport, error) {
			l.say("waiting for the judge of " + plural(len(asked), "disputed thread", "disputed threads"))
			return l.ask(ctx, req, plan, in, req.wallTime()-spent)
		})
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", plan.Name, err)
		}
		out = append(out, report)
	}
	return out, nil
}

// checkCures holds what a judge shows for cures against what stood there before: code that the head had when the thread was opened cures
// nothing. Where that cannot be told, nothing is shown. Nor is it, for cures and concessions, in a file whose name is masked where it is kept: nobody could tell later whether
// it still stands (threats.md T750).
func (l *Loop) checkCures(ctx context.Context, in Inputs, a *review.Answer, found []evidence.Result) error {
	check := in.Snapshot.checker(l.History, l.Learned)
	asked := in.disputes()
	for i, s := range a.Verifier.Assessments {
		if s.Fact == nil || found[i].Status != evidence.Verified {
			continue
		}
		if file := s.Fact.File; strings.Contains(file, sanitize.Redacted) || l.Learned.Redact(file) != file {
			found[i] = evidence.Result{Status: evidence.False, Reason: "is in a file whose name is masked"}
			continue
		}
		at := slices.IndexFunc(asked, func(d dispute) bool { return d.id == s.FindingID && d.cure })
		if at < 0 {
			continue
		}
		t := in.Snapshot.Conversation.Threads[asked[at].thread]
		about, err := check.Read(ctx, t.Head, t.File)
		before, since := evidence.File{}, (*diff.Diff)(nil)
		if err == nil && about.Exists {
			since, err = l.History.Diff(ctx, t.Head, in.Snapshot.Range.Head)
		}
		if err == nil && about.Exists {
			before, err = check.Read(ctx, t.Head, nameBefore(since, check.File(s.Fact.File)))
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil || !about.Exists:
			found[i] = evidence.Result{Status: evidence.False, Reason: "cannot be held against the commit on which the finding was raised"}
		case before.Exists && before.Quotes(s.Fact.Evidence), about.Quotes(s.Fact.Evidence):
			found[i] = evidence.Result{Status: evidence.False, Reason: "stood there when the finding was raised"}
		}
	}
	return nil
}

// nameBefore is what a file was called on the older side of a diff.
func nameBefore(d *diff.Diff, file string) string {
	if f := d.File(spelling.Raw(file)); f != nil && f.OldPath != "" {
		return spelling.Name(f.OldPath)
	}
	return file
}

// judgeQuestions are what the judges of a round are asked.
func (in Inputs) judgeQuestions() (out []*review.VerifyPayload) {
	for i := range in.Request.Disputes.Judges {
		out = append(out, in.judgePayload(i))
	}
	return out
}

// ruling is what a judge says, and how the code it shows fared.
type ruling struct {
	said  review.Assessment
	shown evidence.Result
}

// fact is where the code stands that a judge shows.
func (r ruling) fact() *conversation.Place {
	if r.said.Fact == nil {
		return nil
	}
	return &conversation.Place{File: r.said.Fact.File, Line: r.shown.Quoted[0], LineEnd: r.shown.Quoted[1]}
}

func (r ruling) proven() bool {
	return r.shown.Status == evidence.Verified && r.said.Status == review.Refuted && r.said.Ruling == review.RulingConceded
}

// ruled is what we say in a thread, the judge's reason, and the code that shows what is conceded or cured. cured is true when a push cured its finding.
type ruled struct {
	conversation.Answer
	reason string
	fact   *conversation.Place
	cured  bool
	// maintained is true when the judge says that the finding holds.
	maintained bool
}

// rulings are our answers in disputed threads, by index in the conversation (decision 56).
func (in Inputs) rulings() map[int]ruled {
	if len(in.Disputes) == 0 {
		return nil
	}
	said := map[string]ruling{}
	asked := in.disputes()
	for _, h := range in.Disputes {
		judge, ok := in.Request.isJudge(h.Answer.Receipt.Name)
		if !ok || h.Answer.Verifier == nil {
			continue
		}
		for i, a := range h.Answer.Verifier.Assessments {
			if slices.ContainsFunc(asked, func(d dispute) bool { return d.id == a.FindingID && d.judge == judge }) {
				v := ruling{said: a}
				if i < len(h.Evidence) {
					v.shown = h.Evidence[i]
				}
				said[a.FindingID] = v
			}
		}
	}
	out := map[int]ruled{}
	for _, d := range asked {
		v, ok := said[d.id]
		if !ok {
			continue
		}
		if d.cure {
			if v.proven() {
				out[d.thread] = ruled{reason: strings.TrimSpace(v.said.Reason), cured: true, fact: v.fact()}
			}
			continue
		}
		t := in.Snapshot.Conversation.Threads[d.thread]
		judged := conversation.Judged{Ruling: v.said.Ruling, Risk: v.said.Risk, Proven: v.proven()}
		if a, ok := in.Snapshot.persons().Decide(t, objections.GraveThread(t) || objections.SaysGrave(in.Snapshot.persons(), t), judged); ok {
			r := ruled{Answer: a, reason: strings.TrimSpace(v.said.Reason), maintained: v.said.Ruling == review.RulingMaintained}
			if a.Ruling == conversation.Conceded {
				r.fact = v.fact()
			}
			out[d.thread] = r
		}
	}
	return out
}

// agreed takes the findings out that are settled in their threads: what we conceded, and what people settled. A distinct finding falls silent
// with one of its wordings, if that settles each grave one of them.
func (g gathered) agreed() gathered {
	s := g.in.Snapshot.Conversation
	if s == nil || len(g.findings) == 0 {
		return g
	}
	people, now := g.in.Snapshot.persons(), g.in.rulings()
	groups := identity.Join(g.findings)
	of := g.settledBy(g.heavy(groups))
	if len(of) == 0 {
		return g
	}
	same := returning(g.in.Earlier, g.findings, groups)
	out, gone := g, map[int]bool{}
	out.dismissed = slices.Clone(g.dismissed)
	for n, group := range groups {
		thread := g.settledIn(group, of)
		if thread < 0 || slices.ContainsFunc(group, func(i int) bool { return g.findings[i].Source.Type != "agent" }) {
			continue
		}
		t := s.Threads[thread]
		by, why, ok := people.Settled(t, objections.GraveThread(t))
		if r := now[thread]; !ok {
			by, why = r.Word, string(r.Ruling)+": "+r.reason
		}
		var all []review.Finding
		for _, i := range group {
			gone[i], all = true, append(all, g.findings[i])
		}
		out = out.quiet(same[n], all)
		out.dismissed = append(out.dismissed, review.Dismissed{
			ID: identity.ID(all), Finding: g.findings[group[0]], By: cmp.Or(by, "prloop"), Why: sanitize.Redact(why), File: t.File, Line: t.Line, Thread: t.URL,
		})
	}
	if len(gone) == 0 {
		return g
	}
	out.findings, out.support = []review.Finding{}, map[int]evidence.Status{}
	for i, f := range g.findings {
		if !gone[i] {
			out.support[len(out.findings)] = g.support[i]
			out.findings = append(out.findings, f)
		}
	}
	return out
}

// settledIn is the thread that settles a distinct finding; -1 when none does. of is what settledBy gives: each grave
// wording has to be settled, for who resolved one of them may not have seen the others, and none may be open in another thread. Others go along
// where they are about the code that the thread is about, and that is as it was.
func (g gathered) settledIn(group []int, of map[int]int) int {
	thread := -1
	for _, i := range group {
		t, ok := of[i]
		if !ok && objections.Grave(g.findings[i]) || ok && t < 0 {
			return -1
		}
		if ok && thread < 0 {
			thread = t
		}
	}
	for _, i := range group {
		if _, ok := of[i]; !ok && thread >= 0 && !g.in.Snapshot.goesAlong(g.findings[i], thread) {
			return -1
		}
	}
	return thread
}

// answers are what the round says in disputed threads. Where the problem is gone that is said instead.
func (j verdict) answers() (out []reply) {
	for i, r := range j.in.rulings() {
		of := func(c reply) bool { return c.thread == i }
		if r.cured || slices.ContainsFunc(j.cured, func(c cure) bool { return c.thread == i }) || slices.ContainsFunc(j.kept, of) {
			continue
		}
		out = append(out, reply{thread: i, answer: r.Answer, reason: r.reason, fact: r.fact})
	}
	out = append(out, j.kept...)
	slices.SortFunc(out, func(a, b reply) int { return a.thread - b.thread })
	return out
}

// reply is what we say in a disputed thread.
type reply struct {
	thread int
	answer conversation.Answer
	reason string
	fact   *conversation.Place
	// reopen is true where the thread is opened again, silent where nothing is said there.
	reopen, silent bool
}

// words is the text of an answer. ask are who is asked to decide; byApp is true where resolving the thread decides nothing.
func (r reply) words(reason string, ask []string, byApp bool, head string, target review.Target) string {
	a := r.answer
	switch {
	case a.Status == conversation.Disputed:
		return report.Maintained(reason, byApp)
	case a.Status == conversation.Pending:
		return report.OpenAgain(reason)
	case a.Status == conversation.HandedOver && a.Because == conversation.BecauseGrave:
		return report.HandedOver(conversation.HandedOverWords, "What was said against this convinces the judge, but no model alone takes out a P0, a P1 or a security finding.", reason, ask, byApp)
	case a.Status == conversation.HandedOver && a.Because == conversation.BecauseDivided:
		return report.HandedOver(conversation.HandedOverWords, "The judge would settle this, but people in this thread do not agree, and no model decides between them. The judge says:", reason, ask, byApp)
	case a.Status == conversation.HandedOver && a.Because == conversation.BecauseVoid:
		return report.HandedOver(conversation.HandedOverWords, "This thread was resolved, and is open again:", reason, ask, byApp)
	case a.Status == conversation.HandedOver:
		return report.HandedOver(conversation.HandedOverWords, "Both sides have said what they have to say, and do not agree.", reason, ask, byApp)
	case a.Ruling == conversation.Word:
		return report.Settled(conversation.ResolvedWords, "This pull request has no human reviewers, so the word of "+sanitize.CodeSpan(a.Word)+" stands. prloop still thinks: "+reason, head, target)
	case a.Ruling == conversation.Later:
		return report.Settled(conversation.ResolvedWords, "This may wait for another pull request: "+reason, head, target)
	}
	return report.Settled(conversation.ResolvedWords, "You are right: "+reason, head, target)
}
