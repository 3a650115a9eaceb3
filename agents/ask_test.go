package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/answer/answertest"
	"github.com/prloop/prloop/internal/testkit/fakeagent/modes"
	"github.com/prloop/prloop/review"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	short := func(s Spec, d time.Duration) Spec { s.Timeout = d; return s }
	type want = answertest.Want
	ok := want{State: review.AgentComplete, Attempts: 1, Findings: 1}
	for name, row := range map[string]struct {
		spec Spec
		want want
	}{
		"a valid answer is complete":                                        {fake(t, "ok"), ok},
		"no finding is an answer too":                                       {fake(t, "ok-empty"), want{State: review.AgentComplete, Attempts: 1}},
		"a five-line script is a reviewer":                                  {script(t, fiveLines), want{State: review.AgentComplete, Attempts: 1, Note: `agent: claimed "sh", is "sh-1"`}},
		"an envelope in a fence":                                            {fake(t, "json-fenced"), ok},
		"an envelope between BEGIN_JSON and END_JSON":                       {fake(t, "json-marked"), ok},
		"unknown fields are dropped and noted":                              {fake(t, "unknown-fields"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "mood"}},
		"claimed counts are recomputed, a P0 not listed leaves a place":     {fake(t, "counts-lie"), want{State: review.AgentComplete, Attempts: 1, Findings: 2, Note: "claimed 9/0/1/0"}},
		"a name and number that are not its own (threats.md T87)":           {fake(t, "wrong-agent"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "prNumber: claimed 4711, is 7"}},
		"a thread that does not exist (threats.md T87)":                     {fake(t, "unknown-ids"), want{State: review.AgentComplete, Attempts: 1, Findings: 2, Note: "1 findings named a thread"}},
		"one id used twice stays two findings (threats.md T87)":             {fake(t, "id-collide"), want{State: review.AgentComplete, Attempts: 1, Findings: 2, Note: "used twice"}},
		"malformed events are dropped and noted":                            {fake(t, "bad-events"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "event dropped"}},
		"a finished answer is taken from a holder (threats.md T83)":         {fake(t, "hold-stdout"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "left 1 processes behind", AtMost: 8 * time.Second}},
		"a daemon is ended and noted (threats.md T82)":                      {fake(t, "daemon"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "left 1 processes behind"}},
		"an invalid answer is repaired once":                                {fake(t, "repair-once"), want{State: review.AgentComplete, Attempts: 2, Findings: 1, Note: "first answer refused: the envelope is cut off"}},
		"still broken: valid findings are kept, the other leaves its place": {fake(t, "salvage"), want{State: review.AgentDegraded, Attempts: 2, Findings: 2, Reason: "invalid answer: decode reviewer-result: findings/1/priority"}},
		"a path out of the repository: the others are kept":                 {fake(t, "path-traverse"), want{State: review.AgentDegraded, Attempts: 2, Findings: 1, Reason: "findings/0/file: must be a path inside"}},
		"line 1,000,000,000: the others are kept (threats.md T87)":          {fake(t, "line-huge"), want{State: review.AgentDegraded, Attempts: 2, Findings: 1, Reason: "findings/0/line"}},
		"two envelopes: never the last one (threats.md T85)":                {fake(t, "json-two", "-findings", scripted(t, `[]`)), want{State: review.AgentFailed, Attempts: 2, Reason: "2 JSON envelopes"}},
		"nothing to keep: failed":                                           {fake(t, "exit-0-empty"), want{State: review.AgentFailed, Attempts: 2, Reason: "invalid answer: no output: an envelope is missing; exit status 0 after "}},
		"exit status, time and stderr are told":                             {fake(t, "exit-1"), want{State: review.AgentFailed, Attempts: 1, Reason: "; stderr: fakeagent: out of luck"}},
		"a whole answer before status 1 is degraded":                        {fake(t, "exit-1-answer"), want{State: review.AgentDegraded, Attempts: 1, Findings: 1, Reason: "valid answer, but the agent process failed: "}},
		"an answer, then a hang without output":                             {fake(t, "close-stdout-run-on"), want{State: review.AgentDegraded, Attempts: 1, Findings: 1, Reason: "ran on after it closed its output", AtMost: 9 * time.Second}},
		"a hang costs its time (threats.md T80)":                            {short(fake(t, "hang-silent"), 1500*time.Millisecond), want{State: review.AgentFailed, Attempts: 1, Reason: "out of time", AtMost: 6 * time.Second}},
		"TERM ignored (threats.md T81)":                                     {short(fake(t, "ignore-term"), 1500*time.Millisecond), want{State: review.AgentFailed, Attempts: 1, Reason: "out of time", AtMost: 6 * time.Second}},
		"a flood is cut (threats.md T84)":                                   {fake(t, "flood-both"), want{State: review.AgentFailed, Attempts: 1, Reason: "wrote"}},
		"a flood of events is cut (threats.md T84)":                         {fake(t, "flood-events"), want{State: review.AgentFailed, Attempts: 1, Reason: "wrote too much", Note: "were not read"}},
		"a program that is not there":                                       {Spec{Name: "x", Role: review.RoleReviewer, Path: "prloop-no-such-agent"}, want{State: review.AgentFailed, Attempts: 1, Reason: "program not found"}},
		"it kills its parent":                                               {fake(t, "kill-parent"), want{State: review.AgentFailed, Attempts: 1, Reason: "its supervisor was killed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := Ask(t.Context(), row.spec, task(), nil)
			row.want.Check(t, a, row.spec.Name)
		})
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
	if a.Receipt.State != review.AgentFailed || a.Receipt.Attempts != 1 || !strings.Contains(a.Receipt.Whole(), "canceled") {
		t.Errorf("%+v", a.Receipt)
	}
}

