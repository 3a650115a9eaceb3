package orchestrator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Stored is an earlier run about the same pull request (decision 43).
type Stored struct {
	// Inputs are those of its last review; empty where that was about another head than the request.
	Inputs Inputs           `json:"inputs"`
	Result review.RunResult `json:"result"`
	// Other says what around it, beside its request, was not as it is now; empty when nothing was.
	Other string `json:"other,omitempty"`
	// Base is the base branch that the run was ordered for, masked; empty where nobody can tell.
	Base string `json:"base,omitempty"`
	// Unfinished is true for a run that has not ended: nobody knows what its reviewers have answered about the head that it began with.
	Unfinished bool `json:"unfinished,omitempty"`
	// Scans is true for an unfinished run that comes to a scan alone.
	Scans bool `json:"scans,omitempty"`
}

// answering are the outcomes of runs whose agents have said all there is to say about their head.
var answering = []review.Outcome{review.Converged, review.ChangesRequested, review.Stuck, review.Diverging, review.SetAside, review.StaticOnly}

// reuse is what a run takes from an earlier one instead of asking agents.
type reuse struct {
	Run      string        `json:"run"`
	Reports  []AgentReport `json:"reports"`
	Verifier *AgentReport  `json:"verifier,omitempty"`
	// Disputes is Inputs.Disputes where nobody said anything since.
	Disputes []AgentReport `json:"disputes,omitempty"`
	// Merged is Inputs.Merged: the base is the same commit.
	Merged map[string]string `json:"merged,omitempty"`
	// Found is Inputs.Found.
	Found *Found `json:"found,omitempty"`
	// Scan is Inputs.Scan.
	Scan *AgentReport `json:"scan,omitempty"`
	// Deleted is true when the report of the earlier run is not on the pull request any more.
	Deleted bool `json:"deleted,omitempty"`
	// Replaced is true when another report of ours stands open in its place.
	Replaced bool `json:"replaced,omitempty"`
	// Stands is the earlier run when its verdict is that of today: nothing is posted then.
	Stands *Stored `json:"stands,omitempty"`
}

// reuseEarlier finds what an earlier run leaves to this one; nil when agents are to be asked. A person hears why those of an earlier run
// are asked anew.
func (l *Loop) reuseEarlier(ctx context.Context, req Request, snap Snapshot) (*reuse, error) {
	if req.Force || req.Target.Local() || l.Stored == nil {
		return nil, nil
	}
	reason := ""
	var raisers []string // since
	for s, err := range l.Stored(ctx, req) {
		if err != nil {
			return nil, err
		}
		if s.noReview() {
			continue
		}
		a, why := s.answers(req, snap)
		if why == "" && s.asked(raisers) {
			why = raisedOnAnother
		}
		if why == "" {
			if why, err = l.reportedSince(ctx, s, snap); err != nil {
				return nil, err
			}
		}
		if why == "" {
			return a, nil
		}
		if reason == "" || why == raisedOnAnother { // of the newest, or of the one that would have answered
			reason = fmt.Sprintf("reviewing anew after run %s: %s", s.Result.Run, why)
		}
		if s.heard(snap.Range.Head) { // what an older run says of this commit is not the last word on it
			break
		}
		raisers = append(raisers, snap.raisers(s)...)
	}
	if reason != "" {
		l.say(reason)
	}
	return nil, nil
}

// raisedOnAnother says why the answers of a run are not the last word of its reviewers (threats.md T411).
const raisedOnAnother = "one of its reviewers has raised something grave on another commit since, or may have"

// anybody is who may have raised something in a run that has not ended.
const anybody = ""

// noReview is true of a run that did a command, or a scan alone.
func (s Stored) noReview() bool {
	return s.Result.Command != "" || s.Inputs.scanned() || onlyScanned(s.Result)
}

// Raised reports whether reviewers raised something grave in a run, or may have, whatever people said of that: the record alone tells (threats.md T734).
func Raised(s Stored) bool { return !s.noReview() && len(Snapshot{}.raisers(s)) > 0 }

