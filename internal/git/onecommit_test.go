package git

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// one is what a single commit of r changed, in words.
func one(t *testing.T, r *Repository, commit string) []string {
	t.Helper()
	l, err := r.OneCommit(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	return changed(t, r, l)
}

func TestStagedIsTheIndexAndNothingElse(t *testing.T) {
	dir := origin(t, map[string]string{"both": "1\n", "gone": "g\n", "kept": "k\n"})
	head := shell(t, dir, "rev-parse", "HEAD")
	write(t, dir, "both", "1\n2\n")
	write(t, dir, "new", "n\n")
	shell(t, dir, "rm", "-q", "gone")
	shell(t, dir, "add", "both", "new")
	write(t, dir, "both", "1\n2\n3\n4\n") // not staged
	write(t, dir, "kept", "other\n")
	write(t, dir, "untracked", "u\n")
	before := census(t, dir)
	r := open(t, find(t))
	commit, err := r.Staged(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"added new +1 -0", "deleted gone +0 -1", "modified both +1 -0"}, one(t, r, commit)); d != "" {
		t.Error(d)
	}
	if text, err := r.ReadFile(t.Context(), commit, "both", 100); err != nil || string(text) != "1\n2\n" {
		t.Errorf("%q, %v", text, err)
	}
	if l, _ := r.OneCommit(t.Context(), commit); l.Base != head || l.MergeBase != head {
		t.Errorf("since %s, want %s", l.Base, head)
	}
	if d := cmp.Diff(before, census(t, dir)); d != "" {
		t.Error("the checkout was changed:", d)
	}
	again, err := r.Staged(t.Context(), dir, "")
	if err != nil || again != commit {
		t.Errorf("the same index is %s, then %s (%v)", commit, again, err)
	}
}

func TestStagedReadsASplitIndex(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n", "b": "1\n"})
	shell(t, dir, "update-index", "--split-index")
	write(t, dir, "a", "2\n")
	shell(t, dir, "add", "a")
	r := open(t, find(t))
	commit, err := r.Staged(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"modified a +1 -1"}, one(t, r, commit)); d != "" {
		t.Error(d)
	}
}

// git gives the hooks of `git commit FILE` and `git commit -a` an index of their own.
func TestStagedReadsTheIndexThatGitNames(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n", "b": "1\n"})
	other := filepath.Join(dir, ".git", "next-index-1.lock")
	write(t, dir, "b", "2\n")
	shell(t, dir, "add", "b")
	if err := os.Rename(filepath.Join(dir, ".git", "index"), other); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "reset", "-q")
	write(t, dir, "a", "2\n")
	shell(t, dir, "add", "a")
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, linked); err != nil {
		t.Fatal(err)
	}
	r := open(t, find(t))
	for index, want := range map[string]string{"": "modified a +1 -1", other: "modified b +1 -1", filepath.Join(linked, ".git", "next-index-1.lock"): "modified b +1 -1"} {
		commit, err := r.Staged(t.Context(), dir, index)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{want}, one(t, r, commit)); d != "" {
			t.Errorf("%s: %s", index, d)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "index")
	link := filepath.Join(dir, ".git", "link")
	if err := errors.Join(os.Rename(other, elsewhere), os.Symlink(elsewhere, link)); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{elsewhere, link, other, filepath.Join(dir, ".git")} {
		var none *IndexError
		if _, err := r.Staged(t.Context(), dir, index); !errors.As(err, &none) || none.Index != index {
			t.Errorf("%s: %v", index, err)
		}
	}
}

