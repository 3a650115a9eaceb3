package app

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/discovery"
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/modelagent"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// plan turns settings into the agents of a run. The comments analyzer takes part on pull requests only. What settings say in words for agents is masked wherever a plan is
// made: the run keeps it, and agents that are no models of prloop's are given it as it is (threats.md T879).
func plan(s config.Settings, target review.Target, dir string) []orchestrator.AgentPlan {
	var out []orchestrator.AgentPlan
	for _, a := range s.Reviewers {
		p := planned(s, a, review.RoleReviewer, dir)
		if a.Use != review.KindStatic {
			p.Prompt = sanitize.Mask(s.FullPrompt)
		}
		out = append(out, p)
	}
	if !target.Local() {
		out = append(out, planned(s, s.Comments, review.RoleCommentsAnalyzer, dir))
	}
	return out
}

// planFixer turns settings into the fixer of a run; false when nobody fixes. It is no part of plan: it is asked after the
// verdict, and never counts as a reviewer.
func planFixer(s config.Settings, dir string) (orchestrator.AgentPlan, bool) {
	if s.Fixer.Use == "" || s.Fixer.Use == config.UseNone {
		return orchestrator.AgentPlan{}, false
	}
	p := planned(s, s.Fixer, review.RoleFixer, dir)
	p.Lens = "" // a reviewer's
	p.AllowPaths = s.Fix.AllowPaths
	return p, true
}

// planVerifier turns settings into the verifier of a run; nil when nobody verifies. Like the fixer it is no part of plan.
func planVerifier(s config.Settings, dir string) *orchestrator.VerifyPlan {
	if s.Verifier.Use == "" || s.Verifier.Use == config.UseNone {
		return nil
	}
	v := s.Verification
	p := orchestrator.VerifyPlan{
		Agent: planned(s, s.Verifier, review.RoleVerifier, dir), Limits: v.Limits,
		LookBelow: v.LookBelow, StrongerBelow: v.StrongerBelow, ExtraFiles: v.ExtraFiles, ExtraLines: v.ExtraLines,
	}
	p.Limits.Candidates, p.Limits.ContextTokens = s.Limits.Candidates, s.Limits.ContextTokens
	p.Limits.IdleSeconds, p.Limits.CallSeconds, p.Limits.AnswerTokens = s.Limits.IdleSeconds, s.Limits.CallSeconds, s.Limits.AnswerTokens
	p.Agent.Lens, p.Agent.Limits = "", nil
	return &p
}

// planQuick turns settings into the quick scan that comes before a full review, or in its place; nil where every change is reviewed in full:
// by the settings, because nobody can scan, or because somebody asked for this review.
func planQuick(s config.Settings, o Order) *orchestrator.QuickPlan {
	if s.Quick.Tier == escalate.Full || s.Scout.Use == "" || s.Scout.Use == config.UseNone || o.Asked != nil || o.Command != nil {
		return nil
	}
	p := orchestrator.QuickPlan{Tier: s.Quick.Tier, Triggers: s.Quick.Triggers, Scout: planned(s, s.Scout, review.RoleScout, o.Dir), Limits: s.Quick.Limits}
	p.Scout.Lens, p.Scout.Limits, p.Scout.Prompt = "", nil, sanitize.Mask(s.Quick.Prompt)
	return &p
}

// planFind turns settings into who looks for context, and within which bounds; nil where nobody does.
func planFind(s config.Settings, o Order) *orchestrator.FindPlan {
	d := s.Discovery
	if !d.Full && !d.Quick || s.Finder.Use == "" || s.Finder.Use == config.UseNone || o.Command != nil {
		return nil
	}
	p := orchestrator.FindPlan{
		Agent: planned(s, s.Finder, review.RoleFinder, o.Dir), Limits: d.Limits, DiscoveryTokens: d.Tokens, ExtractTokens: d.ExtractTokens,
		Prompt: sanitize.Mask(d.Prompt), ExtractPrompt: sanitize.Mask(d.ExtractPrompt),
		Bounds: discovery.Bounds{Fragments: d.Fragments, Chars: d.ExcerptChars, Dirs: d.Dirs, Entries: d.Entries}, Always: d.Folders, Full: d.Full, Quick: d.Quick,
	}
	p.Agent.Lens, p.Agent.Limits = "", nil
	return &p
}

