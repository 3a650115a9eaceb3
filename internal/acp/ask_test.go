package acp

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/answer/answertest"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
)

func actorSpec(t *testing.T, mode string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Name: "rev-1", Role: review.RoleReviewer, Command: self, Args: []string{"acp-agent", mode}, Self: self, SelfArgs: []string{"acp-mcp"},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: t.TempDir(), Timeout: 30 * time.Second, Grace: 300 * time.Millisecond}
}

func question() review.Task {
	return review.Task{Version: review.TaskVersion, PRNumber: 7, Run: "test", Round: 1, Limits: review.DefaultLimits(),
		Brief: review.Brief{Files: []review.BriefFile{{Path: "rows.go", Hunks: 2, HunksGiven: 2}, {Path: "x.bin", Omitted: "binary"}}}}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	short := func(s Spec) Spec { s.Timeout = 1500 * time.Millisecond; return s }
	inMode := func(s Spec, mode string) Spec { s.Preset.Mode = mode; return s }
	type want = answertest.Want
	ok := want{State: review.AgentComplete, Attempts: 1, Findings: 1}
	for name, row := range map[string]struct {
		spec Spec
		want want
	}{
		"a submitted result is complete":                                {actorSpec(t, "ok"), ok},
		"a mode the preset asks for is set":                             {inMode(actorSpec(t, "ok"), "read-only"), ok},
		"an agent that stays in its own mode is not asked":              {inMode(actorSpec(t, "ok"), "other"), want{State: review.AgentFailed, Reason: "set mode other: "}},
		"3,000 updates are all handled (libraries 3)":                   {actorSpec(t, "flood"), ok},
		"lines that are no messages are dropped":                        {actorSpec(t, "noise"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "3 lines of output were no messages"}},
		"update kinds nobody knows are ignored":                         {actorSpec(t, "noise"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "1 updates of unknown kinds"}},
		"a result in the text is a fallback, and noted":                 {actorSpec(t, "text"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "stood in the text"}},
		"two results in the text: never the last one (threats.md T85)":  {actorSpec(t, "two-texts"), want{State: review.AgentDegraded, Attempts: 2, Findings: 2, Reason: "may hold another one"}},
		"an invalid result is put right in a second turn":               {actorSpec(t, "repair"), want{State: review.AgentComplete, Attempts: 2, Findings: 1, Note: "first answer refused: decode reviewer-result"}},
		"the tool's answer lets a model fix within a turn":              {actorSpec(t, "in-turn"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "1 more results were submitted"}},
		"cut within a P0: it leaves its place":                          {actorSpec(t, "cut"), want{State: review.AgentDegraded, Attempts: 2, Findings: 1, Note: "could not be read"}},
		"cut within a P0, then prose":                                   {actorSpec(t, "cut-then-prose"), want{State: review.AgentDegraded, Attempts: 2, Findings: 1, Note: "could not be read"}},
		"a P1 that the corrected answer leaves out":                     {actorSpec(t, "takes-back"), want{State: review.AgentComplete, Attempts: 2, Findings: 1, Note: "and not in its last one"}},
		"a P0 that is claimed and not listed, asked once more":          {actorSpec(t, "claims"), want{State: review.AgentComplete, Attempts: 2, Findings: 1, Note: "claims 1 P0 and lists 0"}},
		"and claimed again":                                             {actorSpec(t, "claims-on"), want{State: review.AgentComplete, Attempts: 2, Findings: 1, Note: "claims 1 P0 and lists 0"}},
		"and claimed no more":                                           {actorSpec(t, "claims-no-more"), want{State: review.AgentComplete, Attempts: 2, Findings: 0, Note: "first answer refused: the answer contradicts itself: it claims 1 P0 and lists 0"}},
		"and claimed again by submitting":                               {actorSpec(t, "claims-submitted"), want{State: review.AgentComplete, Attempts: 2, Findings: 1, Note: "claims 1 P0 and lists 0"}},
		"still broken: valid findings are kept":                         {actorSpec(t, "salvage"), want{State: review.AgentDegraded, Attempts: 2, Findings: 1, Reason: "invalid answer: decode reviewer-result: conclusion"}},
		"a turn that ends without a word (real components)":             {actorSpec(t, "silent"), want{State: review.AgentFailed, Attempts: 2, Reason: "ended (end_turn) without text"}},
		"a refusal is not asked again":                                  {actorSpec(t, "refusal"), want{State: review.AgentFailed, Attempts: 1, Reason: "ended (refusal) without text"}},
		"an error of the agent is told with its stderr":                 {actorSpec(t, "refuses"), want{State: review.AgentFailed, Reason: "initialize: Internal error: not today (code -32603); stderr: no model key"}},
		"it dies: exit status and stderr are told":                      {actorSpec(t, "dies"), want{State: review.AgentFailed, Attempts: 1, Reason: "exit status 3 after"}},
		"a hang costs its time (threats.md T80)":                        {short(actorSpec(t, "hang")), want{State: review.AgentFailed, Attempts: 1, Reason: "out of time after 1.5s", AtMost: 6500 * time.Millisecond}},
		"a severe result, then one without: it is set aside":            {actorSpec(t, "severe-then-silent"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "was in an earlier answer"}},
		"refused twice, then without: what the first said is set aside": {actorSpec(t, "refused-twice-then-silent"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "was in an earlier answer"}},
		"refused every time: what the first said is kept":               {actorSpec(t, "refused-twice"), want{State: review.AgentDegraded, Attempts: 2, Findings: 1, Reason: "invalid answer: decode reviewer-result", Note: "more results were submitted"}},
		"severe in the text, then without: a person has to look":        {actorSpec(t, "severe-text-then-silent"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, Note: "text beside it names"}},
		"a result, then a hang: what blocks is kept":                    {short(actorSpec(t, "submit-hang")), want{State: review.AgentDegraded, Attempts: 1, Findings: 1, Reason: "valid answer, but the agent process failed: stopped: out of time", AtMost: 6500 * time.Millisecond}},
		"it does not end at the end of its input":                       {actorSpec(t, "stays"), want{State: review.AgentComplete, Attempts: 1, Findings: 1, AtMost: 8 * time.Second}},
		"a line over 8 MB ends it (threats.md T84)":                     {actorSpec(t, "long-line"), want{State: review.AgentFailed, Attempts: 1, Reason: "wrote a line that is too long", AtMost: 15 * time.Second}},
		"endless requests end it":                                       {actorSpec(t, "asks-much"), want{State: review.AgentFailed, Attempts: 1, Reason: "asked prloop too often", AtMost: 15 * time.Second}},
		"a program that is not there":                                   {func() Spec { s := actorSpec(t, ""); s.Command = "prloop-no-such-agent"; return s }(), want{State: review.AgentFailed, Reason: "program not found"}},
		"a role that is none":                                           {func() Spec { s := actorSpec(t, "ok"); s.Role = "nobody"; return s }(), want{State: review.AgentFailed, Reason: "cannot be a nobody"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := Ask(t.Context(), row.spec, question(), "review this", nil)
			row.want.Check(t, a, "rev-1")
			if r := a.Receipt; r.Kind != "acp" || r.FilesGiven != 1 || r.HunksGiven != 2 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestPermissionsAreAnsweredByPolicy(t *testing.T) {
	t.Parallel()
	a := Ask(t.Context(), actorSpec(t, "permissions"), question(), "review this", nil)
	if a.Reviewer == nil {
		t.Fatalf("%+v\n%s", a.Receipt, a.Log)
	}
	const want = "own=yes tool=yes invented=no disguise=no suffix=no read=yes outside=no bash=no edit=no fetch=no"
	if got := a.Reviewer.Findings[0].Title; got != want {
		t.Errorf("allowed\n%s\nwant\n%s", got, want)
	}
	if notes := strings.Join(a.Receipt.Notes, "\n"); !strings.Contains(notes, "7 requests for permission were rejected") {
		t.Errorf("notes %q", notes)
	}
}

func TestReviewersReadTheTreeWithOurTools(t *testing.T) {
	t.Parallel()
	for role, want := range map[review.Role][]string{
		review.RoleReviewer: {"package rows // the tree", "bad_path"}, review.RoleCommentsAnalyzer: {"unknown tool"},
	} {
		spec := actorSpec(t, "reads")
		spec.Role, spec.Cwd = role, t.TempDir()
		writeTree(t, spec.Cwd, map[string]string{"rows.go": "package rows // the tree\n"})
		a := Ask(t.Context(), spec, question(), "review this", nil)
		for _, part := range want {
			if !strings.Contains(a.Log, part) {
				t.Errorf("%s: no %s in %s\n%+v", role, part, a.Log, a.Receipt)
			}
		}
	}
}

func TestEventsAndUsage(t *testing.T) {
	t.Parallel()
	var got []string
	a := Ask(t.Context(), actorSpec(t, "flood"), question(), "review this", func(e review.Event) {
		if e.Kind != review.EventProgress {
			t.Errorf("%+v", e)
		}
		got = append(got, e.Message)
	})
	if want := []string{"writes", "uses prloop_submit_result"}; !reflect.DeepEqual(got, want) {
		t.Errorf("events %q, want %q: the same news is told once", got, want)
	}
	if u := a.Receipt.Usage; u.ToolCalls != 1 || u.InputTokens == nil || *u.InputTokens != 100 || u.CostUSD != nil {
		t.Errorf("usage %+v", u)
	}
}

func TestUpdatesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	spec := actorSpec(t, "flood")
	d, err := openDesk(t.Context(), spec.Dir, func([]byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	place, err := writeAgentConfig(spec, server(spec, d))
	if err != nil {
		t.Fatal(err)
	}
	s, err := launch(t.Context(), spec, place, d, func(review.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	out := s.converse(t.Context(), "review this")
	parts := strings.Split(strings.TrimSuffix(string(out.text), ","), ",")
	if len(parts) != 3000 || parts[0] != "0" || parts[1500] != "1500" || parts[2999] != "2999" {
		t.Errorf("%d updates before the turn ended; %v", len(parts), out.failed)
	}
}

func TestCancelEndsTheChild(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	started := time.Now()
	a := Ask(ctx, actorSpec(t, "hang"), question(), "review this", func(review.Event) { cancel(errors.New("the round is over")) })
	if took := time.Since(started); took > 10*time.Second || a.Receipt.State != review.AgentFailed || !strings.Contains(a.Receipt.Whole(), "the round is over") {
		t.Errorf("%s %+v", took, a.Receipt)
	}
}

func TestConfineSeesTheCommand(t *testing.T) {
	t.Parallel()
	spec := actorSpec(t, "ok")
	spec.Confine = func(p proc.Spec) (proc.Spec, error) {
		p.Env = append(p.Env, "CONFINED=1")
		return p, nil
	}
	if a := Ask(t.Context(), spec, question(), "review this", nil); a.Receipt.State != review.AgentComplete {
		t.Errorf("%+v", a.Receipt)
	}
	spec.Dir = t.TempDir()
	spec.Confine = func(p proc.Spec) (proc.Spec, error) { return p, errors.New("no sandbox here") }
	if a := Ask(t.Context(), spec, question(), "review this", nil); a.Receipt.State != review.AgentFailed || a.Receipt.Whole() != "no sandbox here" {
		t.Errorf("without its sandbox it must not run: %+v", a.Receipt)
	}
}
