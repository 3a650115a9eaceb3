package github

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// What can go wrong, for errors.Is. Every error of this package that one of them fits wraps it.
var (
	ErrNoGH          = errors.New("gh, the GitHub CLI, is not installed")
	ErrNotLoggedIn   = errors.New("not logged in to GitHub")
	ErrNotFound      = errors.New("not found")
	ErrForbidden     = errors.New("not permitted")
	ErrClosed        = errors.New("the pull request is not open")
	ErrLocked        = errors.New("the conversation is locked")
	ErrTooLong       = errors.New("the comment is too long for GitHub")
	ErrStatusesSpent = errors.New("GitHub takes no more statuses of this commit: push a new one")
	ErrPendingReview = errors.New("a review of the same account is pending: submit or discard it")
	ErrRateLimited   = errors.New("GitHub's rate limit is used up")
	ErrMoved         = errors.New("the repository has moved")
	ErrUnavailable   = errors.New("GitHub is not available")
	ErrBadAnswer     = errors.New("GitHub's answer is not readable")
	ErrNoPullRequest = errors.New("the branch has no open pull request")
	ErrAmbiguous     = errors.New("more than one pull request fits")
	ErrTarget        = errors.New("not a pull request")
	ErrRepository    = errors.New("not a repository")
	ErrNotInstalled  = errors.New("the GitHub App is not installed there")
	ErrSuspended     = errors.New("the installation of the GitHub App is suspended")
	ErrAppKey        = errors.New("the key of the GitHub App is not taken")
	ErrHost          = errors.New("not a host gh can log in to")
)

// Error is a failure of one operation.
type Error struct {
	// Op names the operation and its object: "comment on acme/widgets#7".
	Op string
	// Kind is one of the errors above.
	Kind error
	// Detail is what GitHub or gh said, one line; untrusted text. Empty when there is nothing to add.
	Detail string
	// Until is, for ErrRateLimited, when GitHub allows the next request; zero when it did not say.
	Until time.Time
	// Needs is, for ErrForbidden, the permission a token lacks in GitHub's words ("pull-requests: write"), and for
	// ErrMoved the new place. Empty when unknown.
	Needs string
	// Unnamed is, for ErrNotLoggedIn, a host that is not sent the token of the environment, for nobody has named it.
	Unnamed string
	// Cause is what lies beneath, if anything.
	Cause error

	status int
	of     string // whose limit it is, where no header told
	sent   bool   // a write may have taken effect
	unsent bool   // the request was not sent at all
	write  bool
	waited bool // nothing was sent, and may be now
}

// wrote makes it the error of a write that may have taken effect, or not.
func (e *Error) wrote(sent bool) *Error {
	e.write, e.sent = true, sent && !e.unsent
	return e
}

// Error reads as operation, kind, detail. Of a limit whose end is known there is nothing more to tell.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.Op, e.Kind)
	if e.Needs != "" {
		fmt.Fprintf(&b, " (%s)", e.Needs)
	}
	if !e.Until.IsZero() {
		fmt.Fprintf(&b, " until %s", e.Until.UTC().Format(time.RFC3339))
		return b.String()
	}
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	}
	return b.String()
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// Refused reports whether a write certainly did not take effect. After any other error of a write, the comment may exist.
func (e *Error) Refused() bool { return e.write && !e.sent }

// Waited reports whether a write was not sent because it had to wait, and may be now: whoever sends it looks first whether it is still wanted.
func (e *Error) Waited() bool { return e.waited }

// oneLine keeps the first line of what somebody said, within bounds.
func oneLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}
