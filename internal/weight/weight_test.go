package weight

import (
	"slices"
	"testing"

	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
)

func said(s review.AssessmentStatus, probability float64, change ...func(*review.Assessment)) *review.Assessment {
	a := &review.Assessment{Status: s, Probability: &probability}
	for _, c := range change {
		c(a)
	}
	return a
}

func fact(a *review.Assessment) { a.Fact = &review.Fact{File: "a.go", Evidence: "x()"} }
func was(a *review.Assessment)  { no := false; a.Introduced = &no }

func TestTaken(t *testing.T) {
	for _, row := range []struct {
		name   string
		f      Facts
		taken  bool
		counts bool
	}{
		// Without a verifier: what two say, or one with verified evidence at high severity (decision 3).
		{"two reviewers", Facts{Priority: review.P2, Voices: 2}, true, true},
		{"one P1 with verified evidence", Facts{Priority: review.P1, Voices: 1, Verified: true}, true, true},
		{"one P1 without", Facts{Priority: review.P1, Voices: 1}, false, true},
		{"one P1 of a high score without", Facts{Priority: review.P1, Voices: 1, Score: 8}, false, true},
		{"one P2 with verified evidence", Facts{Priority: review.P2, Voices: 1, Verified: true, Score: 6}, false, true},
		{"one P2 of the only reviewer", Facts{Priority: review.P2, Voices: 1, Alone: true}, true, true},
		{"a P3 of the only reviewer", Facts{Priority: review.P3, Voices: 1, Alone: true}, false, true},
		{"a nit that two raise", Facts{Priority: review.P3, Voices: 2, Score: 1}, false, true},
		{"style that two raise", Facts{Priority: review.P2, Voices: 2, Style: true}, false, true},
		// With one.
		{"a chance of 0.3", Facts{Priority: review.P2, Voices: 1, Verified: true, Assessment: said(review.Plausible, 0.3)}, true, true},
		{"a chance of 0.2", Facts{Priority: review.P2, Voices: 1, Verified: true, Assessment: said(review.Plausible, 0.2)}, false, false},
		{"a chance of 0.2, raised by two", Facts{Priority: review.P2, Voices: 2, Verified: true, Assessment: said(review.Plausible, 0.2)}, true, true},
		{"proven", Facts{Priority: review.P2, Voices: 1, Verified: true, Assessment: said(review.Confirmed, 0.15, fact)}, true, true},
		{"confirmed by words alone", Facts{Priority: review.P2, Voices: 1, Verified: true, Assessment: said(review.Confirmed, 0.15)}, false, false},
		{"older than the change", Facts{Priority: review.P2, Voices: 1, Verified: true, Assessment: said(review.Plausible, 0.4, was)}, false, false},
		{"a duplicate", Facts{Priority: review.P1, Voices: 2, Verified: true, Assessment: said(review.Duplicate, 0.9)}, false, false},
		{"no chance given is the prior", Facts{Priority: review.P2, Voices: 2, Assessment: &review.Assessment{Status: review.Plausible}}, true, true},
		{"a P2 of the only reviewer, doubted", Facts{Priority: review.P2, Voices: 1, Alone: true, Assessment: said(review.Plausible, 0.1)}, false, false},
		// Whatever it says.
		{"a P0", Facts{Priority: review.P0, Voices: 1, Assessment: said(review.Plausible, 0, was)}, true, true},
		{"no priority at all", Facts{Priority: "P9", Voices: 1, Assessment: said(review.Plausible, 0)}, true, true},
		{"security", Facts{Priority: review.P2, Security: true, Voices: 1, Assessment: said(review.Duplicate, 0)}, true, true},
		{"a rule or a person", Facts{Priority: review.P2, Certain: true, Voices: 1, Assessment: said(review.Plausible, 0)}, true, true},
	} {
		if got := row.f.Taken(); got != row.taken {
			t.Errorf("%s: taken %v with %d points", row.name, got, row.f.Points())
		}
		if got := row.f.Counts(); got != row.counts {
			t.Errorf("%s: counts %v with %d points", row.name, got, row.f.Points())
		}
	}
}

