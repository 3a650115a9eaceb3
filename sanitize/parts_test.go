package sanitize

import (
	"errors"
	"fmt"
	"math/rand/v2"
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

// The hand-written search for mentions finds what the expression does.
func TestMentionsAreThoseOfTheExpression(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		word := make([]byte, 1+random.IntN(12))
		for i := range word {
			word[i] = "@@@aB0_./%+-~(é"[random.IntN(len("@@@aB0_./%+-~(é"))]
		}
		if s := string(word); onlyMentions(s) {
			if got, want := fmt.Sprint(mentions(s)), fmt.Sprint(active.FindAllStringIndex(s, -1)); got != want {
				t.Fatalf("%q: %s, want %s", s, got, want)
			}
		}
	}
}
