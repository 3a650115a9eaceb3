package sanitize

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// threats.md T42: whatever is too long stays within the cap, valid and marked, cut between blocks.
func TestLongBodiesBecomeParts(t *testing.T) {
	rows := "| File | Line |\n| --- | --- |\n" + strings.Repeat("| `internal/some/file.go` | 12 |\n", 4000)
	for name, in := range map[string]string{
		"paragraphs":             strings.Repeat("A paragraph of a report about something.\n\n", 3000),
		"one paragraph":          strings.Repeat("words and words ", 10_000),
		"one word":               strings.Repeat("w", 150_000),
		"four-byte runes":        strings.Repeat("\U0001F600", 250_000),
		"runes in nested fences": "> - ```go\n" + strings.Repeat(">   \U0001F600\U0001F600\U0001F600\n", 20_000) + ">   ```",
		"a code block":           "```go\n" + strings.Repeat("\tx := call(1, 2, 3)\n", 8_000) + "```",
		"one line of code":       "```go\n" + strings.Repeat("x", 150_000) + "\n```",
		"a list":                 strings.Repeat("- item with `code`\n", 8_000),
		"a table":                rows,
		"details":                "<details>\n<summary>many</summary>\n\n" + rows + "\n\n</details>\n\nend",
		"a quote":                strings.Repeat("> quoted line\n", 10_000),
		"a folded end":           strings.Repeat("text with *emphasis* and `code`\n\n", 28_000) + "<details>\n<summary>Receipt: x</summary>\n\n- files: 3\n\n</details>",
		"a megabyte":             strings.Repeat("# H\n\ntext with *emphasis* and `code`\n\n", 28_000) + "## Receipt\n\nfiles: 3",
	} {
		t.Run(name, func(t *testing.T) {
			out, err := Comment(in, testMarker(), testPolicy)
			if err != nil {
				t.Fatal(err)
			}
			if len(out) < 2 || len(out) > MaxParts {
				t.Fatalf("%d parts", len(out))
			}
			for i, part := range out {
				s := part.String()
				if len(s) > Cap || !utf8.ValidString(s) {
					t.Errorf("part %d: %d bytes, valid %v", i+1, len(s), utf8.ValidString(s))
				}
				m, err := Verify(s, testMarker().Key, "octo/hello", 7)
				if err != nil || m.Part != i+1 || m.Parts != len(out) {
					t.Errorf("part %d: marker %+v, %v", i+1, m, err)
				}
				if i+1 < len(out) && !strings.HasSuffix(strings.TrimSpace(s), TruncatedComment) {
					t.Errorf("part %d does not end in %s: %q", i+1, TruncatedComment, s[max(0, len(s)-100):])
				}
				if strings.Count(s, "\n```")%2 != 0 && !strings.Contains(s, "> ") {
					t.Errorf("part %d: fences are not balanced", i+1)
				}
				again, err := Comment(s, m, testPolicy)
				if err != nil || len(again) != 1 || again[0] != part {
					t.Errorf("part %d is not a fixed point: %d parts, %v", i+1, len(again), err)
				}
				if _, err := Restore(s, testPolicy); err != nil {
					t.Errorf("part %d cannot be restored: %v", i+1, err)
				}
			}
			if name == "a megabyte" {
				last := out[len(out)-1].String()
				if !strings.Contains(last, TruncatedComment) || !strings.HasSuffix(last, "## Receipt\n\nfiles: 3\n") {
					t.Errorf("the report's last section is gone: %q", last[len(last)-200:])
				}
			}
			if name == "a folded end" {
				last := out[len(out)-1].String()
				if !strings.Contains(last, TruncatedComment) || !strings.HasSuffix(last, "\n\n<details>\n<summary>Receipt: x</summary>\n\n- files: 3\n\n</details>\n") {
					t.Errorf("the folded receipt is gone: %q", last[len(last)-200:])
				}
			}
			f, err := Filter(in)
			if err != nil || len(f.String()) > Cap || !strings.Contains(f.String(), TruncatedComment) {
				t.Errorf("Filter: %d bytes, %v", len(f.String()), err)
			}
			if g, err := Filter(f.String()); err != nil || g != f {
				t.Errorf("filtering twice changes something: %v", err)
			}
		})
	}
}

func TestNothingIsLostBetweenParts(t *testing.T) {
	var b strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&b, "- item %d of the list, with some words to make it longer\n", i)
	}
	out, err := Comment(b.String(), Marker{}, testPolicy)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, p := range out {
		all += p.String()
	}
	for i := range 2500 {
		if !strings.Contains(all, fmt.Sprintf("- item %d of", i)) {
			t.Fatalf("item %d is in none of the %d parts", i, len(out))
		}
	}
}