// asked reports whether one of these is a reviewer that the run asked, or a command that counts.
func (s Stored) asked(reviewers []string) bool {
	return slices.Contains(reviewers, anybody) || slices.ContainsFunc(s.Inputs.Reports, func(h AgentReport) bool {
		return s.Inputs.Request.decides(h) && slices.Contains(reviewers, h.Answer.Receipt.Name)
	})
}

// raisers are the reviewers that raised something grave in a run, in any of its rounds, unless a person settled it in its thread. What was set aside
// counts, and so does a cure: another commit need not have it. Of findings that nobody judged, as the run was overtaken, any may be grave; of a run that has
// not ended nobody knows them.
func (s Snapshot) raisers(then Stored) (out []string) {
	if then.Unfinished {
		return []string{anybody}
	}
	r := then.Result
	out = s.openRaisers(r, s.settles)
	for _, f := range r.Fates {
		for _, by := range f.By {
			if f.Last != r.Round && objections.Grave(review.Finding{Priority: f.Priority, Category: f.Category}) {
				out = append(out, by.Name)
			}
		}
	}
	return out
}

// settles reports whether a person settled what is grave in a thread.
func (s Snapshot) settles(thread int, _ string) bool { return s.decided(thread, true) }

// tells reports whether a thread tells by itself what became of what an agent says there that is grave: that a person settled it, or that it is open.
func (s Snapshot) tells(thread int, by string) bool {
	return s.settles(thread, by) || s.unsettled(thread) && raisedIn(s.Conversation.Threads[thread], by)
}

// openRaisers are those of raisers whose findings a run left open at its end, but for what stands in such a thread.
func (s Snapshot) openRaisers(r review.RunResult, such func(thread int, by string) bool) (out []string) {
	for i, f := range r.Findings {
		if objections.Grave(f) && f.Source.Type == "agent" && !s.standsIn(r, i, such) {
			out = append(out, f.Source.Name)
		}
	}
	for _, u := range r.Unverified {
		if objections.Grave(u.Finding) {
			out = append(out, u.Finding.Source.Name)
		}
	}
	for _, a := range r.Receipt.Agents {
		if !judged(r) && a.Findings > 0 {
			out = append(out, a.Name)
		}
	}
	return out
}

// judged reports whether a run came to a judgement of what its agents found about its head.
func judged(r review.RunResult) bool {
	return r.Review != nil || slices.ContainsFunc(r.Fates, func(f review.FindingFate) bool { return f.Last == r.Round })
}

// standsIn reports whether a finding of a run stands in such a thread: the one that was opened for it, or for what its reviewer had said of the same lines in
// like words before.
func (s Snapshot) standsIn(r review.RunResult, finding int, such func(thread int, by string) bool) bool {
	if s.Conversation == nil {
		return false
	}
	f := r.Findings[finding]
	at := slices.IndexFunc(r.Groups, func(g review.Group) bool { return slices.Contains(g.Findings, finding) })
	for i, t := range s.Conversation.Threads {
		if !such(i, f.Source.Name) {
			continue
		}
		if at >= 0 && t.Identity == r.Groups[at].ID && slices.Contains(t.RaisedBy, f.Source.Name) ||
			slices.ContainsFunc(t.Shown(), func(w review.Finding) bool {
				return w.Source.Name == f.Source.Name && objections.Grave(w) && sameLines(w, f) && identity.Alike(w, f)
			}) {
			return true
		}
	}
	return false
}

// sameLines reports whether two findings claim to be about the same lines; what claims none is about none.
func sameLines(a, b review.Finding) bool {
	if a.Line == nil || b.Line == nil {
		return false
	}
	apart := *a.Line - *b.Line
	return a.File == b.File && max(apart, -apart) <= unquoted
}

// reportedSince says which run that is not on record here, as one of another machine, has reported since an earlier run read its pull request; empty when none
// has. Our own record says in which order our runs came, whoever changed their comments (threats.md T331).
func (l *Loop) reportedSince(ctx context.Context, s Stored, snap Snapshot) (string, error) {
	if l.Recorded == nil {
		return "", nil
	}
	return Unrecorded(ctx, snap.Reports, s.Inputs.Snapshot.PR.UpdatedAt, l.Recorded)
}

