package answer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

// fixCase is a payload and an answer to it, right or wrong in every manner a fixer may be.
type fixCase struct {
	Payload review.FixPayload
	Answer  *review.FixResult
}

// generateFix makes cases out of few ids, so that collisions are the rule.
func generateFix(r *rand.Rand) fixCase {
	id := func() string { return fmt.Sprintf("F-%d", r.IntN(8)) }
	finding := func() review.Finding { return review.Finding{ID: id(), Title: "t"} }
	c := fixCase{Payload: review.FixPayload{PRNumber: 7, Round: 1}}
	for range r.IntN(6) {
		c.Payload.IssuesToFix = append(c.Payload.IssuesToFix, finding())
	}
	for range r.IntN(3) {
		c.Payload.OptionalIssues = append(c.Payload.OptionalIssues, finding())
	}
	if r.IntN(20) == 0 {
		return c
	}
	a := &review.FixResult{Agent: "x", PRNumber: r.IntN(9), Summary: review.FixSummary{Fixed: r.IntN(9), Rejected: r.IntN(9), Deferred: r.IntN(9)}}
	for range r.IntN(7) {
		a.FixedIssues = append(a.FixedIssues, review.FixedIssue{FindingID: id(), CommitSHA: "abc", Description: "d"})
	}
	for range r.IntN(7) {
		a.RejectedIssues = append(a.RejectedIssues, review.RejectedIssue{FindingID: id(), Reason: "r"})
	}
	for range r.IntN(15) {
		a.Noticed = append(a.Noticed, review.Notice{File: []string{"", "a.go", "./a.go", "../a.go"}[r.IntN(4)], Text: strings.Repeat("é ", r.IntN(700))})
	}
	c.Answer = a
	return c
}

// The invariant of spec.md A5: fixed + rejected == issuesToFix, each id exactly once, whatever the fixer says.
func TestSettledFixesKeepTheInvariant(t *testing.T) {
	for seed := range uint64(20_000) {
		c := generateFix(rand.New(rand.NewPCG(seed, 5)))
		before, err := json.Marshal(c.Answer)
		if err != nil {
			t.Fatal(err)
		}
		got, notes := SettleFix(c.Payload, c.Answer)
		if after, _ := json.Marshal(c.Answer); string(after) != string(before) {
			t.Errorf("the answer itself was changed: %s to %s", before, after)
		}
		want := map[string]int{}
		for _, f := range c.Payload.IssuesToFix {
			want[f.ID] = 1
		}
		have, claims := map[string]int{}, map[string][2]int{}
		if c.Answer != nil {
			for _, f := range c.Answer.FixedIssues {
				n := claims[f.FindingID]
				claims[f.FindingID] = [2]int{n[0] + 1, n[1]}
			}
			for _, f := range c.Answer.RejectedIssues {
				n := claims[f.FindingID]
				claims[f.FindingID] = [2]int{n[0], n[1] + 1}
			}
		}
		for _, f := range got.FixedIssues {
			have[f.FindingID]++
			if n := claims[f.FindingID]; n[0] == 0 || n[1] > 0 {
				t.Errorf("%s counts as fixed, claimed %v", f.FindingID, n)
			}
		}
		for _, f := range got.RejectedIssues {
			have[f.FindingID]++
			if n := claims[f.FindingID]; n[0] > 0 && n[1] == 0 {
				t.Errorf("%s counts as rejected, claimed %v", f.FindingID, n)
			}
		}
		optional := 0 // those that cannot have been fixed in passing
		for _, f := range c.Payload.OptionalIssues {
			if claims[f.ID][0] == 0 {
				optional++
			}
		}
		ok := cmp.Equal(want, have) && got.Summary.Fixed == len(got.FixedIssues) && got.Summary.Rejected == len(got.RejectedIssues) &&
			got.PRNumber == 7 && got.Summary.Deferred <= optional && len(notes) <= maxNotes+1
		again, more := SettleFix(c.Payload, &got)
		if !reflect.DeepEqual(again, got) || len(more) > 0 {
			t.Errorf("settling twice changes it: %+v, %+v, %v", got, again, more)
		}
		if !ok {
			t.Fatalf("seed %d: payload %+v, answer %s, settled %+v, notes %v", seed, c.Payload, before, got, notes)
		}
	}
}

