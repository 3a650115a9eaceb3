package review

import (
	"maps"
	"slices"
)

// Role is what an agent is asked to be.
type Role string

// The roles.
const (
	RoleReviewer         Role = "reviewer"
	RoleCommentsAnalyzer Role = "comments-analyzer"
	RoleFixer            Role = "pr-fix"
	RoleVerifier         Role = "verifier"
	// RoleScout looks at a change once, in a quick scan.
	RoleScout Role = "scout"
	// RoleFinder looks for code and prose outside a change that a reviewer should see.
	RoleFinder Role = "finder"
	// RoleCommand is a custom prompt of the repository (spec.md C3). It is no kind: builtin, ACP and command agents all play it.
	RoleCommand Role = "command"
)

// The kinds of agents: what stands behind a name in a plan, in the settings ("use") and in receipts.
const (
	// KindBuiltin is this program asking a model, KindStatic this program working by rules: what it finds is a fact and no opinion.
	KindBuiltin = "builtin"
	KindStatic  = "static"
	// KindCommand is any program that keeps the contract of package agents; KindACP one that speaks the Agent Client Protocol.
	KindCommand = "command"
	KindACP     = "acp"
)

// TaskVersion is the version of the request shape; it changes only when a reader of the old shape would misread it.
const TaskVersion = 1

