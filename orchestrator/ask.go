package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// AgentReport is one agent's answer together with what the machine established about it. It is redacted: nothing an agent
// said is stored before secrets were taken out (threats.md P14).
type AgentReport struct {
	Answer review.Answer `json:"answer"`
	// Evidence stands at the same index as the reviewer's findings, or the verifier's assessments.
	Evidence []evidence.Result `json:"evidence,omitempty"`
	// Missed are the changed files that were not given to the agent whole.
	Missed []string `json:"missed,omitempty"`
	// Wide is true of a command that was given the whole change, whatever its files say: it owes an answer about what it raised (threats.md T842).
	Wide bool `json:"wide,omitempty"`
	// Untold is how many findings of a command or a builtin reviewer its limit on findings leaves out that may have to be fixed (threats.md T856).
	Untold int `json:"untold,omitempty"`
}

// askAll puts the round's question to every agent at once and returns their answers in the order of the plans.
// spent is the wall time used by earlier rounds.
func (l *Loop) askAll(ctx context.Context, steps Steps, req Request, in Inputs, spent time.Duration) ([]AgentReport, error) {
	round := in.Round
	todo := make([]Step, len(req.Agents))
	asked := make([]bool, len(req.Agents)) // in this process; each by its own step
	var first sync.Once
	for i, plan := range req.Agents {
		todo[i] = Step{Name: fmt.Sprintf("round %d: ask %s", round, plan.Name), Fn: func(ctx context.Context) ([]byte, error) {
			asked[i] = true
			first.Do(func() { l.say("waiting for " + plural(len(req.Agents), "agent", "agents")) })
			report, err := l.ask(ctx, req, plan, in, req.wallTime()-spent)
			if err != nil {
				return nil, err
			}
			return json.Marshal(report)
		}}
	}
	results, errs := steps.All(ctx, todo)
	reports := make([]AgentReport, len(todo))
	for i, plan := range req.Agents {
		// An agent that fails is an answer; an error here is the disk or git, which the run cannot do without.
		if errs[i] != nil {
			return nil, fmt.Errorf("ask %s: %w", plan.Name, errs[i])
		}
		if err := json.Unmarshal(results[i], &reports[i]); err != nil {
			return nil, fmt.Errorf("read stored answer of %s: %w", plan.Name, err)
		}
		if !asked[i] {
			r := reports[i].Answer.Receipt
			l.emit(review.Event{Kind: review.EventState, Agent: plan.Name, State: r.State, Message: "answered before: " + plural(r.Findings, "finding", "findings")})
		}
	}
	return reports, nil
}

