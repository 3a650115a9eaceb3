package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func editor(t *testing.T, dir string, change ...func(*EditorOptions)) *Editor {
	t.Helper()
	o := EditorOptions{Tree: dir, Exclude: []string{"secrets/**"}, Refuse: func(p string) string {
		if p == "go.mod" {
			return "it is a package manifest"
		}
		return ""
	}}
	for _, c := range change {
		c(&o)
	}
	e, err := OpenEditor(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func do(t *testing.T, e *Editor, tool string, args map[string]any) (string, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Call(t.Context(), tool, raw)
	return got, err
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestEditing(t *testing.T) {
	dir := folder(t, map[string]string{"a.go": "package a\n\nvar x = 1\nvar y = 1\n", "dos.txt": "one\r\ntwo\r\nthree\r\n", "old.txt": "gone\n", "run.sh": "#!/bin/sh\nexit 0\n"})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	e := editor(t, dir)
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"edit_file", m{"path": "a.go", "old": "x = 1", "new": "x = 2"}, "a.go is changed at line 3; it has 4 lines now\n"},
		{"edit_file", m{"path": "./a.go", "old": "\nvar y = 1", "new": ""}, "a.go is changed at line 3; it has 3 lines now\n"},
		{"edit_file", m{"path": "dos.txt", "old": "one\ntwo\n", "new": "1\n2\n"}, "dos.txt is changed at line 1; it has 3 lines now\n"},
		{"edit_file", m{"path": "run.sh", "old": "exit 0", "new": "exit 1"}, "run.sh is changed at line 2; it has 2 lines now\n"},
		{"write_file", m{"path": "new/deep/n.txt", "content": "n"}, "new/deep/n.txt is new; it has 1 line\n"},
		{"delete_file", m{"path": "old.txt"}, "old.txt is deleted\n"},
		{"read_file", m{"path": "a.go", "start": 3}, "a.go, lines 3-3 of 3\n     3  var x = 2\n"},
	} {
		if got, err := do(t, e, c.tool, c.args); err != nil || got != c.want {
			t.Errorf("%s %v: %s %v", c.tool, c.args, got, err)
		}
	}
	if got := content(t, dir, "dos.txt"); got != "1\r\n2\r\nthree\r\n" {
		t.Errorf("line ends were changed: %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode was changed: %v %v", info.Mode(), err)
	}
	if got := e.Changed(); !slices.Equal(got, []string{"a.go", "dos.txt", "new/deep/n.txt", "old.txt", "run.sh"}) {
		t.Errorf("changed: %q", got)
	}
	want := "--- a/a.go\n+++ b/a.go\n@@ -1,4 +1,3 @@\n package a\n \n-var x = 1\n-var y = 1\n+var x = 2\n"
	if !strings.HasPrefix(e.Diff(), want) || !strings.Contains(e.Diff(), "--- /dev/null\n+++ b/new/deep/n.txt\n@@ -0,0 +1,1 @@\n+n\n\\ No newline at end of file\n") ||
		!strings.Contains(e.Diff(), "--- a/old.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n") {
		t.Errorf("diff:\n%s", e.Diff())
	}
	if err := e.Revert(); err != nil || len(e.Changed()) != 0 || content(t, dir, "old.txt") != "gone\n" || content(t, dir, "a.go") != "package a\n\nvar x = 1\nvar y = 1\n" {
		t.Errorf("not put back: %v %q", err, e.Changed())
	}
	if _, err := os.Stat(filepath.Join(dir, "new/deep/n.txt")); err == nil {
		t.Error("a new file stayed")
	}
}

type m = map[string]any

// What must not happen in a fixer's clone does not, and the model reads why.
func TestEditsThatAreRefused(t *testing.T) {
	outside := folder(t, map[string]string{"victim": "untouched\n"})
	dir := folder(t, map[string]string{
		"a.go": "one\none\n", "go.mod": "module a\n", "secrets/key": "k\n", ".git/config": "[core]\n", ".git/hooks/x": "", "sub/.git/config": "x\n", "bin": "a\x00b\n", "deep/f": "f\n",
	})
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte("0123456789\n"), 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": outside + "/victim", "inner": "a.go", "up": "..", "dir": outside, "dangling": outside + "/new", "gitlink": ".git"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run(); err != nil {
		t.Fatal(err)
	}
	e := editor(t, dir)
	edit := func(path, old, new string) m { return m{"path": path, "old": old, "new": new} }
	write := func(path string) m { return m{"path": path, "content": "x"} }
	for _, c := range []struct {
		rule, tool string
		args       m
		want       Code
	}{
		{"old must stand there once, not twice", "edit_file", edit("a.go", "one", "two"), BadArguments},
		{"nor never", "edit_file", edit("a.go", "three", "two"), NotFound},
		{"nothing is not a place", "edit_file", edit("a.go", "", "two"), BadArguments},
		{"a change changes", "edit_file", edit("a.go", "one\none", "one\none"), BadArguments},
		{"a link to the outside", "edit_file", edit("link", "untouched", "x"), NotAFile},
		{"a link inside", "edit_file", edit("inner", "one\none", "x"), NotAFile},
		{"below a link", "edit_file", edit("dir/victim", "untouched", "x"), NotFound},
		{"above the tree", "edit_file", edit("../victim", "untouched", "x"), BadPath},
		{"an absolute path", "edit_file", edit(outside+"/victim", "untouched", "x"), BadPath},
		{"git's folder", "edit_file", edit(".git/config", "core", "x"), NotFound},
		{"git's folder below", "edit_file", edit("sub/.git/config", "x", "y"), NotFound},
		{"git's folder in capitals", "write_file", write(".GIT/hooks/pre-commit"), NotFound},
		{"git's folder by a link", "write_file", write("gitlink/hooks/pre-commit"), NotAFile},
		{"an excluded path", "edit_file", edit("secrets/key", "k", "x"), NotFound},
		{"a new file in an excluded folder", "write_file", write("secrets/new"), NotFound},
		{"a protected path", "edit_file", edit("go.mod", "module a", "x"), Protected},
		{"deleting a protected path", "delete_file", m{"path": "go.mod"}, Protected},
		{"a file that is there", "write_file", write("a.go"), BadArguments},
		{"a link that is there", "write_file", write("dangling"), BadArguments},
		{"below a link to a folder", "write_file", write("dir/new"), NotAFile},
		{"below a link upwards", "write_file", write("up/new"), NotAFile},
		{"below a file", "write_file", write("a.go/new"), NotAFile},
		{"a folder", "edit_file", edit("deep", "f", "x"), NotAFile},
		{"the root", "delete_file", m{"path": "."}, NotAFile},
		{"deleting a folder", "delete_file", m{"path": "deep"}, NotAFile},
		{"deleting a link", "delete_file", m{"path": "link"}, NotAFile},
		{"a pipe", "edit_file", edit("pipe", "x", "y"), NotAFile},
		{"a binary file", "edit_file", edit("bin", "a", "x"), Binary},
		{"making a binary file", "write_file", m{"path": "n", "content": "a\x00b"}, Binary},
		{"a file over 1 MB", "edit_file", edit("big", "0", "1"), TooLarge},
		{"making a file over 1 MB", "write_file", m{"path": "n", "content": strings.Repeat("x", fileLimit+1)}, TooLarge},
		{"a line break in a name", "write_file", write("a\nb"), BadPath},
		{"a tool that is not there", "git_log", m{}, BadArguments},
		{"linters", "run_linter", m{"files": []string{"a.go"}}, BadArguments},
	} {
		var typed *Error
		if got, err := do(t, e, c.tool, c.args); !errors.As(err, &typed) || typed.Code != c.want {
			t.Errorf("%s: %s %v, want %s", c.rule, got, err, c.want)
		}
	}
	if content(t, outside, "victim") != "untouched\n" || len(e.Changed()) != 0 || e.Diff() != "" {
		t.Errorf("something was changed: %q", e.Changed())
	}
	if all, _ := filepath.Glob(outside + "/*"); len(all) != 1 {
		t.Errorf("something was made outside: %q", all)
	}
}

