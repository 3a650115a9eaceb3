package app

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/maintenance"
	"github.com/prloop/prloop/internal/schedule"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// scheduled is what is stored of a scheduled job beside the request. Its agents are those of the request, in the order of the commands.
type scheduled struct {
	maintenance.Request
}

// IdleError: a scheduled job has nothing to do, which is no fault.
type IdleError struct {
	Target review.Target
	Reason string
}

func (e *IdleError) Error() string { return fmt.Sprintf("job %s: %s", e.Target.Job, e.Reason) }

// UncontainedError: agents that write need full containment.
type UncontainedError struct{ Job string }

func (e *UncontainedError) Error() string {
	return fmt.Sprintf("job %s: its agents write files, which needs full containment, and this machine gives less", e.Job)
}

// Repository finds the repository a person means, or that of the checkout at dir.
func (s *Service) Repository(ctx context.Context, named, dir string) (review.Repo, error) {
	repo, _, err := s.here(ctx, Words{Repo: named, Dir: dir})
	return repo, err
}

// PrepareJob settles the commit, the configuration and the agents of a scheduled job (spec.md C4). Nothing is stored or posted. The error is
// an *IdleError where the job has nothing to do.
func (s *Service) PrepareJob(ctx context.Context, o Order) (*Prepared, error) {
	s.warm()
	r := &run{Service: s, cassette: o.Cassette}
	p, err := r.prepareJob(ctx, o)
	if err != nil {
		r.cleanup.run()
		return nil, err
	}
	r.id = p.Request.Run
	return p, nil
}

func (r *run) prepareJob(ctx context.Context, o Order) (*Prepared, error) {
	var err error
	if err = r.meet(ctx, o.Target.Repo); err != nil {
		return nil, err
	}
	base, head, err := r.defaultHead(ctx, &o.Target)
	if err != nil {
		return nil, err
	}
	rules, err := r.jobRules(ctx, o.Target.Repo, base, head)
	if err != nil {
		return nil, err
	}
	if r.settings, err = o.Settings(rules); err != nil {
		return nil, err
	}
	r.history.withhold(r.settings.Context.NeverRead)
	job, err := r.due(ctx, o.Target, head, wallclock.Now())
	if err != nil {
		return nil, err
	}
	confinement, err := r.opts.Machine.confinement(ctx, o.Target)
	if err != nil {
		return nil, err
	}
	if confinement.On() && !confinement.Full() {
		return nil, &UncontainedError{job.ID}
	}
	todo := &scheduled{Request: maintenance.Request{Job: job.ID, Base: base, Head: head, Terms: terms(job)}}
	if todo.Silent, err = r.client.ActionsToken(ctx); err != nil {
		return nil, err
	}
	agents, err := r.jobAgents(o, job, todo)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(r.settings.Schedule.Runs)) {
		var once []string
		for _, c := range r.settings.Schedule.Runs[id] {
			if !slices.Contains(once, c) {
				once = append(once, c)
			}
		}
		todo.Places = append(todo.Places, schedule.Branches(id, once)...)
	}
	started := wallclock.Now().UTC()
	id := orchestrator.ReviewID(o.Target, head, prompts.Version, agents, r.settings.Limits)
	settings := r.settings
	about := contextOf(settings)
	about.Include, about.Guidance = settings.Context.Include, settings.Context.Guidance
	return &Prepared{run: r, job: todo, Request: orchestrator.Request{
		Run: orchestrator.RunID(started, id), ReviewID: id, Target: o.Target, Head: head, Agents: agents, DryRun: o.DryRun, WallTime: settings.WallTime,
		PromptVersion: prompts.Version, Limits: settings.Limits, Started: started, Isolation: confinement.Report(), Config: rules.From,
		Context: about, BaseRef: sanitize.Mask(base), Secrets: r.opts.Machine.secrets(),
	}}, nil
}

// defaultHead fetches the default branch, and names it and its commit. The target has its repository's name as GitHub spells it then.
func (r *run) defaultHead(ctx context.Context, t *review.Target) (base, head string, err error) {
	at, err := r.client.DefaultBranch(ctx, t.Repo)
	if err != nil {
		return "", "", err
	}
	base, t.Repo, r.repoID = at.Branch, at.Repo, at.RepoID
	if r.history, err = r.openHistory(ctx, *t, ""); err != nil {
		return "", "", err
	}
	if err := fetching.Hit(); err != nil {
		return "", "", err
	}
	ref := "refs/heads/" + base
	got, err := r.history.fetch(ctx, ref)
	return base, got[ref], err
}

// jobRules are those of the default branch's head.
func (r *run) jobRules(ctx context.Context, repo review.Repo, base, head string) (Rules, error) {
	file, err := rulesAt(ctx, r.history.repo, head)
	rules := Rules{File: file, From: ".reviewerc at " + base}
	if file == nil {
		rules.From = "no .reviewerc at " + base
	}
	if err != nil {
		return rules, err
	}
	known, err := r.store.Policies(ctx)
	if err != nil || len(known) == 0 {
		return rules, err
	}
	id, _, err := r.client.RepositoryID(ctx, repo)
	if err != nil {
		return rules, err
	}
	err = r.withPolicy(ctx, &rules, repo, id)
	return rules, err
}

