// Package effects is how prloop changes something on GitHub: each change is an effect of a kind, and Deliver brings effects of
// every kind about in the same way (threats.md "Outbox"). It decides nothing and touches nothing itself: the outbox, the calls
// and the clock are handed in.
//
// A kind is one type in one file that says how its effect is sent and how it is found again. The same shape fits
//
//   - what is found again by a nonce in its text: a comment (Comment), a review with comments on lines (Review), a reply (Reply), an opened pull request (OpenPull), a comment that gets another
//     report (Rewrite);
//   - what is found again by its name: a check run (external id), a pushed branch (Branch);
//   - what may be repeated, because the second call changes nothing: a minimised comment (Minimize), an edited one (Edit), a thread that is resolved or
//     opened again (Resolve, Unresolve), the words of a pull request (EditPull), a reaction (Reaction); and, as
//     long as no other follows that a late first call would overwrite, a commit status.
//
// How to add one: docs/architecture.md "How to add an effect".
package effects

import (
	"context"
	"time"

	"github.com/prloop/prloop/review"
)

// Effect is one change on GitHub. It is stored before it is made, and what was stored first is what is made.
type Effect struct {
	// Kind is the name of its kind, set by Deliver.
	Kind string
	// Key says which effect of its kind it is: whoever resumes the run comes to the same key.
	Key string
	// Run is the run that makes it.
	Run string
	// Target is the pull request it is made on, Head the commit it is about.
	Target review.Target
	Head   string
	// Nonce is random and names the effect for ever; no two effects have the same.
	Nonce string
	// Payload is what the kind sends, in UTF-8; for a comment the sanitized text. The kind checks what it is given: a stored
	// payload is untrusted.
	Payload string
	// As is the account it is sent as, by login and id alone.
	As review.Person

	// Since is a moment by GitHub's clock before which nothing of this effect can be there; zero if that is not known. It is
	// not stored.
	Since time.Time
	// SentAt is not zero when a call was begun whose effect may be there. Nothing is measured by it.
	SentAt time.Time
	// Ref says where the effect is, such as a URL; empty until it is known to be there.
	Ref string
}

// NoRun stands for the run of an effect that belongs to none, such as an answer to a comment.
const NoRun = "-"

// Kind is one way to change something on GitHub.
type Kind interface {
	// Name is stored with every effect and never changes.
	Name() string
	// Send makes exactly one call, which no transport repeats, and returns where the effect is, never empty. An error that says
	// for certain that nothing was changed has a method Refused() bool that returns true, such as NotSent's; after any other
	// error the effect may be there. One whose method Waited() bool returns true had to wait before its call, for longer than what was known
	// before it holds: whether it is still wanted is asked again, and it is sent then. A *WithheldError says that it is not wanted.
	Send(ctx context.Context, e Effect) (ref string, err error)
	// Find proves whether an effect that may have been sent is there: where it is, or an empty ref when it is not. What only
	// looks like it, such as another account's copy, is not it. It is asked once GitHub cannot be working on the call any more,
	// and never of a repeatable kind. An error means that it cannot tell.
	Find(ctx context.Context, e Effect) (ref string, err error)
	// Repeatable reports whether the effect is the same however often it is sent: it is then sent again instead of looked for,
	// once GitHub cannot be working on the first call any more, so that none arrives after what was done next.
	Repeatable() bool
}

// Outbox remembers effects, so that none is made twice and none is lost.
type Outbox interface {
	// Intent stores an effect before anything is sent, or returns the one that was stored under its kind and key, with that one's
	// nonce and payload. The stored account is kept while the effect may be there; else it is the one given now.
	Intent(ctx context.Context, e Effect) (Effect, error)
	// Sending stores that the one call is about to be made. It refuses whoever lost the right to work on the target, and an
	// effect that may be there.
	Sending(ctx context.Context, nonce string) error
	// Absent stores that an effect may be sent again: it was proven not to be there, or is repeatable.
	Absent(ctx context.Context, nonce string) error
	// Ack stores where the effect is.
	Ack(ctx context.Context, nonce, ref string) error
}
