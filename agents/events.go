package agents

import (
	"fmt"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// maxEvents is how many events of one attempt are read; a child that chatters must neither drown the live view nor cost
// us the time of decoding what nobody will see.
const maxEvents = 10_000

// intake takes a child's event lines.
type intake struct {
	agent  string
	emit   func(review.Event)
	usage  review.Usage
	read   int
	faults []string // the first few malformed events
	bad    int
}

// line takes one; read is false when it was dropped, or a part of it.
func (in *intake) line(line []byte) (read bool) {
	if in.read++; in.read > maxEvents {
		return false
	}
	e, dropped, err := schema.DecodeEvent(line)
	if err == nil && e.Kind == review.EventState {
		err = fmt.Errorf("decode event: event: state is prloop's own to report")
	}
	if err != nil {
		if in.bad++; len(in.faults) < 3 {
			in.faults = append(in.faults, "event dropped: "+err.Error())
		}
		return false
	}
	if e.Usage != nil {
		addUsage(&in.usage, *e.Usage)
	}
	e.Agent, e.Time = in.agent, time.Now().UTC()
	e.Message, e.Level = sanitize.Line(e.Message, 500), sanitize.Line(e.Level, 20)
	in.emit(e)
	return len(dropped) == 0
}

// notes says what was dropped.
func (in *intake) notes() []string {
	notes := slices.Clone(in.faults)
	if more := in.bad - len(in.faults); more > 0 {
		notes = append(notes, fmt.Sprintf("%d further malformed events dropped", more))
	}
	if over := in.read - maxEvents; over > 0 {
		notes = append(notes, fmt.Sprintf("%d events over %d were not read", over, maxEvents))
	}
	return notes
}

// addUsage adds what is known; unknown stays unknown.
func addUsage(sum *review.Usage, u review.Usage) {
	sum.LLMCalls += u.LLMCalls
	sum.ToolCalls += u.ToolCalls
	sum.LLMSeconds += u.LLMSeconds
	addKnown(&sum.InputTokens, u.InputTokens)
	addKnown(&sum.CachedTokens, u.CachedTokens)
	addKnown(&sum.OutputTokens, u.OutputTokens)
	addKnown(&sum.CostUSD, u.CostUSD)
	for _, m := range u.Models {
		if m = sanitize.Line(m, 100); !slices.Contains(sum.Models, m) && len(sum.Models) < 20 {
			sum.Models = append(sum.Models, m)
		}
	}
	slices.Sort(sum.Models)
}

func addKnown[T int | float64](sum **T, n *T) {
	if n == nil {
		return
	}
	total := *n
	if *sum != nil {
		total += **sum
	}
	*sum = &total
}
