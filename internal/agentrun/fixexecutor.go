package agentrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/buildlayers"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/registries"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// Where a kill has to be survived (threats.md K18 and K19).
var (
	fixerAsked    = failpoint.New("fixer: asked")
	fixerAnswered = failpoint.New("fixer: answered")
)

// FixExecutor lends the loop the workspace, with the launcher's fixer at it. Its fields are set before it is used and not changed after.
type FixExecutor struct {
	// Launcher brings the fixer, the repository, the scratch folder and the sandbox.
	Launcher *Launcher
	// VerifyTimeout bounds each verify command; 0 means fixspace.DefaultTimeout.
	VerifyTimeout time.Duration
	// VerifyEnv are the operator's variables ("NAME=value") of verify commands. Code of the pull request sees them.
	VerifyEnv []string
	// Setup are the commands that make ready what verify commands need, at the commit SetupAt; Whose is the repository and the branch they are
	// of. Registries are the hosts they may reach.
	Setup          []string
	SetupAt, Whose string
	Registries     []string
	// Layers keep what setups leave, and what builds of the pull request's branch leave under the name Builds; nil keeps nothing.
	Layers *buildlayers.Folder
	Builds string
	// Lent are the operator's module caches.
	Lent []fixspace.Lent
	// Withheld are the globs of what Launcher.Repo withholds. ReadAll lets setup and verify commands read it.
	Withheld []string
	ReadAll  bool
	// Server is where a repository is pushed to, and with which credential.
	Server func(repo review.Repo) git.Server
	// MayPush says why nothing may be pushed to a pull request's branch now; empty when it may.
	MayPush func(ctx context.Context, pr review.PullRequest) (string, error)
	// Held fails when this run does not hold its pull request any more; nil when nobody shares it.
	Held func(ctx context.Context) error
	// Sure fails when this run may have lost its pull request meanwhile; it asks nobody. nil is always sure.
	Sure func() error

	mu sync.Mutex
	// asked is true once a setup was tried; setup is what it left.
	asked bool
	setup *buildlayers.Layer
}

// SetUp makes ready what verify commands need, unless that was tried before.
func (b *FixExecutor) SetUp(ctx context.Context, news func(review.Check)) ([]review.Check, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked || len(b.Setup) == 0 || b.Layers == nil {
		return nil, nil
	}
	if err := b.Launcher.Limits.Room(b.Launcher.Scratch); err != nil {
		return nil, err
	}
	order := fixspace.SetupOrder{Commit: b.SetupAt, Commands: b.Setup, Whose: b.Whose, News: news}
	if len(b.Registries) > 0 {
		order.Registries = b.wayOut
	}
	setup, checks, err := b.workspace().SetUp(ctx, order)
	if err != nil {
		return nil, err
	}
	b.asked, b.setup = true, setup
	return checks, nil
}

// socketFolderLimit is how long the path of a folder may be, in bytes, for a socket to stand in a folder of it: the kernel takes 107, and
// "/out-4294967295/registries.sock" is 31.
const socketFolderLimit = 107 - 31

// wayOut opens the way to the registries.
func (b *FixExecutor) wayOut(ctx context.Context) (fixspace.WayOut, error) {
	dir := b.Launcher.Scratch
	if len(dir) > socketFolderLimit {
		dir = ""
	}
	dir, err := os.MkdirTemp(dir, "out-")
	if err != nil {
		return nil, fmt.Errorf("serve the registries: %w", err)
	}
	p, err := registries.Start(ctx, dir, b.Registries)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return wayOut{p, dir}, nil
}

// wayOut is a proxy with the folder it listens in.
type wayOut struct {
	*registries.Proxy
	dir string
}

// Close ends the proxy and removes the folder.
func (w wayOut) Close() error { return errors.Join(w.Proxy.Close(), os.RemoveAll(w.dir)) }

// Close gives back what a setup left.
func (b *FixExecutor) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.setup == nil {
		return nil
	}
	setup := b.setup
	b.setup = nil
	return setup.Close()
}

// room is the workspace with what the setup left. A process that goes on with a run may find nothing set up yet.
func (b *FixExecutor) room(ctx context.Context) (*fixspace.Workspace, error) {
	if _, err := b.SetUp(ctx, nil); err != nil {
		return nil, err
	}
	w := b.workspace()
	w.Verifying.Setup = b.setup
	return w, nil
}

// workspace is the workspace in the launcher's sandbox.
func (b *FixExecutor) workspace() *fixspace.Workspace {
	limits := b.Launcher.Limits.or(verifying)
	w := &fixspace.Workspace{
		Repo: b.Launcher.Repo, Scratch: b.Launcher.Scratch, Confine: b.Launcher.confineJob, Secrets: b.Launcher.Secrets, Learned: b.Launcher.Learned,
		Bounds: limits.bounds(jobProcesses, jobFileBytes), OwnFiles: b.Launcher.Confinement.Full(), Layers: b.Layers,
		Verifying: fixspace.VerifyOptions{
			Timeout: b.VerifyTimeout, Read: b.Launcher.Confinement.read, Env: b.VerifyEnv, Limits: b.Launcher.Limits.scratch(), Builds: b.Builds, Lent: b.Lent, Withheld: b.Withheld, ReadAll: b.ReadAll,
		},
	}
	if len(b.Launcher.Exclude) > 0 { // a clone without anything withheld has more history
		w.Exclude = b.Launcher.excludes
	}
	return w
}