// ask puts the question to one agent, checks what it claims, and redacts what it said. left is the run's remaining wall
// time.
func (l *Loop) ask(ctx context.Context, req Request, plan AgentPlan, in Inputs, left time.Duration) (AgentReport, error) {
	round, snap := in.Round, in.Snapshot
	l.emit(review.Event{Kind: review.EventState, Agent: plan.Name, State: review.AgentRunning})
	task := l.task(req, round, plan, snap)
	if plan.Role == review.RoleReviewer || plan.Role == review.RoleVerifier { // one text for all of them, for providers' prompt caches
		task.Earlier, task.Claims, task.Noticed = earlierFindings(in.Earlier), claims(in.Earlier), noticed(in.Past)
		task.Rewritten = rewrittenIn(in.Written, task.Brief)
	}
	if plan.Role == review.RoleVerifier {
		if judge, ok := req.isJudge(plan.Name); ok {
			task.Verify, task.Discussion, task.RunState = in.judgePayload(judge), nil, nil // what counts of it stands there
		} else {
			task.Verify = gather(in).verifyPayload()
		}
	}
	if plan.Role == review.RoleScout || plan.Role == review.RoleFinder {
		task.Discussion = nil
	}
	if plan.Role == review.RoleFinder {
		task.Find = in.find
	}
	if plan.Command != nil {
		task.Command = plan.Command.Task()
		if plan.Command.listens() {
			task.Discussion = wholeDiscussion(snap)
		}
	}
	given := in.widened(plan)
	task.Brief = in.withFound(plan, req.narrowed(given, task.Brief))
	task = visible(plan, task)
	if err := l.save(ctx, req, agentFile(round, plan.Name, "request.json"), task); err != nil {
		return AgentReport{}, err
	}
	asked, err := l.agentTask(ctx, req, given, task, snap.Range)
	if err != nil {
		return AgentReport{}, err
	}
	if err := asking.Hit(); err != nil {
		return AgentReport{}, err
	}
	began := time.Now()
	limited, done := l.limited(ctx, left)
	defer done()
	var answer review.Answer
	if given.Command != nil && given.Command.idle(asked.Brief) {
		answer = unneeded(plan, asked.Brief)
	} else {
		answer = l.Agents.Ask(limited, plan, asked, l.forwardEvent)
	}
	cut(limited, &answer.Receipt)
	if ctx.Err() != nil {
		return AgentReport{}, context.Cause(ctx) // interrupted, not answered: a resumed run asks again
	}
	answer, err = l.screened(ctx, req.Run, plan, answer)
	if err != nil {
		return AgentReport{}, err
	}
	answer.Receipt.Name, answer.Receipt.Role, answer.Receipt.Kind = plan.Name, plan.Role, plan.Kind
	answer.Receipt.FilesGiven, answer.Receipt.HunksGiven = task.Brief.Given()
	report, err := l.inTime(ctx, left-time.Since(began), answer, func(ctx context.Context) (AgentReport, error) {
		return l.checked(ctx, req, given, in, asked.Brief, task.Verify, answer)
	})
	if err != nil {
		return AgentReport{}, err
	}
	if plan.Role == review.RoleReviewer || plan.Role == review.RoleScout {
		report.Missed = coverage.Missed(asked.Brief)
	}
	if report.Wide = given.Command != nil && given.Command.wide; report.Wide {
		report.Answer.Receipt.Notes = append(report.Answer.Receipt.Notes, "given the whole change: something grave that it raised is open")
	}
	report = redactReport(report, l.Learned)
	if err := l.save(ctx, req, agentFile(round, plan.Name, "answer.json"), report); err != nil {
		return AgentReport{}, err
	}
	if err := l.Record.Save(ctx, req.Run, agentFile(round, plan.Name, "stderr.log"), []byte(report.Answer.Log)); err != nil {
		return AgentReport{}, err
	}
	summary := answerSummary(report.Answer.Receipt)
	if s := report.Answer.Scout; s != nil {
		summary = string(s.Complexity) + ", " + string(s.Verdict)
	}
	if f := report.Answer.Finder; f != nil {
		summary = fmt.Sprintf("%d wanted", len(f.Wanted))
	}
	l.emit(review.Event{Kind: review.EventState, Agent: plan.Name, State: report.Answer.Receipt.State, Message: summary})
	return report, oneAnswered.Hit()
}

// checkLeast is what the check of an answer may take where agents have nothing left of the run's wall time: what they said until then counts.
const checkLeast = 30 * time.Second

// inTime checks an answer within what is left of the run's wall time, until somebody asks the run to stop. One that was not checked by then counts as
// none: it may be made to be checked for ever.
func (l *Loop) inTime(ctx context.Context, left time.Duration, answer review.Answer, check func(context.Context) (AgentReport, error)) (AgentReport, error) {
	limited, done := l.limited(ctx, max(left, checkLeast))
	defer done()
	report, err := check(limited)
	switch {
	case err == nil:
		return report, nil
	case ctx.Err() != nil:
		return AgentReport{}, context.Cause(ctx)
	case limited.Err() == nil:
		return AgentReport{}, err
	}
	r := answer.Receipt
	r.State, r.Reason, r.Detail, r.Findings = review.AgentFailed, "its answer could not be checked in time", "", 0
	cut(limited, &r)
	return AgentReport{Answer: review.Answer{Receipt: r, Log: answer.Log}}, nil
}