// planDisputes turns settings into who judges disputes, and who is asked when they are people's; nil where there is no conversation or
// nobody judges. Beside the judge that is configured stands one with the model of another reviewer, for what the first one's model raised.
func planDisputes(s config.Settings, target review.Target, dir string) *orchestrator.DisputePlan {
	if target.Local() || s.Judge.Use == "" || s.Judge.Use == config.UseNone {
		return nil
	}
	p := orchestrator.DisputePlan{Limits: s.Verification.Limits, Ask: s.HumanReviewers}
	p.Limits.Candidates, p.Limits.ContextTokens = s.Limits.Candidates, s.Limits.ContextTokens
	p.Limits.IdleSeconds, p.Limits.CallSeconds, p.Limits.AnswerTokens = s.Limits.IdleSeconds, s.Limits.CallSeconds, s.Limits.AnswerTokens
	add := func(a config.Agent) {
		one := planned(s, a, review.RoleVerifier, dir)
		one.Lens, one.Limits, one.Stronger = "", nil, ""
		p.Judges = append(p.Judges, one)
	}
	judge, models := s.Judge, []string{}
	if judge.Use == review.KindBuiltin && judge.Model == "" {
		for _, a := range s.Reviewers {
			if a.Use != review.KindBuiltin && a.Use != review.KindACP {
				continue
			}
			if model := cmp.Or(a.Model, s.Model); !slices.Contains(models, model) {
				models = append(models, model)
			}
		}
		if len(models) > 0 {
			judge.Model = models[0]
		}
	}
	add(judge)
	if len(models) > 1 {
		judge.Name, judge.Model = config.JudgeName+"-2", models[1]
		add(judge)
	}
	return &p
}

// fixLimits are the budgets of one try of the fixer; what the brief may hold and how long models may think is as for reviewers.
func fixLimits(s config.Settings) review.Limits {
	l := s.Fix.Limits
	l.ContextTokens, l.IdleSeconds, l.CallSeconds, l.AnswerTokens = s.Limits.ContextTokens, s.Limits.IdleSeconds, s.Limits.CallSeconds, s.Limits.AnswerTokens
	return l
}

func planned(s config.Settings, a config.Agent, role review.Role, dir string) orchestrator.AgentPlan {
	p := orchestrator.AgentPlan{Name: a.Name, Role: role, Kind: a.Use, Args: a.Args, Timeout: time.Duration(a.Timeout)}
	switch a.Use {
	case review.KindBuiltin:
		p.Model = a.Model
		if p.Model == "" {
			p.Model = s.Model
		}
		p.Effort = s.ReasoningEffort
		if p.Lens = a.Lens; role == review.RoleVerifier {
			p.Stronger = s.StrongerModel
		}
		if limits := s.ThinkingLimits; (role == review.RoleReviewer || role == review.RoleCommentsAnalyzer) && limits != s.Limits && modelagent.Reasons(p.Model, p.Effort) {
			p.Limits = &limits
		}
	case review.KindACP:
		p.Model, p.Path = a.Model, a.Path
		if p.Model == "" {
			p.Model = s.Model
		}
		p.Preset = a.Preset
		if limits := s.ACPLimits; role != review.RoleFixer {
			p.Limits = &limits
		}
	case review.KindCommand:
		p.Path, p.Settings = a.Path, map[string]string{}
		for k, v := range a.Settings {
			p.Settings[k] = string(v)
		}
		// A path with a slash means a file beside the person, not one in the child's empty working directory.
		if strings.ContainsRune(p.Path, filepath.Separator) && !filepath.IsAbs(p.Path) {
			p.Path = filepath.Join(dir, p.Path)
		}
		p.Program = programSum(p.Path)
	}
	return p
}

// needsModel reports whether a plan has an agent that talks to a model.
func needsModel(agents []orchestrator.AgentPlan) bool {
	for _, a := range agents {
		if a.Kind == review.KindBuiltin || a.Kind == review.KindACP {
			return true
		}
	}
	return false
}

// mayAskModel reports whether a plan has an agent that may talk to a model: a command can, where one is configured.
func mayAskModel(agents []orchestrator.AgentPlan) bool {
	return needsModel(agents) || slices.ContainsFunc(agents, func(a orchestrator.AgentPlan) bool { return a.Kind == review.KindCommand })
}

// onlyRules reports whether all agents of a plan go by rules, which look at changed lines alone.
func onlyRules(agents []orchestrator.AgentPlan) bool {
	return !slices.ContainsFunc(agents, func(a orchestrator.AgentPlan) bool { return a.Kind != review.KindStatic })
}

// hasACP reports whether an agent of a plan speaks ACP. Such agents reach models over TCP only.
func hasACP(agents []orchestrator.AgentPlan) bool {
	return slices.ContainsFunc(agents, func(a orchestrator.AgentPlan) bool { return a.Kind == review.KindACP })
}
