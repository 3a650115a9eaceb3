package tools

import (
	"slices"

	"github.com/prloop/prloop/internal/spelling"
)

// expansion counts what is read beside the changed files, and how many files and lines of each may be (spec.md R8).
type expansion struct {
	changed        []string
	lines          map[string]int
	files, perFile int
}

// Expand holds read_file and get_function_context, from now on, to so many files beside the changed ones and to
// so many lines of each.
func (b *Box) Expand(changed []string, files, lines int) {
	b.caps = &expansion{lines: map[string]int{}, files: files, perFile: lines}
	for _, label := range changed {
		b.caps.changed = append(b.caps.changed, b.named(spelling.Raw(label)))
	}
}

// allow books the lines from start to end of a file and gives the last line that may be shown.
func (b *Box) allow(name string, start, end int) (int, error) {
	c := b.caps
	if c == nil || slices.Contains(c.changed, name) || end < start {
		return end, nil
	}
	used, known := c.lines[name]
	if !known && len(c.lines) >= c.files {
		return 0, fail(Limit, "%d files beside the changed ones were read; that is the limit", c.files)
	}
	if used >= c.perFile {
		return 0, fail(Limit, "%d lines of %.200q were read; that is the limit", c.perFile, name)
	}
	end = min(end, start+c.perFile-used-1)
	c.lines[name] = used + end - start + 1
	return end, nil
}
