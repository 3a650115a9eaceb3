package review

import "time"

// FixOrder is one try of the fixer in one round of a run.
type FixOrder struct {
	Run string
	// Round and Try count from 1.
	Round, Try int
	// Reviewed is the head the findings are about. From is where this try starts: Reviewed, or the tip of the try before when only
	// verification refused it. Both are full object ids.
	Reviewed, From string
	// Base is the tip of the base branch, to which a merge brings the work; empty where it is not known.
	Base string
	// Task is the question, Task.Fix what is to be fixed (spec.md A4).
	Task Task
	// Verify are the commands that will run on the work, Detected as in FixTerms. Checks is how often the fixer may have them run before.
	Verify   []string
	Detected bool
	Checks   int
	// Setup is the setup command that failed before; nil when none did.
	Setup *Check
	// Allow are the globs of paths that the operator opened.
	Allow []string
	// Guidance are the names and globs of context.guidance, which are protected.
	Guidance []string
	// First is the head the run began with, before any fix; empty means Reviewed. PRFiles and PRLines are the size of the pull
	// request's own diff there, of which a long line is several lines (BriefFile.Lines). The scope brake holds all fixes together against that.
	First            string
	PRFiles, PRLines int
	// At is the author and committer date of every commit: one order, one set of object ids, however often it is carried out on
	// the same work.
	At time.Time
}

// FixWork is what one try came to. It holds only what JSON can carry, so that a durable engine can store it.
type FixWork struct {
	// Answer is the fixer's. Its Fix, when it gave one, names commits as prloop made them: full object ids of Commits, and none
	// where nothing was changed.
	Answer Answer `json:"answer"`
	// Tip is the commit that may be verified and pushed, in prloop's repository; empty when the fixer changed nothing, gave no
	// answer, or did what a rule refuses.
	Tip string `json:"tip,omitempty"`
	// Commits has the one commit of a fix, Tip; empty without a Tip.
	Commits []FixCommit `json:"commits"`
	// Refusals are the rules of the push policy that the work breaks. With one of them there is no Tip.
	Refusals []Refusal `json:"refusals,omitempty"`
	// Tests are the tests that the work since FixOrder.Reviewed changes, adds, skips or deletes, in words.
	Tests []string `json:"tests,omitempty"`
	// Files and Lines are how much the work since FixOrder.Reviewed changes, refused work included; a long line is several.
	Files int `json:"files"`
	Lines int `json:"lines"`
	// Notes say what a reader of the report should know: how the work was taken out, what was not used of it.
	Notes []string `json:"notes,omitempty"`
}
