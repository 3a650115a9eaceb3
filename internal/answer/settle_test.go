package answer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/answer/answertest"
	"github.com/prloop/prloop/review"
)

func finding(priority, title string) string {
	return fmt.Sprintf(`{"id":"A","priority":%q,"category":"bug","file":"a.go","title":%q,"description":"d"}`, priority, title)
}

// reviewed is a valid answer of a reviewer, analyzed one of a comments analyzer; both claim nothing.
func reviewed(findings ...string) string {
	return `{"agent":"x","prNumber":9,"conclusion":"approve",` + noIssues + `,"findings":[` + strings.Join(findings, ",") + `]}`
}

func analyzed(changes bool, findings ...string) string {
	return fmt.Sprintf(`{"agent":"x","prNumber":9,"reviewState":{"hasChangesRequested":%v,"changesRequestedBy":[]},`+
		`"stats":{"totalThreads":0,"resolvedThreads":0,"unresolvedThreads":0},"threadsTruncated":false,%s,"pendingIssues":[%s]}`, changes, noIssues, strings.Join(findings, ","))
}

const noIssues = `"issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0}`

// broken is the same answer with a fault that says nothing.
func broken(doc string) string { return strings.Replace(doc, `"agent":"x"`, `"agent":5`, 1) }

// TestUnreadableIsNotSilence is the law of decision 34 for everything that asks agents.
// noPriority is an answer with a finding that has no priority of prloop's, or what stands in its place.
func noPriority(field string) string {
	return `{"agent":"rev-1","prNumber":7,"findings":[{"id":"Z-9","file":"a.go","line":90,"title":"Runs what it is sent",` + field + `}]}`
}