// A file that grows past the cap by edits, and more files than a fix may change.
func TestEditorsBounds(t *testing.T) {
	dir := folder(t, map[string]string{"a": "x\n"})
	e := editor(t, dir)
	if _, err := do(t, e, "edit_file", m{"path": "a", "old": "x", "new": strings.Repeat("y", fileLimit)}); err == nil || content(t, dir, "a") != "x\n" {
		t.Errorf("grew past the cap: %v", err)
	}
	for i := range changedLimit {
		if _, err := do(t, e, "write_file", m{"path": fmt.Sprintf("n/%d", i), "content": "x"}); err != nil {
			t.Fatal(err)
		}
	}
	var typed *Error
	if _, err := do(t, e, "write_file", m{"path": "n/more", "content": "x"}); !errors.As(err, &typed) || typed.Code != Limit {
		t.Errorf("one file too many: %v", err)
	}
	if _, err := do(t, e, "edit_file", m{"path": "n/1", "old": "x", "new": strings.Repeat("long line\n", 9000)}); err != nil {
		t.Error(err)
	}
	got, err := do(t, e, "diff", m{})
	if err != nil || len(got) > resultLimit || !strings.Contains(got, "more bytes of the diff are missing)") {
		t.Errorf("%d bytes of diff: %v", len(got), err)
	}
}

