package masks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/sanitize"
)

// A fix that takes a value out brings no mask in, in whatever file; code that speaks of masks may stay, move and come (threats.md T792).
func TestFixesThatWriteMasks(t *testing.T) {
	const value, mask, own = `dsn = "postgres://app:q7Rz2Lm9Xc4Vb8Nt1Wk6Qp3x@db.corp.io/x"`, `dsn = "postgres://app:[REDACTED]@db.corp.io/x"`, `say("[REDACTED]")`
	for _, row := range []struct {
		says  string
		files []string
		want  []int
	}{
		{"over the value", []string{"-" + value + "\n+" + mask}, []int{0}},
		{"in another file", []string{"-" + value, "+" + mask, "+done()"}, []int{1}},
		{"in a file before", []string{"+" + mask, "-" + value}, []int{0}},
		{"behind the sign of a comment", []string{"--- " + value + "\n+-- " + mask}, []int{0}},
		{"where none was", []string{"-say(1)\n+" + own}, nil},
		{"where the value stays", []string{" " + value + "\n+" + mask}, nil},
		{"in a line that moves", []string{"-" + value + "\n-  " + own, "+" + own}, nil},
		{"in one that comes twice", []string{"-" + value + "\n-" + own, "+" + own, "+" + own}, []int{2}},
	} {
		var raw, shown []string
		for _, lines := range row.files {
			raw = append(raw, "--- a/x\n+++ b/[REDACTED]\n@@ -1 +1 @@\n"+lines+"\n")
			shown = append(shown, (&sanitize.Learned{}).MaskDiff(raw[len(raw)-1], nil))
		}
		if d := cmp.Diff(row.want, Overwriting(raw, shown)); d != "" {
			t.Errorf("%s: %s", row.says, d)
		}
	}
}