func TestUnreadableIsNotSilence(t *testing.T) {
	const crashed = "exit status 3"
	cut := reviewed(finding("P0", "It runs what it is given"))
	cut = cut[:strings.Index(cut, `"category"`)]
	quoted := "P0: a.go runs what it is given."
	for name, row := range map[string]struct {
		role   review.Role
		others []string
		valid  string // the answer that counts; empty when there is none
		beside string
		why    string // it did not end well
		state  review.AgentState
		// titles are those of what is kept, in order, with a mark: "!" is not counted, "?" could not be read.
		titles string
	}{
		"a valid answer": {"", nil, reviewed(finding("P2", "a")), "", "", review.AgentComplete, "a"},
		"a P0 that the newest answer leaves out is set aside":              {"", []string{broken(reviewed(finding("P0", "b")))}, reviewed(finding("P2", "a")), "", "", review.AgentComplete, "a !b"},
		"also when the agent then fails":                                   {"", []string{broken(reviewed(finding("P0", "b")))}, reviewed(finding("P2", "a")), "", crashed, review.AgentDegraded, "a !b"},
		"the newest answer before it fails says nothing":                   {"", []string{broken(reviewed(finding("P0", "b"), finding("P2", "c")))}, reviewed(), "", crashed, review.AgentDegraded, "b c"},
		"and nothing was said before":                                      {"", nil, reviewed(), "", crashed, review.AgentFailed, ""},
		"two answers before, the first of them with a P1":                  {"", []string{reviewed(finding("P1", "b")), broken(reviewed())}, reviewed(), "", "", review.AgentComplete, "!b"},
		"text beside it names a P0":                                        {"", nil, reviewed(finding("P2", "a")), quoted, "", review.AgentComplete, "a ?"},
		"text beside it does, and an answer before it lists one":           {"", []string{broken(reviewed(finding("P0", "b")))}, reviewed(), quoted, "", review.AgentComplete, "? !b"},
		"text beside it does, and the agent fails":                         {"", nil, reviewed(), quoted, crashed, review.AgentDegraded, "?"},
		"text beside it says what was looked for":                          {"", nil, reviewed(), "I found no P0.", "", review.AgentComplete, ""},
		"a priority of another scale, and the newest answer leaves it out": {"", []string{noPriority(`"priority":"kritisch"`)}, reviewed(), "", "", review.AgentComplete, "?"},
		"no priority":                                                  {"", []string{noPriority(`"category":"bug"`)}, reviewed(finding("P2", "a")), "", "", review.AgentComplete, "a ?"},
		"and the newest answer has it":                                 {"", []string{noPriority(`"category":"bug"`)}, reviewed(finding("P2", "Runs what it is sent")), "", "", review.AgentComplete, "Runs what it is sent"},
		"and the newest answer has it of another file":                 {"", []string{strings.Replace(noPriority(`"category":"bug"`), "a.go", "z.go", 1)}, reviewed(finding("P2", "Runs what it is sent")), "", "", review.AgentComplete, "Runs what it is sent ?"},
		"text beside it names a P0, and it lists another":              {"", nil, reviewed(finding("P0", "a")), quoted, "", review.AgentComplete, "a ?"},
		"text beside it names the one it lists":                        {"", nil, reviewed(finding("P0", "It runs what it is given")), "Found:\n- **P0**: it runs what it is given (a.go)\nDone.", "", review.AgentComplete, "It runs what it is given"},
		"and another of that title":                                    {"", nil, reviewed(finding("P0", "It runs what it is given")), "- P0: it runs what it is given (a.go)\n- P0: it runs what it is given (b.go)", "", review.AgentComplete, "It runs what it is given ?"},
		"cut within a second P0, which the newest answer leaves out":   {"", []string{strings.Replace(cut, `{"id"`, finding("P0", "a")+`,{"id"`, 1)}, reviewed(finding("P0", "a")), "", "", review.AgentComplete, "a ?"},
		"a P0 in a form that is refused, and the newest answer has it": {"", []string{strings.Replace(reviewed(finding("P0", "a")), `"description"`, `"more"`, 1)}, reviewed(finding("P0", "a")), "", "", review.AgentComplete, "a"},
		"no valid answer, one cut within a P0 and one with another":    {"", []string{cut, broken(reviewed(finding("P0", "a")))}, "", "", "", review.AgentDegraded, "a ?"},
		"a lesser word":                                 {"", []string{noPriority(`"priority":"Medium"`)}, reviewed(), "", "", review.AgentComplete, ""},
		"no priority and a low score":                   {"", []string{noPriority(`"score":4`)}, reviewed(), "", "", review.AgentComplete, ""},
		"an earlier answer that denies something else":  {"", []string{"The endpoint has no auth - critical for everybody."}, reviewed(), "", "", review.AgentComplete, "?"},
		"an earlier answer that is cut in its report":   {"", []string{strings.TrimSuffix(reviewed(), "}") + `,"fullReport":"I looked for critical problems, P0 and P1, and fou`}, reviewed(), "", "", review.AgentComplete, ""},
		"an earlier answer with a P0 behind its report": {"", []string{`{"agent":"x","prNumber":9,"fullReport":"x","findings":[{"priority":"P0","title":"It ru`}, reviewed(), "", "", review.AgentComplete, "?"},
		"an earlier answer that denies it":              {"", []string{"There are no other security or blocking issues."}, reviewed(), "", "", review.AgentComplete, ""},
		"no valid answer, one that is cut within a P0":  {"", []string{cut}, "", "", "", review.AgentDegraded, "?"},
		"then prose": {"", []string{cut, "I cannot do that."}, "", "", "", review.AgentDegraded, "?"},
		"no valid answer, the newest leaves a P0 out":                 {"", []string{broken(reviewed(finding("P0", "b"))), broken(reviewed(finding("P2", "a")))}, "", "", "", review.AgentDegraded, "a b"},
		"no valid answer of an agent that failed":                     {"", []string{broken(reviewed(finding("P0", "b")))}, "", "", crashed, review.AgentDegraded, "b"},
		"prose that says nothing":                                     {"", []string{"It looks good to me."}, "", "", "", review.AgentFailed, ""},
		"nothing":                                                     {"", nil, "", "", "", review.AgentFailed, ""},
		"a comments analyzer: text beside it names a P0":              {review.RoleCommentsAnalyzer, nil, analyzed(false, finding("P2", "a")), quoted, "", review.AgentComplete, "a ?"},
		"a comments analyzer: cut within a P0":                        {review.RoleCommentsAnalyzer, []string{strings.Replace(cut, "findings", "pendingIssues", 1)}, "", "", "", review.AgentDegraded, "?"},
		"a comments analyzer: somebody asks for changes, and it dies": {review.RoleCommentsAnalyzer, nil, analyzed(true), "", crashed, review.AgentDegraded, ""},
		"a comments analyzer: nobody does, and it dies":               {review.RoleCommentsAnalyzer, nil, analyzed(false), "", crashed, review.AgentFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			q := Question{Task: review.Task{Agent: "rev-1", Role: row.role, PRNumber: 7, Discussion: &review.Discussion{Truncated: true}}}
			if row.role == "" {
				q.Task.Role = review.RoleReviewer
			}
			s := Said{Ended: row.why == "", Why: row.why}
			for _, other := range row.others {
				s.Others = append(s.Others, []byte(other))
			}
			if row.valid != "" {
				e, notes, err := q.Read([]byte(row.valid), []byte(row.beside))
				if err != nil {
					t.Fatal(err)
				}
				s.Valid, s.Notes = &e, notes
			} else {
				s.Why = "no valid answer; " + row.why
			}
			a := q.Settle(s)
			answertest.Check(t, a, "rev-1")
			if a.Comments != nil && !a.Comments.ThreadsTruncated {
				t.Error("threadsTruncated is a fact, not the analyzer's opinion (spec.md A3)")
			}
			if got := strings.Join(titles(a), " "); got != row.titles || a.Receipt.State != row.state {
				t.Errorf("%s (%s), kept %q, want %s and %q; notes %q", a.Receipt.State, a.Receipt.Reason, got, row.state, row.titles, a.Receipt.Notes)
			}
		})
	}
}

