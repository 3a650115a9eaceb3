package scoring_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/review"
)

const (
	readers  = "../testdata/readers"
	byReader = scoring.Judge + "reader"
)

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

// judged reads what a judge said.
func judged(t *testing.T, name string) map[place]said {
	t.Helper()
	f, err := os.Open(filepath.Join(readers, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[place]said{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var s said
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all[s.place] = s
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
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
	all := judged(t, "verdicts.jsonl")
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

// TestReadersOnEightCases: eval.md "Readers on eight cases" prints what the carried result sets come to.
func TestReadersOnEightCases(t *testing.T) {
	known, doc := readerCases(t), openPage(t)
	expected, people := 0, 0
	of := map[string]string{}
	for _, c := range known.Cases {
		for _, e := range c.Golden {
			expected++
			if e.Origin == "human" {
				people++
			}
			of[c.ID+e.ID] = e.Origin
		}
	}
	doc.says("%d expected findings, %d of them written by people", expected, people)

	all := judged(t, "verdicts.jsonl")
	scores := map[string]scoring.Report{}
	score := func(name string, measures ...string) scoring.Report {
		r, err := scoring.Score(known, openSet(t, name), scoring.Options{Measures: measures})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	low, high, lowTrue, highTrue := 1.0, 0.0, 1.0, 0.0
	for _, row := range [][2]string{
		{"old", "program of commit 3c26362"},
		{"diff", "`diff`, counted"}, {"diff-prominent", "`diff`, prominent"},
		{"related", "`related`, counted"}, {"related-prominent", "`related`, prominent"},
		{"passes", "`passes`, counted"}, {"passes-prominent", "`passes`, prominent"},
		{"verified", "`verified`, counted"}, {"verified-prominent", "`verified`, prominent"},
	} {
		r := score(row[0], byReader, scoring.Place)
		scores[row[0]] = r
		raised, right := 0, 0
		human := map[string]bool{}
		for _, rev := range openSet(t, row[0]).Reviews {
			for _, f := range rev.Result.Issues {
				s := all[at(rev.Case, f)]
				raised++
				if len(s.Golden) > 0 || s.Valid && s.Wrong == "" {
					right++
				}
				for _, g := range s.Golden {
					if of[rev.Case+g] == "human" {
						human[rev.Case+g] = true
					}
				}
			}
		}
		share, held := float64(len(human))/float64(people), float64(right)/float64(raised)
		low, high, lowTrue, highTrue = min(low, share), max(high, share), min(lowTrue, held), max(highTrue, held)
		j, p := r.Measures[0], r.Measures[1]
		doc.says("| %s | %.1f | %s | %s | %s | %s |", row[1], float64(raised)/float64(r.Pulls), percent(j.Result.Precision, j.Precision), percent(j.Result.Recall, j.Recall),
			percent(j.Result.F1, j.F1), percent(p.Result.F1, p.F1))
	}
	thorough := score("thorough", scoring.Place)
	p := thorough.Measures[0]
	doc.says("| `thorough`, counted | %.1f | – | – | – | %s |", float64(p.Total.Raised)/float64(thorough.Pulls), percent(p.Result.F1, p.F1))
	doc.says("recall is %.0f to %.0f %%", 100*low, 100*high)
	doc.says("%.0f to %.0f %% of the findings", 100*lowTrue, 100*highTrue)

	for _, row := range [][3]string{
		{"old", "related", "old program to `related`"}, {"diff", "related", "`diff` to `related`: related code"}, {"related", "passes", "`related` to `passes`: four passes with tools"},
		{"related", "verified", "`related` to `verified`: verifier"}, {"diff", "diff-prominent", "`diff`, counted to prominent"}, {"related", "related-prominent", "`related`, counted to prominent"},
		{"passes", "passes-prominent", "`passes`, counted to prominent"}, {"verified", "verified-prominent", "`verified`, counted to prominent"}, {"old", "verified-prominent", "old program to `verified`, prominent"},
	} {
		doc.says("%s", compared(t, scores[row[0]], scores[row[1]], byReader, row[2]))
	}

	answered, refuted, lost, unjudged := 0, 0, 0, 0
	for _, r := range openSet(t, "verified").Reviews {
		answered += len(r.Stages.Answered)
		for _, f := range r.Stages.SetAside {
			refuted++
			if len(all[at(r.Case, f)].Golden) > 0 {
				lost++
			}
		}
	}
	doc.says("set %d of %d findings aside in `verified`, and the judge had matched %d of these", refuted, answered, lost)
	for _, r := range openSet(t, "thorough").Reviews {
		for _, f := range r.Stages.Answered {
			if _, ok := all[at(r.Case, f)]; !ok {
				unjudged++
			}
		}
	}
	doc.says("%d of its findings", unjudged)
}