// checked is an answer with what the machine establishes about it. brief is what the agent was given, verify what it was asked as a verifier.
func (l *Loop) checked(ctx context.Context, req Request, plan AgentPlan, in Inputs, brief review.Brief, verify *review.VerifyPayload, answer review.Answer) (report AgentReport, err error) {
	snap := in.Snapshot
	report = AgentReport{Answer: answer}
	if r := answer.Reviewer; r != nil {
		check := snap.checker(l.History, l.Learned)
		findings, notes := req.scores().Raise(r.Findings)
		if limit := plan.limits(req).Findings; plan.Kind == review.KindBuiltin && limit > 0 {
			var over []review.Finding
			findings, over = req.scores().Within(findings, limit)
			for _, f := range over {
				if f.Priority != review.P3 {
					report.Untold++
				}
			}
			if n := len(over); n > 0 {
				r.Omitted, answer.Receipt.Omitted = r.Omitted+n, answer.Receipt.Omitted+n
				notes = append(notes, fmt.Sprintf("%s beyond the limit of %d (limits.max_output_issues)", plural(n, "finding is left out:", "findings are left out:"), limit))
			}
		}
		r.Findings, r.Issues = findings, review.Count(findings)
		answer.Receipt.Notes = append(answer.Receipt.Notes, notes...)
		report.Evidence = make([]evidence.Result, len(r.Findings))
		tells := &values{brief: brief, read: func(ctx context.Context, file string) (evidence.File, error) {
			return check.Read(ctx, snap.Range.Head, file)
		}}
		for i := range r.Findings {
			f := &r.Findings[i]
			line, lineEnd := f.Line, f.LineEnd
			ev, note, err := check.Place(ctx, f, plan.Kind == review.KindBuiltin)
			if err != nil {
				return AgentReport{}, err
			}
			if plan.Kind == review.KindStatic && line != nil {
				f.Line, f.LineEnd, note = line, lineEnd, ""
				ev.Quoted = ownLines(*f)
			}
			if note != "" {
				answer.Receipt.Notes = append(answer.Receipt.Notes, fmt.Sprintf("findings/%d: %s", i, note))
			}
			f.Source = review.Source{Type: "agent", Name: plan.Name, ReviewID: f.Source.ReviewID, Timestamp: f.Source.Timestamp}
			if plan.Kind == review.KindStatic {
				if f.ValueHash, err = tells.hash(ctx, *f); err != nil {
					return AgentReport{}, err
				}
			}
			f.Fingerprint = identity.Fingerprint(*f)
			report.Evidence[i] = ev
		}
		answer.Receipt.Findings = len(r.Findings)
		for _, f := range r.Findings {
			if objections.Grave(f) {
				answer.Receipt.Grave++
			}
		}
		report.Answer.Receipt = answer.Receipt
	}
	if answer.Command != nil {
		if report.Evidence, report.Untold, err = l.checkCommand(ctx, in, plan, &answer); err != nil {
			return AgentReport{}, err
		}
		report.Answer = answer
	}
	if answer.Verifier != nil {
		if report.Evidence, err = l.checkFacts(ctx, snap, *verify, &answer); err != nil {
			return AgentReport{}, err
		}
		if _, ok := req.isJudge(plan.Name); ok {
			if err := l.checkCures(ctx, in, &answer, report.Evidence); err != nil {
				return AgentReport{}, err
			}
		}
		report.Answer = answer
	}
	return report, nil
}

// answerSummary is what an agent's answer came to, in a few words.
func answerSummary(r review.AgentReceipt) string {
	if r.Reason == "" && r.State == review.AgentComplete {
		return plural(r.Findings, "finding", "findings")
	}
	return r.Whole()
}

// task is what one agent is told. The brief is the same for all; reviewers see the open threads, the comments analyzer
// the whole discussion and no diff.
func (l *Loop) task(req Request, round int, plan AgentPlan, snap Snapshot) review.Task {
	t := review.Task{
		Version: review.TaskVersion, Role: plan.Role, Agent: plan.Name, PRNumber: req.Target.PR, Run: req.Run, Round: round,
		Repo: req.Target.Repo, BaseSHA: snap.Range.MergeBase, HeadSHA: snap.Range.Head,
		Title: snap.PR.Title, Body: snap.PR.Body, Prompt: plan.Prompt, Limits: plan.limits(req),
	}
	t.Options, t.Settings = l.options(req, plan)
	if plan.Role == review.RoleCommentsAnalyzer {
		d := snap.Discussion
		t.Discussion = &d
	} else {
		t.Brief = snap.Brief
		t.Discussion = openThreads(snap.Discussion, snap.Conversation)
		if plan.Kind == review.KindBuiltin && (plan.Role == review.RoleReviewer || plan.Role == review.RoleVerifier) {
			t.RunState = runState(snap.Conversation)
		}
	}
	return t
}