// More support, more evidence and a higher chance never make a finding count less.
func TestMoreIsNotLess(t *testing.T) {
	for _, p := range []review.Priority{review.P1, review.P2, review.P3} {
		for chance := 0.0; chance < 0.95; chance += 0.05 {
			f := Facts{Priority: p, Voices: 1, Assessment: said(review.Plausible, chance)}
			for name, more := range map[string]Facts{
				"a second voice": {Priority: p, Voices: 2, Assessment: f.Assessment}, "verified": {Priority: p, Voices: 1, Verified: true, Assessment: f.Assessment},
				"more chance": {Priority: p, Voices: 1, Assessment: said(review.Plausible, chance+0.05)}, "a fact": {Priority: p, Voices: 1, Assessment: said(review.Confirmed, chance, fact)},
			} {
				if more.Points() < f.Points() || f.Taken() && !more.Taken() {
					t.Errorf("%s at %.2f: %s takes it out", p, chance, name)
				}
			}
		}
	}
}

func TestOpen(t *testing.T) {
	p := func(p review.Priority, voices int) Facts { return Facts{Priority: p, Voices: voices} }
	for _, row := range []struct {
		name    string
		list    []Facts
		offered []bool
		budget  int
		want    []bool
	}{
		{"the heaviest first", []Facts{p(review.P2, 1), p(review.P2, 2), p(review.P3, 2)}, []bool{true, true, true}, 2, []bool{true, true, false}},
		{"what is not offered is closed", []Facts{p(review.P0, 1), p(review.P2, 2)}, []bool{false, true}, 5, []bool{false, true}},
		{"P0, P1 and security are never hidden", []Facts{p(review.P2, 2), p(review.P0, 1), p(review.P1, 1), {Priority: review.P2, Security: true}}, []bool{true, true, true, true}, 2, []bool{false, true, true, true}},
		{"within one priority points decide", []Facts{p(review.P2, 1), p(review.P2, 2)}, []bool{true, true}, 1, []bool{false, true}},
		{"nothing", nil, nil, 5, []bool{}},
	} {
		if got := Open(row.list, row.offered, row.budget); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// A curve moves what a verifier says to what it is worth, and a finding over the cut or under it; without one nothing changes.
func TestCalibrated(t *testing.T) {
	var said9, said1 []calibration.Observation
	for i := range 200 {
		said9 = append(said9, calibration.Observation{Model: "m", Of: calibration.Probability, Stated: 0.4, Held: i < 20})
		said1 = append(said1, calibration.Observation{Model: "m", Of: calibration.Probability, Stated: 0.1, Held: i < 120})
	}
	over, under := calibration.Fit(said9), calibration.Fit(said1)
	half, tenth := 500, 100
	for _, row := range []struct {
		name  string
		f     Facts
		taken bool
	}{
		{"0.4 as it is said", Facts{Priority: review.P2, Voices: 1, Verified: true, Assessment: said(review.Plausible, 0.4)}, true},
		{"0.4 of one that is right in a tenth", Facts{Priority: review.P2, Voices: 1, Verified: true, Assessment: said(review.Plausible, 0.4), Curve: over.Find(calibration.Probability, "m")}, false},
		{"0.1 as it is said", Facts{Priority: review.P2, Voices: 1, Verified: true, Assessment: said(review.Plausible, 0.1)}, false},
		{"0.1 of one that is too modest", Facts{Priority: review.P2, Voices: 1, Verified: true, Assessment: said(review.Plausible, 0.1), Curve: under.Find(calibration.Probability, "m")}, true},
		{"no chance given, and a reviewer whose word is known", Facts{Priority: review.P2, Voices: 1, Assessment: &review.Assessment{Status: review.Plausible}, Trusted: &half}, true},
		{"two voices whose word is worth little", Facts{Priority: review.P2, Voices: 2, Trusted: &tenth}, false},
		{"the verifier's chance goes before a reviewer's confidence", Facts{Priority: review.P2, Voices: 1, Assessment: said(review.Plausible, 0.1), Trusted: &half}, false},
		{"a P0 whatever it is worth", Facts{Priority: review.P0, Voices: 1, Assessment: said(review.Plausible, 0), Curve: over.Find(calibration.Probability, "m")}, true},
	} {
		if got := row.f.Taken(); got != row.taken {
			t.Errorf("%s: taken %v with %d points", row.name, got, row.f.Points())
		}
	}
}
