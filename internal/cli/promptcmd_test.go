package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

func TestAgentPrompts(t *testing.T) {
	task, err := json.Marshal(review.Task{Version: review.TaskVersion, Role: review.RoleReviewer, Agent: "one", Title: strings.Repeat("x", 90_000)})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "task.json")
	if err := os.WriteFile(file, task, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := agentPromptsCommand(&Proc{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: t.TempDir()})
	c.SetArgs([]string{file})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "5 reviewers share their first") || !strings.Contains(out.String(), "99.") {
		t.Error(out.String())
	}
}