// git apply accepts every diff, and gives the text it was made of.
func TestDiffsApply(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"a\n", "b\n", "c\n", "\n", "d"}
	text := func(n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(words[r.IntN(4)])
		}
		if r.IntN(3) == 0 {
			b.WriteString(words[4])
		}
		return b.String()
	}
	dir := t.TempDir()
	var patch bytes.Buffer
	want := map[string]string{}
	for i := range 150 {
		old, now := text(60), text(60)
		if i%2 == 0 && len(old) > 2 { // a small change of a long text
			at := r.IntN(len(old) - 1)
			now = old[:at] + "new\n" + old[at+1:]
		}
		if old == now || old == "" || now == "" {
			continue
		}
		name := fmt.Sprintf("f%d", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&patch, "--- a/%s\n+++ b/%s\n%s", name, name, unified(old, now))
		want[name] = now
	}
	cmd := exec.Command("git", "apply", "--unidiff-zero", "-")
	cmd.Dir, cmd.Stdin = dir, &patch
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, text := range want {
		if got := content(t, dir, name); got != text {
			t.Errorf("%s: %q, want %q", name, got, text)
		}
	}
	if len(want) < 120 {
		t.Errorf("only %d texts differ", len(want))
	}
	long := strings.Repeat("x\n", 3000)
	if d := unified(long, strings.ReplaceAll(long, "x", "y")); strings.Count(d, "\n-") != 3000 || strings.Count(d, "\n+") != 3000 {
		t.Error("texts that differ altogether are not shown whole")
	}
}

// No path a model can write leads out of the clone, into git's folder, or to what is excluded, and what is taken back is as before.
func FuzzEditorPaths(f *testing.F) {
	for _, seed := range []string{"a.go", "../victim", "link", "dir/victim", "up/x", ".git/config", ".GIT/hooks/pre-commit", "sub/../.git/x", "./a.go", "new/x", "secrets/key", "a.go/x", "gitlink/config", "a\x00b", "//x", "dir/../../victim", "up/up/x"} {
		f.Add(seed, "x")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if len(name) > 200 || len(text) > 1000 {
			t.Skip("only length, which other tests bound")
		}
		outside := folder(t, map[string]string{"victim": "untouched\n"})
		dir := folder(t, map[string]string{"a.go": "one\n", "secrets/key": "k\n", ".git/config": "[core]\n"})
		for link, to := range map[string]string{"link": outside + "/victim", "dir": outside, "up": "..", "gitlink": ".git"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		e := editor(t, dir)
		_, _ = do(t, e, "write_file", m{"path": name, "content": text})
		_, _ = do(t, e, "edit_file", m{"path": name, "old": "o", "new": text})
		_, _ = do(t, e, "edit_file", m{"path": name, "old": "k", "new": text})
		_, _ = do(t, e, "delete_file", m{"path": name})
		if content(t, outside, "victim") != "untouched\n" || content(t, dir, "secrets/key") != "k\n" || content(t, dir, ".git/config") != "[core]\n" {
			t.Fatalf("%q leads where it must not", name)
		}
		for where, want := range map[string]int{outside: 1, filepath.Join(dir, ".git"): 1, filepath.Join(dir, "secrets"): 1} {
			if all, err := os.ReadDir(where); err != nil || len(all) != want {
				t.Fatalf("%q made something in %s", name, where)
			}
		}
		if err := e.Revert(); err != nil || content(t, dir, "a.go") != "one\n" || len(e.Changed()) != 0 {
			t.Fatalf("%q: not as before: %v", name, err)
		}
	})
}
