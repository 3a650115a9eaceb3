package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The story that docs/threads.md prints is the one that script:inline/story tells.
func TestTheStoryOfTheDocs(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/script/inline/story.txtar")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/threads.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "told.txt" {
			if !strings.Contains(string(page), "```text\n"+string(f.Data)+"```\n") {
				t.Error("docs/threads.md tells another story")
			}
			return
		}
	}
	t.Error("the script tells no story")
}
