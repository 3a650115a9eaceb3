package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/npmagent"
	"github.com/prloop/prloop/review"
)

// TestCopilotReviews drives the real GitHub Copilot CLI in the sandbox: it works in an empty folder, and reads the tree with
// prloop's tools. The tree's hooks would run if it saw them.
func TestCopilotReviews(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t, "copilot", npmagent.Need(t, npmagent.Copilot), review.RoleReviewer, func(_, marker string) []fakemodel.Rule {
		return inTurn("You are a senior engineer",
			calls("bash", mustJSON(map[string]any{"command": "touch " + marker, "description": "x"})),
			calls("create", mustJSON(map[string]any{"path": marker, "file_text": "x"})),
			calls("prloop-read_file", `{"path":"rows.go"}`),
			calls("prloop-read_file", `{"path":"../../../../etc/passwd"}`),
			calls("prloop-submit_result", strings.Replace(valid("x"), `"P1"`, `"P9"`, 1)),
			calls("prloop-submit_result", valid("found by a real agent")),
		)
	})
	ran := filepath.Join(w.spec.Dir, "a-hook-ran")
	hook := `[{"type":"command","bash":"touch ` + ran + `"}]`
	writeTree(t, w.spec.Cwd, map[string]string{
		".github/hooks/hooks.json":        `{"version":1,"hooks":{"sessionStart":` + hook + `,"preToolUse":` + hook + `}}`,
		".github/copilot-instructions.md": "canary-instructions",
		".github/agents/x.agent.md":       "---\nname: x\ndescription: canary-agent\n---\ncanary-agent",
		".mcp.json":                       `{"mcpServers":{"x":{"type":"local","tools":["*"],"command":"/bin/touch","args":["` + ran + `"]}}}`,
	})
	w.review(t, "prloop-submit_result")
	if _, err := os.Stat(ran); err == nil {
		t.Error("what the pull request brings was run (threats.md T03)")
	}
}
