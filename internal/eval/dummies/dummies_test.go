package dummies

import (
	"os"
	"testing"

	"github.com/prloop/prloop/internal/eval/cases"
)

// read reads the carried cases, and those of the folder PRLOOP_CASES names.
func read(t *testing.T) map[string]cases.Set {
	t.Helper()
	out := map[string]cases.Set{}
	for name, dir := range map[string]string{"carried": "../../testkit/forge/testdata/cases", "PRLOOP_CASES": os.Getenv("PRLOOP_CASES")} {
		if dir == "" {
			t.Log("no further cases: PRLOOP_CASES names no folder")
			continue
		}
		set, err := cases.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = set
	}
	return out
}

func TestPerfectScoresOneAndRandomScoresChance(t *testing.T) {
	for name, set := range read(t) {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				r, err := Try(set, seed)
				if err != nil {
					t.Fatal(err)
				}
				if !r.OK() || len(r.Perfect) != 2 || r.Chance <= 0 || r.Right == 0 {
					t.Errorf("seed %d: %+v", seed, r)
				}
			}
		})
	}
}

// TestOKNoticesAWrongScore holds the check itself: another tolerance or a lost expected finding must not pass.
func TestOKNoticesAWrongScore(t *testing.T) {
	r, err := Try(read(t)["carried"], 0)
	if err != nil {
		t.Fatal(err)
	}
	missed := r
	missed.Perfect = map[string]float64{"place": 0.99}
	lucky := r
	lucky.Right = int(r.High) + 1
	unlucky := r
	unlucky.Right = int(r.Low) - 1
	for name, bad := range map[string]Report{"a perfect agent below 1": missed, "more right than chance gives": lucky, "fewer": unlucky} {
		if bad.OK() {
			t.Errorf("%s passes", name)
		}
	}
}

func TestRandomNeedsCode(t *testing.T) {
	set := read(t)["carried"]
	set.Cases[0].Code = nil
	if _, err := Try(set, 0); err == nil {
		t.Error("a case without code is guessed at")
	}
}
