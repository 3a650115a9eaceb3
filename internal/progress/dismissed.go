package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/distinct"
	"github.com/prloop/prloop/sanitize"
)

// Dismissed says what was written into the file of dismissals, what of it does not count yet, what was left out, and what comes next.
func Dismissed(path string, lines []dismissals.Dismissal, grave, left []distinct.Finding, known int) string {
	var b strings.Builder
	n := len(lines)
	lines = slices.CompactFunc(slices.Clone(lines), func(a, b dismissals.Dismissal) bool { return a.Line == b.Line }) // one for several like lines
	grave = slices.CompactFunc(slices.Clone(grave), func(a, b distinct.Finding) bool { return a.ID == b.ID })
	for _, d := range lines[:min(len(lines), rows)] {
		fmt.Fprintf(&b, "%s:%d: %s\n", dismissals.Name, d.Line, line(sanitize.Redact(d.Mark.Title)))
	}
	if n := len(lines) - rows; n > 0 {
		fmt.Fprintf(&b, "and %d more\n", n)
	}
	if known > 0 {
		fmt.Fprintf(&b, "dismissed before: %s\n", findings(known))
	}
	for _, f := range grave {
		fmt.Fprintf(&b, "%s is %s: it always counts in local reviews, and in pull requests until somebody other than the author has merged this line\n", f.ID[:8], gravity(f))
	}
	for _, f := range left {
		fmt.Fprintf(&b, "left out, because it is %s: %s %s\n", gravity(f), f.ID[:8], line(sanitize.Redact(f.Wordings[0].Title)))
	}
	if len(lines) == 0 {
		b.WriteString("nothing to dismiss\n")
	} else {
		fmt.Fprintf(&b, "next: git add %[1]s && git commit -m \"Dismiss %[2]s\" %[1]s\n", line(path), findings(n))
	}
	return b.String()
}

// gravity is why a finding is grave.
func gravity(f distinct.Finding) string {
	if p := f.Wordings[0].Priority; p.Severe() {
		return string(p)
	}
	return "about security"
}
