package trigger

import (
	"slices"

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
	if asks = Parse(c.Body, bot); len(asks) == 0 {
		return nil, "the comment asks for nothing"
	}
	if c.Changed { // whoever edits it must not put a request into its author's mouth
		if asks = slices.DeleteFunc(asks, func(a Ask) bool { return a.Word != Stop }); len(asks) == 0 {
			return nil, "the comment was edited since"
		}
	}
	return asks, ""
}
