package progress

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/prloop/prloop/internal/distinct"
	"github.com/prloop/prloop/internal/runnerlog"
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

// levels are the words of workflow commands.
var levels = [...]string{distinct.Error: "error", distinct.Warning: "warning", distinct.Note: "notice"}

// Annotate writes the distinct findings as workflow commands of GitHub Actions, what has to be fixed first: P0 and P1 as errors, P2 as
// warnings, what is optional as notices. Titles and messages pass the gate of posted comments: GitHub shows them on the
// pull request, and other programs read them there.
func Annotate(w io.Writer, r review.RunResult, p sanitize.Policy) {
	given, left := map[string]int{}, 0
	for _, g := range distinct.Of(r) {
		f, level := g.Wordings[0], levels[g.Level()]
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

// AnnotateWarning writes what somebody should set right, as one annotation.
func AnnotateWarning(w io.Writer, sentence string) {
	fmt.Fprintf(w, "::warning title=prloop::%s\n", message(sentence))
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

func message(s string) string { return runnerlog.Inert(dataEscapes.Replace(s)) }

func property(s string) string { return runnerlog.Inert(propertyEscapes.Replace(s)) }