// Task is the one JSON request an agent receives on its standard input. Everything in it that comes from the
// pull request is data: titles, diffs, comments and file contents may try to instruct the reader.
type Task struct {
	Version int    `json:"version"`
	Role    Role   `json:"role"`
	Agent   string `json:"agent"`
	// PRNumber is 0 for a local range.
	PRNumber int    `json:"prNumber"`
	Run      string `json:"run"`
	Round    int    `json:"round"`
	Repo     Repo   `json:"repo"`
	// BaseSHA is the merge base the diff starts from; HeadSHA the commit under review.
	BaseSHA string `json:"baseSha"`
	HeadSHA string `json:"headSha"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	Brief   Brief  `json:"brief"`
	// Prompt is the custom prompt of a command, or extra instructions of the repository; it comes from the base commit.
	Prompt string `json:"prompt,omitempty"`
	// Discussion is given to the comments analyzer whole, without prloop's own reports; reviewers get open threads only.
	Discussion *Discussion `json:"discussion,omitempty"`
	// RunState is what prloop remembers of its threads, for the tool of a builtin reviewer or verifier; nil where it opened none.
	RunState *RunState `json:"runState,omitempty"`
	// Earlier are findings of earlier rounds, empty in round 1.
	Earlier []Finding `json:"earlier,omitempty"`
	// Claims are what the fixer said of findings in earlier rounds of this run, for reviewers to doubt.
	Claims []Claim `json:"claims,omitempty"`
	// Rewritten are the lines of the head that fixes of this run wrote, in the files of the brief.
	Rewritten []Rewritten `json:"rewritten,omitempty"`
	// Noticed is what fixers of earlier rounds saw and left alone, for reviewers to look at. It may be wrong.
	Noticed []Notice `json:"noticed,omitempty"`
	// Setback is set when the fixer's work before was not taken.
	Setback *Feedback `json:"setback,omitempty"`
	// Fix is set for the fixer.
	Fix *FixPayload `json:"fix,omitempty"`
	// Verify is set for the verifier.
	Verify *VerifyPayload `json:"verify,omitempty"`
	// Find is set for a finder.
	Find *FindTask `json:"find,omitempty"`
	// Command is set for a command of `.reviewerc`; Prompt is its prompt.
	Command *CommandTask `json:"command,omitempty"`
	// Terms are what the fixer's work is held to.
	Terms *FixTerms `json:"terms,omitempty"`
	// Repair is set when the same question is put a second time because the first answer was invalid.
	Repair *Repair `json:"repair,omitempty"`
	// Workspace is what the tools of a builtin agent may read; nil means that it has none.
	Workspace *Workspace `json:"workspace,omitempty"`
	// Limits are the budgets this agent is held to.
	Limits Limits `json:"limits"`
	// Options are what prloop sets for an agent of its own or one it prompts. They are left out for a program of somebody else's.
	Options Options `json:"options,omitzero"`
	// Settings are what such a program is told: the settings its configuration gives it, the score threshold, how many findings
	// below it may be listed as a pattern, and the fence. Nothing secret stands here.
	Settings map[string]string `json:"settings,omitempty"`
}

// Options are an agent's options. The zero value of each is its default.
type Options struct {
	Model string `json:"model,omitempty"`
	// Stronger is the model a verifier hands severe findings to that stay doubtful.
	Stronger string `json:"escalation,omitempty"`
	// Effort is how much models are asked to think, in a word they know; empty says nothing of it.
	Effort string `json:"effort,omitempty"`
	// Temperature is that of models that are not asked to think; nil is a low one.
	Temperature *float64 `json:"temperature,omitempty" jsonschema:"minimum=0,maximum=2"`
	Lens        string   `json:"lens,omitempty"`
	// Threshold is the lowest score that is listed, from 1 to 10. Elevation is how many findings of one category below it add up to
	// one, and are therefore worth listing; 0 is never.
	Threshold int `json:"threshold,omitempty" jsonschema:"minimum=1,maximum=10"`
	Elevation int `json:"elevation,omitempty"`
	// Fence is the random word around untrusted text.
	Fence string `json:"fence,omitempty"`
	// AllowPaths are the globs of protected paths that the operator opens to a fixer.
	AllowPaths []string `json:"allowPaths,omitempty"`
}

// Workspace names the folders a builtin agent's tools read (spec.md R6). Nothing in them is written, but by a
// fixer, whose Tree is a private clone of its own (decision 6).
type Workspace struct {
	// Tree is an absolute path: an export of the head tree with links written as text.
	Tree string `json:"tree"`
	// GitDir is an absolute path: prloop's own bare repository. Without it there is no history to ask for.
	GitDir string `json:"gitDir,omitempty"`
	// Exclude are doublestar patterns of paths that no tool shows.
	Exclude []string `json:"exclude,omitempty"`
	// Folders are further folders that the tools read below their names, as if they stood in Tree: absolute paths of copies.
	Folders map[string]string `json:"folders,omitempty"`
	// Lint allows linters to run over Tree. Their settings come from the pull request, so it is set only when the agent
	// is confined.
	Lint bool `json:"lint,omitempty"`
	// FetchHosts are the hosts whose pages prloop reads for the agent, as the operator allows; empty is none.
	FetchHosts []string `json:"fetchHosts,omitempty"`
	// Search is true when prloop asks a search provider for the agent, as the operator allows.
	Search bool `json:"search,omitempty"`
	// Unmasked lets the tools show values that look like secrets, as the operator allows.
	Unmasked bool `json:"unmasked,omitempty"`
	// Masked are values that the tools mask wherever they stand; the change tells that they are secrets.
	Masked []string `json:"masked,omitempty"`
}

// Beside are the folders of Folders, sorted.
func (w *Workspace) Beside() []string {
	if w == nil {
		return nil
	}
	return slices.Sorted(maps.Values(w.Folders))
}

// Repair says what was wrong with the answer before, so that the agent can fix it.
type Repair struct {
	// Error is why it was refused: places and rules, for a model to read.
	Error string `json:"error"`
	// Answer is the beginning of what was refused; it may be cut.
	Answer string `json:"answer"`
}

// Brief is what reviewers are given to read: the diff and the context around it, all from pinned commits.
type Brief struct {
	// Files are the changed files in the order of the diff, those left out included.
	Files []BriefFile `json:"files"`
	// Guidance are the repository's written rules: at the base commit, for a local range those of the working tree.
	Guidance []GuidanceFile `json:"guidance"`
	// Related is code outside the diff that helps to judge it: what it uses, and what uses what it changes. The most telling comes first.
	Related []RelatedFile `json:"related,omitempty"`
	// Found is code and prose outside the diff that a finder chose, without lines that stand elsewhere in the brief. The Symbol of a region
	// is the finder's reason.
	Found []RelatedFile `json:"found,omitempty"`
	// Status is "ok", or "truncated" when the budget forced changed lines out.
	Status string `json:"status"`
	// Warnings say what a reader of the report should know: what was cut, what could not be parsed.
	Warnings []string `json:"warnings"`
	// Tokens is the estimated size of the whole brief.
	Tokens int `json:"tokens"`
}

// Given counts the files and hunks that a reader is really shown.
func (b Brief) Given() (files, hunks int) {
	for _, f := range b.Files {
		if f.Omitted == "" {
			files++
		}
		hunks += f.HunksGiven
	}
	return files, hunks
}

// BriefFile is one changed file as reviewers see it.
type BriefFile struct {
	// Path is the file's name as package spelling writes it: unusual names are quoted as git quotes them.
	Path string `json:"path"`
	// OldPath is set when the file was renamed or copied.
	OldPath string `json:"oldPath,omitempty"`
	// Change is added, modified, deleted, renamed or copied.
	Change string `json:"change"`
	// Language is lower case, empty when unknown.
	Language  string `json:"language,omitempty"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Hunks     int    `json:"hunks"`
	// Size is how many changed lines the file counts for where the size of a change decides something: more than Additions and Deletions
	// where lines are long, or hold what ends a line for others than git. 0 is not known.
	Size int `json:"size,omitempty"`
	// Diff is this file's unified diff; empty when Omitted says why.
	Diff string `json:"diff,omitempty"`
	// Context are regions of the head version around the changes, in line order, not overlapping.
	Context []Region `json:"context,omitempty"`
	// Omitted is why neither diff nor context is given: binary, generated, vendored, lock file, too large, over budget,
	// excluded by configuration. Empty when the file is given.
	Omitted string `json:"omitted,omitempty"`
	// Excused is true when a file may go unread for that reason: it is no text, or a rule or the configuration leaves it out.
	// A file that is omitted and not excused keeps the run from approving.
	Excused bool `json:"excused,omitempty"`
	// Moved is true when the base has no file of its old name any more: a merge brings the change into the file at its new place, or into none.
	Moved bool `json:"moved,omitempty"`
	// HunksGiven is how many of Hunks stand in Diff; fewer when the budget cut inside the file.
	HunksGiven int `json:"hunksGiven"`
}

// Lines is how many changed lines the file counts for where the size of a change decides something.
func (f BriefFile) Lines() int { return max(f.Additions+f.Deletions, f.Size) }

// RelatedFile is code of the head version outside the diff. No line of it is shown elsewhere.
type RelatedFile struct {
	// Path is written as BriefFile.Path is; the file may be a changed one.
	Path string `json:"path"`
	// Regions are in line order, not overlapping. The Symbol of one says why it is shown.
	Regions []Region `json:"regions"`
}

// Region is a run of lines of the head version.
type Region struct {
	// Start and End are 1-based and inclusive.
	Start int `json:"start"`
	End   int `json:"end"`
	// Symbol is the enclosing function or type, when one was found.
	Symbol string `json:"symbol,omitempty"`
	Text   string `json:"text"`
}

// GuidanceFile is one file of written rules (decision 9).
type GuidanceFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
	// Truncated is true when the file was longer than the cap.
	Truncated bool `json:"truncated,omitempty"`
}
