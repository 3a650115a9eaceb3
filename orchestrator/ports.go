package orchestrator

import (
	"context"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
)

// Steps runs named pieces of work that happen at most once to completion in a run's life: the result is stored, and a
// resumed run is given the stored one. Names are unique within a run.
type Steps interface {
	Do(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error)
	// All runs steps side by side; results stand in the order of the steps.
	All(ctx context.Context, steps []Step) ([][]byte, []error)
}

// Step is one named piece of work of Steps.All.
type Step struct {
	Name string
	Fn   func(context.Context) ([]byte, error)
}

// Forge is what the loop reads from GitHub.
type Forge interface {
	PullRequest(ctx context.Context, repo review.Repo, number int) (review.PullRequest, error)
	Discussion(ctx context.Context, pr review.PullRequest) (review.Discussion, error)
	// Viewer is the account effects are sent as.
	Viewer(ctx context.Context, host string) (review.Person, error)
}

// History is what the loop reads from git: prloop's own repository, never a folder an agent could write (decision 6).
type History interface {
	// Pin fetches what the target needs and names its commits.
	Pin(ctx context.Context, target review.Target, pr review.PullRequest, checkout string) (Range, error)
	// ReadFile reads a file at a commit. A file that does not exist there is an error that wraps fs.ErrNotExist.
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
	// Diff compares two commits.
	Diff(ctx context.Context, base, head string) (*diff.Diff, error)
	// Have reports whether a commit that the run knows is here, and fetches it when it is not: the run may have begun on another machine.
	Have(ctx context.Context, commit string) (bool, error)
	// MergeBase is the commit on which two others were made, as of the base branch and of a head.
	MergeBase(ctx context.Context, base, head string) (string, error)
	// FixedTests names the files of tests that prloop's own commits of a pull request change, and those that they add, each a spelling.
	FixedTests(ctx context.Context, r Range) (changed, added []string, err error)
	// Sensitive reports whether the change of a range is one that a fixer might not have made, such as one of a protected path, or whether that cannot be told.
	// guidance are the names and globs of context.guidance.
	Sensitive(ctx context.Context, r Range, guidance []string) (bool, error)
}

// Range names the commits of a snapshot by full object id.
type Range struct {
	// Base is the tip of the base branch: rules and configuration are read there (decision 9).
	Base string `json:"base"`
	// MergeBase is where the diff starts.
	MergeBase string `json:"mergeBase"`
	Head      string `json:"head"`
	// Skipped are changed files of a working tree that are not part of Head, and why.
	Skipped []review.LeftOut `json:"skipped,omitempty"`
	// Commits are those from the merge base to Head, each before its parents, at most MostHeads.
	Commits []Commit `json:"-"`
	// Subjects are the first lines of the commit messages of a local range, newest first.
	Subjects []string `json:"-"`
}

// Commit is a commit by its full object id, and its parents, the first first.
type Commit struct {
	ID      string
	Parents []string
}

// Same reports whether two ranges name the same commits.
func (r Range) Same(o Range) bool {
	return r.Base == o.Base && r.MergeBase == o.MergeBase && r.Head == o.Head
}

// Briefer builds what reviewers are given to read.
type Briefer interface {
	Brief(ctx context.Context, r Range, opts ContextOptions, limits review.Limits) (review.Brief, error)
}

// Asker runs one agent to its answer. It never returns an error: an agent that fails is a result too, and must not
// stop the others.
type Asker interface {
	Ask(ctx context.Context, plan AgentPlan, task review.Task, emit func(review.Event)) review.Answer
}

// Recorder keeps what a run leaves behind. What it is given is already redacted.
type Recorder interface {
	// Save writes one file of the run's artifact folder.
	Save(ctx context.Context, run, name string, data []byte) error
	// Round stores what one round came to.
	Round(ctx context.Context, result review.RunResult) error
	// Finish stores the run's end.
	Finish(ctx context.Context, result review.RunResult) error
}

// FixExecutor is where the fixer works, and the one way its work leaves it (decision 6).
type FixExecutor interface {
	// Fix asks the fixer in a private clone and takes out what it made, checked by the push policy. An error is the disk or
	// git, or the end of ctx, or sanitize.ErrKnownSecret when the fixer's commit messages hold a part of a credential; what else
	// the fixer does wrong stands in the result. With an error there is no work, but the answer if the fixer was asked: it has
	// its price.
	Fix(ctx context.Context, plan AgentPlan, order review.FixOrder, emit func(review.Event)) (review.FixWork, error)
	// SetUp makes ready what the commands of Verify need, once in a process; an earlier run may have done it. There is one result for each
	// command that ran, of which the last one may have failed: then Verify does without.
	SetUp(ctx context.Context, news func(review.Check)) ([]review.Check, error)
	// Verify runs commands on the tree of a commit, without network and credentials, one result for each. news is told as
	// each begins, with an empty state, and as it ends. onBranch says that the commit stands on the pull request's branch: only then may
	// what its builds leave be used again.
	Verify(ctx context.Context, commit string, onBranch bool, commands []string, news func(review.Check)) ([]review.Check, error)
	// Push moves the pull request's branch from one commit to another, if it still stands there. It may be repeated.
	Push(ctx context.Context, pr review.PullRequest, from, to string) (Pushed, error)
	// Forget lets go of what the run's fixes keep in prloop's repository. Nothing of the run is asked for afterwards.
	Forget(ctx context.Context, run string) error
	// Patch is the change between two commits as text that `git apply` reads; empty when it is too large to be handed over.
	Patch(ctx context.Context, from, to string) (string, error)
}

// Pushed is what became of a push. At most one of Head, Refused and Shut is set when the commit is not there.
type Pushed struct {
	// Done is true when our commit is on the branch.
	Done bool `json:"done"`
	// Head is the commit the branch stands at instead: somebody else pushed.
	Head string `json:"head,omitempty"`
	// Refused says who does not let it through and why: prloop, when the right is gone, or the server, such as for a protected
	// branch.
	Refused string `json:"refused,omitempty"`
	// Shut says why the pull request is none any more that should be pushed to. An executor leaves it empty.
	Shut string `json:"shut,omitempty"`
	// Lost is true when the commit is nowhere to be had. An executor leaves it false.
	Lost bool `json:"lost,omitempty"`
}
