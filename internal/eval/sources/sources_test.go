package sources

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/eval"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
)

const (
	carriedCases = "../../testkit/forge/testdata/cases"
	carriedBench = "../testdata/bench"
	published    = "../testdata/published"
)

// pack writes compressed JSON.
func pack(t *testing.T, file string, v any) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if err := errors.Join(json.NewEncoder(z).Encode(v), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir string) cases.Set {
	t.Helper()
	s, err := cases.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAACRBench imports pull requests in the published shape, among them the three that are carried as cases: what is
// expected there has to be the same.
func TestAACRBench(t *testing.T) {
	source := os.Getenv("PRLOOP_BENCH")
	if source == "" {
		t.Skip("PRLOOP_BENCH names no folder that holds aacr-bench")
	}
	made, err := AACRBench(filepath.Join(source, "aacr-bench"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	set := read(t, made.Cases)
	if made.Pulls != 188 || made.Golden != 1458 || len(set.Cases) != 188 {
		t.Fatalf("%d pull requests, %d expected findings", made.Pulls, made.Golden)
	}
	byURL := map[string]cases.Case{}
	for _, c := range set.Cases {
		byURL[c.URL] = c
	}
	for _, c := range read(t, carriedCases).Cases {
		got, ok := byURL[c.URL]
		if !ok {
			t.Errorf("%s is not imported", c.URL)
			continue
		}
		for _, pair := range [][2][]cases.Expected{{c.Golden, got.Golden}, {c.Negatives, got.Negatives}} {
			if len(pair[0]) != len(pair[1]) {
				t.Errorf("%s: %d, not %d", c.ID, len(pair[1]), len(pair[0]))
				continue
			}
			for i := range pair[0] {
				want := pair[0][i]
				want.Text = strings.TrimSpace(want.Text)
				if d := cmp.Diff(want, pair[1][i]); d != "" {
					t.Errorf("%s: %s", c.ID, d)
				}
			}
		}
	}
}

func TestAACRShapes(t *testing.T) {
	comment := aacrComment{Note: " x ", Path: "f.go", Side: "right", From: 9, To: 7, Category: "Performance", ByAI: true, Model: "m"}
	dir, out := t.TempDir(), t.TempDir()
	pull := aacrPull{URL: "https://github.com/o/r/pull/7", Language: "Go", Changed: 50, Base: "b", Head: "h", Comments: []aacrComment{comment}}
	lonely := pull
	lonely.URL = "https://github.com/o/r/pull/8"
	wrong := pull
	wrong.Comments = []aacrComment{{Note: "y", Path: "g.go", Side: "left", From: 1, To: 2, Category: "Code Defect"}}
	pack(t, filepath.Join(dir, "positive.json.gz"), []aacrPull{pull})
	pack(t, filepath.Join(dir, "negative.json.gz"), []aacrPull{wrong, lonely})
	made, err := AACRBench(dir, out)
	if err != nil {
		t.Fatal(err)
	}
	c := read(t, made.Cases).Cases[0]
	want := cases.Expected{ID: "G1", Text: "x", Original: "Performance", Categories: []string{"performance"}, Origin: "ai+expert", OriginModel: "m", AnchorOrigin: "published",
		Anchors: []cases.Anchor{{File: "f.go", Start: 7, End: 9, Side: "right"}}}
	if d := cmp.Diff([]cases.Expected{want}, c.Golden); d != "" || c.ID != "o-r-7" || c.Size() != "41-170 lines" || c.Language != "go" || len(c.Negatives) != 1 {
		t.Errorf("%s\n%+v", d, c)
	}
	if notes := strings.Join(made.Notes, "\n"); !strings.Contains(notes, "published as 9 to 7") || !strings.Contains(notes, "N1 is one of the base") || !strings.Contains(notes, "pull/8: left out") {
		t.Errorf("%s", notes)
	}
	for name, change := range map[string]func(*aacrPull){
		"an unknown category": func(p *aacrPull) { p.Comments[0].Category = "Taste" },
		"no address":          func(p *aacrPull) { p.URL = "https://github.com/o/r/issues/7" },
		"no line":             func(p *aacrPull) { p.Comments[0].From = 0 },
		"no comment":          func(p *aacrPull) { p.Comments = nil },
	} {
		bad := pull
		bad.Comments = []aacrComment{comment}
		change(&bad)
		pack(t, filepath.Join(dir, "positive.json.gz"), []aacrPull{bad})
		if _, err := AACRBench(dir, t.TempDir()); err == nil {
			t.Errorf("%s is imported", name)
		}
	}
	if _, err := AACRBench(t.TempDir(), t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestCodeReviewBench imports what was recorded and scores it: the figures are the published ones.
func TestCodeReviewBench(t *testing.T) {
	made, err := CodeReviewBench(published, t.TempDir(), "verdicts-2026-03-05", "gpt-5.2")
	if err != nil {
		t.Fatal(err)
	}
	if made.Pulls != 50 || made.Golden != 137 || len(made.Results) != 12 {
		t.Fatalf("%+v", made)
	}
	var tables map[string]map[string]map[string]struct {
		TP int `json:"tp"`
		FP int `json:"fp"`
		FN int `json:"fn"`
	}
	data, err := os.ReadFile(filepath.Join(published, "code-review-bench/expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &tables); err != nil {
		t.Fatal(err)
	}
	known := read(t, made.Cases)
	for _, dir := range made.Results {
		set, err := results.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := scoring.Score(known, set, scoring.Options{Measures: []string{"judge:gpt-5.2"}, Samples: 10})
		if err != nil {
			t.Fatal(err)
		}
		want, n := tables["verdicts-2026-03-05"]["gpt-5.2"][r.Name], r.Measures[0].Total
		if n.Found != want.TP || n.False() != want.FP || n.Missed != want.FN || n.Found == 0 {
			t.Errorf("%s: %+v, published %+v", r.Name, n, want)
		}
		// There are no places: nothing may be scored by them.
		if _, err := scoring.Score(known, set, scoring.Options{}); !errors.Is(err, scoring.ErrUnplaced) {
			t.Errorf("%s is scored by places: %v", r.Name, err)
		}
	}
	for _, bad := range [][2]string{{"verdicts-1999", ""}, {"", "nobody"}} {
		if _, err := CodeReviewBench(carriedBench, t.TempDir(), bad[0], bad[1]); !errors.Is(err, ErrEmpty) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := CodeReviewBench(t.TempDir(), t.TempDir(), "", ""); !errors.Is(err, eval.ErrNoBench) {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestCodeReviewBenchNamesAreData: a recording cannot choose where its results are written.
func TestCodeReviewBenchNamesAreData(t *testing.T) {
	for _, bad := range []struct{ url, tool string }{{"https://github.com/o/r/pull/1", "../../escaped"}, {"https://github.com/o/r/pull/1/../x", "tool"}} {
		dir, out := t.TempDir(), filepath.Join(t.TempDir(), "a", "b")
		if err := os.MkdirAll(filepath.Join(dir, "code-review-bench"), 0o777); err != nil {
			t.Fatal(err)
		}
		index := `{"code-review-bench": {"origin": "o", "licence": "MIT", "files": {"verdicts-1.json.gz": "x"}}}`
		if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte(index), 0o666); err != nil {
			t.Fatal(err)
		}
		pack(t, filepath.Join(dir, "code-review-bench", "verdicts-1.json.gz"), map[string]any{"judge": map[string]any{bad.url: map[string]any{
			"golden": []map[string]string{{"id": "g1", "text": "x"}}, "tools": map[string]any{bad.tool: map[string]any{"tp": []any{}, "fp": []string{}, "text": map[string]string{}}},
		}}})
		if _, err := CodeReviewBench(dir, out, "", ""); err == nil {
			t.Errorf("%v is imported", bad)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(out), "escaped")); err == nil {
			t.Errorf("%v is written outside", bad)
		}
	}
}

// TestByWords scores the recorded tools by words alone, which comes near the judge's figures.
func TestByWords(t *testing.T) {
	made, err := CodeReviewBench(carriedBench, t.TempDir(), "", "claude-opus-4.5")
	if err != nil {
		t.Fatal(err)
	}
	known := read(t, made.Cases)
	apart := 0.0
	for _, dir := range made.Results {
		set, err := results.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := scoring.Score(known, set, scoring.Options{Measures: []string{scoring.Words, "judge:claude-opus-4.5"}, Samples: 10})
		if err != nil {
			t.Fatal(err)
		}
		words, judged := *r.Measures[0].Result.F1, *r.Measures[1].Result.F1
		t.Logf("%s: F1 %.3f by words, %.3f by the judge", r.Name, words, judged)
		apart += max(words-judged, judged-words) / float64(len(made.Results))
	}
	if apart > 0.06 {
		t.Errorf("F1 by words and by the judge are %.3f apart in the mean of %d tools", apart, len(made.Results))
	}
}

func TestOwn(t *testing.T) {
	made, err := Own(carriedCases, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	was, is := read(t, carriedCases), read(t, made.Cases)
	if was.Digest() != is.Digest() || len(is.Cases) != 3 || is.Cases[0].BaseTree.SHA256 == "" {
		t.Errorf("the copy is other data, or its trees are not pinned: %+v", is.Cases[0].BaseTree)
	}
	if _, err := Own(carriedCases, filepath.Dir(made.Cases)); err == nil {
		t.Error("a copy is written over another")
	}
	if _, err := Own(t.TempDir(), t.TempDir()); !errors.Is(err, cases.ErrBad) {
		t.Errorf("an empty folder: %v", err)
	}
}
