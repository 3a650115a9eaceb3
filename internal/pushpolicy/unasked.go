package pushpolicy

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// RuleUnasked is the rule of Asked.
const RuleUnasked = "unasked-file"

// ordinary are the languages of files that act only when the program runs or somebody reads them: source, pages and prose.
var ordinary = []string{
	"go", "python", "javascript", "typescript", "tsx", "java", "ruby", "rust", "c", "c++", "c#", "php", "kotlin", "scala", "clojure", "swift", "objective-c", "objective-c++",
	"dart", "lua", "perl", "r", "julia", "haskell", "ocaml", "f#", "visual basic .net", "elixir", "erlang", "elm", "zig", "nim", "crystal", "pascal", "fortran", "fortran free form",
	"cobol", "assembly", "solidity", "cuda", "glsl", "verilog", "systemverilog", "vhdl", "common lisp", "scheme", "racket",
	"html", "css", "scss", "sass", "less", "vue", "svelte", "astro",
	"sql", "graphql", "protocol buffer", "thrift", "markdown", "mdx", "restructuredtext", "asciidoc", "tex",
}

// templates are the languages of files that are what their names are without the ending.
var templates = []string{"html+erb", "jinja", "go template"}

var (
	// pages are the endings of templates that are pages unless their name has another ending before.
	pages = lazyregexp.New(`(?i)\.(hbs|handlebars|ejs|[hl]?eex|mustache|njk|liquid|twig|pug|slim|haml|jspx?|cshtml|razor|templ)$`)
	// terraform are the files that bots plan wherever they stand.
	terraform = lazyregexp.New(`(?i)\.(tf|tfvars|tofu|hcl)(\.json)?$`)
	// more are further endings of ordinary files, with those that only runners of tests read.
	more = lazyregexp.New(`(?i)\.(feature|robot|bats|hurl|snap|golden|pyx|pxd|pxi|coffee|purs|resi?|rei?|gleam|hx|raku|rakumod|ad[bs]|vala|vapi|vy|gd|cls|trigger|abap|stan|lean|lhs|yy?|l|mly|mll|pest|g4|hlsl|wgsl|metal|cppm|ixx|tcc|txx|ipynb|` +
		`a?xaml|qml|styl|p(ost)?css|org|texi|texinfo|pod|typ|bib)$`)
	// read are names of data that people or the program read, and nothing else does. They count for files that stand: a new one could be meant for another reader.
	read = lazyregexp.New(`(?i)\.(po|pot|xlf|xliff|arb|resx|strings|stringsdict|xcstrings|storyboard|xib|xsd|wsdl|avsc|avdl|fbs|capnp|smithy|svg|csv|tsv)$|` +
		`(^|/)(_?locales?|i18n|l10n|langs?|translations|messages)/([\w-]+/)?[\w.-]+\.(json|properties)$|(^|/)messages([_-]\w+)?\.(json|properties)$|(^|/)config/locales/[\w.-]+\.ya?ml$|` +
		`(^|/)src/main/resources/(.*/)?[\w.-]+\.(properties|ya?ml|xml|json|sql)$|(^|/)meta-inf/services/|(^|/)res/[a-z0-9-]+/[^/]+\.xml$|` +
		`(^|/)(androidmanifest\.xml|info\.plist|appsettings(\.\w+)?\.json|(openapi|swagger)\.(ya?ml|json)|publicapi\.(un)?shipped\.txt|api/\w+\.(txt|api))$|` +
		`(?-i:(^|/)(README|Readme|CHANGELOG|Changelog|ChangeLog|CHANGES|NEWS|HISTORY|AUTHORS|CONTRIBUTORS|LICENSE|COPYING|NOTICE|TODO)(\.txt)?$)`)
)

// data are the languages of files that tests are given or expect, unknown ones included; settings are endings of unknown ones that programs are configured by.
var (
	data     = []string{"", "json", "json with comments", "json5", "yaml", "xml", "svg", "csv", "text", "diff"}
	settings = lazyregexp.New(`(?i)\.(conf|config|cnf|env|rc)$`)
)

// Asked are the files that somebody asked a fix to change: those that the pull request changes, and those that a finding names which has to be fixed, or is a person's. What is no source, page,
// prose or test may be changed only where it is one of them: settings, scripts and data act in more ways than any list of their names has (threats.md T733).
// The zero value is of no pull request.
type Asked struct {
	files, said map[string]bool
	// beside are the folders of those files.
	beside map[string]bool
	// Links are those of the trees: what they lead to is what their names say, too.
	Links Links
	// repo is the name of the repository in links to files.
	repo string
	// stood are the files of the merge base, tests the folders with source in them that is a test by its own name; nil where they are not known.
	stood, tests map[string]bool
	// endings are those of all files below each of these folders, and below each folder above one; recorded those of all files below each folder of data.
	endings, recorded map[string]map[string]bool
}

