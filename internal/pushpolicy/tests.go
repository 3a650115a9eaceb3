package pushpolicy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
)

// TestKind is what a change did to a test.
type TestKind string

// The kinds. Deleted and skipped tests are refused by Check; the others are for a person to judge, because a right fix
// may change what a test expects, and adds tests.
const (
	TestDeleted TestKind = "deleted"
	TestSkipped TestKind = "skipped"
	TestChanged TestKind = "changed"
	// TestAdded is a new file with tests.
	TestAdded TestKind = "added"
)

// TestChange is one test a fix took away or switched off, or a file of tests in which it did something else.
type TestChange struct {
	// Path is the file's name in the tree before, for deleted tests, else after.
	Path string
	Kind TestKind
	// Name is the test's, empty when it is about the file or the name is not in the lines that changed.
	Name string
	// Line is 1-based: in the old content for deleted tests, else in the new one; 0 for the file as a whole.
	Line int
	// Detail says what was found, in a few words.
	Detail string
}

// String is the change in words, without its path.
func (t TestChange) String() string {
	s := t.Detail
	if t.Name != "" {
		s = fmt.Sprintf("%s: %s", s, spelling.Span(t.Name))
	}
	if t.Line > 0 {
		s += fmt.Sprintf(" (line %d)", t.Line)
	}
	return s
}

// Tests names the tests the changes deleted or skipped, and all other files of tests they touch, in the order of the changes. It reads lines by patterns, for the languages it knows, and ends them where any reader does; of all others it knows test files by their name and folder.
// A test that stands under the same name elsewhere in the changes, in a file that the same runner collects, was moved, not deleted.
func Tests(changes []Change) []TestChange {
	var found []TestChange
	changes = slices.Clone(changes)
	for i, c := range changes {
		changes[i].Added, changes[i].Removed = apart(c.Added), apart(c.Removed)
	}
	kept := newMoves(changes)
	for _, c := range changes {
		of := append(kept.deleted(c), replaced(c)...)
		of = append(of, kept.skipped(c)...)
		if len(of) == 0 {
			of = altered(c)
		}
		found = append(found, of...)
	}
	return found
}

// moves holds the tests that the changes add, by language and name: the files they stand in, each to be set against one
// removed test.
type moves struct {
	left map[string][]string
	// removed are the languages of tests that are gone from where they were.
	removed map[string]bool
}

func newMoves(changes []Change) *moves {
	m := &moves{left: map[string][]string{}, removed: map[string]bool{}}
	for _, c := range changes {
		old := c.names()[0]
		if l := languageOf(old); l != nil && (c.Status == 'R' || len(l.declared(old, c.Removed)) > 0 || c.gone() && IsTest(old)) {
			m.removed[l.name] = true
		}
		if l := languageOf(c.Path); l != nil && !c.gone() {
			for _, d := range l.declared(c.Path, c.Added) {
				key := l.name + "\x00" + d.Text
				m.left[key] = append(m.left[key], c.Path)
			}
		}
	}
	return m
}

// take finds the file to which a test was moved that was removed from another, and counts it once; it is empty where there is none.
func (m *moves) take(language, name, old string) (to string) {
	key := language + "\x00" + name
	i := slices.IndexFunc(m.left[key], func(path string) bool { return path == old || carries(old, path) })
	if i < 0 {
		return ""
	}
	to = m.left[key][i]
	m.left[key] = slices.Delete(m.left[key], i, i+1)
	return to
}

// deleted finds tests, and whole test files, that are gone.
func (m *moves) deleted(c Change) []TestChange {
	old := c.names()[0]
	test := IsTest(old)
	if c.Status == 'R' && test && !carries(old, c.Path) {
		return []TestChange{{Path: old, Kind: TestDeleted, Detail: "what collects it does not collect its new name"}}
	}
	var was []Line
	var gone []TestChange
	var to []string
	if l := languageOf(old); l != nil {
		was = l.declared(old, c.Removed)
		for _, d := range was {
			if file := m.take(l.name, d.Text, old); file != "" {
				to = append(to, file)
			} else {
				gone = append(gone, TestChange{Path: old, Kind: TestDeleted, Name: d.Text, Line: d.N, Detail: "a test is gone"})
			}
		}
	}
	empty := !c.gone() && c.Size == 0 && len(c.Removed) > 0
	switch {
	case !test || !c.gone() && !empty:
		return gone
	case len(was) > 0 && len(gone) == 0 && c.gone(): // whether they are the same, and run, is for a person to see
		return []TestChange{{Path: old, Kind: TestChanged, Detail: "the test file is gone; tests of its names are added in " + few(to)}}
	case len(was) > 0 && len(gone) == 0:
		return nil
	case recorded.MatchString(old) && len(schemes(old)) == 0: // data of a test, which altered names
		return gone
	case empty:
		return []TestChange{{Path: old, Kind: TestDeleted, Detail: "the test file is empty"}}
	}
	return []TestChange{{Path: old, Kind: TestDeleted, Detail: "the test file is gone"}}
}

