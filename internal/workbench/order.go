package workbench

import (
	"time"

	"github.com/prloop/prloop/review"
)

// Order is one try of the fixer in one round.
type Order struct {
	// Run is the run's id, Round its round from 1, Try the fixer's try in it from 1.
	Run        string
	Round, Try int
	// Reviewed is the head under review. From is where this try starts: Reviewed, or the tip of the try before when only
	// verification refused it. Both are full object ids.
	Reviewed, From string
	// Task is the question, Task.Fix what is to be fixed (spec.md A4).
	Task review.Task
	// Aside are names of files and folders that are moved aside in the clone at every depth while the fixer works, letter
	// case ignored: what an agent of its kind would take configuration from (threats.md T03). Empty leaves all in place.
	Aside []string
	// Allow are the globs of protected paths that the operator opened.
	Allow []string
	// First is the head the run began with, before any fix; empty means Reviewed. PRFiles and PRLines are the size of the pull
	// request's own diff there. The scope brake holds all fixes together against that.
	First            string
	PRFiles, PRLines int
	// FixedAt is the author and committer date of every commit: one order, one set of object ids, however often it is
	// carried out on the same work.
	FixedAt time.Time
	// Emit takes the fixer's events; nil drops them.
	Emit func(review.Event) `json:"-"`
}

// Work is what one try came to. It holds only what JSON can carry, so that a durable engine can store it.
type Work struct {
	// Answer is the fixer's. Its Fix, when it gave one, names commits as prloop made them: full object ids of Commits, and
	// none where nothing was changed.
	Answer review.Answer `json:"answer"`
	// Tip is the commit that may be verified and pushed, in prloop's repository; empty when the fixer changed nothing, gave
	// no answer, or did what a rule refuses.
	Tip string `json:"tip,omitempty"`
	// Commits are those from Order.Reviewed to Tip, oldest first; empty without a Tip.
	Commits []review.FixCommit `json:"commits,omitempty"`
	// Refusals are the rules of the push policy that the work breaks. With one of them there is no Tip.
	Refusals []review.Refusal `json:"refusals,omitempty"`
	// Tests are the tests that the work since Order.Reviewed deletes, skips or weakens, in words.
	Tests []string `json:"tests,omitempty"`
	// Leaked is true when the fixer's commit messages held a part of a secret of Bench.Secrets, which proves that it saw what
	// it must never see. None of its words stand in Commits then.
	Leaked bool `json:"leaked,omitempty"`
	// Files and Lines are how much the work since Order.Reviewed changes, refused work included.
	Files int `json:"files"`
	Lines int `json:"lines"`
	// Notes say what a reader of the report should know: how the work was taken out, what was not used of it.
	Notes []string `json:"notes,omitempty"`
}
