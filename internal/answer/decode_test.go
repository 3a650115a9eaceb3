package answer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// The samples of spec.md A1 to A5, as their authors wrote them.
const (
	specFinding = `{
  "id": "SEC-001",
  "priority": "P0",
  "category": "security",
  "file": "src/auth.ts",
  "line": 42,
  "title": "Hard-coded token",
  "description": "...",
  "suggestion": "...",
  "source": {
    "type": "agent",
    "name": "reviewer-1",
    "reviewId": null,
    "timestamp": "2026-01-24T00:00:00Z"
  }
}`
	specReviewer = `{
  "agent": "reviewer-1",
  "prNumber": 123,
  "conclusion": "approve",
  "issues": { "p0_blocking": 0, "p1_critical": 0, "p2_important": 0, "p3_suggestion": 0 },
  "findings": [],
  "fullReport": "Markdown report (no full diffs)"
}`
	specComments = `{
  "agent": "comments-analyzer",
  "prNumber": 123,
  "reviewState": {
    "hasChangesRequested": false,
    "changesRequestedBy": [{ "login": "reviewer", "association": "MEMBER" }]
  },
  "stats": { "totalThreads": 0, "resolvedThreads": 0, "unresolvedThreads": 0 },
  "threadsTruncated": false,
  "issues": { "p0_blocking": 0, "p1_critical": 0, "p2_important": 0, "p3_suggestion": 0 },
  "pendingIssues": [],
  "fullReport": "Markdown report"
}`
	specPayload = `{
  "prNumber": 123,
  "round": 1,
  "issuesToFix": [],
  "optionalIssues": []
}`
	specFix = `{
  "agent": "pr-fix",
  "prNumber": 123,
  "summary": { "fixed": 0, "rejected": 0, "deferred": 0 },
  "fixedIssues": [{ "findingId": "SEC-001", "commitSha": "abcdef0", "description": "..." }],
  "rejectedIssues": [{ "findingId": "SEC-002", "reason": "..." }],
  "commits": [{ "sha": "abcdef0", "message": "fix: ..." }]
}`
)

// with returns a valid reviewer answer (spec.md A2) around findings.
func with(findings ...string) string {
	return `{"agent":"r","prNumber":1,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,` +
		`"p3_suggestion":0},"findings":[` + strings.Join(findings, ",") + `]}`
}

// bare is a finding with the required fields alone, extended by more fields.
func bare(more string) string {
	return `{"id":"A","priority":"P1","category":"bug","file":"a.go","title":"t","description":"d"` + more + `}`
}

func TestSpecSamplesAreValid(t *testing.T) {
	f, notes, err := DecodeFinding([]byte(specFinding))
	if err != nil || len(notes) != 0 || f.ID != "SEC-001" || *f.Line != 42 || f.Source.ReviewID != nil || f.Source.Timestamp.IsZero() {
		t.Errorf("spec.md A1: %+v %q %v", f, notes, err)
	}
	r, notes, err := DecodeReviewer([]byte(specReviewer))
	if err != nil || len(notes) != 0 || r.Agent != "reviewer-1" || r.Conclusion != review.Approve {
		t.Errorf("spec.md A2: %+v %q %v", r, notes, err)
	}
	c, notes, err := DecodeComments([]byte(specComments))
	if err != nil || len(notes) != 0 || c.ReviewState.ChangesRequestedBy[0].Association != "MEMBER" {
		t.Errorf("spec.md A3: %+v %q %v", c, notes, err)
	}
	p, notes, err := schema.Decode[review.FixPayload]("fix-payload", []byte(specPayload), nil)
	if err != nil || len(notes) != 0 || p.Round != 1 {
		t.Errorf("spec.md A4: %+v %q %v", p, notes, err)
	}
	x, notes, err := DecodeFix([]byte(specFix))
	if err != nil || x.FixedIssues[0].FindingID != "SEC-001" {
		t.Errorf("spec.md A5: %+v %q %v", x, notes, err)
	}
	if x.Summary.Fixed != 1 || x.Summary.Rejected != 1 || len(notes) != 1 {
		t.Errorf("spec.md A5: claimed counts must give way to the listed ones: %+v %q", x.Summary, notes)
	}
}

