package results

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

func manifest() Manifest {
	return Manifest{Name: "agent", Agents: []string{"builtin"}, Models: []string{"m"}, Prompts: map[string]string{"reviewer": "abc"}, Seed: 7, Repeats: 2, Cases: []Planned{{"a", "1"}, {"b", "2"}}}
}

func reviewOf(id string, n int) Review {
	line, sure := 9, 0.5
	return Review{Case: id, Repeat: n, Result: review.ReviewResult{Status: review.StatusOK, ModelsUsed: []string{"m"}, Issues: []review.Issue{
		{Key: "k1", File: "f.go", LineStart: 7, LineEnd: &line, Severity: "high", Category: "bug", Confidence: &sure}, {Key: "k2"}}},
		Verdicts: map[string]Verdict{"judge": {Same: []Same{{"g1", "k1", 0.9}}, Repeats: []string{"k2"}}}}
}

// write makes a result set, and leaves out the last reviews and the seal when it is interrupted after n.
func write(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	w, err := Create(dir, manifest())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range []Review{reviewOf("a", 1), reviewOf("a", 2), reviewOf("b", 1), reviewOf("b", 2)} {
		if i == n {
			return dir
		}
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWrittenIsRead(t *testing.T) {
	s, err := Open(write(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	m := manifest()
	m.Format = Format
	want := Set{Manifest: m, Sealed: true, Reviews: []Review{reviewOf("a", 1), reviewOf("a", 2), reviewOf("b", 1), reviewOf("b", 2)}}
	if d := cmp.Diff(want, s); d != "" || s.Interrupted() {
		t.Error(d)
	}
}

func TestInterruptedIsSaid(t *testing.T) {
	for n := range 4 {
		s, err := Open(write(t, n))
		if err != nil || !s.Interrupted() || len(s.Missing) != 4-n || len(s.Reviews) != n || s.Missing[len(s.Missing)-1] != "b/2" {
			t.Errorf("after %d reviews: %+v, %v", n, s, err)
		}
	}
}

func TestCreateWritesOverNothing(t *testing.T) {
	if _, err := Create(write(t, 2), manifest()); err == nil {
		t.Error("a result set is written over another")
	}
	for name, change := range map[string]func(*Manifest){
		"no name":       func(m *Manifest) { m.Name = "" },
		"no cases":      func(m *Manifest) { m.Cases = nil },
		"no repeats":    func(m *Manifest) { m.Repeats = 0 },
		"an id outside": func(m *Manifest) { m.Cases[0].ID = "../a" },
		"a case twice":  func(m *Manifest) { m.Cases[1].ID = "a" },
		"no input":      func(m *Manifest) { m.Cases[0].Input = "" },
	} {
		m := manifest()
		change(&m)
		if _, err := Create(t.TempDir(), m); err == nil {
			t.Errorf("%s: created", name)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, row := range map[string]struct{ file, old, with, says string }{
		"changed after the seal":      {"reviews/a.1.json", `"high"`, `"low"`, "reviews/a.1.json is not the one that was sealed"},
		"a manifest that was changed": {"set.json", `"seed": 7`, `"seed": 8`, "set.json is not the one that was sealed"},
		"a review of another case":    {"reviews/a.1.json", `"case": "a"`, `"case": "b"`, "is of b/1"},
		"a field nobody knows":        {"reviews/a.1.json", `"case"`, `"x": 1, "case"`, "unknown field"},
		"two values":                  {"reviews/a.1.json", "{", "{}\n{", "more than one value"},
		"an unknown severity":         {"reviews/a.1.json", `"high"`, `"dire"`, `severity "dire"`},
		"a confidence over 1":         {"reviews/a.1.json", `"confidence": 0.5`, `"confidence": 5`, "confidence 5"},
		"lines that end before":       {"reviews/a.1.json", `"line_end": 9`, `"line_end": 3`, "stands on no line"},
		"two findings of one key":     {"reviews/a.1.json", `"k1"`, `"k2"`, "no dedupe_key of its own"},
		"an unknown status":           {"reviews/a.1.json", `"ok"`, `"fine"`, `status "fine"`},
		"a verdict on nothing":        {"reviews/a.1.json", `"finding": "k1"`, `"finding": "k9"`, `there is no finding "k9"`},
		"right and a repetition":      {"reviews/a.1.json", `"finding": "k1"`, `"finding": "k2"`, "repeats another finding and is an expected one"},
		"another format":              {"set.json", `"format": 1`, `"format": 2`, "format 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, 4)
			file := filepath.Join(dir, row.file)
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(data), row.old, row.with, 1)
			if changed == string(data) {
				t.Fatalf("nothing to replace in %s", data)
			}
			if err := os.WriteFile(file, []byte(changed), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(dir); !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v does not say %q", err, row.says)
			}
		})
	}
	dir := write(t, 4)
	if err := os.Remove(filepath.Join(dir, "reviews/b.2.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), "sealed and is gone") {
		t.Errorf("a review that is gone: %v", err)
	}
	dir = write(t, 4)
	if err := os.WriteFile(filepath.Join(dir, "reviews/c.1.json"), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), "nobody planned") {
		t.Errorf("a review nobody planned: %v", err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrBad) {
		t.Errorf("an empty folder: %v", err)
	}
}
