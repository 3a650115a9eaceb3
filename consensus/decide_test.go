package consensus

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/prloop/prloop/review"
)

func of(priorities ...review.Priority) []review.Finding {
	var findings []review.Finding
	for _, p := range priorities {
		findings = append(findings, review.Finding{Priority: p})
	}
	return findings
}

func asked(association ...string) review.ReviewState {
	s := review.ReviewState{HasChangesRequested: len(association) > 0}
	for i, a := range association {
		s.ChangesRequestedBy = append(s.ChangesRequestedBy, review.ChangesRequestedBy{Login: string(rune('a' + i)), Association: a})
	}
	return s
}

func TestDecide(t *testing.T) {
	flagOnly := review.ReviewState{HasChangesRequested: true}
	listOnly := asked("OWNER")
	listOnly.HasChangesRequested = false
	for _, row := range []struct {
		name     string
		findings []review.Finding
		state    review.ReviewState
		want     review.Conclusion
		rules    []int
		reasons  []string
	}{
		{"spec.md A6 rule 4: nothing found", nil, asked(), review.Approve, []int{4}, []string{"No finding is P0, P1 or P2."}},
		{"spec.md A6 rule 4: suggestions alone approve", of("P3", "P3"), asked(), review.Approve, []int{4}, []string{"No finding is P0, P1 or P2; 2 are suggestions (P3)."}},
		{"spec.md A6 rule 1: a P0", of("P0"), asked(), review.NeedsMajorWork, []int{1}, []string{"1 finding is P0 (blocking)."}},
		{"spec.md A6 rule 1 before 2 and 3, all are named", of("P2", "P1", "P0", "P0"), asked(), review.NeedsMajorWork, []int{1, 2, 3},
			[]string{"2 findings are P0 (blocking).", "1 finding is P1 (critical).", "1 finding is P2 (important)."}},
		{"spec.md A6 rule 2: a P1", of("P1", "P3"), asked(), review.RequestChanges, []int{2}, []string{"1 finding is P1 (critical)."}},
		{"spec.md A6 rule 3: a P2", of("P2"), asked(), review.RequestChanges, []int{3}, []string{"1 finding is P2 (important)."}},
		{"spec.md A6 rule 0: a member without any finding; rule 4 is named too", nil, asked("MEMBER"), review.RequestChanges, []int{0, 4},
			[]string{"a (member) has requested changes.", "No finding is P0, P1 or P2."}},
		{"decision 4: rule 0 wins over P0s as written", of("P0"), asked("OWNER", "COLLABORATOR"), review.RequestChanges, []int{0, 1},
			[]string{"a (owner) and b (collaborator) have requested changes.", "1 finding is P0 (blocking)."}},
		{"spec.md A6 rule 0: association in any case", nil, asked("Member"), review.RequestChanges, []int{0, 4}, []string{"a (member) has requested changes.", "No finding is P0, P1 or P2."}},
		{"spec.md A6 rule 0: contributors and strangers cannot block", nil, asked("CONTRIBUTOR", "NONE", "FIRST_TIMER", ""), review.Approve, []int{4}, []string{"No finding is P0, P1 or P2."}},
		{"spec.md A6 rule 0: only those who may block are named", nil, asked("NONE", "MEMBER"), review.RequestChanges, []int{0, 4}, []string{"b (member) has requested changes.", "No finding is P0, P1 or P2."}},
		{"spec.md A6 rule 0: the flag without anybody is nothing", nil, flagOnly, review.Approve, []int{4}, []string{"No finding is P0, P1 or P2."}},
		{"spec.md A6 rule 0: the list without the flag is nothing", nil, listOnly, review.Approve, []int{4}, []string{"No finding is P0, P1 or P2."}},
		{"a priority that is none counts as P0: fail closed", of("P7"), asked(), review.NeedsMajorWork, []int{1}, []string{"1 finding is P0 (blocking)."}},
	} {
		got := Decide(row.findings, row.state)
		want := review.Verdict{Consensus: row.want, Rules: row.rules, Reasons: row.reasons, Issues: got.Issues}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s:\n%s", row.name, d)
		}
		if got.Issues.Total() != len(row.findings) {
			t.Errorf("%s: counts %+v do not add up", row.name, got.Issues)
		}
	}
}

func TestDecideCountsDuplicates(t *testing.T) {
	same := review.Finding{ID: "A", Priority: review.P2, File: "a.go", Title: "t"}
	if v := Decide([]review.Finding{same, same}, asked()); v.Issues.P2 != 2 {
		t.Errorf("spec.md A6 counts undeduplicated, got %+v", v.Issues)
	}
}

func TestShufflingChangesNothing(t *testing.T) {
	associations := []string{"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "NONE", "member"}
	rapid.Check(t, func(t *rapid.T) {
		findings := of(rapid.SliceOf(rapid.SampledFrom([]review.Priority{"P0", "P1", "P2", "P3"})).Draw(t, "priorities")...)
		state := asked(rapid.SliceOfN(rapid.SampledFrom(associations), 0, 6).Draw(t, "associations")...)
		want := Decide(findings, state)
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		f, by := slices.Clone(findings), slices.Clone(state.ChangesRequestedBy)
		r.Shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] })
		r.Shuffle(len(by), func(i, j int) { by[i], by[j] = by[j], by[i] })
		got := Decide(f, review.ReviewState{HasChangesRequested: state.HasChangesRequested, ChangesRequestedBy: by})
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		if len(got.Rules) == 0 || len(got.Rules) != len(got.Reasons) || !slices.IsSorted(got.Rules) {
			t.Fatalf("rules %v, reasons %q", got.Rules, got.Reasons)
		}
		// An extra finding never makes the verdict milder.
		worse := Decide(append(f, of("P1")...), state)
		if worse.Consensus == review.Approve {
			t.Fatal("approved with a P1")
		}
	})
}
