package orchestrator

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/review"
)

// Withheld files are counted, and where the policy says so nobody is told which they are: neither a reader of the report nor an agent.
func TestNamesOfWithheldFilesAreNotTold(t *testing.T) {
	for _, hide := range []bool{false, true} {
		in := round()
		in.Request.Context = ContextOptions{NeverRead: []string{"customer_data"}, HideWithheld: hide}
		in.Snapshot.Brief.Files = append(in.Snapshot.Brief.Files,
			review.BriefFile{Path: "customer_data/eu/CANARY-a.csv", Change: "modified", Omitted: repocontext.OmittedExcluded, Excused: true},
			review.BriefFile{Path: "customer_data/CANARY-b.csv", Change: "added", Omitted: repocontext.OmittedExcluded, Excused: true},
			review.BriefFile{Path: "customer_data/CANARY-d.csv", Change: "modified", Omitted: repocontext.OmittedExcluded},
			review.BriefFile{Path: "gen/plain.pb.go", Change: "modified", Omitted: repocontext.OmittedGenerated, Excused: true},
			review.BriefFile{Path: "moved.csv", OldPath: "customer_data/CANARY-c.csv", Change: "renamed", Omitted: repocontext.OmittedExcluded})
		in.Reports = []AgentReport{answered("a")}
		got := Judge(in)
		everything := got.Report + text(t, got.Result)
		task := text(t, in.Request.narrowed(AgentPlan{Role: review.RoleReviewer}, in.Snapshot.Brief))
		for name, where := range map[string]string{"report and result": everything, "task": task} {
			if strings.Contains(where, "CANARY") == hide {
				t.Errorf("hide %v: %s:\n%s", hide, name, where)
			}
			if !strings.Contains(where, "moved.csv") || !strings.Contains(where, "gen/plain.pb.go") {
				t.Errorf("hide %v: %s lacks what is not withheld:\n%s", hide, name, where)
			}
		}
		for _, counted := range []string{"1 withheld files are not named here", "2 withheld files are not named here"} { // to be read, and not
			if said := strings.Contains(got.Report, counted); said != hide {
				t.Errorf("hide %v: counted: %v\n%s", hide, said, got.Report)
			}
		}
		if got.Result.Receipt.Files != len(in.Snapshot.Brief.Files) || got.Result.Outcome != review.Partial {
			t.Errorf("hide %v: %d files, %s", hide, got.Result.Receipt.Files, got.Result.Outcome)
		}
	}
}
