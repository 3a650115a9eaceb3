package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// QuickPlan is a quick scan that comes before a full review, or in its place (decision 71).
type QuickPlan struct {
	Tier     escalate.Tier     `json:"tier"`
	Triggers escalate.Triggers `json:"triggers"`
	// Scout is who looks, within Limits; Limits.ContextTokens bounds the diff it is given.
	Scout  AgentPlan     `json:"scout"`
	Limits review.Limits `json:"limits"`
}

// The words of a scan on GitHub: OpScan names the posting of its comment, scanMarker stands in its marker where the id of a command would, which
// has no slash.
const (
	OpScan     = "scan"
	scanMarker = "quick/scan"
)

// scanName is what the comment of a scan is named by in its marker: the words it comes to have later keep the name.
type scanName struct {
	ReviewID string `json:"reviewId"`
	Run      string `json:"run"`
	Round    int    `json:"round"`
	Nonce    string `json:"nonce"`
}

// ourComment is a comment of ours as its marker and its heading tell.
func ourComment(c review.Comment, m sanitize.Marker) OurComment {
	out := OurComment{ID: c.ID, URL: c.URL, Command: m.Command}
	switch {
	case m.Command == scanMarker:
		out.Scan = &scanName{m.ReviewID, m.Run, m.Round, m.Nonce}
	case m.Command == "" && m.Part == 1:
		out.Approves = report.Approved(c.Body)
		out.Asks = !out.Approves
	}
	return out
}

// narrow makes of a brief what a scout is given: the diff and nothing else, in the order of the diff until the budget is spent. What is left
// out then is unread.
func (q QuickPlan) narrow(b review.Brief) review.Brief {
	b.Guidance, b.Related, b.Files = nil, nil, slices.Clone(b.Files)
	left := q.Limits.ContextTokens
	for i := range b.Files {
		f := &b.Files[i]
		f.Context = nil
		if f.Omitted != "" {
			continue
		}
		if q.Limits.ContextTokens > 0 && estimatedTokens(f.Diff) > left {
			f.Omitted, f.Diff, f.HunksGiven = "over the budget of the quick scan", "", 0
			b.Status = "truncated"
			continue
		}
		left -= estimatedTokens(f.Diff)
	}
	return b
}

// estimatedTokens is the size of a diff for a model, rounded up: three bytes are a token, and the margin of each line is some more.
func estimatedTokens(diff string) int { return (len(diff)+2)/3 + 3*strings.Count(diff, "\n") }

// scanned reports whether a scan is all there is to judge.
func (in Inputs) scanned() bool {
	return in.Request.Quick != nil && in.Escalated == "" && len(in.Reports) == 0 && in.Request.alone() == nil
}

// onlyScanned reports whether a run ended with its scan.
func onlyScanned(r review.RunResult) bool { return r.Scan != nil && r.Scan.Escalated == "" }

// scout is the complete answer of the scout; nil when there is none.
func (in Inputs) scout() *review.ScoutResult {
	if in.Scan == nil || in.Scan.Answer.Receipt.State != review.AgentComplete {
		return nil
	}
	return in.Scan.Answer.Scout
}

// scouted are the facts of the gate with what the scout says of them.
func (in Inputs) scouted(f gate.Facts) gate.Facts {
	if s := in.scout(); s != nil {
		f.Scout = s.Complexity
	}
	return f
}

// scanResult is the scan as the result of a run has it; nil when there was none.
func (in Inputs) scanResult() *review.Scan {
	if in.Scan == nil {
		return nil
	}
	out := &review.Scan{Observations: []review.Observation{}, Reasons: []string{}, Escalated: in.Escalated}
	if s := in.scout(); s != nil {
		out.Complexity, out.Verdict = s.Complexity, s.Verdict
		out.Observations, out.Reasons = append(out.Observations, s.Observations...), append(out.Reasons, s.Reasons...)
	}
	if in.scanned() {
		out.Standing = in.standing()
	}
	return out
}

// scanCoverage is which changed files stood whole in the scout's request.
func (in Inputs) scanCoverage() coverage {
	var readers [][]string
	if in.scout() != nil {
		readers = [][]string{in.Scan.Missed}
	}
	return cover(in.Snapshot.Brief, readers, nil, 1, gathered{in: in}.hidden())
}

// whole reports whether the scout gave a complete answer and was given every changed line.
func (in Inputs) whole() bool {
	return in.scout() != nil && in.Snapshot.Brief.Status == "ok" && len(in.scanCoverage().unread()) == 0
}

