package review

import (
	"fmt"
	"time"
)

// Asked is a line of a comment that asked for something.
type Asked struct {
	// Comment is the number of the comment, Line which of its answered lines it is, from 1.
	Comment int64 `json:"comment"`
	Line    int   `json:"line"`
	// URL is where the comment is, By the login of its author.
	URL string `json:"url"`
	By  string `json:"by"`
	// Since is a moment by GitHub's clock before which nothing can have answered it.
	Since time.Time `json:"since,omitzero"`
}

// Key names the line on its pull request for ever.
func (a Asked) Key() string { return fmt.Sprintf("%d.%d", a.Comment, a.Line) }

// Says names the comment for people, with a link.
func (a Asked) Says() string {
	return fmt.Sprintf("Asked for by %s in [this comment](%s).", a.By, a.URL)
}
