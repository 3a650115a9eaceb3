package pushpolicy

import (
	"path"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// standingTests are the tests of a merge base, which a fix may change, and add to: others are called like tests where a tool loads every file of a folder (threats.md T820). The zero value
// is of no tree: there a name says what a file is.
type standingTests struct {
	files, folders map[string]bool
	// kinds are those of the tests in each folder.
	kinds map[string]map[testKind]bool
}

// testKind is a way to name tests, or an ending of what tests compare with.
type testKind struct {
	scheme
	ending string
}

var (
	// expectation is what tests alone compare with.
	expectation = lazyregexp.New(`\.(snap|golden|t)$`)
	// runnersOwn are folders that one runner alone looks into, and the tests of Rust's packages.
	runnersOwn = lazyregexp.New(`(^|/)(__tests__|cypress/(e2e|integration|component))/|(^|/)tests/[^/]+(/main)?\.rs$`)
)

// testsOf are the tests among all files of a tree.
func testsOf(all []string) standingTests {
	t := standingTests{map[string]bool{}, map[string]bool{".": true}, map[string]map[testKind]bool{}}
	for _, name := range all {
		for d := path.Dir(name); !t.folders[d]; d = path.Dir(d) {
			t.folders[d] = true
		}
		for _, kind := range testKinds(name) {
			d := path.Dir(name)
			if t.kinds[d] == nil {
				t.kinds[d] = map[testKind]bool{}
			}
			t.files[name], t.kinds[d][kind] = true, true
		}
	}
	return t
}

// has reports that a file is a test: one that stood, or one of a kind that stood in its folder, or in the last folder above it that stood. No tool but go test looks at a test of Go.
func (t standingTests) has(name string) bool {
	kinds := testKinds(name)
	if t.files == nil || len(kinds) == 0 || t.files[name] || path.Ext(name) == ".go" {
		return len(kinds) > 0
	}
	d := path.Dir(name)
	for !t.folders[d] && d != path.Dir(d) {
		d = path.Dir(d)
	}
	for _, kind := range kinds {
		if t.kinds[d][kind] {
			return true
		}
	}
	return false
}

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
