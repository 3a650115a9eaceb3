package symbols

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/odvcencio/gotreesitter/grammars"
)

// TestMakefileEmbedsTheGrammarsInUse: a grammar without its build tag would be missing from the built program only, where
// files would quietly be read by indentation.
func TestMakefileEmbedsTheGrammarsInUse(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var embedded []string
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "GRAMMARS :="); ok {
			embedded = strings.Fields(list)
		}
	}
	var used []string
	for _, g := range byLanguage {
		used = append(used, g.name)
		if grammars.DetectLanguageByName(g.name) == nil {
			t.Errorf("the parser has no grammar %s", g.name)
		}
	}
	slices.Sort(used)
	slices.Sort(embedded)
	if !slices.Equal(used, embedded) {
		t.Errorf("the Makefile's GRAMMARS are %v, but byLanguage reads %v", embedded, used)
	}
}