// Unrecorded says which report after a moment is of no run on record here; empty when each is.
func Unrecorded(ctx context.Context, reports []Reported, after time.Time, recorded func(context.Context, string) (bool, error)) (string, error) {
	for _, r := range reports {
		switch {
		case !r.At.After(after):
			continue
		case r.Run == "":
			return "a report was changed by somebody", nil
		}
		if known, err := recorded(ctx, r.Run); err != nil {
			return "", err
		} else if !known {
			return fmt.Sprintf("run %s, which is not on record here, has reported since", r.Run), nil
		}
	}
	return "", nil
}

// refusedSince says which run that is not on record here has refused what a run is about since the run read its pull request, where the reports of then were before: what
// would let it pass is overtaken by that (threats.md T841). Empty when none has. A report that somebody changed since may be one.
func (l *Loop) refusedSince(ctx context.Context, req Request, pr review.PullRequest, before, now []Reported) (string, error) {
	if l.Recorded == nil {
		return "", nil
	}
	base := sanitize.BaseNamed(req.base(pr))
	return Unrecorded(ctx, slices.DeleteFunc(slices.Clone(now), func(r Reported) bool {
		known := slices.ContainsFunc(before, func(b Reported) bool { return b.Run == r.Run && b.At.Equal(r.At) })
		return known || r.Run != "" && !r.Asks || r.Head != "" && r.Head != pr.HeadSHA || r.Base != "" && r.Base != base
	}), time.Time{}, l.Recorded)
}

// heard reports whether reviewers of the earlier run answered about a commit, also where the run ended before anything was made of that.
func (s Stored) heard(head string) bool {
	return s.Unfinished && s.Result.Receipt.HeadSHA == head || s.Inputs.Snapshot.Range.Head == head && len(s.Inputs.Reports) > 0 || s.Result.Receipt.HeadSHA == head && len(s.Result.Receipt.Agents) > 0 ||
		slices.ContainsFunc(s.Result.Rounds, func(r review.RoundResult) bool { return r.Head == head })
}

// Judged reports whether reviewers of a run have answered about its pull request; where scans count, also whether its scout has.
func Judged(r review.RunResult, scans bool) bool {
	return r.Command == "" && (scans || !onlyScanned(r)) && (len(r.Receipt.Agents) > 0 || len(r.Rounds) > 0)
}

// answers are those of the earlier run, or why they do not answer today's question.
func (s Stored) answers(req Request, snap Snapshot) (*reuse, string) {
	then, now := s.Inputs.Snapshot, snap
	switch {
	case s.Result.Receipt.HeadSHA != now.Range.Head:
		return nil, "the head has moved"
	case s.Unfinished:
		return nil, "it has not ended"
	case !slices.Contains(answering, s.Result.Outcome):
		return nil, fmt.Sprintf("it ended as %s", s.Result.Outcome)
	case s.Other != "":
		return nil, s.Other
	case then.Range.Head != now.Range.Head:
		return nil, "its answers are gone"
	case then.Range.Base != now.Range.Base || then.Range.MergeBase != now.Range.MergeBase:
		return nil, "the base has moved"
	case then.PR.Title != now.PR.Title || then.PR.Body != now.PR.Body:
		return nil, "the title or the description was edited"
	case s.raisedSince(snap):
		return nil, raisedOnAnother
	case !equal(question(s.Inputs.Request), question(req)):
		return nil, "agents, rules or prompts have changed"
	case !equal(given(then.Brief), given(now.Brief)):
		return nil, "what reviewers are given has changed"
	}
	heard := s.Inputs.Reports
	if s.Inputs.Verifier != nil {
		heard = append(slices.Clone(heard), *s.Inputs.Verifier)
	}
	for _, h := range heard {
		if h.Answer.Receipt.State != review.AgentComplete {
			return nil, fmt.Sprintf("%s gave no complete answer", h.Answer.Receipt.Name)
		}
	}
	if len(s.Inputs.Reports) != len(req.Agents) {
		return nil, "not every agent was asked"
	}
	gone, replaced := s.deleted(snap), s.replaced(snap)
	switch stands := s.stands(req, snap); {
	case stands && !gone && !replaced:
		return &reuse{Run: s.Result.Run, Stands: &s}, ""
	case stands && !gone && s.Inputs.Round > 1:
		return nil, "another report has taken the place of its own, and its last review went on from an earlier one"
	case stands && s.Inputs.Round > 1:
		return nil, "its report was deleted, and its last review went on from an earlier one"
	case s.Inputs.Round > 1:
		return nil, "the discussion has changed, and its last review went on from an earlier one"
	}
	today := s.today(snap)
	a := &reuse{Run: s.Result.Run, Deleted: gone, Replaced: replaced, Reports: s.withoutCost(today.Reports), Merged: s.Inputs.Merged, Disputes: s.withoutCost(today.Disputes)}
	a.Found = s.freeFound()
	if scan := s.Inputs.Scan; scan != nil {
		a.Scan = &s.withoutCost([]AgentReport{*scan})[0]
	}
	in := Inputs{Request: req, Round: 1, Snapshot: snap, Reports: a.Reports, Merged: a.Merged, Disputes: a.Disputes}
	if v := s.Inputs.Verifier; v != nil && equal(gather(s.Inputs).verifyPayload(), gather(in).verifyPayload()) {
		a.Verifier = &s.withoutCost([]AgentReport{*v})[0]
	}
	return a, ""
}

