package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Loop runs reviews and fixes. All parts must be set, except Forge, Poster and Outbox, which a local range does not need,
// and Executor, which is needed when requests have a FixPlan.
type Loop struct {
	Forge  Forge
	Poster effects.Poster
	// Minimizer collapses older reports; nil leaves them open.
	Minimizer effects.Minimizer
	// Editor gives the comment of a quick scan other words once a full review follows, and a sticky comment another report; nil leaves them as they are.
	Editor effects.Editor
	// Reviewer posts comments on lines, Replier and Resolver answer in threads of ours and settle them; nil leaves all to the report.
	Reviewer effects.Reviewer
	Replier  effects.Replier
	Resolver effects.Resolver
	Outbox   effects.Outbox
	History  History
	// Gate sets commit statuses, and reads what they rest on. It is needed when requests have a gate.
	Gate Gate
	// People says who may do what; nil knows nobody. Requester asks people to review; nil asks nobody.
	People    People
	Requester effects.Requester
	// Dismissals reads what people dismissed; nil when nobody can.
	Dismissals Dismisser
	Briefer    Briefer
	// Shelves reads what a finder asks for; it is needed when requests have a FindPlan.
	Shelves  Shelves
	Agents   Asker
	Executor FixExecutor
	Record   Recorder
	// Emit receives the news of the run; it may be called from several goroutines at once.
	Emit func(review.Event)
	// MarkerKey authenticates our comments (threats.md "Marker").
	MarkerKey []byte
	// Stored gives the runs about the target of a request that have ended, the newest first. nil: agents are always asked.
	Stored func(ctx context.Context, req Request) iter.Seq2[Stored, error]
	// Recorded reports whether a run is on record here. nil: every one is.
	Recorded func(ctx context.Context, run string) (bool, error)
	// Newer says that a newer run about the pull request has taken the place of this one, which was interrupted: it says nothing more on
	// GitHub. Forge says so too. Empty when there is none.
	Newer string
	// Unfinished reports whether another run about the target of a request was begun and has not ended: what it sent may still arrive. nil: none has.
	Unfinished func(ctx context.Context, req Request) (bool, error)
	// Secrets are those this process holds: a report that contains a part of one is never posted (threats.md L0).
	Secrets []string
	// Learned is what the run learned of the change, for everything that is said of it; nil remembers nothing.
	Learned *sanitize.Learned
	// Fence gives the word that stands around untrusted text in a run's prompts: the same for all agents of the run, and
	// not to be guessed by who wrote the text.
	Fence func(run string) string
	// Nonce draws an unguessable name for one report.
	Nonce func() string
	// Permanent reports whether no later try of the run gets past an error, such as a locked conversation. It is asked where
	// the error happens, by several goroutines at once. nil: every error is one that time or a person removes.
	Permanent func(err error) bool
	// Incident keeps for a person that an answer held a credential; an error stops the run. nil: nobody keeps it.
	Incident func(ctx context.Context, run, detail string) error
	// Watch gives a context that ends with a *StopError once somebody asks the run to stop, until leave is called. nil: nobody can.
	Watch func(ctx context.Context) (watched context.Context, leave func())
	// Now is the clock, and Sleep waits on it or until ctx ends.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// errWallTime is the cause of a run that ran out of wall time.
var errWallTime = errors.New("the run's wall time is used up")

// progress is what the rounds so far leave to the next one. It is made anew from stored results when a run is resumed.
type progress struct {
	round int
	// head is the commit the round is about; before is the one the round before was about.
	head, before string
	tracked      []Tracked
	past         []review.RoundResult
	urls         []string
	// answers are those of urls that are own comments of commands.
	answers []review.CommandComment
	// spent is the time that reading the change, agents and verify commands took, those side by side counted once. Time between a stop and its
	// resumption is nobody's. read is how long it took to read the change of this round.
	spent, read time.Duration
	// own is the pull request as the first round saw it, without any fix.
	own review.PullRequest
	// lines is how large it was then, as the scope brake counts.
	lines int
	// seen are the findings of all rounds as each saw them.
	seen []sighting
	// judged is what the last review came to; nil before the first.
	judged *review.RunResult
	// gate is what the commit status is set by.
	gate gated
	// scan is the answer of the scout, and escalated why a full review follows on it, or comes in its place.
	scan      *AgentReport
	escalated string
	// quick is the comment of the run's own scan, where it was posted, and quickNonce its name; collapsed is true once the report of the full
	// review has taken its place.
	quick, quickNonce string
	collapsed         bool
	// rewritten is the sticky comment that got this run's report; empty when none did.
	rewritten string
	// found is what a finder brought to the first round.
	found *Found
	// heard are the answers about head, also where nothing was made of them.
	heard []AgentReport
	// green are the inputs of a judgement that lets the change pass; nil when there is none. fresh is true when it was this process that read last what people say.
	green *Inputs
	fresh bool
	// objected is what Inputs.objected gave when the pull request was read last, as is the pull request as it was then, and reports are those of then.
	objected []string
	as       review.PullRequest
	reports  []Reported
}

// Run takes one request to its end: rounds of review, verdict and fix. An error means that the run could not go
// on here and now (GitHub does not answer, the disk is full, the process was told to stop). One that no later try gets past
// is a result, as every judgement about the code is. The last step stores the result, so that running a finished request
// again returns the same one.
func (l *Loop) Run(ctx context.Context, steps Steps, req Request) (review.RunResult, error) {
	p := progress{round: 1, head: req.Head}
	steps = permanentSteps{steps, l.permanent}
	for {
		result, goesOn, err := l.round(ctx, steps, req, &p)
		if err != nil {
			if !l.permanent(err) || ctx.Err() != nil {
				return review.RunResult{}, err
			}
			result, goesOn = abandoned(req, p, err), false
		}
		result.Answers = p.answers
		if result.Scan != nil && result.Scan.Comment == "" {
			result.Scan.Comment = p.quick
		}
		result.Comments = append([]string{}, p.urls...) // a list, though an empty one, where nothing was posted
		if !goesOn {
			if result, err = l.stillPasses(ctx, steps, req, &p, result); err != nil {
				return review.RunResult{}, err
			}
			if result.Gate, err = l.concludeStatus(ctx, steps, req, &p, result); err != nil {
				return review.RunResult{}, err
			}
			if l.Newer != "" && result.Outcome != review.Superseded { // it had said all but its end
				said := result.Comments
				result = superseded(req, p, result.URL, l.Newer)
				result.Comments = said
			}
			result.Fates = fates(p.seen, p.tracked, p.past)
			return l.finish(ctx, steps, req, p, result)
		}
		p.round++
	}
}

// round is one pass of review, verdict and, unless that ends the run, fix.
func (l *Loop) round(ctx context.Context, steps Steps, req Request, p *progress) (review.RunResult, bool, error) {
	none := review.RunResult{}
	p.heard = nil
	l.begins(req, *p)
	p.green, p.fresh = nil, false
	facts, err := doJSON(ctx, steps, fmt.Sprintf("round %d: snapshot", p.round), func(ctx context.Context) (facts, error) {
		p.fresh = true
		if req.Target.Local() {
			l.say("reading the changes")
		} else {
			l.say("reading the pull request, its diff and its discussion")
		}
		return l.facts(ctx, req, *p)
	})
	if err != nil {
		return none, false, err
	}
	snap, resumed := facts.Snapshot, !p.fresh
	if snap.Superseded != "" {
		return superseded(req, *p, snap.PR.URL, snap.Superseded), false, nil
	}
	if facts.Late {
		return late(req, *p, snap.PR.URL), false, nil
	}
	for _, commit := range []string{snap.Range.Base, snap.Range.Head} {
		if ok, err := l.History.Have(ctx, commit); err != nil {
			return none, false, err
		} else if !ok {
			return none, false, &permanentError{"the commit " + short(commit) + " is not to be had any more: start a new run"}
		}
	}
	if resumed && l.Learned != nil {
		if err := l.relearn(ctx, req, snap); err != nil {
			return none, false, err
		}
	}
	req = req.learned(l.Learned)
	p.read = seconds(facts.Seconds)
	p.spent += p.read
	if p.round == 1 {
		p.own, p.lines = snap.PR, snap.lines()
	}
	p.gate.facts, p.objected = snap.Gate, snap.objected()
	p.as, p.reports = snap.PR, snap.Reports
	if err := l.reviewing(ctx, steps, req, p, facts); err != nil {
		return none, false, err
	}
	in := Inputs{Request: req, Round: p.round, Snapshot: snap, Earlier: facts.Earlier, Written: facts.Written, Past: p.past, GateMissing: p.gate.missing, Scan: p.scan, Escalated: p.escalated}
	if p.round == 1 {
		ended, result, err := l.quick(ctx, steps, req, p, facts, &in)
		if err != nil || ended {
			return result, false, err
		}
		if in.Found == nil && facts.Again == nil && !req.Alone && req.looks(false) && reviewable(snap.Brief) {
			if in.Found, err = l.find(ctx, steps, req, in, p.spent); err != nil {
				return none, false, err
			}
			p.spent += together(in.Found.Reports)
		}
		p.found = in.Found
	} else {
		in.Found = p.found.later(facts.Moved)
	}
	switch {
	case req.Alone && len(snap.Brief.Files) > 0: // what it is about decides whether it is asked
		if in.Reports, err = l.askAll(ctx, steps, req, in, p.spent); err != nil {
			return none, false, err
		}
	case facts.Again != nil && facts.Again.Stands != nil:
		today := facts.Again.Stands.today(snap)
		p.green = &today
		result, err := l.stand(ctx, steps, req, p, facts.Again, today)
		return result, false, err
	case facts.Again != nil:
		said := "the answers are those of run " + facts.Again.Run
		if facts.Again.Deleted {
			said += ", whose report was deleted"
		} else if facts.Again.Replaced {
			said += ", whose report another one has taken the place of"
		}
		l.say(said)
		in.Reports, in.Verifier, in.Merged, in.Disputes = facts.Again.Reports, facts.Again.Verifier, facts.Again.Merged, facts.Again.Disputes
		in.Found, p.found = facts.Again.Found, facts.Again.Found
		if in.Scan == nil {
			in.Scan, p.scan = facts.Again.Scan, facts.Again.Scan
		}
	case reviewable(snap.Brief):
		if in.Reports, err = l.askAll(ctx, steps, req, in, p.spent); err != nil {
			return none, false, err
		}
	}
	p.heard = append(p.heard, in.Reports...)
	p.spent += slowest(in.Reports)
	if facts.Again == nil {
		if in.Merged, err = l.mergedDismissals(ctx, steps, req, in); err != nil {
			return none, false, err
		}
	}
	if in.Disputes == nil {
		if in.Disputes, err = l.judgeDisputes(ctx, steps, req, in, p.spent); err != nil {
			return none, false, err
		}
		p.spent += slowest(in.Disputes)
	}
	if in.Verifier == nil {
		if in.Verifier, err = l.verifyFindings(ctx, steps, req, in, p.spent); err != nil {
			return none, false, err
		}
	}
	if in.Verifier != nil {
		p.spent += seconds(in.Verifier.Answer.Receipt.Seconds)
	}
	if err := allAnswered.Hit(); err != nil {
		return none, false, err
	}
	judged, err := l.judgement(in)
	if err != nil {
		return none, false, err
	}
	if err := decided.Hit(); err != nil {
		return none, false, err
	}
	judged, overtaken, err := l.hearAgain(ctx, steps, req, p, judged)
	if err != nil {
		return none, false, err
	}
	if overtaken != "" {
		out := superseded(req, *p, snap.PR.URL, overtaken)
		out.Refused = true
		return out, false, nil
	}
	in = judged.Inputs
	p.objected = judged.Result.Receipt.Objected
	posts := req.posts()
	if posts && !req.Alone {
		sent, why, err := l.inline(ctx, steps, req, judged)
		switch {
		case err != nil:
			return none, false, err
		case why != "":
			return superseded(req, *p, snap.PR.URL, why), false, nil
		case sent != nil:
			in.Inline = sent
			if judged, err = l.judgement(in); err != nil {
				return none, false, err
			}
		}
	}
	p.tracked, p.past, p.before, p.judged = judged.Tracked, judged.Result.Rounds, p.head, &judged.Result
	p.seen = append(p.seen, judged.seen...)
	if posts {
		why := ""
		if !req.Alone {
			l.say("posting the report")
			var urls []string
			said := saying{round: p.round, op: OpReport, pr: snap.PR, body: judged.Report, raised: judged.raised, since: judged.since, fixed: judged.fixed, objected: p.objected, resumed: resumed, still: l.still(req, p)}
			if req.sticky() {
				urls, why, err = l.publishSticky(ctx, steps, req, p, said, snap)
			} else {
				urls, why, err = l.publish(ctx, steps, req, said)
			}
			if p.urls = append(p.urls, urls...); err != nil {
				return none, false, err
			}
		}
		if why == "" {
			if why, err = l.publishCommands(ctx, steps, in, p); err != nil {
				return none, false, err
			}
		}
		if why != "" {
			return superseded(req, *p, snap.PR.URL, why), false, nil
		}
		if err := l.minimizeOlder(ctx, steps, p, req, snap); err != nil {
			return none, false, err
		}
		if err := l.settle(ctx, steps, req, judged); err != nil {
			return none, false, err
		}
	}
	if !posts {
		p.answers = in.unposted()
	}
	if err := l.keep(ctx, steps, req, p.round, judged); err != nil {
		return none, false, err
	}
	if !judged.GoesOn {
		l.over(*p)
		return judged.Result, false, nil
	}
	return l.fixRound(ctx, steps, req, judged, p)
}

// facts is a snapshot with what earlier rounds left, at its head.
type facts struct {
	Snapshot Snapshot  `json:"snapshot"`
	Earlier  []Tracked `json:"earlier,omitempty"`
	Written  []Written `json:"written,omitempty"`
	// Seconds is how long it took to read the change. Late is true when the wall time did not suffice; of the snapshot there is the address alone then.
	Seconds float64 `json:"seconds,omitempty"`
	Late    bool    `json:"late,omitempty"`
	// Moved are the files that differ from the round before.
	Moved []string `json:"moved,omitempty"`
	// Again is what an earlier run answered; nil when agents are asked.
	Again *reuse `json:"again,omitempty"`
	// Scanned is an earlier run whose scan answers; nil when the scout is asked.
	Scanned *Stored `json:"scanned,omitempty"`
}

func (l *Loop) facts(ctx context.Context, req Request, p progress) (facts, error) {
	snap, err := l.snapshot(ctx, req, p)
	if errors.Is(err, errWallTime) {
		return facts{Snapshot: Snapshot{PR: review.PullRequest{URL: snap.PR.URL}}, Late: true}, nil
	}
	if err != nil || snap.Superseded != "" {
		return facts{Snapshot: snap}, err
	}
	if snap.Gate, err = l.gateFacts(ctx, req, snap); err != nil {
		return facts{}, err
	}
	f := facts{Snapshot: snap, Earlier: p.tracked, Seconds: snap.Took.Seconds()}
	if p.round == 1 {
		if req.Alone {
			return f, l.save(ctx, req, "round-1/snapshot.json", redactSnapshot(snap))
		}
		if f.Again, err = l.reuseEarlier(ctx, req, snap); err != nil {
			return f, err
		}
		if f.Again == nil && req.Quick != nil {
			if f.Snapshot.Unapproved, err = l.unapproved(ctx, req, snap); err != nil {
				return f, err
			}
			if f.Scanned, err = l.earlierScan(ctx, req, snap); err != nil {
				return f, err
			}
		}
	}
	if p.before != "" {
		d, err := l.History.Diff(ctx, p.before, snap.Range.Head)
		if err != nil {
			return f, err
		}
		f.Earlier = atNewHead(p.tracked, d)
		if p.found != nil {
			f.Moved = changedSince(d)
		}
	}
	for _, past := range p.past {
		if past.Fix == nil || past.Fix.Head == "" {
			continue
		}
		lines, err := l.written(ctx, past.Fix.Base, past.Fix.Commits, snap.Range.Head)
		if err != nil {
			return f, err
		}
		f.Written = append(f.Written, lines...)
	}
	if snap.Conversation != nil {
		if err := l.save(ctx, req, fmt.Sprintf("round-%d/conversation.json", p.round), redactSnapshot(snap).Conversation); err != nil {
			return f, err
		}
	}
	return f, l.save(ctx, req, fmt.Sprintf("round-%d/snapshot.json", p.round), redactSnapshot(f.Snapshot))
}

// slowest is how long agents side by side took.
func slowest(reports []AgentReport) time.Duration {
	var d time.Duration
	for _, h := range reports {
		d = max(d, seconds(h.Answer.Receipt.Seconds))
	}
	return d
}

// together is how long agents one after another took.
func together(reports []AgentReport) (d time.Duration) {
	for _, h := range reports {
		d += seconds(h.Answer.Receipt.Seconds)
	}
	return d
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// keep writes the artifacts a person reads: review.md, and the inputs `prloop replay` judges again.
func (l *Loop) keep(ctx context.Context, steps Steps, req Request, round int, judged Judgement) error {
	_, err := doJSON(ctx, steps, fmt.Sprintf("round %d: keep", round), func(ctx context.Context) (bool, error) {
		if err := l.save(ctx, req, fmt.Sprintf("round-%d/inputs.json", round), judged.Inputs); err != nil {
			return false, err
		}
		if err := l.Record.Save(ctx, req.Run, fmt.Sprintf("round-%d/review.md", round), []byte(judged.Report)); err != nil {
			return false, err
		}
		if err := l.Record.Save(ctx, req.Run, "review.md", []byte(judged.Report)); err != nil {
			return false, err
		}
		return true, l.Record.Round(ctx, judged.Result)
	})
	return err
}

// finish stores how the run ended.
func (l *Loop) finish(ctx context.Context, steps Steps, req Request, p progress, result review.RunResult) (review.RunResult, error) {
	return doJSON(ctx, steps, "finish", func(ctx context.Context) (review.RunResult, error) {
		result, err := l.stillThere(ctx, req, p, result) // who was killed before the end looks again
		if err != nil {
			return result, err
		}
		result.Seconds = l.Now().Sub(req.Started).Seconds()
		if err := l.save(ctx, req, "review.json", result); err != nil {
			return result, err
		}
		if err := l.save(ctx, req, "telemetry.json", telemetry(result)); err != nil {
			return result, err
		}
		if err := l.Record.Finish(ctx, result); err != nil {
			return result, err
		}
		if req.Fix != nil {
			if err := l.Executor.Forget(ctx, req.Run); err != nil { // a later run sweeps them up
				l.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: "fixes of this run are still kept: " + sanitize.Redact(err.Error())})
			}
		}
		return result, nil
	})
}

