package pushpolicy

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// MayHoldTests reports that a rule looks into the whole content of a file, by its name.
func MayHoldTests(name string) bool {
	l := languageOf(name)
	return len(testKinds(name)) > 0 || l != nil && (l.inline || (l.replaces || l.inHook != nil) && l.holds(name))
}

// altered finds what a change does in a file of tests, besides deleting and skipping some: whatever its lines say, they are for a person
// to judge. No list of patterns, and no reading of them, tells which lines leave all tests as they were (threats.md T663).
func altered(c Change) []TestChange {
	named := func(kind TestKind, line int, detail string) []TestChange {
		return []TestChange{{Path: c.Path, Kind: kind, Line: line, Detail: detail}}
	}
	old, l := c.names()[0], languageOf(c.Path)
	inline := l != nil && l.inline && !l.holds(c.Path) && !IsTest(old)
	switch {
	case isData(c.Path) && c.Status == 'A':
		return named(TestAdded, 0, "a new recorded expectation")
	case isData(c.Path) || isData(old):
		return named(TestChanged, 0, "a recorded expectation changed")
	case runner.MatchString(c.Path):
		return named(TestChanged, 0, "the settings of a test runner changed")
	case !inline && !IsTest(c.Path) && !IsTest(old), old == c.Path && program(c.Path):
		return nil
	case c.Status == 'A' && (!inline || l.firstTest(c) >= 0):
		return named(TestAdded, 0, "a new file of tests")
	case IsTest(old) && c.Status == 'R' && len(c.Added)+len(c.Removed) > 0:
		return named(TestChanged, 0, "an existing test file was moved and changed")
	case IsTest(old) && c.Status == 'R':
		return named(TestChanged, 0, "an existing test file was moved")
	case c.Binary:
		return named(TestChanged, 0, "an existing test file changed that cannot be compared")
	}
	from := 0
	if inline {
		if from = l.firstTest(c); from < 0 {
			return nil
		}
	}
	var found []TestChange
	for _, b := range blocks(c) {
		switch {
		case b.at+len(b.added) < from:
		case len(b.removed) > 0:
			return named(TestChanged, b.at, "existing tests changed")
		case found == nil:
			found = named(TestChanged, b.at, "lines were added, none changed")
		}
	}
	return found
}

// isData reports that a file is what tests are given, or expect.
func isData(name string) bool { return recorded.MatchString(name) || alike.MatchString(name) }

// program reports that a file is one of the program: below the sources of Java, or in a folder of features below sources, under no test's name
// and not among steps.
func program(name string) bool {
	return sources.MatchString(name) || len(schemes(name)) == 0 && testFolder(name) == features && folders(name)[0] != features && !ofFeatures.MatchString(name)
}

var sources = lazyregexp.New(`(^|/)src/main/(java|kotlin|groovy|scala)/`)

// firstTest is the line with which tests begin in a source file that holds some: 0 where some left it; -1 where there are none.
func (l *language) firstTest(c Change) int {
	lines := c.Content
	switch {
	case len(l.declared(c.names()[0], c.Removed)) > 0, lines == nil && c.Status != 'A': // nobody read it
		return 0
	case lines == nil:
		for _, a := range c.Added {
			lines = append(lines, a.Text)
		}
	}
	i := slices.IndexFunc(lines, func(text string) bool {
		return l.declares.MatchString(text) || l.marks.MatchString(text) && !strings.Contains(text, "cfg(")
	})
	if i >= 0 {
		i++
	}
	return i
}

// A block is what a change has in place of some lines, at a line of the new content.
type block struct {
	at             int
	removed, added []Line
}

// blocks puts the removed lines of a change beside the added ones.
func blocks(c Change) (all []block) {
	removed, added := c.Removed, c.Added
	shift := 0 // from the number of an old line to that of a new one
	for len(removed)+len(added) > 0 {
		var b block
		if len(removed) > 0 && (len(added) == 0 || removed[0].N+shift <= added[0].N) {
			b.at = removed[0].N + shift
			b.removed, removed = run(removed)
		}
		if len(added) > 0 && (b.removed == nil || added[0].N == b.at) {
			b.at = added[0].N
			b.added, added = run(added)
		}
		shift += len(b.added) - len(b.removed)
		all = append(all, b)
	}
	return all
}

// run cuts off the lines that follow one another.
func run(lines []Line) (first, rest []Line) {
	n := 1
	for n < len(lines) && lines[n].N == lines[n-1].N+1 {
		n++
	}
	return lines[:n], lines[n:]
}

// parents are, for each line, the last line of code before it that stands less deep; 0 where there is none.
func (l *language) parents(content []string) []int {
	all := make([]int, len(content))
	var above []int
	for i, text := range content {
		if trimmed := strings.TrimSpace(text); trimmed == "" || l.comment(trimmed) {
			continue
		}
		for len(above) > 0 && indent(content[above[len(above)-1]-1]) >= indent(text) {
			above = above[:len(above)-1]
		}
		if len(above) > 0 {
			all[i] = above[len(above)-1]
		}
		above = append(above, i+1)
	}
	return all
}

// indent is how far a line is indented.
func indent(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// replaced finds new tests that take the place of others of their name.
func replaced(c Change) (found []TestChange) {
	l := languageOf(c.Path)
	if l == nil || !l.replaces || !l.holds(c.Path) {
		return nil
	}
	more := map[string]int{} // than before, by name
	for _, d := range l.declared(c.Path, c.Added) {
		more[d.Text]++
	}
	for _, d := range l.declared(c.Path, c.Removed) {
		more[d.Text]--
	}
	for name, n := range more {
		if n <= 0 {
			delete(more, name)
		}
	}
	if len(more) == 0 {
		return nil
	}
	lines, parents := make([]Line, len(c.Content)), l.parents(c.Content)
	for i, text := range c.Content {
		lines[i] = Line{N: i + 1, Text: text}
	}
	type place struct {
		parent int
		name   string
	}
	seen := map[place]int{}
	for _, d := range l.declared(c.Path, lines) {
		if more[d.Text] == 0 || !definition.MatchString(lines[d.N-1].Text) {
			continue
		}
		at := place{parents[d.N-1], d.Text}
		if seen[at]++; seen[at] == 2 {
			found = append(found, TestChange{Path: c.Path, Kind: TestDeleted, Name: d.Text, Line: d.N, Detail: "a second test takes the place of the first"})
		}
	}
	return found
}

var definition = lazyregexp.New(`^\s*(async )?(def|class) `)
