package config

import (
	"time"

	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/review"
)

// ScoutName is the name of the scout in a run.
const ScoutName = "scout"

// Quick are the settings of quick scans (docs/quick.md).
type Quick struct {
	// Tier is how much a change is looked at, Triggers what makes a full review of a scan.
	Tier     escalate.Tier
	Triggers escalate.Triggers
	// Prompt is what the repository asks the scout to mind.
	Prompt string
	// Limits are the scout's budgets; ContextTokens bounds the diff it is given.
	Limits review.Limits
}

// defaultQuick: every change is reviewed in full. In the tier auto the scan decides by what it says, unless somebody says otherwise.
func defaultQuick() Quick {
	l := review.DefaultLimits()
	l.LLMCalls, l.ToolCalls, l.WallTimeSeconds, l.CostUSD, l.ContextTokens = 2, 0, 120, 0.10, 30_000
	return Quick{Tier: escalate.Full, Triggers: escalate.Triggers{OnComplex: true, OnFlag: true}, Limits: l}
}

// tierWords are the tiers, from the one that costs least.
func tierWords() (words []string) {
	for _, t := range escalate.Tiers {
		words = append(words, string(t))
	}
	return words
}

// quickKeys are the settings of quick scans.
func quickKeys() []key {
	q := func(path, doc string, s shape, capped bool, field func(*Quick) any) key {
		return key{path: path, shape: s, doc: doc, capped: capped, field: func(s *Settings) any { return field(&s.Quick) }}
	}
	return []key{
		q("tier", "How much a change is looked at. `full`: a full review. `quick`: one scan of the diff by the scout, and a full review when somebody asks for it by comment. `auto`: a scan, and a full review where "+
			"a setting of `auto_full` says so (docs/quick.md). Their order is quick, auto, full.", choice(tierWords()...), true, func(q *Quick) any { return &q.Tier }),
		q("auto_full.on_complex", "With `tier: auto`: a full review follows when the scout calls the change complex, or did not see all of it.", boolean(), false, func(q *Quick) any { return &q.Triggers.OnComplex }),
		q("auto_full.on_flag", "With `tier: auto`: a full review follows when the scout flags the change, or did not see all of it.", boolean(), false, func(q *Quick) any { return &q.Triggers.OnFlag }),
		q("auto_full.paths", "With `tier: auto`: globs of files and folders; a change of one, or of what is in it, is reviewed in full at once. Case and accents do not matter.", globs(200), false, func(q *Quick) any { return &q.Triggers.Paths }),
		q("auto_full.labels", "With `tier: auto`: a pull request with one of these labels is reviewed in full at once.", list(text(1, 50), 0, 20), false, func(q *Quick) any { return &q.Triggers.Labels }),
		q("auto_full.over_lines", "With `tier: auto`: a change of more lines is reviewed in full at once. 0 is never.", integer(0, 1_000_000), false, func(q *Quick) any { return &q.Triggers.OverLines }),
		q("auto_full.untrusted", "With `tier: auto`: a pull request whose author may not write to the repository is reviewed in full at once.", boolean(), false, func(q *Quick) any { return &q.Triggers.Untrusted }),
		{path: "scout", shape: verifierShape(), field: func(s *Settings) any { return (*verifierValue)(&s.Scout) },
			doc: "Who makes the quick scan. `builtin` is short for `{use: builtin}`; `off`, `none` or `false` is nobody: every change is then reviewed in full. Without it: builtin when a model is configured."},
		q("quick.prompt", "What the scout is to mind beside its task.", text(1, 4000), false, func(q *Quick) any { return &q.Prompt }),
		{path: "full.prompt", shape: text(1, 4000), field: func(s *Settings) any { return &s.FullPrompt },
			doc: "What the reviewers of a full review are to mind beside their task. It adds to the review and changes none of its rules."},
		q("quick.budget_tokens", "The estimated size of the diff the scout is given; what does not fit is unread, and the scan then lets nothing pass.", integer(1000, 500_000), true, func(q *Quick) any { return &q.Limits.ContextTokens }),
		q("quick.max_answer_tokens", "Tokens the scout's answer may have. Without it: as for every agent.", integer(256, 1_000_000), true, func(q *Quick) any { return &q.Limits.AnswerTokens }),
		q("quick.max_wall_time_seconds", "Seconds the scout may take.", integer(1, 7200), true, func(q *Quick) any { return &q.Limits.WallTimeSeconds }),
		q("quick.max_cost_usd", "Dollars the scout may spend.", number(leastBound, 100), true, func(q *Quick) any { return &q.Limits.CostUSD }),
	}
}

// scout settles who scans when nobody was named.
func (r *resolver) scout() {
	q := &r.settings.Quick
	r.helper(&r.settings.Scout, ScoutName, &q.Limits, "quick.max_cost_usd")
	if q.Limits.AnswerTokens == 0 {
		q.Limits.AnswerTokens = r.settings.Limits.AnswerTokens
	}
}

// helper settles an agent beside the reviewers that has limits of its own: who it is when nobody was named, and what it takes from the limits of all
// agents. costKey is the setting of its dollars.
func (r *resolver) helper(a *Agent, name string, own *review.Limits, costKey string) {
	s := &r.settings
	if a.Use == "" {
		a.Use = UseNone
		if s.ModelConfigured() {
			a.Use = review.KindBuiltin
		}
	}
	a.Name = name
	if d := time.Duration(a.Timeout); d > 0 {
		own.WallTimeSeconds = max(1, int(d.Seconds()))
	}
	if s.Limits.CallSeconds > 0 {
		own.CallSeconds = s.Limits.CallSeconds
	}
	own.IdleSeconds = s.Limits.IdleSeconds
	if r.origins[costKey].layer == LayerDefault && r.origins["limits.max_cost_usd"].layer != LayerDefault {
		own.CostUSD = min(own.CostUSD, s.Limits.CostUSD)
	}
}
