package results

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// TestResume: what is complete stays, what is half, changed or of another review is named and goes, and other pins are refused.
func TestResume(t *testing.T) {
	put := func(t *testing.T, dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, row := range map[string]struct {
		written int
		spoil   func(t *testing.T, dir string)
		retry   bool
		have    int
		dropped string
	}{
		"nothing yet":            {0, nil, false, 0, ""},
		"half of it":             {2, nil, false, 2, ""},
		"sealed and whole":       {4, nil, false, 4, ""},
		"half a file":            {2, func(t *testing.T, dir string) { put(t, dir, "reviews/a.2.json", `{"case": "a"`) }, false, 1, "a/2: unexpected EOF"},
		"a file of another case": {1, func(t *testing.T, dir string) { put(t, dir, "reviews/b.1.json", `{"case": "a", "repeat": 1}`) }, false, 1, "b/1: it is of a/1"},
		"changed after the seal": {4, func(t *testing.T, dir string) {
			data, err := os.ReadFile(filepath.Join(dir, "reviews/a.1.json"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, "reviews/a.1.json", strings.Replace(string(data), `"high"`, `"low"`, 1))
		}, false, 3, "a/1: it is not the one that was sealed"},
		"its recording is gone": {1, func(t *testing.T, dir string) {
			put(t, dir, "reviews/a.2.json", `{"case": "a", "repeat": 2, "review": {"status": "ok"}, "cassette": "abc"}`)
		}, false, 1, "a/2: its recording cannot be read"},
		"a failed one": {1, func(t *testing.T, dir string) {
			put(t, dir, "reviews/a.2.json", `{"case": "a", "repeat": 2, "review": {"status": "error"}}`)
		}, false, 2, ""},
		"a failed one, retried": {1, func(t *testing.T, dir string) {
			put(t, dir, "reviews/a.2.json", `{"case": "a", "repeat": 2, "review": {"status": "error"}}`)
		}, true, 1, "a/2: it failed"},
		"a file that was being written": {1, func(t *testing.T, dir string) { put(t, dir, "reviews/a.2.json.tmp", `{`) }, false, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, row.written)
			if row.spoil != nil {
				row.spoil(t, dir)
			}
			w, have, dropped, err := Resume(dir, manifest(), row.retry)
			if err != nil {
				t.Fatal(err)
			}
			if len(have) != row.have || (row.dropped == "") != (len(dropped) == 0) || row.dropped != "" && !strings.HasPrefix(dropped[0], row.dropped) {
				t.Errorf("%d reviews are there, dropped %q", len(have), dropped)
			}
			for _, c := range []string{"a", "b"} {
				for n := range 2 {
					if !slices.ContainsFunc(have, func(r Review) bool { return r.Case == c && r.Repeat == n+1 }) {
						if err := w.Add(reviewOf(c, n+1)); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if err := w.Seal(); err != nil {
				t.Fatal(err)
			}
			if s, err := Open(dir); err != nil || s.Interrupted() {
				t.Errorf("it is %+v, %v", s.Missing, err)
			}
		})
	}
	for name, change := range map[string]func(*Manifest){
		"cases": func(m *Manifest) { m.Cases = []Planned{{"a", "1"}, {"b", "3"}} }, "prompts": func(m *Manifest) { m.Prompts = map[string]string{"reviewer": "b"} },
		"models": func(m *Manifest) { m.Models = []string{"n"} }, "settings": func(m *Manifest) { m.Settings = "s" }, "seed": func(m *Manifest) { m.Seed = 8 },
		"program": func(m *Manifest) { m.Program = "p" }, "repeats": func(m *Manifest) { m.Repeats = 3 }, "agents": func(m *Manifest) { m.Agents = nil },
		"replayed set": func(m *Manifest) { m.Replayed = "r" }, "name": func(m *Manifest) { m.Name = "n" },
	} {
		m := manifest()
		change(&m)
		if _, _, _, err := Resume(write(t, 2), m, false); !errors.Is(err, ErrOtherPins) || !strings.Contains(err.Error(), "its "+name+" was") {
			t.Errorf("other %s: %v", name, err)
		}
	}
}

// TestAt: the findings of a stage are those that are scored, by its name; a set without stages has none.
func TestAt(t *testing.T) {
	r := reviewOf("a", 1)
	r.Stages = &review.Stages{Answered: []review.Issue{{Key: "x"}, {Key: "y"}}, Prominent: []review.Issue{{Key: "y"}}}
	s := Set{Manifest: manifest(), Reviews: []Review{r}}
	if err := s.At("prominent"); err != nil || s.Manifest.Name != "agent (prominent)" || len(s.Reviews[0].Result.Issues) != 1 || s.Reviews[0].Verdicts != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if err := s.At("last"); !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), `no stage "last"`) {
		t.Error(err)
	}
	s.Reviews[0].Stages = nil
	if err := s.At("answered"); !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), "a/1 has no stages") {
		t.Error(err)
	}
}
