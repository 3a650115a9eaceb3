// Package maintenance is the loop of a scheduled job (spec.md C4): where its branch begins, its commands one after the other, the push and
// the pull request. Each is a stored step, so that a killed job goes on where it was; what it changes on GitHub are effects.
package maintenance

import (
	"context"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/review"
)

// Request is one run of a job. It is stored, and a resumed run is given the same.
type Request struct {
	Run, ReviewID string        `json:"-"` // those of the run it is part of
	Target        review.Target `json:"-"`
	DryRun        bool          `json:"-"`
	Started       time.Time     `json:"-"`

	Job string `json:"job"`
	// Base is the default branch, Head its commit.
	Base string `json:"base"`
	Head string `json:"head"`
	// Commands run in this order.
	Commands []Command       `json:"commands"`
	Terms    review.JobTerms `json:"terms"`
	// Places are the names of the branches of all jobs that are configured, this one's among them: no agent has a branch made in the way of one.
	Places []string `json:"places,omitempty"`
	// Silent is true for the token of an Actions job, whose pull requests start no workflow (decision 14).
	Silent bool `json:"silent,omitempty"`
}

// Command is one custom prompt of the job.
type Command struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
}

// ids are those of the commands.
func (r Request) ids() []string {
	out := make([]string, len(r.Commands))
	for i, c := range r.Commands {
		out[i] = c.ID
	}
	return out
}

// Steps runs named pieces of work that happen at most once to completion in a run's life, as orchestrator.Steps.
type Steps interface {
	Do(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error)
}

// Repository is prloop's own repository of the target.
type Repository interface {
	Fetch(ctx context.Context, o git.FetchOptions) (map[string]string, error)
	RemotePlace(ctx context.Context, s git.Server, ref string) (head, inWay string, err error)
	FirstParents(ctx context.Context, base, tip string) ([]git.Authored, error)
	Merged(ctx context.Context, ours, theirs, message string, sign git.Signature) (string, error)
	Patch(ctx context.Context, a, b string, limit int) (string, error)
	ForgetFixes(ctx context.Context, gone func(run string) bool) error
}

// Forge is what a job reads from GitHub and changes there.
type Forge interface {
	effects.Pulls
	PullRequest(ctx context.Context, repo review.Repo, number int) (review.PullRequest, error)
	Viewer(ctx context.Context, host string) (review.Person, error)
}

// Recorder keeps what a run leaves behind. What it is given is already redacted.
type Recorder interface {
	Save(ctx context.Context, run, name string, data []byte) error
	Finish(ctx context.Context, result review.RunResult) error
}

// Loop does jobs. Its fields are set before and not changed after.
type Loop struct {
	Repo   Repository
	Server git.Server
	Forge  Forge
	Pusher effects.Pusher
	Outbox effects.Outbox
	Record Recorder
	// Work is one command, from a commit on; it fills in what its agent is asked. An error is the disk or git, or the end of ctx.
	Work      func(ctx context.Context, order review.JobOrder) (review.JobWork, error)
	Emit      func(review.Event)
	MarkerKey []byte
	Nonce     func() string
	Now       func() time.Time
	Sleep     func(ctx context.Context, d time.Duration) error
	// Permanent reports whether no later try gets past an error.
	Permanent func(error) bool
	// Secrets are those this process holds: none of them gets into a pull request.
	Secrets []string
}

func (l *Loop) say(message string) {
	l.Emit(review.Event{Kind: review.EventProgress, Message: message, Time: l.Now()})
}
