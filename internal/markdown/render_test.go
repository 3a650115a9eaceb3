package markdown

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// Every report golden of package report is shown at two widths; the goldens are read in review.
func TestGoldenReports(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, file := range files {
		for width, suffix := range map[int]string{80: ".80.txt", 120: ".120.txt"} {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := Render(string(src), Options{Width: width})
			golden := strings.TrimSuffix(file, ".md") + suffix
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s:\n%s", golden, diff)
			}
		}
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	src := "# A title\n\nA paragraph with a word that is far too long for the line: " + strings.Repeat("x", 200) +
		" and 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字.\n\n> quoted " + strings.Repeat("words and ", 30) +
		"\n\n- item " + strings.Repeat("words and ", 30) + "\n\n| a | b |\n| --- | --- |\n| " + strings.Repeat("cell ", 40) + " | x |\n"
	for _, width := range []int{40, 80, 120} {
		for l := range strings.SplitSeq(Render(src, Options{Width: width}), "\n") {
			if columns(l) > width {
				t.Errorf("width %d: a line has %d columns: %s", width, columns(l), l)
			}
		}
	}
}

// A line ends where the source's does, as GitHub shows comments; a table's cell and a code span stay in one line.
func TestLinesEndWhereTheSourceEnds(t *testing.T) {
	got := Render("- `A` fixed\n  Done: all `of\nit` is\n\n> one\n> two\n\nthree\nfour\n", Options{Width: 80})
	want := "• A fixed\n  Done: all of it is\n\n│ one\n│ two\n\nthree\nfour\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNoEscapesWithoutColor(t *testing.T) {
	src := "# T\n\n**b** `c` *i* [l](https://github.com/o/r)\n\n```go\nx := 1\n```\n"
	if got := Render(src, Options{}); strings.ContainsRune(got, 0x1b) {
		t.Errorf("NO_COLOR output holds escapes: %q", got)
	}
	if got := Render(src, Options{Color: true}); !strings.Contains(got, "\x1b[1;36mT\x1b[0m") {
		t.Errorf("a title is not coloured: %q", got)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("# a\n\n- b\n\n> c\n\n| a |\n| - |\n| b |\n\n<details>\n<summary>s</summary>\n\nx\n\n</details>\n")
	f.Add("<details>\n</details></details>\n\n* * *\n")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 10_000 {
			return
		}
		got := Render(s, Options{Width: 60})
		if strings.Count(got, "\x1b") > strings.Count(s, "\x1b") {
			t.Error("an escape sequence that was not in the source")
		}
	})
}
