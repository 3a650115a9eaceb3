package pushpolicy

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// RuleUnasked is the rule of Asked.
const RuleUnasked = "unasked-file"

// Asked are the files that somebody asked a fix to change: those that the pull request changes, and those that a finding names which has to be fixed, or is a person's. A fix
// changes no other file but tests: files act in more ways than any list of their names has (threats.md T733). The zero value is of no pull request.
type Asked struct {
	files, said map[string]bool
	// beside are the folders of those files.
	beside map[string]bool
	// Links are those of the trees: what they lead to is what their names say, too.
	Links Links
	// repo is the name of the repository in links to files.
	repo string
	// stood are the files of the merge base; nil where they are not known.
	stood map[string]bool
}

// AskedOf are the files that the task of a fixer asks for. stood are all files of the merge base, which no fix of any run has changed; without them every folder counts as that of a
// package, which is enough to tell a fixer early.
func AskedOf(task review.Task, stood []string) Asked {
	a := Asked{files: map[string]bool{}, said: map[string]bool{}, beside: map[string]bool{".": true}, repo: task.Repo.Owner + "/" + task.Repo.Name}
	ask := func(spelled string) {
		if name := spelling.Raw(spelled); name != "" {
			a.files[name], a.beside[path.Dir(name)] = true, true
		}
	}
	for _, f := range task.Brief.Files {
		ask(f.Path)
		ask(f.OldPath)
	}
	if task.Fix != nil {
		for i, f := range slices.Concat(task.Fix.IssuesToFix, task.Fix.OptionalIssues) {
			if i >= len(task.Fix.IssuesToFix) && f.Source.Type != "comment" && f.Source.Type != "review" {
				continue // an offer of an agent's asks for nothing (threats.md T822)
			}
			ask(f.File)
			if f.Assessment != nil {
				a.hear(f.Assessment.Reason)
				if f.Assessment.Fact != nil {
					ask(f.Assessment.Fact.File)
				}
			}
			a.hear(f.Title, f.Description, f.Suggestion)
		}
	}
	if stood != nil {
		a.stood = make(map[string]bool, len(stood))
		for _, name := range stood {
			a.stood[name] = true
		}
	}
	return a
}

// Refuse says why a fix may not change a file; empty means that it may.
func (a Asked) Refuse(name string) string {
	if a.asks(name) || a.isTest(name) {
		return ""
	}
	return unasked
}

// Beside lists the files of changes that neither the pull request changes nor a finding is about.
func (a Asked) Beside(changes []Change) (names []string) {
	for _, c := range changes {
		if !a.files[c.Path] {
			names = append(names, c.Path)
		}
	}
	return names
}

// asks reports that the pull request changes a file, or that a finding names it.
func (a Asked) asks(name string) bool { return a.files[name] || a.mentioned(name) }

const unasked = "the pull request does not change it, and no finding that has to be fixed names it"

var (
	// expectation is what tests alone compare with.
	expectation = lazyregexp.New(`\.(snap|golden)$`)
	// runnersOwn are folders that one runner alone looks into.
	runnersOwn = lazyregexp.New(`(^|/)(__tests__|cypress/(e2e|integration|component))/`)
)

// besideManifest are the tests of packages whose folder alone says so: below the one that holds the manifest.
var besideManifest = map[string]*lazyregexp.Regexp{"Cargo.toml": lazyregexp.New(`^(?:(.*)/)?tests/[^/]+(?:/main)?\.rs$`), "package.json": lazyregexp.New(`^(?:(.*)/)?tests?/(?:[^/]+/)*[^/]+\.[cm]?[jt]sx?$`)}

// isTest reports that a file is a test: by its own name in its language, or in the folder of tests of a package. The names of other folders say nothing: environments/test may hold the
// program, and no runner is known to obey a test (threats.md T820).
func (a Asked) isTest(name string) bool {
	if expectation.MatchString(name) || tapTest.MatchString(name) {
		return true
	}
	l := languageOf(name)
	if l == nil || runner.MatchString(name) || l.outside != nil && l.outside.MatchString(name) {
		return false
	}
	for manifest, tests := range besideManifest {
		if m := tests.FindStringSubmatch(name); m != nil && (a.stood == nil || a.stood[path.Join(m[1], manifest)]) {
			return true
		}
	}
	return len(schemes(path.Base(name))) > 0 || runnersOwn.MatchString(name)
}

// Check refuses the changes of files that nobody asked for; allow are doublestar globs the operator opens.
func (a Asked) Check(changes []Change, allow []string) []review.Refusal {
	var refused []review.Refusal
	for _, c := range changes {
		for _, name := range c.names() {
			why := a.Refuse(name)
			if why == "" && !a.asks(name) {
				why = a.Links.protected(name, a.Refuse)
			}
			if why != "" && !globs.Any(allow, name) {
				refused = append(refused, refuse(RuleUnasked, name, why))
			}
		}
	}
	return refused
}

// hear notes what may be paths in texts. Chinese and other languages have no blanks around a name, so words of ASCII alone are noted too.
func (a Asked) hear(texts ...string) {
	for _, text := range texts {
		text = strings.ReplaceAll(text, `\`, "/")
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !ofPath(r) && !unicode.IsLetter(r) }) {
			a.note(word)
		}
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !ofPath(r) }) {
			a.note(word)
		}
	}
}

// ofPath reports whether a character is one that paths in texts are made of.
func ofPath(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-+@~/", r)
}

// note keeps a word as a path, as people, diffs and links write it.
func (a Asked) note(word string) {
	for _, mark := range []string{"", "_", "@"} {
		word := strings.TrimSuffix(strings.TrimPrefix(word, mark), mark)
		word = strings.TrimPrefix(strings.TrimRight(word, "."), "./")
		a.said[strings.TrimPrefix(word, "/")] = true
		if i := strings.Index(strings.ToLower(word), "/"+strings.ToLower(a.repo)+"/blob/"); i >= 0 && len(word) == len(strings.ToLower(word)) {
			// The name of a branch may have slashes: what is behind any may be the path.
			_, rest, _ := strings.Cut(word[i+len("/"+a.repo+"/blob/"):], "/")
			for more := rest != ""; more; _, rest, more = strings.Cut(rest, "/") {
				a.said[rest] = true
			}
		}
		for _, side := range []string{"a/", "b/"} {
			if rest, in := strings.CutPrefix(word, side); in {
				a.said[rest] = true
			}
		}
	}
}

var capitals = lazyregexp.New(`^[A-Z][A-Z_-]+$`)

// mentioned reports whether a finding has a file's path in its words, or the end of it from a folder on. A name alone means the file at the root or beside what the
// pull request and the findings are about, and has a dot or is in capitals (README, also of README.md): others are mostly words.
func (a Asked) mentioned(name string) bool {
	parts := strings.Split(name, "/")
	last := len(parts) - 1
	for i := range last {
		if a.said[strings.Join(parts[i:], "/")] {
			return true
		}
	}
	base := parts[last]
	stem := strings.TrimSuffix(base, path.Ext(base))
	return a.beside[path.Dir(name)] && (a.said[base] && strings.Contains(base, ".") || a.said[stem] && capitals.MatchString(stem))
}
