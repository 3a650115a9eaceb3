package policy

import (
	"slices"

	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/nearest"
)

// Kind is what a column holds.
type Kind string

// The kinds. Values are bool, int64, float64, string and []string.
const (
	Bool   Kind = "boolean"
	Int    Kind = "integer"
	Number Kind = "number"
	Text   Kind = "text"
	List   Kind = "list"
)

// Column is one thing a row may say.
type Column struct {
	Name string
	Kind Kind
	// Key is the setting it stands for (docs/config.md).
	Key string
	Doc string
	// Section is the heading that the column stands under in a form; columns of a section follow one another.
	Section string
	// Words are the texts a Text column or an item of a List may be; empty when it is free.
	Words []string
	// Globs is true for a List of patterns of paths.
	Globs bool
	// Names is true for a Text that is a name of the operator's, in the form of names in configuration files.
	Names bool
	// Low and High bound a number. Most is the most bytes of a Text or of an item, or, with Items, the most items of a List.
	Low, High float64
	Most      int
	Items     int
}

// The most a text may have.
const (
	mostGlob = 500
	mostName = 40
	mostPath = 500
	// GitHub's labels have at most 50 characters.
	mostLabel  = 50
	mostPrompt = 4000
)

// The sections of a form.
const (
	gating    = "Gate"
	tiers     = "Quick scans and full reviews"
	reviewing = "Reviewers and fixes"
	unread    = "Files that nothing reads"
	budgets   = "Budgets"
	prompts   = "Prompts and answers"
	context   = "Context from outside the change"
)

