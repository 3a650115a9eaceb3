package orchestrator

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
)

// matched is the second stage of a judgement: which findings are the same one, among themselves and with those of earlier rounds.
type matched struct {
	gathered
	// groups are the distinct findings, by index in findings; same is the earlier finding each group is, -1 for a new one.
	groups [][]int
	same   []int
	// stuck and fresh are groups that came back after a fix, and new ones on lines a fix wrote, of the weight introduced. waiting are what people said
	// before a fix of this run or an earlier one that is said to do it: they say nothing more, and are to say whether it does.
	stuck, fresh, waiting []int
	introduced            int
	// tracked is what is to be remembered: the groups first, in their order.
	tracked []Tracked
}

// match compares this round's findings with each other and with those of earlier rounds: which came back, which were introduced by
// a fix, and what is to be remembered.
func match(said gathered) matched {
	in := said.in
	m := matched{gathered: said}
	m.findings = caused(said.findings, in.Written)
	m.groups = identity.Join(m.findings)
	m.same = returning(in.Earlier, m.findings, m.groups)
	returned, numbers := map[int]bool{}, 0
	for _, t := range in.Earlier {
		numbers = max(numbers, t.No)
	}
	for g, group := range m.groups {
		t := Tracked{Round: in.Round}
		for _, i := range group {
			t.Findings = append(t.Findings, m.findings[i])
		}
		only := onlyPeople(t.Findings)
		t.Words = in.Snapshot.words(t.Findings)
		first := m.findings[group[0]]
		if old := m.same[g]; old >= 0 {
			returned[old] = slices.ContainsFunc(t.Findings, objections.Grave) || !slices.ContainsFunc(in.Earlier[old].Findings, objections.Grave) // what comes back as minor is not settled by that
			was := in.Earlier[old]
			t.No, t.ID, t.Claim, t.FixedIn, t.Introduced = was.No, was.ID, was.Claim, was.FixedIn, was.Introduced
			switch {
			case was.Stuck || !only:
				t.Stuck = was.Stuck || was.FixedIn > 0
			case was.FixedIn > 0 && in.Snapshot.unsaid(t.Words, was.Words): // it is another request
				t.Claim, t.FixedIn = nil, 0
			}
			t.Findings = append(t.Findings, m.notRevisited(was, t)...)
		} else if first.Cause != nil {
			t.Introduced = true
			m.introduced += weigh(first.Priority)
			m.fresh = append(m.fresh, g)
		}
		if t.No == 0 {
			numbers++
			t.No = numbers
		}
		m.tracked = append(m.tracked, t)
		if t.Stuck {
			m.stuck = append(m.stuck, g)
		} else if only && (t.FixedIn > 0 || !in.Snapshot.unsaid(t.Words, nil)) {
			m.waiting = append(m.waiting, g)
		}
	}
	for i, t := range in.Earlier { // what is gone may come back in a later round
		if returned[i] {
			continue
		}
		if left := m.notRevisited(t, Tracked{}); len(left) > 0 {
			t.Findings = left
		} else {
			t.Settled = m.settled(t) || t.Settled && !m.doubted(t)
		}
		if !t.SetAside || !t.Settled {
			m.tracked = append(m.tracked, t)
		}
	}
	for i, u := range m.setAside() {
		id := fmt.Sprintf("set-aside-%d", i+1)
		m.tracked = append(m.tracked, Tracked{
			Findings: []review.Finding{u.Finding}, Round: in.Round, ID: id, SetAside: true,
			Claim: &review.Claim{FindingID: id, Kind: review.ClaimSetAside, Text: "it " + u.Reason},
		})
	}
	m.notes = append(slices.Clone(m.notes), m.contradictions()...)
	return m
}

// caused names, of each finding, the fix commit of this run that wrote the lines it stands on.
func caused(findings []review.Finding, lines []Written) []review.Finding {
	out := slices.Clone(findings)
	for i := range out {
		if commit := wrote(out[i], lines); commit != "" {
			out[i].Cause = &review.Cause{Kind: "introduced_by_fix", Commit: commit}
		}
	}
	return out
}
