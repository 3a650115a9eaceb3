package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/review"
)

// verified is the round of judge_test with a verifier that said this; a fact with a quote stands in the code.
func verified(in Inputs, said ...review.Assessment) Inputs {
	in.Request.Verify = &VerifyPlan{Agent: AgentPlan{Name: "verifier", Role: review.RoleVerifier, Kind: "command"}, Limits: review.Limits{Candidates: 30}}
	in.Verifier = &AgentReport{Answer: review.Answer{
		Verifier: &review.VerifierResult{Agent: "verifier", Assessments: said},
		Receipt:  review.AgentReceipt{Name: "verifier", Role: review.RoleVerifier, Kind: "command", State: review.AgentComplete},
	}}
	for _, a := range said {
		ev := evidence.Result{Status: evidence.None}
		if a.Fact != nil {
			ev.Status = evidence.Verified
			if a.Fact.Evidence == "" {
				ev = evidence.Result{Status: evidence.False, Reason: "is made up"}
			}
		}
		in.Verifier.Evidence = append(in.Verifier.Evidence, ev)
	}
	return in
}

func proof() *review.Fact {
	return &review.Fact{File: "b.go", Evidence: "if len(list) == 0 { return }"}
}

func chance(id string, p float64) review.Assessment {
	return review.Assessment{FindingID: id, Status: review.Plausible, Probability: &p}
}

