package repocontext

import (
	"strings"
	"testing"
)

// A byte that is no UTF-8 is shown by its number, so that no two words are shown alike, wherever they stand; what the text has itself that is written so keeps it unread
// (threats.md T805).
func TestBytesAreShownByTheirNumbers(t *testing.T) {
	for _, row := range []struct{ says, before, after, text, shown, want string }{
		{"a word", "x\n", "caf\xe9()\n", oneLineChange("a.php", 1, "x", "caf\xe9()"), "+caf⟨0xE9⟩()\n", ""},
		{"one word becomes another", "\xe8();\n", "\xe9();\n", oneLineChange("a.php", 1, "\xe8();", "\xe9();"), "-⟨0xE8⟩();\n+⟨0xE9⟩();\n", ""},
		{"beside the character that others write for it", "\n", "f(\ufffd, \xe9)\n", oneLineChange("a.php", 1, "", "f(\ufffd, \xe9)"), "+f(\ufffd, ⟨0xE9⟩)\n", ""},
		{"UTF-8", "è\n", "é\n", oneLineChange("a.php", 1, "è", "é"), "+é\n", ""},
		{"what is written like a byte", "x\n", "caf⟨0xE9⟩()\n", oneLineChange("a.php", 1, "x", "caf⟨0xE9⟩()"), "", OmittedSpelled},
	} {
		src := &memory{files: map[string]map[string]string{baseID: {"a.php": row.before}, headID: {"a.php": row.after}}}
		if f := build(t, src, row.text, Options{}).Files[0]; f.Omitted != row.want || f.Excused || !strings.Contains(f.Diff, row.shown) {
			t.Errorf("%s: omitted %q, excused %v, %q; want %q", row.says, f.Omitted, f.Excused, f.Diff, row.want)
		}
	}
}
