package agentrun

import (
	"slices"
	"sync"

	"github.com/prloop/prloop/review"
)

// words are the commits the tasks of a run were about, in the order of their appearance.
type words struct {
	mu   sync.Mutex
	list []string
}

// Words are what differs from run to run in what agents are told, so that a recording of it can be compared with another run:
// the word around untrusted text, then each commit a task was about, in the order of their appearance, for a fix is committed
// at another time in another run.
func (c *Launcher) Words() []string {
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	return append([]string{c.Fence}, c.seen.list...)
}

// learn takes the commits of a task.
func (w *words) learn(task review.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	commits := []string{task.BaseSHA, task.HeadSHA}
	for _, c := range task.Claims {
		commits = append(commits, c.Commit)
	}
	for _, c := range commits {
		if len(c) >= 40 && !slices.Contains(w.list, c) {
			w.list = append(w.list, c)
		}
	}
}
