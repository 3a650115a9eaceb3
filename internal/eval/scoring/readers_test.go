package scoring_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/review"
)

const readers = "../testdata/readers"

// place is what the judge was shown of a finding, and where it is known by.
type place struct {
	Case, File string
	Line       int
	Title      string
}

// said is what the blind judge said of a finding.
type said struct {
	place
	Golden []string
	Wrong  string
	Valid  bool
}

// judged reads what the judge said.
func judged(t *testing.T) map[place]said {
	t.Helper()
	f, err := os.Open(filepath.Join(readers, "verdicts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[place]said{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var s said
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all[s.place] = s
	}
	return all
}

func at(id string, f review.Issue) place { return place{id, f.File, f.LineStart, f.Title} }

func openSet(t *testing.T, name string) results.Set {
	t.Helper()
	s, err := results.Open(filepath.Join(readers, "results", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReaderVerdicts: what the sets hold of the judge is what the judge said, and each finding it judged is in some set.
func TestReaderVerdicts(t *testing.T) {
	all := judged(t)
	left := map[place]bool{}
	for p := range all {
		left[p] = true
	}
	for _, name := range []string{"old", "diff", "related", "passes", "verified", "diff-prominent", "related-prominent", "passes-prominent", "verified-prominent"} {
		for _, r := range openSet(t, name).Reviews {
			found := map[string]bool{}
			keys := map[string][]string{}
			for _, f := range r.Result.Issues {
				s, ok := all[at(r.Case, f)]
				if !ok {
					t.Errorf("%s: %s: nobody judged %q", name, r.Case, f.Title)
				}
				for _, g := range s.Golden {
					found[g] = true
				}
				keys[f.Key] = s.Golden
			}
			v := r.Verdicts["reader"]
			if r.Stages != nil {
				for _, list := range results.Lists(*r.Stages) {
					for _, f := range list {
						delete(left, at(r.Case, f))
					}
				}
			}
			for _, f := range r.Result.Issues {
				delete(left, at(r.Case, f))
			}
			for _, s := range v.Same {
				if !slices.Contains(keys[s.Finding], s.Golden) {
					t.Errorf("%s: %s: the judge did not say that %s is %s", name, r.Case, s.Finding, s.Golden)
				}
			}
			for _, k := range v.Repeats {
				if len(keys[k]) == 0 {
					t.Errorf("%s: %s: %s repeats nothing", name, r.Case, k)
				}
			}
			if len(v.Same) != len(found) {
				t.Errorf("%s: %s: %d expected findings, the judge found %d", name, r.Case, len(v.Same), len(found))
			}
		}
	}
	if len(all) != 149 || len(left) > 0 {
		t.Errorf("%d findings were judged, and no set holds %v", len(all), left)
	}
}

// TestProminentReaders: the sets of the open part hold the prominent stage of the others.
func TestProminentReaders(t *testing.T) {
	for _, name := range []string{"diff", "related", "passes", "verified"} {
		whole, open := openSet(t, name), openSet(t, name+"-prominent")
		for i, r := range whole.Reviews {
			same := func(a, b review.Issue) bool { return a.Key == b.Key && a.Title == b.Title }
			if !slices.EqualFunc(r.Stages.Prominent, open.Reviews[i].Result.Issues, same) {
				t.Errorf("%s: %s: other findings are prominent", name, r.Case)
			}
		}
	}
}