// superseded is the end of a run whose pull request moved on, for the reason given.
func superseded(req Request, p progress, url, why string) review.RunResult {
	r := unjudged(req, p, url)
	r.Outcome, r.Reason = review.Superseded, why
	return r
}

// late is the end of a run that could not read the change of a round within its wall time: nobody answered about that head.
func late(req Request, p progress, url string) review.RunResult {
	r := unjudged(req, p, url)
	r.Outcome, r.Reason = review.Budget, "the budget for wall time ran out before the change had been read"
	return r
}

// unjudged is the end of a run without a judgement of its head. Whoever answered about it is named: what they said is the newest word on it. What people object is kept: nobody
// may read it again.
func unjudged(req Request, p progress, url string) review.RunResult {
	r := review.RunResult{
		Run: req.Run, Target: req.Target, URL: url, Round: p.round,
		Rules: []int{}, Findings: []review.Finding{}, Unverified: []review.Unverified{}, Stuck: []review.Finding{}, Started: req.Started,
		Rounds: p.past, Comments: []string{},
		Receipt: review.Receipt{ReviewID: req.ReviewID, HeadSHA: p.head, LeftOut: []review.LeftOut{}, Agents: []review.AgentReceipt{}, Objected: p.objected},
	}
	for _, h := range p.heard {
		r.Receipt.Agents = append(r.Receipt.Agents, h.Answer.Receipt)
	}
	if c := req.alone(); c != nil {
		r.Command = c.ID
	}
	if r.Rounds == nil {
		r.Rounds = []review.RoundResult{}
	}
	return r
}

