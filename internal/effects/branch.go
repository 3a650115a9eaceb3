package effects

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// BranchPush is what becomes of a branch: the payload of a Branch.
type BranchPush struct {
	// Ref is the branch, fully qualified.
	Ref string `json:"ref"`
	// Old is where it has to be, all zeros when it must not be there; New is where it goes. Both are full object ids.
	Old string `json:"old"`
	New string `json:"new"`
	// Replace lets New leave Old behind, where all that is left behind is prloop's own.
	Replace bool `json:"replace,omitempty"`
}

// Payload is the push as an effect keeps it.
func (p BranchPush) Payload() string {
	text, _ := json.Marshal(p) // strings and a bool
	return string(text)
}

// Pusher moves branches of a repository.
type Pusher interface {
	// PushBranch moves a branch by compare-and-swap, once, and returns the address of the commit there. *MovedError when the branch is
	// elsewhere, *RefusedError when the server says no; further errors are as those of Kind.Send.
	PushBranch(ctx context.Context, repo review.Repo, p BranchPush) (string, error)
	// FindPushed is the address of p.New when the branch is there, or at what was built on it; empty when it is not.
	FindPushed(ctx context.Context, repo review.Repo, p BranchPush) (string, error)
}

// MovedError: the branch is not where it has to be, and stays.
type MovedError struct {
	Ref string
	// Head is where it is; empty when it is gone.
	Head string
}

func (e *MovedError) Error() string {
	if e.Head == "" {
		return strings.TrimPrefix(e.Ref, "refs/heads/") + " does not exist any more"
	}
	return fmt.Sprintf("%s is at %s now", strings.TrimPrefix(e.Ref, "refs/heads/"), e.Head[:min(len(e.Head), 10)])
}

// Refused is true: nothing was changed.
func (*MovedError) Refused() bool { return true }

// RefusedError: the server does not let the change in, and asking again would not help.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// Refused is true: nothing was changed.
func (*RefusedError) Refused() bool { return true }

// Branch is the kind of a branch that goes to a commit. Its payload is a BranchPush, its ref the commit's address.
type Branch struct{ Pusher Pusher }

// Name is "branch".
func (Branch) Name() string { return "branch" }

// Send checks the push again and makes it.
func (b Branch) Send(ctx context.Context, e Effect) (string, error) {
	p, err := b.push(e)
	if err != nil {
		return "", NotSent(err)
	}
	return b.Pusher.PushBranch(ctx, e.Target.Repo, p)
}

// Find asks where the branch is.
func (b Branch) Find(ctx context.Context, e Effect) (string, error) {
	p, err := b.push(e)
	if err != nil {
		return "", err
	}
	return b.Pusher.FindPushed(ctx, e.Target.Repo, p)
}

// Repeatable is false: what others pushed since must not be asked to go.
func (Branch) Repeatable() bool { return false }

func (Branch) push(e Effect) (p BranchPush, err error) {
	if err = json.Unmarshal([]byte(e.Payload), &p); err == nil && (!strings.HasPrefix(p.Ref, "refs/heads/") || p.New == "") {
		err = fmt.Errorf("%q is no branch", p.Ref)
	}
	if err != nil {
		err = fmt.Errorf("stored push of run %s: %w", e.Run, err)
	}
	return p, err
}
