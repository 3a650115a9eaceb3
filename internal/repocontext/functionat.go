package repocontext

import (
	"strings"

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
	lines := splitLines(text)
	if line < 1 || line > len(lines) {
		return Function{}, false
	}
	var f Function
	known, exact := symbols.Read(Language(path), text)
	s, ok := enclosing(spansOf(known), span{start: line, end: line})
	if !exact {
		s, ok = byIndent(lines, line)
	}
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
