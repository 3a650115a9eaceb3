package orchestrator

import (
	"context"

	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/review"
)

// Questions are what the agents of a run would be asked in its first round.
type Questions struct {
	// Agents stand in the order of the plans.
	Agents []review.Task
	// Verifier is without findings, which nobody knows yet; nil when nobody verifies.
	Verifier *review.Task
	// Finders are the two questions of a finder, without what it is shown of the repository; nil when nobody looks for context. Scout is the quick scan's;
	// nil when there is none. With ScanAlone no full review follows: there are no other questions.
	Finders   []review.Task
	Scout     *review.Task
	ScanAlone bool
	// Judges stand in the order of their plans, each with the disputes that are open now; nil for one who has none to judge yet.
	Judges []*review.Task
}

// Questions reads the facts as the first round would, and asks nobody; nothing is stored. Of the loop it needs Forge, People, History, Briefer, MarkerKey, Secrets
// and Fence alone. An error wraps what a run would end with.
func (l *Loop) Questions(ctx context.Context, req Request) (q Questions, brief review.Brief, err error) {
	snap, err := l.snapshot(ctx, req, progress{round: 1, head: req.Head})
	if err != nil {
		return q, brief, err
	}
	return l.questions(req, snap), snap.Brief, nil
}

// questions are those of the first round about a snapshot.
func (l *Loop) questions(req Request, snap Snapshot) (q Questions) {
	in := Inputs{Request: req, Round: 1, Snapshot: snap}
	ask := func(plan AgentPlan) review.Task {
		seen := snap
		seen.Brief = req.narrowed(in.widened(plan), snap.Brief)
		t := l.task(req, 1, plan, seen)
		t.Agent, t.Role = plan.Name, plan.Role
		return visible(plan, t)
	}
	scans := req.Quick != nil && escalate.Before(req.Quick.Tier, req.Quick.Triggers, in.changeFacts()) == ""
	q.ScanAlone = scans && req.Quick.Tier == escalate.Quick
	if scans && req.looks(true) || !q.ScanAlone && req.looks(false) {
		for _, plan := range req.Find.Plans() {
			t := ask(plan)
			t.Find = &review.FindTask{Most: req.Find.Bounds.Fragments, Chars: req.Find.Bounds.Chars}
			q.Finders = append(q.Finders, t)
		}
	}
	if scans {
		plan := req.Quick.Scout
		plan.Limits = &req.Quick.Limits
		t := ask(plan)
		q.Scout = &t
	}
	if q.ScanAlone {
		return q
	}
	for _, plan := range req.Agents {
		q.Agents = append(q.Agents, ask(plan))
	}
	if v := req.Verify; v != nil {
		plan := v.Agent
		plan.Limits = &v.Limits
		t := ask(plan)
		t.Verify = &review.VerifyPayload{Findings: []review.Finding{}, LookBelow: v.LookBelow, StrongerBelow: v.StrongerBelow, ExtraFiles: v.ExtraFiles, ExtraLines: v.ExtraLines}
		q.Verifier = &t
	}
	if d := req.Disputes; d != nil {
		for i, plan := range d.Judges {
			q.Judges = append(q.Judges, nil)
			if p := in.judgePayload(i); len(p.Findings) > 0 {
				plan.Limits = &d.Limits
				t := ask(plan)
				t.Verify = p
				q.Judges[i] = &t
			}
		}
	}
	return q
}
