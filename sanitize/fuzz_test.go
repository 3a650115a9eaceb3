package sanitize

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// seeds are pieces of everything the pipeline knows about.
var seeds = []string{
	"", " ", "\n", "plain", "@octo", "`@octo", "@<!-- -->octo", "&amp;#38;commat;octo", "**a*b**c*", "***a** b*", "* a\n\n  b\n+ c\n1) d\n2. e",
	"> > a\n> ```\n> x", "| a | b |\n|-|:-:|\n| `x|y` | \\| |", "<details>\n<summary>a</summary>\n\nb\n\n</details>", "<details>\n\n<details>\n</details>",
	"[a](https://github.com/octo/hello/pull/1) ![b](x)", "[a]: b\n\n[a]", "- [ ] a\n- [x] b", "# a #\n## b", "```suggestion\nx\n```", "~~~~\n```\n~~~~",
	"ghp_abc AKIA1234", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n", "diff --git a/x b/x\n+a", "@@ -1 +1 @@\n-a\n+b\n c", "password=\"hunter2x9\"",
	"fixes octo/x#1", "/lgtm\n!x", "a\\\nb  \nc", "\t- a\n\t\tb", "    code", "$x$ \\$ \\\\", "a_b __c__ _d_", "1. a\n\n\n1. b", "-\n  a\n-", "***\n---\n___",
	"\u202e\u200b\U000E0041\ufeff", "\x1b[31m\x1b]0;x\x07", "\xff\xfe", "<!-- a\n\nb -->", "https://a.b/c) www.x.y", "a@b.c", "<https://x.y>", "a\r\nb\rc", "~a~ ~~b~~", "`` ` ``",
}

var (
	renderHTML = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(html.WithUnsafe()))
	inactive   = regexp.MustCompile(`(?s)<code[ >].*?</code>|<code>.*?</code>|<a href="https://github\.com/octo/hello/(?:blob|commit|pull)/[^"]*">.*?</a>`)
	anyTag     = regexp.MustCompile(`<[^>]*>`)
	fineTag    = regexp.MustCompile(`^</?(?:p|h[1-6]|ul|ol|li|blockquote|pre|table|thead|tbody|tr|th|td|em|strong|del|br|hr|details|summary|b|i)>$|^<(?:ol start="[0-9]+"|br /|hr /|t[hd] style="text-align:[a-z]+"|t[hd] align="[a-z]+"|input (?:checked="" )?disabled="" type="checkbox" ?/?)>$|^<hr />$|^<br />$`)
	mention    = regexp.MustCompile(`(?:^|[^A-Za-z0-9_])@[A-Za-z0-9]|[A-Za-z0-9_.-]#[0-9]|(?:^|[^&A-Za-z0-9_])#[0-9]+\b|https?://[^\s]`)
)

// rendered is an oracle of its own: it looks at the HTML a reader's browser would get, tag by tag, not at the tree.
func rendered(t *testing.T, s string) {
	t.Helper()
	var b bytes.Buffer
	if err := renderHTML.Convert([]byte(s), &b); err != nil {
		t.Fatal(err)
	}
	rest := inactive.ReplaceAllString(b.String(), "\uFFFC")
	for _, tag := range anyTag.FindAllString(rest, -1) {
		if !fineTag.MatchString(tag) {
			t.Fatalf("the rendering of %q has %s:\n%s", s, tag, b.String())
		}
	}
	text := decodeEntities(anyTag.ReplaceAllString(rest, ""))
	if at := mention.FindString(text); at != "" {
		t.Fatalf("the rendering of %q refers to something: %q in\n%s", s, at, text)
	}
}

func lawsOfField(t *testing.T, s string) {
	t.Helper()
	f, in := Field(s, testPolicy), Inline(s, testPolicy)
	if again := Field(f, testPolicy); again != f {
		t.Fatalf("a field of a field differs\n   in %q\nfirst %q\n then %q", s, f, again)
	}
	if again := Inline(in, testPolicy); again != in {
		t.Fatalf("an inline of an inline differs\n   in %q\nfirst %q\n then %q", s, in, again)
	}
	if strings.Contains(in, "\n") || !utf8.ValidString(f) || !utf8.ValidString(in) || len(f) > Cap {
		t.Fatalf("not one line, not UTF-8 or too long: %q, %q", f, in)
	}
	rendered(t, f)
	rendered(t, in)
	rendered(t, "# "+in)
	rendered(t, "| a | b |\n| --- | --- |\n| "+in+" | x |")
}

