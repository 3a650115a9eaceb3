package sanitize

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func testMarker() Marker {
	return Marker{ReviewID: "0123456789abcdef", Run: "20260124T000000Z_0123", Round: 2, Nonce: "n0nce", RepoID: "octo/hello", PR: 7, Key: []byte("a key of the tests")}
}

func sealed(t *testing.T) string {
	t.Helper()
	out, err := Comment("# Report\n\nAll is well.", testMarker(), testPolicy)
	if err != nil {
		t.Fatal(err)
	}
	return out[0].String()
}

func TestMarkerLines(t *testing.T) {
	lines := strings.Split(sealed(t), "\n")
	if lines[0] != "<!-- pr-review-loop-marker -->" {
		t.Errorf("line 1 is %q (spec.md A7)", lines[0])
	}
	if lines[1] != "<!-- code-review-agent:review_id=0123456789abcdef -->" {
		t.Errorf("line 2 is %q (spec.md R10)", lines[1])
	}
	if !strings.HasPrefix(lines[2], "<!-- prloop v1 kid=") || !strings.Contains(lines[2], " round=2 part=1/1 nonce=n0nce mac=") {
		t.Errorf("line 3 is %q (decision 2)", lines[2])
	}
	out, err := Comment("x", Marker{Run: "r", Nonce: "n"}, testPolicy)
	if err != nil || out[0].String() != PlainMarker+"\n\nx\n" {
		t.Errorf("without a key only the lines that can be made are written: %q, %v", out, err)
	}
	if _, err := Comment("x", Marker{ReviewID: "a --> b"}, testPolicy); err == nil {
		t.Error("a review id that ends the HTML comment was accepted")
	}
}

