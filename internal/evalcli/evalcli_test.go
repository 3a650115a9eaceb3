package evalcli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/review"
)

const carried = "../testkit/forge/testdata/cases"

// run does one command as the program would.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range members(nil) {
		if name, _, _ := strings.Cut(c.Use, " "); name != args[0] {
			continue
		}
		if err := c.Flags.Parse(args[1:]); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := c.Run(context.Background(), subcommand.Process{Stdout: &out, Dir: dir}, c.Flags.Args())
		return out.String(), err
	}
	t.Fatalf("there is no command %s", args[0])
	return "", nil
}

// write makes a result set of the carried cases in which an agent finds share of the expected findings of each, and says n
// wrong things.
func write(t *testing.T, name string, share float64, n int, seal bool) string {
	t.Helper()
	set, err := cases.Read(carried)
	if err != nil {
		t.Fatal(err)
	}
	m := results.Manifest{Name: name, Repeats: 1}
	for _, c := range set.Cases {
		m.Cases = append(m.Cases, results.Planned{ID: c.ID, Input: c.InputDigest})
	}
	dir := filepath.Join(t.TempDir(), "set")
	w, err := results.Create(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range set.Cases {
		r := results.Review{Case: c.ID, Repeat: 1, Result: review.ReviewResult{Status: review.StatusOK}}
		for _, e := range c.Golden[:int(share*float64(len(c.Golden)))] {
			a := c.Places(e)[0]
			r.Result.Issues = append(r.Result.Issues, review.Issue{Key: e.ID, File: a.File, LineStart: a.Start, Category: e.Categories[0], Title: e.Text})
		}
		for k := range n {
			r.Result.Issues = append(r.Result.Issues, review.Issue{Key: string(rune('a' + k)), Title: "Nothing in particular"})
		}
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if seal {
		if err := w.Seal(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestScoreAndCompare(t *testing.T) {
	good, bad := write(t, "good", 1, 0, true), write(t, "bad", 0.4, 3, true)
	out, err := run(t, "score", "--cases", carried, "--json", good)
	var r scoring.Report
	if err != nil || json.Unmarshal([]byte(out), &r) != nil || *r.Primary().Result.F1 != 1 || r.Pulls != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err = run(t, "compare", "--cases", carried, good, bad); err != nil || !strings.Contains(out, "worse") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err = run(t, "compare", "--cases", carried, bad, good); err != nil || !strings.Contains(out, "better") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestGate: only what the interval calls worse fails, by compare and by a baseline.
func TestGate(t *testing.T) {
	good, bad := write(t, "good", 1, 0, true), write(t, "bad", 0.4, 3, true)
	baseline := filepath.Join(t.TempDir(), "baseline.json")
	out, err := run(t, "score", "--cases", carried, "--json", good)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(baseline, []byte(out), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		args  []string
		fails bool
	}{
		"a worse set":                    {[]string{"compare", "--gate", "--cases", carried, good, bad}, true},
		"a better set":                   {[]string{"compare", "--gate", "--cases", carried, bad, good}, false},
		"the same set":                   {[]string{"compare", "--gate", "--cases", carried, good, good}, false},
		"worse than the baseline":        {[]string{"score", "--require", baseline, "--cases", carried, bad}, true},
		"worse on recall":                {[]string{"score", "--require", baseline, "--on", "recall", "--cases", carried, bad}, true},
		"the baseline itself":            {[]string{"score", "--require", baseline, "--cases", carried, good}, false},
		"a worse set, compared ungated":  {[]string{"compare", "--cases", carried, good, bad}, false},
		"worse on precision, both exact": {[]string{"compare", "--gate", "--on", "precision", "--cases", carried, good, write(t, "few", 0.5, 0, true)}, false},
	} {
		out, err := run(t, row.args...)
		if errors.Is(err, ErrWorse) != row.fails || err != nil && !row.fails {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	// A gate that has nothing to compare does not pass: nobody raised anything, so there is no precision.
	silent := write(t, "silent", 0, 0, true)
	if _, err := run(t, "compare", "--gate", "--on", "precision", "--cases", carried, good, silent); err == nil {
		t.Error("a figure without a value passes the gate")
	}
}

func TestRefusals(t *testing.T) {
	good, open := write(t, "good", 1, 0, true), write(t, "open", 1, 0, false)
	other := t.TempDir()
	if _, err := run(t, "import", "cases", carried, other); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join(other, "cases", "go-gofr-1355", "golden.json")
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "changed")
	if err := os.CopyFS(changed, os.DirFS(filepath.Join(other, "cases"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(changed, "go-gofr-1355", "golden.json"), bytes.Replace(data, []byte("MongoDB"), []byte("Mongo"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	baseline := filepath.Join(t.TempDir(), "baseline.json")
	out, err := run(t, "score", "--cases", changed, "--json", good)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(baseline, []byte(out), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args       []string
		says, next string
	}{
		{[]string{"score", good}, "not said where the review cases are", "--cases"},
		{[]string{"score", "--cases", carried, "--by", "taste", good}, `"taste" is no measure`, "--by"},
		{[]string{"score", "--cases", carried, "--by", "judge:", good}, "is no measure", "--by"},
		{[]string{"score", "--cases", carried, "--by", "judge:x", good}, "no verdict of x", "judge:NAME"},
		{[]string{"score", "--cases", carried, "--samples", "0", good}, "--samples", "2000"},
		{[]string{"score", "--cases", carried, "--on", "luck", good}, "--on is", "--on F1"},
		{[]string{"score", "--cases", carried, open}, "open: the run was interrupted: it was never sealed", "--partial"},
		{[]string{"score", "--cases", t.TempDir(), good}, "no folder with a case.json", "docs/eval.md"},
		{[]string{"score", "--cases", carried, t.TempDir()}, "bad result set", "docs/eval.md"},
		{[]string{"score", "--cases", carried, "--require", golden, good}, "is no baseline", "--json > FILE"},
		{[]string{"score", "--cases", carried, "--require", baseline, good}, "different data", "the same cases"},
		{[]string{"compare", "--cases", carried, good, open}, "interrupted", "--partial"},
		{[]string{"import", "tarot", ".", t.TempDir()}, `"tarot" is no kind`, "one of:"},
		{[]string{"import", "aacr-bench", t.TempDir(), t.TempDir()}, "no such file", "--help"},
		{[]string{"import", "code-review-bench", t.TempDir(), t.TempDir()}, "index.json", "--help"},
		{[]string{"import", "merged", ".", t.TempDir()}, "needs --id, --base, --first and --last", "--base main"},
		{[]string{"published", t.TempDir()}, "not a folder of recorded reviews", "internal/eval/testdata/published"},
		{[]string{"dummies", t.TempDir()}, "bad case", "docs/eval.md"},
	} {
		_, err := run(t, row.args...)
		var u advice.Error
		if !errors.As(err, &u) || !strings.Contains(err.Error(), row.says) || !strings.Contains(u.Next, row.next) {
			t.Errorf("%v: %v does not say %q and %q", row.args, err, row.says, row.next)
		}
	}
	if out, err := run(t, "score", "--cases", carried, "--partial", open); err != nil || !strings.Contains(out, "PARTIAL: the run was interrupted; it was never sealed") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestChecks(t *testing.T) {
	const figures = "../eval/testdata/published"
	if out, err := run(t, "published", figures); err != nil || !strings.Contains(out, "5760 of 5760 rows and 150 of 150 lines") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run(t, "published", "--count-repeats", figures); !errors.Is(err, errWrong) || strings.Contains(out, "5760 of 5760") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run(t, "dummies", carried); err != nil || strings.Count(out, "F1 1.000, should be 1.000") != 2 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.html")
	if _, err := run(t, "report", "--cases", carried, "--out", file, write(t, "good", 0.5, 1, true)); err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(html, []byte(`<article class="missed">`)) {
		t.Errorf("%v: %d bytes", err, len(html))
	}
}
