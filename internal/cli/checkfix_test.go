package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
)

// The fixer that docs/agents.md shows has five lines and keeps the contract.
func TestDocumentedFixer(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "A fixer in five lines")
	_, rest, fenced := strings.Cut(rest, "```sh\n")
	text, _, closed := strings.Cut(rest, "```")
	if !ok || !fenced || !closed || strings.Count(text, "\n") != 5 {
		t.Fatalf("docs/agents.md shows no fixer of five lines:\n%s", text)
	}
	file := filepath.Join(t.TempDir(), "five.sh")
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	problems, err := fixspace.CheckFixer(t.Context(), agents.Spec{Name: "checked", Role: review.RoleFixer, Kind: review.KindCommand, Path: file, Env: proc.BaseEnv(), Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		// What the shell does not count is counted for it.
		if !problem.Warning || !strings.HasPrefix(problem.Reason, "summary: ") {
			t.Error(problem)
		}
	}
}
