package orchestrator

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// recordedRound is a round of a recorded loop: what agents answered, with what was known then. testdata/loops/README.md says where
// it comes from.
func recordedRound(t *testing.T, loop, rule string, round int) Inputs {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "loops", fmt.Sprintf("%s-%s-%d.json.gz", loop, rule, round)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var in Inputs
	if err := json.NewDecoder(z).Decode(&in); err != nil {
		t.Fatal(err)
	}
	return in
}

// summary is what a round comes to, in the words of the table in docs/eval.md "Loops".
func summary(j Judgement) string {
	what := string(j.Result.Outcome)
	if j.GoesOn {
		what = "goes on"
	}
	n := j.Result.DistinctIssues
	return fmt.Sprintf("%s: P0 %d, P1 %d, P2 %d; %d to fix, %d left out", what, n.P0, n.P1, n.P2, len(j.Payload.IssuesToFix), j.Result.NotTaken)
}

// Loops of readers and a fixer over public pull requests, under both rules, judged again from their recorded answers (decision 78).
func TestRecordedLoops(t *testing.T) {
	for loop, rounds := range recordedLoops {
		for i, want := range rounds {
			in := recordedRound(t, loop.name, loop.rule, i+1)
			if in.Round != i+1 || in.Request.Rule == RuleVerified != (loop.rule == RuleVerified) {
				t.Fatalf("%v: round %d under %q", loop, in.Round, in.Request.Rule)
			}
			if got := summary(Judge(in)); got != want {
				t.Errorf("%s under %s, round %d:\n%s, want\n%s", loop.name, loop.rule, i+1, got, want)
			}
		}
	}
}

// Both loops over a pull request began with the same answers. What differs after that is the rule's doing: judged under the other
// rule, each first round is that of the other loop.
func TestRecordedLoopsDifferByTheRuleAlone(t *testing.T) {
	ids := func(list []review.Finding) string {
		var out []string
		for _, f := range list {
			out = append(out, f.ID)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	for loop := range recordedLoops {
		if _, both := recordedLoops[recordedLoop{loop.name, RuleVerified}]; loop.rule == RuleVerified || !both {
			continue
		}
		all, verified := recordedRound(t, loop.name, "all", 1), recordedRound(t, loop.name, RuleVerified, 1)
		want := Judge(verified)
		all.Request.Rule = RuleVerified
		if got := Judge(all); summary(got) != summary(want) || ids(got.Payload.IssuesToFix) != ids(want.Payload.IssuesToFix) {
			t.Errorf("%s: %s %q, want %s %q", loop.name, summary(got), ids(got.Payload.IssuesToFix), summary(want), ids(want.Payload.IssuesToFix))
		}
	}
}

// A loop that was recorded under one rule alone counts every finding under the other too, in each round: it would have been the same.
func TestRecordedLoopsOfOneRule(t *testing.T) {
	alone := 0
	for loop, rounds := range recordedLoops {
		if _, both := recordedLoops[recordedLoop{loop.name, RuleVerified}]; both {
			continue
		}
		alone++
		for i, want := range rounds {
			in := recordedRound(t, loop.name, loop.rule, i+1)
			in.Request.Rule = RuleVerified
			if got := summary(Judge(in)); got != want {
				t.Errorf("%s under %s, round %d:\n%s, want\n%s", loop.name, RuleVerified, i+1, got, want)
			}
		}
	}
	if alone == 0 {
		t.Error("every loop was recorded under both rules")
	}
}

type recordedLoop struct{ name, rule string }

var recordedLoops = map[recordedLoop][]string{
	{"gofr", "all"}: {
		"goes on: P0 0, P1 3, P2 3; 6 to fix, 0 left out",
		"converged: P0 0, P1 0, P2 0; 0 to fix, 0 left out"},
	{"gofr", "verified"}: {
		"goes on: P0 0, P1 3, P2 2; 5 to fix, 1 left out",
		"converged: P0 0, P1 0, P2 0; 0 to fix, 1 left out"},
	{"svelte", "all"}: {
		"goes on: P0 0, P1 1, P2 1; 2 to fix, 0 left out",
		"changes_requested: P0 0, P1 0, P2 0; 0 to fix, 0 left out"}, // the checks of the pushed head did not end in time
	{"svelte", "verified"}: {
		"goes on: P0 0, P1 1, P2 0; 1 to fix, 1 left out"},
	{"cline", "all"}: {
		"goes on: P0 0, P1 1, P2 6; 7 to fix, 0 left out",
		"goes on: P0 0, P1 0, P2 2; 2 to fix, 0 left out"}, // and ends there, for the fixer rejects both
	{"cline", "verified"}: {
		"goes on: P0 0, P1 1, P2 4; 5 to fix, 2 left out",
		"goes on: P0 0, P1 0, P2 1; 1 to fix, 2 left out"},
	{"waveterm", "all"}:      {"goes on: P0 0, P1 3, P2 3; 6 to fix, 0 left out"},
	{"waveterm", "verified"}: {"goes on: P0 0, P1 3, P2 2; 5 to fix, 1 left out"},
	{"svelte-again", "all"}: {
		"goes on: P0 0, P1 1, P2 1; 2 to fix, 0 left out",
		"converged: P0 0, P1 0, P2 0; 0 to fix, 0 left out"},
	{"svelte-again", "verified"}: { // the second round with a verdict on each earlier finding
		"goes on: P0 0, P1 1, P2 1; 2 to fix, 0 left out",
		"converged: P0 0, P1 0, P2 0; 0 to fix, 0 left out"},
	{"waveterm-again", "all"}: {
		"goes on: P0 0, P1 3, P2 2; 5 to fix, 0 left out",
		"converged: P0 0, P1 0, P2 0; 0 to fix, 0 left out"},
}
