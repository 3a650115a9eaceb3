package diff

import (
	"fmt"
	"strings"
	"testing"
)

func TestMapRange(t *testing.T) {
	const many = 200_000
	long := fmt.Sprintf("diff --git a/long b/long\nindex 1..2 100644\n--- a/long\n+++ b/long\n@@ -1,%d +1,%d @@\n+first\n%s", many, many+1, strings.Repeat(" same\n", many))
	d, err := Parse("diff --git a/a.go b/b.go\nsimilarity index 90%\nrename from a.go\nrename to b.go\nindex 1..2 100644\n--- a/a.go\n+++ b/b.go\n" +
		"@@ -1,6 +1,7 @@\n+zero\n one\n two\n-three\n+drei\n four\n five\n six\n" + long)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path                  string
		from, to, first, last int
		ok                    bool
	}{
		{"a.go", 1, 2, 2, 3, true},
		{"a.go", 4, 6, 5, 7, true},
		{"a.go", 5, 5, 6, 6, true},
		{"a.go", 2, 4, 0, 0, false}, // another line stands between
		{"a.go", 3, 4, 0, 0, false},
		{"a.go", 20, 25, 21, 26, true},
		{"a.go", 5, 4, 0, 0, false},
		{"other.go", 3, 9, 3, 9, true},
		{"long", 1, many, 2, many + 1, true}, // read once
	} {
		first, last, ok := d.MapRange(c.path, c.from, c.to)
		if first != c.first || last != c.last || ok != c.ok {
			t.Errorf("%s %d-%d: %d-%d %v, want %d-%d %v", c.path, c.from, c.to, first, last, ok, c.first, c.last, c.ok)
		}
	}
}

// Where lines stood, all stands now that is between the nearest ones that are as they were.
func TestAround(t *testing.T) {
	d, err := Parse("diff --git a/a.go b/b.go\nsimilarity index 90%\nrename from a.go\nrename to b.go\nindex 1..2 100644\n--- a/a.go\n+++ b/b.go\n" +
		"@@ -1,6 +1,8 @@\n+zero\n one\n two\n-three\n+drei\n+more\n four\n five\n six\n@@ -10,2 +12,0 @@\n-ten\n-eleven\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path                  string
		from, to, first, last int
	}{
		{"a.go", 1, 1, 1, 2}, {"a.go", 2, 2, 3, 5}, {"a.go", 3, 3, 4, 5}, {"a.go", 2, 3, 3, 5}, {"a.go", 4, 4, 4, 6}, {"a.go", 5, 5, 7, 7},
		{"a.go", 8, 9, 10, 11}, {"a.go", 10, 10, 12, 11}, {"a.go", 12, 13, 12, 13}, {"a.go", 20, 20, 20, 20}, {"other.go", 3, 9, 3, 9},
	} {
		if first, last := d.Around(c.path, c.from, c.to); first != c.first || last != c.last {
			t.Errorf("%s %d-%d: %d-%d, want %d-%d", c.path, c.from, c.to, first, last, c.first, c.last)
		}
	}
}