func TestAccepted(t *testing.T) {
	big := bare(`,"description2":1`)
	for _, row := range []struct {
		name, doc string
		note      string // a part of the only note; empty: no note
		check     func(review.ReviewerResult) bool
	}{
		{"spec.md A2 without fullReport, findings without line, suggestion and source", with(strings.Replace(bare(``), "P1", "P1", 1)), "issues: claimed", func(r review.ReviewerResult) bool {
			return r.Findings[0].Line == nil && r.Findings[0].Source == review.Source{}
		}},
		{"null means left out where a field may be left out", with(bare(`,"line":null,"suggestion":null,"source":null,"evidence":null,"score":null`)), "issues: claimed", func(r review.ReviewerResult) bool {
			return r.Findings[0].Score == 0 && r.Findings[0].Suggestion == ""
		}},
		{"counts are those of the findings, not the claim", with(bare(``)), "claimed 0/0/0/0, counted 0/1/0/0", func(r review.ReviewerResult) bool { return r.Issues.P1 == 1 }},
		{"42.0 is an integer", with(strings.Replace(bare(`,"line":42.0`), "P1", "P1", 1)), "", func(r review.ReviewerResult) bool { return *r.Findings[0].Line == 42 }},
		{"line 0 is read as unknown", with(bare(`,"line":0`)), "", func(r review.ReviewerResult) bool { return r.Findings[0].Line == nil }},
		{"an unknown field is dropped", with(big), "", func(r review.ReviewerResult) bool { return len(r.Findings) == 1 }},
		{"fingerprint and cause are prloop's own", with(bare(`,"fingerprint":"x","valueHash":"x","cause":{"kind":"k","commit":"c"}`)), "", func(r review.ReviewerResult) bool {
			return r.Findings[0].Fingerprint == "" && r.Findings[0].ValueHash == "" && r.Findings[0].Cause == nil
		}},
		{"one id twice gives two ids", with(bare(``), bare(``)), "", func(r review.ReviewerResult) bool { return r.Findings[1].ID == "A-2" }},
		{"lineEnd before line goes", with(bare(`,"line":5,"lineEnd":4`)), "", func(r review.ReviewerResult) bool { return r.Findings[0].LineEnd == nil }},
		{"./a.go is a.go", with(strings.Replace(bare(``), `"a.go"`, `"./a.go"`, 1)), "", func(r review.ReviewerResult) bool { return r.Findings[0].File == "a.go" }},
		{"an unusual name as it is spelled (threats.md T28)", with(strings.Replace(bare(``), `"a.go"`, `"\"caf\\351.py\""`, 1)), "", func(r review.ReviewerResult) bool { return r.Findings[0].File == `"caf\351.py"` }},
		{"such a name as it is in the tree", with(strings.Replace(bare(``), `"a.go"`, `"./new\nline\r.js"`, 1)), "", func(r review.ReviewerResult) bool { return r.Findings[0].File == `"new\nline\r.js"` }},
		{"a backslash in a name", with(strings.Replace(bare(``), `"a.go"`, `"src\\a.js"`, 1)), "", func(r review.ReviewerResult) bool { return r.Findings[0].File == `"src\\a.js"` }},
		{"such a name with two dots between backslashes, as it is spelled", with(strings.Replace(bare(``), `"a.go"`, `"\"lib\\\\..\\\\pay.py\""`, 1)), "", func(r review.ReviewerResult) bool { return r.Findings[0].File == `"lib\\..\\pay.py"` }},
		{"a name that begins with a colon, as it is spelled", with(strings.Replace(bare(``), `"a.go"`, `"\":\\\\pay.py\""`, 1)), "", func(r review.ReviewerResult) bool { return r.Findings[0].File == `":\\pay.py"` }},
		{"a name like a drive, as it is spelled", with(strings.Replace(bare(``), `"a.go"`, `"\"a:b.py\""`, 1)), "", func(r review.ReviewerResult) bool { return r.Findings[0].File == `"a:b.py"` }},
		{"a time that is none is dropped", with(bare(`,"source":{"type":"agent","name":"x","timestamp":"yesterday"}`)), "", func(r review.ReviewerResult) bool {
			return r.Findings[0].Source.Name == "x" && r.Findings[0].Source.Timestamp.IsZero()
		}},
		{"a whole surrogate pair is text", with(bare(`,"evidence":"\ud83d\ude00 \\ud83d"`)), "", func(r review.ReviewerResult) bool { return r.Findings[0].Evidence == "\U0001F600 \\ud83d" }},
		{"white space around the document", "\n " + with(bare(``)) + "\n", "", func(r review.ReviewerResult) bool { return true }},
	} {
		r, notes, err := DecodeReviewer([]byte(row.doc))
		if err != nil || !row.check(r) {
			t.Errorf("%s: %+v %q %v", row.name, r, notes, err)
		}
		if all := strings.Join(notes, "|"); !strings.Contains(all, row.note) {
			t.Errorf("%s: notes %q lack %q", row.name, all, row.note)
		}
	}
}

