package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// posted is what the last gate makes of a report, without the marker lines.
func posted(t interface{ Fatalf(string, ...any) }, text string, p sanitize.Policy) string {
	m := sanitize.Marker{ReviewID: "a", Run: "r", Round: 1, Nonce: "n", RepoID: "1", PR: 7, Key: []byte("k")}
	parts, err := sanitize.Comment(text, m, p)
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d parts: %v", len(parts), err)
	}
	_, body, ok := strings.Cut(parts[0].String(), "\n\n")
	if !ok {
		t.Fatalf("no marker in front:\n%s", parts[0])
	}
	return strings.TrimRight(body, "\n") + "\n"
}

// Of a report that is too long for all its comments what counts is cut last: every row of what must be fixed is there, and the receipt.
func TestWhatCountsIsCutLast(t *testing.T) {
	d := samples()["changes"]
	long := strings.Repeat("It is so for more than one reason. ", 30)
	for i := range 150 {
		d.Findings = append(d.Findings, Finding{Priority: review.P1, Must: true, Open: true, File: "src/a.go", Line: i + 1, Title: fmt.Sprint("problem ", i), Description: long},
			Finding{Priority: review.P3, File: "src/b.go", Line: i + 1, Title: fmt.Sprint("nit ", i), Description: long})
	}
	p := sanitize.Policy{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "shop"}}
	parts, err := sanitize.Comment(Render(d), sanitize.Marker{ReviewID: "a", Run: "r", Round: 1, Nonce: "n", RepoID: "1", PR: 7, Key: []byte("k")}, p)
	if err != nil || len(parts) != sanitize.MaxParts {
		t.Fatalf("%d parts: %v", len(parts), err)
	}
	all := ""
	for _, part := range parts {
		all += part.String()
	}
	for i := range 150 {
		if !strings.Contains(all, fmt.Sprintf("| problem %d | [`src/a.go:%d`](", i, i+1)) {
			t.Errorf("problem %d has no row", i)
		}
	}
	if last := parts[len(parts)-1].String(); !strings.Contains(last, "TRUNCATED") || !strings.Contains(last, "<summary>Receipt: ") || !strings.HasSuffix(last, "</details>\n") || strings.Contains(all, "nit 149") {
		t.Errorf("the end is not cut before the receipt:\n%s", last[max(0, len(last)-3000):])
	}
}

// threats.md T40: a report that is read here, and not where it is posted, shows no characters that turn around what stands beside them.
func TestNothingIsTurnedAround(t *testing.T) {
	const turned = "a\u202eb\u2066c\u200dd"
	d := samples()["changes"]
	d.Findings = []Finding{{ID: turned, Identity: turned, Priority: review.P1, Category: turned, File: turned, Line: 1, By: []string{turned}, Title: turned, Must: true, Open: true,
		Description: turned, Suggestions: []Suggestion{{turned, turned}}, Evidence: turned, Language: turned, Also: []Wording{{By: turned, Category: turned, Title: turned + "2", Description: turned}}}}
	d.Reason, d.Why, d.Notes, d.Remarks = turned, turned, []string{turned}, []string{turned}
	text := Render(d)
	if i := strings.IndexFunc(text, func(r rune) bool { return unicode.Is(unicode.Cf, r) }); i >= 0 || !strings.Contains(text, "abcd") {
		t.Errorf("byte %d:\n%s", i, text)
	}
}

// The template must use nothing the last gate would rewrite, or what is posted could not be read back.
func TestTheLastGateChangesNothing(t *testing.T) {
	p := sanitize.Policy{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "shop"}}
	for name, d := range samples() {
		if text := Render(d); text != posted(t, text, p) {
			t.Errorf("%s:\n%s", name, cmp.Diff(text, posted(t, text, p)))
		}
	}
	// The gate may drop an escape that a text needs at the start of a line only. The outline and the facts stay.
	for _, bad := range nasty {
		line, field := sanitize.Inline(bad, p), sanitize.Field(bad, p)
		d := samples()["changes"]
		d.Findings = []Finding{{Priority: review.P1, Category: "bug", File: "src/a.go", Line: 3, By: []string{"r1", "r2"}, Title: line,
			Must: true, Open: true, Description: field, Suggestions: []Suggestion{{"", field}}, Reason: line, Evidence: "x == y"}}
		d.Reason, d.Notes = line, []string{line}
		got, err := parse(posted(t, Render(d), p))
		if err != nil {
			t.Errorf("%q: %v", bad, err)
			continue
		}
		want := Canonical(d)
		want.Why = ""
		if len(got.Findings) != 1 {
			t.Errorf("%q: %d findings", bad, len(got.Findings))
			continue
		}
		got.Findings[0].Title, got.Findings[0].Reason, got.Reason, got.Notes = want.Findings[0].Title, want.Findings[0].Reason, want.Reason, want.Notes
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q:\n%s", bad, d)
		}
	}
}
