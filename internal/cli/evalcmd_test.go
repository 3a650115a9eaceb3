package cli_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/cli"
	"github.com/prloop/prloop/internal/eval"
)

// prloopEval runs `prloop eval` in the folder of the carried recordings.
func prloopEval(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	dir, err := filepath.Abs("../eval/testdata")
	if err != nil {
		t.Fatal(err)
	}
	status = cli.Main(cli.Invocation{Name: "prloop", Args: append([]string{"eval"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Dir: dir})
	return status, out.String(), said.String()
}

func TestEvalIdentityNamesSplitAndBaselines(t *testing.T) {
	status, out, said := prloopEval(t, "identity", "bench")
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	for _, want := range []string{eval.Split, "HELD BACK", eval.MethodMatch, eval.MethodHalf, eval.MethodThird, "Goal on the held-back half: at least 85 % recognised at no more than 3 % false matches: met"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not printed:\n%s", want, out)
		}
	}
}

func TestEvalStuckPrintsEverySetting(t *testing.T) {
	status, out, said := prloopEval(t, "stuck", "--turns", "2", "bench")
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	for _, want := range []string{eval.Split, "NEW ONES BLAMED", eval.StuckMapped, eval.StuckSeveral, eval.StuckUnmapped, eval.StuckWords, eval.StuckIDs, "Goal on the held-back half"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not printed:\n%s", want, out)
		}
	}
	status, out, _ = prloopEval(t, "stuck", "--turns", "2", "--json", "bench")
	var r eval.StuckReport
	if err := json.Unmarshal([]byte(out), &r); status != 0 || err != nil || len(r.Rows) != 5 || r.Turns == 0 {
		t.Errorf("status %d, %v: %s", status, err, out)
	}
	if status, _, _ := prloopEval(t, "stuck", "--turns", "0", "bench"); status != 2 {
		t.Errorf("no turns: status %d", status)
	}
}

func TestEvalAgreementPrintsTheQuartets(t *testing.T) {
	status, out, said := prloopEval(t, "agreement", "--sets", "3", "--seed", "5", "bench")
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	for _, want := range []string{"Sets of 4 reviewers", "SUPPORT>BEST", "verdicts-2026-03-05  claude-opus-4.5", "verdicts-2026-04-14  claude-opus-4.5", "3 drawn"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not printed:\n%s", want, out)
		}
	}
	var first string
	for range 2 {
		status, out, said := prloopEval(t, "agreement", "--sets", "3", "--seed", "5", "--json", "bench")
		if status != 0 {
			t.Fatalf("status %d: %s", status, said)
		}
		var r eval.AgreementReport
		if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Rows) != 2 || r.Rows[0].Sets != 3 || r.Seed != 5 {
			t.Errorf("%v: %s", err, out)
		}
		if first != "" && first != out {
			t.Errorf("one seed, two answers:\n%s%s", first, out)
		}
		first = out
	}
}

func TestEvalRefuses(t *testing.T) {
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"identity"}, "needs DIR"},
		{[]string{"identity", "nowhere"}, "open recorded reviews"},
		{[]string{"agreement", "bench/code-review-bench"}, "not a folder of recorded reviews: it has no index.json"},
		{[]string{"agreement", "--size", "9", "bench"}, "--size is 2 to 5"},
		{[]string{"agreement", "--support", "5", "bench"}, "--support 1 to that"},
		{[]string{"score", "bench"}, "not said where the review cases are"},
		{[]string{"compare", "bench"}, "eval compare needs B"},
		{[]string{"published", "bench", "bench"}, `unexpected argument "bench"`},
		{[]string{"score", "--samples", "many", "bench"}, `--samples: "many" is not a whole number`},
		{[]string{"scores"}, `unknown command "scores" of eval; did you mean "score"?`},
	} {
		status, _, said := prloopEval(t, row.args...)
		if status != 2 || !strings.Contains(said, row.says) || !strings.Contains(said, "\n  try: ") {
			t.Errorf("eval %v: status %d, want 2 and %q:\n%s", row.args, status, row.says, said)
		}
	}
}

// TestEvalStatuses: a gate ends with 3 when the interval says worse, a check of figures with 1 when they are wrong.
func TestEvalStatuses(t *testing.T) {
	out := t.TempDir()
	if status, _, said := prloopEval(t, "import", "code-review-bench", "published", out); status != 0 {
		t.Fatalf("import: status %d: %s", status, said)
	}
	set := func(tool string) string { return filepath.Join(out, "results", tool) }
	by := []string{"--cases", filepath.Join(out, "cases"), "--by", "judge:claude-opus-4.5", "--gate"}
	for _, row := range []struct {
		args   []string
		status int
		says   string
	}{
		{append([]string{"compare", set("augment"), set("graphite")}, by...), 3, "the F1 of graphite is worse than that of augment"},
		{append([]string{"compare", set("graphite"), set("augment")}, by...), 0, ""},
		{[]string{"published", "published"}, 0, ""},
		{[]string{"published", "--count-repeats", "published"}, 1, "the figures are not what they should be"},
	} {
		status, out, said := prloopEval(t, row.args...)
		if status != row.status || !strings.Contains(said, row.says) || out == "" {
			t.Errorf("eval %v: status %d, want %d and %q:\n%s", row.args, status, row.status, row.says, said)
		}
	}
}
