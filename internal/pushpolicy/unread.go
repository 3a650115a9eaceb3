package pushpolicy

import (
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// RuleUnread is the rule against fixes of what no review reads: a fixer fixes sources.
const RuleUnread = "unread-file"

// Unread refuses files that a fix changes and that nobody would be shown in the next review: those that it leaves out without asking for them, such as vendored,
// minified and generated ones, and those that the fix itself makes unreadable. They are spelled; allow are doublestar globs the operator opens.
func Unread(files []review.LeftOut, allow []string) []review.Refusal {
	var refused []review.Refusal
	for _, f := range files {
		if name := spelling.Raw(f.Path); !matches(allow, name) {
			refused = append(refused, refuse(RuleUnread, name, "no review reads what is written there: "+f.Reason))
		}
	}
	return refused
}
