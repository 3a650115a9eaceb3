package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/review"
)

// fixAnswer is one answer as a fixer might write it, with all it can get wrong at once.
func fixAnswer(r *rand.Rand, ids, optional []string) string {
	if r.IntN(12) == 0 {
		return []string{"", "done!", `{"agent":"x"`, `{"agent":"x","prNumber":7,"findings":[]}`, "[]"}[r.IntN(5)]
	}
	pool := append(append([]string{"Z-9", "BUG-1 ", "bug-1"}, ids...), optional...)
	fixed, rejected := []map[string]any{}, []map[string]any{}
	say := func(id string) {
		if r.IntN(2) == 0 {
			fixed = append(fixed, map[string]any{"findingId": id, "commitSha": []string{"", "abc1234", "working tree"}[r.IntN(3)], "description": "d"})
		} else {
			rejected = append(rejected, map[string]any{"findingId": id, "reason": "r"})
		}
	}
	for _, id := range ids {
		if r.IntN(8) > 0 { // else it is forgotten
			say(id)
		}
	}
	for range r.IntN(3) { // again, or uncalled for
		if r.IntN(3) == 0 {
			say(pool[r.IntN(len(pool))])
		}
	}
	for _, id := range optional {
		if r.IntN(2) == 0 {
			say(id)
		}
	}
	doc, err := json.Marshal(map[string]any{"agent": "me", "prNumber": r.IntN(10), "summary": map[string]int{"fixed": r.IntN(5), "rejected": r.IntN(5), "deferred": r.IntN(5)},
		"fixedIssues": fixed, "rejectedIssues": rejected, "commits": []any{}})
	if err != nil {
		panic(err)
	}
	return string(doc)
}

// The invariant of spec.md A5 over whatever fixers write: refused, asked once more, and then each finding stands in the result once. A fixer
// that failed altogether fixed nothing.
func TestFixersKeepTheInvariant(t *testing.T) {
	t.Parallel()
	states := map[review.AgentState]int{}
	for seed := range uint64(6000) {
		r := rand.New(rand.NewPCG(seed, 11))
		spec := Spec{Name: "pr-fix", Role: review.RoleFixer}
		task := sampleTask(spec)
		task.Fix = &review.FixPayload{PRNumber: 7, Round: 1}
		var ids, optional []string
		for i := range 1 + r.IntN(4) {
			ids = append(ids, fmt.Sprintf("BUG-%d", i+1))
			task.Fix.IssuesToFix = append(task.Fix.IssuesToFix, review.Finding{ID: ids[i]})
		}
		for i := range r.IntN(3) {
			optional = append(optional, fmt.Sprintf("NIT-%d", i+1))
			task.Fix.OptionalIssues = append(task.Fix.OptionalIssues, review.Finding{ID: optional[i]})
		}
		var tries []*attempt
		var wrote []string
		for len(tries) < maxAttempts {
			a := &attempt{}
			a.frame.event = func([]byte) bool { return true }
			wrote = append(wrote, fixAnswer(r, ids, optional))
			for line := range strings.Lines(wrote[len(wrote)-1]) {
				a.frame.line([]byte(strings.TrimSuffix(line, "\n")))
			}
			if r.IntN(30) == 0 {
				a.ended = errors.New("exit status 1")
			}
			a.read(spec, task)
			tries = append(tries, a)
			if !a.repairable() {
				break
			}
		}
		settled := spec.question(task).Settle(said(spec, tries))
		states[settled.Receipt.State]++
		final := settled.Fix
		if final == nil {
			got, _ := answer.SettleFix(*task.Fix, nil)
			final = &got
		}
		if again, notes := answer.SettleFix(*task.Fix, final); len(notes) > 0 || again.Summary != final.Summary {
			t.Errorf("seed %d: settling again finds %v", seed, notes)
		}
		seen := map[string]int{}
		for _, f := range final.FixedIssues {
			seen[f.FindingID]++
			if settled.Receipt.State == review.AgentFailed {
				t.Errorf("seed %d: a fixer that failed fixed %s", seed, f.FindingID)
			}
		}
		for _, f := range final.RejectedIssues {
			seen[f.FindingID]++
			if f.Reason == "" {
				t.Errorf("seed %d: %s is rejected without a reason", seed, f.FindingID)
			}
		}
		ok := len(seen) == len(ids) && final.Summary.Fixed == len(final.FixedIssues) && final.Summary.Rejected == len(final.RejectedIssues) &&
			final.Summary.Fixed+final.Summary.Rejected == len(task.Fix.IssuesToFix) && final.Summary.Deferred <= len(optional)
		for _, id := range ids {
			ok = ok && seen[id] == 1
		}
		if !ok {
			t.Fatalf("seed %d: %d to fix, state %s, answers %q, settled %+v", seed, len(ids), settled.Receipt.State, wrote, *final)
		}
		if settled.Receipt.State == review.AgentComplete && strings.Contains(strings.Join(settled.Receipt.Notes, "\n"), "nothing is said about") {
			t.Errorf("seed %d: complete although a finding was forgotten", seed)
		}
	}
	for _, state := range []review.AgentState{review.AgentComplete, review.AgentDegraded, review.AgentFailed} {
		if states[state] < 100 {
			t.Errorf("only %d of 6000 answers are %s: the generator does not reach it", states[state], state)
		}
	}
}

