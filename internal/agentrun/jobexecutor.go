package agentrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// Where a kill has to be survived (threats.md "Fault matrix").
var (
	commandAsked     = failpoint.New("job: command asked")
	commandAnswered  = failpoint.New("job: command answered")
	beforeBranchPush = failpoint.New("branch: before push")
	afterBranchPush  = failpoint.New("branch: after push")
)

// JobExecutor lends a scheduled job the workspace, with the launcher's agents at it, and the one way its work leaves it. Its fields are set
// before it is used and not changed after.
type JobExecutor struct {
	Launcher *Launcher
	// Server is where branches are pushed to, and with which credential.
	Server git.Server
	// Held fails when this run does not hold its job any more; nil when nobody shares it.
	Held func(ctx context.Context) error
}

func (j *JobExecutor) room() *fixspace.Workspace {
	return (&FixExecutor{Launcher: j.Launcher}).workspace()
}

// Work is one command of the job. It fails with sanitize.ErrKnownSecret when what the agent wants to say holds a part of a secret this
// process holds.
func (j *JobExecutor) Work(ctx context.Context, plan orchestrator.AgentPlan, order review.JobOrder, emit func(review.Event)) (review.JobWork, error) {
	var point error
	room := j.room()
	room.Ask = func(ctx context.Context, task review.Task, clone string, emit func(review.Event)) review.Answer {
		if point = commandAsked.Hit(); point != nil {
			return unasked(plan, point)
		}
		got := j.Launcher.answer(ctx, plan, task, clone, emit)
		point = commandAnswered.Hit()
		return got
	}
	if plan.Kind == review.KindACP {
		room.Aside = agentConfiguration()
	}
	work, err := room.Job(ctx, order, emit)
	if err = errors.Join(point, err); err != nil {
		return review.JobWork{Answer: work.Answer}, err
	}
	return work, nil
}

// PushBranch moves a branch, if this run still holds its job (threats.md T93), also at the moment at which git begins (threats.md T422).
func (j *JobExecutor) PushBranch(ctx context.Context, repo review.Repo, p effects.BranchPush) (string, error) {
	if j.Held != nil {
		if err := j.Held(ctx); err != nil {
			return "", effects.NotSent(err)
		}
	}
	if err := beforeBranchPush.Hit(); err != nil {
		return "", effects.NotSent(err)
	}
	got, err := j.Launcher.Repo.Push(ctx, git.PushOptions{Server: j.Server, Ref: p.Ref, Old: p.Old, New: p.New, Anew: p.Replace, Sure: func() error { return effects.Sure(ctx) }})
	if stop := afterBranchPush.Hit(); stop != nil {
		return "", stop
	}
	switch {
	case errors.Is(err, git.ErrName), errors.Is(err, git.ErrProtocol), errors.Is(err, git.ErrNotDescendant), errors.Is(err, git.ErrNoGit), errors.Is(err, git.ErrHeldBack):
		return "", effects.NotSent(err) // it was not even tried
	case err != nil:
		return "", err
	case got.Outcome == git.Moved:
		return "", &effects.MovedError{Ref: p.Ref, Head: got.Head}
	case got.Outcome == git.Refused:
		return "", &effects.RefusedError{Reason: "the server refuses the push: " + fixspace.Refused(got, j.Launcher.Learned)}
	}
	return commitAddress(repo, p), nil
}

// FindPushed asks the server where the branch is.
func (j *JobExecutor) FindPushed(ctx context.Context, repo review.Repo, p effects.BranchPush) (string, error) {
	_, there, err := j.Launcher.Repo.Contains(ctx, j.Server, p.Ref, p.New)
	if errors.Is(err, git.ErrUnknownRevision) || err == nil && !there {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return commitAddress(repo, p), nil
}

func commitAddress(repo review.Repo, p effects.BranchPush) string {
	return fmt.Sprintf("https://%s/%s/%s/commit/%s", repo.Host, repo.Owner, repo.Name, p.New)
}
