package cases

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/diff"
)

const carried = "../../testkit/forge/testdata/cases"

func TestReadsCases(t *testing.T) {
	for _, dir := range []string{carried, os.Getenv("PRLOOP_CASES")} {
		if dir == "" {
			t.Log("no further cases: PRLOOP_CASES names no folder")
			continue
		}
		set, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range set.Cases {
			if len(c.Golden) == 0 || c.Code == nil || len(c.Code.Head) != len(c.HeadFiles) || c.Size() == Unknown {
				t.Errorf("%s: %d expected, %d files, not %d, size %s", c.ID, len(c.Golden), len(c.Code.Head), len(c.HeadFiles), c.Size())
			}
			for _, e := range c.Golden {
				if len(c.Places(e)) == 0 {
					t.Errorf("%s: %s has no place", c.ID, e.ID)
				}
			}
		}
	}
}

// copyCase copies a carried case, and hands its folder to change.
func copyCase(t *testing.T, change func(dir string)) (string, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "go-gofr-1355"), os.DirFS(filepath.Join(carried, "go-gofr-1355"))); err != nil {
		t.Fatal(err)
	}
	change(filepath.Join(dir, "go-gofr-1355"))
	return dir, filepath.Join(dir, "go-gofr-1355")
}

func replace(t *testing.T, file, old, with string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), old, with, 1)
	if changed == string(data) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	if err := os.WriteFile(file, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
}

// repack rewrites the files of an archive.
func repack(t *testing.T, file string, change func(name, text string) (string, bool)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	tw := tar.NewWriter(zw)
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if err != nil {
			break
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(tr); err != nil {
			t.Fatal(err)
		}
		s, keep := change(h.Name, text.String())
		if !keep {
			continue
		}
		h.Size = int64(len(s))
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), zw.Close(), os.WriteFile(file, out.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
}

func TestRefusesBadCases(t *testing.T) {
	const changed = "pkg/gofr/datasource/mongo/mongo.go"
	for name, row := range map[string]struct {
		change func(dir string)
		says   string
	}{
		"no expected findings": {func(d string) { _ = os.WriteFile(filepath.Join(d, "golden.json"), []byte("[]"), 0o666) }, "it expects no finding"},
		"no golden.json":       {func(d string) { _ = os.Remove(filepath.Join(d, "golden.json")) }, "golden.json"},
		"half a golden.json":   {func(d string) { _ = os.WriteFile(filepath.Join(d, "golden.json"), []byte(`[{"id":`), 0o666) }, "golden.json"},
		"clean, and expects":   {func(d string) { replace(t, filepath.Join(d, "case.json"), `"id"`, `"clean": true, "id"`) }, "it is clean and expects findings"},
		"another id":           {func(d string) { replace(t, filepath.Join(d, "case.json"), "go-gofr-1355", "../x") }, "not the name of its folder"},
		"two of one id":        {func(d string) { replace(t, filepath.Join(d, "golden.json"), `"G2"`, `"G1"`) }, "no id of its own"},
		"a place before line 1": {func(d string) {
			replace(t, filepath.Join(d, "golden.json"), `"line_start": 46`, `"line_start": 0`)
		}, "G1: its place"},
		"an unknown category": {func(d string) { replace(t, filepath.Join(d, "golden.json"), `"style"`, `"taste"`) }, `category "taste" is none of`},
		"an unknown severity": {func(d string) {
			replace(t, filepath.Join(d, "golden.json"), `"severity": null`, `"severity": "dire"`)
		}, `severity "dire" is none of`},
		"another base tree": {func(d string) {
			repack(t, filepath.Join(d, "base.tar.gz"), func(n, s string) (string, bool) {
				return s + map[bool]string{true: "\n// planted\n"}[n == changed], true
			})
		}, "the base tree is not the one of pr.diff: " + changed + ": its object id is not "},
		"a base tree without a changed file": {func(d string) {
			repack(t, filepath.Join(d, "base.tar.gz"), func(n, s string) (string, bool) { return s, n != changed })
		}, changed + ": it is missing"},
		"a base tree that explodes": {func(d string) {
			repack(t, filepath.Join(d, "base.tar.gz"), func(n, s string) (string, bool) {
				return s + map[bool]string{true: strings.Repeat("\n", codeBytes)}[n == changed], true
			})
		}, changed + " is over 4194304 bytes"},
		"a diff that explodes": {func(d string) { _ = os.WriteFile(filepath.Join(d, "pr.diff"), make([]byte, textBytes+1), 0o666) }, "pr.diff is over"},
		"a base tree with another hash": {func(d string) {
			replace(t, filepath.Join(d, "case.json"), `"archive"`, `"sha256": "00", "archive"`)
		}, "not the one case.json names"},
		"another head":     {func(d string) { replace(t, filepath.Join(d, "case.json"), `"90262821`, `"00000000`) }, "do not give the head"},
		"another diff":     {func(d string) { replace(t, filepath.Join(d, "pr.diff"), "\n+\t", "\n+x\t") }, "has not the object id"},
		"half a diff":      {func(d string) { replace(t, filepath.Join(d, "pr.diff"), "\n@@ ", "\n@@@ ") }, "pr.diff"},
		"no archive":       {func(d string) { _ = os.Remove(filepath.Join(d, "base.tar.gz")) }, "base.tar.gz"},
		"no case.json":     {func(d string) { _ = os.Remove(filepath.Join(d, "case.json")) }, "has no folder with a case.json"},
		"a broken archive": {func(d string) { _ = os.WriteFile(filepath.Join(d, "base.tar.gz"), []byte("no gzip"), 0o666) }, "base.tar.gz"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := copyCase(t, row.change)
			if _, err := Read(dir); !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v does not say %q", err, row.says)
			}
		})
	}
	// All cases are in memory at once (threats.md T122).
	dir, _ := copyCase(t, func(string) {})
	set, err := Read(dir)
	if err != nil || set.Cases[0].kept < len(set.Cases[0].Code.Head[changed]) {
		t.Fatal(err, set)
	}
	if _, err := read(dir, set.Cases[0].kept-1); !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), "bytes of findings and code") {
		t.Errorf("%v does not say that the set is too large", err)
	}
	if _, err := read(dir, set.Cases[0].kept); err != nil {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("no folder is read")
	}
}

