package acp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/npmagent"
	"github.com/prloop/prloop/review"
)

// TestOpenCodeReviews drives the real OpenCode in the sandbox: the key is the gateway's, the network is gone.
func TestOpenCodeReviews(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t, "opencode", npmagent.Need(t, npmagent.OpenCode), review.RoleReviewer, func(tree, marker string) []fakemodel.Rule {
		return inTurn("You review code. You change nothing.",
			calls("bash", mustJSON(map[string]string{"command": "touch " + marker, "description": "x"})),
			calls("read", mustJSON(map[string]string{"filePath": filepath.Join(tree, "rows.go")})),
			calls("prloop_submit_result", strings.Replace(valid("x"), `"P1"`, `"P9"`, 1)),
			calls("prloop_submit_result", valid("found by a real agent")),
		)
	})
	w.review(t, "prloop_submit_result")
}

// TestOpenCodeFixes lets the real OpenCode fix a clone in the sandbox. What would configure it was moved aside.
func TestOpenCodeFixes(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t, "opencode", npmagent.Need(t, npmagent.OpenCode), review.RoleFixer, func(tree, marker string) []fakemodel.Rule {
		return inTurn("You fix code. You run nothing.",
			calls("bash", mustJSON(map[string]string{"command": "touch " + marker, "description": "x"})),
			calls("write", mustJSON(map[string]string{"filePath": filepath.Join(tree, "..", "outside.txt"), "content": "x"})),
			calls("read", mustJSON(map[string]string{"filePath": filepath.Join(tree, "rows.go")})),
			calls("edit", mustJSON(map[string]string{"filePath": filepath.Join(tree, "rows.go"), "oldString": "return 1", "newString": "return 2"})),
			calls("write", mustJSON(map[string]string{"filePath": filepath.Join(tree, "rows_test.go"), "content": "package rows\n"})),
			calls("prloop_submit_result", mended("F-1")),
			calls("prloop_submit_result", mended("F-1", "F-2")),
		)
	})
	plugin := `import fs from "fs"; fs.writeFileSync("` + w.marker + `", "x"); export const X = async () => ({})`
	w.fix(t, map[string]string{
		"moved-aside-.opencode/plugin/x.js": plugin,
		"moved-aside-opencode.json":         `{"agent": {"fixer": {"permission": {"bash": "allow"}}}}`,
	}, "edit", "bash")
}