func TestStagedRefuses(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n"})
	r := open(t, find(t))
	write(t, dir, "a", "2\n")
	if _, err := r.Staged(t.Context(), dir, ""); !errors.Is(err, ErrNothingStaged) {
		t.Error("nothing staged:", err)
	}
	shell(t, dir, "commit", "-q", "-am", "ours")
	shell(t, dir, "checkout", "-q", "-b", "theirs", "HEAD~1")
	commit(t, dir, map[string]string{"a": "3\n"})
	merge := exec.CommandContext(t.Context(), "git", "-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "merge", "-q", "main")
	if merge.Run() == nil {
		t.Fatal("the merge is to conflict")
	}
	var unmerged *UnmergedError
	if _, err := r.Staged(t.Context(), dir, ""); !errors.As(err, &unmerged) || unmerged.Path != "a" {
		t.Error("in conflict:", err)
	}
}

func TestTheFirstCommitIsAChangeToo(t *testing.T) {
	dir := t.TempDir()
	shell(t, dir, "init", "-q", "-b", "main")
	write(t, dir, "a", "1\n")
	shell(t, dir, "add", "a")
	r := open(t, find(t))
	staged, err := r.Staged(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"added a +1 -0"}
	if d := cmp.Diff(want, one(t, r, staged)); d != "" {
		t.Error(d)
	}
	commit(t, dir, map[string]string{"a": "1\n"})
	first, err := r.Named(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, one(t, r, first)); d != "" {
		t.Error(d)
	}
}

func TestOneCommitIsWhatItChangedSinceItsFirstParent(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n"})
	shell(t, dir, "checkout", "-q", "-b", "side")
	commit(t, dir, map[string]string{"b": "1\n"})
	shell(t, dir, "checkout", "-q", "main")
	commit(t, dir, map[string]string{"c": "1\n"})
	shell(t, dir, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
	write(t, dir, "a", "dirty\n")
	r := open(t, find(t))
	for rev, want := range map[string]string{"HEAD": "added b +1 -0", "HEAD~1": "added c +1 -0", "side": "added b +1 -0"} {
		oid, err := r.Named(t.Context(), dir, rev)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{want}, one(t, r, oid)); d != "" {
			t.Error(rev, d)
		}
	}
	if _, err := r.Named(t.Context(), dir, "nowhere"); !errors.Is(err, ErrUnknownRevision) {
		t.Error(err)
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	shell(t, dir, "clone", "-q", "--depth=1", "file://"+dir, shallow)
	r = open(t, find(t))
	oid, err := r.Named(t.Context(), shallow, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.OneCommit(t.Context(), oid); !errors.Is(err, ErrShallow) {
		t.Error("a parent that was cut off:", err)
	}
}

// What git would make of binary parts is counted first, by what each says of itself (threats.md T583).
func TestPatchesAreNoBombs(t *testing.T) {
	noise := func(n int) string {
		b := make([]byte, n)
		rand.NewChaCha8([32]byte{}).Read(b)
		return string(b)
	}
	was := noise(300_000)
	dir := origin(t, map[string]string{"a.bin": was, "b.bin": was, "c.bin": noise(2_000)})
	write(t, dir, "a.bin", was[:1000]+"more\x00"+was[1000:])
	write(t, dir, "b.bin", was[:100_000])
	write(t, dir, "c.bin", noise(3_000)[2_000:])
	write(t, dir, "new.bin", strings.Repeat("\x00", 1<<20))
	shell(t, dir, "add", "-A")
	out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "diff", "--cached", "--binary").Output()
	if err != nil {
		t.Fatal(err)
	}
	good, tree := string(out), shell(t, dir, "write-tree")
	if strings.Count(good, "\ndelta ") < 4 || strings.Count(good, "\nliteral ") < 4 {
		t.Fatal(good)
	}
	shell(t, dir, "reset", "-q", "--hard")
	r := open(t, find(t))
	for _, text := range []string{good, "literal words of a letter\n\ndelta -1\n" + good} {
		got, err := r.Patched(t.Context(), dir, []byte(text))
		if err != nil || shell(t, r.dir, "rev-parse", got+"^{tree}") != tree {
			t.Fatalf("an honest patch: %v", err)
		}
	}
	packed := func(delta ...byte) string {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		z.Write(delta)
		z.Close()
		data := b.Bytes()
		line := string(rune('A' + len(data) - 1))
		for len(data)%4 != 0 {
			data = append(data, 0)
		}
		for ; len(data) > 0; data = data[4:] {
			four, group := binary.BigEndian.Uint32(data), [5]byte{}
			for i := range group {
				group[4-i], four = patchDigits[four%85], four/85
			}
			line += string(group[:])
		}
		return line + "\n\n"
	}
	head := "diff --git a/a.bin b/a.bin\nindex " + strings.Repeat("1", 40) + ".." + strings.Repeat("2", 40) + " 100644\nGIT binary patch\n"
	large := head + "literal 40000000\nHcmV?d00001\n\n"
	for says, text := range map[string]string{
		"a file":                     head + "literal 600000000\nHcmV?d00001\n\n",
		"files":                      large + large,
		"forth and back":             head + "literal 40000000\nHcmV?d00001\n\nliteral 40000000\nHcmV?d00001\n\n",
		"a delta":                    head + "delta 70000000\nHcmV?d00001\n\n",
		"what a delta makes":         head + "delta 8\n" + packed(0xe0, 0xa7, 0x12, 0x80, 0x80, 0x80, 0x40, 0x80),
		"a number as strtoul has it": head + "literal  +600000000\nHcmV?d00001\n\n",
		"a negative number":          head + "literal -1\nHcmV?d00001\n\n",
		"a delta without a header":   head + "delta 1\n" + packed(0x80),
		"a delta that is no data":    head + "delta 1\nzzz\n\n",
	} {
		var refused *PatchError
		if _, err := r.Patched(t.Context(), dir, []byte(text)); !errors.As(err, &refused) || !errors.Is(err, ErrTooLarge) && !errors.Is(err, errBinaryPatch) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestPatchedAppliesToHead(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n2\n3\n", "b": "1\n"})
	write(t, dir, "a", "1\n2\n4\n")
	write(t, dir, "new", "n\n")
	shell(t, dir, "add", "-N", "new")
	out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "diff").Output()
	if err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "reset", "-q", "--hard")
	write(t, dir, "a", "dirty\n")
	write(t, dir, "b", "staged\n")
	shell(t, dir, "add", "b")
	before := census(t, dir)
	r := open(t, find(t))
	got, err := r.Patched(t.Context(), dir, out)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"added new +1 -0", "modified a +1 -1"}, one(t, r, got)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, census(t, dir)); d != "" {
		t.Error("the checkout was changed:", d)
	}
	if _, err := r.Patched(t.Context(), dir, nil); !errors.Is(err, ErrEmptyPatch) {
		t.Error("empty:", err)
	}
	var refused *PatchError
	other := strings.Replace(string(out), "-3", "-9", 1)
	if _, err := r.Patched(t.Context(), dir, []byte(other)); !errors.As(err, &refused) || !strings.Contains(err.Error(), "a: patch does not apply") {
		t.Error("another file:", err)
	}
	if _, err := r.Patched(t.Context(), dir, []byte("no patch at all\n")); !errors.As(err, &refused) {
		t.Error("no patch:", err)
	}
	for _, name := range []string{"../out", ".git/hooks/pre-commit"} {
		hostile := "--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n"
		if got, err := r.Patched(t.Context(), dir, []byte(hostile)); err == nil {
			t.Error(name, "is taken as", got)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "out")); err == nil {
			t.Error("a file stands outside")
		}
	}
}
