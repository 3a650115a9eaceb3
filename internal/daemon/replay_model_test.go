package daemon

import (
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/traffic"
)

// words are what comments of a replay say.
const (
	wordReview = "!prloop review"
	wordStatus = "!prloop status"
	wordThanks = "thanks"
)

// A model is what docs/daemon.md says becomes of a pull request when each delivery is seen to before the next one comes. It shares nothing with
// what it is held against.
type model struct {
	open, draft bool
	head        string
	labels      int
	// verdicts counts what people said that a verdict rests on.
	verdicts int
	// comments are those that ask for something and that nobody has heard yet.
	comments map[string]traffic.Event

	// reviewed is the head of the last review, own whether a look led to it and no comment, stood the verdicts it knew of.
	reviewed string
	own      bool
	stood    int
	// seen is how the pull request was at the last look, and updates how much had happened.
	seen    string
	updates int
	looked  int
	// runs are the heads of all reviews, answers counts them by comments, last is what came of the last look.
	runs    []string
	answers map[string]int
	last    string
	// before is how many runs there were before the reconciliation.
	before int
}

func newModel(p traffic.Pull) *model {
	return &model{open: true, draft: p.Draft, head: p.Head, answers: map[string]int{}, comments: map[string]traffic.Event{}}
}

func (m *model) state() string {
	return fmt.Sprint(m.open, m.draft, m.head, m.labels)
}

// happens is something that happens on GitHub, whether anybody is told or not.
func (m *model) happens(e traffic.Event) {
	m.updates++
	switch e.Kind {
	case traffic.Push:
		m.head = e.Commit
	case traffic.Close, traffic.Reopen:
		m.open = e.Kind == traffic.Reopen
	case traffic.Draft, traffic.Ready:
		m.draft = e.Kind == traffic.Draft
	case traffic.Label:
		m.labels++
	case traffic.Unlabel:
		m.labels = max(m.labels-1, 0)
	case traffic.Dismiss:
		m.verdicts++
	case traffic.Review:
		if e.Changes() {
			m.verdicts++
		}
	case traffic.Comment:
		if !e.Bot && wordOf(e) != wordThanks {
			m.comments[e.ID] = e
		}
	}
}

// told is an event that is delivered, of a time when the pull request was open, and a draft, or not.
func (m *model) told(e traffic.Event, open, draft bool) {
	switch e.Kind {
	case opened, traffic.Push, traffic.Reopen, traffic.Ready:
		if open && !draft {
			m.look()
		}
	case traffic.Close, traffic.Draft, traffic.Label, traffic.Unlabel, traffic.Dismiss:
		m.look()
	case traffic.Review:
		if e.Changes() {
			m.look()
		}
	case traffic.Comment:
		m.hear(e.ID)
	}
}

// look decides about the pull request as it is now.
func (m *model) look() {
	before := m.seen
	m.seen, m.looked = m.state(), m.updates
	switch {
	case !m.open:
		m.last = "closed"
	case m.draft && (m.reviewed != m.head || m.stood == m.verdicts): // a reviewed one that people contest is reviewed again
		m.last = "draft"
	case m.reviewed == m.head && m.stood == m.verdicts:
		if m.last != "run" || !m.own || before != m.seen { // else it stays what was said
			m.last = "reviewed"
		}
	default:
		m.last = "run"
		m.review(true)
	}
}

func (m *model) review(own bool) {
	m.runs = append(m.runs, m.head)
	m.reviewed, m.own, m.stood = m.head, own, m.verdicts
}

// hear answers a comment, once, while the pull request is open.
func (m *model) hear(id string) {
	e, asks := m.comments[id]
	delete(m.comments, id)
	if !asks || !m.open || !mayWrite(e.By) {
		return
	}
	m.answers[id]++
	if wordOf(e) == wordReview {
		m.review(false)
	}
}

// reconciled is GitHub asked for what nobody was told: open pull requests of which anything changed, and comments.
func (m *model) reconciled() {
	m.before = len(m.runs)
	if m.open && (m.seen != m.state() || m.looked != m.updates) || !m.open && strings.HasPrefix(m.seen, "true ") {
		m.look()
	}
	for id := range m.comments {
		m.hear(id)
	}
}

// says reports whether what is recorded of the last look is what the model says came of it.
func (m *model) says(w store.Wanted) bool {
	switch m.last {
	case "run":
		return w.Outcome == "converged"
	case "closed":
		return w.Outcome == nothing && (w.Why == "the pull request is closed" || w.Why == "the pull request is merged")
	case "draft":
		return w.Outcome == nothing && strings.HasPrefix(w.Why, "the pull request is a draft")
	}
	return w.Outcome == nothing && strings.Contains(w.Why, "was reviewed: run ")
}
