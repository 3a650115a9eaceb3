package progress

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// agentTable is where the agents of a run stand. It is a plain value: events in, lines out.
type agentTable struct {
	start time.Time
	// news is the newest event of the run itself.
	news   string
	agents []*agent

	round, rounds int
	// head is the commit of the round, shortened.
	head   string
	past   []string // finished rounds, one line each
	checks []*check
	pushed string
}

// agent is one line of the board.
type agent struct {
	name    string
	state   review.AgentState
	started time.Time
	// ended is zero while it runs.
	ended time.Time
	// tokens and cost are those of this round, as the time is; nil until somebody told them: unknown is never zero.
	tokens *int
	cost   *float64
	last   string
}

// apply takes one event in. now stands in for events without a time.
func (b *agentTable) apply(e review.Event, now time.Time) {
	if e.Time.IsZero() {
		e.Time = now
	}
	if b.start.IsZero() {
		b.start = e.Time
	}
	if e.Agent == "" {
		if e.Message != "" {
			b.news = line(e.Message)
		}
		b.turn(e)
		return
	}
	a := b.agent(e.Agent)
	if e.Kind == review.EventState && e.State != "" {
		a.enter(e.State, e.Time)
	}
	if a.state == review.AgentWaiting && e.Kind != review.EventState {
		a.enter(review.AgentRunning, e.Time)
	}
	if e.Usage != nil {
		a.spend(*e.Usage)
	}
	if e.Message != "" && e.Level != "debug" {
		a.last = line(e.Message)
	}
}

// end stops the clocks: nothing runs any more, whatever the last events said.
func (b *agentTable) end(now time.Time) {
	for _, a := range b.agents {
		if a.running() && a.ended.IsZero() {
			a.ended = now
		}
	}
	for _, k := range b.checks {
		if k.done == nil {
			k.ended = now
		}
	}
}

func (b *agentTable) agent(name string) *agent {
	for _, a := range b.agents {
		if a.name == name {
			return a
		}
	}
	a := &agent{name: name, state: review.AgentWaiting}
	b.agents = append(b.agents, a)
	return a
}

func (a *agent) enter(s review.AgentState, at time.Time) {
	a.state = s
	switch s {
	case review.AgentWaiting:
		*a = agent{name: a.name, state: s} // a new round, whose line tells of its own; the summary has the sum
	case review.AgentRunning:
		if a.started.IsZero() {
			a.started = at
		}
		a.ended = time.Time{}
	default:
		a.ended, a.last = at, "" // what it did last is over; the event may say what it came to
	}
}

func (a *agent) spend(u review.Usage) {
	for _, n := range []*int{u.InputTokens, u.OutputTokens} {
		if n != nil {
			a.tokens = sum(a.tokens, *n)
		}
	}
	if u.CostUSD != nil {
		a.cost = sum(a.cost, *u.CostUSD)
	}
}

func sum[T int | float64](p *T, n T) *T {
	if p != nil {
		n += *p
	}
	return &n
}

// elapsed is how long the agent has run, or ran.
func (a *agent) elapsed(now time.Time) time.Duration {
	switch {
	case a.started.IsZero():
		return 0
	case !a.ended.IsZero():
		return a.ended.Sub(a.started)
	}
	return max(now.Sub(a.started), 0)
}

func (a *agent) running() bool { return a.state == review.AgentRunning }

const (
	narrowest = 40 // columns; below it lines are cut, not arranged
	widest    = 160
)

var frames = []string{"-", "\\", "|", "/"}

// lines draws the board in at most height lines of at most width columns.
func (b *agentTable) lines(width, height int, now time.Time, c palette) []string {
	width = min(max(width, narrowest), widest)
	name := len("agent")
	for _, a := range b.agents {
		name = max(name, min(runewidth.StringWidth(line(a.name)), 24))
	}
	out := b.course(width, c)
	for _, a := range b.agents {
		out = append(out, a.draw(width, name, now, c))
	}
	for _, k := range b.checks {
		out = append(out, k.draw(width, now, c))
	}
	if b.pushed != "" {
		out = append(out, c.paint("32", cut("+ pushed "+b.pushed, width)))
	}
	if len(out) >= height && height > 1 {
		hidden := len(out) - height + 2
		out = append(out[:len(out)-hidden], c.dim(fmt.Sprintf("  and %d more", hidden)))
	}
	if b.news != "" && len(out) < height {
		out = append(out, c.dim(cut("  "+b.news, width)))
	}
	return out
}

// draw is one line: mark, name, state, elapsed, tokens, cost, last event.
func (a *agent) draw(width, nameWidth int, now time.Time, c palette) string {
	mark := map[review.AgentState]string{
		review.AgentWaiting: " ", review.AgentRunning: " ", review.AgentComplete: "+", review.AgentDegraded: "!", review.AgentFailed: "x",
	}[a.state]
	if a.running() && a.ended.IsZero() {
		mark = frames[int(now.UnixMilli()/250)%len(frames)]
	}
	fixed := fmt.Sprintf("%s %s  %s  %6s  %8s  %7s  ", mark, fill(line(a.name), nameWidth), fill(string(a.state), 8),
		clock(a.elapsed(now)), tokens(a.tokens), money(a.cost))
	rest := cut(a.last, width-runewidth.StringWidth(fixed))
	return strings.TrimRight(c.state(a.state, cut(fixed, width))+rest, " ")
}

// line makes any text one safe line.
func line(s string) string { return strings.Join(strings.Fields(sanitize.Terminal(s)), " ") }

func fill(s string, width int) string { return runewidth.FillRight(cut(s, width), width) }

func cut(s string, width int) string {
	if width < 1 {
		return ""
	}
	return runewidth.Truncate(s, width, "…")
}

func clock(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

func tokens(n *int) string {
	switch {
	case n == nil:
		return "-"
	case *n < 1000:
		return strconv.Itoa(*n) + " tok"
	case *n < 10_000:
		return fmt.Sprintf("%.1fk tok", float64(*n/100)/10) // cut off, as below
	case *n < 10_000_000:
		return strconv.Itoa(*n/1000) + "k tok"
	}
	return strconv.Itoa(*n/1_000_000) + "M tok"
}

func money(usd *float64) string {
	switch {
	case usd == nil:
		return "-"
	case *usd < 0.1:
		return fmt.Sprintf("$%.4f", *usd)
	}
	return fmt.Sprintf("$%.2f", *usd)
}
