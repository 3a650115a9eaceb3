package fixspace

import (
	"context"
	"errors"
	"time"

	"github.com/prloop/prloop/internal/buildlayers"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Workspace is one run's workspace. Its methods may be called at the same time, but not for one round and try.
type Workspace struct {
	// Repo is prloop's own repository of the target; all commits that orders name are in it.
	Repo *git.Repository
	// Scratch is a private folder of this process, absolute, without symbolic links.
	Scratch string
	// Ask runs the fixer on a clone and returns when nothing of it is left. The clone is the one folder beside its home that
	// the fixer may write; the caller confines it so (sandbox.Policy.Writable). It never fails as a call.
	Ask func(ctx context.Context, task review.Task, clone string, emit func(review.Event)) review.Answer
	// Confine puts a command in the sandbox; it has the shape of sandbox.Machine.Wrap. The policy it is given names a
	// home, what may be written and what may be read, and no gateway; a verify command asks for a loopback interface of its
	// own, which needs full containment. The caller adds the weakest tier, what to hide and what else may be read. With the
	// sandbox switched off it returns the command as it is. Required.
	Confine func(policy sandbox.Policy, cmd sandbox.Command) (sandbox.Command, error)
	// Bounds are what each command may take of the machine; its Folders are set to those the command may write.
	Bounds proc.Bounds
	// Secrets are those this process holds: no part of one gets into a commit message.
	Secrets []string
	// Learned is what the run learned of the change: no log, message, note or refusal has it.
	Learned *sanitize.Learned
	// Aside are names of files and folders that are moved aside in a clone at every depth while the fixer works, letter case
	// ignored: what an agent of its kind would take configuration from (threats.md T03). Empty leaves all in place.
	Aside []string
	// Exclude tells the paths that no agent may read: a clone has nothing of them, and what is taken out of it leaves them as they were. nil
	// is for none beside what Repo withholds.
	Exclude func(path string) bool
	// Verifying says how verify commands are run; the zero value is the default.
	Verifying VerifyOptions
	// OwnFiles is true when the sandbox gives a command a file system of its own: it finds its room at sandbox.RoomInside, whichever it is.
	// Only then is anything set up, kept or lent.
	OwnFiles bool
	// Layers keep what setups and builds left; nil keeps nothing.
	Layers *buildlayers.Folder

	// between is the time between two tries of a push; tests alone set it.
	between time.Duration
}

// What a workspace that was not put together whole says: it must not run anything then.
var (
	errNoSandbox = errors.New("the workspace has no sandbox: Confine is not set")
	errNoFixer   = errors.New("the workspace has no fixer: Ask is not set")
)

// seen is the repository as agents see it.
func (b *Workspace) seen() *git.Repository { return b.Repo.Without(b.Exclude) }
