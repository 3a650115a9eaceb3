// Package page renders a score as one HTML page without scripts and without anything from elsewhere: figures with their
// intervals, plots, and every miss and false alarm with its code (eval.md "Report"). Whatever an agent or a repository
// wrote is text on it.
package page

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/sanitize"
)

//go:embed page.html
var source string

//go:embed page.css
var style string

// page is what the template is given. All text is safe to show.
type page struct {
	Style  template.CSS
	Name   string
	Data   string
	Pulls  int
	Revs   int
	Notes  []string
	Pins   []pin
	Cards  []card
	Forest forest
	Groups []group
	Curve  *curve
	Spent  *spent
	Cases  []caseView
	By     string
	Means  []pin
	Counts []count
}

// pin is a name and its value.
type pin struct{ Name, Value string }

// card is a headline figure.
type card struct{ Name, Value, Range string }

// count is one kind of finding.
type count struct {
	Name, Class string
	N           int
	Meaning     string
}

// Write renders a report by its last measure. The cases are those that were scored.
func Write(w io.Writer, known cases.Set, r scoring.Report) error {
	t, err := template.New("page").Parse(source)
	if err != nil {
		return err
	}
	m := r.Primary()
	p := page{Style: template.CSS(style), Name: shown(r.Name), Data: r.Data, Pulls: r.Pulls, Revs: r.Reviews, By: shown(m.Measure)}
	for _, n := range r.Notes {
		p.Notes = append(p.Notes, shown(n))
	}
	if m.Repeats != nil {
		p.Notes = append(p.Notes, m.Repeats.String())
	}
	p.pin(r)
	p.Cards = []card{
		headline("Precision", m.Result.Precision, m.Precision), headline("Recall", m.Result.Recall, m.Recall), headline("F1", m.Result.F1, m.F1),
		plain("Calibration error", m.Result.Calibration, "%.3f", "0 is best"), plain("Cost of a review", m.Result.CostUSD, "$%.3f", "mean"),
		plain("Time of a review", m.Result.Seconds, "%.0f s", "mean"),
	}
	n := m.Total
	p.Counts = []count{
		{"right", "right", n.Found, "expected findings that were found"}, {"missed", "missed", n.Missed, "expected findings nobody raised"},
		{"known wrong", "wrong", n.KnownWrong, "repeats a comment that people judged wrong"}, {"repeats", "repeat", n.Repeats, "right, but said by another finding already"},
		{"unlisted", "unlisted", n.Unlisted, "nobody expected it: false, or true and not listed"},
	}
	for _, m := range r.Measures {
		p.Means = append(p.Means, pin{shown(m.Measure), shown(m.Meaning)})
	}
	p.Forest = newForest(r.Measures)
	p.Groups = groups(m.Slices)
	p.Curve = newCurve(m.Calibration)
	p.Spent = newSpent(m.Cases)
	p.Cases = views(known, m)
	return t.Execute(w, p)
}

func (p *page) pin(r scoring.Report) {
	m := r.Manifest
	add := func(name, value string) {
		if value != "" {
			p.Pins = append(p.Pins, pin{name, shown(value)})
		}
	}
	add("agents", strings.Join(m.Agents, ", "))
	add("models", strings.Join(m.Models, ", "))
	var prompts []string
	for name, hash := range m.Prompts {
		prompts = append(prompts, fmt.Sprintf("%s %.12s", name, hash))
	}
	slices.Sort(prompts)
	add("prompts", strings.Join(prompts, ", "))
	add("settings", fmt.Sprintf("%.12s", m.Settings))
	add("seed", fmt.Sprint(m.Seed))
	add("data", fmt.Sprintf("%.12s", r.Data))
}

func headline(name string, v *float64, i *scoring.Interval) card {
	c := card{Name: name, Value: "–", Range: "nothing to count"}
	if v != nil {
		c.Value, c.Range = percent(*v), "one pull request: no interval"
	}
	if i != nil {
		c.Range = fmt.Sprintf("%.1f to %.1f (95 %%)", 100*i.Low, 100*i.High)
	}
	return c
}