func lawsOfComment(t *testing.T, s string) {
	t.Helper()
	parts, err := Comment(s, Marker{ReviewID: "id", Run: "r", Round: 1, Nonce: "n", Key: []byte("k")}, testPolicy)
	if err != nil {
		t.Fatalf("Comment(%q): %v", s, err)
	}
	for _, part := range parts {
		text := part.String()
		if len(text) > Cap || !utf8.ValidString(text) || strings.Count(text, markWord) != 1 || !HasMarker(text) {
			t.Fatalf("too long, not UTF-8, or not one marker: %q", text)
		}
		m, err := Verify(text, []byte("k"), "", 0)
		if err != nil {
			t.Fatalf("%v: %q", err, text)
		}
		again, err := Comment(text, m, testPolicy)
		if err != nil || len(again) != 1 || again[0] != part {
			t.Fatalf("cleaning twice changes something (%v)\n   in %q\nfirst %q\n then %q", err, s, text, again)
		}
		h, _ := readHeader(text)
		rendered(t, h.rest)
	}
	f, err := Filter(s)
	if err != nil {
		t.Fatalf("Filter(%q): %v", s, err)
	}
	if again, err := Filter(f.String()); err != nil || again != f {
		t.Fatalf("filtering twice changes something (%v): %q, %q", err, f, again)
	}
}

func addSeeds(f *testing.F) {
	for i, s := range seeds {
		f.Add(s)
		f.Add(s + seeds[(i*7+3)%len(seeds)])
		f.Add(s + "\n\n" + seeds[(i*11+5)%len(seeds)])
	}
}

func FuzzField(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, s string) { lawsOfField(t, s) })
}

func FuzzComment(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, s string) { lawsOfComment(t, s) })
}

func FuzzTruncate(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, uint16(64+i*20), uint16(i*3))
	}
	f.Fuzz(func(t *testing.T, s string, room, times uint16) {
		if len(s) > 2000 {
			return
		}
		long := strings.Repeat(s+"\n\n", 1+int(times)%40)
		m := mode{policy: testPolicy, body: true}
		whole := m.settled(clean(long), maxBody, m.writeBlocks)
		rest, limit := parseBlocks(whole, m), 64+int(room)%4000
		for n := 0; len(rest) > 0; n++ {
			head, tail := fit(rest, limit)
			if size(head) > limit {
				t.Fatalf("%d bytes do not fit into %d: %q", size(head), limit, renderBlocks(head))
			}
			if len(head) == 0 {
				break // a block whose frame alone is larger than so little room
			}
			if n > len(whole)+len(long) {
				t.Fatalf("cutting %q does not come to an end", whole)
			}
			rest = tail
		}
	})
}

func FuzzMarker(f *testing.F) {
	f.Add("body", "id", "run", "nonce", 1, 7)
	f.Add(PlainMarker, "a:b", "x/y", "", 0, 0)
	f.Add("@octo\n", "", "-", "--", -1, -5)
	f.Fuzz(func(t *testing.T, s, id, run, nonce string, round, pr int) {
		m := Marker{ReviewID: id, Run: run, Round: round, Nonce: nonce, RepoID: "r", PR: pr, Key: []byte("key")}
		if _, err := Verify(s, m.Key, "r", pr); err == nil {
			t.Fatalf("Verify believes %q", s)
		}
		HasMarker(s)
		out, err := Comment(s, m, testPolicy)
		if err != nil {
			if m.valid() == nil {
				t.Fatalf("Comment: %v", err)
			}
			return
		}
		got, ok := ParseMarker(out[0].String())
		if !ok || got.ReviewID != id {
			t.Fatalf("ParseMarker = %+v of %q", got, out[0])
		}
		_, err = Verify(out[0].String(), m.Key, "r", pr)
		if complete := run != "" && nonce != ""; complete != (err == nil) {
			t.Fatalf("Verify = %v of %q", err, out[0])
		}
		if _, err := Verify(out[0].String(), m.Key, "r", pr+1); !errors.Is(err, ErrMarker) {
			t.Fatal("the marker holds for another pull request")
		}
	})
}

