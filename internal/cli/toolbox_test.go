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

// The tools of a builtin reviewer are wired to the workspace the task names, and to nothing else.
func TestToolbox(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n\nfunc F() {\n}\n", "key.pem": "secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := openTools(review.Task{}, nil)(review.Workspace{Tree: dir, Exclude: []string{"*.pem"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var names []string
	for _, s := range b.Specs() {
		names = append(names, s.Name)
		if !json.Valid(s.Parameters) {
			t.Errorf("%s: parameters %s", s.Name, s.Parameters)
		}
	}
	if got := strings.Join(names, " "); got != "read_file search_code list get_function_context" {
		t.Errorf("without a repository and without leave to lint there are %s", got)
	}
	got, err := b.Call(t.Context(), "get_function_context", []byte(`{"path":"a.go","line":3}`))
	if err != nil || !strings.Contains(string(got), `"name":"F"`) {
		t.Errorf("%s %v", got, err)
	}
	if got, err := b.Call(t.Context(), "read_file", []byte(`{"path":"key.pem"}`)); err == nil {
		t.Errorf("an excluded file was read: %s", got)
	}
}

// Linters run where the workspace allows it, and speak of added lines only.
func TestToolboxLints(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := openTools(review.Task{PRNumber: 7}, nil)(review.Workspace{Tree: dir, Lint: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	got, err := b.Call(t.Context(), "run_linter", []byte(`{"files":["a.go"]}`))
	if err != nil || string(got) != `{"findings":[]}` {
		t.Errorf("a file that is not in the diff: %s %v", got, err)
	}
}

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