// TestDigests: what reviewers are given and what is expected of them are pinned apart.
func TestDigests(t *testing.T) {
	one := func(change func(dir string)) Case {
		dir, _ := copyCase(t, change)
		s, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s.Cases[0]
	}
	plain := one(func(string) {})
	again := one(func(string) {})
	golden := one(func(d string) { replace(t, filepath.Join(d, "golden.json"), "MongoDB", "Mongo") })
	title := one(func(d string) { replace(t, filepath.Join(d, "case.json"), "Fix :", "Feat:") })
	tree := one(func(d string) {
		repack(t, filepath.Join(d, "base.tar.gz"), func(n, s string) (string, bool) { return s, n != "LICENSE" })
	})
	if plain.InputDigest != again.InputDigest || plain.ExpectedDigest != again.ExpectedDigest {
		t.Error("one case, two digests")
	}
	if golden.InputDigest != plain.InputDigest || golden.ExpectedDigest == plain.ExpectedDigest {
		t.Error("another expectation is not another expectation alone")
	}
	if title.InputDigest == plain.InputDigest || tree.InputDigest == plain.InputDigest {
		t.Error("another title or tree is the same input")
	}
	if (Set{Cases: []Case{plain}}).Digest() == (Set{Cases: []Case{golden}}).Digest() {
		t.Error("another expectation is the same data")
	}
}

func TestApply(t *testing.T) {
	for name, row := range map[string]struct{ old, text, want string }{
		"a change in the middle": {"a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
		"lines around it":        {"0\na\nb\nc\nd\n", "@@ -3 +3 @@\n-b\n+B\n", "0\na\nB\nc\nd\n"},
		"an insertion alone":     {"a\nb\n", "@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n"},
		"at the very top":        {"a\n", "@@ -0,0 +1 @@\n+x\n", "x\na\n"},
		"a file without an end":  {"a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n", "a\nc"},
		"an end that is gone":    {"a\nb\n", "@@ -2 +2 @@\n-b\n+b\n\\ No newline at end of file\n", "a\nb"},
		"two hunks":              {"1\n2\n3\n4\n5\n6\n", "@@ -2 +2 @@\n-2\n+two\n@@ -5 +5,2 @@\n-5\n+five\n+more\n", "1\ntwo\n3\n4\nfive\nmore\n6\n"},
	} {
		d, err := diff.Parse("diff --git a/f b/f\nindex 1111111..2222222 100644\n--- a/f\n+++ b/f\n" + row.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := apply(row.old, &d.Files[0])
		if err != nil || got != row.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if _, err := apply("z\n"+row.old, &d.Files[0]); err == nil && strings.Contains(row.text, "\n-") {
			t.Errorf("%s: applied to another text", name)
		}
	}
}

// TestPlacesOfTheBase follows lines of the base through the diff.
func TestPlacesOfTheBase(t *testing.T) {
	d, err := diff.Parse("diff --git a/f b/f\nindex 1111111..2222222 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,4 @@\n+x\n+y\n a\n b\n")
	if err != nil {
		t.Fatal(err)
	}
	e := Expected{Anchors: []Anchor{{"f", 10, 12, Left}, {"f", 3, 3, Right}}}
	if got := (Case{Code: &Code{diff: d}}).Places(e); len(got) != 2 || got[0] != (Anchor{"f", 12, 14, Right}) || got[1].Start != 3 {
		t.Errorf("%v", got)
	}
	if got := (Case{}).Places(e); len(got) != 1 {
		t.Errorf("without a diff: %v", got)
	}
}
