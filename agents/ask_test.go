package agents

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakeagent/modes"
	"github.com/prloop/prloop/review"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	short := func(s Spec, d time.Duration) Spec { s.Timeout = d; return s }
	type want struct {
		state    review.AgentState
		attempts int
		findings int
		reason   string // a part
		note     string // a part of one note
		atMost   time.Duration
	}
	ok := want{state: review.AgentComplete, attempts: 1, findings: 1}
	for name, row := range map[string]struct {
		spec Spec
		want want
	}{
		"a valid answer is complete":                                        {fake(t, "ok"), ok},
		"no finding is an answer too":                                       {fake(t, "ok-empty"), want{state: review.AgentComplete, attempts: 1}},
		"a five-line script is a reviewer":                                  {script(t, fiveLines), want{state: review.AgentComplete, attempts: 1, note: `agent: claimed "sh", is "sh-1"`}},
		"an envelope in a fence":                                            {fake(t, "json-fenced"), ok},
		"an envelope between BEGIN_JSON and END_JSON":                       {fake(t, "json-marked"), ok},
		"unknown fields are dropped and noted":                              {fake(t, "unknown-fields"), want{state: review.AgentComplete, attempts: 1, findings: 1, note: "mood"}},
		"claimed counts are recomputed, a P0 not listed leaves a place":     {fake(t, "counts-lie"), want{state: review.AgentComplete, attempts: 1, findings: 2, note: "claimed 9/0/1/0"}},
		"a name and number that are not its own (threats.md T87)":           {fake(t, "wrong-agent"), want{state: review.AgentComplete, attempts: 1, findings: 1, note: "prNumber: claimed 4711, is 7"}},
		"a thread that does not exist (threats.md T87)":                     {fake(t, "unknown-ids"), want{state: review.AgentComplete, attempts: 1, findings: 2, note: "1 findings named a thread"}},
		"one id used twice stays two findings (threats.md T87)":             {fake(t, "id-collide"), want{state: review.AgentComplete, attempts: 1, findings: 2, note: "used twice"}},
		"malformed events are dropped and noted":                            {fake(t, "bad-events"), want{state: review.AgentComplete, attempts: 1, findings: 1, note: "event dropped"}},
		"a finished answer is taken from a holder (threats.md T83)":         {fake(t, "hold-stdout"), want{state: review.AgentComplete, attempts: 1, findings: 1, note: "left 1 processes behind", atMost: 8 * time.Second}},
		"a daemon is ended and noted (threats.md T82)":                      {fake(t, "daemon"), want{state: review.AgentComplete, attempts: 1, findings: 1, note: "left 1 processes behind"}},
		"an invalid answer is repaired once":                                {fake(t, "repair-once"), want{state: review.AgentComplete, attempts: 2, findings: 1, note: "first answer refused: the envelope is cut off"}},
		"still broken: valid findings are kept, the other leaves its place": {fake(t, "salvage"), want{state: review.AgentDegraded, attempts: 2, findings: 2, reason: "invalid answer: decode reviewer-result: findings/1/priority"}},
		"a path out of the repository: the others are kept":                 {fake(t, "path-traverse"), want{state: review.AgentDegraded, attempts: 2, findings: 1, reason: "findings/0/file: must be a path inside"}},
		"line 1,000,000,000: the others are kept (threats.md T87)":          {fake(t, "line-huge"), want{state: review.AgentDegraded, attempts: 2, findings: 1, reason: "findings/0/line"}},
		"two envelopes: never the last one (threats.md T85)":                {fake(t, "json-two", "-findings", scripted(t, `[]`)), want{state: review.AgentFailed, attempts: 2, reason: "2 JSON envelopes"}},
		"nothing to keep: failed":                                           {fake(t, "exit-0-empty"), want{state: review.AgentFailed, attempts: 2, reason: "invalid answer: no output: an envelope is missing; exit status 0 after "}},
		"exit status, time and stderr are told":                             {fake(t, "exit-1"), want{state: review.AgentFailed, attempts: 1, reason: "; stderr: fakeagent: out of luck"}},
		"a whole answer before status 1 is degraded":                        {fake(t, "exit-1-answer"), want{state: review.AgentDegraded, attempts: 1, findings: 1, reason: "valid answer, but the agent process failed: "}},
		"an answer, then a hang without output":                             {fake(t, "close-stdout-run-on"), want{state: review.AgentDegraded, attempts: 1, findings: 1, reason: "ran on after it closed its output", atMost: 9 * time.Second}},
		"a hang costs its time (threats.md T80)":                            {short(fake(t, "hang-silent"), 1500*time.Millisecond), want{state: review.AgentFailed, attempts: 1, reason: "out of time", atMost: 6 * time.Second}},
		"TERM ignored (threats.md T81)":                                     {short(fake(t, "ignore-term"), 1500*time.Millisecond), want{state: review.AgentFailed, attempts: 1, reason: "out of time", atMost: 6 * time.Second}},
		"a flood is cut (threats.md T84)":                                   {fake(t, "flood-both"), want{state: review.AgentFailed, attempts: 1, reason: "wrote"}},
		"a flood of events is cut (threats.md T84)":                         {fake(t, "flood-events"), want{state: review.AgentFailed, attempts: 1, reason: "wrote too much", note: "were not read"}},
		"a program that is not there":                                       {Spec{Name: "x", Role: review.RoleReviewer, Path: "prloop-no-such-agent"}, want{state: review.AgentFailed, attempts: 1, reason: "program not found"}},
		"it kills its parent":                                               {fake(t, "kill-parent"), want{state: review.AgentFailed, attempts: 1, reason: "its supervisor was killed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := Ask(t.Context(), row.spec, task(), nil)
			r, w := a.Receipt, row.want
			if r.State != w.state || r.Attempts != w.attempts || r.Findings != w.findings || !strings.Contains(r.Reason, w.reason) {
				t.Errorf("%s, %d attempts, %d findings, reason %q; notes %q", r.State, r.Attempts, r.Findings, r.Reason, r.Notes)
			}
			if (r.State == review.AgentComplete) != (r.Reason == "") {
				t.Errorf("%s with reason %q", r.State, r.Reason)
			}
			if !strings.Contains(strings.Join(r.Notes, "\n"), w.note) {
				t.Errorf("no note %q in %q", w.note, r.Notes)
			}
			if took := time.Duration(r.Seconds * float64(time.Second)); took <= 0 || w.atMost > 0 && took > w.atMost {
				t.Errorf("took %s", took)
			}
			checkAnswer(t, a, row.spec.Name)
		})
	}
}

