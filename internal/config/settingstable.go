package config

import (
	"strings"
	"time"

	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/toolset"
	"github.com/prloop/prloop/review"
)

// The words of publish.mode.
const (
	PublishAppend = "append"
	PublishSticky = "sticky"
)

// The words of publish.inline for those that make comments.
const (
	InlineProminent = "prominent"
	InlineAll       = "all"
)

// leastBound is the lowest bound of an agent in dollars. A bound of 0 would be that of its default.
const leastBound = 0.0001

const defaultBaseURL = "https://api.openai.com/v1"

// key is one setting. The table below is the only place where settings are described: schemas, reference, resolving and
// explaining are made of it.
type key struct {
	// path is how it is written in a file, groups joined by dots.
	path string
	// was is an old spelling of path, in the same group, that files may still have; empty for none.
	was string
	// shape is its JSON Schema, without description.
	shape shape
	doc   string
	// examples are values that editors offer; nil for none.
	examples []any
	// env names the variable that sets it; empty for none.
	env string
	// operator is why a repository's file may not set it; empty when it may.
	operator string
	// capped means a repository's file may lower, but not raise, what the operator's layers say.
	capped bool
	// repositoryOnly settings make no sense in the operator's file.
	repositoryOnly bool
	// field is where the value goes.
	field func(*Settings) any
}

// dollars reports whether a setting bounds money.
func (k key) dollars() bool { return strings.HasSuffix(k.path, "_usd") }

