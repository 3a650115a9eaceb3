package calibration

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// say makes n observations of one model, of which held held.
func say(model string, stated float64, n, held int) (out []Observation) {
	for i := range n {
		out = append(out, Observation{Model: model, Of: Probability, Stated: stated, Held: i < held, From: FromRuns})
	}
	return out
}

func curve(t *testing.T, all ...[]Observation) *Curve {
	t.Helper()
	var list []Observation
	for _, a := range all {
		list = append(list, a...)
	}
	table := Fit(list)
	c := table.Find(Probability, "m")
	if c == nil {
		t.Fatal("there is no curve")
	}
	return c
}

func TestWorth(t *testing.T) {
	overconfident := [][]Observation{say("m", 0.9, 1000, 600), say("m", 0.5, 1000, 400), say("m", 0.1, 1000, 100)}
	for _, row := range []struct {
		name   string
		said   [][]Observation
		stated float64
		low    int
		high   int
	}{
		{"of many findings, what held counts", overconfident, 0.9, 595, 610},
		{"below the first bin with data the curve goes on", overconfident, 0.1, 98, 102},
		{"between two bins it rises evenly", overconfident, 0.7, 500, 610},
		{"of three findings, the model's word counts", [][]Observation{say("m", 0.9, 3, 0)}, 0.9, 755, 765},
		{"of as many as its word is worth, both count alike", [][]Observation{say("m", 0.9, 10, 10)}, 0.9, 950, 950},
		{"what was never said is taken as said", [][]Observation{say("m", 0.9, 1000, 600)}, 0.2, 195, 205},
		{"a model that is too modest", [][]Observation{say("m", 0.2, 1000, 800)}, 0.2, 775, 800},
		{"nothing is worth less than nothing", [][]Observation{say("m", 0.05, 1000, 0)}, 0, 0, 0},
		{"nor more than certain", [][]Observation{say("m", 0.95, 1000, 1000)}, 1, 1000, 1000},
	} {
		if got := curve(t, row.said...).Worth(row.stated); got < row.low || got > row.high {
			t.Errorf("%s: %.2f is worth %d, want %d to %d", row.name, row.stated, got, row.low, row.high)
		}
	}
	var none *Table
	for p := range 1001 {
		if got := none.Find(Probability, "m").Worth(float64(p) / 1000); got != p {
			t.Fatalf("without a table %d is worth %d", p, got)
		}
	}
}

// A higher word is never worth less, every value is a probability, the order of what was observed does not matter, and the table is
// read back as it was written.
func TestLaws(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 41))
		var all []Observation
		for range r.IntN(300) + 1 {
			all = append(all, Observation{
				Model: fmt.Sprintf("m%d", r.IntN(2)), Of: []string{Probability, Confidence}[r.IntN(2)],
				Stated: float64(r.IntN(1001)) / 1000, Held: r.IntN(3) > 0, From: []string{FromEval, FromRuns}[r.IntN(2)],
			})
		}
		table := Fit(all)
		for _, c := range table.Curves {
			last := 0
			for p := range 1001 {
				got := c.Worth(float64(p) / 1000)
				if got < last || got > 1000 {
					t.Fatalf("seed %d, %s of %s: %d is worth %d after %d", seed, c.Of, c.Model, p, got, last)
				}
				last = got
			}
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if again := Fit(all); !reflect.DeepEqual(table, again) || table.ID() != again.ID() {
			t.Fatalf("seed %d: another order gives another table", seed)
		}
		data, err := table.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Decode(data); err != nil || !reflect.DeepEqual(table, back) {
			t.Fatalf("seed %d: read back as %+v, %v", seed, back, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	data, err := Fit(append(say("m", 0.9, 20, 12), say("n", 0.3, 5, 1)...)).Encode()
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	for name, bad := range map[string]string{
		"a chance that does not follow": strings.Replace(good, `"chance": 50`, `"chance": 40`, 1),
		"more held than found":          strings.Replace(good, `"held": 12`, `"held": 21`, 1),
		"another origin":                strings.Replace(good, `"runs": 20`, `"runs": 19`, 1),
		"another format":                strings.Replace(good, `"format": 1`, `"format": 2`, 1),
		"an unknown field":              strings.Replace(good, `"format": 1`, `"format": 1, "x": 1`, 1),
		"one model twice":               strings.Replace(good, `"model": "n"`, `"model": "m"`, 1),
		"something else":                strings.Replace(good, `"of": "probability"`, `"of": "luck"`, 1),
		"no model":                      strings.Replace(good, `"model": "m"`, `"model": ""`, 1),
		"two values":                    good + good,
		"half":                          good[:len(good)/2],
		"nothing":                       "",
	} {
		if bad == good {
			t.Fatalf("%s: the table was not changed", name)
		}
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// The interval is Wilson's: of published values, and with nothing known anything.
func TestInterval(t *testing.T) {
	for _, row := range []struct{ n, held, low, high int }{{0, 0, 0, 1000}, {10, 6, 313, 832}, {100, 60, 502, 691}, {20, 0, 0, 161}, {20, 20, 839, 1000}} {
		if low, high := (Bin{Findings: row.n, Held: row.held}).Interval(); low != row.low || high != row.high {
			t.Errorf("%d of %d: %d to %d, want %d to %d", row.held, row.n, low, high, row.low, row.high)
		}
	}
}