func TestWhatAVerifierDoesToAVerdict(t *testing.T) {
	refutes := func(id string) review.Assessment {
		return review.Assessment{FindingID: id, Status: review.Refuted, Reason: "It is guarded.", Fact: proof()}
	}
	lies := refutes("F1")
	lies.Fact = &review.Fact{File: "b.go"}
	both := func(p review.Priority) Inputs {
		in := round()
		in.Reports[0], in.Reports[1] = says("alpha", found(p, "Divides by zero when empty")), says("beta", found(p, "Divides by zero when empty"))
		return in
	}
	security, injection := both(review.P2), both(review.P2)
	for i := range 2 {
		security.Reports[i].Answer.Reviewer.Findings[0].Category, injection.Reports[i].Answer.Reviewer.Findings[0].Category = "security", "SQL injection"
	}
	rules := both(review.P2)
	rules.Request.Agents[0].Kind, rules.Reports[0].Answer.Receipt.Kind = review.KindStatic, review.KindStatic
	rules.Request.MinReviewers = 1
	two := round()
	two.Reports[0] = says("alpha", found(review.P2, "Divides by zero when empty"), found(review.P1, "Leaks the handle of every file"))
	by := func(in Inputs, rule string, said ...review.Assessment) Inputs {
		in = verified(in, said...)
		in.Request.Rule = rule
		return in
	}
	for _, row := range []struct {
		name     string
		in       Inputs
		outcome  review.Outcome
		counted  int
		aside    int
		notTaken int
		says     string // in the report
	}{
		{"a P2 that everybody raises is refuted", verified(both(review.P2), refutes("F1")), review.Converged, 0, 2, 0, "was refuted by verifier, which shows `b.go`: It is guarded."},
		{"a P3 too", verified(both(review.P3), refutes("F1")), review.Converged, 0, 2, 0, ""},
		{"a P1 needs a person", verified(both(review.P1), refutes("F1")), review.SetAside, 0, 2, 0, "refuted by the verifier, whose word alone settles none that grave"},
		{"a P0 needs a person", verified(both(review.P0), refutes("F1")), review.SetAside, 0, 2, 0, ""},
		{"a P2 about security needs a person", verified(security, refutes("F1")), review.SetAside, 0, 2, 0, ""},
		{"whatever it is called", verified(injection, refutes("F1")), review.SetAside, 0, 2, 0, ""},
		{"a finding of a rule is not asked about", verified(rules, refutes("F1")), review.ChangesRequested, 2, 0, 0, ""},
		{"a refutation without a fact that stands is none", verified(both(review.P2), lies), review.ChangesRequested, 2, 0, 0, ""},
		{"nor is one without any", verified(both(review.P2), review.Assessment{FindingID: "F1", Status: review.Refuted}), review.ChangesRequested, 2, 0, 0, ""},
		{"an id that nobody was asked about", verified(both(review.P2), refutes("F2")), review.ChangesRequested, 2, 0, 0, ""},
		{"what is confirmed is said to be", verified(both(review.P2), review.Assessment{FindingID: "F1", Status: review.Confirmed, Fact: proof()}), review.ChangesRequested, 2, 0, 0, "confirmed by the verifier"},
		{"one is refuted, the other counts", verified(two, refutes("F2")), review.ChangesRequested, 1, 1, 0, ""},
		{"the gravest is asked about first", verified(two, refutes("F1")), review.ChangesRequested, 1, 1, 0, "Leaks the handle"},
		{"under all an unlikely P2 counts", by(both(review.P2), "", chance("F1", 0)), review.ChangesRequested, 2, 0, 0, ""},
		{"under verified it does not", by(both(review.P2), RuleVerified, chance("F1", 0)), review.Converged, 0, 0, 2, "listed and not counted for the verdict"},
		{"under verified a likely one does", by(both(review.P2), RuleVerified, chance("F1", 0.5)), review.ChangesRequested, 2, 0, 0, ""},
		{"under verified what was not looked at does", by(both(review.P2), RuleVerified), review.ChangesRequested, 2, 0, 0, ""},
		{"under verified an unlikely P0 does", by(both(review.P0), RuleVerified, chance("F1", 0)), review.ChangesRequested, 2, 0, 0, ""},
		{"under verified unlikely security does", by(security, RuleVerified, chance("F1", 0)), review.ChangesRequested, 2, 0, 0, ""},
		{"whatever security is called", by(injection, RuleVerified, chance("F1", 0)), review.ChangesRequested, 2, 0, 0, ""},
		{"under verified an unlikely P1 needs a person", by(both(review.P1), RuleVerified, chance("F1", 0)), review.SetAside, 0, 0, 2, "not counted by the rule, and nothing proves it wrong"},
		{"a duplicate of what is refuted is none", by(two, RuleVerified, refutes("F1"), review.Assessment{FindingID: "F2", Status: review.Duplicate, DuplicateOf: "F1", Probability: chance("", 0.9).Probability}),
			review.ChangesRequested, 1, 1, 0, ""},
		{"a grave finding is no duplicate of a lesser one", by(two, RuleVerified, chance("F2", 0), review.Assessment{FindingID: "F1", Status: review.Duplicate, DuplicateOf: "F2", Probability: chance("", 0.9).Probability}),
			review.ChangesRequested, 1, 0, 1, ""},
		{"a duplicate of what counts does not count under verified", by(two, RuleVerified, chance("F1", 0.9), review.Assessment{FindingID: "F2", Status: review.Duplicate, DuplicateOf: "F1"}),
			review.ChangesRequested, 1, 0, 1, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			j := Judge(row.in)
			r := j.Result
			if r.Outcome != row.outcome || r.Issues.Total() != row.counted || len(r.Unverified) != row.aside || r.NotTaken != row.notTaken {
				t.Errorf("%s (%s) with %d counted, %d set aside and %d not taken; want %s with %d, %d and %d",
					r.Outcome, r.Reason, r.Issues.Total(), len(r.Unverified), r.NotTaken, row.outcome, row.counted, row.aside, row.notTaken)
			}
			if !strings.Contains(j.Report, row.says) {
				t.Errorf("the report does not say %q:\n%s", row.says, j.Report)
			}
			if row.outcome == review.SetAside && r.ExitStatus() != 4 {
				t.Errorf("exit status %d", r.ExitStatus())
			}
			if n := strings.Count(j.Report, "\n#### "); n != r.Distinct+distinctAside(r)+left(row.in, r) {
				t.Errorf("%d findings stand in the report", n)
			}
			sameAgain(t, row.in, j)
		})
	}
}

