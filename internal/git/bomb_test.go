package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/pace"
)

// packed is one entry of a pack: type and claimed size, what stands before the data, the data.
func packed(kind byte, size uint64, before, data []byte) []byte {
	first := kind<<4 | byte(size&15)
	size >>= 4
	var b bytes.Buffer
	for size > 0 {
		b.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
		size >>= 7
	}
	b.WriteByte(first)
	b.Write(before)
	z := zlib.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func bundleOf(t *testing.T, tip string, entries ...[]byte) string {
	t.Helper()
	var pack bytes.Buffer
	pack.WriteString("PACK")
	for _, v := range []uint32{2, uint32(len(entries))} {
		if err := binary.Write(&pack, binary.BigEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range entries {
		pack.Write(e)
	}
	sum := sha1.Sum(pack.Bytes())
	pack.Write(sum[:])
	file := filepath.Join(t.TempDir(), "bomb.bundle")
	if err := os.WriteFile(file, append([]byte("# v2 git bundle\n"+tip+" HEAD\n\n"), pack.Bytes()...), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Objects that unpack to more memory than there may be end git, not the machine: a delta of a few bytes that claims a
// result of 4 GB, and a commit that claims to be that large.
func TestMemoryBombsOfABundleAreRefused(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	base := []byte("base")
	sum := sha1.Sum(append([]byte("blob 4\x00"), base...))
	delta := append(binary.AppendUvarint([]byte{4}, 4<<30), 1, 'x')
	for name, file := range map[string]string{
		"delta":  bundleOf(t, b.head, packed(3, 4, nil, base), packed(7, uint64(len(delta)), sum[:], delta)),
		"commit": bundleOf(t, b.head, packed(1, 4<<30, nil, []byte("tree "+hex.EncodeToString(sum[:])))),
	} {
		started := time.Now()
		_, err := b.r.TakeBundle(t.Context(), file, b.head)
		if got := takeRule(err); got != TakeTooLarge {
			t.Errorf("%s: rule %q: %v%s", name, got, err, stderrOf(err))
		}
		if took := time.Since(started); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func stderrOf(err error) string {
	for err != nil {
		if e, ok := err.(*CommandError); ok {
			return fmt.Sprintf(" %q", e.Stderr)
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return ""
		}
		err = u.Unwrap()
	}
	return ""
}

// A repository that borrows from a shallow checkout has a head without its parents; a fixer still gets a clone of it.
func TestCloneOfABorrowedShallowHead(t *testing.T) {
	src := origin(t, map[string]string{"a": "1\n"})
	head := commit(t, src, map[string]string{"a": "2\n"})
	shallow := filepath.Join(t.TempDir(), "shallow")
	shell(t, src, "clone", "-q", "--depth=1", "file://"+src, shallow)
	r := open(t, find(t))
	borrow(t, r, shallow)
	shell(t, r.dir, "update-ref", "refs/prloop/work/head", head)
	dir := filepath.Join(t.TempDir(), "clone")
	if err := r.Clone(t.Context(), head, dir, "fix"); err != nil {
		t.Fatal(err)
	}
	if got := shell(t, dir, "rev-list", "--count", "HEAD"); got != "1" {
		t.Errorf("%s commits", got)
	}
	shell(t, dir, "fsck", "--strict")
	tip := commit(t, dir, map[string]string{"a": "3\n"})
	b := &bench{r: r, head: head, clone: dir}
	taken, err := r.TakeBundle(t.Context(), b.bundle(t), head)
	if err != nil || len(taken) != 1 || taken[0].Commit != tip {
		t.Errorf("%+v %v", taken, err)
	}
}

// FuzzBundleHeader: no text makes the reader panic, read without end, or give anything but object ids.
func FuzzBundleHeader(f *testing.F) {
	oid := "1111111111111111111111111111111111111111"
	for _, s := range []string{"", "# v2 git bundle\n", "# v2 git bundle\n-" + oid + " x\n" + oid + " HEAD\n\nPACK", "# v3 git bundle\n@object-format=sha1\n" + oid + " a b\n\n", "# v2 git bundle\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := readBundleHeader(bufio.NewReaderSize(bytes.NewReader(text), bundleHeader))
		if err != nil {
			if takeRule(err) == err.Error() {
				t.Errorf("no rule: %v", err)
			}
			return
		}
		if !IsOID(h.tip) || len(h.needs) > bundleCommits {
			t.Errorf("%+v", h)
		}
		for _, n := range h.needs {
			if !IsOID(n) {
				t.Errorf("prerequisite %q", n)
			}
		}
	})
}

// treeBomb is a bundle of one commit on base whose tree has two million files: one blob, and trees that name each other ten times.
func treeBomb(t *testing.T, base string) (tip, file string) {
	t.Helper()
	id := func(kind string, data []byte) []byte {
		sum := sha1.Sum(append([]byte(fmt.Sprintf("%s %d\x00", kind, len(data))), data...))
		return sum[:]
	}
	leaf := []byte("1\n")
	entries := [][]byte{packed(3, uint64(len(leaf)), nil, leaf)}
	below, mode, times := id("blob", leaf), "100644", 10
	for level := range 7 {
		if level == 6 {
			times = 2
		}
		var tree []byte
		for i := range times {
			tree = append(append(tree, fmt.Sprintf("%s %d\x00", mode, i)...), below...)
		}
		entries = append(entries, packed(2, uint64(len(tree)), nil, tree))
		below, mode = id("tree", tree), "40000"
	}
	text := []byte(fmt.Sprintf("tree %x\nparent %s\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n\nbomb\n", below, base))
	tip = hex.EncodeToString(id("commit", text))
	return tip, bundleOf(t, tip, append(entries, packed(1, uint64(len(text)), nil, text))...)
}

// A few trees may stand for more files than there is memory. They are refused before git compares or lists them: a fixer's commits
// already when they have many more files than it was given.
func TestTreeBombsAreRefused(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	tip, file := treeBomb(t, b.head)
	shell(t, b.origin, "bundle", "unbundle", file)
	shell(t, b.origin, "update-ref", "refs/heads/bomb", tip)
	listing := func() {
		if err := exec.Command("git", "-C", b.origin, "ls-tree", "-r", "refs/heads/bomb").Run(); err != nil {
			t.Error(err)
		}
	}
	pace.Within(t, 8, listing, func() {
		if _, err := b.r.TakeBundle(t.Context(), file, b.head); takeRule(err) != TakeTooManyFiles {
			t.Errorf("bundle: %v%s", err, stderrOf(err))
		}
		fetch(t, b.r, b.origin, "refs/heads/bomb")
		_, diffs := b.r.Diff(t.Context(), b.head, tip, DiffOptions{})
		_, changes := b.r.Changes(t.Context(), b.head, tip)
		_, list := b.r.List(t.Context(), tip, "")
		for name, err := range map[string]error{"diff": diffs, "changes": changes, "list": list} {
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Changes far beyond the push policy are refused before their lines are held one by one.
func TestChangesOfManyLinesAreRefused(t *testing.T) {
	long := map[string]string{}
	for i := range 9 {
		long[fmt.Sprintf("f%d", i)] = strings.Repeat(strings.Repeat("x", 98_999)+"\n", 10)
	}
	for name, files := range map[string]map[string]string{"lines": {"f": strings.Repeat("\n", changesLines)}, "bytes": long} {
		t.Run(name, func(t *testing.T) {
			src := origin(t, map[string]string{"a": "1\n"})
			base := shell(t, src, "rev-parse", "HEAD")
			tip := commit(t, src, files)
			shell(t, src, "branch", "topic")
			r := open(t, find(t))
			fetch(t, r, src, "refs/heads/topic")
			if changes, err := r.Changes(t.Context(), base, tip); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%d changes: %v", len(changes), err)
			}
			if d, err := r.Diff(t.Context(), base, tip, DiffOptions{}); err != nil || len(d.Files) != len(files) {
				t.Errorf("a pull request may have as many: %v", err)
			}
		})
	}
}