func TestSecretsOnStandardErrorAreTakenOut(t *testing.T) {
	t.Parallel()
	spec := script(t, "cat >/dev/null\nprintf '{\"event\":\"log\",\"message\":\"using "+modes.Secret()+"\"}\\n'\necho 'using "+modes.Secret()+"' >&2\nexit 4\n")
	var events string
	a := Ask(t.Context(), spec, task(), func(e review.Event) { events += e.Message })
	if all := events + a.Receipt.Whole() + a.Log; strings.Contains(all, modes.Secret()) || strings.Count(all, "using") != 3 {
		t.Errorf("event %q, reason %q, log %q", events, a.Receipt.Whole(), a.Log)
	}
}

// An agent of prloop's own that says what went wrong need not say that it ended with a status too. Another program that speaks like one hides nothing.
func TestOwnAgentsSayItInWords(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{review.KindBuiltin: "the model answers text", review.KindStatic: "the model answers text", review.KindCommand: "exit status 1 after "} {
		spec := script(t, "cat >/dev/null\necho 'prloop: the model answers text' >&2\nexit 1\n")
		spec.Kind = kind
		got := Ask(t.Context(), spec, task(), func(review.Event) {}).Receipt.Whole()
		if own := kind != review.KindCommand; own && got != want || !own && (!strings.Contains(got, want) || !strings.HasSuffix(got, "stderr: prloop: the model answers text")) {
			t.Errorf("%s: %q", kind, got)
		}
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
	if strings.ContainsRune(a.Receipt.Whole()+a.Log, 0x1b) || !strings.Contains(a.Receipt.Whole(), "exit status 4 after ") {
		t.Errorf("reason %q, log %q", a.Receipt.Whole(), a.Log)
	}
}

// What a program says beside its answer, and where it lies, is for the operator: everybody reads what kind of failure it is (threats.md T681).
func TestReasonsForEverybody(t *testing.T) {
	t.Parallel()
	const said = "open /etc/acme/internal.conf"
	for what, row := range map[string]struct {
		spec Spec
		kind string
	}{
		"standard error":           {script(t, "cat >/dev/null\necho '"+said+"' >&2\nexit 3\n"), "exit status 3"},
		"text that is no answer":   {script(t, "cat >/dev/null\necho '"+said+"'\n"), "invalid answer"},
		"a program that is not it": {Spec{Name: "x", Role: review.RoleReviewer, Path: "/etc/acme/internal.conf"}, "its program could not be run"},
	} {
		r := Ask(t.Context(), row.spec, task(), nil).Receipt
		open := fmt.Sprint(r.Reason, r.Notes)
		if r.Reason != row.kind || strings.Contains(open, "internal.conf") || !strings.Contains(r.Detail, "internal.conf") {
			t.Errorf("%s: everybody reads %q, the operator %q", what, open, r.Detail)
		}
	}
}
