package acp

import (
	"errors"
	"fmt"
	"sync"

	api "github.com/coder/acp-go-sdk"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// maxNews bounds the events of one question: an agent that floods is not worth watching.
const maxNews = 500

// eventSink turns updates into events, one at a time.
type eventSink struct {
	emit func(review.Event)

	mu   sync.Mutex
	last string
	sent int
}

// phase is what the agent is at; the same twice in a row is told once.
func (n *eventSink) phase(what string) { n.send(what, true) }

func (n *eventSink) say(what string) { n.send(what, false) }

func (n *eventSink) send(what string, once bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if once && n.last == what || n.sent == maxNews {
		return
	}
	n.last = what
	n.sent++
	n.emit(review.Event{Kind: review.EventProgress, Message: sanitize.Line(what, 200)})
}

// at names the step of the conversation and takes the SDK's packaging off the cause.
func at(step string, err error) error {
	var r *api.RequestError
	if errors.As(err, &r) {
		text := r.Message
		if m, ok := r.Data.(map[string]any); ok {
			for _, key := range []string{"error", "details", "message"} {
				if d, ok := m[key].(string); ok {
					text += ": " + d
					break
				}
			}
		}
		return fmt.Errorf("%s: %s (code %d)", step, text, r.Code)
	}
	return fmt.Errorf("%s: %w", step, err)
}
