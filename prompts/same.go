package prompts

import (
	"cmp"
	"fmt"
)

// Compared is a question whether two texts mean the same fault.
type Compared struct {
	ID            string
	First, Second ComparedText
}

// ComparedText is what one side says, and where; File is empty and Line 0 where nobody said.
type ComparedText struct {
	File  string
	Line  int
	Words string
}

// Same renders the questions of a judge of expected findings (eval.md "A judge").
func Same(questions []Compared, fence string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	return render("same.md", fence, struct{ Questions []Compared }{questions})
}

// comparedPlace says where a text points to.
func comparedPlace(t ComparedText) string {
	if t.Line == 0 {
		return cmp.Or(inline(t.File), "no place")
	}
	return fmt.Sprintf("%s:%d", inline(t.File), t.Line)
}
