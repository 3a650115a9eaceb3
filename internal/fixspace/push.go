package fixspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/sanitize"
)

// pushTries is how often a push is tried whose outcome stays unknown.
const pushTries = 3

// Push moves a branch from the reviewed head to a fix, by compare-and-swap. It may be repeated after any end, a killed
// process included (threats.md K20-K23): a branch that is at New already is ours, because object ids are made the same way
// every time, and one that is elsewhere is left alone. After an answer that says nothing (502, a cut line) it asks where the
// branch is and tries again, which cannot push twice. An error means that the outcome is still unknown.
func (b *Workspace) Push(ctx context.Context, o git.PushOptions) (git.PushResult, error) {
	for try := 1; ; try++ {
		res, err := b.Repo.Push(ctx, o)
		if err == nil || try == pushTries || ctx.Err() != nil || ours(err) {
			return res, err
		}
		select {
		case <-ctx.Done():
			return res, err
		case <-time.After(b.pause(try)):
		}
	}
}

// ours reports that a push was not even tried: asking again would not help.
func ours(err error) bool {
	return errors.Is(err, git.ErrName) || errors.Is(err, git.ErrProtocol) || errors.Is(err, git.ErrNotDescendant) || errors.Is(err, git.ErrNoGit) || errors.Is(err, git.ErrHeldBack)
}

// pause is the time between two tries.
func (b *Workspace) pause(try int) time.Duration {
	if b.between > 0 {
		return b.between
	}
	return time.Duration(try) * 2 * time.Second
}

// refusals are what servers refuse, in words for a report.
var refusals = map[string]string{
	git.RefusedProtected:  "the branch is protected",
	git.RefusedRule:       "a rule of the repository forbids it",
	git.RefusedSecret:     "push protection found a secret in it",
	git.RefusedWorkflow:   "the credential may not change workflow files",
	git.RefusedLarge:      "a file in it is too large for the server",
	git.RefusedEmail:      "the server refuses the author's address",
	git.RefusedPermission: "the credential may not push there",
	git.RefusedAuth:       "the server does not take the credential",
	git.RefusedNotFound:   "the repository is not there for this credential",
	git.RefusedHook:       "a hook of the server declined it",
	git.RefusedOther:      "the server refuses it",
}

// Refused says in words why a push was refused, the server's own line included, without what the run learned; empty for any other outcome.
func Refused(r git.PushResult, known *sanitize.Learned) string {
	if r.Outcome != git.Refused {
		return ""
	}
	why, ok := refusals[r.Rule]
	if !ok {
		why = refusals[git.RefusedOther]
	}
	if r.Reason == "" {
		return why
	}
	return fmt.Sprintf("%s: %s", why, sanitize.Terminal(known.Redact(r.Reason)))
}

// Patch is the change between two commits as text that `git apply` reads, for whoever may push when prloop may not.
// git.ErrTooLarge when it is over limit bytes.
func (b *Workspace) Patch(ctx context.Context, from, to string, limit int) (string, error) {
	return b.Repo.Patch(ctx, from, to, limit)
}
