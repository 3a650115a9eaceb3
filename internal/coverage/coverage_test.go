package coverage

import (
	"testing"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// A program in GBK can call exec in letters of full width, of which a model is shown eight times the character for nothing it could read.
func TestLettersInAnotherEncodingAreUnread(t *testing.T) {
	for line, unread := range map[string]bool{
		"+\xa3\xe5\xa3\xf8\xa3\xe5\xa3\xe3(cmd)": true, "-if \xd2\xd1\xca\xda\xc8\xa8(x):": true, "+# caf\xe9": false, "+na\xefve(\xe9)": false, "+caf\u00e9 \u4f60\u597d": false,
	} {
		f := review.BriefFile{Path: "a.py", Hunks: 1, HunksGiven: 1}
		f.Additions, f.Deletions = 1, 0
		hunk := "@@ -1 +1,2 @@\n \xa3\xe5\n"
		if line[0] == '-' {
			f.Additions, f.Deletions, hunk = 0, 1, "@@ -1,2 +1 @@\n \xa3\xe5\n"
		}
		f.Diff = spelling.Text("diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n" + hunk + line + "\n")
		c := Of(review.Brief{Files: []review.BriefFile{f}}, [][]string{nil}, nil, 1, nil)
		if got := len(c.Unread()) == 1; got != unread || got == (len(c.Reviewed) == 1) {
			t.Errorf("%q: unread %v, want %v", line, got, unread)
		}
	}
}

// What goes and what comes in its place have one name between them, and are read or not each for itself.
func TestTwoEntriesOfOneName(t *testing.T) {
	gone := review.BriefFile{Path: "vendor/a.py", Change: string(diff.Deleted), Omitted: "vendored", Excused: true}
	come := review.BriefFile{Path: "vendor/a.py", Change: string(diff.Added), Additions: 1, Hunks: 1, HunksGiven: 1,
		Diff: "diff --git a/vendor/a.py b/vendor/a.py\nnew file mode 120000\n--- /dev/null\n+++ b/vendor/a.py\n@@ -0,0 +1 @@\n+../b.py\n\\ No newline at end of file\n"}
	b := review.Brief{Files: []review.BriefFile{gone, come}}
	if c := Of(b, [][]string{Missed(b)}, nil, 1, nil); len(c.LeftOut) != 1 || len(c.Reviewed) != 1 {
		t.Errorf("%+v", c)
	}
	short := come
	short.Diff = ""
	if c := Of(b, [][]string{Missed(review.Brief{Files: []review.BriefFile{gone, short}})}, nil, 1, nil); len(c.Unread()) != 1 {
		t.Errorf("%+v", c)
	}
}
