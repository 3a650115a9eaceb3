package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// The builtin fixer writes in the clone it is given, and is told at once what the push policy would refuse.
func TestWorkshop(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n", "go.mod": "module a\n", "package.json": "{}\n", "key.pem": "secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	task := review.Task{Brief: review.Brief{Files: []review.BriefFile{{Path: "a.go"}, {Path: "package.json"}, {Path: "key.pem"}}}, Options: review.Options{AllowPaths: []string{"docs/**", "go.*"}}}
	w, err := openEditor(task, Agent{}, nil)(review.Workspace{Tree: dir, Exclude: []string{"*.pem"}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var names []string
	for _, s := range w.Specs() {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "read_file search_code list get_function_context edit_file write_file delete_file diff" {
		t.Errorf("a fixer has %s", got)
	}
	for _, c := range []struct{ args, want string }{
		{`{"path":"a.go","old":"package a","new":"package b"}`, ""},
		{`{"path":"go.mod","old":"module a","new":"module b"}`, ""},
		{`{"path":"package.json","old":"{}","new":"[]"}`, "protected: "},
		{`{"path":"b.go","old":"package a","new":"package b"}`, "protected: "},
		{`{"path":"key.pem","old":"secret","new":"x"}`, "not_found: "},
	} {
		_, err := w.Call(t.Context(), "edit_file", []byte(c.args))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
	if got := strings.Join(w.Changed(), " "); got != "a.go go.mod" || !strings.Contains(w.Diff(), "+package b") {
		t.Errorf("changed: %s\n%s", got, w.Diff())
	}
	if err := w.Revert(); err != nil || len(w.Changed()) != 0 {
		t.Error(err)
	}
}

// A new test is refused at once where the push policy would refuse it: by the files of the merge base, without what the pull request adds.
func TestNewTestsAreJudgedAtOnce(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tests/cart/test_cart.py", "tests/tax/__init__.py", "mine/test_mine.py", "moved/test_moved.py", ".git/test_git.py"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	task := review.Task{Brief: review.Brief{Files: []review.BriefFile{{Path: "mine/test_mine.py", Change: "added"}, {Path: "moved/test_moved.py", OldPath: "old/test_old.py", Change: "renamed"}, {Path: "gone/test_gone.py", Change: "deleted"}}}}
	w, err := openEditor(task, Agent{}, nil)(review.Workspace{Tree: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for name, refused := range map[string]bool{"tests/tax/test_tax.py": false, "old/test_new.py": false, "gone/test_new.py": false, "mine/test_new.py": true, "moved/test_new.py": true, "dags/test_tax.py": true} {
		_, err := w.Call(t.Context(), "write_file", []byte(`{"path":"`+name+`","content":"x"}`))
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "where no tests of its kind stood") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the prompt says must not be touched is what the push policy refuses.
func TestPromptNamesProtectedPaths(t *testing.T) {
	text := prompts.FixSystem()
	for _, name := range []string{".reviewerc", "CODEOWNERS", "CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules", "package.json", "go.mod", "Cargo.toml", "pyproject.toml", "requirements.txt", "pom.xml",
		".gitlab-ci.yml", "action.yml", "renovate.json", "codecov.yml", "Dockerfile", "netlify.toml", "Makefile", "CMakeLists.txt", "build.rs", "webpack.config.js",
		"eslint.config.js", "tsconfig.json", "pytest.ini"} {
		if !strings.Contains(text, name) || pushpolicy.Protected(name) == "" {
			t.Errorf("%s: the policy says %q", name, pushpolicy.Protected(name))
		}
	}
	for _, folder := range []string{".github", ".claude", ".cursor", ".vscode"} {
		if !strings.Contains(text, folder) || pushpolicy.Protected("sub/"+folder+"/x") == "" {
			t.Errorf("%s: the policy says %q", folder, pushpolicy.Protected("sub/"+folder+"/x"))
		}
	}
}
