package git

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// treeOf lists a tree with its modes.
func treeOf(t *testing.T, b *bench, tree string) map[string]string {
	t.Helper()
	entries, err := b.r.List(t.Context(), tree, "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		got[e.Path] = shell(t, b.r.dir, "cat-file", "blob", e.OID)
		switch e.Mode {
		case modeExec:
			got[e.Path] += " x"
		case modeLink:
			got[e.Path] += " link"
		}
	}
	return got
}

func TestTreeIsTakenAsItIs(t *testing.T) {
	src := origin(t, map[string]string{"edited": "1\n", "same": "s\n", "gone": "g\n", "dir/gone": "g\n", "file": "f\n", "folder/a": "a\n", "tracked.log": "1\n",
		".gitignore": "*.log\nbuild/\n!keep.log\n/only/*\n!/only/this\n", "sub/.gitignore": "/local\n", "exec": "x\n", "old": "o\n", "crlf": "a\r\n"})
	if err := os.Symlink("target", filepath.Join(src, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(src, "exec"), 0o755); err != nil {
		t.Fatal(err)
	}
	shell(t, src, "add", "-f", "tracked.log")
	head := commit(t, src, nil)
	b := &bench{r: open(t, find(t)), head: head, clone: filepath.Join(t.TempDir(), "clone")}
	fetch(t, b.r, src, "refs/heads/main")
	if err := b.r.Clone(t.Context(), head, b.clone, "fix"); err != nil {
		t.Fatal(err)
	}
	tree, err := b.r.TakeTree(t.Context(), b.clone, head)
	if err != nil || tree != shell(t, src, "rev-parse", "HEAD^{tree}") {
		t.Fatalf("an untouched clone gives %s: %v", tree, err)
	}
	for name, text := range map[string]string{"edited": "2\n", "new": "n\n", "x.log": "no", "keep.log": "k\n", "tracked.log": "2\n", "build/out": "no", "deep/build/out": "no",
		"only/that": "no", "only/this": "t\n", "sub/local": "no", "sub/other": "o\n", "deep/local": "l\n", "same": "s\n",
		".gitattributes": "* text eol=crlf filter=bad\n", "fresh/.gitignore": "*\n", "fresh/a": "a\n", "line\nfeed": "l\n", "esc\x1b[31m": "e\n", "bad\xff": "b\n", "README": "1\n", "readme": "2\n",
		":(top)x": "m\n", ":!y/z": "m\n", "[a]*.txt": "g\n", ":x.log": "no", "sp ace ": "s\n"} {
		write(t, b.clone, name, text)
	}
	for _, gone := range []string{"gone", "dir/gone", "file", "folder/a", "folder"} {
		if err := os.Remove(filepath.Join(b.clone, gone)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, b.clone, "file/now/folder", "f\n")
	write(t, b.clone, "folder", "now a file\n")
	if err := os.Chmod(filepath.Join(b.clone, "new"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(b.clone, "build", "ignored-link")); err != nil {
		t.Fatal(err)
	}
	if tree, err = b.r.TakeTree(t.Context(), b.clone, head); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"edited": "2", "new": "n x", "keep.log": "k", "tracked.log": "2", "only/this": "t", "sub/other": "o", "deep/local": "l", "same": "s",
		".gitattributes": "* text eol=crlf filter=bad", "fresh/.gitignore": "*", "fresh/a": "a", "line\nfeed": "l", "esc\x1b[31m": "e", "bad\xff": "b", "README": "1", "readme": "2",
		":(top)x": "m", ":!y/z": "m", "[a]*.txt": "g", "sp ace ": "s",
		".gitignore": "*.log\nbuild/\n!keep.log\n/only/*\n!/only/this", "sub/.gitignore": "/local", "exec": "x x", "old": "o", "link": "target link", "crlf": "a",
		"file/now/folder": "f", "folder": "now a file"}
	if d := cmp.Diff(want, treeOf(t, b, tree)); d != "" {
		t.Error(d)
	}
	again, err := b.r.TakeTree(t.Context(), b.clone, head)
	if err != nil || again != tree {
		t.Errorf("a second time: %s %v", again, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestHostileFoldersAreRefusedByRule(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	big := newBench(t, map[string]string{"a": "1\n", "sub/b": "1\n"})
	module := shell(t, big.clone, "rev-parse", "HEAD")
	shell(t, big.clone, "update-index", "--add", "--cacheinfo", "160000,"+module+",module")
	shell(t, big.clone, "commit", "-q", "-m", "module")
	withModule := shell(t, big.clone, "rev-parse", "HEAD")
	if _, err := big.r.TakeBundle(t.Context(), big.bundle(t), big.head); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, rule, path string
		evil             func(t *testing.T, dir string)
	}{
		{"a link out (threats.md T24)", TakeLink, "l", func(t *testing.T, dir string) { must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "l"))) }},
		{"a link in place of a file", TakeLink, "a", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "a")))
			must(t, os.Symlink(outside, filepath.Join(dir, "a")))
		}},
		{"a link in place of a folder", TakeLink, "sub", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "sub")))
			must(t, os.Symlink("/etc", filepath.Join(dir, "sub")))
		}},
		{"a pipe", TakeSpecial, "p", func(t *testing.T, dir string) { must(t, syscall.Mkfifo(filepath.Join(dir, "p"), 0o600)) }},
		{"a pipe in place of a file", TakeSpecial, "a", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "a")))
			must(t, syscall.Mkfifo(filepath.Join(dir, "a"), 0o600))
		}},
		{"a device", TakeSpecial, "d", func(t *testing.T, dir string) {
			if err := syscall.Mknod(filepath.Join(dir, "d"), syscall.S_IFCHR|0o600, 1<<8|3); err != nil {
				t.Skip("making a device needs rights this user has not: ", err)
			}
		}},
		{"a socket", TakeSpecial, "s", func(t *testing.T, dir string) {
			t.Chdir(dir) // a socket's path is short
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "s", Net: "unix"})
			must(t, err)
			l.SetUnlinkOnClose(false)
			must(t, l.Close())
		}},
		{"a hard link to a file outside", TakeHardLink, "h", func(t *testing.T, dir string) { must(t, os.Link(outside, filepath.Join(dir, "h"))) }},
		{"a repository inside", TakeEmbedded, "sub/.git", func(t *testing.T, dir string) { shell(t, filepath.Join(dir, "sub"), "init", "-q") }},
		{"a file that leads to a repository", TakeEmbedded, "sub/.git", func(t *testing.T, dir string) { write(t, dir, "sub/.git", "gitdir: /elsewhere\n") }},
		{"a repository in other letters", TakeEmbedded, "sub/.GIT", func(t *testing.T, dir string) { write(t, dir, "sub/.GIT/config", "x") }},
		{"a bare repository inside (threats.md T20)", TakeEmbedded, "sub/bare", func(t *testing.T, dir string) { shell(t, dir, "init", "-q", "--bare", "sub/bare") }},
		{"a file of 200 MB", TakeTooLarge, "huge", func(t *testing.T, dir string) { must(t, os.Truncate(write0(t, filepath.Join(dir, "huge")), 200<<20)) }},
		{"a tracked file that grew to 200 MB", TakeTooLarge, "a", func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, "a"), 200<<20)) }},
		{"folders in one another (threats.md T523)", TakeBadName, strings.Repeat("d/", takeDepth+1) + "d", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 1000)), 0o700))
		}},
		{"no folder", TakeUnreadable, "", func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }},
		{"another folder in its place", TakeUnreadable, "", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.Symlink("/etc", dir))
		}},
		{"files in a submodule's place", TakeSubmodule, "module", func(t *testing.T, dir string) { write(t, dir, "module/x", "x") }},
		{"more files than a fix has", TakeTooManyFiles, "", func(t *testing.T, dir string) {
			for i := range takeChanged + 1 {
				write(t, dir, "many/"+strings.Repeat("x", i%100)+string(rune('a'+i%26))+"/"+strings.Repeat("y", i/100+1), "")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "clone")
			if err := big.r.Clone(t.Context(), withModule, dir, "fix"); err != nil {
				t.Fatal(err)
			}
			c.evil(t, dir)
			tree, err := big.r.TakeTree(t.Context(), dir, withModule)
			refused, _ := err.(interface{ Unwrap() error })
			if got := takeRule(err); got != c.rule || tree != "" || refused == nil {
				t.Fatalf("rule %q, want %q; %v", got, c.rule, err)
			}
			if e, ok := refused.Unwrap().(*TakeError); !ok || e.Path != c.path {
				t.Errorf("the path: %v", err)
			}
		})
	}
}