// standing is what keeps a pull request from passing by a scan, whatever the scout says: a scan settles nothing that a person, or a full
// review, asked for.
func (in Inputs) standing() []string {
	out := []string{}
	if in.Request.Target.Local() {
		return out
	}
	said := collectComments(in)
	if by := said.ReviewState.ChangesRequestedBy; said.ReviewState.HasChangesRequested && slices.ContainsFunc(by, func(c review.ChangesRequestedBy) bool { return review.MayBlock(c.Association) }) {
		out = append(out, "Changes are requested by somebody who may block.")
	}
	if n := said.Stats.Unresolved; n > 0 {
		out = append(out, plural(n, "review thread is", "review threads are")+" unresolved.")
	}
	if said.ThreadsTruncated {
		out = append(out, "The discussion is longer than what was read: open threads may exist.")
	}
	if s := in.Snapshot.Conversation; s != nil {
		open := 0
		for _, t := range s.Threads {
			if t.Live() && !t.Closed {
				open++
			}
		}
		if open > 0 {
			out = append(out, plural(open, "finding of an earlier review is", "findings of an earlier review are")+" open in a thread.")
		}
	}
	for _, c := range slices.Backward(in.Snapshot.Ours) { // the newest report decides
		if c.Asks || c.Approves {
			if c.Asks {
				out = append(out, "The newest full review did not approve ("+c.URL+").")
			}
			break
		}
	}
	return out
}

// scanVerdict is what the scan comes to by rule: the scout's word, unless something stands against it.
func (in Inputs) scanVerdict() review.ScanVerdict {
	if s := in.scout(); s == nil || s.Verdict != review.LooksGood || len(in.standing()) > 0 {
		return review.Flag
	}
	return review.LooksGood
}

// changeFacts are what triggers look at before the scan.
func (in Inputs) changeFacts() escalate.Facts {
	f := escalate.Facts{Labels: in.Snapshot.PR.Labels, Untrusted: in.Snapshot.Untrusted}
	for _, file := range in.Snapshot.Brief.Files {
		f.Paths = append(f.Paths, spelling.Raw(file.Path))
		if file.OldPath != "" {
			f.Paths = append(f.Paths, spelling.Raw(file.OldPath))
		}
		f.Lines += file.Additions + file.Deletions
	}
	return f
}

// fullAfterScan says why a full review follows on the scan; empty when none does.
func (in Inputs) fullAfterScan() string {
	s := escalate.Scan{Whole: in.whole(), Verdict: in.scanVerdict()}
	if said := in.scout(); said != nil {
		s.Complexity = said.Complexity
	}
	return escalate.After(in.Request.Quick.Tier, in.Request.Quick.Triggers, s)
}

// judgeScan is Judge for a run that is a scan and no review. It passes what the scout saw whole and found good, and what nothing stands
// against; it is never an approval.
func judgeScan(in Inputs) Judgement {
	g := gathered{in: in}
	g.read = in.scanCoverage()
	receipt := g.makeReceipt()
	receipt.MinReviewers, receipt.Complete, receipt.Static = 1, 0, false
	if in.scout() != nil {
		receipt.Complete = 1
	}
	result := review.RunResult{
		Run: in.Request.Run, Target: in.Request.Target, URL: in.Snapshot.PR.URL, Round: in.Round, Rules: []int{}, Findings: []review.Finding{},
		Groups: []review.Group{}, Unverified: []review.Unverified{}, Stuck: []review.Finding{}, Comments: []string{}, Started: in.Request.Started,
		Receipt: receipt, Scan: in.scanResult(),
	}
	if result.Scan == nil { // there was nothing to show to a scout
		result.Scan = &review.Scan{Observations: []review.Observation{}, Reasons: []string{}, Standing: in.standing()}
	}
	result.Outcome, result.Reason = in.scanEnds(g.read)
	result.Gate = in.gate(result)
	result.Rounds = []review.RoundResult{{Round: in.Round, Head: in.Snapshot.Range.Head, DistinctIssues: &result.DistinctIssues, Agents: receipt.Agents}}
	return Judgement{Inputs: in, Result: result, Report: report.RenderScan(in.scanReport(result))}
}

