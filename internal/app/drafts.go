package app

import (
	"fmt"

	"github.com/prloop/prloop/review"
)

// DraftError: the pull request is a draft, and the order does not allow one.
type DraftError struct{ Target review.Target }

func (e *DraftError) Error() string { return fmt.Sprintf("%s is a draft", e.Target) }

// allowsDraft refuses a pull request that is a draft, unless the order allows drafts. Whoever asks by comment, or for a command, knows that it is one.
func (o Order) allowsDraft(pr review.PullRequest) error {
	if pr.Draft && !o.Drafts && o.Asked == nil && o.Command == nil {
		return &DraftError{o.Target}
	}
	return nil
}
