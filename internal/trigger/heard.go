package trigger

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// Comment is a comment as it reached us.
type Comment struct {
	// Action is what happened to it, in GitHub's words: created, edited, deleted.
	Action string
	// PullRequest is false for a comment on an issue.
	PullRequest bool
	Author      review.Person
	Body        string
	// Changed is true when the comment is no longer what it was when it was created: all it can ask for then is a stop, which begins nothing (threats.md T737). Marked is
	// true when it bears the marker of prloop's own comments, whoever wrote it.
	Changed, Marked bool
	// Mailed is true of an answer to a mail: it asks for nothing below its first paragraph, where programs quote what others said, some without a mark.
	Mailed bool
}

// gap is what stands between two paragraphs of a mail, head what announces a quote.
var (
	gap  = lazyregexp.New(`\n[\s\p{Z}\p{Cf}]*\n`)
	head = lazyregexp.New(`(?m)[:：][\s\p{Z}]*$|[-_=*~]{3}|^ {0,3}#|^[^\pL\pN]*$`)
)

// answer is the first paragraph of a mail, if no quote begins there: a long name may fill lines of what announces it (threats.md T759).
func answer(mail string) string {
	first := strings.TrimLeft(strings.ReplaceAll(mail, "\r\n", "\n"), "\n")
	if at := gap.FindStringIndex(first); at != nil {
		first = first[:at[0]]
	}
	if head.MatchString(first) {
		return ""
	}
	return first
}

// Heard reads a comment, if prloop listens to it, and says why not if it does not. Whether its author may ask, and which commands
// there are, is still to be found out.
func Heard(c Comment, bot string) (asks []Ask, why string) {
	switch {
	case c.Action != "created":
		return nil, "only new comments are read, and this one was " + c.Action
	case !c.PullRequest:
		return nil, "the comment is on an issue, not on a pull request"
	case c.Author.Bot:
		return nil, "the comment is a bot's"
	case c.Marked:
		return nil, "the comment bears the marker of prloop's own"
	}
	body, nothing := c.Body, "the comment asks for nothing"
	if c.Mailed {
		body, nothing = answer(body), "the comment came by mail, and its first paragraph asks for nothing"
	}
	if asks = Parse(body, bot); len(asks) == 0 {
		return nil, nothing
	}
	if c.Changed { // whoever edits it must not put a request into its author's mouth
		if asks = slices.DeleteFunc(asks, func(a Ask) bool { return a.Word != Stop }); len(asks) == 0 {
			return nil, "the comment was edited since"
		}
	}
	return asks, ""
}
