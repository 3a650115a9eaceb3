package progress

import (
	"fmt"

	"github.com/prloop/prloop/review"
)

const plainColumns = 400 // one event is one line, and not an endless one

// plain is the line of an event without a terminal; empty for events that only count: usage is told when the agent ends.
func (b *agentTable) plain(e review.Event) string {
	who := "prloop"
	if e.Agent != "" {
		who = line(e.Agent)
	}
	text := line(e.Message)
	if told := b.plainLine(e); told != "" {
		if text != "" {
			told += ": " + text
		}
		return b.stamped(e, who, told)
	}
	switch {
	case e.Kind == review.EventUsage, e.Level == "debug":
		return ""
	case e.Kind == review.EventState && e.Agent != "":
		state := string(e.State)
		if a := b.agent(e.Agent); !a.ended.IsZero() {
			if !a.started.IsZero() { // an answer that was stored took no time
				state += " after " + clock(a.elapsed(a.ended))
			}
			if a.tokens != nil {
				state += ", " + tokens(a.tokens)
			}
			if a.cost != nil {
				state += ", " + money(a.cost)
			}
		}
		if text != "" {
			state += ": " + text
		}
		text = state
	case text == "":
		return ""
	case e.Level == "warn" || e.Level == "error":
		text = e.Level + ": " + text
	}
	return b.stamped(e, who, text)
}

func (b *agentTable) stamped(e review.Event, who, text string) string {
	return cut(fmt.Sprintf("[%7.1fs] %s: %s", e.Time.Sub(b.start).Seconds(), who, text), plainColumns)
}
