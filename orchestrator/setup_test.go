package orchestrator

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// The setup runs before the fixer is asked, and once in a round. When it fails the commands run all the same; one that fails then ends the
// fixing, since no fixer can mend a setup, and the report says what the setup ended with (decision 46).
func TestSetup(t *testing.T) {
	failed := review.Check{Command: "npm ci", State: review.CheckFailed, ExitCode: 1, Log: "much\nprloop: refused: \"evil.example:443\": it is none of verify_registries\n"}
	passed := review.Check{Command: "npm ci", State: review.CheckPassed, Seconds: 12}
	lint := []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2}}
	for _, c := range []struct {
		what         string
		setUp, fails []review.Check
		tries        int
		says         string
	}{
		{"it fails, and so does what needs it", []review.Check{failed}, lint, 1, "The verify commands ran without their setup, which failed: `npm ci` (exit status 1)"},
		{"it fails, and nothing needs it", []review.Check{failed}, nil, 1, "evil.example:443"},
		{"it passes, and the fixer is asked again", []review.Check{passed}, lint, 2, "`npm ci` set up the verify commands in 12 s."},
	} {
		s := newStage()
		s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
		s.setUp, s.fails[sha(2)] = c.setUp, c.fails
		s.fixes, s.diffs["1..2"], s.diffs["1..3"] = []review.FixWork{fixes(sha(2), "A"), fixes(sha(3), "A")}, edited(10), edited(10)
		steps := newSteps()
		got := s.run(t, steps, func(r *Request) { r.Fix.Setup, r.Fix.SetupAt = []string{"npm ci"}, sha(9) })
		if fix := got.Rounds[0].Fix; fix.Tries != c.tries || len(fix.Setup) != 1 {
			t.Errorf("%s: %+v", c.what, fix)
		}
		if told := s.orders[0].Setup; (told != nil) != (c.setUp[0].State != review.CheckPassed) || told != nil && told.Log != c.setUp[0].Log {
			t.Errorf("%s: the fixer is told of %+v", c.what, told)
		}
		if text := s.kept["round-1/fix.md"]; !strings.Contains(text, c.says) {
			t.Errorf("%s: the report says\n%s", c.what, text)
		}
		if s.run(t, steps, func(r *Request) { r.Fix.Setup, r.Fix.SetupAt = []string{"npm ci"}, sha(9) }); s.setUps != 1 {
			t.Errorf("%s: it was set up %d times", c.what, s.setUps)
		}
	}
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
	s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
	s.run(t, newSteps(), func(r *Request) { r.Fix.SetupOff = "`verify_setup` was not run: there is no sandbox." })
	if text := s.kept["round-1/fix.md"]; s.setUps != 0 || !strings.Contains(text, "there is no sandbox") {
		t.Errorf("%d setups; the report says\n%s", s.setUps, text)
	}
}
