package cli_test

import (
	"flag"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// soak lets TestModelsThatThink take its times in full: a token every 20 s for 12 minutes. Without it they are a hundredth of that, and
// the settings are lower; the clock is the real one.
var soak = flag.Bool("soak", false, "run TestModelsThatThink in real time: go test ./internal/cli -run TestModelsThatThink -soak -timeout 1h")

// TestModelsThatThink: a model that takes its time completes, however it is heard: by tokens, by thoughts, by comments alone, while
// its agent has nothing to say.
func TestModelsThatThink(t *testing.T) {
	t.Parallel()
	const pieces = 36
	pace, limits := 200, "limits: {max_wall_time_seconds: 50, max_idle_seconds: 3}"
	if *soak {
		pace, limits = 20_000, "wall_time: 40m\nlimits: {max_wall_time_seconds: 1800, max_idle_seconds: 60}"
	}
	text := string(envelope(nil))
	each := (len(text) + pieces - 1) / pieces
	text += strings.Repeat(" ", pieces*each-len(text))
	thoughts := strings.Repeat("h", len(text))
	for what, a := range map[string]fakemodel.Answer{
		"tokens":   {Text: text, PieceRunes: each, PaceMillis: pace},
		"thoughts": {Text: text, Reasoning: thoughts, PieceRunes: each, PaceMillis: pace / 2},
		"comments": {Text: text, PieceRunes: len(text), KeepAlives: pieces, PaceMillis: pace},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := endpoint(t, fakemodel.Script{Default: &a})
			_, env, home := budgetWorld(t, m, "fixer: none\n"+limits, nil)
			began := time.Now()
			r := budgetRun(t, env, home, 3)
			if took := time.Since(began); took < time.Duration(pace*(pieces-1))*time.Millisecond {
				t.Fatalf("the model was done after %s: the test proves nothing", took)
			}
			if r.Receipt.Complete != 2 {
				t.Errorf("%d complete answers, want 2: %+v", r.Receipt.Complete, r.Receipt.Agents)
			}
		})
	}
}

var rowOfModel = regexp.MustCompile(`(?m)^\| (\d+) \| .model. \|`)

// TestModelsThatFallSilent are ended at the setting, and the report names agent, setting and time; what others found is published.
func TestModelsThatFallSilent(t *testing.T) {
	t.Parallel()
	for what, a := range map[string]fakemodel.Answer{
		"from the start": {Hang: true},
		"in the middle":  {JSON: envelope(nil), PieceRunes: 5, Stall: 3},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := endpoint(t, fakemodel.Script{Default: &a})
			p, env, home := budgetWorld(t, m, "fixer: none\nmin_reviewers: 1\nlimits: {max_wall_time_seconds: 50, max_idle_seconds: 2}", nil)
			r := budgetRun(t, env, home, 3)
			var silent review.AgentReceipt
			for _, a := range r.Receipt.Agents {
				if a.Name == "model" {
					silent = a
				}
			}
			const why = "fell silent: no byte for 2s, the most that limits.max_idle_seconds allows"
			if silent.State != review.AgentFailed || !strings.Contains(silent.Reason, why) || !strings.Contains(silent.Detail, why) || silent.Seconds > 20 {
				t.Errorf("%s after %.1f s: %s", silent.State, silent.Seconds, silent.Reason)
			}
			if n := len(m.Requests()); n != 1 {
				t.Errorf("it was asked %d times", n)
			}
			comments := p.Comments()
			body := comments[len(comments)-1].Body
			row := rowOfModel.FindStringSubmatch(body)
			if row == nil || !strings.Contains(body, "No. "+row[1]+" is not complete: the model endpoint") || !strings.Contains(body, why) || !strings.Contains(body, "This line is wrong") {
				t.Errorf("the report does not name agent, setting and time, or not what the other reviewer found:\n%s", body)
			}
		})
	}
}
