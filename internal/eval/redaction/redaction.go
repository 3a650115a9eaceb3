// Package redaction measures how many of a scanner's sample secrets the sanitizer takes out of text, and how often it takes out
// what is none.
package redaction

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prloop/prloop/sanitize"
)

// The goals: the share of secrets that are gone, the share of harmless texts that are changed, and the time for 60 kB of text.
const (
	GoalRecall     = 0.99
	GoalFalseAlarm = 0.01
	GoalTime       = 10 * time.Millisecond
)

// ErrNoSamples: the folder has no samples.
var ErrNoSamples = errors.New("no samples (*.jsonl.gz)")

// Bounds of what is read.
const (
	lineLimit   = 1 << 20
	sampleLimit = 100_000
)

// Sample is one text of a scanner's own tests.
type Sample struct {
	ID    string `json:"id"`
	Rule  string `json:"rule"`
	Label string `json:"label"` // tp or fp
	Text  string `json:"text"`
	// Secrets are exact parts of the text that must be gone; of a tp only.
	Secrets []string `json:"secrets"`
	// Clean is true of an fp on which no rule of its scanner fires.
	Clean bool `json:"clean_for_all_rules"`
}

// Tally counts a set of samples.
type Tally struct {
	Name string `json:"name"`
	// Secrets are the texts with secrets, Gone those of which all secrets were taken out.
	Secrets int `json:"secrets"`
	Gone    int `json:"gone"`
	// Harmless are the texts without any, Changed those that did not come out as they were; of these Clean are those on which no rule
	// of the scanner fires either, and CleanChanged those of them that were changed.
	Harmless     int `json:"harmless"`
	Changed      int `json:"changed"`
	Clean        int `json:"clean"`
	CleanChanged int `json:"cleanChanged"`
}

// Miss is a rule whose samples came out with a secret, or harmless ones changed.
type Miss struct {
	Rule    string `json:"rule"`
	Secrets int    `json:"secrets"`
	Changed int    `json:"changed"`
	// Example is the id of one of them. The text is never shown.
	Example string `json:"example"`
}

// Report is what the sanitizer does to samples.
type Report struct {
	Sets   []Tally `json:"sets"`
	All    Tally   `json:"all"`
	Misses []Miss  `json:"misses"`
	// Milliseconds is what redacting 60 kB of the samples took, the best of five times.
	Milliseconds float64 `json:"milliseconds"`
	Met          bool    `json:"met"`
}

// Measure redacts all samples of a folder.
func Measure(dir string) (Report, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		return Report{}, errors.Join(ErrNoSamples, err)
	}
	r, misses := Report{All: Tally{Name: "all"}, Misses: []Miss{}}, map[string]*Miss{}
	var text strings.Builder
	for _, file := range files {
		set := Tally{Name: strings.TrimSuffix(filepath.Base(file), ".jsonl.gz")}
		err := each(file, func(s Sample) {
			if text.Len() < textBytes {
				text.WriteString(s.Text + "\n")
			}
			out := sanitize.Redact(s.Text)
			wrong := set.count(s, out)
			if !wrong {
				return
			}
			m := misses[s.Rule]
			if m == nil {
				m = &Miss{Rule: s.Rule, Example: s.ID}
				misses[s.Rule] = m
			}
			if s.Label == "tp" {
				m.Secrets++
			} else {
				m.Changed++
			}
		})
		if err != nil {
			return Report{}, fmt.Errorf("read %s: %w", filepath.Base(file), err)
		}
		r.Sets = append(r.Sets, set)
		r.All.add(set)
	}
	for _, m := range misses {
		r.Misses = append(r.Misses, *m)
	}
	slices.SortFunc(r.Misses, func(a, b Miss) int {
		return cmp.Or(cmp.Compare(b.Secrets+b.Changed, a.Secrets+a.Changed), cmp.Compare(a.Rule, b.Rule))
	})
	r.Milliseconds = float64(took(text.String())) / float64(time.Millisecond)
	r.Met = r.All.recall() >= GoalRecall && r.All.falseAlarm() <= GoalFalseAlarm && r.Milliseconds <= float64(GoalTime/time.Millisecond)
	return r, nil
}