// distinctAside is how many different findings were set aside.
func distinctAside(r review.RunResult) int {
	ids := map[string]bool{}
	for _, u := range r.Unverified {
		ids[u.Finding.Assessment.FindingID] = true
	}
	return len(ids)
}

// left is how many different findings the rule leaves out.
func left(in Inputs, r review.RunResult) int {
	if r.NotTaken == 0 {
		return 0
	}
	return len(slices.CompactFunc(slices.Clone(r.Findings), func(a, b review.Finding) bool { return a.Title == b.Title })) - r.Distinct
}

// sameAgain holds that stored inputs give the same bytes, whatever the order of the answers.
func sameAgain(t *testing.T, in Inputs, want Judgement) {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var again Inputs
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(again.Reports)
	got := Judge(again)
	one, _ := json.Marshal(want.Result)
	other, _ := json.Marshal(got.Result)
	if got.Report != want.Report || string(one) != string(other) {
		t.Error("judged again, it says something else")
	}
}

// What a person has to fix stands in the first list within the budget, and P0, P1 and security always.
func TestNoiseBudget(t *testing.T) {
	in := round()
	var all []review.Finding
	for i := range 9 {
		f := found(review.P2, fmt.Sprint("Something is wrong with part ", strings.Repeat("x", i+1)))
		f.File, f.ID = fmt.Sprintf("f%d.go", i), fmt.Sprint("X-", i)
		all = append(all, f)
	}
	all[0].Priority, all[1].Category = review.P1, "security"
	in.Reports[0], in.Reports[1] = says("alpha", slices.Clone(all)...), says("beta", slices.Clone(all)...)
	open := func(in Inputs) int {
		return strings.Count(strings.SplitN(Judge(in).Report, "<details>", 2)[0], "\n#### ")
	}
	if n := open(in); n != 5 {
		t.Errorf("%d findings are open, want 5", n)
	}
	in.Request.Budget = 1
	if n := open(in); n != 2 {
		t.Errorf("%d findings are open, want the P1 and the one about security", n)
	}
	if r := Judge(in).Result; r.Issues.Total() != 18 || r.Distinct != 9 {
		t.Errorf("the budget changes what counts: %+v", r.Issues)
	}
}

// What the rule leaves out is not handed to the fixer, not even as an offer.
func TestTheFixerIsGivenWhatCounts(t *testing.T) {
	in := round()
	in.Reports[0] = says("alpha", found(review.P2, "Divides by zero when empty"), found(review.P2, "Leaks the handle of every file"), found(review.P3, "The name of the parameter misleads"))
	in = verified(in, chance("F1", 0.9), chance("F2", 0), chance("F3", 0.9))
	in.Request.Rule, in.Request.Fix = RuleVerified, &FixPlan{Agent: AgentPlan{Name: "pr-fix"}}
	j := Judge(in)
	if !j.GoesOn || len(j.Payload.IssuesToFix) != 1 || len(j.Payload.OptionalIssues) != 1 {
		t.Errorf("asked to fix %+v, offered %+v", j.Payload.IssuesToFix, j.Payload.OptionalIssues)
	}
	if a := j.Payload.IssuesToFix[0].Assessment; a == nil || *a.Probability != 0.9 {
		t.Errorf("the fixer is not told what the verifier said: %+v", a)
	}
}

// The fixer is given what each wording of a finding says that has to be fixed by itself: one may name a file that the gravest does not. Of an offer it is given none.
func TestTheFixerIsGivenEachWording(t *testing.T) {
	in := round()
	second, offer := found(review.P2, "Divides by zero when empty"), found(review.P3, "Divides by zero when empty")
	second.Suggestion, offer.Suggestion = "Change caller.go, too.", "Change other.go, too."
	in.Reports[0], in.Reports[1] = says("alpha", found(review.P1, "Divides by zero when empty"), offer), says("beta", second)
	in.Request.Fix = &FixPlan{Agent: AgentPlan{Name: "pr-fix"}}
	j := Judge(in)
	if len(j.Payload.IssuesToFix) != 1 || j.Payload.IssuesToFix[0].Priority != review.P1 {
		t.Fatalf("asked to fix %+v", j.Payload.IssuesToFix)
	}
	if got := j.Payload.IssuesToFix[0].Description; !strings.Contains(got, "Also said, by `beta`: Change caller.go, too.") || strings.Contains(got, "other.go") {
		t.Errorf("the fixer is told %q", got)
	}
}

