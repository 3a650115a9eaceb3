package prompts

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/prloop/prloop/review"
)

var findSystem = sync.OnceValue(func() string {
	s, err := render("find-system.md", "", nil)
	if err != nil {
		panic("templates are part of the program: " + err.Error())
	}
	return s
})

// FindSystem is the finder's system prompt. It never varies.
func FindSystem() string { return findSystem() }

// Find renders the finder's question, the last part of its prompt after FindSystem and Brief.
func Find(t review.Task, fence string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	if t.Find == nil {
		return "", errors.New("prompt of the finder: the task has nowhere to look")
	}
	return render("find.md", fence, struct {
		review.FindTask
		Extra string
	}{*t.Find, strings.TrimSpace(t.Prompt)})
}

// folder is what a folder is called.
func folder(l review.Listing) string { return cmp.Or(l.Folder, "(the root)") }

// listing writes what is in a folder, a name on each line.
func listing(l review.Listing) string {
	var b strings.Builder
	for _, name := range l.Folders {
		b.WriteString(inline(name) + "/\n")
	}
	for _, name := range l.Files {
		b.WriteString(inline(name) + "\n")
	}
	if l.More > 0 {
		fmt.Fprintf(&b, "(%d more)\n", l.More)
	}
	return b.String()
}

// fragment writes a file with the numbers of its lines, and why it was asked for.
func fragment(f review.Fragment) string {
	text := region(review.Region{Start: 1, End: f.Lines, Text: f.Text})
	if f.Reason == "" {
		return text
	}
	return "-- " + inline(f.Reason) + "\n" + text
}