func TestSettleFix(t *testing.T) {
	payload := review.FixPayload{PRNumber: 7, Round: 1,
		IssuesToFix: []review.Finding{{ID: "A"}, {ID: "B"}}, OptionalIssues: []review.Finding{{ID: "N"}, {ID: "M"}}}
	fixed := func(ids ...string) (all []review.FixedIssue) {
		for _, id := range ids {
			all = append(all, review.FixedIssue{FindingID: id, CommitSHA: "c", Description: "d"})
		}
		return all
	}
	rejected := func(ids ...string) (all []review.RejectedIssue) {
		for _, id := range ids {
			all = append(all, review.RejectedIssue{FindingID: id, Reason: "r"})
		}
		return all
	}
	for _, c := range []struct {
		rule   string
		answer *review.FixResult
		want   []string
		notes  []string
	}{
		{"a fixer that failed altogether fixed nothing", nil, []string{"no A not fixed: the fixer gave no answer", "no B not fixed: the fixer gave no answer", "0 2 2"}, nil},
		{"a right answer stays", &review.FixResult{Summary: review.FixSummary{Fixed: 1, Rejected: 1, Deferred: 2}, FixedIssues: fixed("B"), RejectedIssues: rejected("A")},
			[]string{"yes B c", "no A r", "1 1 2"}, nil},
		{"who is not named is not fixed", &review.FixResult{FixedIssues: fixed("A"), Summary: review.FixSummary{Fixed: 1, Rejected: 1, Deferred: 2}},
			[]string{"yes A c", "no B not fixed: the fixer did not say what became of it", "1 1 2"}, []string{`nothing is said about "B"`}},
		{"fixed and rejected is not fixed", &review.FixResult{FixedIssues: fixed("A", "B"), RejectedIssues: rejected("A"), Summary: review.FixSummary{Fixed: 1, Rejected: 1, Deferred: 2}},
			[]string{"yes B c", "no A not fixed: the fixer says both that it fixed and that it rejects it", "1 1 2"}, []string{`"A" is said to be fixed and rejected`}},
		{"unknown ids are dropped and noted", &review.FixResult{FixedIssues: fixed("A", "Z"), RejectedIssues: rejected("B", "Y"), Summary: review.FixSummary{Fixed: 2, Rejected: 2, Deferred: 9}},
			[]string{"yes A c", "no B r", "1 1 2"}, []string{`"Z" was not asked for`, `"Y" was not asked for`, "summary: claimed 2 fixed, 2 rejected and 9 deferred, counted 1, 1 and 2"}},
		{"optional issues are not part of the count", &review.FixResult{FixedIssues: fixed("A", "B", "N"), RejectedIssues: rejected("M"), Summary: review.FixSummary{Fixed: 2, Deferred: 1}},
			[]string{"yes A c", "yes B c", "2 0 1"}, []string{`"N" was optional and is said to be fixed too`}},
		{"of two entries the first is kept", &review.FixResult{FixedIssues: []review.FixedIssue{{FindingID: "A", CommitSHA: "1"}, {FindingID: "A", CommitSHA: "2"}}, RejectedIssues: rejected("B"), Summary: review.FixSummary{Fixed: 1, Rejected: 1, Deferred: 2}},
			[]string{"yes A 1", "no B r", "1 1 2"}, []string{`"A" is listed as fixed twice`}},
	} {
		got, notes := SettleFix(payload, c.answer)
		var lines []string
		for _, f := range got.FixedIssues {
			lines = append(lines, "yes "+f.FindingID+" "+f.CommitSHA)
		}
		for _, f := range got.RejectedIssues {
			lines = append(lines, "no "+f.FindingID+" "+f.Reason)
		}
		lines = append(lines, fmt.Sprint(got.Summary.Fixed, got.Summary.Rejected, got.Summary.Deferred))
		if d := cmp.Diff(c.want, lines); d != "" {
			t.Errorf("%s:\n%s", c.rule, d)
		}
		if !slices.Equal(c.notes, notes) {
			t.Errorf("%s: notes %q", c.rule, notes)
		}
	}
}

