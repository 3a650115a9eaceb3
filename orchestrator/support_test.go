package orchestrator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/review"
)

// says is what a reviewer answers in a round: its findings, with the source the loop stamps on them.
func says(name string, findings ...review.Finding) AgentReport {
	for i := range findings {
		findings[i].Source = review.Source{Type: "agent", Name: name}
	}
	return answered(name, findings...)
}

// quoted makes the evidence of a reviewer's findings verified.
func quoted(h AgentReport) AgentReport {
	for i := range h.Evidence {
		h.Evidence[i].Status = evidence.Verified
	}
	return h
}

func TestMinSupport(t *testing.T) {
	const race, reworded = "the map is written by two goroutines", "two goroutines write the map"
	of := func(category string, f review.Finding) review.Finding { f.Category = category; return f }
	byRule := func(h AgentReport) AgentReport { h.Answer.Receipt.Kind = review.KindStatic; return h }
	for _, c := range []struct {
		what        string
		support     int
		change      func(*Inputs)
		want        review.Conclusion
		unsupported int
	}{
		{"by default a single voice counts (spec.md A6)", 0, func(in *Inputs) { in.Reports[0] = says("alpha", found(review.P1, race)) }, review.RequestChanges, 0},
		{"1 is the rule of the specification (spec.md A6)", 1, func(in *Inputs) { in.Reports[0] = says("alpha", found(review.P0, race)) }, review.NeedsMajorWork, 0},
		{"2: a single voice does not count", 2, func(in *Inputs) { in.Reports[0] = says("alpha", found(review.P1, race)) }, review.Approve, 1},
		{"2: two voices count, in other words too", 2, func(in *Inputs) {
			in.Reports[0], in.Reports[1] = says("alpha", found(review.P1, race)), says("beta", found(review.P1, reworded))
		}, review.RequestChanges, 0},
		{"2: saying it twice is one voice", 2, func(in *Inputs) {
			in.Reports[0] = says("alpha", found(review.P1, race), found(review.P1, reworded))
		}, review.Approve, 2},
		{"2: what counts is what is agreed on, the rest is set beside it", 2, func(in *Inputs) {
			in.Reports[0] = says("alpha", found(review.P2, race), found(review.P0, "token in source"))
			in.Reports[1] = says("beta", found(review.P2, reworded))
		}, review.RequestChanges, 1},
		{"a P0 whose code is there counts alone (decision 19)", 2, func(in *Inputs) { in.Reports[0] = quoted(says("alpha", found(review.P0, race))) }, review.NeedsMajorWork, 0},
		{"so does a security problem (decision 19)", 2, func(in *Inputs) {
			in.Reports[0] = quoted(says("alpha", of("Vulnerability", found(review.P2, race))))
		}, review.RequestChanges, 0},
		{"and so do small ones that add up to one (threats.md T892)", 2, func(in *Inputs) {
			first, second := of("security", found(review.P2, race)), of("security", found(review.P2, "token in source"))
			first.Score, second.Score, in.Request.Elevation = 4, 4, 2
			in.Reports[0] = quoted(says("alpha", first, second))
		}, review.RequestChanges, 0},
		{"not without evidence", 2, func(in *Inputs) { in.Reports[0] = says("alpha", of("security", found(review.P0, race))) }, review.Approve, 1},
		{"evidence alone does not make a P1 count", 2, func(in *Inputs) { in.Reports[0] = quoted(says("alpha", found(review.P1, race))) }, review.Approve, 1},
		{"a priority that is none counts as P0", 2, func(in *Inputs) { in.Reports[0] = quoted(says("alpha", found("P7", race))) }, review.NeedsMajorWork, 0},
		{"a finding by rule needs no second voice", 2, func(in *Inputs) {
			in.Reports = append(in.Reports, byRule(says("static", found(review.P2, "debugger left in"))))
		}, review.RequestChanges, 0},
		{"a person's open thread always counts", 5, func(in *Inputs) {
			in.Snapshot.Discussion.Threads = []review.Thread{{ID: "T1", File: "a.go", Comments: []review.Comment{{Body: "P1: this crashes", Author: review.Person{Login: "ann"}}}}}
		}, review.RequestChanges, 0},
		{"a member's CHANGES_REQUESTED decides as ever (spec.md A6 rule 0)", 5, func(in *Inputs) {
			in.Snapshot.Discussion.Reviews = []review.Review{{ID: "R1", State: "CHANGES_REQUESTED", Author: review.Person{Login: "ann", Association: "MEMBER"}}}
		}, review.RequestChanges, 0},
		{"a reviewer that failed does not silence the other", 2, func(in *Inputs) {
			in.Reports[0], in.Reports[1] = says("alpha", found(review.P1, race)), failed("beta")
			in.Request.MinReviewers = 1
		}, review.RequestChanges, 0},
		{"nor does one that answered in part", 2, func(in *Inputs) {
			in.Reports[0] = says("alpha", found(review.P1, race))
			in.Reports[1].Answer.Receipt.State = review.AgentDegraded
			in.Request.MinReviewers = 1
		}, review.RequestChanges, 0},
		{"nor does the static reviewer, which is no second opinion", 2, func(in *Inputs) {
			in.Reports[0], in.Reports[1] = says("alpha", found(review.P1, race)), byRule(says("static"))
		}, review.RequestChanges, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			in := round()
			in.Request.MinSupport = c.support
			c.change(&in)
			got := Judge(in)
			if w := got.Result.Consensus; w == nil || *w != string(c.want) {
				t.Errorf("verdict %v, want %s", w, c.want)
			}
			if got.Result.Unsupported != c.unsupported {
				t.Errorf("%d findings without support, want %d", got.Result.Unsupported, c.unsupported)
			}
			if said := strings.Contains(got.Report, "consensus.min_support"); said != (c.unsupported > 0) {
				t.Errorf("the report speaks of support: %v\n%s", said, got.Report)
			}
			for _, f := range got.Result.Findings {
				if !strings.Contains(got.Report, f.Title) && f.Title != reworded {
					t.Errorf("%q is not listed", f.Title)
				}
			}
			if n := got.Result.Issues.Total() + got.Result.Unsupported; n != len(got.Result.Findings) {
				t.Errorf("%d counted and set aside, %d listed", n, len(got.Result.Findings))
			}
		})
	}
}

// TestMinSupportIsStored guards replay: judging stored inputs again must ask for the same support.
func TestMinSupportIsStored(t *testing.T) {
	in := round()
	in.Request.MinSupport = 2
	in.Reports[0] = says("alpha", found(review.P1, "crash"))
	first := Judge(in)
	data, err := json.Marshal(first.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	var stored Inputs
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(first.Result, Judge(stored).Result); d != "" {
		t.Error(d)
	}
}