// few names a file, and how many others there are.
func few(files []string) string {
	slices.Sort(files)
	files = slices.Compact(files)
	if more := len(files) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", spelling.Code(files[0]), more)
	}
	return spelling.Code(files[0])
}

// skipped finds what keeps tests from running. What says where a new file is built keeps none from it, unless tests moved.
func (m *moves) skipped(c Change) []TestChange {
	l := languageOf(c.Path)
	switch {
	case c.gone():
		return nil
	case tapTest.MatchString(c.Path):
		return tap.hooked(c)
	case l != nil && l.loads != nil && l.loads.MatchString(c.Path) && !l.holds(c.Path):
		return l.hooked(c)
	case l == nil || !l.holdsTests(c):
		return nil
	}
	if c.Status == 'A' && !m.removed[l.name] && l.inNew != nil {
		c.Added = slices.DeleteFunc(slices.Clone(c.Added), func(a Line) bool { return l.inNew.MatchString(a.Text) })
	}
	found := added(c, l, l.skip, TestSkipped, "a test does not run any more")
	if l.inHook != nil && l.speaks(c) {
		found = append(found, added(c, l, l.inHook, TestSkipped, "a test does not run any more")...)
	}
	if l.runs != nil && count(l.runs, c.Removed) > count(l.runs, c.Added) {
		found = append(found, TestChange{Path: c.Path, Kind: TestSkipped, Detail: "what runs the tests is gone"})
	}
	if l.hooks != nil && (l.collects(c.Path) || l.holds(c.Path) && testFolder(c.Path) != features) {
		found = append(found, l.hooked(c)...)
	}
	return found
}

// speaks reports that a file speaks to a runner, or that nobody has read all of it.
func (l *language) speaks(c Change) bool {
	speaks := func(text string) bool { _, does := finds(l.toRunner, text); return does }
	if c.Status == 'A' && !c.Binary {
		return slices.ContainsFunc(c.Added, func(a Line) bool { return speaks(a.Text) })
	}
	return c.Content == nil || slices.ContainsFunc(c.Content, speaks)
}

// hooked finds what decides which tests of a file run, or how they end.
func (l *language) hooked(c Change) []TestChange {
	return added(c, l, l.hooks, TestSkipped, "it decides which tests run, or how they end")
}

func count(pattern *lazyregexp.Regexp, lines []Line) int {
	n := 0
	for _, l := range lines {
		if pattern.MatchString(l.Text) {
			n++
		}
	}
	return n
}

// added finds lines of a pattern that the file did not have before; a line that only moved or was indented is none. It says what matches, not what else stands there,
// and nothing of what is long: of a value that is cut nobody knows any more that it is a secret (threats.md T793).
func added(c Change, l *language, pattern *lazyregexp.Regexp, kind TestKind, detail string) []TestChange {
	before := map[string]int{}
	for _, r := range c.Removed {
		if _, found := finds(pattern, r.Text); found {
			before[strings.TrimSpace(r.Text)]++
		}
	}
	var found []TestChange
	for _, a := range c.Added {
		text := strings.TrimSpace(a.Text)
		what, matches := finds(pattern, a.Text)
		if l.comment(text) || !matches {
			continue
		}
		if before[text] > 0 {
			before[text]--
			continue
		}
		t := TestChange{Path: c.Path, Kind: kind, Line: a.N, Detail: detail}
		if len(what) <= 80 {
			t.Detail += ": " + spelling.Span(spelling.Text(what))
		}
		found = append(found, t)
	}
	return found
}

var (
	// recorded is data of tests by its name. alike is more of it, which counts as a file of tests when it is gone: a folder of such a name may hold tests.
	recorded = lazyregexp.New(`(?i)(^|/)(__snapshots__|snapshots|goldens?|testdata|fixtures)/|\.(snap|golden|approved\.[a-z]+)$`)
	alike    = lazyregexp.New(`(?i)(^|/)([^/]*-snapshots|test[_-]data|(__|test[_-]?)fixtures(__)?|cassettes|expected)/|\.verified\.[a-z]+$`)
	runner   = lazyregexp.New(`(?i)(^|/)(pytest\.ini|tox\.ini|noxfile\.py|\.coveragerc|jest\.config\.[a-z]+|vitest\.(config|workspace)\.[a-z]+|karma\.conf\.[a-z]+|` +
		`\.mocharc(\.[a-z]+)?|mocha\.opts|playwright\.config\.[a-z]+|cypress\.config\.[a-z]+|phpunit\.xml(\.dist)?|\.rspec|testng\.xml|\.runsettings|nextest\.toml|` +
		`conftest\.py|(spec|rails|test)_helper\.(rb|exs)|setup_?tests\.[cm]?[jt]sx?|[a-z.-]*(jest|vitest|test)[._-]?(setup|preset|env|environment)\.[cm]?[jt]s|` +
		`tests/(bootstrap|pest)\.php|(cypress/support|cypress/plugins)/[^/]+|testthat\.r|linuxmain\.swift|xctestmanifests\.swift)$`)
)