// threats.md T30, T31: a known secret stops publication, however it is written.
func TestKnownSecretsStopPublication(t *testing.T) {
	secret := "s3cr3t-V4lue-of-the-Operator/7+x"
	p := testPolicy
	p.Known = []string{secret, "short-one"}
	written := map[string]string{
		"plain": secret, "upper": strings.ToUpper(secret), "lower": strings.ToLower(secret),
		"first seven cut":  secret[7:],
		"split by lines":   secret[:10] + "\n" + secret[10:20] + "\n" + secret[20:],
		"split by spaces":  strings.Join(strings.Split(secret, ""), " "),
		"split by hidden":  strings.Join(strings.Split(secret, ""), "\u200b"),
		"split by strings": secret[:9] + "\" + \"" + secret[9:],
		"a short one":      "x short-one y",
	}
	for i, e := range spellings(secret) {
		written[fmt.Sprintf("spelling %d", i)] = e
	}
	written["entities"] = ""
	for _, r := range secret {
		written["entities"] += fmt.Sprintf("&#%d;", r)
	}
	for name, s := range written {
		if _, err := Comment("Found "+s+" here.", Marker{}, p); !errors.Is(err, ErrKnownSecret) {
			t.Errorf("%s: Comment = %v, want ErrKnownSecret", name, err)
		}
		if got := Field("Found "+s+" here.", p); got != Redacted {
			t.Errorf("%s: Field = %q", name, got)
		}
		if got := Inline("Found "+s+" here.", p); got != Redacted {
			t.Errorf("%s: Inline = %q", name, got)
		}
	}
	if Leaks("Nothing of it stands here, not even s3cr3t-V4lu alone.", p) {
		t.Error("eleven bytes of a secret are not a leak")
	}
}

func TestRestoreRefusesWhatWasNotMadeHere(t *testing.T) {
	for _, s := range []string{"", "x", "x\n" + PlainMarker, PlainMarker + "\n\n@octo", PlainMarker + "\n\n<b>x</b>", PlainMarker + "\n\n![x](y)",
		PlainMarker + "\n\nghp_abc", PlainMarker + "\n\n/lgtm", PlainMarker + "\n\n<details>\n", PlainMarker + "\n\n" + PlainMarker, PlainMarker + "\n\n" + strings.Repeat("x ", 30_000)} {
		if _, err := Restore(s, testPolicy); !errors.Is(err, ErrUnsafe) {
			t.Errorf("Restore(%.60q) = %v, want ErrUnsafe", s, err)
		}
	}
}

// The hand-written searches find what the expression does.
func TestActiveWordsAreThoseOfTheExpression(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("@@@##aBh0_./%+-~(\u00e9\u017f\u212a")
	var mentioned, numbered int
	for range 60_000 {
		word := make([]rune, 1+random.IntN(12))
		for i := range word {
			word[i] = letters[random.IntN(len(letters))]
		}
		s, got := string(word), [][]int(nil)
		find := matches
		switch marksOf(s) {
		case 0:
			find = func(string, func(int, int)) {}
		case mentionMark:
			find = mentions
			mentioned++
		case numberMark:
			find = numbers
			numbered++
		}
		find(s, func(from, to int) { got = append(got, []int{from, to}) })
		if want := active.FindAllStringIndex(s, -1); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
	}
	if mentioned < 1000 || numbered < 1000 {
		t.Errorf("%d words with mentions alone, %d with references alone: too few", mentioned, numbered)
	}
}

// So they do in texts of several words, in which a closing word may stand in a word that was active itself.
func TestActiveWordsOfATextAreThoseOfTheExpression(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"#1", "@a", "a@b", "gh-1", "https://x.y", "www.x", "fixes", "Closed", "resolve", ":", ",", "/", "x", "(", " ", " ", " ", "\t", "\n", "\u017f"}
	var closed int
	for range 100_000 {
		s := ""
		for range 1 + random.IntN(9) {
			s += pieces[random.IntN(len(pieces))]
		}
		var got [][]int
		activeWords(s, func(from, to int) {
			got = append(got, []int{from, to})
			if strings.ContainsAny(s[from:to], " \t") {
				closed++
			}
		})
		if want := active.FindAllStringIndex(s, -1); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
		Field("See "+s, testPolicy)
	}
	if closed < 1000 {
		t.Errorf("%d closing words with their reference: too few", closed)
	}
}

