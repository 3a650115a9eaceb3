package pushpolicy

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// MayHoldTests reports that Tests looks into the whole content of a file, by its name.
func MayHoldTests(name string) bool {
	l := languageOf(name)
	return l != nil && (l.inline || l.holds(name))
}

// altered finds a file of tests in which a change does more than add tests: it takes away or rewrites a line, or puts one
// where it belongs to no new test. What the line says is for a person to judge. White space and what is imported
// besides do not count; nor do new files. Comments do: what reads as one may be code, end one, or say how tests run.
func altered(c Change) []TestChange {
	named := func(line int, detail string) []TestChange {
		return []TestChange{{Path: c.Path, Kind: TestChanged, Line: line, Detail: detail}}
	}
	l := languageOf(c.Path)
	switch {
	case recorded.MatchString(c.Path) && c.Status != 'A':
		return named(0, "a recorded expectation changed")
	case runner.MatchString(c.Path):
		return named(0, "the settings of a test runner changed")
	case c.Status == 'A':
		return nil
	case l == nil && !IsTest(c.Path), l != nil && !l.holdsTests(c), c.names()[0] == c.Path && program(c.Path):
		return nil
	case IsTest(c.names()[0]) && (c.gone() || c.Status == 'R'):
		return named(0, "an existing test file was moved")
	case c.Binary:
		return named(0, "an existing test file changed that cannot be compared")
	case l == nil:
		l = &language{}
	}
	from := l.firstTest(c)
	if from < 0 {
		return nil
	}
	f := &file{language: l, Change: c, parents: l.parents(c.Content)}
	for _, b := range blocks(c) {
		if b.at+len(b.added) >= from && f.alters(b) {
			return named(b.at, "existing tests changed")
		}
	}
	return nil
}

// program reports that a file is one of the program: below the sources of Java, or in a folder of features below sources, under no test's name.
func program(name string) bool {
	return sources.MatchString(name) || len(schemes(name)) == 0 && testFolder(name) == features && folders(name)[0] != features
}

var sources = lazyregexp.New(`(^|/)src/main/(java|kotlin|groovy|scala)/`)