// scanEnds names how a scan ends.
func (in Inputs) scanEnds(read coverage) (review.Outcome, string) {
	switch {
	case in.Scan == nil && len(in.Snapshot.Brief.Files) == 0:
		return review.NotReviewed, "the diff is empty: there was nothing to scan"
	case in.Scan == nil:
		return review.NotReviewed, "every changed file was left out: there was nothing to scan"
	case in.scout() == nil && in.Scan.Answer.Receipt.OutOf != "":
		return review.Budget, fmt.Sprintf("the budget for %s ran out before the scout had answered", in.Scan.Answer.Receipt.OutOf)
	case in.scout() == nil:
		return review.NotReviewed, "the scout gave no complete answer"
	case in.scout().Verdict != review.LooksGood:
		return review.Flagged, "the scout flags the change"
	case len(in.standing()) > 0:
		return review.Flagged, "the scout has no doubt, but the pull request does not pass by a scan"
	case len(read.unread()) > 0:
		return review.Partial, plural(len(read.unread()), "changed file was", "changed files were") + " not in the scout's request"
	case in.Snapshot.Brief.Status != "ok":
		return review.Partial, "the change is larger than the context budget: a part of it was not scanned"
	}
	return review.LGTM, "the scout saw every changed line and nothing to look at closer"
}

// scanReport is a scan as its comment shows it.
func (in Inputs) scanReport(r review.RunResult) report.Scan {
	c := cleaner{sanitize.Policy{Repo: in.Request.Target.Repo}}
	s := report.Scan{Target: in.Request.Target, Outcome: r.Outcome, Reason: c.inline(r.Reason), Complexity: r.Scan.Complexity, Reasons: c.lines(r.Scan.Reasons),
		Standing: c.lines(r.Scan.Standing), Receipt: c.receipt(r.Receipt)}
	for _, o := range r.Scan.Observations {
		line, _ := lines(o.Line, nil)
		s.Observations = append(s.Observations, report.Observation{Tag: c.inline(o.Tag), Text: c.inline(o.Text), File: o.File, Line: line})
	}
	remarks, notes := gate.Words(r.Gate)
	s.Remarks, s.Notes = c.lines(remarks), c.lines(notes)
	return s
}

// quick is the quick tier of a run: the scan, and what follows on it. ended is true when the run ends with it; otherwise a full review
// follows, and in says why.
func (l *Loop) quick(ctx context.Context, steps Steps, req Request, p *progress, f facts, in *Inputs) (ended bool, result review.RunResult, err error) {
	if req.Alone {
		return false, result, nil
	}
	if req.Quick == nil || f.Again != nil { // what was reviewed in full at this commit is not scanned
		if f.Again != nil {
			if req.Quick != nil {
				p.escalated = "this commit was reviewed in full"
			}
			in.Escalated = p.escalated
			return false, result, nil
		}
		return l.escalateOlder(ctx, steps, req, p, in)
	}
	if why := escalate.Before(req.Quick.Tier, req.Quick.Triggers, in.changeFacts()); why != "" {
		l.say("reviewing in full: " + why)
		p.escalated, in.Escalated = why, why
		if ended, result, err = l.escalateOlder(ctx, steps, req, p, in); err != nil || ended {
			return ended, result, err
		}
		return false, result, l.statusOfFull(ctx, steps, req, p)
	}
	again := f.Scanned
	switch {
	case again != nil:
		l.say("the scan is that of run " + again.Result.Run)
		in.Scan = &again.withoutCost([]AgentReport{*again.Inputs.Scan})[0]
	case reviewable(in.Snapshot.Brief):
		if in.Scan, err = l.askScout(ctx, steps, req, *in); err != nil {
			return false, result, err
		}
		p.spent += seconds(in.Scan.Answer.Receipt.Seconds)
	}
	p.scan = in.Scan
	if p.gate.facts != nil {
		facts := in.scouted(*p.gate.facts)
		p.gate.facts = &facts
	}
	why := in.fullAfterScan()
	judged := Judge(*in)
	posts := !req.Target.Local() && !req.DryRun
	stands := again != nil && again.scanStands(req, in.Snapshot, judged)
	switch {
	case posts && stands && why == "": // it is said already
		result = judged.Result
		result.Again, p.urls = again.Result.Run, again.Result.Comments
	case posts && stands: // its comment is edited, as every one that stands open
	case posts:
		l.say("posting the quick scan")
		s := saying{round: p.round, op: OpScan, pr: in.Snapshot.PR, body: judged.Report, command: scanMarker}
		if p.quickNonce, err = l.name(ctx, steps, s); err != nil {
			return false, result, err
		}
		urls, over, err := l.publishAs(ctx, steps, req, s, p.quickNonce)
		if p.urls = append(p.urls, urls...); err != nil {
			return false, result, err
		}
		if over != "" {
			return true, superseded(req, *p, in.Snapshot.PR.URL, over), nil
		}
		p.quick = urls[0]
		if err := scanPosted.Hit(); err != nil {
			return false, result, err
		}
		older := func(c OurComment) bool { return c.Scan != nil }
		if err := l.minimize(ctx, steps, "minimise older scans", req, in.Snapshot, "", older); err != nil {
			return false, result, err
		}
	}
	if why == "" {
		if result.Run == "" {
			result = judged.Result
		}
		p.past, p.judged = result.Rounds, &judged.Result
		if err := l.keep(ctx, steps, req, p.round, judged); err != nil {
			return false, result, err
		}
		l.over(*p)
		return true, result, nil
	}
	l.say("escalating to a full review: " + why)
	p.escalated, in.Escalated = why, why
	if ended, result, err = l.escalateOwn(ctx, steps, req, p, in, judged.Result); err != nil || ended {
		return ended, result, err
	}
	if err := scanEscalated.Hit(); err != nil {
		return false, result, err
	}
	return false, result, l.statusOfFull(ctx, steps, req, p)
}