func TestRefused(t *testing.T) {
	doc := with(bare(``))
	for _, row := range []struct{ name, doc, want string }{
		{"nothing", "", "document is empty"},
		{"truncated", doc[:len(doc)-3], "line 1, column"},
		{"fenced", "```json\n" + doc + "\n```", "line 1, column 1"},
		{"two objects", doc + doc, "after top-level value"},
		{"prose after it", doc + " done", "after top-level value"},
		{"NaN", with(bare(`,"score":NaN`)), "invalid character 'N'"},
		{"a key twice", with(bare(`,"title":"again"`)), "findings/0/title: field occurs twice"},
		{"a key in two cases", with(bare(`,"Title":"again"`)), `differs from "title" only in case`},
		{"a known key in another case", strings.Replace(doc, `"findings"`, `"Findings"`, 1), "Findings: field names are case-sensitive, write findings"},
		{"a key folded outside ASCII", strings.Replace(doc, `"issues"`, `"i\u017fsues"`, 1), "case-sensitive, write issues"},
		{"no findings", strings.Replace(doc, `"findings":`, `"finding":`, 1), "findings: required field is missing"},
		{"findings null is not an empty list", `{"agent":"r","prNumber":1,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":null}`, "findings: must be array, not null"},
		{"a priority of another scale", strings.Replace(doc, `"P1"`, `"critical"`, 1), `findings/0/priority: value must be one of P0, P1, P2, P3, not "critical"`},
		{"a line as text", with(bare(`,"line":"42"`)), "findings/0/line: must be integer or null, not string"},
		{"a line with a fraction", with(bare(`,"line":4.5`)), "findings/0/line: must be integer or null"},
		{"a line of 10^9", with(bare(`,"line":1000000000`)), "findings/0/line: must be at most 10000000"},
		{"a negative line", with(bare(`,"line":-1`)), "findings/0/line: must be at least 1"},
		{"an integer over 2^53", with(bare(`,"line":9007199254740993`)), "findings/0/line: number"},
		{"an exponent that explodes exact arithmetic", with(bare(`,"confidence":1e-400000000`)), "is out of range"},
		{"confidence over 1", with(bare(`,"confidence":1.1`)), "findings/0/confidence: must be at most 1"},
		{"an empty title", strings.Replace(doc, `"t"`, `""`, 1), "findings/0/title: must not be empty"},
		{"a long title", strings.Replace(doc, `"t"`, `"`+strings.Repeat("t", 1001)+`"`, 1), "at most 1000 characters, has 1001"},
		{"a negative count", strings.Replace(doc, `"p0_blocking":0`, `"p0_blocking":-1`, 1), "issues/p0_blocking: must be at least 0"},
		{"a bare list", "[" + bare(``) + "]", "must be object, not array"},
		{"null", "null", "must be object, not null"},
		{"a path out of the repository", strings.Replace(doc, `a.go`, `../../etc/passwd`, 1), "findings/0/file: must be a path inside"},
		{"a path out of it in a spelling", strings.Replace(doc, `"a.go"`, `"\"../\\351\""`, 1), "findings/0/file"},
		{"a path out of it with backslashes", strings.Replace(doc, `"a.go"`, `"..\\..\\a"`, 1), "findings/0/file"},
		{"an absolute path", strings.Replace(doc, `a.go`, `/etc/passwd`, 1), "findings/0/file"},
		{"a drive path", strings.Replace(doc, `a.go`, `C:a.go`, 1), "findings/0/file"},
		{"broken UTF-8", strings.Replace(doc, `"t"`, "\"\xff\"", 1), "not valid UTF-8"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "byte order mark"},
		{"a byte order mark", "\xef\xbb\xbf" + doc, "byte order mark"},
		{"NUL", strings.Replace(doc, `"t"`, "\"\x00\"", 1), "invalid character"},
		{"an escaped NUL", strings.Replace(doc, `"t"`, `"\u0000"`, 1), `\u0000 is not allowed`},
		{"the first half of a surrogate pair", strings.Replace(doc, `"t"`, `"\ud83d"`, 1), "first half of a surrogate pair"},
		{"the second half of a surrogate pair", strings.Replace(doc, `"t"`, `"\ude00"`, 1), "second half of a surrogate pair"},
		{"deep nesting in an unknown field", with(bare(`,"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000))), "nested more than 32 deep"},
		{"200,000 levels", strings.Repeat("[", 200_000), "exceeded max depth"},
		{"a million values", with(bare(`,"x":[` + strings.Repeat("0,", 300_000) + `0]`)), "more than 65536 values"},
		{"201 findings", with(strings.TrimSuffix(strings.Repeat(bare(``)+",", 201), ",")), "findings: must have at most 200 items, has 201"},
		{"more than 8 MB", doc + strings.Repeat(" ", 8<<20), "at most 8388608 are read"},
	} {
		_, _, err := DecodeReviewer([]byte(row.doc))
		var e *schema.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("%s: the text quotes %d bytes of the document", row.name, len(err.Error()))
		}
	}
}

func TestFixNamesEachFindingOnce(t *testing.T) {
	doc := strings.Replace(specFix, "SEC-002", "SEC-001", 1)
	if _, _, err := DecodeFix([]byte(doc)); err == nil || !strings.Contains(err.Error(), "rejectedIssues/0/findingId") {
		t.Errorf("spec.md A5, a finding both fixed and rejected: %v", err)
	}
}

func TestSalvage(t *testing.T) {
	good, bad := bare(``), strings.Replace(bare(``), `"title"`, `"titel"`, 1)
	minor := strings.Replace(bad, `"P1"`, `"P3"`, 1)
	for _, row := range []struct {
		name, doc string
		want      int
	}{
		{"one bad finding of low priority costs itself only", with(good, minor, good), 2},
		{"one that may be grave leaves its place", with(good, bad, good), 3},
		{"a cut answer keeps what is whole, and what is cut leaves its place", with(good, good, good)[:len(with(good, good))], 3},
		{"a broken envelope keeps its findings", `{"agent":5,"findings":[` + good + `]}`, 1},
		{"text around", "Sure! " + with(good) + " bye", 1},
		{"braces and quotes inside strings", with(strings.Replace(good, `"d"`, `"}]{ \" \\"`, 1)), 1},
		{"a list quoted inside a string is no list, but it speaks of a P1", `{"fullReport":"\"findings\":[` + strings.ReplaceAll(good, `"`, `\"`) + `]"}`, 1},
		{"nothing", "", 0},
	} {
		got, notes := SalvageReviewer([]byte(row.doc))
		if len(got) != row.want {
			t.Errorf("%s: %d findings, want %d; %q", row.name, len(got), row.want, notes)
		}
	}
	for _, text := range []string{bad, strings.Replace(bare(``), `"P1"`, `"p0"`, 1), strings.Replace(bare(``), `"priority"`, `"severity"`, 1), strings.Replace(bare(``), `a.go`, `../x`, 1)} {
		if got, _ := SalvageReviewer([]byte(with(text))); len(got) != 1 || got[0].Unconfirmed == "" || got[0].Priority.Rank() > review.P1.Rank() {
			t.Errorf("%s left %+v", text, got)
		}
	}
	if got, _ := SalvageReviewer([]byte(with(`{}`, `{}`))); len(got) != 0 {
		t.Errorf("empty objects left %+v", got)
	}
	if got, _ := SalvageReviewer([]byte(with(strings.Replace(bare(``), `"priority":"P1"`, `"priority":"P0","priority":"P3"`, 1)))); len(got) != 1 || got[0].Priority != review.P0 {
		t.Errorf("a priority that is said twice left %+v", got)
	}
	if got, _ := SalvageComments([]byte(`{"pendingIssues":[` + good)); len(got) != 1 {
		t.Errorf("pendingIssues of a cut answer: %d findings", len(got))
	}
}

// What satisfies the model schema must be accepted by the decoder, or the builtin reviewer would ask for answers it refuses.
func TestModelAnswerDecodes(t *testing.T) {
	doc := with(bare(`,"line":null,"suggestion":"s","score":7,"confidence":0.5,"evidence":"e","lineEnd":null,"language":null`))
	doc = strings.TrimSuffix(doc, "}") + `,"fullReport":null}`
	if _, _, err := DecodeReviewer([]byte(doc)); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{specReviewer, specComments, specFix, specFinding, with(bare(`,"line":1.0e1,"source":{"timestamp":"2026-01-24T00:00:00+02:00"}`), bare(``)), `{"event":"log","usage":{"costUsd":1}}`} {
		f.Add([]byte(s))
	}
	for _, s := range hostile() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		same(t, data, DecodeReviewer)
		same(t, data, DecodeComments)
		same(t, data, DecodeFix)
		same(t, data, schema.DecodeTask)
		same(t, data, schema.DecodeEvent)
		same(t, data, DecodeFinding)
		for _, found := range [][]review.Finding{first(SalvageReviewer(data)), first(SalvageComments(data))} {
			for _, one := range found {
				if !one.Priority.Valid() || one.Title == "" {
					t.Fatalf("salvaged %+v", one)
				}
			}
		}
	})
}

func first(f []review.Finding, _ schema.Notes) []review.Finding { return f }

// same holds the law: what is accepted re-encodes and decodes equal, with nothing left to note.
func same[T any](t *testing.T, data []byte, dec func([]byte) (T, schema.Notes, error)) {
	v, _, err := dec(data)
	if err != nil {
		return
	}
	text, err := schema.Encode(v)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	again, notes, err := dec(text)
	if err != nil || len(notes) != 0 {
		t.Fatalf("decode again: %q %v\n%s", notes, err, text)
	}
	if d := cmp.Diff(v, again); d != "" {
		t.Fatal(d)
	}
}

// What a corrected answer takes back is added however many findings it has (threats.md T883).
func TestCorrectedHasRoom(t *testing.T) {
	refused := []byte(`{"agent":"one","prNumber":"seven","conclusion":"request_changes","findings":[{"id":"A","priority":"P0","category":"logic","file":"a.go","line":1,"title":"Divides by zero","description":"d","suggestion":"s"}]}`)
	for _, n := range []int{0, 199, 200} {
		last := make([]review.Finding, n)
		for i := range last {
			last[i] = review.Finding{ID: "S", Priority: review.P3, Category: "style", File: "a.go", Title: "Name"}
		}
		got, notes := Corrected(refused, last)
		if len(got) != n+1 || got[n].Priority != review.P0 || got[n].Unconfirmed == "" || len(notes) == 0 {
			t.Errorf("%d of %d findings, %q", len(got), n+1, notes)
		}
	}
}

// What is numbered anew, and what has no line, is not said again; nor does the first of a command's list stand for that of another
// answer (threats.md T895).
func TestAnIDSaysNothingAcrossAnswers(t *testing.T) {
	one := func(id, priority, line, title string) string {
		return `{"id":"` + id + `","priority":"` + priority + `","category":"logic","file":"a.go","line":` + line + `,"title":"` + title + `","description":"d","suggestion":"s"}`
	}
	for _, row := range []struct {
		name, first, last string
		want              int
	}{
		{"the same", one("A", "P0", "1", "Anybody may log in"), one("A", "P0", "1", "Anybody may log in"), 1},
		{"another line", one("A", "P0", "1", "Anybody may log in"), one("B", "P0", "2", "Anybody may log in"), 1},
		{"another title", one("A", "P0", "1", "Anybody may log in"), one("B", "P0", "1", "Nobody checks who may log in"), 1},
		{"numbered anew", one("A", "P0", "1", "Anybody may log in"), one("A", "P1", "2", "Divides by zero"), 2},
		{"without lines", one("A", "P0", "null", "Anybody may log in"), one("B", "P1", "null", "Divides by zero"), 2},
		{"less grave", one("A", "P0", "1", "Anybody may log in"), one("A", "P2", "1", "Anybody may log in"), 2},
		{"a P1 for a P0", one("A", "P0", "1", "Anybody may log in"), one("A", "P1", "1", "Anybody may log in"), 2},
		{"a P0 for a P1", one("A", "P1", "1", "Anybody may log in"), one("A", "P0", "1", "Anybody may log in"), 1},
		{"other words of one line", one("A", "P0", "1", "Anybody may log in"), one("A", "P0", "1", "Divides by zero"), 2},
		{"akin words of one line", one("A", "P0", "1", "Anybody may log in"), one("A", "P0", "1", "Anybody is allowed to log in"), 1},
		{"in a word of another scale", one("A", "hoch", "1", "Anybody may log in"), one("A", "P2", "2", "Names may be shorter"), 2},
	} {
		last, _ := SalvageReviewer([]byte(`{"findings":[` + row.last + `]}`))
		got, notes := Corrected([]byte(`{"agent":"one","prNumber":"seven","findings":[`+row.first+`]}`), last)
		if len(got) != row.want || (len(notes) > 0) != (row.want == 2) {
			t.Errorf("%s: %d findings, want %d; %q", row.name, len(got), row.want, notes)
		}
		if last := got[len(got)-1]; row.want == 2 && (last.Priority != review.P0 || last.Unconfirmed == "") {
			t.Errorf("%s: %+v", row.name, last)
		}
	}
	command := func(severity, line, title string) []byte {
		return []byte(`{"findings":[{"title":"` + title + `","severity":"` + severity + `","location":{"file":"a.go","line":` + line + `},"details":"d"}]}`)
	}
	last, _ := SalvageCommand(command("high", "2", "Divides by zero"))
	if got, _ := CorrectedCommand(command("critical", "1", "Anybody may log in"), last); len(got) != 2 || got[1].Title != "Anybody may log in" {
		t.Errorf("a command: %+v", got)
	}
}

// Each finding of the last answer stands for one of the refused answer, by its title in the same file only (threats.md T900).
func TestAFindingStandsForOne(t *testing.T) {
	one := func(title, place string) string {
		return `{"id":"A","priority":"P0","category":"security",` + place + `,"title":"` + title + `","description":"d","suggestion":"s"}`
	}
	const here, there = `"file":"a.go","line":3`, `"file":"b.go","line":3`
	for _, row := range []struct {
		name        string
		first, last []string
		want        string // what is added, with its place
	}{
		{"the same title in two files", []string{one("SQL injection", here), one("SQL injection", there)}, []string{one("SQL injection", here)}, "SQL injection b.go:3"},
		{"one file in each", []string{one("SQL injection", there)}, []string{one("SQL injection", here)}, "SQL injection b.go:3"},
		{"two of one line", []string{one("No check of the user", here), one("SQL injection", here)}, []string{one("SQL injection", here)}, "No check of the user a.go:3"},
		{"the first of one title", []string{one("SQL injection", here), one("SQL injection", `"file":"a.go","line":9`)}, []string{one("SQL injection", `"file":"a.go","line":9`)}, "SQL injection a.go:3"},
		{"without a file", []string{one("SQL injection", `"file":"","line":3`)}, []string{one("No check of the user", `"file":"","line":3`)}, "SQL injection :3"},
		{"all again, in other words and lines", []string{one("SQL injection", here), one("No check", `"file":"a.go","line":9`)}, []string{one("No check", `"file":"a.go","line":8`), one("Injection of SQL", here)}, ""},
	} {
		last, _ := SalvageReviewer([]byte(`{"findings":[` + strings.Join(row.last, ",") + `]}`))
		got, _ := Corrected([]byte(`{"agent":"one","prNumber":"seven","findings":[`+strings.Join(row.first, ",")+`]}`), slices.Clone(last))
		var added []string
		for _, f := range got[len(last):] {
			added = append(added, fmt.Sprintf("%s %s:%d", f.Title, f.File, *f.Line))
		}
		if s := strings.Join(added, ", "); s != row.want {
			t.Errorf("%s: %q is added, want %q", row.name, s, row.want)
		}
	}
}

// An entry of a refused list is open unless it plainly is P2 or P3, whatever its keys, and what cannot be taken apart is doubt by itself; an entry
// that the last answer has again is none (threats.md T913).
func TestWhatIsRefusedIsOpen(t *testing.T) {
	for _, whole := range []string{`{"issues":[%s],}`, `[%s]`, `{"findings":{"auth.go":[%s]}}`, `{"conclusion":"approve","Findings":[%s]}`} {
		refused := fmt.Sprintf(whole, `{"title":"Anybody is let in","file":"auth.go","line":5,"severity":"error","description":"x","suggestion":"y"}`)
		if f, _ := Corrected([]byte(refused), nil); len(f) != 1 || !Unreadable(f[0]) {
			t.Errorf("%s: %+v", refused, f)
		}
	}
	last := []review.Finding{
		{ID: "A", Priority: review.P1, Category: "bug", File: "stock.go", Line: new(15), Title: "Mean divides by zero"},
		{ID: "B", Priority: review.P3, Category: "style", File: "auth.go", Line: new(5), Title: "Back door", Description: "It lets anybody in with one password."},
	}
	const place = `"file":"auth.go","line":5`
	for _, row := range []struct {
		entry string
		again bool // it is no doubt where the last answer has it
		plain bool // it is no doubt anyway
	}{
		{`{"id":"B","priority":"kritisch","title":"Back door",` + place + `}`, true, false},
		{`{"priority":"kritisch","title":"Back door","file":"./auth.go","line":"5"}`, true, false},
		{`{"severity":"error","message":"A back door lets anybody in with a password",` + place + `}`, true, false},
		{`{"severity":"error","message":"Tokens never end",` + place + `}`, false, false},
		{`{"priority":"kritisch","name":"Back door",` + place + `}`, true, false},
		{`{"priority":"","message":"Everything is lost",` + place + `,"cvss":9.8}`, false, false},
		{`{"priority":"P3","priority":"kritisch","title":"Back door","file":"auth.go"}`, true, false},
		{`{"priority":"P2","severity":"kritisch","title":"Back door","file":"auth.go"}`, true, false},
		{`{"title":"Back door",` + place + `,"description":"It lets anybo`, true, false},
		{`{"title":"Back door",` + place + `,"description":"if p == x {`, false, false},
		{`{"id":"B","title":"Back d`, false, false},
		{`{"priority":"kritisch","title":"Back door",` + place + `,"evidence":"return p",}`, true, false},
		{`{"priority":"P3","title":"Back door",` + place + `,"evidence":"a` + "\n" + `b {"}`, true, true},
		{`{"priority":"P3","title":"Back door",` + place + `,"evidence":"say "b""},{"priority":"kritisch","title":"Runs it","file":"b.go"}`, false, false},
		{`{"priority":"P3","title":"Back door",` + place + `}},{"priority":"kritisch","title":"Runs it","file":"b.go"}`, false, false},
		{`"Back door in auth.go:5"`, false, false},
		{`["kritisch","auth.go",5,"Back door"]`, false, false},
		{`{"finding":{"priority":"kritisch","title":"Back door","file":"auth.go"}}`, false, false},
		{`{"finding":{"priority":"kritisch","title":"Back door"},"priority":"P3","location":{"file":"auth.go"}}`, false, false},
		{`{"priority":"P1","title":"Back door",` + place + `,"score":"x"}`, false, false},
		{`{"priority":"critical","title":"Mean divides by zero","file":"stock.go"}`, true, false},
		{`{"priority":"blocking","title":"Mean divides by zero","file":"stock.go"}`, false, false},
		{`{"priority":"medium to high","title":"Mean divides by zero","file":"stock.go"}`, true, false},
		{`{"priority":"Low priority","title":"Shorter names","file":"a.go","score":3}`, true, true},
		{`{"priority":"non-blocking nit","title":"Shorter names","file":"a.go"}`, true, true},
		{`{"priority":"fatal - security note","title":"Shorter names","file":"a.go"}`, false, false},
		{`{"priority":"warning: fatal","title":"Shorter names","file":"a.go"}`, false, false},
		{`{"priority":"P3 (low_priority)","title":"Shorter names","file":"a.go"}`, true, true},
		{`{"priority":"not a nit","title":"Shorter names","file":"a.go"}`, false, false},
		{`{"priority":"P2","title":"Shorter names","file":"a.go","source":{"type":"agent","name":"x"},"score":"four"}`, true, true},
		{`{"id":"","title":""},{},null,"None",0`, true, true},
	} {
		doc := []byte(`{"agent":5,"findings":[` + row.entry + `],"x":["y"]}`)
		if strings.Count(row.entry, "\"")%2 == 1 { // cut off
			doc = doc[:len(doc)-len(`],"x":["y"]}`)]
		}
		for _, findings := range [][]review.Finding{nil, last} {
			got, _ := Corrected(doc, slices.Clone(findings))
			want := len(findings)
			if !row.plain && (findings == nil || !row.again) {
				want++
			}
			if len(got) != want {
				t.Errorf("%s: %d findings after %d, want %d", row.entry, len(got), len(findings), want)
			}
		}
	}
}

// Of several broken answers each P0 and P1 is kept, once (threats.md T895).
func TestSalvagedJoins(t *testing.T) {
	f := func(id, title string, p review.Priority, line int) review.Finding {
		return review.Finding{ID: id, Priority: p, File: "a.go", Line: &line, Title: title}
	}
	lost := unreadable("cut")
	for _, row := range []struct {
		name string
		in   [][]review.Finding
		want []string
	}{
		{"none", nil, nil},
		{"the last one has more", [][]review.Finding{{f("R1", "a", review.P0, 1)}, {f("R1", "b", review.P1, 2), f("R2", "c", review.P3, 3)}}, []string{"b", "c", "a"}},
		{"said again", [][]review.Finding{{f("R1", "a", review.P0, 1)}, {f("R2", "a", review.P0, 4), f("R1", "b", review.P3, 2)}}, []string{"a", "b"}},
		{"three", [][]review.Finding{{f("R1", "a", review.P0, 1)}, {f("R1", "b", review.P1, 2)}, {f("R1", "c", review.P2, 3)}}, []string{"c", "a", "b"}},
		{"suggestions of another", [][]review.Finding{{f("R1", "a", review.P2, 1)}, {f("R1", "b", review.P2, 2)}}, []string{"b"}},
		{"unread beside less", [][]review.Finding{{lost}, {f("R1", "b", review.P2, 2)}}, []string{"b", lost.Title}},
		{"unread beside a P0", [][]review.Finding{{lost}, {f("R1", "b", review.P0, 2)}, {lost}}, []string{lost.Title, "b"}},
		{"two of one title", [][]review.Finding{{f("R1", "a", review.P0, 1), f("R2", "a", review.P0, 9)}, {f("R1", "a", review.P0, 9), f("R2", "b", review.P3, 3)}}, []string{"a", "b", "a"}},
	} {
		var titles []string
		seen := map[string]bool{}
		for _, one := range Salvaged(row.in...) {
			titles = append(titles, one.Title)
			if seen[one.ID] {
				t.Errorf("%s: the id %s twice", row.name, one.ID)
			}
			seen[one.ID] = true
		}
		if d := cmp.Diff(row.want, titles); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
}

// What is left of a refused answer is read as that of one that stays broken, but for what it plainly denies (threats.md T690): by words in names, by
// claims, and by lists where it has none of findings.
func TestWhatIsLeftOfARefusedAnswer(t *testing.T) {
	p1 := review.Finding{ID: "A", Priority: review.P1, Category: "bug", File: "stock.go", Line: new(15), Title: "Mean divides by zero"}
	const listed = `"findings":[{"id":"A","priority":"P1","category":"bug","file":"stock.go","line":"15","title":"Mean divides by zero"}],`
	for doc, want := range map[string][2]int{ // how many are added to none, and to a P1
		`{"conclusion":"needs_major_work","critical_issues":["auth.go:5 lets anybody in"]}`:        {1, 1},
		`{"P0_issues":["auth.go:5 lets anybody in"],"findings":[],}`:                               {1, 1},
		`{"findings":[],"criticalIssues":["auth.go:5 lets anybody in"],}`:                          {1, 1},
		`{"findings":[],"\u00701_findings":["auth.go:5 lets anybody in"],}`:                        {1, 1},
		`{"findings":[],"blocking":["auth.go:5 lets anybody in"],}`:                                {1, 1},
		`{"findings":[],"has_blocking_issues":true,}`:                                              {1, 1},
		`{'findings': [], 'has_blocking_issues': True}`:                                            {1, 1},
		"criticalIssues:\n  - auth.go:5 lets anybody in\n":                                         {1, 1},
		`{"findings":[{"priority":"P3","blocking":true,"title":"A back door"}],}`:                  {1, 1},
		`{"issues":{"p0_blocking":1,"p1_critical":0},"findings":[],"fullReport":5}`:                {1, 1},
		`{"issues":{"p0_blocking":0,"p1_critical":1},` + listed + `"fullReport":5}`:                {1, 0},
		`{"conclusion":"needs_major_work","findings":[],"fullReport":5}`:                           {1, 0},
		`{"problems":[{"file":"auth.go","line":5,"level":"error","message":"anybody"}]}`:           {1, 1},
		`{"findings":{"auth.go":["anybody is let in"]}}`:                                           {1, 1},
		"Here it is:\n" + `{"problems":["auth.go:5 lets anybody in"]}`:                             {1, 1},
		`{"findings":"auth.go:5 lets anybody in"}`:                                                 {1, 1},
		"findings:\n  - file: auth.go\n    message: anybody is let in\n":                           {1, 1},
		"```json\n[\n {\"path\":\"auth.go\",\"line\":5,\"message\":\"anybody\"}\n]\n```":           {1, 1},
		`{"path":"auth.go","line":5}` + "\n" + `{"path":"b.go","line":5,"message":"anybody"}`:      {1, 1},
		`["auth.go:5 lets anybody in"]`:                                                            {1, 1},
		`{"agent":"a","review":"auth.go:5 lets anybody in"}`:                                       {1, 1},
		`{"agent":"a","findings":[],"Findings":[{"path":"auth.go","line":5}]}`:                     {1, 1},
		`{"agent":5,"findings":[],"findings":"auth.go:5 lets anybody in"}`:                         {1, 1},
		"## Findings\n\n1. auth.go:5: anybody is let in\n":                                         {1, 1},
		`{"findings":{"0":{"file":"auth.go","line":5,"message":"anybody is let in"}}}`:             {1, 1},
		`{"findings":"Nothing stops a stranger: auth.go:5 lets anybody in"}`:                       {1, 1},
		`{"findings":"No issues but one: auth.go:5 lets anybody in"}`:                              {1, 1},
		"## Findings\n\n0. auth.go:5 lets anybody in\n1. b.go:3 never ends\n":                      {1, 1},
		"## Findings\n\n0: auth.go:5 lets anybody in\n":                                            {1, 1},
		"## Findings\n\n- Nothing stops a stranger: auth.go:5 lets anybody in\n":                   {1, 1},
		`{"issues":{"auth.go":"line 5 lets anybody in"}}`:                                          {1, 1},
		`{"issues":"line 5 of auth.go lets anybody in"}`:                                           {1, 1},
		`{"pendingIssues":{"0":"line 5 of auth.go lets anybody in"}}`:                              {1, 1},
		"{'findings': [\n {'path': 'auth.go', 'line': 5}]}":                                        {1, 1},
		"{\"findings\": {\n \"0\": {\"path\":":                                                     {1, 1},
		"[BLOCKING] auth.go:5 lets anybody in\n":                                                   {1, 1},
		"- **Blocking**: auth.go:5 lets anybody in\n":                                              {1, 1},
		"### Blocking\n\n- auth.go:5 lets anybody in\n":                                            {1, 1},
		"| File | Severity | Issue |\n|---|---|---|\n| auth.go | Blocking | anybody is let in |\n": {1, 1},

		"**Blocking**: none\n\n### Blocking\n\n- None found.\n":                            {0, 0},
		"I looked at high and low, at what is blocking, and found no P0 or P1 findings.\n": {0, 0},
		"| Severity | Count |\n|---|---|\n| Blocking | 0 |\n| High | 0 |\n":                {0, 0},
		"## Findings\n\n- None\n": {0, 0},
		"## Findings\n\nNo issues found in this pull request.\n\n## Tests\n\nThey pass.\n":                           {0, 0},
		`{"findings":"No issues were found.","issues":{"p0_blocking":0,"p2_important":2}}`:                           {0, 0},
		`{"findings":{},"pendingIssues":null,"issues":0}`:                                                            {0, 0},
		"{'agent': 'a', 'issues': {'p0_blocking': 0, 'p2_important': 0}, 'findings': None, 'notes': ['x']}":          {0, 0},
		"{'agent': 'a', 'issues': {\n  'p0_blocking': 0,\n  'p2_important': 1},\n 'findings': [\n ],\n 'notes': []}": {0, 0},
		"**Findings:**\n\nNone.\n": {0, 0},
		"[]":                       {0, 0},
		"```json\n{}\n```\n":       {0, 0},
		// a tool of prloop that a model calls in text
		`{"name": "read_file", "arguments": {"path": "stock.go"}}`:                                        {0, 0},
		"<tool_call>\n" + `{"name": "list", "arguments": {}}` + "\n</tool_call>":                          {0, 0},
		"I read the file.\n\n```json\n" + `{"tool": "search_code", "path": "stock.go"}` + "\n```\n":       {0, 0},
		`{"name": "sql_injection", "arguments": {"path": "auth.go"}}`:                                     {1, 1},
		`{"name": "read_file", "arguments": {"path": "a.go"}}` + "\n" + `{"review": "auth.go:5 is open"}`: {1, 1},
		`{"agent":"a","findings":[],"Findings":[]}`:                                                       {0, 0},
		`{"agent":"a","prNumber":7,"summary":"It is good.","issues":{"p0_blocking":0,"p2_important":1},"result":"none","earlier":[{"findingId":"A","why":"a[0] is asked","verdict":"fixed"},{"findingId":"B"}],"fullReport":"It is \"good\": yes"}`: {0, 0},

		`{"issues":{"p0_blocking":1},"agent":"a","prNumber":7,"conclusion":"approve","findings":[]}`:                                                          {1, 1}, // half of the counts: it was asked for the others
		`{"agent":"a","prNumber":7,"conclusion":"request_changes","findings":[]}`:                                                                             {0, 0}, // it was asked about that
		"Here you are:\n```json\n" + `{"agent":"a","prNumber":7,"conclusion":"needs_major_work","findings":[]}` + "\n```\n":                                   {0, 0},
		`{"findings":[],"critical_issues":["none found"],"blockingIssues":[],"has_blocking_issues":false,}`:                                                   {0, 0},
		`{"findings":[],"filesReviewed":["a.go"],"strengths":["Good tests"],}`:                                                                                {0, 0},
		`{"findings":[],"version":{"major":3},"nonBlocking":["a nit"],"fullReport":"P0: \"none\""`:                                                            {0, 0},
		`{"agent":"a","earlier":[{"findingId":"A","verdict":"fixed","why":"an empty list gives 0"}]}`:                                                         {0, 0},
		`{"findings":[{"priority":"P2","file":"a.go","line":"3","evidence":"if p1 == p0 {","blocking":false}],}`:                                              {0, 0},
		`{"conclusion":"request_changes","findings":[{"priority":"P2","file":"a.go","line":"3","title":"t"}]}`:                                                {0, 0},
		"Here are my findings:\n```json\n" + `{"agent":5,"findings":[]}` + "\n```\nNo blocking issue is left.":                                                {0, 0},
		`{'findings': [], 'has_blocking_issues': False, 'earlier': [{'findingId': 'A', 'verdict': 'fixed', 'why': 'x'}]}`:                                     {0, 0},
		"I look at the findings: first at `\"files\": [\"dist\"]` in package.json.":                                                                           {0, 0},
		`{"findings":[{"priority":"P2","impact":"high","title":"The critical section","description":"It is a severe, major P1.","file":"a.go","line":"3"}],}`: {0, 0},
		"findings: []\nblocking:\n- none\nnote:\n- none is blocking\n":                                                                                        {0, 0},
		"findings: none\ncritical_issues: none\n":                                                                                                             {0, 0},
	} {
		for i, last := range [][]review.Finding{nil, {p1}} {
			if got, notes := Corrected([]byte(doc), last); len(got)-len(last) != want[i] {
				t.Errorf("%s: %d are added to %d, want %d: %q", doc, len(got)-len(last), len(last), want[i], notes)
			}
		}
	}
}

// How deep the fields of a refused answer are nested where it is cut off costs no time, and is doubt.
func TestFieldsThatAreCutOff(t *testing.T) {
	for name, doc := range map[string]string{
		"a long text":   strings.Repeat(`{"agent":`, 1600) + `"` + strings.Repeat("a", 1_000_000),
		"no end":        strings.Repeat(`{"agent":`, 32_000),
		"no JSON":       strings.Repeat(`{"agent":`, 32_000) + "'",
		"lines":         strings.Repeat("{\"agent\":{\n\"x\":", 32_000),
		"counts":        strings.Repeat(`{"issues":`, 32_000),
		"lists":         "{\n" + strings.Repeat("'findings':{\n", 32_000) + "'",
		"known, a word": strings.Repeat(`{"notes":[`, 32_000) + "None",
	} {
		start := time.Now()
		if got, _ := Corrected([]byte(doc), nil); len(got) != 1 {
			t.Errorf("%s: %d findings", name, len(got))
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: it took %s", name, took)
		}
	}
}

// A line of many cells is looked at once.
func TestALineOfManyCells(t *testing.T) {
	start := time.Now()
	if got, _ := Corrected([]byte(strings.Repeat("| blocking |", 150_000)), nil); len(got) != 0 {
		t.Errorf("%d findings", len(got))
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}
