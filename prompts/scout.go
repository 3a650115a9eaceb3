package prompts

import (
	"sync"

	"github.com/prloop/prloop/review"
)

var scanSystem = sync.OnceValue(func() string {
	s, err := render("scout-system.md", "", nil)
	if err != nil {
		panic("templates are part of the program: " + err.Error())
	}
	return s
})

// ScanSystem is the scout's system prompt. It never varies.
func ScanSystem() string { return scanSystem() }

// Scan renders the scout's question, the last part of its prompt after ScanSystem and Brief.
func Scan(t review.Task, fence string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	return render("scout.md", fence, struct{ Extra string }{t.Prompt})
}