// statusOfFull begins the cycle of the status that the full review has: nothing of the scan is ever the last word, not for a moment.
func (l *Loop) statusOfFull(ctx context.Context, steps Steps, req Request, p *progress) error {
	waits := slices.Clone(req.Agents)
	if req.Verify != nil {
		waits = append(waits, req.Verify.Agent)
	}
	if req.Fix != nil {
		waits = append(waits, req.Fix.Agent)
	}
	for _, a := range waits {
		l.emit(review.Event{Kind: review.EventState, Agent: a.Name, State: review.AgentWaiting})
	}
	if !req.gates() {
		return nil
	}
	return l.reviewersAtWork(ctx, steps, req, p)
}

// askScout asks the scout, as a step of its own.
func (l *Loop) askScout(ctx context.Context, steps Steps, req Request, in Inputs) (*AgentReport, error) {
	plan, asked := req.Quick.Scout, false
	plan.Limits = &req.Quick.Limits
	answer, err := doJSON(ctx, steps, "round 1: ask the scout", func(ctx context.Context) (AgentReport, error) {
		asked = true
		l.say("waiting for the scout")
		return l.ask(ctx, req, plan, in, req.wallTime())
	})
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", plan.Name, err)
	}
	if !asked {
		l.emit(review.Event{Kind: review.EventState, Agent: plan.Name, State: answer.Answer.Receipt.State, Message: "answered before"})
	}
	return &answer, nil
}

// earlierScan finds a scan of this very change by an earlier run, which is not asked for again; nil when there is none.
func (l *Loop) earlierScan(ctx context.Context, req Request, snap Snapshot) (*Stored, error) {
	if req.Quick == nil || req.Force || req.Target.Local() || l.Stored == nil {
		return nil, nil
	}
	for s, err := range l.Stored(ctx, req) {
		if err != nil {
			return nil, err
		}
		if s.scanAnswers(req, snap) {
			return &s, nil
		}
	}
	return nil, nil
}

// scanAnswers reports whether the scout of an earlier run was asked today's question and gave a complete answer.
func (s Stored) scanAnswers(req Request, snap Snapshot) bool {
	then, plan := s.Inputs.Snapshot, s.Inputs.Request.Quick
	if s.Other != "" || plan == nil || s.Inputs.scout() == nil || !then.Range.Same(snap.Range) {
		return false
	}
	return equal(plan.Scout, req.Quick.Scout) && equal(plan.Limits, req.Quick.Limits) && s.Inputs.Request.Secrets == req.Secrets &&
		then.PR.Title == snap.PR.Title && then.PR.Body == snap.PR.Body && equal(given(then.Brief), given(snap.Brief))
}

// scanStands reports whether the comment of an earlier scan says what today's would, and is still there.
func (s Stored) scanStands(req Request, snap Snapshot, now Judgement) bool {
	if !s.Inputs.scanned() || req.DryRun || s.Inputs.Request.DryRun || len(s.Result.Comments) == 0 || s.deleted(snap) {
		return false
	}
	then := Judge(s.Inputs)
	now.Result.Run, now.Result.Started = then.Result.Run, then.Result.Started
	return equal(conclusion(then), conclusion(now)) && equal(then.Result.Scan, now.Result.Scan) && equal(s.Inputs.Request.Gate, req.Gate)
}

// escalateOwn gives the comment of the run's own scan, and those of earlier ones that stand open, the words that a full review follows.
func (l *Loop) escalateOwn(ctx context.Context, steps Steps, req Request, p *progress, in *Inputs, said review.RunResult) (bool, review.RunResult, error) {
	if p.quick == "" {
		return l.escalateOlder(ctx, steps, req, p, in)
	}
	body := report.RenderEscalating(in.scanReport(said), cleaner{sanitize.Policy{Repo: req.Target.Repo}}.inline(in.Escalated))
	return l.escalating(ctx, steps, req, p, in, OurComment{URL: p.quick, Scan: &scanName{req.ReviewID, req.Run, p.round, p.quickNonce}}, body)
}

