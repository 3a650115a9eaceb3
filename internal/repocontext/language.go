package repocontext

import (
	"path"
	"strings"

	"github.com/go-enry/go-enry/v2"
)

// byExtension decides the languages whose structure is read, where Linguist needs the content to choose between two
// languages that share an ending.
var byExtension = map[string]string{
	".go": "go", ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx", ".java": "java", ".rb": "ruby", ".rs": "rust",
	".c": "c", ".h": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".hh": "c++", ".hpp": "c++", ".hxx": "c++", ".cs": "c#", ".php": "php",
}

// Language names a file's language in lower case, empty when the name tells nothing.
func Language(p string) string {
	if l, ok := byExtension[strings.ToLower(path.Ext(p))]; ok {
		return l
	}
	return strings.ToLower(enry.GetLanguage(path.Base(p), nil))
}