// textBytes is how long the text is that is timed: a comment at its longest.
const textBytes = 60_000

// took is how long a text takes, the best of five times: the first makes the rules ready.
func took(text string) time.Duration {
	for len(text) < textBytes && text != "" {
		text += text
	}
	text = text[:min(len(text), textBytes)]
	best := time.Hour
	for range 5 {
		began := time.Now()
		sanitize.Redact(text)
		best = min(best, time.Since(began))
	}
	return best
}

// count adds a sample by what came out of it, and reports whether that is wrong.
func (t *Tally) count(s Sample, out string) (wrong bool) {
	if s.Label == "tp" {
		t.Secrets++
		if wrong = slices.ContainsFunc(s.Secrets, func(x string) bool { return x != "" && strings.Contains(out, x) }); !wrong {
			t.Gone++
		}
		return wrong
	}
	t.Harmless++
	if s.Clean {
		t.Clean++
	}
	if out == s.Text {
		return false
	}
	t.Changed++
	if s.Clean {
		t.CleanChanged++
	}
	return true
}

func (t *Tally) add(o Tally) {
	t.Secrets, t.Gone, t.Harmless, t.Changed = t.Secrets+o.Secrets, t.Gone+o.Gone, t.Harmless+o.Harmless, t.Changed+o.Changed
	t.Clean, t.CleanChanged = t.Clean+o.Clean, t.CleanChanged+o.CleanChanged
}

func (t Tally) recall() float64     { return share(t.Gone, t.Secrets) }
func (t Tally) falseAlarm() float64 { return share(t.Changed, t.Harmless) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// each reads the samples of a file.
func each(file string, do func(Sample)) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, lineLimit)
	n := 0
	for ; lines.Scan(); n++ {
		var s Sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
		switch {
		case s.Label != "tp" && s.Label != "fp":
			return fmt.Errorf("line %d: label %q is neither tp nor fp", n+1, s.Label)
		case s.Label == "tp" && len(s.Secrets) == 0:
			return fmt.Errorf("line %d: a tp without a secret", n+1)
		case n == sampleLimit:
			return fmt.Errorf("more than %d samples", sampleLimit)
		}
		do(s)
	}
	return lines.Err()
}

// mostMisses is how many rules are printed.
const mostMisses = 20

// Write prints the figures.
func (r Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SAMPLES\tSECRETS GONE\tHARMLESS CHANGED\tOF THESE, CLEAN FOR ALL RULES")
	for _, s := range append(slices.Clone(r.Sets), r.All) {
		fmt.Fprintf(t, "%s\t%.2f %% (%d of %d)\t%.2f %% (%d of %d)\t%d of %d\n", s.Name, 100*s.recall(), s.Gone, s.Secrets, 100*s.falseAlarm(), s.Changed, s.Harmless, s.CleanChanged, s.Clean)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Misses) > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(t, "RULE\tSECRETS LEFT\tHARMLESS CHANGED\tSUCH AS")
		for _, m := range r.Misses[:min(len(r.Misses), mostMisses)] {
			fmt.Fprintf(t, "%s\t%d\t%d\t%s\n", sanitize.Line(m.Rule, 60), m.Secrets, m.Changed, sanitize.Line(m.Example, 60))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		if more := len(r.Misses) - mostMisses; more > 0 {
			fmt.Fprintf(w, "and %d more rules (--json)\n", more)
		}
	}
	met := "met"
	if !r.Met {
		met = "missed"
	}
	_, err := fmt.Fprintf(w, "\n60 kB take %.1f ms. Goals: at least %.0f %% gone, at most %.0f %% changed, %v for 60 kB: %s\n",
		r.Milliseconds, 100*GoalRecall, 100*GoalFalseAlarm, GoalTime, met)
	return err
}
