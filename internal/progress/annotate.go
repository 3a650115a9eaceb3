package progress

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// perLevel is how many annotations of one level GitHub shows for a step.
const perLevel = 10

// Bounds of what an annotation says, in columns, before it is made safe.
const (
	longestTitle   = 300
	longestMessage = 2000
)

// Annotate writes the distinct findings as workflow commands of GitHub Actions, what has to be fixed first: P0 and P1 as errors, P2 as
// warnings, what is optional as notices. Titles and messages pass the gate of posted comments: GitHub shows them on the
// pull request, and other programs read them there.
func Annotate(w io.Writer, r review.RunResult, p sanitize.Policy) {
	given, left := map[string]int{}, 0
	for _, g := range distinct(r) {
		f, level := g.wordings[0], "notice"
		switch {
		case g.must && f.Priority == review.P2:
			level = "warning"
		case g.must:
			level = "error"
		}
		if given[level]++; given[level] > perLevel {
			left++
			continue
		}
		properties := "title=" + property(fmt.Sprintf("%s %s", f.Priority, sanitize.Inline(cut(f.Title, longestTitle), p)))
		if file := line(sanitize.Redact(f.File)); file != "" && !sanitize.Leaks(file, p) { // a name to GitHub, not a text
			properties = "file=" + property(file) + place(f) + "," + properties
		}
		fmt.Fprintf(w, "::%s %s::%s\n", level, properties, message(sanitize.Field(cut(cmp.Or(f.Description, f.Title), longestMessage), p)))
	}
	if left > 0 {
		fmt.Fprintf(w, "prloop: %d more findings stand in the report\n", left)
	}
}

// AnnotateError writes what ended a command, and what to do about it, as one annotation. It passes the same gate.
func AnnotateError(w io.Writer, sentence, next string) {
	if next != "" {
		sentence += "\ntry: " + next
	}
	fmt.Fprintf(w, "::error title=prloop::%s\n", message(sanitize.Field(cut(sentence, longestMessage), sanitize.Policy{})))
}

func place(f review.Finding) string {
	switch {
	case f.Line == nil || *f.Line < 1:
		return ""
	case f.LineEnd != nil && *f.LineEnd > *f.Line:
		return fmt.Sprintf(",line=%d,endLine=%d", *f.Line, *f.LineEnd)
	}
	return fmt.Sprintf(",line=%d", *f.Line)
}

var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func message(s string) string { return dataEscapes.Replace(uncommand(s)) }

func property(s string) string { return propertyEscapes.Replace(uncommand(s)) }

// byUrgency orders findings for people: priority, then place.
func byUrgency(findings []review.Finding) []review.Finding {
	out := slices.Clone(findings)
	slices.SortStableFunc(out, urgency)
	return out
}

func urgency(a, b review.Finding) int {
	return cmp.Or(cmp.Compare(a.Priority.Rank(), b.Priority.Rank()), cmp.Compare(a.File, b.File),
		cmp.Compare(number(a.Line), number(b.Line)), cmp.Compare(a.Title, b.Title))
}

func number(p *int) int {
	if p == nil {
		return 0
	}
	return *p
}
