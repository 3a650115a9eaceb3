package pushpolicy

import (
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// carries reports that what collects the first path for tests collects the second one too, whatever its settings: same
// extension, a name of the same scheme, the same kind of test folder, and no folder or suffix that it passes over.
func carries(old, name string) bool {
	was, is := schemes(old), schemes(name)
	l := languageOf(old)
	switch folder := testFolder(old); {
	case path.Ext(old) != path.Ext(name):
		return false
	case l != nil && l.outside != nil && l.outside.MatchString(name) && !l.outside.MatchString(old):
		return false
	case !within(platforms(name), platforms(old)):
		return false
	case folder != "" && !slices.Contains(folders(name), folder):
		return false
	case len(was) > 0:
		return slices.ContainsFunc(is, func(s scheme) bool { return slices.Contains(was, s) })
	case folder != "":
		return len(is) > 0 || path.Dir(old) == path.Dir(name)
	}
	return true
}

// IsTest reports that a file is one by its name or its folder, in any language.
func IsTest(name string) bool { return len(schemes(name)) > 0 || testFolder(name) != "" }

// Collected reports that a test runner of its language runs a file for its name alone: nothing has to import it.
func Collected(name string) bool {
	l := languageOf(name)
	return l != nil && slices.ContainsFunc(l.collected, func(p *lazyregexp.Regexp) bool { return p.MatchString(name) }) && (l.outside == nil || !l.outside.MatchString(name))
}

// runAnyway are names that some runner takes files by as well, and that are too common for files of other kinds to be tests by rule.
var runAnyway = []*lazyregexp.Regexp{
	lazyregexp.New(`(^|/)(test(-[^/]*)?|[^/]*[.-]bench)\.[cm]?[jt]sx?$`), lazyregexp.New(`(^|/)test/.*\.[cm]?[jt]s$`), lazyregexp.New(`(^|/)__mocks__/`),
	lazyregexp.New(`(^|/)test[^/]*\.(py|txt)$`), lazyregexp.New(`(^|/)(site|user)customize\.py$`), lazyregexp.New(`(^|/)features/(.*/)?(steps/[^/]*|environment)\.py$`),
	lazyregexp.New(`\.(pth|t|robot|bats)$`), lazyregexp.New(`_spec\.lua$`),
}

// RunByName reports that some runner or interpreter runs a file for its name alone. What npm has installed no runner looks at.
func RunByName(name string) bool {
	return Collected(name) || !slices.Contains(folders(name), "node_modules") && slices.ContainsFunc(runAnyway, func(p *lazyregexp.Regexp) bool { return p.MatchString(name) })
}

// A scheme is one way to name test files: a language's, or one of those that several have.
type scheme struct {
	language string
	n        int
}

// schemes are the ways of naming tests that a path follows.
func schemes(name string) []scheme {
	var found []scheme
	if l := languageOf(name); l != nil {
		for i, p := range l.collected {
			if p.MatchString(name) {
				found = append(found, scheme{l.name, i})
			}
		}
		return found
	}
	if prose.MatchString(name) {
		return nil
	}
	for i, p := range testNames {
		if p.MatchString(name) {
			found = append(found, scheme{"", i})
		}
	}
	return found
}

// holds reports that the language's runners may take a file for tests.
func (l *language) holds(name string) bool {
	return slices.ContainsFunc(l.collected, func(p *lazyregexp.Regexp) bool { return p.MatchString(name) }) || l.folders && testFolder(name) != ""
}

// testNames are how tests are named in languages that have no patterns of their own here.
var (
	testNames = []*lazyregexp.Regexp{
		lazyregexp.New(`(^|/)[Tt]ests?[_-][^/]*$`),
		lazyregexp.New(`[._-]([Tt]ests?|[Ss]pecs?|unittests?|e2e)(\.[^/.]+)?$`),
		lazyregexp.New(`[A-Za-z0-9](Tests?|Specs?|TestCase|TestSuite)\.\w+$`),
		lazyregexp.New(`(^|/)Tests?[A-Z][^/]*$`),
		lazyregexp.New(`(^|/)([Tt]ests?|[Ss]pecs?)\.\w+$`),
		lazyregexp.New(`\.(robot|txtar|t|tst|test|hurl|venom\.ya?ml|bru|clar|rego)$`),
	}
	prose = lazyregexp.New(`(?i)\.(md|markdown|rst|adoc)$`)
)

// testFolder is the first folder of a path whose files are tests, in lower case; empty when there is none.
func testFolder(name string) string {
	for _, f := range folders(name) {
		if slices.Contains(testFolders, f) {
			return f
		}
	}
	return ""
}

func folders(name string) []string {
	parts := strings.Split(strings.ToLower(name), "/")
	return parts[:len(parts)-1]
}

var testFolders = []string{"test", "tests", "__tests__", "spec", "specs", "e2e", "testing", "androidtest", "integrationtest", "features", "unittests"}

// platforms are the systems and processors that the name of a Go file binds it to.
func platforms(name string) []string {
	base, ok := strings.CutSuffix(path.Base(name), ".go")
	if !ok {
		return nil
	}
	parts := strings.Split(strings.TrimSuffix(base, "_test"), "_")[1:]
	n := len(parts)
	switch {
	case n >= 2 && slices.Contains(systems, parts[n-2]) && slices.Contains(processors, parts[n-1]):
		return parts[n-2:]
	case n >= 1 && (slices.Contains(systems, parts[n-1]) || slices.Contains(processors, parts[n-1])):
		return parts[n-1:]
	}
	return nil
}

// within reports that all of some stand in others.
func within(some, others []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(others, s) })
}

// What go/build knows, in internal/syslist.
var (
	systems    = strings.Fields("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos")
	processors = strings.Fields("386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
)