// What people ask for is in their own words: what they quote is not theirs (threats.md T854).
func TestDutiesAreOwnWords(t *testing.T) {
	boss := review.Person{Login: "boss"}
	s := Snapshot{PR: review.PullRequest{Author: boss}, Discussion: review.Discussion{
		Threads: []review.Thread{{ID: "T1", File: "a.go", Comments: []review.Comment{{ID: "C1", Author: boss, Body: "> Set it in deploy/prod.yaml\nand so on\n\n- > more.yaml\n\nP2: only guard it here."}}}, {ID: "T2", File: "a.go", Comments: []review.Comment{{ID: "C2", Author: boss, Mailed: true, Body: "P2: not that.\n\nPlease set mailed.yaml"}}}},
		Reviews: []review.Review{{ID: "R1", State: "CHANGES_REQUESTED", Author: boss, Body: "  > See other.yaml\n\nP1: not yet."}},
	}}
	said := fmt.Sprint(s.duties(7))
	if strings.Contains(said, "prod.yaml") || strings.Contains(said, "other.yaml") || strings.Contains(said, "and so on") || strings.Contains(said, "more.yaml") || strings.Contains(said, "mailed.yaml") || !strings.Contains(said, "only guard it here") || !strings.Contains(said, "not yet") {
		t.Errorf("asked for: %s", said)
	}
}

// filesAlone is a history of which only files can be read.
type filesAlone struct {
	History
	all files
}

func (f filesAlone) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	return f.all.ReadFile(ctx, commit, path)
}

// What proves a finding may be the code that its description names; what refutes it is more.
func TestAConfirmationMayQuoteTheDescription(t *testing.T) {
	l := &Loop{History: filesAlone{all: files{headSHA + ":a.go": "func f(list []int) int {\n\treturn sum(list) / len(list)\n}\n"}}}
	p := review.VerifyPayload{Findings: []review.Finding{{ID: "F1", File: "a.go", Evidence: "func f(list []int)", Description: "It ends in return sum(list) / len(list)"}}}
	for status, want := range map[review.AssessmentStatus]evidence.Status{review.Confirmed: evidence.Verified, review.Refuted: evidence.False} {
		a := review.Answer{Verifier: &review.VerifierResult{Assessments: []review.Assessment{{FindingID: "F1", Status: status, Fact: &review.Fact{File: "a.go", Evidence: "return sum(list) / len(list)"}}}}}
		got, err := l.checkFacts(t.Context(), Snapshot{Range: Range{Base: baseSHA, MergeBase: baseSHA, Head: headSHA}}, p, &a)
		if err != nil || len(got) != 1 || got[0].Status != want {
			t.Errorf("%s: %+v, %v", status, got, err)
		}
	}
}

