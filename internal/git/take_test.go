package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestCloneIsPrivate(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "#!/bin/sh\n", "CLAUDE.md": "x\n", "crlf": "a\r\nb\r\n", ".gitattributes": "* text=auto eol=crlf\n*.bin filter=lfs\n"})
	if got := shell(t, b.clone, "status", "--porcelain"); got != "" {
		t.Errorf("a fresh clone is dirty: %s", got)
	}
	if got := shell(t, b.clone, "rev-parse", "HEAD"); got != b.head || shell(t, b.clone, "symbolic-ref", "HEAD") != "refs/heads/prloop/fix" {
		t.Errorf("HEAD is %s", got)
	}
	if got := shell(t, b.clone, "remote"); got != "" {
		t.Errorf("it has a remote: %s", got)
	}
	if got := shell(t, b.clone, "for-each-ref", "--format=%(refname)"); got != "refs/heads/prloop/fix" {
		t.Errorf("its refs: %s", got)
	}
	shell(t, b.clone, "fsck", "--strict")
	if info, err := os.Stat(b.clone); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v %v", info.Mode(), err)
	}
	for name := range census(t, b.clone) {
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if linkedElsewhere(info) {
			t.Errorf("%s is a hard link", name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(b.r.dir)) || strings.HasSuffix(name, "info/alternates") || strings.Contains(name, "/hooks/") {
			t.Errorf("%s leads out of the clone", name)
		}
	}
	// A commit in it is the child of the reviewed head, and links written as text stay what they are.
	if got := shell(t, b.clone, "log", "--format=%s"); got != "c\nc" {
		t.Errorf("history: %q", got)
	}
}

func TestCloneOfALongHistoryIsShallow(t *testing.T) {
	src := origin(t, nil)
	for range cloneDepth + 10 {
		shell(t, src, "commit", "-q", "--allow-empty", "-m", "c")
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(src, "link")); err != nil {
		t.Fatal(err)
	}
	head := commit(t, src, map[string]string{"a": "1\n"})
	r := open(t, find(t))
	fetch(t, r, src, "refs/heads/main")
	dir := filepath.Join(t.TempDir(), "clone")
	if err := r.Clone(t.Context(), head, dir, "fix"); err != nil {
		t.Fatal(err)
	}
	if got := shell(t, dir, "rev-list", "--count", "HEAD"); got != fmt.Sprint(cloneDepth) {
		t.Errorf("%s commits", got)
	}
	b := &bench{r: r, head: head, clone: dir}
	tip := commit(t, dir, map[string]string{"a": "2\n"})
	taken, err := r.TakeBundle(t.Context(), b.bundle(t), head)
	if err != nil || len(taken) != 1 || taken[0].Commit != tip {
		t.Fatalf("out of a shallow clone: %+v %v", taken, err)
	}
	changes, err := r.Changes(t.Context(), head, tip)
	if err != nil || len(changes) != 1 || changes[0].Path != "a" {
		t.Errorf("the link changed on the way: %+v %v", changes, err)
	}
	if err := r.Clone(t.Context(), head, dir, "fix"); !errors.Is(err, os.ErrExist) {
		t.Errorf("a clone into a folder that holds something: %v", err)
	}
	for _, branch := range []string{"-x", "a..b", "--upload-pack=x", "a b", ""} {
		if err := r.Clone(t.Context(), head, filepath.Join(t.TempDir(), "c"), branch); !errors.Is(err, ErrName) {
			t.Errorf("branch %q: %v", branch, err)
		}
	}
}

// packHead is a bundle whose pack claims so many objects.
func packHead(tip string, n uint32) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# v2 git bundle\n%s HEAD\n\nPACK", tip)
	for _, v := range []uint32{2, n} {
		if err := binary.Write(&b, binary.BigEndian, v); err != nil {
			panic(err)
		}
	}
	b.Write(make([]byte, 20))
	return b.Bytes()
}

