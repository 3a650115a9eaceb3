package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// plainly is what inMargins answers, found by trying all beginnings to the end, with is as it reads in words.
func plainly(lines []shownLine, quote string) bool {
	is := func(l shownLine, quoted string, last bool) bool {
		read := []string{quoted}
		if rest, ok := strings.CutPrefix(quoted, strconv.Itoa(l.number)); ok && l.number > 0 {
			rest = strings.TrimLeft(rest, " ")
			read = append(read, rest, strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(rest, "|"), ":"), " "))
		}
		for _, s := range read {
			if rest, ok := strings.CutPrefix(s, l.mark); ok && l.mark != "" {
				read = append(read, strings.TrimLeft(rest, " "))
			}
		}
		return slices.ContainsFunc(read, func(s string) bool { return s == l.text || last && s != "" && strings.HasPrefix(l.text, s) })
	}
	stands := func(lines []shownLine, quoted []string) (n int) {
		for i, q := range quoted {
			for n < len(lines) && lines[n].text == "" && !is(lines[n], q, false) {
				n++
			}
			if n == len(lines) || !is(lines[n], q, i == len(quoted)-1) {
				return 0
			}
			n++
		}
		return n
	}
	found := false
	for part := range strings.SplitSeq(quote, "...") {
		var quoted []string
		for line := range strings.Lines(part) {
			if line = foldLine(line); line != "" {
				quoted = append(quoted, line)
			}
		}
		if len(quoted) == 0 {
			continue
		}
		n, at := 0, 0
		for ; n == 0 && at < len(lines); at++ {
			n = stands(lines[at:], quoted)
		}
		if n == 0 {
			return false
		}
		lines, found = lines[at-1+n:], true
	}
	return found
}

func TestMarginsAreReadAsBefore(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "", "a", "b", "ab", "1", "12", "3 a", "+", "+a", "- b", "| a"})
	rapid.Check(t, func(t *rapid.T) {
		var lines []shownLine
		numbered, marked := rapid.Bool().Draw(t, "numbered"), rapid.Bool().Draw(t, "marked")
		for i, text := range rapid.SliceOfN(word, 0, 14).Draw(t, "lines") {
			l := shownLine{text: text}
			if numbered {
				l.number = i + 1
			}
			if marked {
				l.mark = rapid.SampledFrom([]string{"", "+", "-"}).Draw(t, "mark")
			}
			lines = append(lines, l)
		}
		var quote []string
		from := rapid.IntRange(0, len(lines)).Draw(t, "from")
		for _, l := range lines[from:rapid.IntRange(from, len(lines)).Draw(t, "to")] {
			margin := rapid.SampledFrom([]string{"", "", strconv.Itoa(l.number), strconv.Itoa(l.number) + " | ", strconv.Itoa(l.number) + " " + l.mark, l.mark + " "}).Draw(t, "margin")
			quote = append(quote, margin+l.text)
			if rapid.IntRange(0, 5).Draw(t, "more") == 0 {
				quote = append(quote, rapid.SampledFrom([]string{"...", "a", "b", "2", "-"}).Draw(t, "line"))
			}
		}
		said := strings.Join(quote, "\n")
		if got, want := (&search{left: vainMost}).inMargins(lines, said), plainly(lines, said); got != want {
			t.Fatalf("%v, want %v: %q in %+v", got, want, said, lines)
		}
	})
}

// However a file and a quote repeat themselves, a quote that is nowhere is looked for in few steps; blank lines cost none. What was not compared to
// the end is held against nobody, and no search outlives its run.
func TestWorkOnAQuoteIsBounded(t *testing.T) {
	const many = 20_000
	for _, row := range []struct {
		what, file, quote string
		spent             int
		want              Status
	}{
		{"blank lines", strings.Repeat("\n", many), "nowhere\nat all", 0, False},
		{"blank lines behind a beginning", strings.Repeat("a\n\n", many), "a\nnowhere", 2 * many, False},
		{"a quote that begins as the file does", strings.Repeat("a\n", many), strings.Repeat("a\n", 50) + "nowhere", 50 * many, None},
		{"a long one", strings.Repeat("a\n", many), strings.Repeat("a\n", many/2) + "nowhere", vainMost, None},
		{"a part of a word", strings.Repeat("a", 50*many), strings.Repeat("a", many) + " ... nowhere", vainMost, None},
		{"too many lines", strings.Repeat("\n", linesMost+1), "nowhere", vainMost, None},
		{"one that stands there", strings.Repeat("a\n", many) + "b\n", "1 a\n2 a\n3 a", 2, Verified},
	} {
		s := search{left: vainMost}
		s.copied(fileLines(&source{text: row.file}, true), row.quote)
		if spent := vainMost - s.left; spent > min(row.spent, vainMost)+2*len(row.quote) {
			t.Errorf("%s: %d steps", row.what, spent)
		}
		c := New(files{headSHA + ":a.go": row.file}, headSHA, baseSHA, nil)
		f := review.Finding{File: "a.go", Evidence: row.quote}
		if ev, err := c.check(t.Context(), f, true); err != nil || ev.Status != row.want {
			t.Errorf("%s: %+v, %v", row.what, ev, err)
		}
		over, end := context.WithCancel(t.Context())
		end()
		if _, err := c.check(over, f, true); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", row.what, err)
		}
	}
}

