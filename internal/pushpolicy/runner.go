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

// runAnyway are names that some runner takes files by as well, and that are too common for files of other kinds to be tests by rule.
var runAnyway = []*lazyregexp.Regexp{
	lazyregexp.New(`(^|/)(tests?(-[^/]*)?|([^/]*[._-])?bench(mark)?)\.[cm]?[jt]sx?$`), lazyregexp.New(`(^|/)(tests?|__tests?__)/.*\.[cm]?[jt]sx?$`),
	lazyregexp.New(`(^|/)test[^/]*\.(py|txt)$`), lazyregexp.New(`(^|/)features/(.*/)?(steps/[^/]*|environment)\.py$`),
	lazyregexp.New(`\.(t|robot|bats)$`), lazyregexp.New(`_spec\.lua$`),
	inPlace,
}

// inPlace are names that each stand for something of their own: a runner or an interpreter has a file take the place of a module, or loads it when it starts.
var inPlace = lazyregexp.New(`(^|/)__mocks__/|(^|/)(site|user)customize\.py$|\.pth$`)

// A Way is how some runner or interpreter comes to run a file though nothing imports it. What runs a file runs those that it comes to in the
// same way in the same folder, and mostly below it.
type Way struct {
	pattern *lazyregexp.Regexp
	of      string // the extension; the whole name where it stands for something of its own
}

// Ways are those to a file. In what npm has installed only those of a language count.
func Ways(name string) []Way {
	var patterns []*lazyregexp.Regexp
	if l := listed(name); l != nil && (l.outside == nil || !l.outside.MatchString(name)) {
		patterns = append(patterns, l.collected...)
	}
	if !slices.Contains(folders(name), "node_modules") {
		patterns = append(patterns, runAnyway...)
	}
	var ways []Way
	for _, p := range patterns {
		switch {
		case !p.MatchString(name):
		case p == inPlace:
			ways = append(ways, Way{p, name})
		default:
			ways = append(ways, Way{p, path.Ext(name)})
		}
	}
	return ways
}

// A scheme is one way to name test files: a language's, or one of those that several have.
type scheme struct {
	language string
	n        int
}

// schemes are the ways of naming tests that a path follows.
func schemes(name string) []scheme {
	var found []scheme
	if l := listed(name); l != nil {
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
	return l.collects(name) || l.folders && testFolder(name) != ""
}

// collects reports that they take it for tests by its name.
func (l *language) collects(name string) bool {
	return slices.ContainsFunc(l.collected, func(p *lazyregexp.Regexp) bool { return p.MatchString(name) })
}

// testNames are how tests are named in languages that have no patterns of their own here.
var (
	testNames = []*lazyregexp.Regexp{
		lazyregexp.New(`(^|/)[Tt]ests?[_-][^/]*$`),
		lazyregexp.New(`[._-]([Tt]ests?|[Ss]pecs?|unittests?|e2e)(\.[^/.]+)?$`),
		lazyregexp.New(`[A-Za-z0-9](Tests?|Specs?|TestCase|TestSuite)\.\w+$`),
		lazyregexp.New(`(^|/)Tests?[A-Z][^/]*$`),
		lazyregexp.New(`(^|/)([Tt]ests?|[Ss]pecs?)\.\w+$`),
		lazyregexp.New(`\.(robot|txtar|t|tst|test|hurl|venom\.ya?ml|bru|clar|rego|tftest\.hcl|t\.sol)$`),
	}
	prose = lazyregexp.New(`(?i)\.(md|markdown|rst|adoc)$`)
)

// testFolder is the first folder of a path whose files are tests, in lower case; empty when there is none.
func testFolder(name string) string {
	parts := strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		if testFolders.MatchString(part) {
			return strings.ToLower(part)
		}
	}
	return ""
}

func folders(name string) []string {
	parts := strings.Split(strings.ToLower(name), "/")
	return parts[:len(parts)-1]
}

// testFolders are those with a word for tests or their helpers in their name, and some whose whole name is one.
var testFolders = lazyregexp.New(`(?i:(^|[-_.])(tests?|testing|test(suite|util|utilitie|helper|support|kit|lib)s?|testutility|selftests?|unittests|e2e)([-_.]|$))|[a-z0-9](Tests?|TestSuite)([A-Z_.-]|$)|^tests?[A-Z]|` +
	`^(?i:specs?|androidtest|integrationtest|features|conformance|acceptance|__mocks__)$`)

// features is a folder of tests that holds the program itself as often.
const features = "features"

// ofFeatures are the files of Cucumber and behave in such a folder that say what the steps of features do.
var ofFeatures = lazyregexp.New(`(^|/)features/(.*/)?((steps|step_definitions|support)/|environment\.py$)`)

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