func FuzzRedact(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, seeds[(i+9)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		if again := Redact(Redact(before)); again != Redact(before) {
			t.Fatalf("redacting twice changes %q to %q", Redact(before), again)
		}
		// Monotone: text around a secret never un-redacts it.
		for _, secret := range []string{"AKIAIOSFODNN7EXAMPLE", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "xoxb-1234-5678-abc", "BEGIN PRIVATE KEY", "github_pat_11ABCDEFG0123456789"} {
			if got := Redact(before + secret + after); strings.Contains(got, secret) {
				t.Fatalf("Redact(%q) = %q", before+secret+after, got)
			}
		}
	})
}

func FuzzDiffDetect(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "> ")
	}
	f.Add("```", "- ")
	f.Fuzz(func(t *testing.T, around, prefix string) {
		full := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-gone line\n+new line\n kept"
		for _, s := range []string{around + "\n" + full + "\n" + around, prefix + strings.ReplaceAll(full, "\n", "\n"+prefix), around + full} {
			got := redactDiffs(s)
			if diffWords.MatchString(got) {
				t.Fatalf("the diff of %q stands in %q", s, got)
			}
			if again := redactDiffs(got); again != got {
				t.Fatalf("looking twice changes %q to %q", got, again)
			}
			if text, err := Filter(s); err != nil || diffWords.MatchString(text.String()) {
				t.Fatalf("Filter(%q) = %q, %v", s, text, err)
			}
		}
	})
}

// Line: one line, no longer than asked for, without secrets and without what acts on a terminal.
func TestLine(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	for in, want := range map[string]string{
		"a\n\tb  c":                           "a b c",
		"\x1b[2Jred\u202eder":                 "⟨U+001B⟩[2Jred⟨U+202E⟩der",
		"no UTF-8: \xff":                      "no UTF-8: ⟨0xFF⟩",
		"using " + token:                      "using [REDACTED]",
		strings.Repeat("é", 41):               strings.Repeat("é", 40) + "…",
		strings.Repeat("x", 36) + " " + token: strings.Repeat("x", 36) + " […", // the cut comes last
		"reads q7Rz2Lm9Xc4Vb8Nt1Wk6 of the prod.config, and more":          "reads q7Rz2Lm9Xc4Vb8Nt1Wk6 of the…",
		"reads for people q7Rz2Lm9Xc4Vb8Nt1Wk6Qp3xZt5Y":                    "reads for people…", // a later reader may know it for a secret (threats.md T793)
		`{"event":"begins","session":"q7Rz2Lm9Xc4Vb8"}`:                    `{"event":"begins","session":"…`,
		strings.Repeat(" ", 64*40-20) + "q7Rz2Lm9Xc4Vb8Nt1Wk6Qp3xZt5Y":     "",
		strings.Repeat("x ", 20) + "\n" + strings.Repeat(" ", 1<<20) + "y": strings.TrimSpace(strings.Repeat("x ", 20)),
	} {
		if got := Line(in, 40); got != want {
			t.Errorf("Line(%.60q) = %q, want %q", in, got, want)
		}
	}
}