// Beginnings that are not it do not make a quote of a secret false, however many a change puts before it.
func TestDecoysBeforeASecret(t *testing.T) {
	history := files{headSHA + ":a.go": strings.Repeat("key = \"b\"; ", 2*quoteTries) + strings.Repeat("b ", maskedMost) + "key = \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\" // ours"}
	for quote, want := range map[string]Status{"key = \"[REDACTED]\" // ours": None, "key = \"[REDACTED]\" // ours\nnowhere": None, "keys = \"[REDACTED]\" // ours": False} {
		ev, err := New(history, headSHA, baseSHA, nil).check(t.Context(), review.Finding{File: "a.go", Evidence: quote}, true)
		if err != nil || ev.Status != want {
			t.Errorf("%s: %+v, %v", quote, ev, err)
		}
	}
}

// Masks one after the other through a whole file are tried at so many places, and no further, as honest quotes need.
func TestWorkOnMasksIsBounded(t *testing.T) {
	for _, row := range []struct {
		what, text, quote string
		want              bool
	}{
		{"far apart", strings.Repeat("a"+strings.Repeat("b", 4000), 2000), strings.Repeat("a"+sanitize.Redacted, 1900) + "a", false},
		{"behind many places that are not it", strings.Repeat("key = b; ", 90) + "key = \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\"", "key = \"[REDACTED]\"", true},
	} {
		if got, all, tried := new(search).around(Fold(row.text), strings.Split(row.quote, sanitize.Redacted)); got != row.want || all != row.want || tried > 2*triedMost {
			t.Errorf("%s: %v, %v in %d bytes", row.what, got, all, tried)
		}
	}
}

