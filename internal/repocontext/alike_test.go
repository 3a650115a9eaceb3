package repocontext

import "testing"

// Two words that differ in bytes that are no UTF-8 are shown alike, so nobody can have read which of them stands there.
func TestWordsThatReadAlike(t *testing.T) {
	const both = "<?php\nfunction \xe8() { check(); }\nfunction \xe9() { system($_GET['c']); }\n"
	for _, row := range []struct{ says, before, after, text, want string }{
		{"one becomes the other", both + "\xe8();\n", both + "\xe9();\n", oneLineChange("a.php", 4, "\xe8();", "\xe9();"), OmittedEncoding},
		{"in the same change", "\n", "x(\xe8, \xe9)\n", oneLineChange("a.php", 1, "", "x(\xe8, \xe9)"), OmittedEncoding},
		{"the other is elsewhere in the file", both + "\n", both + "\xe9();\n", oneLineChange("a.php", 4, "", "\xe9();"), OmittedEncoding},
		{"beside the character that replaces it", "\n", "f(\ufffd, \xe9)\n", oneLineChange("a.php", 1, "", "f(\ufffd, \xe9)"), OmittedEncoding},
		{"the same word", "caf\xe9\nx\n", "caf\xe9\ncaf\xe9()\n", oneLineChange("a.php", 2, "x", "caf\xe9()"), ""},
		{"words that differ in letters too", "caf\xe9\nx\n", "caf\xe9\ntr\xe8s\n", oneLineChange("a.php", 2, "x", "tr\xe8s"), ""},
		{"not in what has changed", both + "x\n", both + "y\n", oneLineChange("a.php", 4, "x", "y"), ""},
		{"UTF-8", "è\n", "é\n", oneLineChange("a.php", 1, "è", "é"), ""},
	} {
		src := &memory{files: map[string]map[string]string{baseID: {"a.php": row.before}, headID: {"a.php": row.after}}}
		if f := build(t, src, row.text, Options{}).Files[0]; f.Omitted != row.want || f.Excused {
			t.Errorf("%s: omitted %q, excused %v; want %q", row.says, f.Omitted, f.Excused, row.want)
		}
	}
}
