package diff

import (
	"strings"
	"testing"
)

// What a line holds counts, and not that git sees one (threats.md T784).
func TestSize(t *testing.T) {
	d, err := Parse("diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n-old\n+" + strings.Repeat("f()\r", 300) + "\n same" + strings.Repeat("x", 900) + "\n-x\r\n+" + strings.Repeat("y", 1000) + "\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if f := &d.Files[0]; f.Additions+f.Deletions != 4 || f.Size() != 1+306-1+1+1+6-1 {
		t.Errorf("%d lines count for %d", f.Additions+f.Deletions, f.Size())
	}
}