// columns is the table. internal/store has a column of the same name for each.
var columns = []Column{
	{Name: "gating_policy", Section: gating, Kind: Text, Key: "gate", Words: words(gate.Policies),
		Doc: "What the commit status pr-reviewer says."},
	{Name: "allowed_labels", Section: gating, Kind: List, Key: "gate_labels", Words: gate.LabelWords(), Items: 2,
		Doc: "Which labels may change the gate of one pull request."},
	{Name: "tier", Section: tiers, Kind: Text, Key: "tier", Words: words(escalate.Tiers),
		Doc: "How much a change is looked at: quick, auto or full."},
	{Name: "auto_full_on_complex", Section: tiers, Kind: Bool, Key: "auto_full.on_complex",
		Doc: "In the tier auto: a full review follows when the scan calls the change complex."},
	{Name: "auto_full_on_flag", Section: tiers, Kind: Bool, Key: "auto_full.on_flag",
		Doc: "In the tier auto: a full review follows when the scan flags the change."},
	{Name: "auto_full_paths", Section: tiers, Kind: List, Key: "auto_full.paths", Globs: true, Most: mostGlob, Items: 200,
		Doc: "In the tier auto: globs of files and folders whose changes are reviewed in full at once."},
	{Name: "auto_full_labels", Section: tiers, Kind: List, Key: "auto_full.labels", Most: mostLabel, Items: 20,
		Doc: "In the tier auto: labels of pull requests that are reviewed in full at once."},
	{Name: "auto_full_over_lines", Section: tiers, Kind: Int, Key: "auto_full.over_lines", Low: 0, High: 1_000_000,
		Doc: "In the tier auto: a change of more lines is reviewed in full at once; 0 is never."},
	{Name: "auto_full_untrusted", Section: tiers, Kind: Bool, Key: "auto_full.untrusted",
		Doc: "In the tier auto: pull requests of people who may not write are reviewed in full at once."},
	{Name: "crew", Section: reviewing, Kind: Text, Key: "crew", Names: true, Most: mostName,
		Doc: "Which crew of the operator's file reviews."},
	{Name: "fixing", Section: reviewing, Kind: Bool, Key: "fixer",
		Doc: "false: nobody fixes. true: the fixer that the other layers name, or the one there is without them."},
	{Name: "guidance_files", Section: reviewing, Kind: List, Key: "context.guidance", Globs: true, Most: mostGlob, Items: 20,
		Doc: "Further files of written rules. They are added to those of weaker layers."},
	{Name: "context_path_excludes", Section: unread, Kind: List, Key: "context.never_read", Globs: true, Most: mostGlob, Items: 200,
		Doc: "Globs of paths that nothing reads. They are added to those of all other layers."},
	{Name: "hide_withheld_names", Section: unread, Kind: Bool, Key: "context.hide_withheld_names",
		Doc: "Reports and agents are told how many changed files nothing read, and not their names."},
	{Name: "max_cost_per_run_usd", Section: budgets, Kind: Number, Key: "run_limits.max_cost_usd", Low: 0.01, High: 1000,
		Doc: "Dollars all agents of a run may spend together."},
	{Name: "max_cost_per_agent_usd", Section: budgets, Kind: Number, Key: "limits.max_cost_usd", Low: 0.0001, High: 100,
		Doc: "Dollars one agent may spend."},
	{Name: "prompt_quick_override", Section: prompts, Kind: Text, Key: "quick.prompt", Most: mostPrompt,
		Doc: "What the scout of a quick scan is to mind beside its task."},
	{Name: "prompt_full_override", Section: prompts, Kind: Text, Key: "full.prompt", Most: mostPrompt,
		Doc: "What the reviewers of a full review are to mind beside their task."},
	{Name: "max_tokens_quick_override", Section: prompts, Kind: Int, Key: "quick.max_answer_tokens", Low: 256, High: 1_000_000,
		Doc: "Tokens the scout's answer may have."},
	{Name: "max_tokens_full_override", Section: prompts, Kind: Int, Key: "limits.max_answer_tokens", Low: 256, High: 1_000_000,
		Doc: "Tokens one answer of a builtin agent's model may have."},
	{Name: "context_for_full", Section: context, Kind: Bool, Key: "discovery.full",
		Doc: "A finder looks for context outside the change before a full review."},
	{Name: "context_for_quick", Section: context, Kind: Bool, Key: "discovery.quick",
		Doc: "A finder looks for context outside the change before a quick scan."},
	{Name: "max_fragments_per_request", Section: context, Kind: Int, Key: "discovery.max_fragments", Low: 1, High: 20,
		Doc: "Files the finder may have read."},
	{Name: "max_excerpt_chars", Section: context, Kind: Int, Key: "discovery.max_excerpt_chars", Low: 200, High: 50_000,
		Doc: "Characters one excerpt may have."},
	{Name: "max_listing_dirs", Section: context, Kind: Int, Key: "discovery.max_listing_dirs", Low: 1, High: 100,
		Doc: "Folders that are listed for the finder."},
	{Name: "max_listing_entries_per_dir", Section: context, Kind: Int, Key: "discovery.max_listing_entries", Low: 1, High: 500,
		Doc: "Names that are listed of one folder."},
	{Name: "always_listed_folders", Section: context, Kind: List, Key: "discovery.folders", Most: mostPath, Items: 20,
		Doc: "Folders that are always listed for the finder."},
	{Name: "discovery_max_tokens", Section: context, Kind: Int, Key: "discovery.max_answer_tokens", Low: 256, High: 100_000,
		Doc: "Tokens of the answer that asks for files."},
	{Name: "extract_max_tokens", Section: context, Kind: Int, Key: "discovery.max_extract_tokens", Low: 256, High: 100_000,
		Doc: "Tokens of the answer that names excerpts."},
	{Name: "discovery_prompt_override", Section: context, Kind: Text, Key: "discovery.prompt", Most: mostPrompt,
		Doc: "What the finder is told about the files of the repository where it asks for them."},
	{Name: "extract_prompt_override", Section: context, Kind: Text, Key: "discovery.extract_prompt", Most: mostPrompt,
		Doc: "What it is told where it names excerpts."},
}

func words[T ~string](list []T) (out []string) {
	for _, w := range list {
		out = append(out, string(w))
	}
	return out
}

// Columns are all of them, in the order of the pages.
func Columns() []Column { return slices.Clone(columns) }

// Find gives the column of a name, or what was probably meant.
func Find(name string) (c Column, suggestion string, ok bool) {
	i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
	if i >= 0 {
		return columns[i], "", true
	}
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return Column{}, nearest.Name(name, names), false
}
