package config

import "github.com/prloop/prloop/review"

// FinderName is the name of the finder in the settings, DiscoveryName and ExtractionName are those of its two questions in a run.
const (
	FinderName     = "finder"
	DiscoveryName  = "context-discovery"
	ExtractionName = "context-extraction"
)

// Discovery is how context outside a change is looked for (docs/context.md).
type Discovery struct {
	// Full and Quick say for which tiers a finder is asked.
	Full, Quick bool
	// Fragments, ExcerptChars, Dirs and Entries bound what it is shown and may have; Folders are always listed.
	Fragments, ExcerptChars, Dirs, Entries int
	Folders                                []string
	// Tokens and ExtractTokens bound its two answers, Prompt and ExtractPrompt say more to each question.
	Tokens, ExtractTokens int
	Prompt, ExtractPrompt string
	// Limits are the budgets of each question.
	Limits review.Limits
}

// defaultDiscovery: nobody is asked (decision 83); the bounds are those a policy has where it sets none.
func defaultDiscovery() Discovery {
	l := review.DefaultLimits()
	l.LLMCalls, l.ToolCalls, l.WallTimeSeconds, l.CostUSD, l.ContextTokens = 2, 0, 60, 0.10, 30_000
	return Discovery{Fragments: 5, ExcerptChars: 8000, Dirs: 10, Entries: 50, Tokens: 1024, ExtractTokens: 4096, Limits: l}
}

// discoveryKeys are the settings of looking for context.
func discoveryKeys() []key {
	d := func(path, doc string, s shape, capped bool, field func(*Discovery) any) key {
		return key{path: path, shape: s, doc: doc, capped: capped, field: func(s *Settings) any { return field(&s.Discovery) }}
	}
	return []key{
		d("discovery.full", "Whether the finder looks for context outside the change before a full review, in two model calls more (docs/context.md).", boolean(), false, func(d *Discovery) any { return &d.Full }),
		d("discovery.quick", "Whether it does so before a quick scan.", boolean(), false, func(d *Discovery) any { return &d.Quick }),
		{path: "finder", shape: verifierShape(), field: func(s *Settings) any { return (*verifierValue)(&s.Finder) },
			doc: "Who looks for context where `discovery.full` or `discovery.quick` asks for it. `builtin` is short for `{use: builtin}`; `off`, `none` or `false` is nobody. Without it: builtin when a model is configured."},
		d("discovery.max_fragments", "Files the finder may have read.", integer(1, 20), true, func(d *Discovery) any { return &d.Fragments }),
		d("discovery.max_excerpt_chars", "Characters one excerpt may have. Of each file three times as much is shown to the finder.", integer(200, 50_000), true, func(d *Discovery) any { return &d.ExcerptChars }),
		d("discovery.max_listing_dirs", "Folders that are listed for the finder: those of `discovery.folders` first, then those of the change, the root and those around it.", integer(1, 100), true, func(d *Discovery) any { return &d.Dirs }),
		d("discovery.max_listing_entries", "Names that are listed of one folder.", integer(1, 500), true, func(d *Discovery) any { return &d.Entries }),
		d("discovery.folders", "Folders that are always listed, such as `db/schema` or `docs/conventions`.", list(text(1, 500), 0, 20), false, func(d *Discovery) any { return &d.Folders }),
		d("discovery.max_answer_tokens", "Tokens of the answer that asks for files.", integer(256, 100_000), true, func(d *Discovery) any { return &d.Tokens }),
		d("discovery.max_extract_tokens", "Tokens of the answer that names excerpts.", integer(256, 100_000), true, func(d *Discovery) any { return &d.ExtractTokens }),
		d("discovery.prompt", "What the repository says about its files where the finder asks for them, such as: prefer sibling manifests.", text(1, 4000), false, func(d *Discovery) any { return &d.Prompt }),
		d("discovery.extract_prompt", "What it says where the finder names excerpts.", text(1, 4000), false, func(d *Discovery) any { return &d.ExtractPrompt }),
		d("discovery.max_wall_time_seconds", "Seconds each of the two questions may take.", integer(1, 7200), true, func(d *Discovery) any { return &d.Limits.WallTimeSeconds }),
		d("discovery.max_cost_usd", "Dollars each of them may cost.", number(leastBound, 100), true, func(d *Discovery) any { return &d.Limits.CostUSD }),
		d("discovery.budget_tokens", "The estimated size of the diff the finder is shown.", integer(1000, 500_000), true, func(d *Discovery) any { return &d.Limits.ContextTokens }),
	}
}

// finder settles who looks when nobody was named.
func (r *resolver) finder() {
	r.helper(&r.settings.Finder, FinderName, &r.settings.Discovery.Limits, "discovery.max_cost_usd")
}