// Which answers are refused, and what is left of them when they stay so.
func TestFixersAnswers(t *testing.T) {
	t.Parallel()
	spec := Spec{Name: "pr-fix", Role: review.RoleFixer}
	task := sampleTask(spec)
	task.Fix.IssuesToFix = []review.Finding{{ID: "A"}, {ID: "B"}}
	doc := func(fixed, rejected string) string {
		entry := func(list, form string) string {
			var out []string
			for _, id := range strings.Fields(list) {
				out = append(out, fmt.Sprintf(form, id))
			}
			return strings.Join(out, ",")
		}
		return `{"agent":"pr-fix","prNumber":7,"summary":{"fixed":1,"rejected":1,"deferred":0},"fixedIssues":[` + entry(fixed, `{"findingId":%q,"commitSha":"","description":"d"}`) +
			`],"rejectedIssues":[` + entry(rejected, `{"findingId":%q,"reason":"r"}`) + `],"commits":[]}`
	}
	for _, c := range []struct {
		rule, answer string
		refused      string // why, for the fixer to read
		fixed        string // what counts as fixed when it stays so; "-" when nothing is kept
	}{
		{"a right answer", doc("A", "B"), "", "A"},
		{"an unknown id is dropped", doc("A Z", "B"), "", "A"},
		{"one without a word", doc("A", ""), "neither fixed nor rejected: B", "A"},
		{"one fixed twice", doc("A A", "B"), `"A" is named twice`, "A"},
		{"one both fixed and rejected", doc("A B", "B"), `"B" is named twice`, "A"},
		{"half a document", doc("A", "B")[:60], "the envelope is cut off", "-"},
		{"no reason for a rejection", strings.Replace(doc("A", "B"), `"r"`, `""`, 1), "rejectedIssues/0/reason: must not be empty", "-"},
	} {
		a := &attempt{}
		a.frame.event = func([]byte) bool { return true }
		a.frame.line([]byte(c.answer))
		a.read(spec, task)
		if (a.invalid == nil) != (c.refused == "") || a.invalid != nil && !strings.Contains(a.invalid.Error(), c.refused) {
			t.Errorf("%s: refused with %v", c.rule, a.invalid)
		}
		settled := spec.question(task).Settle(said(spec, []*attempt{a}))
		got := "-"
		if settled.Fix != nil {
			var ids []string
			for _, f := range settled.Fix.FixedIssues {
				ids = append(ids, f.FindingID)
			}
			if got = strings.Join(ids, " "); len(settled.Fix.FixedIssues)+len(settled.Fix.RejectedIssues) != 2 {
				t.Errorf("%s: %+v", c.rule, settled.Fix)
			}
		}
		if got != c.fixed || (settled.Receipt.State == review.AgentComplete) != (c.refused == "") {
			t.Errorf("%s: %s, fixed %q", c.rule, settled.Receipt.State, got)
		}
	}
}
