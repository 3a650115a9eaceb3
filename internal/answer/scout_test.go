package answer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

func scan(complexity, verdict, rest string) string {
	return fmt.Sprintf(`{"complexity":%q,"verdict":%q,"observations":[{"tag":"naming","text":"The helper has a vague name.","file":"a.go","line":3}],"reasons":["One helper changes."]%s}`, complexity, verdict, rest)
}

func TestDecodeScout(t *testing.T) {
	for _, row := range []struct {
		name, in, refused string
		verdict           review.ScanVerdict
	}{
		{"whole", scan("simple", "lgtm", ""), "", review.LooksGood},
		{"a flag", scan("complex", "flag", ""), "", review.Flag},
		{"a line that is not known", strings.Replace(scan("trivial", "lgtm", ""), `"line":3`, `"line":null`, 1), "", review.LooksGood},
		{"an unknown field that says nothing", scan("simple", "lgtm", `,"agent":"x"`), "", review.LooksGood},
		{"an unknown field with a blocker", scan("simple", "lgtm", `,"blockers":["the token is logged"]`), "", review.Flag},
		{"an observation that is a P0", strings.Replace(scan("simple", "lgtm", ""), "The helper has a vague name.", "[P0] the token is logged", 1), "", review.Flag},
		{"an observation that is critical", strings.Replace(scan("simple", "lgtm", ""), "The helper has a vague name.", "Critical: the token is logged", 1), "", review.Flag},
		{"a tag that is one", strings.Replace(scan("simple", "lgtm", ""), `"naming"`, `"P0"`, 1), "", review.Flag},
		{"a tag in words", strings.Replace(scan("simple", "lgtm", ""), `"naming"`, `"critical issue"`, 1), "", review.Flag},
		{"a tag that begins as one", strings.Replace(scan("simple", "lgtm", ""), `"naming"`, `"critical path"`, 1), "", review.LooksGood},
		{"an observation with a severity", strings.Replace(scan("simple", "lgtm", ""), `"line":3`, `"line":3,"severity":"critical"`, 1), "", review.Flag},
		{"an observation with a low one", strings.Replace(scan("simple", "lgtm", ""), `"line":3`, `"line":3,"severity":"low"`, 1), "", review.LooksGood},
		{"a reason that is a P0", strings.Replace(scan("simple", "lgtm", ""), "One helper changes.", "P0: the mean divides by zero.", 1), "", review.Flag},
		{"a reason with one in brackets", strings.Replace(scan("simple", "lgtm", ""), "One helper changes.", "[P1] anybody may log in", 1), "", review.Flag},
		{"a reason that denies one", strings.Replace(scan("simple", "lgtm", ""), "One helper changes.", "No critical issue: one helper changes.", 1), "", review.LooksGood},
		{"a reason that counts none", strings.Replace(scan("simple", "lgtm", ""), "One helper changes.", "P0: none.", 1), "", review.LooksGood},
		{"another word of complexity", scan("medium", "lgtm", ""), "complexity", ""},
		{"another verdict", scan("simple", "approve", ""), "verdict", ""},
		{"a verdict in capitals", scan("simple", "LGTM", ""), "verdict", ""},
		{"no verdict", `{"complexity":"simple","observations":[],"reasons":[]}`, "verdict", ""},
		{"no observations", `{"complexity":"simple","verdict":"lgtm","reasons":[]}`, "observations", ""},
		{"a verdict said twice", `{"complexity":"simple","verdict":"lgtm","verdict":"flag","observations":[],"reasons":[]}`, "occurs twice", ""},
		{"an observation outside of the repository", strings.Replace(scan("simple", "lgtm", ""), "a.go", "../../etc/passwd", 1), "inside the repository", ""},
		{"a tag that is a text", strings.Replace(scan("simple", "lgtm", ""), "naming", strings.Repeat("x", 61), 1), "observations/0/tag", ""},
		{"too many reasons", strings.Replace(scan("simple", "lgtm", ""), `["One helper changes."]`, `["a"`+strings.Repeat(`,"a"`, 10)+`]`, 1), "reasons", ""},
		{"cut", scan("simple", "lgtm", "")[:60], "line 1", ""},
		{"a reviewer's answer", `{"agent":"a","prNumber":7,"findings":[],"conclusion":"approve"}`, "complexity", ""},
	} {
		r, _, err := DecodeScout([]byte(row.in))
		if row.refused == "" && (err != nil || r.Verdict != row.verdict) {
			t.Errorf("%s: %q, %v; want %q", row.name, r.Verdict, err, row.verdict)
		}
		if row.refused != "" && (err == nil || !strings.Contains(err.Error(), row.refused)) {
			t.Errorf("%s: error %v, want one with %q", row.name, err, row.refused)
		}
	}
}

// A scan is complete or none, and its graver word counts: an answer that was refused does not go away by a better one (decision 34).
func TestScanIsNotSilenced(t *testing.T) {
	q := Question{Task: review.Task{Role: review.RoleScout, Agent: "scout", PRNumber: 7}, Kind: review.KindCommand}
	good := scan("simple", "lgtm", "")
	for _, row := range []struct {
		name, doc, beside string
		others            []string
		ended             bool
		state             review.AgentState
		complexity        review.Complexity
		verdict           review.ScanVerdict
	}{
		{"whole", good, "", nil, true, review.AgentComplete, review.SimpleChange, review.LooksGood},
		{"before a crash", good, "", nil, false, review.AgentFailed, "", ""},
		{"none", "", "", []string{scan("simple", "flag", "")}, true, review.AgentFailed, "", ""},
		{"after one that was cut and flagged", good, "", []string{scan("simple", "flag", "")[:50]}, true, review.AgentComplete, review.SimpleChange, review.Flag},
		{"after one that called it complex", good, "", []string{`{"complexity": "complex"`}, true, review.AgentComplete, review.ComplexChange, review.LooksGood},
		{"after prose about a blocker", good, "", []string{"This is a critical problem."}, true, review.AgentComplete, review.SimpleChange, review.Flag},
		{"after prose that says nothing", good, "", []string{"Let me look at the change."}, true, review.AgentComplete, review.SimpleChange, review.LooksGood},
		{"beside a word of a P0", good, "- P0: the token is logged", nil, true, review.AgentComplete, review.SimpleChange, review.Flag},
		{"beside another verdict", good, "verdict: flag", nil, true, review.AgentComplete, review.SimpleChange, review.Flag},
	} {
		s := Said{Ended: row.ended, Attempts: 1}
		for _, o := range row.others {
			s.Others = append(s.Others, []byte(o))
		}
		if row.doc != "" {
			env, _, err := q.Read([]byte(row.doc), []byte(row.beside))
			if err != nil {
				t.Fatal(row.name, err)
			}
			s.Valid = &env
		}
		a := q.Settle(s)
		got := review.ScoutResult{}
		if a.Scout != nil {
			got = *a.Scout
		}
		if a.Receipt.State != row.state || got.Complexity != row.complexity || got.Verdict != row.verdict {
			t.Errorf("%s: %s, %q, %q (%q); want %s, %q, %q", row.name, a.Receipt.State, got.Complexity, got.Verdict, a.Receipt.Notes, row.state, row.complexity, row.verdict)
		}
	}
}
