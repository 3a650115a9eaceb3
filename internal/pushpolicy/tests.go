package pushpolicy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// TestKind is what a change did to a test.
type TestKind string

// The kinds. Deleted and skipped tests are refused by Check; weakened ones are for a person to judge, because a right fix
// may change what a test expects.
const (
	TestDeleted  TestKind = "deleted"
	TestSkipped  TestKind = "skipped"
	TestWeakened TestKind = "weakened"
)

// TestChange is one test a fix took away, switched off or made weaker.
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
		s = fmt.Sprintf("%s: %s", s, t.Name)
	}
	if t.Line > 0 {
		s += fmt.Sprintf(" (line %d)", t.Line)
	}
	return s
}

// Tests names the tests the changes deleted, skipped or weakened, in the order of the changes. It reads changed lines by
// patterns, for Go, Python, JavaScript and TypeScript, Java and Kotlin, Ruby, Rust, C# and PHP. A test that stands under the
// same name elsewhere in the changes was moved, not deleted.
func Tests(changes []Change) []TestChange {
	var found []TestChange
	kept := newMoves(changes)
	for _, c := range changes {
		found = append(found, kept.deleted(c)...)
		found = append(found, kept.skipped(c)...)
		found = append(found, weakened(c)...)
	}
	return found
}

// moves counts the tests that the changes add, by language and name, each to be set against one removed test.
type moves struct {
	left map[string]int
	// removed are the languages of tests that are gone from where they were.
	removed map[string]bool
}

func newMoves(changes []Change) *moves {
	m := &moves{left: map[string]int{}, removed: map[string]bool{}}
	for _, c := range changes {
		old := c.names()[0]
		if l := languageOf(old); l != nil && (c.Status == 'R' || len(l.declared(old, c.Removed)) > 0 || c.gone() && l.collected.MatchString(old)) {
			m.removed[l.name] = true
		}
		if l := languageOf(c.Path); l != nil && !c.gone() {
			for _, d := range l.declared(c.Path, c.Added) {
				m.left[l.name+"\x00"+d.Text]++
			}
		}
	}
	return m
}

func (m *moves) take(language, name string) bool {
	key := language + "\x00" + name
	if m.left[key] == 0 {
		return false
	}
	m.left[key]--
	return true
}

// deleted finds tests, and whole test files, that are gone.
func (m *moves) deleted(c Change) []TestChange {
	old := c.Path
	if c.OldPath != "" {
		old = c.OldPath
	}
	l := languageOf(old)
	if l == nil {
		return nil
	}
	if c.Status == 'R' && l.collected.MatchString(old) && !collected(c.Path) {
		return []TestChange{{Path: old, Kind: TestDeleted, Detail: "the test file has a name no runner collects"}}
	}
	was := l.declared(old, c.Removed)
	var gone []TestChange
	for _, d := range was {
		if !m.take(l.name, d.Text) {
			gone = append(gone, TestChange{Path: old, Kind: TestDeleted, Name: d.Text, Line: d.N, Detail: "a test is gone"})
		}
	}
	if c.gone() && l.collected.MatchString(old) && (len(gone) > 0 || len(was) == 0) {
		return []TestChange{{Path: old, Kind: TestDeleted, Detail: "the test file is gone"}}
	}
	return gone
}

// collected reports that some runner takes the file for tests.
func collected(name string) bool {
	l := languageOf(name)
	return l != nil && (l.collected.MatchString(name) || l.inFolder(name))
}

// skipped finds what keeps tests from running. A new file for some platforms alone keeps none from it, unless tests moved.
func (m *moves) skipped(c Change) []TestChange {
	l := languageOf(c.Path)
	if l == nil || c.gone() || !l.holdsTests(c) {
		return nil
	}
	if c.Status == 'A' && !m.removed[l.name] {
		c.Added = slices.DeleteFunc(slices.Clone(c.Added), func(a Line) bool { return constraint.MatchString(a.Text) })
	}
	return added(c, l, l.skip, TestSkipped, "a test does not run any more")
}

// constraint is a line of Go that says where a file is built.
var constraint = lazyregexp.New(`^//(go:build| \+build) `)

// added finds lines of a pattern that the file did not have before; a line that only moved or was indented is none.
func added(c Change, l *language, pattern *lazyregexp.Regexp, kind TestKind, detail string) []TestChange {
	before := map[string]int{}
	for _, r := range c.Removed {
		if pattern.MatchString(r.Text) {
			before[strings.TrimSpace(r.Text)]++
		}
	}
	var found []TestChange
	for _, a := range c.Added {
		text := strings.TrimSpace(a.Text)
		if l.comment(text) || !pattern.MatchString(a.Text) {
			continue
		}
		if before[text] > 0 {
			before[text]--
			continue
		}
		found = append(found, TestChange{Path: c.Path, Kind: kind, Line: a.N, Detail: detail + ": " + excerpt(text)})
	}
	return found
}

// weakened finds tests that assert less than before, and expectations that were recorded anew.
func weakened(c Change) []TestChange {
	if recorded.MatchString(c.Path) && c.Status != 'A' {
		return []TestChange{{Path: c.Path, Kind: TestWeakened, Detail: "a recorded expectation changed"}}
	}
	if runner.MatchString(c.Path) {
		return []TestChange{{Path: c.Path, Kind: TestWeakened, Detail: "the settings of a test runner changed"}}
	}
	l := languageOf(c.Path)
	if l == nil || c.gone() || !l.holdsTests(c) {
		return nil
	}
	found := added(c, l, l.trivial, TestWeakened, "an assertion that cannot fail")
	found = append(found, added(c, l, blockComment, TestWeakened, "a block comment begins")...)
	lost, won := l.assertions(c.Removed), l.assertions(c.Added)
	if lost > won {
		found = append(found, TestChange{Path: c.Path, Kind: TestWeakened, Detail: fmt.Sprintf("%d assertions removed, %d added", lost, won)})
	}
	return found
}

var (
	recorded = lazyregexp.New(`(?i)(^|/)(__snapshots__|snapshots|goldens?|testdata|fixtures)/|\.(snap|golden|approved\.[a-z]+)$`)
	runner   = lazyregexp.New(`(?i)(^|/)(pytest\.ini|tox\.ini|noxfile\.py|\.coveragerc|jest\.config\.[a-z]+|vitest\.(config|workspace)\.[a-z]+|karma\.conf\.[a-z]+|` +
		`\.mocharc(\.[a-z]+)?|playwright\.config\.[a-z]+|cypress\.config\.[a-z]+|phpunit\.xml(\.dist)?|\.rspec|testng\.xml|\.runsettings|nextest\.toml)$`)
	blockComment = lazyregexp.New(`^\s*(/\*([^*]|$)|=begin\b|#if (0|false|FALSE)\b)`)
)

// excerpt keeps a detail short.
func excerpt(text string) string {
	r := []rune(strings.ToValidUTF8(text, "�"))
	if len(r) > 80 {
		r = append(r[:79], '…')
	}
	return string(r)
}

// inFolder reports that the file is in a folder whose files are tests.
func (l *language) inFolder(name string) bool {
	parts := strings.Split(strings.ToLower(name), "/")
	return l.folders && slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool { return slices.Contains(testFolders, p) })
}

var testFolders = []string{"test", "tests", "__tests__", "spec", "specs", "e2e", "testing"}
