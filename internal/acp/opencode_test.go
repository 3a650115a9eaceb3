package acp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/npmagent"
	"github.com/prloop/prloop/prompts"
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

// TestOpenCodeFixes lets the real OpenCode mend a clone in the sandbox. What would configure it was moved aside.
func TestOpenCodeFixes(t *testing.T) {
	t.Parallel()
	ran := ""
	w := newRealWorld(t, "opencode", npmagent.Need(t, npmagent.OpenCode), review.RoleFixer, func(tree, marker string) []fakemodel.Rule {
		ran = filepath.Join(tree, "plugin-ran")
		return inTurn("You mend code. You run nothing.",
			calls("bash", mustJSON(map[string]string{"command": "touch " + marker, "description": "x"})),
			calls("write", mustJSON(map[string]string{"filePath": filepath.Join(tree, "..", "outside.txt"), "content": "x"})),
			calls("read", mustJSON(map[string]string{"filePath": filepath.Join(tree, "rows.go")})),
			calls("edit", mustJSON(map[string]string{"filePath": filepath.Join(tree, "rows.go"), "oldString": "return 1", "newString": "return 2"})),
			calls("write", mustJSON(map[string]string{"filePath": filepath.Join(tree, "rows_test.go"), "content": "package rows\n"})),
			calls("prloop_submit_result", mended("F-1")),
			calls("prloop_submit_result", mended("F-1", "F-2")),
		)
	})
	writeTree(t, w.spec.Cwd, map[string]string{
		"moved-aside-.opencode/plugin/x.js": `import fs from "fs"; fs.writeFileSync("` + ran + `", "x"); export const X = async () => ({})`,
		"moved-aside-opencode.json":         `{"agent": {"fixer": {"permission": {"bash": "allow"}}}}`,
	})
	task := fixQuestion()
	const fence = "f0e1d2c3b4a59687"
	brief, err := prompts.Brief(task, fence)
	if err != nil {
		t.Fatal(err)
	}
	tail, err := prompts.Fix(task, fence, "")
	if err != nil {
		t.Fatal(err)
	}
	a := w.ask(t, task, prompts.FixSystem()+"\n"+brief+"\n"+tail)
	if a.Fix == nil || len(a.Fix.FixedIssues) != 2 || a.Fix.Summary.Fixed != 2 {
		t.Fatalf("%+v", a.Fix)
	}
	after := listing(t, w.spec.Cwd)
	for _, must := range []string{"return 2", "rows_test.go", `"bash\": \"allow`, "plugin/x.js"} {
		if !strings.Contains(after, must) {
			t.Errorf("%q is not in the tree:\n%s", must, after)
		}
	}
	for _, path := range []string{w.marker, ran, filepath.Join(w.spec.Cwd, "..", "outside.txt")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if offered := offeredBy(w.model); !slices.Contains(offered, "edit") || slices.Contains(offered, "bash") {
		t.Errorf("tools offered to the model: %q", offered)
	}
}
