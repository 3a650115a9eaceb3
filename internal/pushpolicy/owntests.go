package pushpolicy

import (
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// standingTests are the tests of a merge base, which a fix may change, and add to: others are called like tests where a tool loads every file of a folder (threats.md T820).
type standingTests struct {
	files map[string]bool
	// inGo are the folders with sources of Go.
	inGo map[string]bool
	// in are the kinds of the tests in a folder, below those in it and below it, with their endings.
	in, below map[placed]bool
	// asked are the files that somebody asked for, by their folder.
	asked map[string][]string
}

// testKind is a way to name tests, or an ending of what is none by its name alone.
type testKind struct {
	scheme
	ending string
}

// placed is a kind of tests in a folder.
type placed struct {
	folder string
	kind   testKind
}

var (
	// expectation is what tests alone compare with.
	expectation = lazyregexp.New(`\.(snap|golden|t)$`)
	// runnersOwn are folders that one runner alone looks into, and the tests of Rust's packages.
	runnersOwn = lazyregexp.New(`(^|/)(__tests__|cypress/(e2e|integration|component))/|(^|/)tests/[^/]+(/main)?\.rs$`)
	// whole are the names of folders that runners are given whole.
	whole = lazyregexp.New(`^(?i:tests?|specs?|__tests__)$`)
	// mark is that of a test, beside the name of what it tests.
	mark = lazyregexp.New(`^[._-]?[A-Za-z0-9]+[._-]?$`)
)

// testsOf are the tests among all files of a tree.
func testsOf(all []string) standingTests {
	t := standingTests{map[string]bool{}, map[string]bool{}, map[placed]bool{}, map[placed]bool{}, map[string][]string{}}
	for _, name := range all {
		if isGo(name) {
			t.inGo[path.Dir(name)] = true
		}
		for _, kind := range testKinds(name) {
			t.files[name], t.in[placed{path.Dir(name), kind}] = true, true
			kind.ending = path.Ext(name)
			for d := name; d != path.Dir(d); {
				d = path.Dir(d)
				t.below[placed{d, kind}] = true
			}
		}
	}
	return t
}

// has reports that a file is a test: one that stood, or one of a kind that stood in its folder, or in the same folder of tests, or that stands in the
// project of the file that it is called after and beside. A test of Go needs a source of Go in its folder: go test looks at no other, and other tools do (threats.md T869).
func (t standingTests) has(name string) bool {
	kinds := testKinds(name)
	if len(kinds) == 0 || t.files[name] {
		return len(kinds) > 0
	}
	d := path.Dir(name)
	if isGo(name) && (t.inGo[d] || slices.ContainsFunc(t.asked[d], isGo)) {
		return true
	}
	return slices.ContainsFunc(kinds, func(kind testKind) bool { return t.in[placed{d, kind}] || t.around(name, kind) })
}

// around reports that tests of a kind and of a file's ending stood in a folder of tests that the file is in, or, of one that is called after a file that was asked for and stands beside it,
// in the top folder of that: there it acts where that file does.
func (t standingTests) around(name string, kind testKind) bool {
	byName := kind.ending == ""
	kind.ending = path.Ext(name)
	for d := path.Dir(name); d != path.Dir(d); d = path.Dir(d) {
		if whole.MatchString(path.Base(d)) && t.below[placed{d, kind}] {
			return true
		}
	}
	return byName && slices.ContainsFunc(t.tested(name), func(source string) bool {
		top, _, deep := strings.Cut(source, "/")
		if !deep {
			top = "."
		}
		return t.below[placed{top, kind}]
	})
}

// tested are the files that were asked for and that a test is called after: in its own folder, in the one that holds its folder of tests, or in its package of src/main.
func (t standingTests) tested(name string) (sources []string) {
	d := path.Dir(name)
	folders := []string{d, strings.Trim(strings.Replace("/"+d+"/", "/src/test/", "/src/main/", 1), "/")}
	if whole.MatchString(path.Base(d)) {
		folders = append(folders, path.Dir(d))
	}
	for _, folder := range folders {
		for _, source := range t.asked[folder] {
			before, ends := strings.CutSuffix(stem(name), stem(source))
			after, begins := strings.CutPrefix(stem(name), stem(source))
			if (ends && mark.MatchString(before) || begins && mark.MatchString(after)) && languageOf(source) == languageOf(name) {
				sources = append(sources, source)
			}
		}
	}
	return sources
}

func isGo(name string) bool { return path.Ext(name) == ".go" }

// justTest is a name that says test and not of what: those of scripts and settings are such.
var justTest = lazyregexp.New(`(?i)^(test|spec)$`)

// declared reports that a file with the name of a test declared one before a change, or does if it is new: programs and settings are called so too. In a folder of tests, of Go, and
// of what tests compare with, the name tells (threats.md T870).
func declared(c Change) bool {
	switch {
	case expectation.MatchString(c.Path), testFolder(c.Path) != "", runnersOwn.MatchString(c.Path), isGo(c.Path):
		return true
	case justTest.MatchString(stem(c.Path)):
		return false
	}
	was := slices.Clone(c.Removed)
	if c.Status == 'A' {
		was = slices.Clone(c.Added)
	}
	fresh := map[int]bool{}
	for _, l := range c.Added {
		fresh[l.N] = true
	}
	for i, text := range c.Content {
		if !fresh[i+1] {
			was = append(was, Line{N: i + 1, Text: text})
		}
	}
	l := languageOf(c.Path)
	return l != nil && slices.ContainsFunc(l.declared(c.Path, was), func(d Line) bool {
		return l.name != "Python" || strings.HasPrefix(d.Text, "test") && !justTest.MatchString(d.Text) // runners and settings have classes and functions with a word for tests
	})
}

// stem is the last part of a name without its ending.
func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// testKinds are the kinds of tests that a file is one of by its name. What steers a runner is none.
func testKinds(name string) (kinds []testKind) {
	l := languageOf(name)
	switch {
	case expectation.MatchString(name):
		return []testKind{{ending: path.Ext(name)}}
	case l == nil || runner.MatchString(name) || l.outside != nil && l.outside.MatchString(name):
		return nil
	case runnersOwn.MatchString(name):
		kinds = append(kinds, testKind{ending: path.Ext(name)})
	}
	for _, s := range schemes(path.Base(name)) {
		kinds = append(kinds, testKind{scheme: s})
	}
	return kinds
}