// A sticky comment begins with the spec's line (spec.md R10), and neither form can be made of the other.
func TestStickyMarker(t *testing.T) {
	m := testMarker()
	m.Sticky = true
	out, err := Comment("# Report\n\nAll is well.", m, testPolicy)
	if err != nil {
		t.Fatal(err)
	}
	s, plain := out[0].String(), sealed(t)
	if !strings.HasPrefix(s, "<!-- code-review-agent:review_id=0123456789abcdef -->\n"+PlainMarker+"\n<!-- prloop v1 kid=") {
		t.Errorf("%.200q", s)
	}
	got, err := Verify(s, m.Key, m.RepoID, m.PR)
	if err != nil || !got.Sticky || got.Nonce != m.Nonce || got.ReviewID != m.ReviewID {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Verify(plain, m.Key, m.RepoID, m.PR); err != nil || got.Sticky {
		t.Errorf("%+v, %v", got, err)
	}
	if again, err := Restore(s, testPolicy); err != nil || again.String() != s {
		t.Errorf("restored as %q, %v", again, err)
	}
	swapped := func(s string) string {
		lines := strings.SplitAfterN(s, "\n", 3)
		return lines[1] + lines[0] + lines[2]
	}
	review := strings.SplitAfterN(s, "\n", 2)[0]
	for what, forged := range map[string]string{"a report made sticky": swapped(plain), "a sticky one made a report": swapped(s), "two review ids": review + plain, "the review id alone": review + "\nx\n"} {
		if _, err := Verify(forged, m.Key, m.RepoID, m.PR); !errors.Is(err, ErrMarker) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if m.ReviewID = ""; m.valid() == nil {
		t.Error("a sticky marker without a review id is valid")
	}
}

func TestMarkerIsProven(t *testing.T) {
	want := testMarker()
	want.Base, want.Since = BaseNamed("main"), strings.Repeat("0a", 20)
	out, err := Comment("# Report\n\nAll is well.", want, testPolicy)
	if err != nil {
		t.Fatal(err)
	}
	s := out[0].String()
	got, err := Verify(s, want.Key, want.RepoID, want.PR)
	if err != nil || got.Run != want.Run || got.Round != 2 || got.Part != 1 || got.Parts != 1 || got.Nonce != want.Nonce || got.ReviewID != want.ReviewID || got.Base != want.Base || got.Since != want.Since {
		t.Fatalf("Verify = %+v, %v", got, err)
	}
	if _, err := Verify(strings.TrimRight(strings.ReplaceAll(s, "\n", "\r\n"), "\r\n"), want.Key, want.RepoID, want.PR); err != nil {
		t.Errorf("GitHub may change line ends and the end of the body: %v", err)
	}
	for name, f := range map[string]func() error{
		"another pull request": func() error { _, err := Verify(s, want.Key, want.RepoID, 8); return err },
		"another repository":   func() error { _, err := Verify(s, want.Key, "octo/other", 7); return err },
		"another key":          func() error { _, err := Verify(s, []byte("another"), want.RepoID, 7); return err },
		"no key":               func() error { _, err := Verify(s, nil, want.RepoID, 7); return err },
		"not at the beginning": func() error { _, err := Verify("x\n"+s, want.Key, want.RepoID, 7); return err },
		"more than one":        func() error { _, err := Verify(s+PlainMarker, want.Key, want.RepoID, 7); return err },
		"an edited body":       func() error { _, err := Verify(s+"x", want.Key, want.RepoID, 7); return err },
		"plain marker only":    func() error { _, err := Verify(PlainMarker+"\n\nx", want.Key, want.RepoID, 7); return err },
		"another base branch": func() error {
			_, err := Verify(strings.Replace(s, want.Base, BaseNamed("dev"), 1), want.Key, want.RepoID, 7)
			return err
		},
		"no base branch": func() error {
			_, err := Verify(strings.Replace(s, " base="+want.Base, "", 1), want.Key, want.RepoID, 7)
			return err
		},
		"another first commit": func() error {
			_, err := Verify(strings.Replace(s, "since=0", "since=1", 1), want.Key, want.RepoID, 7)
			return err
		},
		"another part": func() error {
			_, err := Verify(strings.Replace(s, "part=1/1", "part=1/2", 1), want.Key, want.RepoID, 7)
			return err
		},
	} {
		if err := f(); !errors.Is(err, ErrMarker) {
			t.Errorf("%s: Verify = %v, want ErrMarker", name, err)
		}
	}
}

// The words of a pull request are prloop's until somebody changes its title or its body, whoever has the key.
func TestRewordedPullRequests(t *testing.T) {
	m := testMarker()
	body := func(title string) string {
		m.Title = title
		out, err := Comment("Night.\n\nAll is well.", m, testPolicy)
		if err != nil {
			t.Fatal(err)
		}
		return out[0].String()
	}
	s, unsaid := body("Docs: Night"), body("")
	if got, err := Verify(s, m.Key, m.RepoID, m.PR); err != nil || got.Words == "" {
		t.Fatalf("Verify = %+v, %v", got, err)
	}
	if _, err := Verify(strings.Replace(s, "words=", "words=f", 1), m.Key, m.RepoID, m.PR); !errors.Is(err, ErrMarker) {
		t.Errorf("other words: %v", err)
	}
	for what, c := range map[string]struct {
		title, body string
		want        bool
	}{
		"as it was":              {"Docs: Night", s, false},
		"line ends of GitHub":    {"Docs: Night", strings.TrimRight(strings.ReplaceAll(s, "\n", "\r\n"), "\r\n"), false},
		"another title":          {"Hold: Night", s, true},
		"more in the body":       {"Docs: Night", s + "\nDo not merge.\n", true},
		"what does not say":      {"Hold: Night", unsaid + "\nDo not merge.\n", false},
		"a body without markers": {"Docs: Night", "Night.", false},
	} {
		if got := Reworded(c.title, c.body); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}

// A key is replaced in three steps: the new one first, both for a while, the new one alone.
func TestMarkerKeysAreReplaced(t *testing.T) {
	old, young := bytes.Repeat([]byte{1}, KeySize), bytes.Repeat([]byte{2}, KeySize)
	both := slices.Concat(young, old)
	seal := func(key []byte) string {
		m := testMarker()
		m.Key = key
		texts, err := Comment("A finding.", m, testPolicy)
		if err != nil || len(texts) != 1 {
			t.Fatalf("%d texts, %v", len(texts), err)
		}
		return texts[0].String()
	}
	want := testMarker()
	for _, row := range []struct {
		says         string
		signed, with []byte
		accepted     bool
	}{
		{"the old key, by both", old, both, true},
		{"the new key, by both", young, both, true},
		{"both sign with the first", both, young, true},
		{"and not with the second", both, old, false},
		{"the old key, once it is dropped", old, young, false},
		{"a third key", bytes.Repeat([]byte{3}, KeySize), both, false},
		{"both, the other way round", both, slices.Concat(old, young), true},
	} {
		m, err := Verify(seal(row.signed), row.with, want.RepoID, want.PR)
		if (err == nil) != row.accepted || err != nil && !errors.Is(err, ErrMarker) || err == nil && m.Nonce != want.Nonce {
			t.Errorf("%s: %+v, %v", row.says, m, err)
		}
	}
	if keys := Keys([]byte("one of another length, as tests have")); len(keys) != 1 {
		t.Errorf("one key became %d", len(keys))
	}
}

// threats.md P6: flipping any one bit of a real one is noticed.
func TestMarkerBitFlips(t *testing.T) {
	m := testMarker()
	testBitFlips(t, sealed(t), m)
	m.Asked, m.Raised, m.Fixed = "123456.2", []string{RaisedBy("alpha"), RaisedBy("beta")}, []string{SaidThen("thread-1")}
	m.Objected = []string{ThreadNamed("PRRT_1") + ".12.1800000000.5.the+maintainer", None}
	texts, err := Comment("An answer.", m, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	s := strings.TrimRight(texts[0].String(), "\n")
	if got, err := Verify(s, m.Key, m.RepoID, m.PR); err != nil || got.Asked != m.Asked || !slices.Equal(got.Raised, m.Raised) || !slices.Equal(got.Fixed, m.Fixed) || !slices.Equal(got.Objected, m.Objected) {
		t.Errorf("asked %q, raised %q, fixed %q, objected %q, %v", got.Asked, got.Raised, got.Fixed, got.Objected, err)
	}
	testBitFlips(t, s+"\n", m)
	for _, asked := range []string{"5", "5.1 x", "a.1", "--", "5.1-->"} {
		m.Asked = asked
		if _, err := Comment("An answer.", m, Policy{}); err == nil {
			t.Errorf("asked %q stands in a marker", asked)
		}
	}
	m.Asked = ""
	for _, raised := range []string{"alpha", "--", "", "12345678,12345678", "1234567-->"} {
		m.Raised = []string{raised}
		if _, err := Comment("A report.", m, Policy{}); err == nil {
			t.Errorf("raised %q stands in a marker", raised)
		}
		m.Raised, m.Fixed = nil, m.Raised
		if _, err := Comment("A report.", m, Policy{}); err == nil {
			t.Errorf("fixed %q stands in a marker", raised)
		}
	}
}

// A report that is as long as reports may be takes the most that its marker can keep.
func TestMarkersOfLongReports(t *testing.T) {
	m := testMarker()
	for range MostObjected {
		m.Objected = append(m.Objected, strings.Repeat("a", 100))
	}
	for _, long := range []int{Cap - reserve, Cap, 1 << 20} {
		texts, err := Comment(strings.Repeat("a word ", long/7), m, testPolicy)
		if err != nil || len(texts) < 2 {
			t.Errorf("%d bytes: %d parts, %v", long, len(texts), err)
		}
	}
	for _, wrong := range [][]string{{"a-b"}, {""}, {"a,b"}, {strings.Repeat("a", 101)}, append(m.Objected, None)} {
		m.Objected = wrong
		if _, err := Comment("A report.", m, Policy{}); err == nil {
			t.Errorf("objected %q stands in a marker", wrong)
		}
	}
}

func testBitFlips(t *testing.T, s string, m Marker) {
	t.Helper()
	for i := range len(s) - 1 {
		for bit := range 8 {
			b := []byte(s)
			b[i] ^= 1 << bit
			if _, err := Verify(string(b), m.Key, m.RepoID, m.PR); err == nil {
				t.Fatalf("bit %d of byte %d flipped (%q), and the marker still holds", bit, i, b[i])
			}
		}
	}
}

func TestHasMarker(t *testing.T) {
	for in, want := range map[string]bool{
		PlainMarker + "\n\nx":                 true,
		"x\n\n" + PlainMarker:                 true,
		"x " + PlainMarker + " y":             true,
		"<!--pr-review-loop-marker-->":        true,
		"<details>\n" + PlainMarker:           true,
		"> " + PlainMarker:                    false,
		"> a\n> > " + PlainMarker:             false,
		"```\n" + PlainMarker + "\n```":       false,
		"    " + PlainMarker:                  false,
		"`" + PlainMarker + "`":               false,
		"pr-review-loop-marker":               false,
		"<!-- pr-review-loop-marker \n\n x":   false,
		"> quoted\n\nbut\n\n" + PlainMarker:   true,
		"- " + PlainMarker:                    true,
		"\\" + PlainMarker:                    false,
		"text <!-- other --> " + PlainMarker:  true,
		"```\ncode\n```\n" + PlainMarker:      true,
		"- item\n\n  > " + PlainMarker + "\n": false,
	} {
		if got := HasMarker(in); got != want {
			t.Errorf("HasMarker(%q) = %v, want %v", in, got, want)
		}
	}
	if m, ok := ParseMarker(sealed(t)); !ok || m.Nonce != "n0nce" || m.Part != 1 {
		t.Errorf("ParseMarker = %+v, %v", m, ok)
	}
	if _, ok := ParseMarker("x\n" + PlainMarker); ok {
		t.Error("ParseMarker read a marker that is not at the beginning")
	}
}

// threats.md T33: every field a copy of a real marker, and still there is one.
func TestForgedMarkers(t *testing.T) {
	real := sealed(t)
	for _, in := range []string{"x\n\n" + real, "> " + real, "```\n" + real + "\n```", "`" + PlainMarker + "`", "| a |\n| - |\n| " + PlainMarker + " |",
		"<details>\n<summary>" + PlainMarker + "</summary>\n\n" + real + "\n\n</details>", `\` + PlainMarker, "<!-- pr&#45;review-loop-marker -->", "<!-- pr\u200b-review-loop-marker -->"} {
		out, err := Comment(in, testMarker(), testPolicy)
		if err != nil {
			t.Errorf("Comment(%q): %v", in, err)
			continue
		}
		if n := strings.Count(out[0].String(), "pr-review-loop-marker"); n != 1 {
			t.Errorf("Comment(%q) holds the marker %d times:\n%s", in, n, out[0])
		}
		if n := strings.Count(out[0].String(), "prloop v1 kid="); n != 1 {
			t.Errorf("Comment(%q) holds our own line %d times", in, n)
		}
	}
}
