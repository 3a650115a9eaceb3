package diff

import (
	"strings"
	"testing"
)

// No text makes the reader panic, and what it accepts adds up: lines against hunk headers, hunks against files, raw text
// against the input.
func FuzzDiff(f *testing.F) {
	f.Add(sample)
	f.Add("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n\n")
	f.Add("diff --cc a.go\n@@@ -1 -1 +1 @@@\n++x\n")
	f.Add("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		var add, del, hunks int
		for i := range d.Files {
			file := &d.Files[i]
			add, del, hunks = add+file.Additions, del+file.Deletions, hunks+len(file.Hunks)
			for j := range file.Hunks {
				checkHunk(t, &file.Hunks[j])
			}
			if file.Path == "" {
				t.Fatal("a file without a name")
			}
			d.MapLine(file.Path, 7)
			d.Touched(file.Path, 7)
		}
		if add != d.Additions || del != d.Deletions || hunks != d.Hunks {
			t.Fatal("sums do not add up")
		}
		if d.Raw() != text {
			t.Fatal("raw text was lost")
		}
	})
}

func checkHunk(t *testing.T, h *Hunk) {
	var old, head, add, del int
	for l := range h.Lines() {
		switch l.Op {
		case '+':
			head++
			add++
		case '-':
			old++
			del++
		case ' ':
			old++
			head++
		default:
			t.Fatalf("a line that is neither added, removed nor context: %q", l.Op)
		}
		if strings.Contains(l.Text, "\n") {
			t.Fatal("a line of two lines")
		}
	}
	if old != h.OldLines || head != h.NewLines || add != h.Additions || del != h.Deletions {
		t.Fatalf("hunk %q has %d old and %d new lines", h.Raw, old, head)
	}
}
