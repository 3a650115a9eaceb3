package lang

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/symbols"
)

func TestNames(t *testing.T) {
	for p, want := range map[string]string{
		"a/b.go": "go", "x.PY": "python", "a.tsx": "tsx", "a.jsx": "javascript", "x/a.h": "c", "A.cs": "c#", "a.RB": "ruby", "a.ts": "typescript", "a.hpp": "c++",
		"a.rs": "rust", "a.php": "php", "R/a.R": "r", "a.kt": "kotlin", "a.m": "objective-c", "a.fs": "f#",
		"Dockerfile": "dockerfile", "deploy/Dockerfile.dev": "dockerfile", "Makefile": "makefile", "x.mk": "makefile",
		"CMakeLists.txt": "cmake", "notes.txt": "text", "Gemfile": "ruby", "go.mod": "go module", "BUILD": "starlark",
		".github/workflows/ci.yml": "yaml", "a.json": "json", "tsconfig.json": "json with comments", "main.tf": "hcl",
		"README.md": "markdown", "a.sh": "shell", ".bashrc": "shell", "a.proto": "protocol buffer",
		"LICENSE": "", "bin/tool": "", ".go/x": "", "dot.": "", "": "", "a.unheard-of": "",
	} {
		if got := Of(p); got != want {
			t.Errorf("Of(%q) = %q, want %q", p, got, want)
		}
	}
}

func TestTableNamesEachEndingOnce(t *testing.T) {
	seen, languages := map[string]string{}, map[string]bool{}
	for _, e := range endings {
		if languages[e.language] {
			t.Errorf("%s stands twice", e.language)
		}
		languages[e.language] = true
		for ending := range strings.FieldsSeq(e.endings) {
			if other := seen[ending]; other != "" || ending != strings.ToLower(ending) || ending[0] != '.' {
				t.Errorf("%s: ending %q, already of %q", e.language, ending, other)
			}
			seen[ending] = e.language
		}
	}
	read := 0
	for l := range languages {
		if symbols.Known(l) {
			read++
		}
	}
	if read != 12 {
		t.Errorf("files of %d languages whose structure is read have names, want 12", read)
	}
}
