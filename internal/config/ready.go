package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/internal/toolset"
	"github.com/prloop/prloop/review"
)

// ReadyCommand is a command with all that holds for it at the place where it runs.
type ReadyCommand struct {
	ID string
	// Title is what people read; Prompt is as its file has it, its variables unfilled.
	Title, Prompt string
	// Agent is who runs it, named after the command. Its Model is settled for builtin and acp.
	Agent Agent
	// Provider is the endpoint that serves the model, as the file calls it; empty when nobody chose one.
	Provider string
	// Effort is how much the model is asked to think, in a word of Settings.ReasoningEffort; Temperature is nil where nobody chose one.
	Effort      string
	Temperature *float64
	// Categories are the tool categories it may use, Tools the tools of these that exist at the place.
	Categories, Tools []string
	// Limits are the budgets of its agent. Files, Findings and DiffLines bound what it is about and what it may say; 0 is without bound.
	Limits                     review.Limits
	Files, Findings, DiffLines int
	// Format, Floor, Mode and CommentType are words of CommandOutput and CommandComment, never empty but for
	// CommentType where nothing is posted.
	Format, Floor, Mode, CommentType string
	// Counts is whether its findings in the main report count for the verdict.
	Counts bool
	// Paths choose the changed files it is about.
	Paths Globs
}

// UnknownCommandError is a command that the repository's file does not define.
type UnknownCommandError struct {
	ID string
	// Known are the ids there are, sorted; Suggestion is the one that was probably meant, or empty.
	Known      []string
	Suggestion string
}

// Error names the command and those that exist.
func (e *UnknownCommandError) Error() string {
	s := fmt.Sprintf("%s defines no command %q", RepositoryFile, clip(e.ID))
	if e.Suggestion != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return s + " (known: " + knownNames(e.Known) + ")"
}

// Command settles a command for a place. The error is *UnknownCommandError, *RepoCommandError where its agent is a program that
// may not run here, or an *Error where its model cannot be asked: a provider that the operator does not have, or that has no key.
func (s Settings) Command(id string, at review.Place) (ReadyCommand, error) {
	i := slices.IndexFunc(s.Commands, func(c Command) bool { return c.ID == id })
	if i < 0 {
		var known []string
		for _, c := range s.Commands {
			known = append(known, c.ID)
		}
		slices.Sort(known)
		return ReadyCommand{}, &UnknownCommandError{ID: id, Known: known, Suggestion: nearest.Name(id, known)}
	}
	c, r := s.Commands[i], s.resolved
	pointer := index("/commands", i)
	out := ReadyCommand{
		ID: c.ID, Title: cmp.Or(c.Title, c.ID), Prompt: c.Prompt, Agent: c.Agent,
		Categories: toolset.Allowed(s.Tools.Allow, c.Tools.Allow), Tools: toolset.Names(at, s.Tools.Allow, c.Tools.Allow),
		Limits: s.commandLimits(c.Limits), Files: c.Limits.MaxFiles, Findings: c.Limits.MaxFindings, DiffLines: c.Limits.MaxDiffLines,
		Format: cmp.Or(c.Output.Format, "findings"), Floor: cmp.Or(c.Output.SeverityFloor, "low"), Mode: s.mode(c, at), CommentType: s.commentType(c, at),
		Counts: c.Output.Counts == nil || *c.Output.Counts, Paths: c.Files,
	}
	out.Agent.Name, out.Agent.Use, out.Agent.FromRepository = c.ID, cmp.Or(c.Agent.Use, review.KindBuiltin), true
	if err := r.admit(&out.Agent, pointer+"/agent"); err != nil {
		return ReadyCommand{}, err
	}
	if out.Agent.Use == review.KindCommand {
		return out, nil
	}
	m := s.modelOf(c, at)
	out.Provider, out.Agent.Model, out.Effort, out.Temperature = m.Provider, m.Model, m.Reasoning, m.Temperature
	return out, s.askable(out, pointer)
}

// mode is where a command's answer goes: what its file says, else the main report where there is one.
func (s Settings) mode(c Command, at review.Place) string {
	if at == review.PlaceReview || at == review.PlaceLocal {
		return cmp.Or(c.Output.Mode, ModeFeedMain)
	}
	return cmp.Or(c.Output.Mode, ModeSeparate)
}

// commentType is empty where there is no pull request to comment on.
func (s Settings) commentType(c Command, at review.Place) string {
	switch {
	case at == review.PlaceSchedule || at == review.PlaceLocal:
		return ""
	case s.atRunTime("output.commentType"):
		return s.Output.CommentType
	case at == review.PlaceReview:
		return cmp.Or(c.Comment.Type, s.Output.CommentType, CommentIssue)
	}
	return cmp.Or(c.Comment.Type, s.Output.CommentType, CommentBoth)
}

// atRunTime reports whether the command line, an input of the action or the environment set a value: it then stands before
// what single commands say (decision 8).
func (s Settings) atRunTime(key string) bool {
	l := s.resolved.origins[key].layer
	return l == LayerCommandLine || l == LayerEnvironment
}