// AskedOf are the files that the task of a fixer asks for. stood are all files of the merge base, which no fix of any run has changed (threats.md T820); without them
// a name says what a file is, which is enough to tell a fixer early.
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
	if stood == nil {
		return a
	}
	a.stood, a.tests, a.endings, a.recorded = make(map[string]bool, len(stood)), map[string]bool{}, map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, name := range stood {
		a.stood[name] = true
	}
	for _, name := range stood {
		if !source(name) || !a.isTest(name) {
			continue
		}
		a.tests[path.Dir(name)] = true
		for d := path.Dir(name); a.endings[d] == nil; d = path.Dir(d) {
			a.endings[d] = map[string]bool{}
		}
	}
	for _, name := range stood {
		for d, last := path.Dir(name), false; !last; d = path.Dir(d) {
			if last = d == "."; a.endings[d] != nil {
				a.endings[d][path.Ext(name)] = true
			}
			if isData(path.Base(d) + "/") {
				if a.recorded[d] == nil {
					a.recorded[d] = map[string]bool{}
				}
				a.recorded[d][path.Ext(name)] = true
			}
		}
	}
	return a
}

// Refuse says why a fix may not change a file; empty means that it may.
func (a Asked) Refuse(name string) string {
	switch {
	case a.asks(name):
	case terraform.MatchString(name):
		return unasked
	case !a.ofChart(name) && (source(name) || a.ofTests(name)):
	case (a.stood == nil || a.stood[name]) && read.MatchString(name):
	default:
		return unasked
	}
	return ""
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

const unasked = "it holds settings, data or a script, the pull request does not change it, and no finding that has to be fixed names it"

// ofChart reports that Helm takes a file for a part of what it deploys, whatever its ending.
func (a Asked) ofChart(name string) bool {
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		if chart := path.Join(path.Dir(d), "Chart.yaml"); path.Base(d) == "templates" && (a.stood[chart] || a.files[chart]) {
			return true
		}
	}
	return false
}

// source reports that a file is source, a page or prose.
func source(name string) bool {
	language, made := lang.Of(name), strings.TrimSuffix(name, path.Ext(name))
	if slices.Contains(templates, language) || pages.MatchString(name) && path.Ext(made) != "" {
		return slices.Contains(ordinary, lang.Of(made)) || more.MatchString(made)
	}
	return slices.Contains(ordinary, language) || pages.MatchString(name) || more.MatchString(name)
}

// ofTests reports that a file is data of tests: its ending stood below a folder of tests, or in a folder of data with tests beside or below that. A folder counts by the tests in it or
// below it, and they by their own names: an environment may be called test, and features, testing and spec hold the program itself (threats.md T820). Settings and
// scripts do not count there, as runners obey them (threats.md T823).
func (a Asked) ofTests(name string) bool {
	ending, below, rest := path.Ext(name), "", path.Base(name)
	if ending == "" || !slices.Contains(data, lang.Of(name)) || settings.MatchString(name) {
		return false
	}
	for d := path.Dir(name); ; d = path.Dir(d) {
		base := path.Base(d)
		if (a.stood == nil || a.endings[d][ending]) && (testFolders.MatchString(base) && !strings.EqualFold(base, features) || isData(rest) && (a.stood == nil || a.tests[d] || a.recorded[below][ending])) {
			return true
		}
		if d == "." {
			return false
		}
		below, rest = d, base+"/"
	}
}

var (
	// runnersOwn are folders that one runner alone looks into, and no program is in.
	runnersOwn = lazyregexp.New(`(^|/)(__tests__|cypress/(e2e|integration|component))/`)
	// besideManifest are the tests of packages whose folder alone says so: below the one that holds the manifest.
	besideManifest = map[string]*lazyregexp.Regexp{"Cargo.toml": lazyregexp.New(`^(?:(.*)/)?tests/[^/]+(?:/main)?\.rs$`), "package.json": lazyregexp.New(`^(?:(.*)/)?tests?/(?:[^/]+/)*[^/]+\.[cm]?[jt]sx?$`)}
)

// isTest reports that a file is a test by its own name, in a folder of one runner, or in the folder of tests of a package, and that no runner passes over that folder.
func (a Asked) isTest(name string) bool {
	l := languageOf(name)
	if isData(path.Base(name)) || l != nil && l.outside != nil && l.outside.MatchString(name) {
		return false
	}
	for manifest, tests := range besideManifest {
		if m := tests.FindStringSubmatch(name); m != nil && a.stood[path.Join(m[1], manifest)] {
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
// pull request and the findings are about, and has a dot or is in capitals: others are mostly words.
func (a Asked) mentioned(name string) bool {
	parts := strings.Split(name, "/")
	last := len(parts) - 1
	for i := range last {
		if a.said[strings.Join(parts[i:], "/")] {
			return true
		}
	}
	base := parts[last]
	return a.said[base] && a.beside[path.Dir(name)] && (strings.Contains(base, ".") || capitals.MatchString(base))
}