// options are what an agent is told beside its question: typed for those prloop starts or prompts itself, as words for a program of
// somebody else's.
func (l *Loop) options(req Request, plan AgentPlan) (review.Options, map[string]string) {
	o := review.Options{Model: plan.Model, Stronger: plan.Stronger, Lens: plan.Lens, Effort: plan.Effort, Temperature: plan.Temperature, Threshold: req.threshold(), Fence: l.Fence(req.Run), AllowPaths: plan.AllowPaths}
	if plan.Role == review.RoleReviewer {
		o.Elevation = req.Elevation
	}
	if plan.Kind != review.KindCommand {
		return o, nil
	}
	words := maps.Clone(plan.Settings)
	if words == nil {
		words = map[string]string{}
	}
	words["threshold"], words["fence"] = strconv.Itoa(o.Threshold), o.Fence
	if plan.Role == review.RoleReviewer {
		words["elevation_threshold"] = strconv.Itoa(o.Elevation)
	}
	if len(o.AllowPaths) > 0 {
		words["allow_paths"] = strings.Join(o.AllowPaths, "\n")
	}
	return review.Options{}, words
}

// visible makes hidden characters visible in everything a model reads (threats.md T40): what a person cannot see must not
// speak to a model. Programs get the bytes as they are.
func visible(plan AgentPlan, t review.Task) review.Task {
	if plan.Kind != review.KindBuiltin && plan.Kind != review.KindACP { // both hand it to a model as it is
		return t
	}
	show := func(s string) string { out, _ := sanitize.Visible(s); return out }
	findings := func(list []review.Finding) []review.Finding {
		list = slices.Clone(list)
		for i := range list {
			for _, text := range written(&list[i]) {
				*text = show(*text)
			}
			if list[i].Assessment != nil {
				a := *list[i].Assessment
				a.Reason = show(a.Reason)
				if a.Fact != nil {
					fact := *a.Fact
					fact.File, fact.Evidence = show(fact.File), show(fact.Evidence)
					a.Fact = &fact
				}
				list[i].Assessment = &a
			}
		}
		return list
	}
	t.Earlier, t.Claims = findings(t.Earlier), slices.Clone(t.Claims)
	for i := range t.Claims {
		t.Claims[i].Text = show(t.Claims[i].Text)
	}
	t.Noticed = slices.Clone(t.Noticed)
	for i := range t.Noticed {
		t.Noticed[i].Text = show(t.Noticed[i].Text)
	}
	if t.Verify != nil {
		p := *t.Verify
		p.Findings, p.Disputes = findings(p.Findings), slices.Clone(p.Disputes)
		for i := range p.Disputes {
			p.Disputes[i].Said = slices.Clone(p.Disputes[i].Said)
			for j := range p.Disputes[i].Said {
				p.Disputes[i].Said[j].Body = show(p.Disputes[i].Said[j].Body)
			}
		}
		t.Verify = &p
	}
	if t.Fix != nil {
		p := *t.Fix
		p.IssuesToFix, p.OptionalIssues = findings(p.IssuesToFix), findings(p.OptionalIssues)
		t.Fix = &p
	}
	if t.Setback != nil {
		s := *t.Setback
		s.Checks = slices.Clone(s.Checks)
		for i := range s.Checks {
			s.Checks[i].Log = show(s.Checks[i].Log)
		}
		t.Setback = &s
	}
	if t.Command != nil {
		c := *t.Command
		c.Args, c.Argv = show(c.Args), slices.Clone(c.Argv)
		for i := range c.Argv {
			c.Argv[i] = show(c.Argv[i])
		}
		t.Command = &c
	}
	t.Title, t.Body = show(t.Title), show(t.Body)
	t.Brief.Files = slices.Clone(t.Brief.Files)
	for i := range t.Brief.Files {
		f := &t.Brief.Files[i]
		f.Diff = show(f.Diff)
		f.Context = slices.Clone(f.Context)
		for j := range f.Context {
			f.Context[j].Text = show(f.Context[j].Text)
		}
	}
	for _, list := range []*[]review.RelatedFile{&t.Brief.Related, &t.Brief.Found} {
		*list = slices.Clone(*list)
		for i := range *list {
			f := &(*list)[i]
			f.Regions = slices.Clone(f.Regions)
			for j := range f.Regions {
				f.Regions[j].Text, f.Regions[j].Symbol = show(f.Regions[j].Text), show(f.Regions[j].Symbol)
			}
		}
	}
	t.Find = shownFind(t.Find)
	t.Brief.Guidance = slices.Clone(t.Brief.Guidance)
	for i := range t.Brief.Guidance {
		t.Brief.Guidance[i].Text = show(t.Brief.Guidance[i].Text)
	}
	if t.RunState != nil {
		s := *t.RunState
		s.Threads = slices.Clone(s.Threads)
		for i := range s.Threads {
			r := &s.Threads[i]
			r.Assessment.Finding, r.Assessment.Assessment = show(r.Assessment.Finding), show(r.Assessment.Assessment)
			r.DeveloperReplies = slices.Clone(r.DeveloperReplies)
			for j := range r.DeveloperReplies {
				r.DeveloperReplies[j].Body = show(r.DeveloperReplies[j].Body)
			}
		}
		t.RunState = &s
	}
	if t.Discussion != nil {
		d := *t.Discussion
		comments := func(list []review.Comment) []review.Comment {
			list = slices.Clone(list)
			for i := range list {
				list[i].Body = show(list[i].Body)
			}
			return list
		}
		d.Comments, d.Threads, d.Reviews = comments(d.Comments), slices.Clone(d.Threads), slices.Clone(d.Reviews)
		for i := range d.Threads {
			d.Threads[i].Comments = comments(d.Threads[i].Comments)
		}
		for i := range d.Reviews {
			d.Reviews[i].Body = show(d.Reviews[i].Body)
		}
		t.Discussion = &d
	}
	return t
}