// The rules for secrets, which are slow, read no more for a whole answer than honest quotes need, and nothing twice for one claim. What they
// do not read is held against nobody.
func TestWorkOfTheRulesIsBounded(t *testing.T) {
	part := strings.Repeat("token: ", 500) + " zq "
	const secret = "key = \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\" // ours"
	text := strings.Repeat(part, triedMost/len(part)) + "\n" + secret + "\n"
	history := files{headSHA + ":a.go": text, baseSHA + ":a.go": text}
	c := New(history, headSHA, baseSHA, []review.BriefFile{{Path: "a.go"}})
	status := func(quote string) Status {
		ev, _, err := c.Place(t.Context(), &review.Finding{File: "a.go", Evidence: quote}, true)
		if err != nil {
			t.Fatal(err)
		}
		return ev.Status
	}
	for i := range 20 {
		quote := fmt.Sprint("zq", strings.Repeat(" [REDACTED] zq", 30*(i+1)))
		got, ruled := status(quote), c.ruled
		if got == False || status(quote) != got || c.ruled != ruled {
			t.Errorf("%d: %s, and again %s", i, got, status(quote))
		}
	}
	if c.ruled > ruledMost || c.ruled < ruledMost/2 {
		t.Errorf("the rules read %d bytes", c.ruled)
	}
	c.ruled = ruledMost
	const said, other = "key = \"[REDACTED]\" // ours", "key = \"[REDACTED]\" // theirs"
	fact := review.Fact{File: "a.go", Evidence: "token: zq " + said}
	if is, err := c.Fact(t.Context(), &fact, review.Finding{}); err != nil || is.Status != None || status(said) != None || status(other) != False {
		t.Errorf("afterwards: %+v, %v; %s, %s", is, err, status(said), status(other))
	}
	head, err := c.Read(t.Context(), headSHA, "a.go")
	if c = New(history, headSHA, baseSHA, nil); err != nil || !head.Quotes(said) || status(said) != Verified || status(other) != False {
		t.Errorf("of another answer: %v, %v; %s, %s", head.Quotes(said), err, status(said), status(other))
	}
	over, end := context.WithCancel(t.Context())
	end()
	if _, err := c.Fact(over, &fact, review.Finding{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A text that holds the mask itself is not where a quote with a mask is from: what the mask hides stands elsewhere, and whoever wrote the text would choose where a
// secret is reported (threats.md T462).
func TestAMaskIsNoPlace(t *testing.T) {
	history := files{headSHA + ":a.py": "import os\n\nDB = \"postgres://app:q7Rz2Lm9Xc4Vb8Nt1Wk6@db.corp.io/x\"\n\n# DB = \"postgres://app:[REDACTED]@db.corp.io/x\"\nend = 1\n"}
	const quote = "DB = \"postgres://app:[REDACTED]@db.corp.io/x\""
	for _, said := range []string{quote, "`" + quote + "`", quote + "\nend = 1", "5 | # " + quote + "\n...\nend = 1"} {
		for _, row := range [][2]int{{3, 3}, {2, 5}} {
			f := review.Finding{File: "a.py", Line: &row[0], LineEnd: &row[1], Evidence: said}
			ev, note, err := New(history, headSHA, baseSHA, nil).Place(t.Context(), &f, true)
			if err != nil || ev.Status != Verified || ev.Quoted != [2]int{} || note != "" || *f.Line != row[0] || *f.LineEnd != row[1] {
				t.Errorf("%q at %v: %+v, %d, %q, %v", said, row, ev, *f.Line, note, err)
			}
		}
	}
	fact := review.Fact{File: "a.py", Evidence: quote}
	if ev, err := New(history, headSHA, baseSHA, nil).Fact(t.Context(), &fact, review.Finding{}); err != nil || ev.Status != Verified || ev.Quoted != [2]int{} {
		t.Errorf("a fact: %+v, %v", ev, err)
	}
}

// Where a quote stands is known also of one with its middle left out, or with numbers of lines, and of several places by the finding's line.
func TestWhereAQuoteStands(t *testing.T) {
	history := files{headSHA + ":a.go": "f {\nguard\nuse\n}\nuse\n"}
	for _, row := range []struct {
		quote string
		line  int
		want  [2]int
	}{
		{"f {\nguard", 1, [2]int{1, 2}},
		{"f {\n...\nuse", 1, [2]int{1, 3}},
		{"2 | guard\n3 | use", 3, [2]int{2, 3}},
		{"guard", 5, [2]int{2, 2}},
		{"use", 3, [2]int{3, 3}},
		{"use", 5, [2]int{5, 5}},
		{"use", 4, [2]int{}},
	} {
		f := review.Finding{File: "a.go", Line: &row.line, Evidence: row.quote}
		ev, _, err := New(history, headSHA, baseSHA, nil).Place(t.Context(), &f, true)
		if err != nil || ev.Status != Verified || ev.Quoted != row.want {
			t.Errorf("%q at %d: %+v, %v; want %v", row.quote, row.line, ev, err, row.want)
		}
	}
}

// A sign that nobody sees keeps no finding from being about its code, and makes nothing else its code (threats.md T902).
func TestQuotesWithoutWhatNobodySees(t *testing.T) {
	h := files{"head:a.js": "// one\nint r = part\u00adSum / count;\nconst is = isAdm\u200d\u2060in;\n\nx = \"\u2764\ufe0f\" + a / zero\ny = \"\x1b[0m\" + b / zero\npage\fbreak\nsep = \"\x1f\"\n",
		"base:a.js": "old\u00adName(count)\n"}
	const diff = "diff --git a/a.js b/a.js\nindex 1111111..2222222 100644\n--- a/a.js\n+++ b/a.js\n@@ -1 +1,3 @@\n-old\u00adName(count)\n+// one\n+int r = part\u00adSum / count;\n+const is = isAdm\u200d\u2060in;\n"
	changed := []review.BriefFile{{Path: "a.js", Diff: diff}}
	for _, row := range []struct {
		evidence string
		want     Status
		line     int
	}{
		{"int r = partSum / count;", Verified, 2}, {"int r = part⟨U+00AD⟩Sum / count;", Verified, 2}, {"+int r = partSum / count;\n+const is = isAdmin;", Verified, 0},
		{"int r = partSum ... isAdmin;", Verified, 0}, {"x = \"\u2764\" + a / zero", Verified, 5}, {"y = \"[0m\" + b / zero", Verified, 6}, {"page break", Verified, 7}, {"oldName(count)", Verified, 0},
		{"int r = part⟨U+200D⟩Sum / count;", False, 0}, {"partSum / counts", False, 0}, {"pagebreak", False, 0}, {"isAdmin && [REDACTED]", False, 0}, {"\u00ad\"\"", False, 0},
	} {
		c := New(h, "head", "base", changed)
		ev, err := c.check(context.Background(), review.Finding{File: "a.js", Evidence: row.evidence}, true)
		if err != nil || ev.Status != row.want || row.line > 0 && ev.Line != row.line {
			t.Errorf("%q: %+v %v", row.evidence, ev, err)
		}
		now, err := c.Read(context.Background(), "head", "a.js")
		if read, _ := now.Find(row.evidence, 0); err != nil || row.line > 0 && (read == "" || !now.Bears(row.evidence)) {
			t.Errorf("%q is read as %q, %v", row.evidence, read, err)
		}
	}
	c := New(h, "head", "base", changed)
	fact := &review.Fact{File: "a.js", Evidence: "const is = isAdmin;"}
	if ev, err := c.Fact(context.Background(), fact, review.Finding{File: "b.js"}); err != nil || ev.Status != False {
		t.Errorf("a fact: %+v %v", ev, err)
	}
}