// question is what of a request decides what agents answer.
func question(r Request) Request {
	r = order(r)
	r.Rounds, r.Fix, r.FixOff, r.Gate, r.Sticky, r.Find = 0, nil, "", nil, false, r.Find.forFull()
	return r
}

// order is what of a request a person ordered: who asked when, and for which head, aside.
func order(r Request) Request {
	none := Request{}
	r.Run, r.ReviewID, r.Started, r.Head, r.DryRun, r.Force = none.Run, none.ReviewID, none.Started, none.Head, none.DryRun, none.Force
	r.Asked, r.Stops, r.Quick = none.Asked, none.Stops, none.Quick
	return r
}

// given is what of a brief is reviewed.
func given(b review.Brief) []review.BriefFile {
	var out []review.BriefFile
	for _, f := range b.Files {
		out = append(out, review.BriefFile{Path: f.Path, Change: f.Change, Diff: f.Diff, Omitted: f.Omitted, Excused: f.Excused})
	}
	return out
}

// today are the inputs of the earlier run with the discussion of now. Where that has changed, the rules alone say what it comes to:
// what the analyzer of comments said was about another one.
func (s Stored) today(snap Snapshot) Inputs {
	in := s.Inputs
	if !equal(in.Snapshot.Discussion, snap.Discussion) {
		in.Reports = slices.Clone(in.Reports)
		for i, h := range in.Reports {
			if h.Answer.Comments != nil {
				said := threads.Analyze(snap.Discussion, in.Request.Target.PR)
				in.Reports[i].Answer.Comments = &said
			}
		}
	}
	in.Snapshot.Dismissals = snap.Dismissals // which may have expired
	in.Snapshot.PR, in.Snapshot.Discussion, in.Snapshot.Pretenders, in.Snapshot.Gate = snap.PR, snap.Discussion, snap.Pretenders, snap.Gate
	in.Snapshot.Fixed, in.Snapshot.Voiced, in.Snapshot.LabelsRead, in.Snapshot.Lost = snap.Fixed, snap.Voiced, snap.LabelsRead, snap.Lost
	before, silent := in, func(h AgentReport) bool { return h.Answer.Receipt.State == review.AgentFailed }
	in.Snapshot.Conversation, in.Snapshot.Gone, in.Snapshot.People, in.Snapshot.Followed, in.Inline = snap.Conversation, snap.Gone, snap.People, snap.Followed, nil
	in.Snapshot.Unchanged, in.Snapshot.Voided, in.Snapshot.Returned, in.Snapshot.Uncured = snap.Unchanged, snap.Voided, snap.Returned, snap.Uncured
	if in.Request.Disputes != nil && (slices.ContainsFunc(in.Disputes, silent) || !equal(before.judgeQuestions(), in.judgeQuestions())) { // somebody said something since, or we did
		in.Disputes = nil
	}
	return in
}

