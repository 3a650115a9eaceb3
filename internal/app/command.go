package app

import (
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// planAll turns settings into who is asked: the agents of a review with the commands of review.run and a verifier, or the one command that was ordered.
func (o Order) planAll(s config.Settings) (agents []orchestrator.AgentPlan, verify *orchestrator.VerifyPlan, err error) {
	if c := o.Command; c != nil {
		at := review.PlaceReview
		if o.Asked != nil {
			at = review.PlaceComment
		}
		p, err := planCommand(s, c.ID, o.placed(at), o.Dir)
		if err != nil {
			return nil, nil, err
		}
		p.Command.Args, p.Command.Argv = c.Args, c.Argv
		if c.Argv == nil {
			p.Command.Argv = trigger.Split(c.Args)
		} else if c.Args == "" {
			p.Command.Args = shellquote.Join(c.Argv...)
		}
		if masked := sanitize.Mask(p.Command.Args); masked != p.Command.Args { // agents that are no models of prloop's are given it as it is, and the run keeps it
			p.Command.Args, p.Command.Argv = masked, trigger.Split(masked)
		}
		return []orchestrator.AgentPlan{p}, nil, nil
	}
	agents = plan(s, o.Target, o.Dir)
	for _, id := range s.Review.Run {
		p, err := planCommand(s, id, o.placed(review.PlaceReview), o.Dir)
		if err != nil {
			return nil, nil, err
		}
		agents = append(agents, p)
	}
	return agents, planVerifier(s, o.Dir), nil
}

// placed is where a command of the order runs.
func (o Order) placed(at review.Place) review.Place {
	if o.Target.Local() {
		return review.PlaceLocal
	}
	return at
}

// planCommand turns a command of the repository's file into an agent at a place.
func planCommand(s config.Settings, id string, at review.Place, dir string) (orchestrator.AgentPlan, error) {
	c, err := s.Command(id, at)
	if err != nil {
		return orchestrator.AgentPlan{}, err
	}
	p := planned(s, c.Agent, review.RoleCommand, dir)
	p.Name, p.Lens, p.Prompt, p.Effort, p.Limits = orchestrator.CommandAgent(c.ID), "", sanitize.Mask(c.Prompt), c.Effort, &c.Limits
	if p.Kind == review.KindBuiltin {
		p.Temperature = c.Temperature
	}
	p.Limits.ContextTokens, p.Limits.IdleSeconds, p.Limits.CallSeconds, p.Limits.AnswerTokens = s.Limits.ContextTokens, s.Limits.IdleSeconds, s.Limits.CallSeconds, s.Limits.AnswerTokens
	floor := c.Floor
	if floor == "low" { // which leaves out none
		floor = ""
	}
	p.Command = &orchestrator.CommandPlan{
		ID: c.ID, Title: sanitize.Mask(strings.TrimSpace(c.Title)), Format: c.Format, Floor: floor, Mode: review.OutputMode(c.Mode), Type: review.CommentType(c.CommentType), Counts: c.Counts,
		Files: c.Files, DiffLines: c.DiffLines, Findings: c.Findings, Include: c.Paths.Include, Exclude: c.Paths.Exclude, Tools: c.Tools, Place: at,
	}
	return p, nil
}

// gate is how the commit status is set; a command by itself is no review, and sets none.
func (o Order) gate(s config.Settings) *gate.Plan {
	if o.Command != nil {
		return nil
	}
	return gatePlan(s)
}