// What stands in the folder's own .git, and the settings of whoever is in it, have no part in taking it.
// What lies deep in base may be changed there, and what base ignores may be as deep as it likes.
func TestDeepFoldersOfBaseAreTaken(t *testing.T) {
	deep := strings.Repeat("d/", takeDepth+20)
	b := newBench(t, map[string]string{deep + "a": "1\n", ".gitignore": "/build\n"})
	write(t, b.clone, deep+"a", "2\n")
	write(t, b.clone, strings.Repeat("e/", takeDepth)+"b", "1\n")
	write(t, b.clone, "build/"+deep+"c", "1\n")
	tree, err := b.r.TakeTree(t.Context(), b.clone, b.head)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{deep + "a": "2", ".gitignore": "/build", strings.Repeat("e/", takeDepth) + "b": "1", "topic": "1"}
	if diff := cmp.Diff(want, treeOf(t, b, tree)); diff != "" {
		t.Error(diff)
	}
}

// Patterns and folders that take for ever are no fault of prloop's: who left them is refused (threats.md T582). What git answers in time still counts.
func TestWhatIsIgnoredTakesItsTime(t *testing.T) {
	b := newBench(t, map[string]string{".gitignore": strings.Repeat("**/a/", 9) + "b\n/build/\n"})
	write(t, b.clone, strings.Repeat("x/", takeDepth-1)+"c", "1\n")
	write(t, b.clone, "build/"+strings.Repeat("a/", takeDepth)+"c", "1\n")
	if tree, err := b.r.TakeTree(t.Context(), b.clone, b.head); err != nil || treeOf(t, b, tree)["build/"+strings.Repeat("a/", takeDepth)+"c"] != "" {
		t.Errorf("other folders: %v", err)
	}
	write(t, b.clone, strings.Repeat("a/", takeDepth-1)+"c", "1\n")
	hasty := *b.r.git
	hasty.timeout = 4 * time.Second
	b.r.git = &hasty
	_, err := b.r.TakeTree(t.Context(), b.clone, b.head)
	if takeRule(err) != TakeTooLarge || !strings.Contains(err.Error(), "more than 4s to tell what its .gitignore files ignore") {
		t.Errorf("out of time: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := b.r.TakeTree(ctx, b.clone, b.head); !errors.Is(err, context.DeadlineExceeded) || takeRule(err) == TakeTooLarge {
		t.Errorf("ended from outside: %v", err)
	}
}

func TestTakingATreeRunsNothing(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	program, sprung := trap(t)
	poison(t, b.clone, program)
	write(t, b.clone, ".gitattributes", "* filter=bad diff=bad\n")
	write(t, b.clone, "a", "2\n")
	tree, err := b.r.TakeTree(t.Context(), b.clone, b.head)
	if err != nil {
		t.Fatal(err)
	}
	if got := treeOf(t, b, tree); got["a"] != "2" || len(got) != 3 {
		t.Errorf("%v", got)
	}
	if sprung() {
		t.Error("taking the tree ran a program")
	}
}
