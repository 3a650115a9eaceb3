package dashboard

import (
	"sync"
	"time"

	"github.com/prloop/prloop/review"
)

// A Feed hands on what runs of this process do while they do it. Its methods may be called from several goroutines; nil is a feed that
// nobody reads.
type Feed struct {
	mu   sync.Mutex
	runs map[string]*running
}

// running is what a run is at.
type running struct {
	now atWork
	// changed is closed with every change.
	changed chan struct{}
}

// atWork is what a run is at, as the page of the run shows it.
type atWork struct {
	Round, Rounds int
	Agents        []agentNow
	// Check is the verify command that runs; empty for none.
	Check string
}

// agentNow is one agent of the round that goes on.
type agentNow struct {
	Name      string
	State     review.AgentState
	Message   string
	Calls     int
	Tokens    int
	CostUSD   float64
	Unpriced  bool
	Since     time.Time
	Responded time.Time
}

// maxMessage is how much of an agent's line is kept, in bytes.
const maxMessage = 300

// Run gives a function that hears of the events of a run, and one that ends the report when the run is over.
func (f *Feed) Run(run string) (emit func(review.Event), end func()) {
	if f == nil {
		return func(review.Event) {}, func() {}
	}
	r := &running{changed: make(chan struct{})}
	f.mu.Lock()
	if f.runs == nil {
		f.runs = map[string]*running{}
	}
	f.runs[run] = r
	f.mu.Unlock()
	turn := func() {
		close(r.changed)
		r.changed = make(chan struct{})
	}
	emit = func(e review.Event) {
		f.mu.Lock()
		defer f.mu.Unlock()
		r.now.take(e)
		turn()
	}
	end = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.runs[run] == r {
			delete(f.runs, run)
		}
		turn()
	}
	return emit, end
}

// at is what a run is at, and a channel that is closed when that changes; nil when the run is not of this process.
func (f *Feed) at(run string) (*atWork, <-chan struct{}) {
	if f == nil {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[run]
	if r == nil {
		return nil, nil
	}
	now := r.now
	now.Agents = append([]agentNow(nil), now.Agents...)
	return &now, r.changed
}

// take adds an event.
func (p *atWork) take(e review.Event) {
	switch e.Kind {
	case review.EventRound:
		*p = atWork{Round: e.Round, Rounds: e.Rounds}
		return
	case review.EventCheck:
		p.Check = ""
		if e.Check != nil && e.Check.State == "" {
			p.Check = e.Check.Command
		}
		return
	}
	if e.Agent == "" {
		return
	}
	a := p.agent(e.Agent)
	if a.Since.IsZero() {
		a.Since = e.Time
	}
	a.Responded = e.Time
	switch e.Kind {
	case review.EventState:
		a.State = e.State
	case review.EventProgress:
		a.Message = e.Message[:min(len(e.Message), maxMessage)]
	case review.EventUsage:
		if u := e.Usage; u != nil {
			a.Calls += u.LLMCalls
			a.Tokens += value(u.InputTokens) + value(u.OutputTokens)
			a.CostUSD += value(u.CostUSD)
			a.Unpriced = a.Unpriced || u.LLMCalls > 0 && u.CostUSD == nil
		}
	}
}

func (p *atWork) agent(name string) *agentNow {
	for i := range p.Agents {
		if p.Agents[i].Name == name {
			return &p.Agents[i]
		}
	}
	p.Agents = append(p.Agents, agentNow{Name: name, State: review.AgentWaiting})
	return &p.Agents[len(p.Agents)-1]
}

func value[T int | float64 | string](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}