// Fix is one try of the fixer. It fails with sanitize.ErrKnownSecret when the fixer's commit messages hold a part of a secret
// this process holds.
func (b *FixExecutor) Fix(ctx context.Context, plan orchestrator.AgentPlan, order review.FixOrder, emit func(review.Event)) (review.FixWork, error) {
	var point error
	room, err := b.room(ctx)
	if err != nil {
		return review.FixWork{}, err
	}
	room.Ask = func(ctx context.Context, task review.Task, clone string, emit func(review.Event)) review.Answer {
		if point = fixerAsked.Hit(); point != nil {
			return unasked(plan, point)
		}
		stop := func() int { return 0 }
		if order.Checks > 0 && b.Launcher.Gateway != nil {
			stop = b.Launcher.Gateway.LendChecks(ctx, plan.Name, order.Checks, func(ctx context.Context, command string) (any, error) {
				if err := b.Launcher.Limits.Room(b.Launcher.Scratch); err != nil {
					return nil, errors.New("there is no room to run them now")
				}
				return room.CheckClone(ctx, order, clone, command)
			})
		}
		got := b.Launcher.answer(ctx, plan, task, clone, emit)
		if n := stop(); n > 0 {
			got.Receipt.Notes = append(got.Receipt.Notes, fmt.Sprintf("had the verify commands run %d %s before it ended", n, map[bool]string{true: "time", false: "times"}[n == 1]))
		}
		point = fixerAnswered.Hit()
		return got
	}
	if plan.Kind == review.KindACP {
		room.Aside = agentConfiguration()
	}
	work, err := room.Fix(ctx, order, emit)
	if err = errors.Join(point, err); err != nil {
		return review.FixWork{Answer: work.Answer}, err
	}
	return work, nil
}

// Verify runs commands on a commit.
func (b *FixExecutor) Verify(ctx context.Context, commit string, onBranch bool, commands []string, news func(review.Check)) ([]review.Check, error) {
	if err := b.Launcher.Limits.Room(b.Launcher.Scratch); err != nil {
		return nil, err
	}
	room, err := b.room(ctx)
	if err != nil {
		return nil, err
	}
	return room.Verify(ctx, fixspace.VerifyOrder{Commit: commit, OnBranch: onBranch, Commands: commands, News: news})
}

// Push moves the pull request's branch, if this run still holds the pull request (threats.md T93), also at the moment at which git begins (threats.md T422).
func (b *FixExecutor) Push(ctx context.Context, pr review.PullRequest, from, to string) (orchestrator.Pushed, error) {
	if b.Held != nil {
		if err := b.Held(ctx); err != nil {
			return orchestrator.Pushed{}, err
		}
	}
	server := b.Server(pr.HeadRepo)
	// What grants something is asked when it happens, and again when it is used (decision 9).
	why, err := b.MayPush(ctx, pr)
	if err != nil {
		return orchestrator.Pushed{}, err
	}
	if why != "" {
		return b.tooLate(ctx, pr, to, why)
	}
	got, err := b.workspace().Push(ctx, git.PushOptions{
		Server: server, Ref: "refs/heads/" + pr.HeadRef, Old: from, New: to, Sure: b.Sure,
	})
	switch {
	case err != nil:
		return orchestrator.Pushed{}, err
	case got.Outcome == git.Refused:
		return orchestrator.Pushed{Refused: "the server refuses the push: " + fixspace.Refused(got, b.Launcher.Learned)}, nil
	case got.Outcome == git.Moved && got.Head == "":
		return b.tooLate(ctx, pr, to, "the branch does not exist any more")
	case got.Outcome == git.Moved:
		return orchestrator.Pushed{Head: got.Head}, nil
	}
	return orchestrator.Pushed{Done: true}, nil
}

// tooLate is the outcome of a push that cannot be made any more: refused, unless an earlier one arrived before the right was
// taken away or the pull request merged (threats.md K22). A branch that is deleted then lives on in what GitHub keeps of the
// pull request.
func (b *FixExecutor) tooLate(ctx context.Context, pr review.PullRequest, to, why string) (orchestrator.Pushed, error) {
	if _, ok, err := b.Launcher.Repo.Contains(ctx, b.Server(pr.HeadRepo), "refs/heads/"+pr.HeadRef, to); err == nil && ok {
		return orchestrator.Pushed{Done: true}, nil
	}
	_, ok, err := b.Launcher.Repo.Contains(ctx, b.Server(pr.Repo), fmt.Sprintf("refs/pull/%d/head", pr.Number), to)
	switch {
	case ok:
		return orchestrator.Pushed{Done: true}, nil
	case err != nil && !errors.Is(err, git.ErrUnknownRevision):
		return orchestrator.Pushed{}, err
	}
	return orchestrator.Pushed{Refused: why}, nil
}

// Forget lets go of what the run's fixes keep in the repository.
func (b *FixExecutor) Forget(ctx context.Context, run string) error {
	return b.Launcher.Repo.ForgetFixes(ctx, func(id string) bool { return id == run })
}

// patchLimitBytes is the largest patch that is handed over.
const patchLimitBytes = 4 << 20

// Patch is a fix as text. One that is too large is no fault of the run, which has to come to its end.
func (b *FixExecutor) Patch(ctx context.Context, from, to string) (string, error) {
	patch, err := b.workspace().Patch(ctx, from, to, patchLimitBytes)
	if errors.Is(err, git.ErrTooLarge) {
		return "", nil
	}
	return patch, err
}
