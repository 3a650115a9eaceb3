package pushpolicy

import (
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// RuleUnread is the rule against fixes of what no review reads: a fixer fixes sources.
const RuleUnread = "unread-file"

// Unread refuses files that a fix changes and that the next review leaves out without asking for them, such as vendored, minified
// and generated ones: nobody would see what was written there. They are spelled; allow are doublestar globs the operator opens.
func Unread(files []review.LeftOut, allow []string) []review.Refusal {
	var refused []review.Refusal
	for _, f := range files {
		if name := spelling.Raw(f.Path); f.Excused && !matches(allow, name) {
			refused = append(refused, refuse(RuleUnread, name, "no review reads what is written there: "+f.Reason))
		}
	}
	return refused
}
