package repocontext

import (
	"strings"

	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/symbols"
)

// Function is what the get_function_context tool answers (spec.md R6).
type Function struct {
	// Name is the function's or type's, with its type in front ("Server.Close").
	Name string `json:"name"`
	// Start and End are 1-based and inclusive.
	Start int `json:"startLine"`
	End   int `json:"endLine"`
	// Definition is the text of these lines.
	Definition string `json:"definition"`
	// Imports are the file's import declarations as written.
	Imports []string `json:"imports"`
	// Exact is false when the place was found by indentation alone.
	Exact bool `json:"exact"`
}

// importLine finds imports where the structure of a file is not known.
var importLine = lazyregexp.New(`^\s*(import|from|use|using|require|require_relative|#\s*include|@import)\b.*`)

// importLimit bounds the list of imports.
const importLimit = 100

// FunctionAt finds the function, or else the type, around a line (1-based) of a file. ok is false when there is none.
func FunctionAt(path string, text []byte, line int) (Function, bool) {
	return function(path, text, func(known []span, exact bool, lines []string) (span, bool) {
		switch {
		case line < 1 || line > len(lines):
			return span{}, false
		case exact:
			return enclosing(known, span{start: line, end: line})
		}
		return byIndent(lines, line)
	})
}

// typeArguments are those of a generic type in front of a method ("<N>" in "Node<N>.ask", "[K, V]" in "Map[K, V].Get").
var typeArguments = lazyregexp.New(`[<\[].*[>\]]`)

// FunctionNamed finds the function of a file with a name, or else the type; of methods the type in front may be left out, and so may the
// arguments of that type. Of several it is the first. ok is false when there is none.
func FunctionNamed(path string, text []byte, name string) (Function, bool) {
	is := func(s span) bool {
		plain := typeArguments.ReplaceAllString(s.name, "")
		return s.name == name || plain == name || strings.HasSuffix(s.name, "."+name) || strings.HasSuffix(plain, "."+name)
	}
	return function(path, text, func(known []span, exact bool, lines []string) (found span, ok bool) {
		if exact {
			for _, s := range known {
				if is(s) && (!ok || s.function && !found.function) {
					found, ok = s, true
				}
			}
			return found, ok
		}
		for i, l := range lines {
			if defined, any := definitionName(l); any && is(span{name: defined}) {
				return downFrom(lines, i, defined), true
			}
		}
		return span{}, false
	})
}

// function is the definition that find chooses. What find is given are all of the file, when its structure is known exactly, and its lines.
func function(path string, text []byte, find func(known []span, exact bool, lines []string) (span, bool)) (f Function, ok bool) {
	lines := splitLines(text)
	known, exact := symbols.Read(lang.Of(path), text)
	s, ok := find(spansOf(known), exact, lines)
	if !ok {
		return Function{}, false
	}
	f.Exact, f.Imports = exact, known.Imports
	if f.Imports == nil {
		f.Imports = importsByLine(lines)
	}
	f.Name, f.Start, f.End = s.name, s.start, min(s.end, len(lines))
	f.Definition = spelling.Text(strings.Join(lines[f.Start-1:f.End], ""))
	return f, true
}

func importsByLine(lines []string) []string {
	all := []string{}
	for _, l := range lines {
		if len(all) < importLimit && len(l) < 400 && importLine.MatchString(l) {
			all = append(all, strings.TrimSpace(strings.ToValidUTF8(l, "\ufffd")))
		}
	}
	return all
}
