package starter

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/testkit/gittest"
)

// repository makes a checkout with files.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Commit(t, dir, files)
	return dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// off is a setting that is suggested: a line that begins with # and no space, or goes on with one.
var off = regexp.MustCompile(`(?m)^#([a-z]|  )`)

// What is written is valid, and stays so with everything switched on that it suggests.
func TestReviewercFitsTheRepository(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"go": {map[string]string{"go.mod": "module m\n", "go.sum": "", "a.go": "package a\n", "README.md": "x\n"}, []string{"# Found here: go.\n", "#  - 'go vet ./...' # go.mod\n", "#verify_setup:\n#  - 'go mod download' # go.sum\n"}},
		"typescript": {map[string]string{"package.json": `{"scripts":{"lint":"eslint .","test":"jest"}}`, "pnpm-lock.yaml": "", "a.ts": "", "b.ts": "", "c.js": ""},
			[]string{"# Found here: typescript, javascript.\n", "#  - 'pnpm run lint' # package.json: script lint\n", "__snapshots__"}},
		"python":  {map[string]string{"pyproject.toml": "[tool.ruff]\n[tool.pytest.ini_options]\n", "a.py": ""}, []string{"# Found here: python.\n", "#  - 'ruff check .' #", "ipynb"}},
		"make":    {map[string]string{"Makefile": "test:\n\ttrue\n", "a.c": ""}, []string{"#  - 'make test' # Makefile: target test\n"}},
		"nothing": {map[string]string{"notes.txt": "x\n"}, []string{"#  - make test\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, c.files)
			w, err := Write(t.Context(), dir, Options{})
			if err != nil || len(w.Files) != 1 || w.Files[0] != ".reviewerc" || w.Base != "main" {
				t.Fatalf("%+v, %v", w, err)
			}
			text := read(t, dir, ".reviewerc")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			}
			on := off.ReplaceAllString(text, "$1")
			if strings.Count(on, "#") == strings.Count(text, "#") {
				t.Error("nothing is suggested")
			}
			for _, text := range []string{text, on} {
				if err := config.Validate(config.Repository, ".reviewerc", []byte(text)); err != nil {
					t.Errorf("%v\n%s", err, text)
				}
			}
		})
	}
}

// Nothing that is there is replaced, and then nothing is written at all.
func TestWriteReplacesNothingUnasked(t *testing.T) {
	dir := repository(t, map[string]string{".github/workflows/prloop.yml": "mine\n", "sub/a.go": "package a\n"})
	all := Options{Workflow: true, Hook: true}
	var there *ExistsError
	if _, err := Write(t.Context(), filepath.Join(dir, "sub"), all); !errors.As(err, &there) || there.Name != workflowName {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".reviewerc")); err == nil {
		t.Error(".reviewerc was written all the same")
	}
	all.Force = true
	w, err := Write(t.Context(), filepath.Join(dir, "sub"), all)
	if err != nil || strings.Join(w.Files, " ") != ".reviewerc .github/workflows/prloop.yml .git/hooks/pre-push" {
		t.Errorf("%+v, %v", w, err)
	}
	if read(t, dir, workflowName) != read(t, "../..", "examples/review-on-label.yml") {
		t.Error("the workflow is not that of examples")
	}
	if info, err := os.Stat(filepath.Join(dir, ".git/hooks/pre-push")); err != nil || info.Mode().Perm() != 0o755 {
		t.Error(info.Mode(), err)
	}
}