// A word of which the beginning is cut is left out (threats.md T745).
func TestLastLine(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	for in, want := range map[string]string{
		" a\n\tb  c\n":                                        "a b c",
		"one two " + strings.Repeat("x ", 20):                 "… " + strings.TrimSpace(strings.Repeat("x ", 20)),
		"q7Rz2Lm9Xc4Vb8Nt1Wk6" + strings.Repeat(" is bad", 5): "…" + strings.Repeat(" is bad", 5),
		"zz " + strings.Repeat("y", 40):                       "… " + strings.Repeat("y", 40),
		strings.Repeat("x", 41):                               "…",
		token + " and " + strings.Repeat("y", 32):             "… and " + strings.Repeat("y", 32),
		token + " and " + strings.Repeat("y", 25):             "[REDACTED] and " + strings.Repeat("y", 25),
	} {
		if got := LastLine(in, 40); got != want {
			t.Errorf("LastLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzTerminal(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		got := Terminal(s)
		for _, r := range got {
			if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) {
				t.Fatalf("Terminal(%q) holds %U", s, r)
			}
		}
		if Terminal(got) != got {
			t.Fatalf("Terminal twice changes %q to %q", got, Terminal(got))
		}
		seen, found := Visible(s)
		if again, more := Visible(seen); again != seen || more != nil {
			t.Fatalf("Visible twice changes %q to %q, finding %v", seen, again, more)
		}
		if c := clean(s); clean(c) != c || !utf8.ValidString(c) {
			t.Fatalf("cleaning twice changes %q to %q", c, clean(c))
		}
		if !utf8.ValidString(seen) || (found == nil) != (fmt.Sprint(found) == "[]") {
			t.Fatalf("Visible(%q) = %q, %v", s, seen, found)
		}
	})
}

// threats.md T40, T41: what people cannot see is made visible inbound, on terminals, and removed outbound.
func TestHiddenCharacters(t *testing.T) {
	n := 0
	for r := rune(0x80); r <= 0x10ffff; r++ {
		if Hidden(r) == "" || r >= 0xd800 && r <= 0xdfff || r > 0x3ffff && r < 0xe0000 || r > 0xe0fff && r < 0x10fff0 {
			continue
		}
		n++
		s := "a" + string(r) + "b"
		if seen, found := Visible(s); seen != fmt.Sprintf("a⟨U+%04X⟩b", r) || len(found) != 1 {
			t.Errorf("Visible(%q) = %q, %v", s, seen, found)
		}
		if got := Terminal(s); strings.ContainsRune(got, r) {
			t.Errorf("Terminal(%q) = %q", s, got)
		}
		if got := Field(s, Policy{}); r != 0xffa0 && got != "ab" {
			t.Errorf("Field(%q) = %q", s, got)
		}
	}
	if n < 300 {
		t.Errorf("only %d code points", n)
	}
	for in, want := range map[string]string{"\x1b]52;c;x\x07": `\x1b]52;c;x\x07`, "a\rb": `a\x0db`, "a\r\nb": "a\nb", "\xff": `\xff`, "\u202e": `\u202e`, "\u009b1m": `\x9b1m`} {
		if got := Terminal(in); got != want {
			t.Errorf("Terminal(%q) = %q, want %q", in, got, want)
		}
	}
}

// threats.md T701: a selector stays in a keycap, and nowhere else behind a digit; what Unicode lets nobody draw is hidden, and splits no secret.
func TestNobodySees(t *testing.T) {
	const keycap = "press 1\ufe0f\u20e3 or #\ufe0f\u20e3 ✔\ufe0f"
	if seen, found := Visible(keycap); seen != keycap || found != nil || clean(keycap) != keycap || Terminal(keycap) != keycap {
		t.Errorf("a keycap is seen as %q, %v, posted as %q, printed as %q", seen, found, clean(keycap), Terminal(keycap))
	}
	for in, want := range map[string]string{"admin1\ufe0f": "admin1", "a*\ufe0fb": "a*b", "adm\ufff0in": "admin", "1\ufe0f\ufff4\u20e3": "1\u20e3", "a\U0001d159b": "ab", "a\U000e0fffb": "ab"} {
		if seen, found := Visible(in); !strings.Contains(seen, "⟨U+") || len(found) == 0 || clean(in) != want || !strings.Contains(Terminal(in), `\`) {
			t.Errorf("%+q is seen as %+q, posted as %+q, printed as %+q", in, seen, clean(in), Terminal(in))
		}
	}
	for _, text := range []string{"AKIAQ2\ufe0fW3E4R5T6Y7U2I3", "AKIAQWW3\ufff4E4R5T6Y7U2I3"} {
		if got := Mask(text); got != Redacted {
			t.Errorf("%+q is masked as %+q", text, got)
		}
	}
}
