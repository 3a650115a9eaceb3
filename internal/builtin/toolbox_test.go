package builtin

import (
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
	b, err := openTools(review.Task{}, Agent{})(review.Workspace{Tree: dir, Exclude: []string{"*.pem"}}, "")
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
	if err != nil || !strings.Contains(got, "a.go, lines 3-4, F\n") {
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
	b, err := openTools(review.Task{PRNumber: 7}, Agent{})(review.Workspace{Tree: dir, Lint: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	got, err := b.Call(t.Context(), "run_linter", []byte(`{"files":["a.go"]}`))
	if err != nil || got != "no findings\n" {
		t.Errorf("a file that is not in the diff: %s %v", got, err)
	}
}