func (l *Loop) emit(e review.Event) {
	e.Time = l.Now()
	l.Emit(e)
}

// begins tells of a round. In later ones everybody waits again; whoever started the run said so for the first.
func (l *Loop) begins(req Request, p progress) {
	l.emit(review.Event{Kind: review.EventRound, Round: p.round, Rounds: req.rounds(), Head: p.head})
	if p.round == 1 {
		return
	}
	for _, a := range req.Agents {
		l.emit(review.Event{Kind: review.EventState, Agent: a.Name, State: review.AgentWaiting})
	}
	if req.Verify != nil {
		l.emit(review.Event{Kind: review.EventState, Agent: req.Verify.Agent.Name, State: review.AgentWaiting})
	}
	if req.Fix != nil {
		l.emit(review.Event{Kind: review.EventState, Agent: req.Fix.Agent.Name, State: review.AgentWaiting})
	}
}

// over tells how a round ended.
func (l *Loop) over(p progress) {
	last := p.past[len(p.past)-1]
	l.emit(review.Event{Kind: review.EventResult, Result: &last})
}

func (l *Loop) say(message string) {
	l.emit(review.Event{Kind: review.EventProgress, Message: message})
}

// save writes one artifact as indented JSON.
func (l *Loop) save(ctx context.Context, req Request, name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode artifact %s: %w", name, err)
	}
	return l.Record.Save(ctx, req.Run, name, append(data, '\n'))
}
