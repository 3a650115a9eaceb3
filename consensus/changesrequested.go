package consensus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// changesRequested is rule 0. It asks the list, and hasChangesRequested only so far as it must be true: the flag also
// stands for people who may not block.
func changesRequested(s review.ReviewState) string {
	if !s.HasChangesRequested {
		return ""
	}
	var who []string
	for _, p := range s.ChangesRequestedBy {
		if review.MayBlock(p.Association) {
			who = append(who, fmt.Sprintf("%s (%s)", p.Login, strings.ToLower(strings.TrimSpace(p.Association))))
		}
	}
	if len(who) == 0 {
		return ""
	}
	slices.Sort(who)
	who = slices.Compact(who)
	verb := "have"
	if len(who) == 1 {
		verb = "has"
	}
	return fmt.Sprintf("%s %s requested changes.", list(who), verb)
}