// keys returns the table, in the order of the reference.
func keys() []key {
	limits := func(path, doc string, s shape, field func(*review.Limits) any) key {
		return key{path: "limits." + path, shape: s, doc: doc, capped: true, field: func(s *Settings) any { return field(&s.Limits) }}
	}
	run := func(path, doc string, s shape, field func(*RunLimits) any) key {
		return key{path: "run_limits." + path, shape: s, doc: doc, capped: true,
			field: func(s *Settings) any { return field(&s.RunLimits) }}
	}
	fix := func(path, doc string, s shape, field func(*review.Limits) any) key {
		return key{path: "fix." + path, shape: s, doc: doc, capped: true, field: func(s *Settings) any { return field(&s.Fix.Limits) }}
	}
	verification := func(path, doc string, s shape, field func(*Verification) any) key {
		return key{path: "verification." + path, shape: s, doc: doc, capped: strings.HasPrefix(path, "max_"), field: func(s *Settings) any { return field(&s.Verification) }}
	}
	all := []key{
		{path: "reviewers", shape: list(agentShape(true), 1, 5), field: func(s *Settings) any { return &s.Reviewers },
			doc: "The reviewers that take part. Without it: one builtin reviewer and `static` when a model is configured, else `static` alone."},
		{path: "comments_analyzer", shape: agentShape(false), field: func(s *Settings) any { return &s.Comments },
			doc: "The comments analyzer. Without it: builtin when a model is configured, else static."},
		{path: "min_reviewers", shape: integer(0, 5), field: func(s *Settings) any { return &s.MinReviewers },
			doc: "How many complete answers a verdict needs; fewer is never an approval. Those of `static` do not count. More than reviewers take part is an error. " +
				"0, or without it: more than half of the reviewers other than `static`."},
		{path: "model", shape: text(1, 200), env: "PRLOOP_MODEL", field: func(s *Settings) any { return &s.Model },
			doc: "The model of the builtin agents."},
		{path: "escalation_model", shape: text(1, 200), field: func(s *Settings) any { return &s.StrongerModel },
			doc: "The model that is asked about severe findings which the verifier's model leaves in doubt (verification.escalate_below). `none` is nobody."},
		{path: "effort", shape: choice(effortLight, effortStandard, effortThorough), field: func(s *Settings) any { return &s.Effort },
			doc: "How much a review may take where nothing else is set: reviewers, the verifier and limits of one agent. light asks one reviewer " +
				"once and verifies nothing; standard has a verifier try to refute what the reviewer found; thorough has two reviewers, general and " +
				"security, who read in four passes with tools, and the verifier."},
		{path: "reasoning_effort", shape: choice("none", "minimal", "low", "medium", "high", "xhigh"), field: func(s *Settings) any { return &s.ReasoningEffort },
			doc: "How much the models of builtin agents are asked to think before they answer. It is sent only if it is set. A model that takes none is asked without it, and the receipt says so. " +
				"With it no temperature is sent, and answers have more room (`limits.max_answer_tokens`)."},
		{path: "base_url", shape: match(httpAddress), env: "OPENAI_BASE_URL", field: func(s *Settings) any { return &s.BaseURL },
			operator: "whoever chooses the endpoint receives the operator's key",
			doc:      "The OpenAI-compatible endpoint."},
		{path: "provider", shape: match(providerName), field: func(s *Settings) any { return &s.Provider },
			operator: "it says whose key a command uses",
			doc:      "What `.reviewerc` calls the endpoint at base_url. Without it: `openai` for api.openai.com, and nothing for any other."},
		{path: "api_key", shape: text(1, 1000), env: "OPENAI_API_KEY", field: func(s *Settings) any { return &s.APIKey },
			operator: "a secret in a repository is no secret",
			doc:      "The key of the endpoint. The operator's file must then be readable by its owner alone."},
		{path: "upstreams", shape: list(upstreamShape(), 0, 10), field: func(s *Settings) any { return &s.Upstreams },
			operator: "whoever chooses the endpoint receives the operator's key",
			doc:      "Further endpoints, for the models they name. Every other model goes to base_url."},
		{path: "models", shape: list(modelShape(), 0, 100), field: func(s *Settings) any { return &s.Models },
			operator: "prices guard the operator's money",
			doc: "Prices of models prloop has none or old ones for, and the models that stand in for them. Command agents may ask for " +
				"the models named here. A model without a known price is refused when a bound in dollars is set."},
		{path: "problem_score_threshold", shape: integer(1, 10), field: func(s *Settings) any { return &s.ScoreThreshold },
			doc: "Findings with a lower score are counted, but not posted."},
		{path: "score_elevation_threshold", shape: integer(2, 100), field: func(s *Settings) any { return &s.ElevationThreshold },
			doc: "How many low-score findings of one kind may be joined to one elevated finding."},
		{path: "context.include", shape: globs(200), field: func(s *Settings) any { return &s.Context.Include },
			doc: "Globs of the paths that are reviewed. Without it: all."},
		{path: "context.exclude", shape: globs(200), field: func(s *Settings) any { return &s.Context.Exclude },
			doc: "Globs of paths that no agent reads. Linters, builds and tests may. A glob cannot make an exception, as `!` does in .gitignore."},
		{path: "context.never_read", shape: folders(200), field: func(s *Settings) any { return &s.Context.NeverRead },
			doc: "Globs of paths that nothing reads: no agent, no tool, no linter, not prloop itself, no fixer, and no setup or verify command (docs/policy.md#what-is-never-read). A glob that " +
				"matches a folder withholds all that is in it. The lists of all layers add up. Changes there are counted, named in the report, and may go unread."},
		{path: "context.verify_may_read", shape: boolean(), field: func(s *Settings) any { return &s.Context.VerifyMayRead },
			operator: "code of a pull request could then read what is withheld",
			doc:      "Lets setup and verify commands read what `context.never_read` names, where a build needs it."},
		{path: "context.hide_withheld_names", shape: boolean(), field: func(s *Settings) any { return &s.Context.HideWithheld },
			doc: "Whether reports and agents are told only how many changed files `context.never_read` names, and not which."},
		{path: "context.guidance", shape: globs(20), field: func(s *Settings) any { return &s.Context.Guidance },
			doc: "Further files of written rules, beside CLAUDE.md, AGENTS.md, AGENT.md, .cursorrules and .github/copilot-instructions.md. Fixes and jobs may not change them."},
		{path: "context.budget_tokens", shape: integer(1000, 2_000_000), capped: true,
			field: func(s *Settings) any { return &s.Limits.ContextTokens },
			doc:   "The tokens that the brief may have, estimated. If it has more, the least changed files are cut first."},
		{path: "context.related_code", shape: boolean(), field: func(s *Settings) any { return &s.Context.RelatedCode },
			doc: "Whether reviewers are shown code beyond the diff by name: definitions of what a change uses, callers of what it changes, " +
				"uses of what it removes. It takes a part of context.budget_tokens."},
		limits("max_llm_calls", "Model calls of one agent. Without it an ACP agent has 40.", integer(1, 100), func(l *review.Limits) any { return &l.LLMCalls }),
		limits("max_tool_calls", "Tool calls of one agent. Without it an ACP agent has 100.", integer(0, 500), func(l *review.Limits) any { return &l.ToolCalls }),
		limits("max_verify_candidates", "Findings of a round that the verifier is asked about, gravest first; the others count as they are.", integer(0, 100), func(l *review.Limits) any { return &l.Candidates }),
		limits("max_output_issues", "Findings one agent may report; those that add up to one are not counted. Secrets that the static reviewer finds, and what else it finds that is not P3, or is about security, are not counted; it reports 200 of each.", integer(1, 200), func(l *review.Limits) any { return &l.Findings }),
		limits("max_wall_time_seconds", "Seconds one agent may take. Without it an ACP agent has 600, and a builtin reviewer has 300 where `reasoning_effort` is set or its model's name says that it reasons.", integer(1, 7200), func(l *review.Limits) any { return &l.WallTimeSeconds }),
		limits("max_idle_seconds", "Seconds of silence after which prloop ends the call of a model, counted from its last byte (a comment of the stream and a thought are bytes too), "+
			"or an agent that waits for no model. The wall time bounds it too.", integer(1, 7200), func(l *review.Limits) any { return &l.IdleSeconds }),
		limits("max_call_seconds", "Seconds one call of a model may take, pauses and further attempts included. Without it: what is left of the wall time, which bounds it too.",
			integer(1, 7200), func(l *review.Limits) any { return &l.CallSeconds }),
		limits("max_answer_tokens", "Tokens one answer of a builtin agent's model may have, its thoughts included. Without it: 8192, and 32768 where `reasoning_effort` is set or "+
			"the model's name says that it reasons. What is left of the budget bounds it too.", integer(256, 1_000_000), func(l *review.Limits) any { return &l.AnswerTokens }),
		limits("max_cost_usd", "Dollars one agent may spend. Without it an ACP agent has 1.", number(leastBound, 100), func(l *review.Limits) any { return &l.CostUSD }),
		{path: "limits.max_tokens", shape: integer(1000, 100_000_000), capped: true, field: func(s *Settings) any { return &s.AgentTokens },
			doc: "Tokens of one agent, input (cached too) and output. Without it: no bound but the dollars."},
		run("max_llm_calls", "Model calls of all agents of a run together. Without it: no bound.", integer(1, 1000), func(l *RunLimits) any { return &l.LLMCalls }),
		run("max_tool_calls", "Tool calls of all agents of a run together. Without it: no bound.", integer(1, 5000), func(l *RunLimits) any { return &l.ToolCalls }),
		run("max_tokens", "Tokens of all agents of a run together. Without it: no bound.", integer(1000, 1_000_000_000), func(l *RunLimits) any { return &l.Tokens }),
		run("max_cost_usd", "Dollars all agents of a run may spend together; a run that reaches it ends with status 5. The default does not refuse models without a known price, whose calls it cannot count; a bound that is written down does.", number(0.01, 1000), func(l *RunLimits) any { return &l.CostUSD }),
		{path: "budgets.per_pull_request_usd", shape: number(0.01, 10_000), field: func(s *Settings) any { return &s.Budgets.PerPullRequestUSD },
			operator: "it guards the operator's money", doc: "Dollars all runs on one pull request may spend. An agent whose cost is unknown counts with the most an agent may cost."},
		{path: "budgets.per_day_usd", shape: number(0.01, 100_000), field: func(s *Settings) any { return &s.Budgets.PerDayUSD },
			operator: "it guards the operator's money", doc: "Dollars all runs may spend within 24 hours, counted in the same way."},
		{path: "fixer", shape: fixerShape(), field: func(s *Settings) any { return (*fixerValue)(&s.Fixer) },
			doc: "Who fixes what the reviewers found, after every round but the last. `builtin` is short for `{use: builtin}`; `off`, `none` or `false` only reviews. Without it: builtin when a model is configured and a " +
				"builtin reviewer takes part, else none."},
		{path: "verifier", shape: verifierShape(), field: func(s *Settings) any { return (*verifierValue)(&s.Verifier) },
			doc: "Who tries to refute what the reviewers found, before it counts. `builtin` is short for `{use: builtin}`; `off`, `none` or `false` is nobody. Without it: builtin, with the model of the first builtin or ACP " +
				"reviewer, when a model is configured, such a reviewer takes part and `effort` is not light."},
		{path: "judge", shape: verifierShape(), field: func(s *Settings) any { return (*verifierValue)(&s.Judge) },
			doc: "Who judges what developers say against findings in prloop's threads (docs/threads.md). `builtin` is short for `{use: builtin}`; `off`, `none` or `false` is nobody: threads are then left to people. Without it: builtin, when a " +
				"model is configured and a builtin or ACP reviewer takes part; with a model that did not raise the finding, where the reviewers have several. Its budgets are those of `verification`."},
		{path: "human_reviewers", shape: list(shape{"type": "string", "minLength": 1, "maxLength": 100, "pattern": loginOrTeam}, 0, 15), field: func(s *Settings) any { return &s.HumanReviewers },
			doc: "Who is asked to review when prloop and a developer do not agree about a finding: logins, and teams as `org/team`. If one of them may write to the repository, a pull request has human reviewers (docs/threads.md#when-somebody-disagrees)."},
		verification("max_llm_calls", "Model calls of the verifier in a round. A lower limits.max_llm_calls that somebody chose holds for it too.", integer(1, 100), func(v *Verification) any { return &v.Limits.LLMCalls }),
		verification("max_tool_calls", "Tool calls of the verifier in a round. A lower limits.max_tool_calls that somebody chose holds for it too.", integer(0, 500), func(v *Verification) any { return &v.Limits.ToolCalls }),
		verification("max_wall_time_seconds", "Seconds the verifier may take in a round. A lower limits.max_wall_time_seconds that somebody chose holds for it too.", integer(1, 7200), func(v *Verification) any { return &v.Limits.WallTimeSeconds }),
		verification("max_cost_usd", "Dollars the verifier may spend in a round. A lower limits.max_cost_usd that somebody chose holds for it too.", number(leastBound, 100), func(v *Verification) any { return &v.Limits.CostUSD }),
		verification("look_below", "Findings whose reviewer is less confident than this are marked for the verifier to look up with tools.", number(0, 1), func(v *Verification) any { return &v.LookBelow }),
		verification("escalate_below", "P0 and P1 findings whose reviewer is less confident than this, and that the builtin verifier neither proves nor refutes, go to escalation_model.", number(0, 1),
			func(v *Verification) any { return &v.StrongerBelow }),
		verification("extra_files", "Files beside the changed ones that the builtin verifier may read for each finding.", integer(0, 50), func(v *Verification) any { return &v.ExtraFiles }),
		verification("extra_lines", "Lines it may read of each of these.", integer(1, 5000), func(v *Verification) any { return &v.ExtraLines }),
		{path: "rounds", shape: integer(1, 3), capped: true, field: func(s *Settings) any { return &s.Rounds },
			doc: "How many rounds of review a run has at most. Fixes are made between rounds: with 1 there is none."},
		{path: "verify", shape: list(text(1, 2000), 0, 20), field: func(s *Settings) any { return &s.Verify },
			doc: "Shell lines that must succeed before a fix is pushed, such as the linter and the build. They run in the sandbox, on a copy of the tree, without network. " +
				"Without it: what the files of the base commit suggest (Makefile, go.mod, package.json, ...). An empty list verifies nothing."},
		{path: "verify_timeout", shape: duration(), capped: true, field: func(s *Settings) any { return &s.VerifyTimeout },
			doc: "How long each line of `verify` may take."},
		{path: "verify_setup", shape: list(text(1, 2000), 0, 20), field: func(s *Settings) any { return &s.VerifySetup },
			doc: "Shell lines that fetch and build what `verify` needs, such as `npm ci --ignore-scripts`, `go mod download` or `uv sync`. They run in the sandbox, on the files of the " +
				"base commit, and reach the hosts of `verify_registries` alone; what they leave is kept, and used by every verification with the same lock files."},
		{path: "verify_registries", shape: list(match(registryHost), 0, 50), field: func(s *Settings) any { return &s.VerifyRegistries },
			operator: "it opens a way out of the sandbox",
			doc: "Package registries that `verify_setup` may reach: hosts such as `registry.example.com` or `*.example.com`, which means https on port 443 of a public address, or `HOST:PORT`, which may be " +
				"inside your network and speak plain http. Without it: none."},
		{path: "lend_caches", shape: cachesShape(), field: func(s *Settings) any { return &s.LendCaches },
			operator: "whoever writes a pull request could read what the operator downloaded",
			doc: "Whose module caches on this machine verify commands may read: a list of `go`, `cargo` and `npm`, or `true` for all. Code of pull requests reads them too. They are not lent where " +
				"`verify_setup` downloads. Without it: none."},
		{path: "fix.allow_paths", shape: globs(200), field: func(s *Settings) any { return &s.Fix.AllowPaths },
			operator: "a fix could then change what runs with the repository's own rights",
			doc:      "Globs of protected paths, and of files that nobody asked for, that a fix may change all the same, such as `go.mod` or `src/**`."},
		{path: "fix.untrusted_authors", shape: boolean(), field: func(s *Settings) any { return &s.Fix.UntrustedAuthors },
			operator: "strangers would have their work done at the operator's expense",
			doc:      "Lets pull requests be fixed whose author has no write access."},
		fix("max_llm_calls", "Model calls of the fixer, in one try.", integer(1, 200), func(l *review.Limits) any { return &l.LLMCalls }),
		fix("max_tool_calls", "Tool calls of the fixer, in one try.", integer(1, 1000), func(l *review.Limits) any { return &l.ToolCalls }),
		fix("max_wall_time_seconds", "Seconds one try of the fixer may take.", integer(1, 7200), func(l *review.Limits) any { return &l.WallTimeSeconds }),
		fix("max_cost_usd", "Dollars one try of the fixer may cost.", number(leastBound, 100), func(l *review.Limits) any { return &l.CostUSD }),
		{path: "web_fetch.hosts", shape: list(match(fetchHost), 0, 100), field: func(s *Settings) any { return &s.FetchHosts },
			operator: "it opens a way out of the sandbox",
			doc:      "Hosts whose pages builtin reviewers may ask prloop for, such as `docs.example.com` or `*.example.com`. Such a host learns what a reviewer asks for. Without it: none."},
		{path: "web_search", shape: webSearchShape(), field: func(s *Settings) any { return &s.WebSearch },
			operator: "it opens a way out of the sandbox, at the operator's expense",
			doc: "The search provider that builtin reviewers may ask through prloop, such as `{provider: searxng, base_url: https://search.example.com}` or " +
				"`{provider: brave, key_env: BRAVE_API_KEY}`. The provider learns what a reviewer asks. Without it: none."},
		{path: "folders", shape: folderNames(), field: func(s *Settings) any { return &s.Folders },
			operator: "it has files of this machine read",
			doc: "Names of folders in the workspace (`GITHUB_WORKSPACE`, else the current folder) that commands may read below these names, such as `company-rules`, which a workflow checked out " +
				"([commands.md](commands.md#folders-beside-the-repository)). A name that the reviewed tree has too is refused. Without it: none."},
		{path: "wall_time", shape: duration(), capped: true, field: func(s *Settings) any { return &s.WallTime },
			doc: "How long reading the change, agents and commands may take in all of a run. Waiting for GitHub, and posting, is not counted."},
		{path: "gate", shape: choice(gatePolicies()...), capped: true, field: func(s *Settings) any { return &s.Gate },
			doc: "What the commit status `pr-reviewer` of a pull request says. `off`: nothing, none is set. `presence`: that the review is there, whatever it says. `verdict`: success when the pull " +
				"request was approved. `verdict-non-trivial`: the same, but a trivial change passes although a complete review asks for changes (docs/ci.md). Their order is off, presence, verdict-non-trivial, verdict."},
		{path: "gate_labels", shape: list(choice("advisory", "strict"), 0, 2), field: func(s *Settings) any { return &s.GateLabels },
			doc: "The labels that may change the gate for one pull request when somebody who may write sets them: `advisory` lets `pr-reviewer:advisory` soften it to `presence`, `strict` lets " +
				"`pr-reviewer:strict` harden it to `verdict`. Without it: none."},
		{path: "publish.mode", shape: choice(PublishAppend, PublishSticky), field: func(s *Settings) any { return &s.PublishMode },
			doc: "How reports are published: `append` posts every report as a new comment and never edits one. `sticky` has one comment for all reviews without a fixer, and edits it; GitHub tells " +
				"nobody of an edit. Reports of runs that fix, and those that somebody asked for by a comment, are new comments all the same (decision 80)."},
		{path: "publish.noise_budget", shape: integer(1, 100), field: func(s *Settings) any { return &s.NoiseBudget },
			doc: "How many findings that must be fixed a report shows with their details open, besides P0, P1 and security findings, whose details always are. The details of others are folded. The first table has a row for each; more than five of one file that say the same share a row."},
		{path: "publish.inline", shape: choice("off", InlineProminent, InlineAll), field: func(s *Settings) any { return &s.Inline },
			doc: "Which findings are comments on their lines, so that the report lists them and does not repeat them: `prominent` are those whose details the report would give openly, " +
				"`all` every one it lists, `off` none. A finding without a line in the diff, or one that an open thread already reports, is in the report (docs/threads.md)."},
		{path: "publish.comments_per_pull_request", shape: integer(1, 1000), field: func(s *Settings) any { return &s.CommentsPerPull },
			doc: "How many comments on lines a pull request gets in its whole life. Further findings are in the report."},
		{path: "consensus.rule", shape: choice("all", "verified"), field: func(s *Settings) any { return &s.Rule },
			doc: "Which findings count for the verdict and go to the fixer. `all`: every one that was not set aside. `verified`: those that a rule takes by support, evidence, score and what the verifier " +
				"says; P0, security, static findings and those the verifier said nothing of always count, and a P1 that the rule leaves out needs a person (decision 39)."},
		{path: "calibration", shape: text(1, 1000), field: func(s *Settings) any { return &s.Calibration },
			operator: "a repository could have findings weighed by its own word",
			doc: "A file that says what the probabilities of models are worth, as `prloop stats --calibration --out FILE` writes it (decision 41); a relative one stands beside the operator's file. " +
				"Without it probabilities are taken as models give them."},
		{path: "consensus.min_support", shape: integer(1, 5), field: func(s *Settings) any { return &s.MinSupport },
			doc: "How many reviewers must report the same finding before it counts for the verdict."},
		{path: "allow_repo_commands", shape: boolean(), field: func(s *Settings) any { return &s.AllowRepoCommands },
			operator: "it would allow itself to run programs",
			doc: "Lets `use: command` in a repository's file start programs on this machine when pull requests are reviewed. " +
				"Local ranges may always start them."},
		{path: "commands", shape: list(commandShape(), 0, 50), repositoryOnly: true, field: func(s *Settings) any { return &s.Commands },
			doc: "Custom prompts, referred to by id ([commands.md](commands.md)).",
			examples: []any{[]any{
				shape{"id": "security", "title": "Security scan", "prompt": "Review for authz bypass, unsafe deserialization, secrets, and input validation gaps.",
					"tools": shape{"allow": []any{toolset.Filesystem, toolset.GitRead, toolset.GitHubRead}}, "output": shape{"severityFloor": "medium"}},
			}}},
		{path: "review.run", shape: ids(), repositoryOnly: true, examples: []any{[]any{"security"}}, field: func(s *Settings) any { return &s.Review.Run },
			doc: "The ids of the commands that run on every pull request, with each round of the review."},
	}
	all = append(all, quickKeys()...)
	all = append(all, discoveryKeys()...)
	all = append(all,
		key{path: "crews", shape: list(crewShape(all), 0, 50), field: func(s *Settings) any { return &s.Crews },
			operator: "who reviews is chosen from what the operator offers",
			doc: "Named model configurations: who reviews, and with which models. A policy chooses one for its repository by name (`prloop policy set REPO crew=NAME`); what it sets " +
				"stands above `.reviewerc`. A list of groups with a `name`."},
		key{path: "crew", shape: match(agentName), field: func(s *Settings) any { return &s.Crew },
			operator: "who reviews is chosen by the operator, or by the repository's policy",
			doc:      "The crew that reviews where no policy chooses another. Without it: what the other settings say."})
	all = append(all, reviewDefaults()...)
	all = append(all, scheduleKeys()...)
	return append(all,
		key{path: "tools.allow", was: "tools.allowlist", shape: toolCategories(), repositoryOnly: true, field: func(s *Settings) any { return &s.Tools.Allow },
			doc: "The categories of tools that commands may use at most. Without it: all. Each category has tools only where they make sense ([commands.md](commands.md#tools))."},
		key{path: "output.commentType", shape: commentType(), repositoryOnly: true, field: func(s *Settings) any { return &s.Output.CommentType },
			doc: "The type of comments of commands that name none: a comment on the pull request, comments on lines, or both. Without it: both when a comment asked for the command, issue in review.run."})
}

// gatePolicies are the words of the gate, from the one that asks for least.
func gatePolicies() (words []string) {
	for _, p := range gate.Policies {
		words = append(words, string(p))
	}
	return words
}

// defaults are the values below all layers. Reviewers and the comments analyzer follow from them.
func defaults() Settings {
	return Settings{
		Model: "gpt-4.1-mini", StrongerModel: "gpt-4.1", BaseURL: defaultBaseURL,
		Effort: effortStandard, ScoreThreshold: 5, ElevationThreshold: 5, RunLimits: RunLimits{CostUSD: 5},
		Limits: review.DefaultLimits(), WallTime: 30 * time.Minute,
		Context: Context{RelatedCode: true}, Gate: gate.Off,
		PublishMode: PublishAppend, MinSupport: 1, Rule: "all", NoiseBudget: 5, Inline: InlineProminent, CommentsPerPull: 30, Verification: defaultVerification(),
		Quick: defaultQuick(), Discovery: defaultDiscovery(),
		Rounds: 3, VerifyTimeout: 10 * time.Minute, Fix: Fix{Limits: defaultFixLimits()},
		Schedule: Schedule{Enabled: true, Conditions: Conditions{Window: Duration(24 * time.Hour)}},
	}
}