// escalateOlder does the same for comments of earlier scans that stand open.
func (l *Loop) escalateOlder(ctx context.Context, steps Steps, req Request, p *progress, in *Inputs) (bool, review.RunResult, error) {
	why := in.Escalated
	if why == "" {
		why = "somebody asked for it"
		if req.Asked == nil {
			why = "every change is reviewed in full"
		}
	}
	c := cleaner{sanitize.Policy{Repo: req.Target.Repo}}
	body := report.RenderEscalating(report.Scan{Target: req.Target}, c.inline(why))
	for _, one := range in.Snapshot.Ours {
		if one.Scan == nil {
			continue
		}
		if ended, result, err := l.escalating(ctx, steps, req, p, in, one, body); ended || err != nil {
			return ended, result, err
		}
	}
	return false, review.RunResult{}, nil
}

// escalating edits one comment of a scan, once in its life. Where GitHub refuses it for good the review goes on: a person may have deleted it.
func (l *Loop) escalating(ctx context.Context, steps Steps, req Request, p *progress, in *Inputs, c OurComment, body string) (bool, review.RunResult, error) {
	if l.Editor == nil || req.DryRun || req.Target.Local() {
		return false, review.RunResult{}, nil
	}
	m := l.marker(req, c.Scan.Round, c.Scan.Nonce)
	m.ReviewID, m.Run, m.Command, m.Asked = c.Scan.ReviewID, c.Scan.Run, scanMarker, ""
	texts, err := sanitize.Comment(body, m, l.policy(req.Target.Repo))
	if err != nil {
		return false, review.RunResult{}, fmt.Errorf("sanitize the words of a scan: %w", err)
	}
	payload, err := effects.EditPayload(c.URL, texts[0])
	if err != nil {
		return false, review.RunResult{}, err
	}
	done, err := doJSON(ctx, steps, "escalating: "+c.URL, func(ctx context.Context) (posted, error) {
		d, err := l.deliver(ctx, effects.Edit{Editor: l.Editor, Policy: l.policy(req.Target.Repo)}, effects.Effect{
			Key: effects.EditKey(c.URL, "escalating"), Nonce: l.Nonce(), Run: req.Run, Target: req.Target, Head: in.Snapshot.PR.HeadSHA, Payload: payload,
		}, in.Snapshot.PR)
		switch {
		case ctx.Err() != nil:
			return posted{}, errors.Join(context.Cause(ctx), err)
		case err != nil && l.declined(err): // somebody deleted it, or took the right away
			l.warn("the comment of a quick scan does not say that a full review follows: " + sanitize.Redact(err.Error()))
			return posted{}, nil
		}
		return posted{URL: d.Ref, Overtaken: d.Overtaken}, err
	})
	if err == nil && done.Overtaken != "" {
		return true, superseded(req, *p, in.Snapshot.PR.URL, done.Overtaken), nil
	}
	return false, review.RunResult{}, err
}

// commentAt is a comment of this run that stands at an address; empty when it is gone.
func (l *Loop) commentAt(ctx context.Context, pr review.PullRequest, url string) ([]OurComment, error) {
	all, err := l.Poster.CommentsSince(ctx, pr, since(pr))
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.URL == url {
			return []OurComment{{ID: c.ID, URL: c.URL}}, nil
		}
	}
	return nil, nil
}

// untrusted reports whether whoever opened the pull request may not write to the repository; true when that cannot be told.
func (l *Loop) untrusted(ctx context.Context, req Request, pr review.PullRequest) (bool, error) {
	if req.Quick == nil || !req.Quick.Triggers.Untrusted || req.Target.Local() {
		return false, nil
	}
	if l.People == nil {
		return true, nil
	}
	may, err := l.People.Permission(ctx, pr.Repo, pr.Author.Login)
	if err != nil && !l.People.Denied(err) {
		return true, err
	}
	return err != nil || !review.MayWrite(may), nil //nolint:nilerr // whose rights nobody may ask has none
}

// writtenScout are the texts of an answer that a scout wrote.
func writtenScout(r *review.ScoutResult) []*string {
	out := each(r.Reasons)
	for i := range r.Observations {
		o := &r.Observations[i]
		out = append(out, &o.Tag, &o.Text, &o.File)
	}
	return out
}
