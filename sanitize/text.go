package sanitize

import (
	"errors"
	"fmt"

	"github.com/prloop/prloop/review"
)

// What stands in the place of what was taken out (spec.md L3).
const (
	Redacted         = "[REDACTED]"
	DiffRedacted     = "[DIFF REDACTED]"
	TruncatedComment = "[TRUNCATED_COMMENT]"
)

// ErrKnownSecret means the text holds a part of a secret this process knows, in some encoding. Nothing of it may be posted, and
// somebody should know: it proves that somebody saw what nobody may see (threats.md L0).
var ErrKnownSecret = errors.New("the text holds a known secret")

// ErrUnsafe means the oracle found something active in bytes that were about to be posted (threats.md S11).
var ErrUnsafe = errors.New("the text is not safe to post")

// Text is a comment that may be posted. Only this package can make one that is not empty, so a write that skips the
// sanitizer does not compile (threats.md "Sanitization").
type Text struct{ s string }

// String returns the exact bytes to post.
func (t Text) String() string { return t.s }

// Policy says what a text may refer to and what it must not hold.
type Policy struct {
	// Repo is the repository whose pages may be linked; with the zero value no link survives.
	Repo review.Repo
	// PR is the pull request that a field may lead to, the run's own; 0 for none.
	PR int
	// Known are the secrets this process has loaded. Values under 8 bytes are ignored; those under 16 are only found
	// whole, longer ones by any 12 bytes of them that their issuer's public prefix and regular runs do not explain.
	Known []string
	// Learned are values that a run found in the change: no comment has one.
	Learned *Learned
	// Last, where it is set, has the last word about the body of a Comment; the oracle reads what it makes.
	Last func(body string) string
}

// Restore makes a Text again out of bytes that were stored, such as those of an outbox. It takes only what Comment or
// Filter could have made under the same policy: the bytes go through the oracle again.
func Restore(stored string, p Policy) (Text, error) {
	if err := check(stored, p); err != nil {
		return Text{}, fmt.Errorf("restore comment: %w", err)
	}
	return Text{stored}, nil
}
