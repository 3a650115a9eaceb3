package orchestrator

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// What was left out of long comments is said, and holds nothing back (threats.md T378).
func TestCutCommentsAreNamed(t *testing.T) {
	in := round()
	in.Snapshot.Discussion.Cut = 84
	j := Judge(in)
	if said := "Of 84 long comments by people who may not block only the beginning was read."; j.Result.Outcome != review.Converged || !strings.Contains(j.Report, said) {
		t.Errorf("%s:\n%s", j.Result.Outcome, j.Report)
	}
	in.Snapshot.Discussion = review.Discussion{Truncated: true}
	if j = Judge(in); j.Result.Outcome != review.Partial || !strings.Contains(j.Report, "**Next:** Look at the discussion, and decide by hand: it is longer than what prloop reads.") {
		t.Errorf("%s:\n%s", j.Result.Outcome, j.Report)
	}
}