// titles are those of an answer's findings.
func titles(a review.Answer) (out []string) {
	var findings []review.Finding
	if a.Reviewer != nil {
		findings = a.Reviewer.Findings
	}
	if a.Comments != nil {
		findings = a.Comments.PendingIssues
	}
	for _, f := range findings {
		switch {
		case Unreadable(f):
			out = append(out, "?")
		case f.Unconfirmed != "":
			out = append(out, "!"+f.Title)
		default:
			out = append(out, f.Title)
		}
	}
	return out
}

func fixed(ids ...string) string {
	var list []string
	for _, id := range ids {
		list = append(list, fmt.Sprintf(`{"findingId":%q,"commitSha":"","description":"d"}`, id))
	}
	return `{"agent":"x","prNumber":9,"summary":{"fixed":0,"rejected":0,"deferred":0},"fixedIssues":[` + strings.Join(list, ",") + `],"rejectedIssues":[],"commits":[]}`
}

// TestFixersAnswerForEveryFinding is the invariant of spec.md A5 over what a fixer said.
func TestFixersAnswerForEveryFinding(t *testing.T) {
	q := Question{Task: review.Task{Agent: "pr-fix", Role: review.RoleFixer, PRNumber: 7, Fix: &review.FixPayload{PRNumber: 7,
		IssuesToFix: []review.Finding{{ID: "A"}, {ID: "B"}}}}}
	if _, _, err := q.Read([]byte(fixed("A")), nil); err == nil || err.Error() != "decode fix-result: neither fixed nor rejected: B" {
		t.Errorf("a finding without a word: %v", err)
	}
	for name, row := range map[string]struct {
		others []string
		ended  bool
		fixed  string // "-" when nothing is kept
	}{
		"the newest that can be read counts": {[]string{fixed("A"), fixed("A", "B", "B")}, true, "A B"},
		"of the others what is clear":        {[]string{fixed("B"), "done!"}, true, "B"},
		"nothing of one that failed":         {[]string{fixed("A")}, false, "-"},
		"nothing of what is broken":          {[]string{fixed("A")[:40]}, true, "-"},
	} {
		s := Said{Ended: row.ended, Why: "refused"}
		for _, other := range row.others {
			s.Others = append(s.Others, []byte(other))
		}
		a := q.Settle(s)
		got := "-"
		if a.Fix != nil {
			var ids []string
			for _, f := range a.Fix.FixedIssues {
				ids = append(ids, f.FindingID)
			}
			got = strings.Join(ids, " ")
			if n := len(ids) + len(a.Fix.RejectedIssues); n != 2 || a.Fix.Agent != "pr-fix" || a.Fix.PRNumber != 7 || a.Receipt.State != review.AgentDegraded {
				t.Errorf("%s: %+v, %s", name, a.Fix, a.Receipt.State)
			}
		} else if a.Receipt.State != review.AgentFailed {
			t.Errorf("%s: %s without an answer", name, a.Receipt.State)
		}
		if got != row.fixed {
			t.Errorf("%s: fixed %q, want %q", name, got, row.fixed)
		}
	}
}

// TestAnOddAnswerFailsAlone: a panic ends the question and nothing else, and what it cost is known.
func TestAnOddAnswerFailsAlone(t *testing.T) {
	q := Question{Task: review.Task{Agent: "rev-1", Role: review.RoleReviewer}}
	a := Ask(q, func() Said { return Said{Valid: &Envelope{}, Attempts: 2, Usage: review.Usage{LLMCalls: 3}} })
	if r := a.Receipt; r.State != review.AgentFailed || !strings.Contains(r.Reason, "prloop failed on this answer") || r.Attempts != 2 || r.Usage.LLMCalls != 3 || a.Reviewer != nil {
		t.Errorf("%+v", a)
	}
}
