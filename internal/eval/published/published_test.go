package published

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/eval"
)

func read(t *testing.T) Data {
	t.Helper()
	d, err := Read("../testdata/published")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestEveryPublishedRow recomputes all 5,760 rows and 150 lines of tables, and the same of the full set where PRLOOP_BENCH names
// its folder.
func TestEveryPublishedRow(t *testing.T) {
	all := map[string]Data{"carried": read(t)}
	if dir := os.Getenv("PRLOOP_BENCH"); dir != "" {
		d, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		all["PRLOOP_BENCH"] = d
	} else {
		t.Log("the full set is not checked: PRLOOP_BENCH names no folder")
	}
	for name, d := range all {
		r := Recompute(d, false)
		if !r.OK() || r.Rows != 5760 || r.Exact != 5760 || r.Totals != 150 || len(r.States) != 2 || r.States[0].Rows != 1200 || r.States[1].Rows != 4560 {
			t.Errorf("%s: %+v", name, r)
		}
		// The two states differ in whether repetitions were grouped; both counts are of the same reviews.
		if s := r.States[1]; s.SetAside < 900 || s.WithRepeats >= s.Precision {
			t.Errorf("%s: repetitions make no difference: %+v", name, s)
		}
	}
}

// TestPlantedMistakesAreRed makes mistakes a scorer or a recording may have: each must show in rows and in tables.
func TestPlantedMistakesAreRed(t *testing.T) {
	each := func(d Data, change func(p eval.Pull, r *eval.Review)) {
		for _, rec := range d.Recorded.Recordings {
			for _, p := range rec.Pulls {
				for _, tools := range p.Reviews {
					for name, r := range tools {
						change(p, &r)
						tools[name] = r
					}
				}
			}
		}
	}
	once := func(do func(r *eval.Review) bool) func(eval.Pull, *eval.Review) {
		done := false
		return func(_ eval.Pull, r *eval.Review) {
			if !done {
				done = do(r)
			}
		}
	}
	for name, row := range map[string]struct {
		plant        func(d Data)
		countRepeats bool
		// wrong is how many rows must differ at least.
		wrong int
	}{
		"repetitions count as false alarms": {func(Data) {}, true, 500},
		"a finding may be one expected finding only": {func(d Data) {
			each(d, func(_ eval.Pull, r *eval.Review) {
				seen := map[string]bool{}
				var kept []eval.Hit
				for _, h := range r.True {
					if !seen[h.Finding] {
						kept = append(kept, h)
					}
					seen[h.Finding] = true
				}
				r.True = kept
			})
		}, false, 200},
		"one verdict is turned round": {func(d Data) {
			for _, rec := range d.Recorded.Recordings {
				for _, p := range rec.Pulls {
					r, ok := p.Reviews["claude-opus-4.5"]["augment"]
					if ok && len(r.True) > 0 {
						r.False, r.True = append(r.False, r.True[0].Finding), r.True[1:]
						p.Reviews["claude-opus-4.5"]["augment"] = r
						return
					}
				}
			}
		}, false, 1},
		"an expected finding is forgotten": {func(d Data) {
			p := &d.Recorded.Recordings[0].Pulls[0]
			p.Golden = p.Golden[1:]
		}, false, 12},
		"a false alarm is lost": {func(d Data) {
			each(d, once(func(r *eval.Review) bool {
				if len(r.False) == 0 {
					return false
				}
				r.False = r.False[1:]
				return true
			}))
		}, false, 0}, // it may be one of the judge whose rows were not published
	} {
		d := read(t)
		row.plant(d)
		r := Recompute(d, row.countRepeats)
		if r.OK() || r.Rows-r.Exact < row.wrong || r.ExactTotals == r.Totals || len(r.Differences) == 0 {
			t.Errorf("%s: %d of %d rows and %d of %d lines are exact", name, r.Exact, r.Rows, r.ExactTotals, r.Totals)
		}
	}
	missing := read(t)
	delete(missing.Recorded.Recordings[0].Pulls[0].Reviews, "gpt-5.2")
	if r := Recompute(missing, false); r.OK() || !strings.Contains(strings.Join(r.Differences, "\n"), "there is no verdict") {
		t.Error("a published row without a verdict passes")
	}
}

func TestReadRefuses(t *testing.T) {
	if _, err := Read("../testdata/bench"); !errors.Is(err, eval.ErrNoBench) || !strings.Contains(err.Error(), "published-counts") {
		t.Errorf("recordings without published figures: %v", err)
	}
	if (Report{}).OK() {
		t.Error("nothing compared is exact")
	}
}