func TestHostileBundlesAreRefusedByRule(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	refs := shell(t, b.r.dir, "for-each-ref")
	tip := commit(t, b.clone, map[string]string{"a": "2\n"})
	raw := func(text []byte) func(*testing.T) string {
		return func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "raw.bundle")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	good, err := os.ReadFile(b.bundle(t))
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(good)
	flipped[len(flipped)-30] ^= 1
	for _, c := range []struct {
		name, rule string
		make       func(t *testing.T) string
	}{
		{"no file", TakeNotBundle, func(t *testing.T) string { return filepath.Join(t.TempDir(), "none") }},
		{"an empty file", TakeNotBundle, raw(nil)},
		{"other text", TakeNotBundle, raw([]byte("hello\n"))},
		{"a header without an end", TakeNotBundle, raw([]byte("# v2 git bundle\n" + tip + " HEAD\n"))},
		{"a header without a pack", TakeNotBundle, raw([]byte("# v2 git bundle\n" + tip + " HEAD\n\n"))},
		{"a header of endless text", TakeNotBundle, raw([]byte("# v2 git bundle\n-" + tip + " " + strings.Repeat("x", 1<<20)))},
		{"a header of many short lines", TakeNotBundle, raw([]byte("# v2 git bundle\n" + strings.Repeat(tip+" r\n", 2000)))},
		{"a partial bundle", TakeNotBundle, raw([]byte("# v3 git bundle\n@filter=blob:none\n" + tip + " HEAD\n\nPACK"))},
		{"a ref that is an option", TakeNotBundle, raw([]byte("# v2 git bundle\n--upload-pack=x HEAD\n\nPACK"))},
		{"a link to a bundle", TakeNotBundle, func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(b.bundle(t), file); err != nil {
				t.Fatal(err)
			}
			return file
		}},
		{"a pipe", TakeNotBundle, func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}},
		{"a folder", TakeNotBundle, func(t *testing.T) string { return t.TempDir() }},
		{"a file of 65 MB", TakeTooLarge, func(t *testing.T) string {
			file := raw(good)(t)
			if err := os.Truncate(file, bundleBytes+1); err != nil {
				t.Fatal(err)
			}
			return file
		}},
		{"a pack that claims four thousand million objects", TakeTooMany, raw(packHead(tip, 1<<32-1))},
		{"a pack that claims objects it has not", TakeMalformed, raw(packHead(tip, 3))},
		{"a pack with a wrong byte", TakeMalformed, raw(flipped)},
		{"a pack that is cut off", TakeMalformed, raw(good[:len(good)-25])},
		{"two refs", TakeRefs, func(t *testing.T) string {
			shell(t, b.clone, "branch", "-f", "more", tip)
			return b.bundle(t, b.head+"..HEAD", "more")
		}},
		{"commits that are not there", TakePrerequisite, func(t *testing.T) string {
			shell(t, b.clone, "checkout", "-q", "--detach", tip)
			commit(t, b.clone, map[string]string{"b": "2\n"})
			return b.bundle(t, tip+"..HEAD")
		}},
		{"another history", TakeUnrelated, func(t *testing.T) string {
			shell(t, b.clone, "checkout", "-q", "--orphan", "other")
			commit(t, b.clone, map[string]string{"b": "2\n"})
			return b.bundle(t, "HEAD")
		}},
		{"a merge", TakeMerge, func(t *testing.T) string {
			shell(t, b.clone, "checkout", "-q", "-B", "side", b.head)
			commit(t, b.clone, map[string]string{"side": "2\n"})
			shell(t, b.clone, "merge", "-q", "--no-ff", "-m", "merge", tip)
			return b.bundle(t)
		}},
		{"a hundred and one commits", TakeTooLong, func(t *testing.T) string {
			shell(t, b.clone, "checkout", "-q", "-B", "long", b.head)
			tree := shell(t, b.clone, "rev-parse", "HEAD^{tree}")
			at := b.head
			for i := range bundleCommits + 1 {
				at = shell(t, b.clone, "commit-tree", "-p", at, "-m", fmt.Sprint(i), tree)
			}
			shell(t, b.clone, "reset", "-q", "--hard", at)
			return b.bundle(t)
		}},
		{"a tag instead of a commit", TakeMalformed, func(t *testing.T) string {
			shell(t, b.clone, "tag", "-f", "-a", "-m", "t", "tagged", tip)
			return b.bundle(t, b.head+"..tagged")
		}},
		{"a malformed tree (threats.md T26)", TakeMalformed, func(t *testing.T) string {
			blob := shell(t, b.clone, "hash-object", "-w", "a")
			evil := shell(t, b.clone, "commit-tree", "-p", b.head, "-m", "evil", rawTree(t, b.clone, "100644 .git\x00", blob))
			shell(t, b.clone, "update-ref", "refs/heads/evil", evil)
			return b.bundle(t, b.head+"..evil")
		}},
		{"submodules that run programs (threats.md T23)", TakeMalformed, func(t *testing.T) string {
			shell(t, b.clone, "checkout", "-q", "-B", "modules", b.head)
			commit(t, b.clone, map[string]string{".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c true\n\tupdate = !true\n"})
			return b.bundle(t)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			shellFails(b.clone, "checkout", "-q", "-f", "prloop/fix")
			taken, err := b.r.TakeBundle(t.Context(), c.make(t), b.head)
			if got := takeRule(err); got != c.rule || taken != nil {
				t.Errorf("rule %q, want %q; %v", got, c.rule, err)
			}
		})
	}
	if got := shell(t, b.r.dir, "for-each-ref"); got != refs {
		t.Errorf("refs of ours moved:\n%s\nbefore:\n%s", got, refs)
	}
	if _, err := b.r.Resolve(t.Context(), tip); !errors.Is(err, ErrUnknownRevision) {
		t.Errorf("a refused bundle left its objects: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.r.dir, "index-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	shellFails(b.clone, "checkout", "-q", "-f", "prloop/fix")
	if taken, err := b.r.TakeBundle(t.Context(), raw(good)(t), b.head); err != nil || len(taken) != 1 {
		t.Errorf("the good one afterwards: %v %v", taken, err)
	}
}

// A small pack that unpacks to a large object is streamed through, or refused.
func TestZipBombOfABundleIsRefused(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	bomb := filepath.Join(b.clone, "bomb")
	if err := os.Truncate(write0(t, bomb), 50<<20); err != nil {
		t.Fatal(err)
	}
	commit(t, b.clone, nil)
	file := b.bundle(t)
	if info, err := os.Stat(file); err != nil || info.Size() > 2<<20 {
		t.Fatalf("the bomb is no bomb: %v %v", info.Size(), err)
	}
	taken, err := b.r.TakeBundle(t.Context(), file, b.head)
	if err != nil {
		if takeRule(err) != TakeTooLarge {
			t.Error(err)
		}
		return
	}
	// Streamed through it costs nothing; then the policy sees a file nobody can review.
	changes, err := b.r.Changes(t.Context(), b.head, taken[0].Commit)
	if err != nil || len(changes) != 1 || !changes[0].Binary || changes[0].Size != 50<<20 {
		t.Errorf("%+v %v", changes, err)
	}
}

func write0(t *testing.T, name string) string {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}
