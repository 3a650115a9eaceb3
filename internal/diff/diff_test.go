package diff

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `diff --git a/a.go b/a.go
index 1111111..2222222 100644
--- a/a.go
+++ b/a.go
@@ -1,4 +1,5 @@ package a
 one
-two
+zwei
+zweieinhalb
 three
 four
@@ -10,2 +11,1 @@
 ten
-eleven
\ No newline at end of file
diff --git a/old name.txt b/new name.txt
similarity index 90%
rename from old name.txt
rename to new name.txt
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/pic.png b/pic.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/pic.png differ
diff --git "a/t\303\244b\n.txt" "b/t\303\244b\n.txt"
deleted file mode 100644
index 4444444..0000000
--- "a/t\303\244b\n.txt"
+++ /dev/null
@@ -1 +0,0 @@
-gone
`

func parse(t *testing.T, text string) *Diff {
	t.Helper()
	d, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParseReadsWhatGitPrints(t *testing.T) {
	d := parse(t, sample)
	type row struct {
		Path, OldPath string
		Change        Change
		Old, New      uint32
		Binary        bool
		Add, Del      int
		Hunks         int
	}
	var got []row
	for _, f := range d.Files {
		got = append(got, row{f.Path, f.OldPath, f.Change, f.OldMode, f.NewMode, f.Binary, f.Additions, f.Deletions, len(f.Hunks)})
	}
	want := []row{
		{Path: "a.go", Change: Modified, Old: 0o100644, Add: 2, Del: 2, Hunks: 2},
		{Path: "new name.txt", OldPath: "old name.txt", Change: Renamed},
		{Path: "run.sh", Change: Modified, Old: 0o100644, New: 0o100755},
		{Path: "pic.png", Change: Added, New: 0o100644, Binary: true},
		{Path: "täb\n.txt", Change: Deleted, Old: 0o100644, Del: 1, Hunks: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d.Additions != 2 || d.Deletions != 3 || d.Hunks != 3 {
		t.Errorf("sums: +%d -%d in %d hunks, want +2 -3 in 3", d.Additions, d.Deletions, d.Hunks)
	}
	if d.Raw() != sample {
		t.Error("the files' raw text does not add up to the diff")
	}
	if h := d.Files[0].Hunks[0]; h.Section != "package a" || !strings.HasPrefix(d.Files[0].Header(), "diff --git") {
		t.Errorf("section %q, header %q", h.Section, d.Files[0].Header())
	}
	var lines []string
	for l := range d.Files[0].Hunks[1].Lines() {
		lines = append(lines, fmt.Sprintf("%c%s %d %d %v", l.Op, l.Text, l.Old, l.New, l.NoEOL))
	}
	if diff := cmp.Diff([]string{" ten 10 11 false", "-eleven 11 0 true"}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	cut := strings.Index(sample, " four\n")
	for name, row := range map[string]struct {
		text string
		want error
		line int
	}{
		"a combined diff, which go-gitdiff reads as no files (libraries 8)": {"diff --cc a.go\nindex 1,2..3\n--- a/a.go\n+++ b/a.go\n@@@ -1,1 -1,1 +1,1 @@@\n++x\n", ErrCombined, 1},
		"a combined hunk in a plain file":                                   {"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@@ -1,1 -1,1 +1,1 @@@\n++x\n", ErrCombined, 4},
		"a diff cut within a hunk, which both parsers accept (libraries 8)": {sample[:cut], ErrTruncated, 11},
		"a diff cut within a line":                                          {sample[:cut+3], ErrTruncated, 11},
		"a hunk cut short by the next hunk":                                 {"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n x\n@@ -9 +9 @@\n-x\n+y\n", ErrTruncated, 6},
		"a header cut within a line":                                        {"diff --git a/a b/a", ErrTruncated, 1},
		"text before the first file":                                        {"hello\n" + sample, ErrMalformed, 1},
		"more lines than the header promises":                               {"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n+z\n", ErrMalformed, 7},
		"a line with no mark":                                               {"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\nhello\n", ErrMalformed, 6},
		"a line number that overflows":                                      {"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,99999999999999999999 +1 @@\n-x\n", ErrMalformed, 4},
		"two notes about a missing line feed":                               {"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-x\n\\ No\n\\ No\n-y\n", ErrMalformed, 7},
	} {
		_, err := Parse(row.text)
		var e *Error
		if !errors.Is(err, row.want) || !errors.As(err, &e) || e.Line != row.line {
			t.Errorf("%s: %v, want %v at line %d", name, err, row.want, row.line)
		}
	}
	if err := parse(t, sample).Check(6); !errors.Is(err, ErrIncomplete) {
		t.Errorf("a diff cut between two files is not found by counting: %v", err)
	}
}

func TestAnchoredAndTouched(t *testing.T) {
	d := parse(t, sample)
	for line, want := range map[int][2]bool{0: {}, 1: {true, false}, 2: {true, true}, 3: {true, true}, 5: {true, false}, 6: {}, 11: {true, false}, 12: {}} {
		if got := [2]bool{d.Anchored("a.go", line), d.Touched("a.go", line)}; got != want {
			t.Errorf("line %d: anchored, touched = %v, want %v", line, got, want)
		}
	}
	if d.Anchored("täb\n.txt", 1) || d.Anchored("nowhere", 1) || d.Touched("nowhere", 1) {
		t.Error("deleted and unchanged files have no lines in the diff")
	}
	var added []string
	for l := range d.Files[0].Added() {
		added = append(added, fmt.Sprint(l.New, " ", l.Text))
	}
	if diff := cmp.Diff([]string{"2 zwei", "3 zweieinhalb"}, added); diff != "" {
		t.Error(diff)
	}
}

func TestMapLineTable(t *testing.T) {
	d := parse(t, sample)
	for _, row := range []struct {
		says string
		path string
		line int
		to   string
		want int
		ok   bool
	}{
		{"a line before every change stays", "a.go", 1, "a.go", 1, true},
		{"a removed line is gone; its place is where the new text begins", "a.go", 2, "a.go", 2, false},
		{"a context line after an insertion moves", "a.go", 3, "a.go", 4, true},
		{"a line between hunks moves by the sum so far", "a.go", 7, "a.go", 8, true},
		{"a renamed file is followed", "old name.txt", 3, "new name.txt", 3, true},
		{"a deleted file is gone", "täb\n.txt", 1, "täb\n.txt", 1, false},
		{"a file the diff does not name is unchanged", "b.go", 9, "b.go", 9, true},
		{"a new binary file has no old lines, so the old name is another file's", "pic.png", 1, "pic.png", 1, true},
	} {
		to, line, ok := d.MapLine(row.path, row.line)
		if to != row.to || line != row.want || ok != row.ok {
			t.Errorf("%s: %s:%d -> %s:%d %v, want %s:%d %v", row.says, row.path, row.line, to, line, ok, row.to, row.want, row.ok)
		}
	}
}

// Random edits of files with unique lines: git's own diff must map each surviving line to where it really is.
func TestMapLineAgreesWithGit(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 25 {
		var old, head []string
		at := map[string]int{}
		for i := range 40 + rnd.IntN(60) {
			line := fmt.Sprintf("line %d", i)
			old = append(old, line)
			if rnd.IntN(8) == 0 {
				continue
			}
			for rnd.IntN(7) == 0 {
				head = append(head, fmt.Sprintf("new %d", rnd.Int()))
			}
			head = append(head, line)
			at[line] = len(head)
		}
		write(t, filepath.Join(dir, "old"), strings.Join(old, "\n")+"\n")
		write(t, filepath.Join(dir, "new"), strings.Join(head, "\n")+"\n")
		cmd := exec.Command("git", "diff", "--no-index", "--no-color", "--no-ext-diff", fmt.Sprintf("-U%d", round%4), "old", "new")
		cmd.Dir = dir
		out, _ := cmd.Output() // exit status 1 says "they differ"
		if len(out) == 0 {
			t.Fatal("git printed no diff")
		}
		f := &parse(t, string(out)).Files[0]
		for i, line := range old {
			want, kept := at[line]
			got, ok := f.MapLine(i + 1)
			if ok != kept || (kept && got != want) {
				t.Fatalf("round %d: %q at %d -> %d %v, want %d %v\n%s", round, line, i+1, got, ok, want, kept, out)
			}
		}
	}
}

// What a change wrote is changed, and so are the lines on both sides of what it took away; what only moved is not.
func TestChanged(t *testing.T) {
	for _, row := range []struct {
		says, hunk string
		want       [][2]int
	}{
		{"lines that were put in", "@@ -1,3 +1,5 @@\n a\n+x\n+y\n b\n c\n", [][2]int{{2, 3}}},
		{"a line that was taken away", "@@ -1,4 +1,3 @@\n a\n b\n-x\n c\n", [][2]int{{2, 3}}},
		{"a line that was replaced", "@@ -1,5 +1,5 @@\n a\n b\n-x\n+y\n c\n d\n", [][2]int{{2, 4}}},
		{"without lines around", "@@ -3 +2,0 @@\n-x\n@@ -9,0 +9 @@\n+y\n", [][2]int{{2, 3}, {9, 9}}},
		{"the last lines", "@@ -1,3 +1 @@\n a\n-b\n-c\n", [][2]int{{1, 2}}},
	} {
		f := &parse(t, "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n"+row.hunk).Files[0]
		if got, ok := f.Changed(); !ok || !cmp.Equal(got, row.want) {
			t.Errorf("%s: %v %v, want %v", row.says, got, ok, row.want)
		}
	}
	if _, ok := (&File{Binary: true}).Changed(); ok {
		t.Error("a binary file has lines")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