func plain(name string, v *float64, format, note string) card {
	if v == nil {
		return card{name, "–", "not told"}
	}
	return card{name, fmt.Sprintf(format, *v), note}
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// shown makes text safe to read: hidden characters are visible, secrets are gone.
func shown(s string) string { return sanitize.Terminal(sanitize.Redact(s)) }

// caseView is one pull request.
type caseView struct {
	ID, Title, URL, Language, Size string
	Found, Missed, False           int
	Items                          []item
	Open                           bool
}

// item is a miss, a false alarm or a right finding.
type item struct {
	// Class is right, missed, wrong, repeat or unlisted; Label what a person reads.
	Class, Label string
	Place        string
	Facts        []string
	Text         string
	// Against is the expected finding or known-wrong comment it is held against.
	Against string
	Code    []line
	// NoCode says why there is none.
	NoCode string
}

// line is one line of code; Marked ones are those that are talked about.
type line struct {
	N      int
	Text   string
	Marked bool
}

var classes = map[scoring.Fate]string{scoring.FateRight: "right", scoring.FateKnownWrong: "wrong", scoring.FateRepeat: "repeat", scoring.FateUnlisted: "unlisted"}

func views(known cases.Set, m scoring.Measured) []caseView {
	byID := map[string]cases.Case{}
	for _, c := range known.Cases {
		byID[c.ID] = c
	}
	var out []caseView
	for _, counts := range m.Cases {
		c := byID[counts.Case]
		v := caseView{ID: c.ID, Title: shown(c.Title), Language: shown(c.Language), Size: c.Size(), Found: counts.Found, Missed: counts.Missed, False: counts.False(), Open: len(out) == 0}
		if strings.HasPrefix(c.URL, "https://") {
			v.URL = c.URL
		}
		of := slices.DeleteFunc(slices.Clone(m.Graded), func(g scoring.Graded) bool { return g.Case != c.ID })
		v.Items = append(misses(c, of), findings(c, of)...)
		out = append(out, v)
	}
	return out
}

// misses are the expected findings that at least one review of the case missed.
func misses(c cases.Case, of []scoring.Graded) []item {
	var out []item
	for _, e := range c.Golden {
		missed := 0
		for _, g := range of {
			if slices.ContainsFunc(g.Missed, func(m cases.Expected) bool { return m.ID == e.ID }) {
				missed++
			}
		}
		if missed == 0 {
			continue
		}
		i := item{Class: "missed", Label: "missed", Text: shown(e.Text), Facts: []string{e.ID, shown(cmp.Or(e.Original, strings.Join(e.Categories, ", ")))}}
		if len(of) > 1 {
			i.Label = fmt.Sprintf("missed in %d of %d reviews", missed, len(of))
		}
		for _, f := range []string{e.Severity, e.Context} {
			if f != "" {
				i.Facts = append(i.Facts, shown(f))
			}
		}
		if places := c.Places(e); len(places) > 0 {
			i.show(c, places[0].File, places[0].Start, places[0].End)
		} else {
			i.NoCode = "It has no place."
		}
		out = append(out, i)
	}
	return out
}

// findings are those of the agent, false alarms first.
func findings(c cases.Case, of []scoring.Graded) []item {
	texts := map[string]string{}
	for _, e := range slices.Concat(c.Golden, c.Negatives) {
		texts[e.ID] = e.ID + ": " + e.Text
	}
	var out []item
	for _, g := range of {
		for _, f := range g.Findings {
			i := item{Class: classes[f.Fate], Label: string(f.Fate), Text: shown(strings.TrimSpace(f.Title + "\n" + f.Description)), Against: shown(texts[f.Golden])}
			if len(of) > 1 {
				i.Label += fmt.Sprintf(", review %d", g.Repeat)
			}
			for _, fact := range []string{f.Severity, f.Category} {
				if fact != "" {
					i.Facts = append(i.Facts, shown(fact))
				}
			}
			if f.Confidence != nil {
				i.Facts = append(i.Facts, fmt.Sprintf("confidence %.2f", *f.Confidence))
			}
			end := f.LineStart
			if f.LineEnd != nil {
				end = *f.LineEnd
			}
			i.show(c, f.File, f.LineStart, end)
			out = append(out, i)
		}
	}
	order := []string{"wrong", "unlisted", "repeat", "right"}
	slices.SortStableFunc(out, func(a, b item) int {
		return cmp.Compare(slices.Index(order, a.Class), slices.Index(order, b.Class))
	})
	return out
}

const (
	// around is how many lines are shown before and after a place, longest how many of it at most.
	around, longest = 3, 24
	// widest is how many characters of a line are shown.
	widest = 240
)

// show adds the code at a place of the head.
func (i *item) show(c cases.Case, file string, start, end int) {
	switch {
	case file == "" || start < 1:
		i.NoCode = "It names no line."
		return
	case end > start:
		i.Place = fmt.Sprintf("%s:%d-%d", file, start, end)
	default:
		i.Place = fmt.Sprintf("%s:%d", file, start)
	}
	i.Place = shown(i.Place)
	if c.Code == nil {
		i.NoCode = "The case has no code."
		return
	}
	text, ok := c.Code.Head[file]
	if !ok {
		i.NoCode = "The pull request does not change this file."
		return
	}
	n := 0
	for l := range strings.Lines(text) {
		n++
		if n < start-around || n > min(end, start+longest)+around {
			continue
		}
		if r := []rune(l); len(r) > widest {
			l = string(r[:widest]) + " …"
		}
		i.Code = append(i.Code, line{n, shown(strings.TrimRight(l, "\r\n")), start <= n && n <= end})
	}
	if len(i.Code) == 0 {
		i.NoCode = fmt.Sprintf("The file has %d lines.", n)
	}
}
