package progress

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// check is one verify command on the board.
type check struct {
	command string
	started time.Time
	// ended is when the run did while it ran; zero before.
	ended time.Time
	// done is nil while it runs.
	done *review.Check
}

// turn takes an event about the run itself in: rounds, checks and pushes.
func (b *agentTable) turn(e review.Event) {
	switch e.Kind {
	case review.EventRound:
		if e.Round != b.round {
			b.checks, b.pushed = nil, ""
			for _, a := range b.agents {
				if b.round > 0 { // before the first round the caller says who waits
					a.enter(review.AgentWaiting, e.Time)
				}
			}
		}
		b.round, b.rounds, b.head = e.Round, e.Rounds, short(e.Head)
	case review.EventResult:
		if e.Result != nil {
			b.past = append(b.past, course(*e.Result))
		}
	case review.EventCheck:
		if e.Check != nil {
			b.check(*e.Check, e.Time)
		}
	case review.EventPushed:
		b.pushed = short(e.Head)
	}
}

// check begins a command, or ends the one of that name that runs. A command that ran before is run again on another commit.
func (b *agentTable) check(k review.Check, at time.Time) {
	name := line(k.Command)
	for _, c := range b.checks {
		if c.command == name && (c.done == nil || k.State == "") {
			if c.done = nil; k.State == "" {
				c.started = at
				return
			}
			c.done = &k
			return
		}
	}
	c := &check{command: name, started: at}
	if k.State != "" {
		c.done = &k
	}
	b.checks = append(b.checks, c)
}

// draw is one line: mark, command, state, time.
func (k *check) draw(width int, now time.Time, c palette) string {
	mark, state, took := frames[int(now.UnixMilli()/250)%len(frames)], "running", max(now.Sub(k.started), 0)
	if !k.ended.IsZero() {
		mark, took = " ", k.ended.Sub(k.started)
	}
	if k.done != nil {
		mark, state, took = "x", string(k.done.State), seconds(k.done.Seconds)
		if k.done.Good() {
			mark = "+"
		}
	}
	text := cut(fmt.Sprintf("%s $ %s  %s  %s", mark, k.command, state, clock(took)), width)
	switch {
	case k.done == nil:
		return text
	case k.done.Good():
		return c.paint("32", text)
	}
	return c.paint("31", text)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// lead names the round that runs.
func (b *agentTable) lead() string {
	if b.round == 0 {
		return ""
	}
	text := fmt.Sprintf("round %d", b.round)
	if b.rounds > 0 {
		text += fmt.Sprintf(" of %d", b.rounds)
	}
	if b.head != "" {
		text += " at " + b.head
	}
	return text
}

// course is what stands above the agents: the rounds that are over, and the one that runs.
func (b *agentTable) course(width int, c palette) []string {
	var out []string
	for _, p := range b.past {
		out = append(out, c.dim(cut(p, width)))
	}
	if text := b.lead(); text != "" {
		out = append(out, c.bold(cut(text, width)))
	}
	return out
}

// short is a commit as people write it.
func short(sha string) string {
	if sha = line(sha); len(sha) > 10 {
		return sha[:10]
	}
	return sha
}

// verdicts are what a round says by its findings. Whether the run approves also depends on threads and on what was read, and stands at the end.
var verdicts = map[review.Conclusion]string{review.Approve: "nothing to fix", review.RequestChanges: "changes requested", review.NeedsMajorWork: "changes requested"}

// course is a finished round in one line: verdict, what counted, what became of the fix.
func course(r review.RoundResult) string {
	verdict := "no verdict"
	if r.Consensus != nil {
		verdict = cmp.Or(verdicts[review.Conclusion(*r.Consensus)], line(*r.Consensus))
	}
	parts := []string{fmt.Sprintf("round %d  %s", r.Round, verdict)}
	if n := tally(r.Shown()); n != "" {
		parts = append(parts, n)
	}
	if r.Stuck > 0 {
		parts = append(parts, fmt.Sprintf("%d stuck", r.Stuck))
	}
	if f := r.Fix; f != nil {
		parts = append(parts, fixed(*f))
	}
	return strings.Join(parts, ", ")
}

func tally(n review.Counts) string {
	var parts []string
	for i, v := range []int{n.P0, n.P1, n.P2, n.P3} {
		if v > 0 {
			parts = append(parts, fmt.Sprintf("%d P%d", v, i))
		}
	}
	return strings.Join(parts, " ")
}

var ends = map[review.FixState]string{
	review.FixPatch: "handed over as a patch", review.FixRefused: "refused by the push policy", review.FixVerifyFailed: "checks failed",
	review.FixUnchanged: "nothing fixed", review.FixSuperseded: "superseded", review.FixFailed: "no fix",
}

// fixed is what a fix came to.
func fixed(f review.FixOutcome) string {
	text := ""
	if r := f.Result; r != nil {
		text = fmt.Sprintf("%d fixed, ", len(r.FixedIssues))
		if n := len(r.RejectedIssues); n > 0 {
			text += fmt.Sprintf("%d not, ", n)
		}
	}
	if f.State == review.FixPushed {
		return text + "pushed " + short(f.Head)
	}
	if end := ends[f.State]; end != "" {
		return text + end
	}
	return text + line(string(f.State))
}

// plainLine is the plain line of an event about rounds, checks and pushes; empty for others.
func (b *agentTable) plainLine(e review.Event) string {
	switch {
	case e.Agent != "": // an agent has no say in how the run goes
		return ""
	case e.Kind == review.EventRound:
		return b.lead()
	case e.Kind == review.EventResult && e.Result != nil:
		return course(*e.Result)
	case e.Kind == review.EventCheck && e.Check != nil && e.Check.State == "":
		return "$ " + line(e.Check.Command)
	case e.Kind == review.EventCheck && e.Check != nil:
		return fmt.Sprintf("%s after %s: %s", e.Check.State, clock(seconds(e.Check.Seconds)), line(e.Check.Command))
	case e.Kind == review.EventPushed:
		return "pushed " + short(e.Head)
	}
	return ""
}
