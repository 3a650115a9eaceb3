package tools

import (
	"encoding/json"
	"fmt"
	"strings"
)

// result is what a tool answers. Models read it as text: lines as they are, with their numbers in the margin as in a diff.
type result interface{ text() string }

// numbered writes lines with their numbers, the first of which is start.
func numbered(start int, lines string) string {
	var b strings.Builder
	for l := range strings.Lines(lines) {
		fmt.Fprintf(&b, "%6d  %s", start, l)
		start++
	}
	return b.String()
}

func (f FileLines) text() string {
	head := fmt.Sprintf("%s, lines %d-%d of %d", f.Path, f.Start, f.End, f.Lines)
	if f.End < f.Start {
		head = fmt.Sprintf("%s, no lines of %d", f.Path, f.Lines)
	}
	if f.Language != "" {
		head += ", " + f.Language
	}
	out := head + "\n" + numbered(f.Start, f.Content)
	if f.Missing > 0 {
		out += fmt.Sprintf("(%d lines are missing here, from line %d)\n", f.Missing, f.End+1)
	}
	return out
}

func (f FunctionContext) text() string {
	how := ""
	if !f.Exact {
		how = ", found by indentation"
	}
	out := fmt.Sprintf("%s, lines %d-%d, %s%s\n", f.Path, f.Start, f.End, f.Name, how)
	if len(f.Imports) > 0 {
		out += "imports:\n" + strings.Join(f.Imports, "\n") + "\ndefinition:\n"
	}
	out += numbered(f.Start, f.Definition)
	if f.Missing > 0 {
		out += fmt.Sprintf("(%d lines are missing here, from line %d)\n", f.Missing, f.End+1)
	}
	return out
}

func (m Matches) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s, of %d read\n", several(m.Lines, "line"), several(m.Found, "file"), m.Files)
	last := ""
	for _, f := range m.Counts {
		fmt.Fprintf(&b, "%s: %d\n", f.File, f.Lines)
	}
	for _, l := range m.Matches {
		if l.File != last {
			b.WriteString(l.File + "\n")
			last = l.File
		}
		fmt.Fprintf(&b, "%6d  %s\n", l.Line, l.Snippet)
	}
	switch {
	case m.Counts != nil && m.Found > len(m.Counts):
		fmt.Fprintf(&b, "(%s with matches not listed)\n", several(m.Found-len(m.Counts), "more file"))
	case m.Counts == nil && m.Lines > len(m.Matches):
		fmt.Fprintf(&b, "(%s not shown: narrow the search, or count)\n", several(m.Lines-len(m.Matches), "more line"))
	}
	if m.Ended {
		b.WriteString("(the tree is larger than one search reads: the rest was not looked at)\n")
	}
	return b.String()
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (f Folder) text() string {
	out := fmt.Sprintf("%s, entries: %d\n", f.Path, len(f.Entries)+f.Missing)
	for _, e := range f.Entries {
		out += e + "\n"
	}
	if f.Missing > 0 {
		out += fmt.Sprintf("(%d more are missing)\n", f.Missing)
	}
	return out
}

func (l Log) text() string {
	if len(l.Commits) == 0 {
		return "no commits\n"
	}
	out := ""
	for _, c := range l.Commits {
		out += fmt.Sprintf("%s %s %s: %s\n", c.SHA, c.Date, c.Author, c.Subject)
	}
	return out
}

func (r Remarks) text() string {
	if len(r.Remarks) == 0 {
		return "no findings\n"
	}
	out := ""
	for _, m := range r.Remarks {
		out += fmt.Sprintf("%s:%d: %s: %s\n", m.File, m.Line, m.Rule, m.Message)
	}
	if r.Missing > 0 {
		out += fmt.Sprintf("(%d more are missing)\n", r.Missing)
	}
	return out
}

func (d Done) text() string {
	if d.Line > 0 {
		return fmt.Sprintf("%s is changed at line %d; it has %s now\n", d.Path, d.Line, several(d.Lines, "line"))
	}
	if d.Deleted {
		return d.Path + " is deleted\n"
	}
	return fmt.Sprintf("%s is new; it has %s\n", d.Path, several(d.Lines, "line"))
}

func (c Changes) text() string {
	if len(c.Files) == 0 {
		return "nothing is changed\n"
	}
	out := "changed: " + strings.Join(c.Files, ", ") + "\n" + c.Diff
	if c.Missing > 0 {
		out += fmt.Sprintf("(%d more bytes of the diff are missing)\n", c.Missing)
	}
	return out
}

// page is what prloop answers for the web, which is a document of its own.
type page json.RawMessage

func (p page) text() string { return string(p) }
