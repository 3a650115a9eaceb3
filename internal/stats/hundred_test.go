package stats

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
)

// TestAHundredRuns: the store of a hundred simulated runs gives the figures the simulation counted, and a table of calibration that knows which of its
// three models is honest, which is too sure, and which knows nothing.
func TestAHundredRuns(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(11, 7))
	models := map[string]func(stated float64) float64{
		"honest": func(p float64) float64 { return p }, "sure": func(p float64) float64 { return p / 2 }, "blind": func(float64) float64 { return 0.3 },
	}
	fates := map[review.Fate]int{}
	findings, converged := 0, 0
	stated := []float64{0.05, 0.35, 0.65, 0.95}
	for n := range 100 {
		id := fmt.Sprintf("run-%03d", n)
		target := review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: []string{"widgets", "gears"}[n%2]}, PR: n + 1}
		result := review.RunResult{Run: id, Outcome: review.ChangesRequested, Seconds: 10}
		if n%4 == 0 {
			result.Outcome, converged = review.Converged, converged+1
		}
		for _, model := range []string{"honest", "sure", "blind"} {
			result.Rounds = append(result.Rounds, review.RoundResult{Round: len(result.Rounds) + 1, Agents: []review.AgentReceipt{asked(model, model, review.AgentComplete, 100, 50, 10, ptr(0.01))}})
			for _, p := range stated {
				fate := review.FateRejected
				if random.Float64() < models[model](p) {
					fate = review.FateFixed
				}
				result.Fates = append(result.Fates, became(review.P2, fate, p > 0.5, review.Voice{Name: model, Model: model, Confidence: ptr(p)}))
				fates[fate]++
				findings++
			}
		}
		if err := s.CreateRun(t.Context(), store.Run{ID: id, ReviewID: id, Target: target}); err != nil {
			t.Fatal(err)
		}
		if err := s.FinishRun(t.Context(), result); err != nil {
			t.Fatal(err)
		}
	}

	var d Digest
	if err := s.EachRun(t.Context(), store.Filter{}, d.Add); err != nil {
		t.Fatal(err)
	}
	all := d.Rows()[0]
	if all.Runs != 100 || all.Findings != findings || all.Fates[review.FateFixed] != fates[review.FateFixed] || all.Fates[review.FateRejected] != fates[review.FateRejected] ||
		all.Outcomes[review.Converged] != converged || all.Answers != 300 {
		t.Errorf("%+v, want %d findings, %v and %d converged", all, findings, fates, converged)
	}
	for _, r := range d.Rows() {
		if r.By == ByRepository && r.Runs != 50 {
			t.Errorf("%s has %d runs", r.Name, r.Runs)
		}
	}
	usage, err := ReadUsage(t.Context(), s, store.Over{})
	if err != nil || usage.Rows[0].Findings != findings || usage.Rows[0].Runs != 100 {
		t.Errorf("%v: %+v", err, usage.Rows[0])
	}

	out := filepath.Join(t.TempDir(), "table.json")
	var b bytes.Buffer
	if err := (Fitting{Out: out, By: "content"}).Run(&b, t.TempDir(), d.Observations()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	table, err := calibration.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	for model, truth := range models {
		c := table.Find(calibration.Confidence, model)
		if c == nil || c.Runs != 400 {
			t.Fatalf("%s: %+v", model, c)
		}
		for _, p := range stated {
			// A hundred findings of one chance differ from it by 15 points at most, but for one case in some hundred; the seed is fixed.
			if worth := float64(c.Worth(p)) / 1000; worth < truth(p)-0.15 || worth > truth(p)+0.15 {
				t.Errorf("%s says %.2f: worth %.3f, in truth %.3f\n%s", model, p, worth, truth(p), b.String())
			}
		}
	}
}
