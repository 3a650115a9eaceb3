package tools

import (
	"slices"

	"github.com/prloop/prloop/internal/spelling"
)

// Expansion caps (spec.md R8): so much is read on demand to verify findings.
const (
	ExtraFiles = 2
	ExtraLines = 200
)

// expansion counts what is read beside the changed files.
type expansion struct {
	changed []string
	lines   map[string]int
}

// Expand holds read_file and get_function_context, from now on, to ExtraFiles files beside the changed ones and to
// ExtraLines lines of each.
func (b *Box) Expand(changed []string) {
	b.caps = &expansion{lines: map[string]int{}}
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
	if !known && len(c.lines) == ExtraFiles {
		return 0, fail(Limit, "%d files beside the changed ones were read; that is the limit", ExtraFiles)
	}
	if used >= ExtraLines {
		return 0, fail(Limit, "%d lines of %.200q were read; that is the limit", ExtraLines, name)
	}
	end = min(end, start+ExtraLines-used-1)
	c.lines[name] = used + end - start + 1
	return end, nil
}