// A link in the place of a file, or of a folder, leads nowhere.
func TestWriteFollowsNoLink(t *testing.T) {
	outside := t.TempDir()
	dir := repository(t, map[string]string{"a": "x\n"})
	if err := errors.Join(os.Symlink(filepath.Join(outside, "rc"), filepath.Join(dir, ".reviewerc")), os.Symlink(outside, filepath.Join(dir, ".github"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(t.Context(), dir, Options{Force: true, Workflow: true}); err == nil {
		t.Error("a workflow was written through a link")
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Error("something was written outside")
	}
	if info, err := os.Lstat(filepath.Join(dir, ".reviewerc")); err != nil || !info.Mode().IsRegular() {
		t.Error(info, err)
	}
}

// The hook looks at what is pushed, from the remote's commit on and whatever the working tree holds, and stops the push on findings alone.
func TestHook(t *testing.T) {
	remote := t.TempDir()
	gittest.Run(t, remote, "init", "-q", "--bare", "-b", "main")
	dir := repository(t, map[string]string{"a": "1\n"})
	gittest.Run(t, dir, "remote", "add", "origin", remote)
	gittest.Run(t, dir, "config", "core.hooksPath", "hooks")
	gittest.Run(t, dir, "push", "-q", "origin", "main")
	first := gittest.Run(t, dir, "rev-parse", "HEAD")
	if w, err := Write(t.Context(), dir, Options{Hook: true}); err != nil || w.Files[1] != "hooks/pre-push" {
		t.Fatalf("%+v, %v", w, err)
	}
	programs := t.TempDir()
	var stderr bytes.Buffer
	push := func(status string, args ...string) (asked string, err error) {
		t.Helper()
		log := filepath.Join(programs, "asked")
		os.Remove(log)
		if err := os.WriteFile(filepath.Join(programs, "prloop"), []byte("#!/bin/sh\necho \"$@\" >>"+log+"\nexit "+status+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "push", "-q"}, args...)...)
		c.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"))
		stderr.Reset()
		c.Stderr = &stderr
		err = c.Run()
		data, _ := os.ReadFile(log)
		return strings.TrimSpace(string(data)), err
	}
	// saw fails unless prloop was asked once, about a commit that has the files of one and stands on another.
	saw := func(asked, head, base string) {
		t.Helper()
		commit, ok := strings.CutPrefix(strings.TrimSuffix(asked, " --reviewers static"), "run --commit ")
		if !ok || strings.Contains(commit, "\n") {
			t.Fatalf("asked %q", asked)
		}
		if got, want := gittest.Run(t, dir, "rev-parse", commit+"^{tree}", commit+"^@"), gittest.Run(t, dir, "rev-parse", head+"^{tree}", base); got != want {
			t.Errorf("looked at tree and parent %s, want %s", got, want)
		}
	}
	gittest.Commit(t, dir, map[string]string{"a": "secret\n"})
	gittest.Commit(t, dir, map[string]string{"b": "2\n"})
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("taken out, and not committed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked, err := push("3", "origin", "main")
	if saw(asked, "main", first); err == nil {
		t.Error("pushed with findings")
	}
	if again, _ := push("3", "origin", "main"); again != asked {
		t.Errorf("the same push is another commit: %q, %q", again, asked)
	}
	gittest.Run(t, dir, "checkout", "-q", "-f", "--detach")
	gittest.Commit(t, dir, map[string]string{"a": "other\n"}) // what is pushed need not be checked out
	if again, _ := push("3", "origin", "main"); again != asked {
		t.Errorf("from elsewhere: %q, %q", again, asked)
	}
	gittest.Run(t, dir, "checkout", "-q", "main")
	for _, status := range []string{"0", "8", "1", "2"} { // what keeps prloop from working keeps nobody from pushing
		gittest.Commit(t, dir, map[string]string{"a": "3 " + status + "\n"})
		if asked, err := push(status, "origin", "main"); err != nil || !strings.HasPrefix(asked, "run --commit ") {
			t.Errorf("status %s: %v, asked %q", status, err, asked)
		}
	}
	pushed := gittest.Run(t, dir, "rev-parse", "HEAD")
	gittest.Run(t, dir, "fetch", "-q", "origin")
	gittest.Run(t, dir, "checkout", "-q", "-b", "new")
	gittest.Commit(t, dir, map[string]string{"b": "1\n"})
	asked, err = push("8", "origin", "new")
	if saw(asked, "new", pushed); err != nil {
		t.Error("a new branch:", err)
	}
	gittest.Run(t, dir, "checkout", "-q", "main") // others push
	gittest.Commit(t, dir, map[string]string{"theirs": "1\n"})
	if asked, err := push("3", "--no-verify", "origin", "main"); err != nil || asked != "" {
		t.Fatal(asked, err)
	}
	gittest.Run(t, dir, "checkout", "-q", "new")
	gittest.Run(t, dir, "merge", "-q", "--no-edit", "main")
	gittest.Commit(t, dir, map[string]string{"mine": "1\n"})
	asked, err = push("8", "origin", "new")
	commit, _ := strings.CutPrefix(strings.TrimSuffix(asked, " --reviewers static"), "run --commit ")
	if got := gittest.Run(t, dir, "diff", "--name-only", commit+"^", commit); got != "mine" || err != nil {
		t.Errorf("of a branch that merged main it looks at %q, %v", got, err)
	}
	gittest.Run(t, dir, "tag", "-a", "-m", "old", "v1", pushed)
	if asked, err := push("3", "origin", "v1"); err != nil || asked != "" {
		t.Errorf("a tag of what the remote has: %v, asked %q", err, asked)
	}
	if asked, err := push("3", "origin", "--delete", "new"); err != nil || asked != "" {
		t.Errorf("a deleted branch: %v, asked %q", err, asked)
	}
	// A new branch is compared with what the remote has, whatever that and its branches are called, and a first push with nothing.
	nothing := gittest.Run(t, dir, "hash-object", "-t", "tree", "/dev/null")
	for _, c := range []struct{ says, remote, branch string }{{"another remote", "up", "main"}, {"its main branch is called master", "up", "master"}, {"and develop", "up", "develop"}, {"none", "up", ""}} {
		for _, ref := range strings.Fields(gittest.Run(t, dir, "for-each-ref", "--format=%(refname)", "refs/remotes")) {
			gittest.Run(t, dir, "update-ref", "--no-deref", "-d", ref)
		}
		other := t.TempDir()
		gittest.Run(t, other, "init", "-q", "--bare")
		gittest.Run(t, dir, "config", "remote.up.url", other)
		want := nothing
		if c.branch != "" {
			gittest.Run(t, dir, "update-ref", "refs/remotes/up/"+c.branch, pushed)
			want = gittest.Run(t, dir, "rev-parse", pushed+"^{tree}")
		}
		gittest.Run(t, dir, "checkout", "-q", "-B", "new", pushed)
		gittest.Commit(t, dir, map[string]string{"b": "1\n"})
		asked, err := push("3", c.remote, "new")
		commit, _ := strings.CutPrefix(strings.TrimSuffix(asked, " --reviewers static"), "run --commit ")
		if err == nil || commit == "" || gittest.Run(t, dir, "rev-parse", commit+"^^{tree}") != want {
			t.Errorf("%s: %v, asked %q", c.says, err, asked)
		}
	}
	_, err = push("2", "up", "new")
	if said := stderr.String(); err != nil || !strings.Contains(said, "pre-push: prloop has not looked at all of refs/heads/new: it ended with status 2") {
		t.Errorf("of a run that failed it says %q", said)
	}
}