// modelOf is who is asked: what was said at run time, else by the command, else for all commands on pull requests, else for all agents.
func (s Settings) modelOf(c Command, at review.Place) ModelSettings {
	d := s.Review.Defaults
	if at == review.PlaceSchedule {
		d = ModelSettings{}
	}
	pick := func(default_, all string, own, ofDefaults, ofAll string) string {
		switch {
		case s.atRunTime(default_) && ofDefaults != "":
			return ofDefaults
		case s.atRunTime(all):
			return ofAll
		}
		return cmp.Or(own, ofDefaults, ofAll)
	}
	m := ModelSettings{
		Provider:    pick("review.defaults.provider", "provider", c.Provider, d.Provider, ""),
		Model:       pick("review.defaults.model", "model", c.Model, d.Model, s.Model),
		Reasoning:   pick("review.defaults.reasoning", "reasoning_effort", c.Reasoning, d.Reasoning, s.ReasoningEffort),
		Temperature: cmp.Or(c.Temperature, d.Temperature),
	}
	if s.atRunTime("review.defaults.temperature") && d.Temperature != nil {
		m.Temperature = d.Temperature
	}
	if m.Reasoning == "off" {
		m.Reasoning = "none"
	}
	return m
}

// commandLimits are an agent's budgets: room for one that looks around with tools, as an ACP agent has, lowered by what the command says.
func (s Settings) commandLimits(c CommandLimits) review.Limits {
	l := s.ACPLimits
	lower := func(all *int, own int) {
		if own > 0 && own < *all {
			*all = own
		}
	}
	lower(&l.LLMCalls, c.MaxLLMCalls)
	lower(&l.ToolCalls, c.MaxToolCalls)
	lower(&l.WallTimeSeconds, c.MaxWallTimeSeconds)
	lower(&l.Findings, c.MaxFindings)
	if c.MaxCostUSD > 0 {
		l.CostUSD = min(l.CostUSD, c.MaxCostUSD)
	}
	return l
}

// mainProvider is what a file may call the endpoint at base_url; empty when it has no name.
func (s Settings) mainProvider() string {
	if s.Provider == "" && s.BaseURL == defaultBaseURL {
		return "openai"
	}
	return s.Provider
}

// askable refuses a command whose model nobody serves here, before anything is asked.
func (s Settings) askable(c ReadyCommand, pointer string) error {
	fault := func(next, format string, args ...any) error {
		f := s.faultOfModel(pointer, c.Provider != "")
		f.Message, f.Next = fmt.Sprintf(format, args...), next
		return &Error{[]Fault{f}}
	}
	endpoints := map[string]*Upstream{}
	for i, u := range s.Upstreams {
		endpoints[u.Name] = &s.Upstreams[i]
	}
	serving := slices.IndexFunc(s.Upstreams, func(u Upstream) bool { return slices.Contains(u.Models, c.Agent.Model) })
	main := s.mainProvider()
	switch u, named := endpoints[c.Provider]; {
	case s.replayed:
		return nil
	case c.Provider == "" && !s.ModelConfigured():
		return fault("set OPENAI_API_KEY, or the command's agent", "no model is configured that could run %q", c.ID)
	case c.Provider == "" && serving >= 0:
		return missingKey(s.Upstreams[serving], fault)
	case c.Provider == "":
		return nil
	case named && !slices.Contains(u.Models, c.Agent.Model):
		return fault("name one of these, or have the operator add it to the models of the upstream", "%q does not serve the model %q (known: %s)", c.Provider, clip(c.Agent.Model), knownNames(u.Models))
	case named:
		return missingKey(*u, fault)
	case c.Provider != main:
		known := slices.Sorted(maps.Keys(endpoints))
		if main != "" {
			known = append(known, main)
		}
		return fault("have the operator name the endpoint (provider, or upstreams in config.yml)", "%q is no provider of the operator's (known: %s)", c.Provider, knownNames(known))
	case serving >= 0:
		return fault("name that provider, or another model", "the model %q is served by %q", clip(c.Agent.Model), s.Upstreams[serving].Name)
	case s.APIKey.Reveal() == "" && s.BaseURL == defaultBaseURL:
		return fault("set OPENAI_API_KEY", "the provider %q has no key", c.Provider)
	}
	return nil
}

func missingKey(u Upstream, fault func(next, format string, args ...any) error) error {
	if u.KeyEnv == "" || u.Key.Reveal() != "" {
		return nil
	}
	return fault("set "+u.KeyEnv, "the provider %q has no key", u.Name)
}

// faultOfModel is a fault at the line that chose a command's provider or, where none did, at the command.
func (s Settings) faultOfModel(pointer string, provider bool) Fault {
	o, source := s.resolved.origins["review.defaults.provider"], s.resolved.repository
	at := pointer
	if _, own := source.places[pointer+"/provider"]; own {
		at = pointer + "/provider"
	} else if provider {
		if at = "/review/defaults/provider"; o.layer != LayerRepository {
			return Fault{File: o.where, Key: keyOf(at)}
		}
	}
	p := source.places[at]
	return *source.at(p.line, p.column, keyOf(at), "")
}