// Prose of the change is its author's word, as a comment is: it refutes nothing but what is said of that file. What stood there before may.
func TestProseOfTheChangeRefutesNothing(t *testing.T) {
	const text = "The list is never empty, all callers see to it."
	all := files{headSHA + ":README.md": text + "\n", headSHA + ":tools/check": "#!/bin/sh\n" + text + "\n", headSHA + ":a.go": "func f(list []int) int {\n\treturn sum(list) / len(list)\n}\n"}
	changed := []review.BriefFile{{Path: "a.go", Change: "modified"}, {Path: "tools/check", Change: "added"}}
	for name, change := range map[string]string{
		"docs/Notes.MD": "added", "NOTES": "added", "README": "modified", "CHANGES.log": "modified", "why.html": "added", "why.json": "added", "copy.yaml": "copied", "why.xyz": "added",
		"app.yaml": "modified", "go.mod": "modified", "named.toml": "renamed", "b.go": "added", "Dockerfile": "added", "c.xyz": "modified", "d.sql": "added",
	} {
		all[headSHA+":"+name] = text + "\n"
		changed = append(changed, review.BriefFile{Path: name, Change: change})
	}
	l := &Loop{History: filesAlone{all: all}}
	snap := Snapshot{Range: Range{Base: baseSHA, MergeBase: baseSHA, Head: headSHA}, Brief: review.Brief{Files: changed}}
	for _, row := range []struct {
		about, fact string
		status      review.AssessmentStatus
		want        evidence.Status
	}{
		{"a.go", "docs/Notes.MD", review.Refuted, evidence.False},
		{"a.go", "docs/Notes.MD", review.Confirmed, evidence.Verified},
		{"a.go", "README.md", review.Refuted, evidence.Verified}, // as it was
		{"docs/Notes.MD", "docs/Notes.MD", review.Refuted, evidence.Verified},
		{"a.go", "NOTES", review.Refuted, evidence.False},
		{"a.go", "README", review.Refuted, evidence.False},
		{"a.go", "CHANGES.log", review.Refuted, evidence.False},
		// What programs read, and may not read yet.
		{"a.go", "why.html", review.Refuted, evidence.False},
		{"a.go", "why.json", review.Refuted, evidence.False},
		{"a.go", "copy.yaml", review.Refuted, evidence.False},
		{"a.go", "why.xyz", review.Refuted, evidence.False},
		{"a.go", "app.yaml", review.Refuted, evidence.Verified},
		{"a.go", "go.mod", review.Refuted, evidence.Verified},
		{"a.go", "named.toml", review.Refuted, evidence.Verified},
		{"a.go", "c.xyz", review.Refuted, evidence.Verified},
		// Programs.
		{"a.go", "b.go", review.Refuted, evidence.Verified},
		{"a.go", "d.sql", review.Refuted, evidence.Verified},
		{"a.go", "Dockerfile", review.Refuted, evidence.Verified},
		{"a.go", "tools/check", review.Refuted, evidence.Verified},
	} {
		p := review.VerifyPayload{Findings: []review.Finding{{ID: "F1", File: row.about, Evidence: "return sum(list)"}}}
		a := review.Answer{Verifier: &review.VerifierResult{Assessments: []review.Assessment{{FindingID: "F1", Status: row.status, Fact: &review.Fact{File: row.fact, Evidence: text}}}}}
		got, err := l.checkFacts(t.Context(), snap, p, &a)
		if err != nil || len(got) != 1 || got[0].Status != row.want || (got[0].Reason == "") != (row.want != evidence.False) {
			t.Errorf("%+v: %+v, %v", row, got, err)
		}
	}
}

