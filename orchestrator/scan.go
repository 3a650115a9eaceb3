package orchestrator

import (
	"context"
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/report"
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
	case m.Command == "" && m.Part == 1 && m.Round > 0: // an answer to a comment is of no round, and no report
		out.Approves = report.Approved(c.Body)
		out.Asks, out.Base = !out.Approves, m.Base
		if m.Sticky && m.Parts == 1 && m.Nonce != "" {
			out.Sticky = &stickyName{m.Run, m.Round, m.Nonce}
		}
	}
	return out
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
		if req.looks(true) {
			if in.Found, err = l.find(ctx, steps, req, *in, p.spent); err != nil {
				return false, result, err
			}
			p.spent += together(in.Found.Reports)
		}
		if in.Scan, err = l.askScout(ctx, steps, req, *in); err != nil {
			return false, result, err
		}
		p.spent += seconds(in.Scan.Answer.Receipt.Seconds)
	}
	if p.scan = in.Scan; p.scan != nil {
		p.heard = append(p.heard, *p.scan)
	}
	if p.gate.facts != nil {
		facts := in.scouted(*p.gate.facts)
		p.gate.facts = &facts
	}
	why := in.fullAfterScan()
	judged, err := l.judgement(*in)
	if err != nil {
		return false, result, err
	}
	if why == "" {
		overtaken := ""
		if judged, overtaken, err = l.hearAgain(ctx, steps, req, p, judged); err != nil {
			return false, result, err
		}
		if overtaken != "" {
			return true, superseded(req, *p, in.Snapshot.PR.URL, overtaken), nil
		}
		*in = judged.Inputs
		why = in.fullAfterScan()
	}
	posts := req.posts()
	stands := again != nil && again.scanStands(req, in.Snapshot, judged)
	switch {
	case posts && stands && why == "": // it is said already
		result = judged.Result
		result.Again, p.urls = again.Result.Run, again.Result.Comments
	case posts && stands: // its comment is edited, as every one that stands open
	case posts:
		l.say("posting the quick scan")
		s := saying{round: p.round, op: OpScan, pr: in.Snapshot.PR, body: judged.Report, command: scanMarker, still: l.still(req, p)}
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
		if err := l.minimize(ctx, steps, "minimise older scans", req, in.Snapshot, "", "", older); err != nil {
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
	if req.Force || req.Target.Local() || l.Stored == nil {
		return nil, nil
	}
	for s, err := range l.Stored(ctx, req) {
		if err != nil {
			return nil, err
		}
		if s.scanAnswers(req, snap) {
			return &s, nil
		}
		if (s.Inputs.scout() != nil || len(s.Inputs.Reports) == 0) && s.heard(snap.Range.Head) { // an older one is not the last word on this commit
			break
		}
	}
	return nil, nil
}

// unapproved says what keeps a commit from passing by a scan in the record of its full reviews: the newest was no approval, or has not ended, or one of its
// reviewers has raised something grave on another commit since. Its report may be gone, or was never posted. An approval for another base branch is passed over. Neither does
// one pass over a full review for this branch that was cut short, whatever commit it was about: what its reviewers said nobody knows.
func (l *Loop) unapproved(ctx context.Context, req Request, snap Snapshot) (string, error) {
	if req.Target.Local() || l.Stored == nil {
		return "", nil
	}
	var raisers []string // since
	over := false        // since, a verdict on a change to this branch
	about := sayings{base: req.base(snap.PR)}
	for s, err := range l.Stored(ctx, req) {
		if err != nil {
			return "", err
		}
		here := s.heard(snap.Range.Head)
		if s.noReview() || s.Scans || here && s.Inputs.Request.DryRun {
			continue
		}
		says, last := false, false
		if here {
			says, last = about.next(s.Base)
		}
		switch {
		case !says && !over && s.cutShort() && (s.Base == about.base || s.Base == ""):
			return "The newest full review came to no verdict (run " + s.Result.Run + ").", nil
		case !says:
		case s.Unfinished:
			return "The newest full review of this commit has not ended (run " + s.Result.Run + ").", nil
		case s.asked(raisers):
			return "Since the newest full review of this commit (run " + s.Result.Run + "), one of its reviewers has raised something grave on another, or may have.", nil
		case s.Result.Outcome != review.Converged:
			return "The newest full review of this commit did not approve (run " + s.Result.Run + ").", nil
		case last:
			return "", nil
		}
		over = over || s.Base == about.base && slices.Contains(answering, s.Result.Outcome)
		raisers = append(raisers, snap.raisers(s)...)
	}
	return "", nil
}

// cutShort reports whether reviewers of a run were at work, and no verdict came of it.
func (s Stored) cutShort() bool {
	began := s.Unfinished || len(s.Result.Rounds) > 0 || slices.ContainsFunc(s.Result.Receipt.Agents, func(a review.AgentReceipt) bool { return a.Role == review.RoleReviewer })
	return began && !slices.Contains(answering, s.Result.Outcome)
}

// scanAnswers reports whether the scout of an earlier run was asked today's question and gave a complete answer.
func (s Stored) scanAnswers(req Request, snap Snapshot) bool {
	then, plan := s.Inputs.Snapshot, s.Inputs.Request.Quick
	if s.Other != "" || plan == nil || s.Inputs.scout() == nil || !then.Range.Same(snap.Range) {
		return false
	}
	return equal(plan.Scout, req.Quick.Scout) && equal(plan.Limits, req.Quick.Limits) && equal(s.Inputs.Request.Find.forQuick(), req.Find.forQuick()) && s.Inputs.Request.Secrets == req.Secrets &&
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
