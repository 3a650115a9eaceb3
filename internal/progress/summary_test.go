package progress

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/review"
)

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
