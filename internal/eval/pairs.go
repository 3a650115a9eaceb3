package eval

import (
	"crypto/sha256"
	"maps"
	"reflect"
	"slices"

	"github.com/prloop/prloop/review"
)

// Split names the rule by which pull requests are held back.
const Split = "held back: the first byte of the SHA-256 of the pull request's address is odd; whole pull requests, so that no text of one half is known in the other"

// HeldBack tells the half no weight or threshold was chosen on (Split).
func HeldBack(url string) bool { return sha256.Sum256([]byte(url))[0]&1 == 1 }

// Pairs are the labelled pairs of one pull request in one recording: each expected finding with each finding of each
// tool. Those in neither list of a tool are different findings.
type Pairs struct {
	// URL and Recording say what was reviewed and when it was recorded.
	URL, Recording string
	Expected       []string
	Tools          []ToolPairs
}

// ToolPairs are one tool's findings and how they pair with the expected ones, as [expected, finding].
type ToolPairs struct {
	Tool     string
	Findings []string
	// Same are the pairs at least two judges call the same finding, Contested those one judge alone does: these count
	// neither way.
	Same, Contested [][2]int
}

// Pairs gathers the labelled pairs of all recordings. Wordings are those of the first judge by name; the judges' verdicts
// are brought together by the ids of findings, and a finding some judge did not judge is left out. So are a tool's
// review that an earlier recording has too, with the same labels, and pull requests whose texts are held out.
func (b Dataset) Pairs() []Pairs {
	var out []Pairs
	known := map[[2]string][]ToolPairs{}
	for _, r := range b.Recordings {
		for _, p := range r.Pulls {
			pairs := Pairs{URL: p.URL, Recording: r.Name}
			for _, g := range p.Golden {
				if g.Text != "" {
					pairs.Expected = append(pairs.Expected, g.Text)
				}
			}
			if len(pairs.Expected) < len(p.Golden) || len(r.Judges) == 0 {
				continue
			}
			for _, tool := range slices.Sorted(maps.Keys(p.Reviews[r.Judges[0]])) {
				t, key := p.label(r.Judges, tool), [2]string{p.URL, tool}
				same := func(k ToolPairs) bool { return reflect.DeepEqual(k, t) }
				if len(t.Findings) == 0 || slices.ContainsFunc(known[key], same) {
					continue
				}
				known[key] = append(known[key], t)
				pairs.Tools = append(pairs.Tools, t)
			}
			if len(pairs.Tools) > 0 {
				out = append(out, pairs)
			}
		}
	}
	return out
}

// label counts the judges' votes on one tool's findings.
func (p Pull) label(judges []string, tool string) ToolPairs {
	t := ToolPairs{Tool: tool}
	var ids []string
	first := p.Reviews[judges[0]][tool]
	for _, id := range first.Findings() {
		byAll := !slices.ContainsFunc(judges, func(j string) bool { return !slices.Contains(p.Reviews[j][tool].Findings(), id) })
		if text, ok := first.Text[id]; ok && byAll {
			ids, t.Findings = append(ids, id), append(t.Findings, text)
		}
	}
	for i, g := range p.Golden {
		for k, id := range ids {
			votes := 0
			for _, j := range judges {
				if slices.ContainsFunc(p.Reviews[j][tool].True, func(h Hit) bool { return h.Golden == g.ID && h.Finding == id }) {
					votes++
				}
			}
			switch {
			case votes >= 2:
				t.Same = append(t.Same, [2]int{i, k})
			case votes == 1:
				t.Contested = append(t.Contested, [2]int{i, k})
			}
		}
	}
	return t
}

// Findings makes findings of bare texts. They are all about one place, for the recordings know none: what is measured is
// the words.
func Findings(source string, texts []string) []review.Finding {
	var out []review.Finding
	for _, s := range texts {
		out = append(out, review.Finding{Category: review.CategoryBug, File: "f", Title: s, Source: review.Source{Type: "agent", Name: source}})
	}
	return out
}
