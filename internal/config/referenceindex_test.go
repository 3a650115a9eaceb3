package config

// A section of docs/config.md has the settings of one question that people ask.
type section struct {
	title string
	rows  []indexRow
}

// An indexRow is one top-level key of the index of docs/config.md.
type indexRow struct {
	key string
	// says is the key in one line. byDefault stands where the default follows from other settings.
	says, byDefault string
}

// sections are the index, and the order of the settings below it.
var sections = []section{
	{"Who reviews", []indexRow{
		{"reviewers", "who reads the change", "with a model, one `builtin` and `static`; else `static`"},
		{"min_reviewers", "complete answers that a verdict needs", "more than half"},
		{"effort", "how much a review may take: reviewers, verifier, limits", ""},
		{"model", "the model of builtin agents", ""},
		{"reasoning_effort", "how much the models think before they answer", "not sent"},
		{"comments_analyzer", "who reads the discussion", "`builtin` with a model; else `static`"},
		{"verifier", "who tries to refute findings before they count", "`builtin` with a model; with `effort: light`, nobody"},
		{"verification", "budgets and thresholds of the verifier", ""},
		{"escalation_model", "the model that is asked about doubtful severe findings", ""},
		{"judge", "who judges what developers say against findings", "`builtin` with a model"},
		{"human_reviewers", "who is asked to review when a dispute needs a person", ""},
	}},
	{"What is read", []indexRow{
		{"context", "paths that are reviewed, left out or never read; written rules; size", ""},
		{"discovery", "whether to look for context outside the change", ""},
		{"finder", "who looks for it", "`builtin` with a model"},
		{"web_fetch", "hosts whose pages builtin reviewers may read", ""},
		{"web_search", "a search provider that builtin reviewers may ask", ""},
		{"full", "what reviewers are to mind beside their task", ""},
	}},
	{"Quick scans", []indexRow{
		{"tier", "how much of a change is looked at: a scan, a full review, or what the change calls for", ""},
		{"auto_full", "with `tier: auto`, when a full review follows", ""},
		{"scout", "who makes the scan", "`builtin` with a model"},
		{"quick", "what the scout is to mind, and its budgets", ""},
	}},
	{"Verdict", []indexRow{
		{"problem_score_threshold", "lowest score that is posted", ""},
		{"score_elevation_threshold", "how many low-score findings of one kind may be joined", ""},
		{"consensus", "which findings count", ""},
		{"calibration", "a file that says what the probabilities of models are worth", ""},
	}},
	{"Fixing", []indexRow{
		{"fixer", "who fixes", "`builtin` with a model and a builtin reviewer"},
		{"rounds", "most reviews of a run; fixes are made between them", ""},
		{"verify", "commands that a fix must pass before it is pushed", "from the files of the base commit"},
		{"verify_timeout", "how long each of them may take", ""},
		{"verify_setup", "commands that fetch and build what `verify` needs", ""},
		{"verify_registries", "package registries that `verify_setup` may reach", ""},
		{"lend_caches", "module caches of this machine that `verify` may read", ""},
		{"fix", "protected paths that a fix may change, whose pull requests are fixed, budgets", ""},
	}},
	{"Publishing", []indexRow{
		{"publish", "new comments or one edited comment, comments on lines, how much stands open", ""},
		{"gate", "the commit status that a merge can wait for", ""},
		{"gate_labels", "labels that may change the gate for one pull request", ""},
	}},
	{"Money and time", []indexRow{
		{"run_limits", "bounds of all agents of a run together", ""},
		{"limits", "bounds of one agent; `effort: thorough` has higher defaults", ""},
		{"budgets", "dollars of a pull request, and of a day", ""},
		{"wall_time", "how long the work of a run may take", ""},
	}},
	{"Your own prompts", []indexRow{
		{"commands", "custom prompts", ""},
		{"review", "which of them run on every pull request, and with which model", ""},
		{"schedule", "scheduled jobs: commands, limits, conditions, what they may change", ""},
		{"tools", "tools that commands may use", ""},
		{"output", "where commands comment", ""},
		{"folders", "folders beside the repository that commands may read", ""},
	}},
	{"The operator", []indexRow{
		{"base_url", "the model endpoint", ""},
		{"api_key", "its key", ""},
		{"provider", "what `.reviewerc` calls it", "`openai` for api.openai.com"},
		{"upstreams", "further endpoints", ""},
		{"models", "prices of models, and models that stand in for others", ""},
		{"crews", "named model configurations", ""},
		{"crew", "the one that reviews where no policy chooses another", ""},
		{"allow_repo_commands", "lets programs named in `.reviewerc` review pull requests", ""},
	}},
}