// What a fixer noticed is kept in bounds, whatever it sends.
func TestSettleNoticed(t *testing.T) {
	line := 3
	long := strings.Repeat("é", 2*noticedText)
	r := &review.FixResult{Noticed: []review.Notice{{File: "./a.go", Line: &line, Text: " leaks "}, {File: "a.go", Text: "leaks"}, {File: "../etc", Line: &line, Text: "odd"}, {Text: " "}, {Text: long}}}
	got, notes := SettleFix(review.FixPayload{}, r)
	want := []review.Notice{{File: "a.go", Line: &line, Text: "leaks"}, {Text: "odd"}, {Text: strings.Repeat("é", noticedText-1) + "…"}}
	if d := cmp.Diff(want, got.Noticed); d != "" || !slices.Equal(notes, []string{`noticed: "../etc" is no path inside the repository`}) {
		t.Errorf("%s\nnotes %q", d, notes)
	}
	r.Noticed = []review.Notice{{Text: strings.Repeat("é", noticedText-30) + " postgres://app:q7Rz!2Lm9Xc4Vb8Nt1Wk6Qp3x@db.corp/x and q7Rz2Lm9Xc4"}} // masked before it is cut (threats.md T793)
	if got, _ := SettleFix(review.FixPayload{}, r); strings.Contains(got.Noticed[0].Text, "q7Rz") || !strings.HasSuffix(got.Noticed[0].Text, "…") {
		t.Errorf("%q", got.Noticed[0].Text)
	}
	r.Noticed = nil
	for i := range 2 * noticed {
		r.Noticed = append(r.Noticed, review.Notice{Text: fmt.Sprint(i)})
	}
	if got, notes := SettleFix(review.FixPayload{}, r); len(got.Noticed) != noticed || len(notes) != 1 {
		t.Errorf("%d kept, %q", len(got.Noticed), notes)
	}
}

// An answer without the fields that came later is as valid as one with them.
func TestFixResultsOfOldFixers(t *testing.T) {
	const old = `{"agent":"x","prNumber":7,"summary":{"fixed":1,"rejected":0,"deferred":0},"fixedIssues":[{"findingId":"A","commitSha":"","description":"d"}],"rejectedIssues":[],"commits":[]}`
	r, notes, err := DecodeFix([]byte(old))
	if err != nil || len(notes) > 0 || r.Noticed != nil || r.FixedIssues[0].Tests != "" {
		t.Errorf("%+v %q %v", r, notes, err)
	}
	more := strings.Replace(old, `"description":"d"`, `"description":"d","tests":"TestA","risk":null`, 1)
	more = strings.Replace(more, `"commits":[]`, `"commits":[],"noticed":[{"file":"a.go","line":0,"text":"t"}]`, 1)
	r, _, err = DecodeFix([]byte(more))
	if err != nil || len(r.Noticed) != 1 || r.Noticed[0].Line != nil || r.FixedIssues[0].Tests != "TestA" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestSalvageFix(t *testing.T) {
	doubled := `{"agent":"x","prNumber":7,"summary":{"fixed":2,"rejected":0,"deferred":0},"fixedIssues":[{"findingId":"A","commitSha":"","description":"d"},{"findingId":"A","commitSha":"","description":"e"}],"rejectedIssues":[],"commits":[]}`
	if _, _, err := DecodeFix([]byte(doubled)); err == nil {
		t.Fatal("an id named twice was not refused (decision 5)")
	}
	if r, notes := SalvageFix([]byte(doubled)); r == nil || len(r.FixedIssues) != 2 || len(notes) == 0 {
		t.Errorf("%+v %v", r, notes)
	}
	if r, _ := SalvageFix([]byte(doubled[:40])); r != nil {
		t.Errorf("half an answer was kept: %+v", r)
	}
}