// redactReport takes secrets, diffs and what is known of the change out of every text an agent wrote.
func redactReport(h AgentReport, known *sanitize.Learned) AgentReport {
	if r := h.Answer.Reviewer; r != nil {
		r.FullReport = known.Redact(r.FullReport)
		redactFindings(r.Findings, known)
		for i := range r.Earlier {
			v := &r.Earlier[i]
			v.FindingID, v.Verdict, v.Why = known.Redact(v.FindingID), known.Redact(v.Verdict), known.Redact(v.Why)
		}
	}
	if c := h.Answer.Comments; c != nil {
		c.FullReport = known.Redact(c.FullReport)
		redactFindings(c.PendingIssues, known)
		for i := range c.ReviewState.ChangesRequestedBy {
			p := &c.ReviewState.ChangesRequestedBy[i]
			p.Login, p.Association = known.Redact(p.Login), known.Redact(p.Association)
		}
	}
	if c := h.Answer.Command; c != nil {
		redactFindings(c.Findings, known)
		for _, text := range writtenCommand(c) {
			*text = known.Redact(*text)
		}
	}
	if v := h.Answer.Verifier; v != nil {
		redactVerifier(v, known)
	}
	if f := h.Answer.Finder; f != nil {
		for _, text := range writtenFinder(f) {
			*text = known.Redact(*text)
		}
	}
	if s := h.Answer.Scout; s != nil {
		for _, text := range writtenScout(s) {
			*text = known.Redact(*text)
		}
	}
	h.Answer.Log = known.Redact(h.Answer.Log)
	redactReceipt(&h.Answer.Receipt, known)
	return h
}

// redactReceipt takes secrets out of an agent's own words in its receipt. A command agent names the models it asked.
func redactReceipt(r *review.AgentReceipt, known *sanitize.Learned) {
	r.Reason, r.Detail, r.Next = known.Redact(r.Reason), known.Redact(r.Detail), known.Redact(r.Next)
	for _, list := range [][]string{r.Notes, r.Usage.Models} {
		for i := range list {
			list[i] = known.Redact(list[i])
		}
	}
}

func redactFindings(findings []review.Finding, known *sanitize.Learned) {
	for i := range findings {
		findings[i].Assessment = nil // for the verifier to say, later
		for _, text := range written(&findings[i]) {
			*text = known.Redact(*text)
		}
	}
}

// agentFile names an artifact of one agent.
func agentFile(round int, agent, what string) string {
	return fmt.Sprintf("round-%d/%s.%s", round, agent, what)
}
