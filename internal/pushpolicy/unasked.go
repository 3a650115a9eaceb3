package pushpolicy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// RuleUnasked is the rule of Asked.
const RuleUnasked = "unasked-file"

// ordinary are the languages of files that act only when the program runs or somebody reads them: source, pages and prose.
var ordinary = []string{
	"go", "python", "javascript", "typescript", "tsx", "java", "ruby", "rust", "c", "c++", "c#", "php", "kotlin", "scala", "clojure", "swift", "objective-c", "objective-c++",
	"dart", "lua", "perl", "r", "julia", "haskell", "ocaml", "f#", "visual basic .net", "elixir", "erlang", "elm", "zig", "nim", "crystal", "d", "pascal", "fortran", "fortran free form",
	"cobol", "assembly", "solidity", "cuda", "glsl", "verilog", "systemverilog", "vhdl", "common lisp", "scheme", "racket",
	"html", "css", "scss", "sass", "less", "vue", "svelte", "astro", "html+erb", "handlebars", "jinja", "go template", "pug", "haml",
	"sql", "graphql", "protocol buffer", "thrift", "markdown", "mdx", "restructuredtext", "asciidoc", "tex",
}

// Asked are the files that somebody asked a fix to change: those that the pull request changes, and those that a finding names. What is no source, page,
// prose or test may be changed only where it is one of them: settings, scripts and data act in more ways than any list of their names has (threats.md T733).
// The zero value is of no pull request.
type Asked struct {
	files map[string]bool
	words []string
}

// AskedOf are the files that the task of a fixer asks for.
func AskedOf(task review.Task) Asked {
	a := Asked{files: map[string]bool{}}
	for _, f := range task.Brief.Files {
		a.files[spelling.Raw(f.Path)], a.files[spelling.Raw(f.OldPath)] = true, true
	}
	if task.Fix == nil {
		return a
	}
	for _, f := range slices.Concat(task.Fix.IssuesToFix, task.Fix.OptionalIssues) {
		a.files[spelling.Raw(f.File)] = true
		if f.Assessment != nil && f.Assessment.Fact != nil {
			a.files[spelling.Raw(f.Assessment.Fact.File)] = true
		}
		a.words = append(a.words, f.Title, f.Description, f.Suggestion)
	}
	return a
}

// Refuse says why a fix may not change a file; empty means that it may.
func (a Asked) Refuse(name string) string {
	if a.files[name] || slices.Contains(ordinary, lang.Of(name)) || IsTest(name) || isData(name) || a.mentioned(name) {
		return ""
	}
	return "it holds settings, data or a script, the pull request does not change it, and no finding names it"
}

// Check refuses the changes of files that nobody asked for; allow are doublestar globs the operator opens.
func (a Asked) Check(changes []Change, allow []string) []review.Refusal {
	var refused []review.Refusal
	for _, c := range changes {
		for _, name := range c.names() {
			if why := a.Refuse(name); why != "" && !globs.Any(allow, name) {
				refused = append(refused, refuse(RuleUnasked, name, why))
			}
		}
	}
	return refused
}

// mentioned reports whether the text of a finding has a file's path in it, or the end of it from a folder on. A name without a dot or a folder is too
// often a word.
func (a Asked) mentioned(name string) bool {
	for end := name; end != "" && strings.ContainsAny(end, "./"); {
		if slices.ContainsFunc(a.words, func(text string) bool { return hasPath(text, end) }) {
			return true
		}
		_, rest, more := strings.Cut(end, "/")
		if !more {
			return false
		}
		end = rest
	}
	return false
}

// hasPath reports whether a text has a path in it that is no part of a longer one.
func hasPath(text, path string) bool {
	for {
		before, after, found := strings.Cut(text, path)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(before, "./"))
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, ".")) // the end of a sentence is no part of it
		if last != '.' && !ofPath(last) && !ofPath(next) {
			return true
		}
		_, size := utf8.DecodeRuneInString(path)
		text = text[len(before)+size:]
	}
}

// ofPath reports whether a character next to a path makes it a part of a longer one.
func ofPath(r rune) bool {
	return strings.ContainsRune(`-_/\@~`, r) || unicode.IsLetter(r) || unicode.IsDigit(r)
}
