package floors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// The README is read in a minute, fits a narrow window, and names the two commands that set a new machine up.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) >= 150 {
		t.Errorf("it has %d lines", len(lines))
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("line %d has %d columns", i+1, n)
		}
	}
	for _, command := range []string{"\n    make demo ", "\n    make test ", "\n    go install github.com/prloop/prloop/cmd/prloop@latest\n"} {
		if !strings.Contains(string(text), command) {
			t.Errorf("it does not show %q", strings.TrimSpace(command))
		}
	}
}
