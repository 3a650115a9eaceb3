package evidence

import (
	"fmt"
	"strings"
	"testing"
)

// fileOf is a file of a text.
func fileOf(t *testing.T, text string) File {
	t.Helper()
	f, err := New(files{headSHA + ":a.go": text}, headSHA, baseSHA, nil).Read(t.Context(), headSHA, "a.go")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A quote stands for code, whatever somebody copied with it, and of several places for the one nearest a line.
func TestFind(t *testing.T) {
	f := fileOf(t, "func mean(a []int) int {\n\tn := len(a)\n\n\treturn sum(a) / n\n}\n\nfunc most(a []int) int {\n\tn := len(a)\n\treturn top(a, n)\n}\n- one\n+ two\nrun(user, \"Xk9vQ2mT7pLw\")\npassword = \"Xk9vQ2mT7pLw4rZs\"\n")
	for _, c := range []struct {
		quote string
		near  int
		read  string
		parts string
	}{
		{"n := len(a)", 1, "n := len(a)", "[[2 2]]"},
		{"n := len(a)", 9, "n := len(a)", "[[8 8]]"},
		{"`return sum(a)`", 1, "return sum(a)", "[[4 4]]"},
		{"n := len(a)\n\n\treturn sum(a)", 4, "n := len(a)\n\n\treturn sum(a)", "[[2 4]]"},
		{"+\treturn sum(a) / n", 4, "\treturn sum(a) / n", "[[4 4]]"},
		{"- return 0\n+ return sum(a) / n", 4, " return sum(a) / n", "[[4 4]]"},
		{"4 | return sum(a) / n", 4, " return sum(a) / n", "[[4 4]]"},
		{"4 +return sum(a) / n", 4, "return sum(a) / n", "[[4 4]]"},
		{"func most ... top(a, n)", 7, "func most ... top(a, n)", "[[7 7] [9 9]]"},
		{"n := len(a) ... return", 8, "n := len(a) ... return", "[[8 8] [9 9]]"},
		{"+ two", 12, "+ two", "[[12 12]]"},
		{"- one", 12, "- one", "[[11 11]]"},
		{"password = \"[REDACTED]\"", 14, "password = \"[REDACTED]\"", "[[14 14] [14 14]]"},
		{"[REDACTED]", 13, "[REDACTED]", "[]"},
		{"if len(a) == 0 {", 2, "", "[]"},
		{"-if len(a) == 0 {\n-}", 2, "", "[]"},
		{"", 2, "", "[]"},
	} {
		read, parts := f.Find(c.quote, c.near)
		if read != c.read || fmt.Sprint(parts) != c.parts {
			t.Errorf("%q near %d: %q %v", c.quote, c.near, read, parts)
		}
	}
	if read, _ := (File{}).Find("one", 1); read != "" {
		t.Error("no file")
	}
	if _, parts := fileOf(t, strings.Repeat("a ... b\n", 100_000)).Find("a ... b", 99_999); len(parts) == 0 {
		t.Error("a file that repeats itself")
	}
}

// Whole lines stand in others whatever white space somebody changes, and not where these say more.
func TestKeeps(t *testing.T) {
	old := fileOf(t, "one\n\treturn sum(a)/len(a)\r\nthree\n\nfive\n")
	for _, c := range []struct {
		lines [2]int
		now   string
		want  bool
	}{
		{[2]int{2, 2}, "new\nreturn sum(a) / len(a)\nthree\n", true},
		{[2]int{2, 2}, "return sum(a) /\nlen(a)\n", true},
		{[2]int{2, 2}, "return sum(a) \\\n/ len(a)\n", true},
		{[2]int{2, 2}, "one return sum(a)/len(a) three\n", true},
		{[2]int{2, 3}, "return sum(a)/len(a) three five\n", true},
		{[2]int{4, 4}, "\n\n", true},
		{[2]int{2, 2}, "zero\rreturn sum(a)/len(a)\rthree\r", true},
		{[2]int{2, 2}, "zero\rreturn sum(a)/len(a) + 1\rthree\r", false},
		{[2]int{4, 4}, "guard\n", false},
		{[2]int{2, 2}, "return sum(a)/len(a) + 1\n", false},
		{[2]int{2, 2}, "x := 1; return sum(a)/len(a)\n", false},
		{[2]int{2, 2}, "x; return sum(a)/len(a)\nreturn sum(a)/len(a)\n", true},
		{[2]int{2, 3}, "return sum(a)/len(a)\n", false},
		{[2]int{2, 2}, "", false},
	} {
		if now := fileOf(t, c.now); now.Keeps(old, c.lines, 1, 9) != c.want {
			t.Errorf("%v in %q: want %v", c.lines, c.now, c.want)
		}
	}
	if now := fileOf(t, "\nfive\n"); now.Keeps(old, [2]int{5, 5}, 1, 1) || !now.Keeps(old, [2]int{5, 5}, 2, 2) || (File{}).Keeps(old, [2]int{4, 4}, 1, 9) {
		t.Error("lines of a file")
	}
}

// Of what stands in more places than are looked at nobody knows whether it is as it was, so it counts as kept, and as nothing that was restored.
func TestMostPlacesOfALine(t *testing.T) {
	old := fileOf(t, "one\n")
	for _, n := range []int{mostPlaces, mostPlaces + 1} {
		now := fileOf(t, strings.Repeat("one x ", n)+"\n")
		if many := n > mostPlaces; now.Keeps(old, [2]int{1, 1}, 1, 1) != many || now.Restored("one") {
			t.Errorf("%d places: kept %v, restored %v", n, now.Keeps(old, [2]int{1, 1}, 1, 1), now.Restored("one"))
		}
	}
}

// What was taken away is restored where it makes whole lines again.
func TestRestored(t *testing.T) {
	f := fileOf(t, "if a {\n\treturn\n}\n// if b {\n")
	for quote, want := range map[string]bool{"if a {\n  return\n}": true, "- if a {\n+ if c {\n-   return": true, "if b {": false, "-if b {": false, "": false, "+": false} {
		if f.Restored(quote) != want {
			t.Errorf("%q: want %v", quote, want)
		}
	}
}

// Lines that differ in white space at their ends are the same, and blank ones are none.
func TestLines(t *testing.T) {
	f := fileOf(t, "one\n\ttwo \r\n \nthree\nfour")
	for lines, want := range map[[2]int]string{{-3, 2}: "one|\ttwo", {2, 4}: "\ttwo|three", {3, 3}: "", {5, 9}: "four", {9, 12}: ""} {
		if got := strings.Join(f.Lines(lines[0], lines[1]), "|"); got != want {
			t.Errorf("%v: %q", lines, got)
		}
	}
	if (File{}).Lines(1, 9) != nil || !f.Same(f) || f.Same(fileOf(t, "one")) || f.Same(File{}) {
		t.Error("what is there, and the same")
	}
}
