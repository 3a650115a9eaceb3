package diff

import "testing"

// A comment stands on lines of one hunk, as GitHub shows them: added and context lines of the head version.
func TestPlace(t *testing.T) {
	d, err := Parse("diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -10,3 +10,4 @@\n ten\n+eleven\n twelve\n thirteen\n" +
		"@@ -30,40 +31,0 @@\n" + lines("-gone\n", 40) + "@@ -90,1 +51,40 @@\n-old\n" + lines("+new\n", 40) +
		"diff --git a/gone.go b/gone.go\ndeleted file mode 100644\nindex 1..0\n--- a/gone.go\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what        string
		file        string
		first, last int
		want        Place
		ok          bool
	}{
		{"an added line", "a.go", 11, 0, Place{Line: 11}, true},
		{"a context line", "a.go", 13, 0, Place{Line: 13}, true},
		{"several lines", "a.go", 10, 12, Place{Start: 10, Line: 12}, true},
		{"lines that begin before the hunk", "a.go", 5, 11, Place{Start: 10, Line: 11}, true},
		{"lines that end behind it", "a.go", 13, 20, Place{Line: 13}, true},
		{"lines of two hunks stand in the first", "a.go", 12, 60, Place{Start: 12, Line: 13}, true},
		{"more lines than people read", "a.go", 51, 90, Place{Start: 51, Line: 70}, true},
		{"an end before the beginning", "a.go", 11, 3, Place{Line: 11}, true},
		{"a line before all hunks", "a.go", 9, 0, Place{}, false},
		{"a line between hunks", "a.go", 14, 30, Place{}, false},
		{"where lines were only taken away", "a.go", 31, 0, Place{}, false},
		{"no line", "a.go", 0, 0, Place{}, false},
		{"a file that is gone", "gone.go", 1, 0, Place{}, false},
	} {
		got, ok := d.File(c.file).Place(c.first, c.last)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %t; want %+v, %t", c.what, got, ok, c.want, c.ok)
		}
	}
	if _, ok := (&File{Binary: true}).Place(1, 1); ok {
		t.Error("a binary file has a place")
	}
}

func lines(line string, n int) (out string) {
	for range n {
		out += line
	}
	return out
}