// firstTest is the line with which tests begin in the content of a file: 0 in a file of tests, and where some left it; -1 where there are none.
func (l *language) firstTest(c Change) int {
	if !l.inline || l.holds(c.Path) || len(l.declared(c.names()[0], c.Removed)) > 0 {
		return 0
	}
	i := slices.IndexFunc(c.Content, func(text string) bool {
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

// A file is a changed one of tests.
type file struct {
	*language
	Change
	// parents are those of the lines of its content.
	parents []int
	// known are the words of the lines that stood before; nil until they are asked for.
	known map[string]bool
}

// alters reports that a block changes what stood there.
func (f *file) alters(b block) bool {
	removed, added := filled(b.removed), filled(b.added)
	switch {
	case slices.ContainsFunc(added, func(n Line) bool { return unruly.MatchString(n.Text) || f.replaces && foreign.MatchString(n.Text) }):
		return true
	case len(added) == 0 && f.runsAgain(removed, b.at):
		return false
	}
	added = slices.DeleteFunc(added, f.isImport)
	for len(removed) > 0 && len(added) > 0 && f.same(removed[0], added[0]) {
		removed, added = removed[1:], added[1:]
	}
	for len(removed) > 0 && len(added) > 0 && f.same(removed[len(removed)-1], added[len(added)-1]) {
		removed, added = removed[:len(removed)-1], added[:len(added)-1]
	}
	return len(removed) > 0 || len(added) > 0 && (!f.newTests(added) || f.within(added[0]) || f.binds(added))
}

var (
	// skipMark is all of a line that keeps the test below from running. One that has a test fail is none: without it the test asks for something else.
	skipMark = lazyregexp.New(`^\s*(@((pytest\.)?mark\.(skip|skipif)|unittest\.(skip|skipIf|skipUnless)|Disabled|Ignore)` +
		`(\(([^()"'\\]|"[^"\\]*"|'[^'\\]*')*\))?|#\[ignore( = "[^"\\]*")?\])\s*$`)
	// skipImport is what such a mark needs.
	skipImport = lazyregexp.New(`^(import (pytest|unittest)|from pytest import mark|import org\.junit\.(jupiter\.api\.Disabled|Ignore);)\s*$`)
)

// runsAgain reports that lines that were taken away kept the test from running that stands where they stood, or are an import that nothing else in the file uses.
func (f *file) runsAgain(removed []Line, at int) bool {
	if f.Content == nil || at > len(f.Content) {
		return false
	}
	for _, n := range removed {
		switch {
		case skipImport.MatchString(n.Text):
			name := words.FindAllString(n.Text, -1)
			if slices.ContainsFunc(f.Content, func(text string) bool { return slices.Contains(words.FindAllString(text, -1), name[len(name)-1]) }) {
				return false
			}
		case !skipMark.MatchString(n.Text) || !f.begins(f.Content[at-1]):
			return false
		}
	}
	return true
}

// begins reports that a line is the first of a test, or an attribute above one.
func (l *language) begins(text string) bool {
	return attribute.MatchString(text) || l.declares != nil && l.declares.MatchString(text) || l.named != nil && l.named.MatchString(text)
}

func (l *language) same(a, b Line) bool {
	if l.indented {
		return strings.TrimRight(a.Text, " \t\r") == strings.TrimRight(b.Text, " \t\r")
	}
	return strings.TrimSpace(a.Text) == strings.TrimSpace(b.Text)
}

// isImport reports that a line imports something that takes the place of nothing else.
func (f *file) isImport(n Line) bool {
	if f.imports == nil || f.Content == nil {
		return false
	}
	names, at := n.Text, n.N-1
	if names == ")" && at > 0 {
		at--
	}
	m := f.imports.FindStringSubmatch(names)
	if !f.replaces {
		at = f.parents[at]
		return m != nil && (m[1] != "\t" || at > 0 && f.Content[at-1] == "import (")
	}
	if m != nil {
		names = m[1]
	} else if at = f.parents[at]; at == 0 || !f.imports.MatchString(f.Content[at-1]) {
		return false
	}
	if above := strings.Join(f.Content[:n.N-1], "\n"); strings.Count(above, `"""`)%2+strings.Count(above, "'''")%2 > 0 { // within a text
		return false
	}
	if f.known == nil {
		f.known = map[string]bool{}
		added := f.Added
		for i, text := range f.Content {
			if len(added) > 0 && added[0].N == i+1 {
				added = added[1:]
				continue
			}
			for _, word := range words.FindAllString(text, -1) {
				f.known[word] = true
			}
		}
	}
	return bare.MatchString(names) && !hook.MatchString(names) && !slices.ContainsFunc(words.FindAllString(names, -1), func(word string) bool { return f.known[word] })
}

// filled is lines without empty ones.
func filled(lines []Line) []Line {
	return slices.DeleteFunc(slices.Clone(lines), func(n Line) bool { return strings.TrimSpace(n.Text) == "" })
}

var (
	// ends matches what stands no deeper than a test and is a part of it.
	ends = lazyregexp.New(`^\s*([\[\](){};,]+|[\])},]+ *\d+[);]*|\)( *(->|:|=>|throws)[^;()]*)? *[:{]|end)\s*$`)
	// attribute begins what stands above a test.
	attribute = lazyregexp.New(`^\s*(@|#\[|\[)`)
	// unfinished is what a test below belongs to: an attribute, or the end of one or of a comment.
	unfinished = lazyregexp.New(`^\s*(@|#\[|\[|\*/|/\*)`)
	// unruly is a sign that ends a line, or the depth of one, for some languages and not here.
	unruly = lazyregexp.New(`[\v\f\x{1c}-\x{1f}\x{85}\x{2028}\x{2029}]|\r[^\r]`)
	// foreign is a definition whose name may be spelled in several ways.
	foreign = lazyregexp.New(`^\s*(async )?(def|class)\s+[^(:]*[^\x00-\x7f]`)
	// hook is what a runner of Python's looks for by its name.
	hook = lazyregexp.New(`\b(load_tests|setUpModule|tearDownModule|pytestmark|pytest_\w+|__test__|collect_ignore\w*)\b`)
	// outer is where Python assigns to names outside.
	outer = lazyregexp.New(`(^|[;:])\s*(global|nonlocal)\b`)
	// group begins what tests stand in.
	group = lazyregexp.New(`^\s*(pub |RSpec\.|[fx])*(describe|suite|context|feature|group|class|mod)\b`)
	// words are those of code, bare what names alone are written with.
	words = lazyregexp.New(`\w+`)
	bare  = lazyregexp.New(`^[\w\s.,()]*$`)
)

// newTests reports that lines are tests and nothing else: all stand deeper than a line that declares one, end it, or are comments and
// attributes above it. What they open they end, unless nothing but ends of groups stands below.
func (f *file) newTests(lines []Line) bool {
	s := scanner{language: f.language}
	depth, above, marked := -1, false, false // of the test, of the lines above one
	for _, n := range lines {
		inside := s.end != "" && !s.odd
		s.read(n.Text)
		switch in := indent(n.Text); {
		case f.indented && outer.MatchString(n.Text):
			return false
		case inside, depth >= 0 && in > depth:
		case depth >= 0 && ends.MatchString(n.Text):
			if !f.indented && s.balanced() { // what follows is no part of it, however deep it stands
				depth = -1
			}
		case f.declares != nil && f.declares.MatchString(n.Text), f.named != nil && (marked || f.marks.MatchString(n.Text)) && f.named.MatchString(n.Text):
			depth, above, marked = in, false, false
		case attribute.MatchString(n.Text):
			depth, above, marked = in, true, marked || f.marks != nil && f.marks.MatchString(n.Text)
		case n.N > 2 && f.remark(strings.TrimSpace(n.Text)): // the first two lines may be for the runner, or say how to read the file
			depth, above = -1, true
		default:
			return false
		}
	}
	return !above && (s.balanced() || f.last(lines))
}

// remark reports that a line of code begins as a comment.
func (l *language) remark(trimmed string) bool {
	return l.comment(trimmed) && !strings.HasPrefix(trimmed, "*") || strings.HasPrefix(trimmed, "/*") && slices.Contains(l.comments, "*/")
}

// last reports that nothing but ends of groups stands below lines.
func (f *file) last(lines []Line) bool {
	return f.Content != nil && !slices.ContainsFunc(f.Content[lines[len(lines)-1].N:], func(text string) bool {
		return strings.TrimSpace(text) != "" && !ends.MatchString(text)
	})
}

// binds reports that new tests take what stood there for their own: what is deeper below them, or the attribute above them.
func (f *file) binds(added []Line) bool {
	if f.Content == nil {
		return true
	}
	depth := indent(added[0].Text)
	isFilled := func(text string) bool { return strings.TrimSpace(text) != "" }
	below := f.Content[added[len(added)-1].N:]
	if i := slices.IndexFunc(below, isFilled); i >= 0 && indent(below[i]) > depth {
		return true
	}
	for i := added[0].N - 2; i >= 0; i-- {
		if text := f.Content[i]; isFilled(text) {
			return indent(text) <= depth+1 && (unfinished.MatchString(text) || f.indented && strings.HasPrefix(strings.TrimSpace(text), ")"))
		}
	}
	return false
}

// within reports that a line stands in a test that was there.
func (f *file) within(n Line) bool {
	if f.Content == nil {
		return true
	}
	for at := f.parents[n.N-1]; at > 0; at = f.parents[at-1] {
		text := f.Content[at-1]
		if f.declares != nil && f.declares.MatchString(text) && !group.MatchString(text) {
			return true
		}
		for i := at - 2; i >= 0 && f.marks != nil && attribute.MatchString(f.Content[i]); i-- {
			if f.marks.MatchString(f.Content[i]) && !group.MatchString(text) {
				return true
			}
		}
	}
	return false
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
