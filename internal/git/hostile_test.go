package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/pace"
)

func TestInheritedVariablesNeverReachGit(t *testing.T) {
	program, sprung := trap(t)
	t.Setenv("GIT_SSH_COMMAND", program)
	t.Setenv("GIT_PROXY_COMMAND", program)
	t.Setenv("GIT_EXTERNAL_DIFF", program)
	t.Setenv("GIT_ASKPASS", program)
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.fsmonitor'='"+program+"'")
	t.Setenv("GIT_DIR", "/nowhere")
	src := origin(t, map[string]string{"a": "1\n"})
	g, err := Find(t.Context(), Options{Protocols: []string{"ssh", "file"}})
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, g)
	one := fetch(t, r, src, "refs/heads/main")["refs/heads/main"]
	two := commit(t, src, map[string]string{"a": "2\n"})
	fetch(t, r, src, "refs/heads/main")
	if _, err := r.Diff(t.Context(), one, two, DiffOptions{}); err != nil {
		t.Error(err)
	}
	_, err = r.Fetch(t.Context(), FetchOptions{URL: "ssh://127.0.0.1:1/x", Refs: []string{"refs/heads/main"}})
	if err == nil {
		t.Error("a fetch from nowhere worked")
	}
	if sprung() {
		t.Error("an inherited GIT_SSH_COMMAND, or another variable, ran")
	}
}