// TestVerifiersOfEveryKind runs the loop with verifiers that are honest, lie, agree, refuse, are silent or fail.
func TestVerifiersOfEveryKind(t *testing.T) {
	for _, row := range []struct {
		mood, reviewer, rule string
		outcome              review.Outcome
		state                review.AgentState
		says                 string // in the receipt
	}{
		{"refuter", "minor", "", review.Converged, review.AgentComplete, ""},
		{"refuter", "grave", "", review.SetAside, review.AgentComplete, ""},
		{"liar", "minor", "", review.ChangesRequested, review.AgentDegraded, "counts for nothing"},
		{"liar", "minor", RuleVerified, review.ChangesRequested, review.AgentDegraded, "rests on a fact that does not stand"},
		{"yes-man", "minor", "", review.ChangesRequested, review.AgentComplete, ""},
		{"silent", "minor", RuleVerified, review.ChangesRequested, review.AgentDegraded, "said nothing of 1 finding"},
		{"failed", "minor", RuleVerified, review.ChangesRequested, review.AgentFailed, ""},
		{"failed", "silent", "", review.Converged, "", ""}, // nobody is asked about nothing
		{"indifferent", "grave", RuleVerified, review.SetAside, review.AgentComplete, ""},
	} {
		t.Run(fmt.Sprint(row.mood, " of ", row.reviewer, " ", row.rule), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 1))
			p := &pull{
				content: map[string]map[string]string{baseSHA: {"a.lua": "a\n"}, headSHA: {"a.lua": "return guarded(first, second)\n"}}, tokens: 100_000, rule: row.rule,
				files: []changedFile{{name: "a.lua", change: diff.Modified, text: true,
					section: "diff --git a/a.lua b/a.lua\nindex 1111111..2222222 100644\n--- a/a.lua\n+++ b/a.lua\n@@ -1 +1 @@\n-a\n+return guarded(first, second)\n"}},
				actors: map[string]*actor{"r0": {mood: row.reviewer, kind: "command", rnd: rnd}}, agents: []AgentPlan{{Name: "r0", Role: review.RoleReviewer, Kind: "command"}},
				doubter: &doubter{mood: row.mood, rnd: rnd},
			}
			got, err := p.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var receipt review.AgentReceipt
			for _, a := range got.Receipt.Agents {
				if a.Role == review.RoleVerifier {
					receipt = a
				}
			}
			if got.Outcome != row.outcome || receipt.State != row.state || !strings.Contains(receipt.Reason+strings.Join(receipt.Notes, "\n"), row.says) {
				t.Errorf("%s (%s), verifier %s: %s %q", got.Outcome, got.Reason, receipt.State, receipt.Reason, receipt.Notes)
			}
			if got.Receipt.Complete != 1 {
				t.Errorf("%d complete reviewers: the verifier is none", got.Receipt.Complete)
			}
		})
	}
}

// A verifier settles what it was shown (threats.md T111): findings that are the same one by place and words may be two problems, so
// all that is said of them stands in what it is asked, and what has no room there is not set aside with the rest.
func TestNothingIsRefutedUnseen(t *testing.T) {
	said := func(line int, title, text string) review.Finding {
		f := found(review.P2, title)
		f.Line, f.Description, f.Evidence = &line, text, "quote of "+title
		return f
	}
	for name, row := range map[string]struct {
		other   review.Finding
		seen    bool
		outcome review.Outcome
	}{
		"in one word with it, elsewhere": {said(5, "Loop over list divides by zero", "The loop in Sum divides by the length of list."), true, review.Converged},
		"in other words":                 {said(3, "Loop over list skips the last element", "The loop in Sum ends one early, so the last element of list is left out."), true, review.Converged},
		"in the same words":              {said(2, "Loop over list divides by zero", "The loop in Sum divides by the length of list."), true, review.Converged},
		"at too great a length":          {said(3, "Loop over list skips the last element", "The loop in Sum ends one early. "+strings.Repeat("It is left out. ", maxWordings)), false, review.ChangesRequested},
	} {
		in := round()
		in.Reports[0] = says("alpha", said(2, "Loop over list divides by zero", "The loop in Sum divides by the length of list."))
		in.Reports[1] = says("beta", row.other)
		in = verified(in, review.Assessment{FindingID: "F1", Status: review.Refuted, Reason: "It is guarded.", Fact: proof()})
		asked := gather(in).verifyPayload().Findings
		if len(asked) != 1 {
			t.Fatalf("%s: %d findings are asked about", name, len(asked))
		}
		all := asked[0].Title + asked[0].Description + asked[0].Evidence
		if at := fmt.Sprintf("at a.go:%d", *row.other.Line); *row.other.Line != 2 && row.seen && !strings.Contains(all, at) {
			t.Errorf("%s: the verifier does not read %q: %q", name, at, all)
		}
		for _, text := range []string{row.other.Title, row.other.Description, row.other.Evidence} {
			if strings.Contains(all, text) != row.seen {
				t.Errorf("%s: the verifier reads %.300q", name, all)
			}
		}
		if strings.Contains(all, "alpha") || strings.Contains(all, "beta") {
			t.Errorf("%s: the verifier reads who raised it: %q", name, all)
		}
		if r := Judge(in).Result; r.Outcome != row.outcome {
			t.Errorf("%s: %s, %d counted", name, r.Outcome, r.Issues.Total())
		}
	}
}
