package aftermerge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

func said(by, title, evidence string, p review.Priority, line int) review.Finding {
	f := review.Finding{Priority: p, Category: "logic", File: "stock.go", Line: &line, Title: title, Evidence: evidence, Score: 6, Source: review.Source{Type: "agent", Name: by}}
	f.Fingerprint = identity.Fingerprint(f)
	return f
}

func agent(name, model string) review.AgentReceipt {
	return review.AgentReceipt{Name: name, Usage: review.Usage{Models: []string{model}}}
}

// A finding of two reviewers and two rounds is one, with all who raised it, its gravest priority and its highest score; what people said is none.
func TestPosted(t *testing.T) {
	mean := "return Count(shelves) / len(shelves)"
	first, other := said("a", "Mean divides by zero", mean, review.P2, 12), said("b", "Division by zero", mean, review.P1, 12)
	later := said("a", "An empty list of shelves divides by zero in Mean", mean, review.P2, 14)
	later.Score = 9
	person := said("mona", "No", "", review.P2, 1)
	person.Source.Type = "comment"
	price := said("a", "Price gives zero", "return prices[article]", review.P2, 90)
	got := Posted([]Round{
		{Run: "r1", Head: "h1", Agents: []review.AgentReceipt{agent("a", "m1"), agent("b", "m2")}, Findings: []review.Finding{first, other, person}},
		{Run: "r2", Head: "h2", Agents: []review.AgentReceipt{agent("a", "m1")}, Findings: []review.Finding{later, price}},
	})
	if len(got) != 2 {
		t.Fatalf("%d findings, want 2: %+v", len(got), got)
	}
	p := Judge(got, Facts{})
	want := []review.PostedFinding{
		{ID: identity.ID([]review.Finding{later}), Run: "r2", Became: review.BecameUnknown, Why: p[0].Why, Priority: review.P1, Category: "logic", Score: 9, By: []review.Voice{{Name: "a", Model: "m1"}, {Name: "b", Model: "m2"}}},
		{ID: identity.ID([]review.Finding{price}), Run: "r2", Became: review.BecameUnknown, Why: p[1].Why, Priority: review.P2, Category: "logic", Score: 6, By: []review.Voice{{Name: "a", Model: "m1"}}},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if Posted(nil) != nil {
		t.Error("nothing posted is something")
	}
}

// Every way a finding can end, and which of two proofs goes first.
func TestJudge(t *testing.T) {
	const reviewed, merged = "h1", "h2"
	f := said("a", "Mean divides by zero", "return Count(shelves) / len(shelves)", review.P2, 12)
	id := identity.ID([]review.Finding{f})
	boss := conversation.People{Author: "ada", Permissions: map[string]string{"boss": "write"}, Own: "prloop"}
	thread := func(s conversation.Status, change func(*conversation.Thread)) []conversation.Thread {
		t := conversation.Thread{Identity: id, Status: s}
		if change != nil {
			change(&t)
		}
		return []conversation.Thread{{Identity: "another", Status: conversation.Disputed}, t}
	}
	resolved := func(by string) func(*conversation.Thread) {
		return func(t *conversation.Thread) { t.Closed, t.ClosedBy = true, by }
	}
	ruled := func(t *conversation.Thread) {
		t.Closed, t.ClosedBy, t.Ruling, t.Word = true, "prloop", conversation.Conceded, "ada"
	}
	dismissed := []review.Dismissed{{ID: id, Finding: f}}
	for _, row := range []struct {
		name string
		head string // of the last review that raised it
		code Quoted
		f    Facts
		want review.Became
	}{
		{"its code is gone", reviewed, Gone, Facts{}, review.BecameFixed},
		{"its code stands", reviewed, Stands, Facts{}, review.BecameIgnored},
		{"its code could not be seen", reviewed, Unseen, Facts{}, review.BecameUnknown},
		{"the merged head was reviewed, and it was raised", merged, Stands, Facts{}, review.BecameIgnored},
		{"raised at the merged head without a quote", merged, Unseen, Facts{}, review.BecameIgnored},
		{"dismissed", reviewed, Stands, Facts{Dismissed: dismissed}, review.BecameDismissed},
		{"dismissed, and the code changed all the same", reviewed, Gone, Facts{Dismissed: dismissed}, review.BecameDismissed},
		{"dismissed under another identity, in the same words", reviewed, Stands, Facts{Dismissed: []review.Dismissed{{ID: "x", Finding: f}}}, review.BecameDismissed},
		{"another was dismissed", reviewed, Stands, Facts{Dismissed: []review.Dismissed{{ID: "x", Finding: said("a", "Price gives zero", "", review.P2, 90)}}}, review.BecameIgnored},
		{"set aside later", reviewed, Stands, Facts{Aside: []review.Finding{f}}, review.BecameDismissed},
		{"a ruling conceded it", reviewed, Stands, Facts{Threads: thread(conversation.Resolved, ruled), People: boss}, review.BecameDismissed},
		{"its thread was resolved by somebody who may", reviewed, Stands, Facts{Threads: thread(conversation.Pending, resolved("boss")), People: boss}, review.BecameDismissed},
		{"resolved because it was fixed", reviewed, Gone, Facts{Threads: thread(conversation.Pending, resolved("boss")), People: boss}, review.BecameFixed},
		{"its thread was resolved by a stranger", reviewed, Stands, Facts{Threads: thread(conversation.Pending, resolved("eve")), People: boss}, review.BecameIgnored},
		{"prloop settled the thread", reviewed, Unseen, Facts{Threads: thread(conversation.Resolved, nil)}, review.BecameFixed},
		{"prloop settled the thread, and it came back", merged, Stands, Facts{Threads: thread(conversation.Resolved, nil)}, review.BecameIgnored},
		{"in dispute", reviewed, Stands, Facts{Threads: thread(conversation.Disputed, nil)}, review.BecameDisputed},
		{"handed to people", merged, Unseen, Facts{Threads: thread(conversation.HandedOver, nil)}, review.BecameDisputed},
		{"in dispute, and fixed", reviewed, Gone, Facts{Threads: thread(conversation.Disputed, nil)}, review.BecameFixed},
		{"threads cannot be read", merged, Stands, Facts{Blind: true}, review.BecameUnknown},
		{"threads cannot be read, and it was fixed", reviewed, Gone, Facts{Blind: true}, review.BecameFixed},
		{"nobody answered in its thread", reviewed, Stands, Facts{Threads: thread(conversation.Pending, nil)}, review.BecameIgnored},
	} {
		row.f.Head, row.f.Code = merged, []Quoted{row.code}
		got := Judge(Posted([]Round{{Run: "r", Head: row.head, Findings: []review.Finding{f}}}), row.f)
		if len(got) != 1 || got[0].Became != row.want || strings.TrimSpace(got[0].Why) == "" {
			t.Errorf("%s: %+v, want %s", row.name, got, row.want)
		}
	}
	grave := f
	grave.Priority = review.P0
	got := Judge(Posted([]Round{{Head: reviewed, Findings: []review.Finding{grave}}}), Facts{Head: merged, Code: []Quoted{Stands}, Threads: thread(conversation.Resolved, ruled), People: boss})
	if got[0].Became != review.BecameIgnored {
		t.Errorf("a ruling settles a P0: %+v", got)
	}
}