// stands reports whether the earlier run was ordered as this one, was posted, and comes to the same today.
func (s Stored) stands(req Request, snap Snapshot) bool {
	if !equal(s.Inputs.Snapshot.Pretenders, snap.Pretenders) { // whose comments hide what they say has to be told
		return false
	}
	if req.DryRun || s.Inputs.Request.DryRun || len(s.Result.Comments) == 0 || !equal(order(s.Inputs.Request), order(req)) {
		return false
	}
	today := s.today(snap)
	if len(today.disputes()) > 0 && today.Disputes == nil { // a judge is to be asked
		return false
	}
	then, now := Judge(s.Inputs), Judge(today)
	return len(now.reopened) == 0 && len(now.answers) == 0 && !asksAnew(then, now) && equal(conclusion(then), conclusion(now))
}

// asksAnew reports whether a finding is to be said in a thread of its own now, because another one that a person resolved does not settle it, and was
// not then.
func asksAnew(then, now Judgement) bool {
	return slices.ContainsFunc(now.proposed, func(p proposal) bool {
		return p.shown.Reason != "" && !slices.ContainsFunc(then.proposed, func(o proposal) bool { return o.identity == p.identity })
	})
}

// conclusion is what a judgement comes to, without how.
func conclusion(j Judgement) review.RunResult {
	r := j.Result
	r.Receipt, r.Rounds, r.Review, r.URL, r.Scan = review.Receipt{}, nil, nil, "", nil
	return r
}

// withoutCost are answers as a run has them that did not ask for them: they cost it nothing.
func (s Stored) withoutCost(heard []AgentReport) []AgentReport {
	heard = slices.Clone(heard)
	for i := range heard {
		r := &heard[i].Answer.Receipt
		*r = s.free(*r)
	}
	return heard
}

// freeFound is what a finder brought to the earlier run, as a run has it that did not ask for it.
func (s Stored) freeFound() *Found {
	if s.Inputs.Found == nil {
		return nil
	}
	out := *s.Inputs.Found
	out.Reports = s.withoutCost(out.Reports)
	return &out
}

func (s Stored) free(r review.AgentReceipt) review.AgentReceipt {
	var none, free = 0, 0.0
	r.Seconds, r.Usage = 0, review.Usage{InputTokens: &none, CachedTokens: &none, OutputTokens: &none, CostUSD: &free}
	if note := "answered in an earlier run"; !slices.Contains(r.Notes, note) {
		r.Notes = append(slices.Clone(r.Notes), note)
	}
	return r
}

// stand ends a run whose verdict an earlier one has come to already.
func (l *Loop) stand(ctx context.Context, steps Steps, req Request, p *progress, a *reuse, in Inputs) (review.RunResult, error) {
	in.Says = a.Stands.says()
	in.Request, in.Reports = req, a.Stands.withoutCost(in.Reports)
	in.Disputes, in.Found = a.Stands.withoutCost(in.Disputes), a.Stands.freeFound()
	if in.Verifier != nil {
		in.Verifier = &a.Stands.withoutCost([]AgentReport{*in.Verifier})[0]
	}
	judged, err := l.judgement(in)
	if err != nil {
		return review.RunResult{}, err
	}
	if err := l.keep(ctx, steps, req, p.round, judged); err != nil {
		return review.RunResult{}, err
	}
	r := a.Stands.Result
	for _, agent := range judged.Inputs.Reports {
		l.emit(review.Event{Kind: review.EventState, Agent: agent.Answer.Receipt.Name, State: agent.Answer.Receipt.State, Message: "answered before: " + plural(agent.Answer.Receipt.Findings, "finding", "findings")})
	}
	r.Run, r.Started, r.Again, r.Receipt = req.Run, req.Started, a.Run, judged.Result.Receipt
	p.urls, p.answers, p.past = r.Comments, r.Answers, r.Rounds
	l.over(*p)
	return r, nil
}

// equal compares what is stored.
func equal(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && bytes.Equal(x, y)
}