func TestOptionInjectionIsRefused(t *testing.T) {
	program, sprung := trap(t)
	src := origin(t, map[string]string{"a": "1\n"})
	r := open(t, find(t))
	for _, ref := range []string{"--upload-pack=" + program, "-c", "refs/heads/a..b", "refs/heads/@{u}", "refs/heads/a\nb", "refs/heads/*",
		"refs/heads/-x", "refs//x", "refs/heads/x.lock", "refs/heads/.x", "refs/heads/x:refs/heads/y", "main", "", "refs/heads/\x1b"} {
		if _, err := r.Fetch(t.Context(), FetchOptions{URL: "file://" + src, Refs: []string{ref}}); !errors.Is(err, ErrName) {
			t.Errorf("ref %q: %v", ref, err)
		}
		if _, err := r.Resolve(t.Context(), ref); !errors.Is(err, ErrName) {
			t.Errorf("resolve %q: %v", ref, err)
		}
	}
	for _, url := range []string{"--upload-pack=" + program, "ext::" + program, "http://example.com/x", "ssh://example.com/x", "git@example.com:x",
		"https://user:secret@example.com/x", "https://token@example.com/x", "", "fd::3", "file:///x\n"} {
		if _, err := r.Fetch(t.Context(), FetchOptions{URL: url, Refs: []string{"refs/heads/main"}}); !errors.Is(err, ErrProtocol) {
			t.Errorf("URL %q: %v", url, err)
		}
	}
	if _, err := r.Fetch(t.Context(), FetchOptions{URL: "file://" + src, Refs: []string{"refs/heads/main"}, Env: []string{"GIT_SSH_COMMAND=" + program}}); !errors.Is(err, ErrName) {
		t.Errorf("a GIT_ variable handed in: %v", err)
	}
	c, err := r.git.Checkout(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, rev := range []string{"--upload-pack=x", "-c", "--all", "nowhere", "HEAD\n"} {
		if _, err := c.Resolve(t.Context(), rev); !errors.Is(err, ErrUnknownRevision) && !errors.Is(err, ErrName) {
			t.Errorf("revision %q: %v", rev, err)
		}
	}
	if sprung() {
		t.Error("an option ran a program")
	}
}

// The transport list holds in git itself, not only in our check of the URL: a redirect or a submodule cannot get around it.
func TestProtocolsAreGitsToo(t *testing.T) {
	src := origin(t, map[string]string{"a": "1\n"})
	g, err := Find(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, g)
	_, err = g.run(t.Context(), command{name: "fetch", at: r.place(), args: []string{"--end-of-options", "file://" + src, "refs/heads/main"}})
	if !errors.Is(err, ErrProtocol) {
		t.Errorf("file:// with the default protocols: %v", err)
	}
}

func TestMalformedTreeIsRefused(t *testing.T) {
	for _, name := range []string{".git", "..", ".GIT", "git~1"} {
		src := origin(t, map[string]string{"a": "1\n"})
		blob := shell(t, src, "hash-object", "-w", "a")
		evil := rawTree(t, src, fmt.Sprintf("100644 %s\x00", name), blob)
		head := shell(t, src, "commit-tree", "-m", "evil", evil)
		shell(t, src, "update-ref", "refs/pull/1/head", head)
		r := open(t, find(t))
		_, err := r.Fetch(t.Context(), FetchOptions{URL: "file://" + src, Refs: []string{"refs/pull/1/head"}})
		if !errors.Is(err, ErrMalformedTree) {
			t.Errorf("fetch of a tree with %q: %v", name, err)
		}
		// The walker refuses on its own, should such a tree get in (borrowed objects are not checked on arrival).
		if err := r.borrow(filepath.Join(src, ".git", "objects")); err != nil {
			t.Fatal(err)
		}
		if _, err := r.List(t.Context(), head, ""); !errors.Is(err, ErrMalformedTree) {
			t.Errorf("list of a tree with %q: %v", name, err)
		}
		dir := filepath.Join(t.TempDir(), "export")
		if err := r.Export(t.Context(), head, dir); !errors.Is(err, ErrMalformedTree) {
			t.Errorf("export of a tree with %q: %v", name, err)
		}
	}
}

// rawTree writes a tree object of one entry without git's own checks.
func rawTree(t *testing.T, repo, entry, blob string) string {
	t.Helper()
	var raw bytes.Buffer
	raw.WriteString(entry)
	for i := 0; i < len(blob); i += 2 {
		var b byte
		if _, err := fmt.Sscanf(blob[i:i+2], "%02x", &b); err != nil {
			t.Fatal(err)
		}
		raw.WriteByte(b)
	}
	cmd := exec.Command("git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
	cmd.Dir, cmd.Stdin = repo, &raw
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestDiffBombIsListedAndSkipped(t *testing.T) {
	src := origin(t, map[string]string{"a.txt": "1\n"})
	base := shell(t, src, "rev-parse", "HEAD")
	f, err := os.Create(filepath.Join(src, "yes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte("y\n"), 1<<19)
	for range 200 {
		if _, err := f.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	head := commit(t, src, map[string]string{"a.txt": "2\n"})
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := r.Diff(t.Context(), base, head, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if y := d.File("yes.txt"); y == nil || y.Omitted != OmittedTooLarge || len(d.Files) != 2 {
		t.Errorf("the bomb is not listed as skipped: %+v", d.Files)
	}
	if all := after.TotalAlloc - before.TotalAlloc; all > 64<<20 {
		t.Errorf("%d MB were allocated (threats.md T27: 64 MB)", all>>20)
	}
	reading := func() { shell(t, src, "fsck", "--no-dangling", "--no-reflogs") }
	pace.Within(t, 4, reading, func() {
		r.kept = newKept() // or git is not asked again
		if _, err := r.Diff(t.Context(), base, head, DiffOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func TestHostileFileNamesSurvive(t *testing.T) {
	names := []string{"line\nfeed", "tab\there", "esc\x1b[31m", "bidi\u202eexe.txt", "-leading", "--option=x", "quote\"d", "back\\slash", "sp ace ",
		" lead", "a b/b a", "new file mode 100644", "rename to x", "@@ -1 +1 @@", "täb", "bad\xff\xfeutf8", "`tick`", "$(x)", ";rm", ":(glob)*", ":!x",
		"*.go", strings.Repeat("n", 200), "a/b/c/" + strings.Repeat("d", 240), "zero\u200bwidth", "diff --git a", "|pipe", "<html>", "&amp;", "%2e%2e", "b/x"}
	files := map[string]string{}
	for _, n := range names {
		files[n] = "1\n"
	}
	src := origin(t, nil)
	base := shell(t, src, "rev-parse", "HEAD")
	head := commit(t, src, files)
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	d, err := r.Diff(t.Context(), base, head, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Files) != len(names) {
		t.Errorf("%d rows, want %d (threats.md T28)", len(d.Files), len(names))
	}
	texts, err := r.ReadFiles(t.Context(), head, names, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if !d.Anchored(n, 1) || string(texts[n]) != "1\n" {
			t.Errorf("%q: anchored %v, text %q", n, d.Anchored(n, 1), texts[n])
		}
	}
	if err := r.Export(t.Context(), head, filepath.Join(t.TempDir(), "x")); err != nil {
		t.Error(err)
	}
}

// Modes and renames alone, without any --- line to read the name from.
func TestHostileNamesInModeChangesAndRenames(t *testing.T) {
	src := origin(t, map[string]string{"a b/b a": "1\n", "tab\tx": strings.Repeat("line\n", 9)})
	base := shell(t, src, "rev-parse", "HEAD")
	shell(t, src, "update-index", "--chmod=+x", "a b/b a")
	os.Chmod(filepath.Join(src, "a b/b a"), 0o755)
	os.Mkdir(filepath.Join(src, "b"), 0o755)
	shell(t, src, "mv", "tab\tx", "b/ a\n")
	head := commit(t, src, nil)
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	d, err := r.Diff(t.Context(), base, head, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if f := d.File("a b/b a"); f == nil || f.NewMode != 0o100755 {
		t.Errorf("mode change: %+v", d.Files)
	}
	if f := d.File("b/ a\n"); f == nil || f.OldPath != "tab\tx" {
		t.Errorf("rename: %+v", d.Files)
	}
}

func TestExportWritesLinksAsText(t *testing.T) {
	src := origin(t, map[string]string{"run.sh": "#!/bin/sh\n", "sub/a": "a\n"})
	os.Chmod(filepath.Join(src, "run.sh"), 0o755)
	for name, target := range map[string]string{"passwd": "/etc/passwd", "up": "../../x", "sub/proc": "/proc/self/root/etc/passwd"} {
		if err := os.Symlink(target, filepath.Join(src, name)); err != nil {
			t.Fatal(err)
		}
	}
	head := commit(t, src, nil)
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	dir := filepath.Join(t.TempDir(), "out")
	if err := r.Export(t.Context(), head, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"passwd": "/etc/passwd", "up": "../../x", "sub/proc": "/proc/self/root/etc/passwd", "sub/a": "a\n"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() {
			t.Fatalf("%s: %v %v", name, info, err)
		}
		if text, _ := os.ReadFile(filepath.Join(dir, name)); string(text) != want {
			t.Errorf("%s holds %q", name, text)
		}
	}
	if info, _ := os.Stat(filepath.Join(dir, "run.sh")); info.Mode().Perm()&0o100 == 0 {
		t.Error("run.sh lost its executable bit")
	}
	if err := r.Export(t.Context(), head, dir); !errors.Is(err, os.ErrExist) {
		t.Errorf("export into a folder that holds something: %v", err)
	}
}

func TestFetchTimeoutIsNamed(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "git")
	text := "#!/bin/sh\ncase \"$1\" in version) echo git version 2.39.5;; fetch) exec sleep 60;; *) exec git \"$@\";; esac\n"
	if err := os.WriteFile(slow, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := Find(context.Background(), Options{Path: slow, Protocols: []string{"file"}})
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, g)
	_, err = r.Fetch(t.Context(), FetchOptions{URL: "file:///x", Refs: []string{"refs/heads/main"}, Timeout: 200 * time.Millisecond})
	if !errors.Is(err, ErrFetchTimeout) {
		t.Errorf("a throttled server (threats.md T29): %v", err)
	}
}

// The helper handed to Fetch is the only one asked; one that a repository's configuration names is not.
func TestOnlyTheHandedCredentialHelperIsAsked(t *testing.T) {
	program, sprung := trap(t)
	src := origin(t, nil)
	poison(t, src, program)
	g := find(t)
	r := open(t, g)
	c, err := r.fetchCommand(t.Context(), FetchOptions{URL: "https://example.com/x", Refs: []string{"refs/heads/main"},
		Helper: `!f() { echo username=x; echo "password=$SECRET"; }; f`, Env: []string{"SECRET=s3cret"}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(c.args, " "), "s3cret") {
		t.Error("the credential stands in the arguments")
	}
	ask := command{name: "credential", args: []string{"fill"}, at: place{dir: filepath.Join(src, ".git")},
		settings: c.settings, extra: c.extra, stdin: []byte("protocol=https\nhost=example.com\n\n")}
	out, err := g.run(t.Context(), ask)
	if err != nil || !strings.Contains(string(out), "password=s3cret") {
		t.Errorf("the helper's answer: %q %v", out, err)
	}
	ask.settings, ask.extra = nil, nil
	if out, err := g.run(t.Context(), ask); !errors.Is(err, ErrAuth) {
		t.Errorf("without a helper: %q %v", out, err)
	}
	if sprung() {
		t.Error("the repository's own helper ran")
	}
}