// checkAnswer holds what is true of every answer: prloop names the finder, nothing but a complete answer approves, and the
// whole survives being stored as JSON.
func checkAnswer(t *testing.T, a review.Answer, name string) {
	t.Helper()
	if r := a.Reviewer; r != nil {
		if r.Agent != name || r.PRNumber != 7 || r.Issues != review.Count(r.Findings) {
			t.Errorf("%+v", r)
		}
		for _, f := range r.Findings {
			if f.Source.Name != name || f.Source.Type != "agent" || f.Source.ReviewID != nil {
				t.Errorf("source %+v", f.Source)
			}
		}
		if a.Receipt.State == review.AgentDegraded && r.Conclusion == review.Approve {
			t.Error("a degraded answer approves")
		}
	} else if a.Receipt.State != review.AgentFailed {
		t.Errorf("%s without an answer", a.Receipt.State)
	}
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back review.Answer
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(a.Receipt, back.Receipt) {
		t.Errorf("the answer does not survive JSON: %v", err)
	}
}

func scripted(t *testing.T, findings string) string {
	t.Helper()
	file := t.TempDir() + "/findings.json"
	if err := os.WriteFile(file, []byte(findings), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEventsReachTheCaller(t *testing.T) {
	t.Parallel()
	var got []review.Event
	a := Ask(t.Context(), fake(t, "ok-events"), task(), func(e review.Event) { got = append(got, e) })
	if len(got) != 3 || got[0].Kind != review.EventProgress || got[0].Message != "reading the diff" || got[2].Level != "info" {
		t.Fatalf("%+v", got)
	}
	for _, e := range got {
		if e.Agent != "rev-1" || e.Time.IsZero() {
			t.Errorf("agent and time are prloop's to set: %+v", e)
		}
	}
	u := a.Receipt.Usage
	if u.LLMCalls != 1 || u.InputTokens == nil || *u.InputTokens != 1200 || u.CostUSD != nil || len(u.Models) != 1 {
		t.Errorf("usage %+v: what is known is summed, what is unknown stays so", u)
	}
}

// whole is all of an answer.
func whole(t *testing.T, a review.Answer) string {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestChildGetsWhatIsWrittenOut(t *testing.T) {
	t.Setenv("GH_TOKEN", "canary-one")
	spec := fake(t, "env-dump")
	spec.Env = []string{"ONLY=this"}
	a := Ask(t.Context(), spec, task(), nil)
	if a.Reviewer == nil || strings.Contains(whole(t, a), "canary-one") || !strings.Contains(a.Reviewer.Findings[0].Description, "ONLY=this") {
		t.Errorf("%+v", a)
	}
}

func TestCommentsAnalyzerNamesRealPeople(t *testing.T) {
	t.Parallel()
	spec := fake(t, "ok", "-findings", scripted(t, `[
		{"id":"C-1","priority":"P1","category":"discussion","file":"rows.go","title":"t","description":"d","source":{"type":"comment","name":"linus","reviewId":"T_1"}},
		{"id":"C-2","priority":"P1","category":"discussion","file":"rows.go","title":"t","description":"d","source":{"type":"comment","name":"linus","reviewId":"T_9"}}]`))
	spec.Role = review.RoleCommentsAnalyzer
	in := sampleTask(spec)
	in.Discussion.Truncated = true
	a := Ask(t.Context(), spec, in, nil)
	if a.Comments == nil || len(a.Comments.PendingIssues) != 2 {
		t.Fatalf("%+v", a)
	}
	if s := a.Comments.PendingIssues[0].Source; s.Name != "octocat" || s.Type != "comment" || *s.ReviewID != "T_1" {
		t.Errorf("words are given to who wrote them: %+v", s)
	}
	if s := a.Comments.PendingIssues[1].Source; s.Name != spec.Name || s.ReviewID != nil {
		t.Errorf("a thread that is not there names nobody: %+v", s)
	}
	if !a.Comments.ThreadsTruncated {
		t.Error("threadsTruncated is a fact, not the analyzer's opinion (spec.md A3)")
	}
}

func TestFixerMustNameEveryFinding(t *testing.T) {
	t.Parallel()
	spec := fake(t, "fix-forgets")
	spec.Role = review.RoleFixer
	a := Ask(t.Context(), spec, sampleTask(spec), nil)
	if a.Receipt.State != review.AgentDegraded || a.Receipt.Attempts != 2 || a.Fix == nil || len(a.Fix.RejectedIssues) != 1 ||
		a.Fix.RejectedIssues[0].FindingID != "BUG-001" || a.Fix.Summary.Rejected != 1 {
		t.Errorf("the invariant of spec.md A5: refused, repaired once, then not fixed (decision 5): %+v %+v", a.Receipt, a.Fix)
	}
	spec = fake(t, "ok")
	spec.Role = review.RoleFixer
	if a := Ask(t.Context(), spec, sampleTask(spec), nil); a.Receipt.State != review.AgentComplete {
		t.Errorf("%+v", a.Receipt)
	}
}

func TestCancelEndsTheQuestion(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	a := Ask(ctx, fake(t, "ignore-term"), task(), func(review.Event) { cancel() })
	if a.Receipt.State != review.AgentFailed || a.Receipt.Attempts != 1 || !strings.Contains(a.Receipt.Reason, "canceled") {
		t.Errorf("%+v", a.Receipt)
	}
}

func TestSecretsOnStandardErrorAreTakenOut(t *testing.T) {
	t.Parallel()
	spec := script(t, "cat >/dev/null\nprintf '{\"event\":\"log\",\"message\":\"using "+modes.Secret()+"\"}\\n'\necho 'using "+modes.Secret()+"' >&2\nexit 4\n")
	var events string
	a := Ask(t.Context(), spec, task(), func(e review.Event) { events += e.Message })
	if all := events + a.Receipt.Reason + a.Log; strings.Contains(all, modes.Secret()) || strings.Count(all, "using") != 3 {
		t.Errorf("event %q, reason %q, log %q", events, a.Receipt.Reason, a.Log)
	}
}

func TestTextOfAChildIsMadeVisible(t *testing.T) {
	t.Parallel()
	spec := script(t, "cat >/dev/null\nprintf '{\"event\":\"progress\",\"message\":\"a\\\\u001b[2Jb\\\\u202ec\"}\\n'\nprintf '\\033[31mred\\033[0m\\n' >&2\nexit 4\n")
	var got []string
	a := Ask(t.Context(), spec, task(), func(e review.Event) { got = append(got, e.Message) })
	if len(got) != 1 || got[0] != "a⟨U+001B⟩[2Jb⟨U+202E⟩c" {
		t.Errorf("event %q", got)
	}
	if strings.ContainsRune(a.Receipt.Reason+a.Log, 0x1b) || !strings.Contains(a.Receipt.Reason, "exit status 4 after ") {
		t.Errorf("reason %q, log %q", a.Receipt.Reason, a.Log)
	}
}
