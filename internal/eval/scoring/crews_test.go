package scoring_test

import (
	"slices"
	"testing"

	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/review"
)

// TestCrews: eval.md "The crew of commit 3c26362, and today's" prints what the carried sets come to, and they hold what the judge said.
func TestCrews(t *testing.T) {
	known, doc, all := readerCases(t), openPage(t), judged(t, "verdicts-crews.jsonl")
	reports, valid := map[string]scoring.Report{}, 0
	for _, s := range all {
		if s.Valid {
			valid++
		}
	}
	doc.says("%d of %d findings are true", valid, len(all))
	for _, row := range [][2]string{
		{"crew-old", "three lenses of commit 3c26362, all distinct"}, {"crew-old-prominent", "three lenses of commit 3c26362, prominent"},
		{"crew-standard", "`standard`, counted"}, {"crew-standard-prominent", "`standard`, prominent"},
		{"crew-thorough", "`thorough`, counted"}, {"crew-thorough-prominent", "`thorough`, prominent"},
		{"crew-now", "`standard`, prompts of 2026-11-26, counted"}, {"crew-now-prominent", "`standard`, prompts of 2026-11-26, prominent"},
	} {
		set := openSet(t, row[0])
		r, err := scoring.Score(known, set, scoring.Options{Measures: []string{byReader, scoring.Place}})
		if err != nil {
			t.Fatal(err)
		}
		reports[row[0]] = r
		raised := 0
		for _, rev := range set.Reviews {
			raised += len(rev.Result.Issues)
			for _, f := range rev.Result.Issues {
				if _, ok := all[at(rev.Case, f)]; !ok {
					t.Errorf("%s: %s: nobody judged %q", row[0], rev.Case, f.Title)
				}
			}
			for _, same := range rev.Verdicts["reader"].Same {
				i := slices.IndexFunc(rev.Result.Issues, func(f review.Issue) bool { return f.Key == same.Finding })
				if i < 0 || !slices.Contains(all[at(rev.Case, rev.Result.Issues[i])].Golden, same.Golden) {
					t.Errorf("%s: %s: the judge did not say that %s is %s", row[0], rev.Case, same.Finding, same.Golden)
				}
			}
		}
		j, p := r.Measures[0], r.Measures[1]
		doc.says("| %s | %.1f | %s | %s | %s | %s |", row[1], float64(raised)/float64(r.Pulls), percent(j.Result.Precision, j.Precision), percent(j.Result.Recall, j.Recall),
			percent(j.Result.F1, j.F1), percent(p.Result.F1, p.F1))
	}
	for _, row := range [][3]string{
		{"crew-old-prominent", "crew-standard-prominent", "3c26362 to `standard`"}, {"crew-old-prominent", "crew-thorough-prominent", "3c26362 to `thorough`"},
		{"crew-old-prominent", "crew-now-prominent", "3c26362 to `standard`, prompts of 2026-11-26"}, {"crew-standard-prominent", "crew-now-prominent", "`standard`: prompts of 2026-11-12 to 2026-11-26"},
	} {
		doc.says("%s", compared(t, reports[row[0]], reports[row[1]], byReader, row[2]))
	}
}