// What is refused before an expression is tried is nothing it matches.
func TestQuickRefusals(t *testing.T) {
	for _, r := range headsOf(t, orderExpr) {
		if !mayBeOrder(string(r) + "x") {
			t.Errorf("what begins with %q is refused, but may be an order", r)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	const marks = " \t>|-*+0190.)#[]xX`~```~~~   a"
	container := regexp.MustCompile(`^(?:[ \t>]|[-*+] |[0-9]{1,9}[.)] )*`)
	pieces := []string{"fixes", "Close", "resolved", "FIX", "re\u017folves", "fixe", "x", " ", "\t", ":", ".", "@", "/", "www.", "WWW.", "a-b://", "://", "\u00e9"}
	for range 60_000 {
		s := ""
		for range 1 + random.IntN(5) {
			s += pieces[random.IntN(len(pieces))]
		}
		if got, want := closingWord(s), closing.FindString(s); got != want {
			t.Fatalf("%q ends in the closing word %q, want %q", s, got, want)
		}
		if got, want := openingMark(s), opening.FindString(s); got != want {
			t.Fatalf("%q ends in the opening mark %q, want %q", s, got, want)
		}
		head := make([]byte, random.IntN(8))
		for i := range head {
			head[i] = marks[random.IntN(len(marks))]
		}
		s = string(head)
		if got, want := leadEnd(s), len(lead.FindString(s)); got != want {
			t.Fatalf("%q begins with %d bytes of a lead, want %d", s, got, want)
		}
		if got, _ := splitContainer(s); got != container.FindString(s) { // the expression it stands for
			t.Fatalf("%q begins with the container %q, want %q", s, got, container.FindString(s))
		}
		if got, want := fenceRun(s), fenceLine.FindString(s); got != want {
			t.Fatalf("%q begins with the fence %q, want %q", s, got, want)
		}
		if got, want := quoteMarks(s), len(quotes.FindString(s)); got != want {
			t.Fatalf("%q begins with %d bytes of quote marks, want %d", s, got, want)
		}
	}
}

// headsOf are the characters of ASCII that a match of an expression without empty matches may begin with.
func headsOf(t *testing.T, expr string) (heads string) {
	t.Helper()
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint32]bool{}
	var walk func(pc uint32)
	walk = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := &prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			walk(in.Out)
			walk(in.Arg)
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			walk(in.Out)
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for r := rune(0); r < utf8.RuneSelf; r++ {
				if in.MatchRune(r) && !strings.ContainsRune(heads, r) {
					heads += string(r)
				}
			}
		}
	}
	walk(uint32(prog.Start))
	return heads
}

// Mentions are found wherever an expression finds them.
func TestMentionsAreBrokenAnywhere(t *testing.T) {
	anywhere := regexp.MustCompile(strings.Replace(strings.TrimPrefix(botNameExpr, "^"), "@(?:", "@((?:", 1) + "|(?-i:[A-Za-z0-9]))")
	random := rand.New(rand.NewPCG(5, 6))
	names := strings.Split(strings.NewReplacer("^(?i)@(?:", "", `)\b`, "", "-?", "-").Replace(botNameExpr), "|")
	ends := []string{"", " ", "-", "_", "@", "x", "\u00e9", "\u017f", "-bot", ".", "@@", "k", "\n"}
	broken := 0
	for range 60_000 {
		s := ""
		for range 1 + random.IntN(3) {
			name := names[random.IntN(len(names))]
			if random.IntN(3) == 0 {
				name = strings.NewReplacer("s", "\u017f", "k", "\u212a").Replace(strings.ToUpper(name[:1]) + name[1:])
			}
			s += ends[random.IntN(len(ends))] + "@" + name[:len(name)-random.IntN(2)] + ends[random.IntN(len(ends))]
		}
		want := anywhere.ReplaceAllString(s, "@"+guard+"$1")
		if got := breakAnywhere(s); got != want {
			t.Fatalf("%q becomes %q, want %q", s, got, want)
		}
		if want != s {
			broken++
		}
	}
	if broken < 10_000 {
		t.Errorf("only %d texts have the name of a bot", broken)
	}
}

// A text whose words become code can grow in each round of settling, since escapes are escaped again. It is shown as code then,
// not left out.
func TestTextsThatGrowAreShown(t *testing.T) {
	for _, unit := range []string{"@a ", "gh-1 ", "#1 ", "fixes #1 "} {
		in := strings.Repeat(unit, 1<<20/len(unit))
		out, err := Comment(in, testMarker(), testPolicy)
		if err != nil {
			t.Fatal(err)
		}
		if word := breakAnywhere(strings.TrimSpace(unit)); len(out) != MaxParts || strings.Count(out[0].String(), word) < 4000 || strings.Contains(out[0].String(), Redacted) {
			t.Errorf("%q: %d parts, the first %.400q", unit, len(out), out[0])
		}
		if got := Field(in, testPolicy); got == Redacted {
			t.Errorf("%q: a field is %q", unit, got)
		}
	}
}
