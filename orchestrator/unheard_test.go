package orchestrator

import (
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// A P0 or P1 of an earlier run with a thread is not settled by others while who raised it gives no complete answer (threats.md T332).
func TestWhoRaisedItIsHeard(t *testing.T) {
	severe, minor := foundAt(review.P1, 3, subjects[0]), foundAt(review.P2, 3, subjects[0])
	security := minor
	security.Category = "security"
	for what, row := range map[string]struct {
		about  review.Finding
		by     []string
		state  review.AgentState // of "one"; "two" is always complete
		change func(*Inputs, *conversation.Thread)
		want   review.Outcome
	}{
		"who raised it failed":               {severe, []string{"one"}, review.AgentFailed, nil, review.Partial},
		"who raised it is degraded":          {severe, []string{"one"}, review.AgentDegraded, nil, review.Partial},
		"at the same commit":                 {severe, []string{"one"}, review.AgentFailed, func(_ *Inputs, t *conversation.Thread) { t.Head = "head" }, review.Partial},
		"its author closed the thread":       {severe, []string{"one"}, review.AgentFailed, func(_ *Inputs, t *conversation.Thread) { t.Closed, t.ClosedBy = true, "ada" }, review.Partial},
		"who raised it looked again":         {severe, []string{"one"}, review.AgentComplete, nil, review.Converged},
		"another who raised it looked again": {severe, []string{"one", "two"}, review.AgentFailed, nil, review.Partial},
		"who raised it is asked no more":     {severe, []string{"three"}, review.AgentFailed, nil, review.Converged},
		"it is about security":               {security, []string{"one"}, review.AgentFailed, nil, review.Partial},
		"another who said less of it looked again": {severe, []string{"one", "two"}, review.AgentFailed, func(_ *Inputs, t *conversation.Thread) {
			t.By, t.Also = "one", []conversation.Wording{{By: "two", Finding: severe.Title, Priority: review.P3, Category: "bug"}}
		}, review.Partial},
		"another says that it is security": {minor, []string{"one"}, review.AgentFailed, func(_ *Inputs, t *conversation.Thread) {
			t.Also = []conversation.Wording{{By: "one", Finding: "Injection", Priority: review.P2, Category: "security"}}
		}, review.Partial},
		"it is no P1":                        {minor, []string{"one"}, review.AgentFailed, nil, review.Converged},
		"a person who may closed the thread": {severe, []string{"one"}, review.AgentFailed, func(_ *Inputs, t *conversation.Thread) { t.Closed, t.ClosedBy = true, "boss" }, review.Converged},
		"a judge says that it is cured": {severe, []string{"one"}, review.AgentFailed, func(in *Inputs, _ *conversation.Thread) {
			in.Request.Disputes = &DisputePlan{Judges: []AgentPlan{{Name: "judge", Role: review.RoleVerifier, Kind: review.KindCommand}}, Limits: review.Limits{Candidates: 30}}
			*in = in.ruledAs(review.Assessment{Status: review.Refuted, Ruling: review.RulingConceded, Reason: "It is guarded.", Fact: proof()})
			in.Disputes[0].Answer.Verifier.Assessments[0].FindingID = "C1"
		}, review.Partial},
		"its code was edited": {severe, []string{"one"}, review.AgentFailed, func(in *Inputs, t *conversation.Thread) { in.Snapshot.Gone = []string{t.ID} }, review.Partial},
		"prloop settled it, for it was cured": {severe, []string{"one"}, review.AgentFailed, func(_ *Inputs, t *conversation.Thread) {
			t.Status, t.Closed, t.ClosedBy = conversation.Resolved, true, "prloop"
		}, review.Converged},
	} {
		in := disputedInputs(row.about)
		in.Request.Disputes = nil
		in.Reports[0].Answer.Reviewer.Findings = nil
		in.Reports[0].Answer.Receipt.State = row.state
		in.Reports = append(in.Reports, AgentReport{Answer: review.Answer{Receipt: review.AgentReceipt{Name: "two", Role: review.RoleReviewer, Kind: review.KindCommand, State: review.AgentComplete},
			Reviewer: &review.ReviewerResult{}}})
		th := &in.Snapshot.Conversation.Threads[0]
		th.DeveloperReplies, th.RaisedBy = nil, row.by
		if row.change != nil {
			row.change(&in, th)
		}
		judged := Judge(in)
		r := judged.Result
		if row.want == review.Partial && len(judged.cured) > 0 {
			t.Errorf("%s: its thread is settled", what)
		}
		if r.Outcome != row.want || row.want == review.Partial && !strings.Contains(r.Reason, "1 grave finding of an earlier run is open") {
			t.Errorf("%s: %s: %s; want %s", what, r.Outcome, r.Reason, row.want)
		}
	}
}

// A report keeps who raised what is grave and open where no thread says that they did (threats.md T332).
func TestAReportKeepsWhoRaisedWhat(t *testing.T) {
	p1 := quoting(saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero"), 9, "return Count(shelves) / len(shelves)")
	p2 := p1
	p2.Priority = review.P2
	open := func(said ...review.Finding) []conversation.Thread {
		th := showing(said...)
		th.Closed, th.ClosedBy = false, ""
		return []conversation.Thread{th}
	}
	for what, row := range map[string]struct {
		found   []review.Finding
		threads []conversation.Thread
		owing   []string
		want    string
	}{
		"nothing has a thread":                    {[]review.Finding{p1, saidBy("two", p1, p1.Title)}, nil, nil, "one two"},
		"a thread says it":                        {[]review.Finding{p1}, open(p1), nil, ""},
		"a thread says it from another":           {[]review.Finding{p1, saidBy("two", p1, p1.Title)}, open(p1), nil, "two"},
		"a thread says that it is less":           {[]review.Finding{p1}, open(p2), nil, "one"},
		"it is not grave":                         {[]review.Finding{p2}, nil, nil, ""},
		"who raised it before is not heard again": {[]review.Finding{p2}, nil, []string{"one", "three"}, "three"},
	} {
		in := raised(row.found, row.threads...)
		for _, name := range row.owing {
			in.Snapshot.Owing = append(in.Snapshot.Owing, sanitize.RaisedBy(name))
		}
		var got []string
		for _, name := range []string{"one", "two", "three"} {
			if slices.Contains(Judge(in).raised, sanitize.RaisedBy(name)) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: %q, want %q", what, got, row.want)
		}
	}
}

// A report also keeps in how many threads somebody raised what is grave while one is open. Where we know fewer as ours later, what stood in the others counts as what has no thread
// (threats.md T575).
func TestThreadsOfWhoRaisedWhat(t *testing.T) {
	p1 := quoting(saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero"), 9, "return Count(shelves) / len(shelves)")
	settled := showing(p1)
	settled.Closed, settled.ClosedBy = true, "maintainer"
	open := settled
	open.Closed, open.ClosedBy, open.ID = false, "", "2"
	marked := func(threads ...conversation.Thread) (kept []string) {
		in := raised(nil, threads...)
		in.Snapshot.People = &conversation.People{Author: "author", Permissions: map[string]string{"maintainer": "write"}}
		return Judge(in).raised
	}
	if got := marked(settled, open); !slices.Equal(got, []string{inThreads("one", 2)}) {
		t.Errorf("one of two is open: %q", got)
	}
	if got := marked(settled); len(got) != 0 {
		t.Errorf("a person has settled it: %q", got)
	}
	reviewers := []AgentPlan{{Name: "one"}, {Name: "two"}}
	for _, row := range []struct{ threads, want int }{{0, 2}, {1, 2}, {2, 1}, {3, 1}} {
		got := outOfThreads([]string{inThreads("one", 2), sanitize.RaisedBy("two")}, reviewers, slices.Repeat([]conversation.Thread{open}, row.threads))
		if len(got) != row.want || got[0] != sanitize.RaisedBy("two") || row.want == 2 && got[1] != sanitize.RaisedBy("one") {
			t.Errorf("with %d threads: %q", row.threads, got)
		}
	}
}
