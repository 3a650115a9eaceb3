package prompts

import (
	"sync"

	"github.com/prloop/prloop/review"
)

var commentsSystem = sync.OnceValue(func() string {
	s, err := render("comments-system.md", "", nil)
	if err != nil {
		panic("templates are part of the program: " + err.Error())
	}
	return s
})

// CommentsSystem is the comments analyzer's system prompt.
func CommentsSystem() string { return commentsSystem() }

// Comments renders the analyzer's request from what the rules found (spec.md A3).
func Comments(found review.CommentsResult, fence string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	return render("comments.md", fence, struct {
		Result review.CommentsResult
		Fence  string
	}{found, fence})
}
