package prompts

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

var hunkHeader = lazyregexp.New(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// numbered writes line numbers of the head version into the margin of a unified diff. Models count badly, and a finding
// on the wrong line is lost.
func numbered(diff string) string {
	var b strings.Builder
	line, olds, news := 0, 0, 0
	for l := range strings.SplitSeq(strings.TrimRight(diff, "\n"), "\n") {
		if m := hunkHeader.FindStringSubmatch(l); m != nil { // lines inside a hunk start with space, + or -
			line, _ = strconv.Atoi(m[2])
			olds, news = count(m[1]), count(m[3])
			b.WriteString(l + "\n")
			continue
		}
		switch {
		case olds <= 0 && news <= 0, strings.HasPrefix(l, `\`):
			b.WriteString(l + "\n")
		case strings.HasPrefix(l, "-"):
			fmt.Fprintf(&b, "%6s %s\n", "", l)
			olds--
		case strings.HasPrefix(l, "+"):
			fmt.Fprintf(&b, "%6d %s\n", line, l)
			line++
			news--
		default:
			fmt.Fprintf(&b, "%6d %s\n", line, l)
			line++
			olds--
			news--
		}
	}
	return b.String()
}

// count reads a length of a hunk header; without one it is 1.
func count(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}

// region writes lines of the head version with their numbers.
func region(r review.Region) string {
	var b strings.Builder
	n := r.Start
	for l := range strings.SplitSeq(strings.TrimRight(r.Text, "\n"), "\n") {
		fmt.Fprintf(&b, "%6d  %s\n", n, strings.TrimRight(l, "\r"))
		n++
	}
	return b.String()
}

// file writes one changed file: its diff, then the regions around the changes.
func file(word string, f review.BriefFile) string {
	if f.Omitted != "" {
		return ""
	}
	name := f.Path
	if f.OldPath != "" && f.OldPath != f.Path {
		name = f.OldPath + " -> " + f.Path
	}
	var b strings.Builder
	b.WriteString(fenced(word, fmt.Sprintf("diff %s (%s)", name, f.Change), numbered(f.Diff)))
	if f.HunksGiven < f.Hunks {
		fmt.Fprintf(&b, "(%d of %d hunks are shown)\n", f.HunksGiven, f.Hunks)
	}
	for _, r := range f.Context {
		what := fmt.Sprintf("lines %d-%d of %s", r.Start, r.End, f.Path)
		if r.Symbol != "" {
			what += ", in " + r.Symbol
		}
		b.WriteString(fenced(word, what, region(r)))
	}
	return b.String()
}

// related writes code outside the change: each region with the reason it is shown, unless it is that of the one before.
func related(word string, f review.RelatedFile) string {
	var b strings.Builder
	why := ""
	for _, r := range f.Regions {
		if r.Symbol != why {
			why = r.Symbol
			b.WriteString("-- " + inline(why) + "\n")
		}
		b.WriteString(region(r))
	}
	return fenced(word, "code of "+f.Path, b.String())
}