// due is the job, or an *IdleError that says why it has nothing to do.
func (r *run) due(ctx context.Context, t review.Target, head string, now time.Time) (config.Job, error) {
	idle := func(format string, args ...any) error {
		return &IdleError{t, fmt.Sprintf(format, args...)}
	}
	if !r.settings.Schedule.Enabled {
		return config.Job{}, idle("nothing to do: schedule.enabled is false")
	}
	job, err := r.settings.Job(t.Job)
	var unknown *config.UnknownJobError
	switch {
	case errors.As(err, &unknown):
		return job, idle("nothing to do: %v", unknown)
	case err != nil:
		return job, err
	case len(job.Commands) == 0:
		return job, idle("nothing to do: schedule.runs names no command for it")
	case job.Paths.Empty():
		return job, nil
	}
	touched, err := r.history.repo.Touched(ctx, head, now.Add(-job.Window))
	if err == nil && schedule.Skipped(touched, job.Paths) {
		err = idle("skipped: no commit of the last %s touched %s", inWords(job.Window), words(job.Paths))
	}
	return job, err
}

// inWords is a span of time as people write it: 24h, not 24h0m0s.
func inWords(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// words names globs.
func words(g config.Globs) string {
	text := "anything"
	if len(g.Include) > 0 {
		text = strings.Join(g.Include, ", ")
	}
	if len(g.Exclude) > 0 {
		text += " but " + strings.Join(g.Exclude, ", ")
	}
	return text
}

func terms(job config.Job) review.JobTerms {
	return review.JobTerms{
		Include: job.WriteScope.Include, Exclude: job.WriteScope.Exclude, MaxFiles: job.Limits.MaxFiles, MaxDiffLines: job.Limits.MaxDiffLines,
	}
}

// jobAgents settles who does each command, and what they are asked. A command's own limits on files and lines hold for the job they are in.
func (r *run) jobAgents(o Order, job config.Job, todo *scheduled) ([]orchestrator.AgentPlan, error) {
	var agents []orchestrator.AgentPlan
	for i, id := range job.Commands {
		p, err := planCommand(r.settings, id, review.PlaceSchedule, o.Dir)
		if err != nil {
			return nil, err
		}
		if slices.Contains(job.Commands[:i], id) {
			continue // once is enough
		}
		c := p.Command
		p.Name = c.ID // there is no reviewer beside it
		todo.Terms.MaxFiles, todo.Terms.MaxDiffLines = lower(todo.Terms.MaxFiles, c.Files), lower(todo.Terms.MaxDiffLines, c.DiffLines)
		agents = append(agents, p)
		todo.Commands = append(todo.Commands, maintenance.Command{ID: c.ID, Title: c.Title})
	}
	return agents, startable(agents...)
}

// lower is the smaller of two bounds; 0 is none.
func lower(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// jobLoop puts the parts of a scheduled job together.
func (r *run) jobLoop(ctx context.Context, st stored, lease *store.Lease) (looping, error) {
	c, err := r.hire(ctx, st.Request)
	if err != nil {
		return nil, err
	}
	clone := r.client.Pushed(st.Target.Repo)
	server := git.Server{URL: clone.URL, Helper: clone.Helper, Credential: clone.Env}
	executor := &agentrun.JobExecutor{Launcher: c.ask, Server: server}
	if lease != nil {
		executor.Held = lease.Check
	}
	check := &orchestrator.Loop{History: r.history, Briefer: &briefer{repo: r.history.repo}, Incident: r.incident, Secrets: c.known}
	l := &maintenance.Loop{
		Repo: r.history.repo, Server: server, Forge: r.client, Pusher: executor, Outbox: outbox{r.store, lease},
		Record: r.measured(r.telemetry.record(r.spend.watch(c.ask.Gateway, recorder{r.store, r.folder, lease}))), Emit: c.emit, MarkerKey: c.key,
		Nonce: func() string { return hex.EncodeToString(randomBytes(16)) }, Now: time.Now, Sleep: sleep, Permanent: r.permanent(ctx), Secrets: c.known,
		Work: func(ctx context.Context, order review.JobOrder) (review.JobWork, error) {
			plan := st.Agents[order.Number-1]
			order.Task, order.Guidance = st.jobTask(order, plan, c.ask.Fence), st.Context.Guidance
			work, err := executor.Work(ctx, plan, order, c.emit)
			return check.CheckWork(ctx, st.Request, plan, order, work, err)
		},
	}
	req := st.Job.Request
	req.Run, req.ReviewID, req.Target, req.DryRun, req.Started = st.Run, st.ReviewID, st.Target, st.DryRun, st.Started
	return func(ctx context.Context, steps durable) (review.RunResult, error) { return l.Run(ctx, steps, req) }, nil
}

// jobTask is the question to the agent of a command.
func (st stored) jobTask(order review.JobOrder, plan orchestrator.AgentPlan, fence string) review.Task {
	told := plan.Command.Task()
	told.Terms = &order.Terms
	task := review.Task{
		Version: review.TaskVersion, Role: review.RoleCommand, Agent: plan.Name, Run: st.Run, Round: 1, Repo: st.Target.Repo, BaseSHA: order.Head, HeadSHA: order.From,
		Brief:  review.Brief{Files: []review.BriefFile{}, Guidance: []review.GuidanceFile{}, Status: "ok", Warnings: []string{}},
		Prompt: plan.Prompt, Command: told, Limits: *plan.Limits,
	}
	if plan.Kind != review.KindCommand {
		task.Options = review.Options{Model: plan.Model, Effort: plan.Effort, Temperature: plan.Temperature, Fence: fence}
		return task
	}
	task.Settings = map[string]string{"fence": fence}
	maps.Copy(task.Settings, plan.Settings)
	return task
}
