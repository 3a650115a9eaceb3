package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// oneP0 is a valid answer that says one P0; it names it last, so that every part of it is known to matter.
const oneP0 = `{"agent":"r","prNumber":1,"conclusion":"needs_major_work","issues":{"p0_blocking":1,"p1_critical":0,"p2_important":0,"p3_suggestion":0},` +
	`"findings":[{"id":"A","priority":"P0","category":"security","file":"a.go","line":3,"title":"SQL injection","description":"It \"is\" {so}.",` +
	`"source":{"type":"agent","name":"r"},"suggestion":"s"}],"fullReport":"A report."}`

// quiet is the same answer without a word about it outside the finding.
var quiet = strings.NewReplacer("needs_major_work", "approve", `"p0_blocking":1`, `"p0_blocking":0`).Replace(oneP0)

// severe reports whether an answer, decoded or salvaged, says a P0 or P1.
func saysSevere(doc []byte) bool {
	claim := (*ClaimError)(nil)
	for _, decode := range []func([]byte) (review.ReviewerResult, schema.Notes, error){DecodeReviewer, DecodeModel} {
		r, _, err := decode(doc)
		found := r.Findings
		if err != nil && !errors.As(err, &claim) {
			found, _ = SalvageReviewer(doc)
		}
		if !slices.ContainsFunc(found, func(f review.Finding) bool { return f.Priority.Severe() }) {
			return false
		}
	}
	return true
}

// hostile are shapes of an answer that says a P0 and that no decoder accepts, or accepts without it.
func hostile() map[string]string {
	finding := quiet[strings.Index(quiet, `{"id"`):strings.Index(quiet, `],"fullReport"`)]
	list := func(with string) string { return strings.Replace(quiet, `"findings":[`+finding+`]`, with, 1) }
	utf16le := func(s string) string {
		b := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(s)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	quoted, _ := json.Marshal("[" + finding + "]")
	p0 := strings.Index(quiet, `"P0"`) + len(`"P0"`)
	return map[string]string{
		"cut within the finding":           quiet[:p0+10],
		"cut after P0":                     quiet[:p0],
		"cut before the priority":          quiet[:strings.Index(quiet, `"priority"`)],
		"findings is an object":            list(`"findings":` + finding),
		"findings is an object by id":      list(`"findings":{"A":` + finding + `}`),
		"nested arrays":                    list(`"findings":[[` + finding + `]]`),
		"a bare array":                     "[" + finding + "]",
		"a bare finding":                   finding,
		"Findings":                         list(`"Findings":[` + finding + `]`),
		"FINDINGS, PRIORITY":               strings.ToUpper(quiet),
		"an escaped key and value":         strings.NewReplacer(`"findings"`, `"f\u0069ndings"`, `"P0"`, `"\u00500"`).Replace(quiet),
		"an unquoted key":                  list(`findings:[` + strings.Replace(finding, `"priority"`, `priority`, 1) + `]`),
		"single quotes":                    strings.ReplaceAll(quiet, `"`, `'`),
		"another key":                      list(`"problems":[` + finding + `]`),
		"another key beside the findings":  list(`"findings":[],"more":[` + finding + `]`),
		"another key for the priority":     list(`"findings":[` + strings.Replace(finding, `"priority":"P0"`, `"severity":"critical"`, 1) + `]`),
		"no priority":                      list(`"findings":[` + strings.Replace(finding, `"priority":"P0",`, "", 1) + `]`),
		"no priority, another key":         list(`"problems":[` + strings.Replace(finding, `"priority":"P0",`, "", 1) + `]`),
		"a number for the priority":        list(`"findings":[` + strings.Replace(finding, `"P0"`, `0`, 1) + `]`),
		"two priorities":                   list(`"findings":[` + strings.Replace(finding, `"priority":"P0"`, `"priority":"P0","priority":"P3"`, 1) + `]`),
		"two priorities, the last cut":     strings.TrimSuffix(list(`"findings":[`+strings.Replace(finding, `"priority":"P0"`, `"priority":"P0","priority":"P3"`, 1)), `,"fullReport":"A report."}`),
		"within a P3":                      list(`"findings":[` + strings.NewReplacer(`"P0"`, `"P3"`, `"suggestion":"s"`, `"also":[`+finding+`]`, `"id":"A"`, `"id":5`).Replace(finding) + `]`),
		"a P3 that is not closed before":   list(`"findings":[{"id":"B","priority":"P3","title":"t},` + finding + `]`),
		"a list in a string":               list(`"findings":` + string(quoted)),
		"texts":                            list(`"findings":["SQL injection in a.go"]`),
		"texts under another key":          `{"problems":["SQL injection in a.go"]}`,
		"a text":                           list(`"findings":"SQL injection in a.go"`),
		"prose":                            "I found a critical problem: SQL injection.",
		"prose with P0":                    "P0: SQL injection in a.go",
		"Markdown":                         "## Findings\n\n- **Severity**: High\n- SQL injection\n",
		"YAML":                             "findings:\n  - id: A\n    title: SQL injection\n",
		"a comment in the JSON":            strings.Replace(quiet, `"findings":[`, `"findings":[ // one`, 1),
		"no comma":                         strings.Replace(quiet, `"P0",`, `"P0"`, 1),
		"Python":                           "{'findings': [{'title': 'SQL injection', 'line': None}]}",
		"UTF-16":                           utf16le(quiet),
		"a claim, and no finding":          strings.Replace(oneP0, finding, "", 1),
		"a claim by the counts alone":      strings.Replace(strings.Replace(oneP0, finding, "", 1), "needs_major_work", "approve", 1),
		"a claim by the conclusion alone":  strings.Replace(strings.Replace(quiet, finding, "", 1), `"approve"`, `"request_changes"`, 1),
		"a claim, cut":                     oneP0[:strings.Index(oneP0, `,"findings"`)],
		"a second P0 after two hundred P3": list(`"findings":[` + strings.Repeat(strings.Replace(finding, "P0", "P3", 1)+",", schema.MaxFindings+1) + finding + `]`),
	}
}

func TestWhatIsUnreadLeavesItsPlace(t *testing.T) {
	for name, doc := range hostile() {
		if !saysSevere([]byte(doc)) {
			t.Errorf("%s: nothing is left of %s", name, doc[:min(len(doc), 400)])
		}
		for _, keep := range []func([]byte) ([]review.Finding, schema.Notes){SalvageReviewer, SalvageComments} {
			found, _ := keep([]byte(doc))
			n := 0
			for _, f := range found {
				if Unreadable(f) {
					n++
				}
			}
			if n > 1 {
				t.Errorf("%s left %d places: %+v", name, n, found)
			}
		}
	}
}

// What plainly holds nothing that could block leaves nothing: a reviewer that fails needs no person then.
func TestWhatPlainlyHoldsNothingLeavesNothing(t *testing.T) {
	p2 := strings.Replace(bare(`,"line":3,"source":{"type":"agent","name":"r"}`), `"P1"`, `"P2"`, 1)
	half := with(p2)
	for name, doc := range map[string]string{
		"blank":                                 " \n\t",
		"prose":                                 "The change looks good to me. Nothing to report, high quality work.",
		"an error":                              `{"error":{"message":"rate limit reached","type":"requests","code":429}}`,
		"a stack trace":                         "Error: connect ECONNREFUSED 127.0.0.1:443\n    at Object.<anonymous> (/x/index.js:1:2) {\n  code: 'ENOENT',\n  errno: -2\n}\n",
		"a Go trace":                            "panic: runtime error: index out of range [1] with length 1\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:3 +0x1d\nexit status 2\n",
		"a log":                                 "[2026-11-22T10:00:00Z] INFO model loaded {\"model\":\"x\",\"major\":3}\n[10:00:01] could not start: no key\n",
		"an envelope that is empty":             strings.Replace(with(), `"agent":"r"`, `"agent":5`, 1),
		"an envelope that is empty, spaced":     strings.NewReplacer(`"agent":"r"`, `"agent":5`, `[]`, "[\n ]", `:`, ` : `).Replace(with()),
		"an envelope cut before the findings":   half[:strings.Index(half, `,"findings"`)],
		"an envelope cut in the list":           half[:strings.Index(half, `{"id"`)],
		"empty objects":                         with(`{}`, `{}`),
		"a P2 that is refused":                  with(strings.Replace(p2, `"id":"A"`, `"id":5`, 1)),
		"a P3 in lower case":                    with(strings.Replace(p2, `"P2"`, `"p3"`, 1)),
		"a P2 that is cut":                      half[:strings.Index(half, `"source"`)],
		"a P2 that is cut within a text":        half[:strings.Index(half, `,"file"`)-2] + "\n",
		"a P2 that is cut within the source":    half[:strings.Index(half, `"name"`)],
		"a P2 with the conclusion it may have":  strings.Replace(with(strings.Replace(p2, `"id":"A"`, `"id":5`, 1)), `"approve"`, `"request_changes"`, 1),
		"a P2 under the key of another role":    strings.Replace(with(p2), `"findings"`, `"pendingIssues"`, 1),
		"more P2 than are kept":                 strings.Replace(with(slices.Repeat([]string{p2}, schema.MaxFindings+50)...), `"agent":"r"`, `"agent":5`, 1),
		"a claim below the list and no finding": strings.Replace(with(), `"p2_important":0`, `"p2_important":4`, 1)[1:],
	} {
		found, notes := SalvageReviewer([]byte(doc))
		for _, f := range found {
			if f.Priority.Severe() {
				t.Errorf("%s left %+v: %q", name, f, notes)
			}
		}
	}
}

// A claim above the list leaves a place, in the answers of both roles; one below it is ignored, as is one that the list meets.
func TestClaimsAboveTheList(t *testing.T) {
	for _, row := range []struct {
		name, issues, conclusion string
		findings                 []string
		left                     int
	}{
		{"a P0 that is not listed", `"p0_blocking":1,"p1_critical":0`, "approve", nil, 1},
		{"a P1 that is not listed", `"p0_blocking":0,"p1_critical":2`, "approve", []string{bare(``)}, 1},
		{"a P0 where a P1 is listed", `"p0_blocking":1,"p1_critical":0`, "approve", []string{bare(``)}, 1},
		{"a conclusion", `"p0_blocking":0,"p1_critical":0`, "request_changes", nil, 1},
		{"a P1 that is listed", `"p0_blocking":0,"p1_critical":1`, "needs_major_work", []string{bare(``)}, 0},
		{"fewer than are listed", `"p0_blocking":0,"p1_critical":0`, "approve", []string{bare(``)}, 0},
	} {
		doc := strings.NewReplacer(`"p0_blocking":0,"p1_critical":0`, row.issues, `"approve"`, `"`+row.conclusion+`"`).Replace(with(row.findings...))
		r, _, err := DecodeReviewer([]byte(doc))
		if err != nil || len(r.Findings) != len(row.findings)+row.left || r.Issues != review.Count(r.Findings) {
			t.Errorf("%s: %+v, %v", row.name, r, err)
		}
		if row.left == 1 && (!Unreadable(r.Findings[len(r.Findings)-1]) || r.Findings[len(r.Findings)-1].Priority != review.P0) {
			t.Errorf("%s: %+v", row.name, r.Findings)
		}
	}
	c, _, err := DecodeComments([]byte(strings.Replace(specComments, `"p0_blocking": 0`, `"p0_blocking": 1`, 1)))
	if err != nil || len(c.PendingIssues) != 1 || !Unreadable(c.PendingIssues[0]) {
		t.Errorf("comments: %+v, %v", c, err)
	}
	full := strings.Replace(with(slices.Repeat([]string{strings.Replace(bare(``), "P1", "P3", 1)}, schema.MaxFindings)...), `"p0_blocking":0`, `"p0_blocking":1`, 1)
	if _, _, err := DecodeReviewer([]byte(full)); err == nil || !saysSevere([]byte(full)) {
		t.Errorf("an answer without room for a place: %v", err)
	}
}

// A field that no schema knows leaves a place when its name or its value names a P0 or P1, however the words of the name are joined.
func TestUnknownFieldsThatNameAP0(t *testing.T) {
	beside := func(field string) string { return strings.TrimSuffix(with(), "}") + `,` + field + `}` }
	minor := func(field string) string { return with(strings.Replace(bare(`,`+field), `"P1"`, `"P3"`, 1)) }
	for doc, want := range map[string]bool{
		beside(`"critical_issues":["RCE"]`): true, beside(`"criticalIssues":[{"t":"RCE"}]`): true, beside(`"p0_issues":["RCE"]`): true, beside(`"p0Findings":["RCE"]`): true,
		beside(`"critical_count":2`): true, beside(`"P0s":["x"]`): true, beside(`"criticals":["x"]`): true, beside(`"blocking":true`): true, beside(`"critical_issues":["None of the arguments is checked"]`): true, beside(`"hasBlockingIssues":true`): true,
		beside(`"high":["RCE"]`): true, beside(`"security":{"CRITICAL_ISSUES":["RCE"]}`): true, beside(`"list":[{"is_blocking":true}]`): true, beside(`"summary":"it names a critical problem"`): true,
		minor(`"blocking":true`): true, minor(`"must":{"block_merge":false},"is_blocker":"yes"`): true, minor(`"source":{"type":"agent","severity":"critical"}`): true,
		strings.Replace(with(), `"p0_blocking":0`, `"p0_blocking":0,"critical_count":1`, 1): true,

		beside(`"critical_issues":[]`): false, beside(`"critical_issues":["none found"]`): false, beside(`"counts":{"p0_issues":0,"critical":0,"high":0}`): false, beside(`"blocking":false`): false,
		beside(`"hasBlockingIssues":false`): false, beside(`"non_blocking":["a nit"]`): false, beside(`"nonCriticalNotes":["a nit"]`): false, beside(`"summary":"no critical issues"`): false,
		beside(`"criticalIssues":{"count":0,"list":[]}`): false, beside(`"mood":"good"`): false, minor(`"blocking":false`): false, minor(`"is_blocker":"no"`): false, minor(`"source":{"type":"agent","version":2}`): false,
	} {
		r, notes, err := DecodeReviewer([]byte(doc))
		if left := slices.ContainsFunc(r.Findings, Unreadable); err != nil || left != want {
			t.Errorf("left a place: %v, want %v: %s: %q %v", left, want, doc, notes, err)
		}
	}
}

// A name for a P0 in an entry that is listed as P3, or beside the list, leaves a place in a broken answer, as in a valid one (threats.md T690).
func TestAFieldInAnEntryOfABrokenAnswer(t *testing.T) {
	for field, want := range map[string][2]bool{ // in an entry, and beside the list
		`"blocking":true`: {true, true}, `"isBlocker":"yes"`: {true, true}, `"source":{"critical":true}`: {true, true}, `"impact":"critical"`: {true, true}, `"note":"[blocking] it"`: {false, false},
		`"blocking":false`: {false, false}, `"is_blocker":"no"`: {false, false}, `"major":3`: {true, false}, `"impact":"high"`: {false, true},
	} {
		minor := strings.Replace(bare(`,`+field), `"P1"`, `"P3"`, 1)
		for i, doc := range []string{with(minor), with(strings.Replace(minor, `"id":"A"`, `"id":5`, 1)), strings.TrimSuffix(with(), "}") + "," + field + "}"} {
			kept, notes := SalvageReviewer([]byte(strings.Replace(doc, `"agent":"r"`, `"agent":5`, 1)))
			if got := slices.ContainsFunc(kept, Unreadable); got != want[i/2] {
				t.Errorf("%s: left a place %v, want %v: %q", doc, got, want[i/2], notes)
			}
		}
	}
}

// A field that rates a listed finding, or the change, in words short of those for a P0 is noted and leaves no place: it is no other
// finding. One that names what blocks does, and so does one that holds something else than words.
func TestRatingsAreNoFindings(t *testing.T) {
	beside := func(field string) string { return strings.TrimSuffix(with(), "}") + `,` + field + `}` }
	minor := func(field string) string { return with(strings.Replace(bare(`,`+field), `"P1"`, `"P2"`, 1)) }
	for doc, want := range map[string]bool{
		minor(`"severity":"high"`): false, minor(`"severity":"HIGH"`): false, minor(`"impact":"Could be severe for multi-tenant users"`): false, minor(`"risk_level":"major"`): false,
		minor(`"urgency":"urgent"`): false, minor(`"impact":"high: not critical, and no P0"`): true, minor(`"impact":"high, no critical risk"`): false,
		beside(`"overall_risk":"high"`): false, beside(`"riskLevel":"High"`): false, beside(`"risk_assessment":"Low. The highest risk is the URI parser, which is covered by tests."`): false,

		minor(`"severity":"critical"`): true, minor(`"severity":"P1"`): true, minor(`"impact":"blocking"`): true, minor(`"impact":["high"]`): true, minor(`"impact":{"severity":"high"}`): true,
		minor(`"related":"high severity: SQL injection in b.go"`): true, minor(`"other_severity":"severity: high, in b.go too"`): true, minor(`"high_impact_issues":"SQL injection"`): true,
		beside(`"overall_risk":"critical"`): true, beside(`"risk_assessment":"P1: SQL injection"`): true, beside(`"risks":[{"severity":"high"}]`): true, beside(`"high_risk_issues":"SQL injection"`): true,
		beside(`"severity":"high"`): true, beside(`"overall_risk":"release blocker"`): true,
	} {
		r, notes, err := DecodeReviewer([]byte(doc))
		left := slices.ContainsFunc(r.Findings, Unreadable)
		if noted := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "rates it") }); err != nil || left != want || noted == want {
			t.Errorf("left a place: %v, want %v: %s: %q %v", left, want, doc, notes, err)
		}
	}
}

// A line beside an answer stands for a listed finding where it has its title, is no graver and names no other place (threats.md T899).
func TestALineBesideIsAboutAListedFinding(t *testing.T) {
	listed := []review.Finding{
		{ID: "A", Priority: review.P1, File: "shop/stock.go", Line: new(15), LineEnd: new(17), Title: "Division by zero"},
		{ID: "B", Priority: review.P0, File: "users.go", Title: "SQL injection"},
	}
	for line, about := range map[string]bool{
		"- **P1**: Division by zero":                                                                      true,
		"- **P1** shop/stock.go:15: Division by zero":                                                     true,
		"- **Critical** (`stock.go:16`): division by zero, e.g. in an empty shop":                         true,
		"| P1 | ./shop/stock.go | 15 | Division by zero |":                                                true,
		"- **P0**: users.go:80: SQL injection":                                                            true,
		"- **P0**: Division by zero":                                                                      false,
		"- **Blocking**: Division by zero":                                                                false,
		"- **P1**: auth.go lets anybody in by a division by zero":                                         false,
		"- **P1**: Division by zero in lines 80 to 90":                                                    false,
		"- **P1** shop/stock.go:80: Division by zero":                                                     false,
		"- **P1** Makefile:15: Division by zero":                                                          false,
		"- **P0**: auth.go:5 lets anybody in by an SQL injection":                                         false,
		"- **P0**: auth.go:5 lets anybody in by a division by zero that is recovered as success":          false,
		"- **P1** other/stock.go:15: Division by zero":                                                    false,
		"- **P1**: Division by zero\n- **P1**: auth.go:5: Division by zero":                               false,
		"- **P1**: auth.go:5: Division by zero\n- **P1**: Division by zero":                               false,
		"- **P1**: Division by zero\n- **P0**: SQL injection (users.go)\nBoth stand in the report below.": true,
	} {
		if got := Beside([]byte(line), listed) == ""; got != about {
			t.Errorf("%q is about a listed finding: %v", line, got)
		}
	}
}

// Beside an answer that lists none, a line of a list or a table, a heading or a field that calls something a P0 leaves a place. Prose
// that speaks of such things, and a table of zeros, do not.
func TestTextBesideAnAnswer(t *testing.T) {
	for text, want := range map[string]bool{
		"| P0 | SQL injection in a.go |": true, "| 1 | **P0** | SQL injection |": true, "1. **P0**: SQL injection": true, "2) P0: SQL injection": true, "- (P0) SQL injection": true,
		"- **P0** SQL injection": true, "* `P0` SQL injection": true, "\U0001f534 P0: SQL injection": true, "**Severity:** critical": true, "- **Severity**: Critical": true,
		"- **Priority**: P0": true, "Priority \u2013 P1": true, "- [ ] P0: SQL injection": true, "- P0 (blocking): SQL injection": true, "- **Critical issue**: SQL injection": true,
		"P0 | SQL injection": true, "- a.go:3: [P0] SQL injection": true, "### [P0] SQL injection": true, "BLOCKING: SQL injection": true, "\x1b[31mP0\x1b[0m: SQL injection": true, "P0: SQL injection": true,
		"Finding 1\n  severity: high": true, "[BLOCKER] SQL injection": true, "(P0) SQL injection": true, "**P0:**\n\nSQL injection": true, "P0:\n\nNone.": false, "P0: no check of who asks": true, "P0) the input is not escaped": true, "- **P0** nothing is checked here": true, "| P0 | no check of who asks |": true,

		"## P0\n- SQL injection in a.go": true, "### Blocking\n\n- SQL injection in a.go": true, "## Critical Issues\n1. SQL injection": true, "**Critical issues (1)**\n\n* SQL injection": true, "## P0 (blocking)\n\n### SQL injection in a.go": true,
		"## Critical issues\n\n- None": false, "## Critical issues\n\n- No critical issues were found": false, "## P0\n\n## P1\n\n## P2\n- a nit": false, "## Critical issues\n\n## Suggestions\n- a nit": false, "## Blocking\n- nothing": false, "## P0\nI looked for it.": false,
		"- P0 SQL injection in a.go": true, "- P0 and P1 problems: I looked for them": false, "- P0 issues were looked for": false, "- SQL injection in a.go \u2014 critical": true, "- P0 \u2014 blocking\n- P1 \u2014 critical": false, "- no SQL injection - critical": false,
		"Critical issues:\n- SQL injection in a.go": true, "P0 findings:\n\n1. SQL injection in a.go": true, "## Critical security issues\n- SQL injection in a.go": true, "## P0: Blocking\n- SQL injection": true,
		"## P0\n### SQL injection in a.go\nNo input is escaped.": true, "- SQL injection in a.go [P0].": true, "Critical issues:\n- None found.": false, "P0:\n\nP1:\n- nothing": false,
		"## Critical\n- Checked: locking, error paths, SQL. All fine.": false, "## Critical issues\n- Looked at auth and SQL": false, "## Critical issues\n- There are none.": false, "## Critical issues\n- There are no critical issues.": false,
		"## Critical issues\n- I found none": false, "## Critical issues\n- I did not find any.": false, "### P0\n* All good": false, "# Critical\n## Checked\n- locking": false, "# Blocking\n## Non-blocking\n- a nit": false,
		"## Critical issues (0)\n### Important issues\n- a nit": false, "## Critical issues\n### Security\nNone\n### Correctness\nNone": false, "- P0 checks: SQL, auth, locking - all fine": false, "1. P0 pass: correctness of the parser. Done.": false,
		"- P0 review complete": false, "- P1 there are none": false, "| P0 (Blocking) | 0 |": false, "| P0 | None identified | |": false, "* **Critical (P0)**: No blocking issues found in the diff.": false, "* **Critical (P0)**: No input is escaped.": true,
		"- **Severe**: SQL injection": true, "Severity: severe": true, "CRITICAL SECURITY ISSUE: SQL injection in a.go": true, "| \U0001f534 P0 | SQL injection |": true,
		"Critical section: the lock is held.": false, "- critical sections - all held": false,

		"| Priority | Count |\n| --- | --- |\n| P0 | 0 |\n| P1 | 0 |\n| P2 | 3 |": false, "| P0 | P1 | P2 | P3 |\n| 0 | 0 | 2 | 1 |": false, "| P0 | none |": false, "| P0 | SQL injection | 0 |": true,
		"- **P0**: none": false, "- P0 (blocking): none found": false, "- **P0** no findings": false, "P0: 0": false, "I looked for P0 and P1 problems, such as SQL injection.": false,
		"- no [P0] was found": false, "## Critical issues\n\nNone.": false, "This is a critical path, but it looks fine.": false, "I found no critical issues: all is well.": false, "- **Severity**: low": false,
		"high quality work": false,
	} {
		if got := Beside([]byte(text), nil) != ""; got != want {
			t.Errorf("%q: left a place %v, want %v", text, got, want)
		}
	}
}

// Plurals, words that are joined to others, and the colours of terminals hide no P0 in what is no answer.
func TestWordsForAP0(t *testing.T) {
	for _, text := range []string{"\x1b[31mP0\x1b[0m SQL injection", `{"log":"\u001b[1;31mP0\u001b[0m SQL injection"`, "P0s found: 1", "critical_count: 2", "CRITICAL_FINDINGS: SQL injection", "criticals: 1"} {
		if !MayBlock([]byte(text)) {
			t.Errorf("%q leaves nothing", text)
		}
	}
}

// A model need not count nor conclude; what it claims all the same is told apart from what is invalid, and comes with the answer.
func TestWhatAModelNeedNotSay(t *testing.T) {
	strip := func(doc string, fields ...string) string {
		var v map[string]json.RawMessage
		if err := json.Unmarshal([]byte(doc), &v); err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			delete(v, f)
		}
		text, _ := json.Marshal(v)
		return string(text)
	}
	p0 := `{"p0_blocking":1,"p1_critical":0,"p2_important":0,"p3_suggestion":0}`
	claims := strings.Replace(strip(with(), "issues"), "{", `{"issues":`+p0+`,`, 1)
	for name, row := range map[string]struct {
		doc        string
		conclusion review.Conclusion
		why        string
	}{
		"neither":              {strip(with(), "issues", "conclusion"), review.Approve, ""},
		"neither, with a P1":   {strip(with(bare(``)), "issues", "conclusion"), review.RequestChanges, ""},
		"no counts":            {strip(with(), "issues"), review.Approve, ""},
		"a claim":              {claims, review.Approve, "it claims 1 P0 and lists 0"},
		"a claim alone":        {strip(claims, "conclusion"), review.NeedsMajorWork, "it claims 1 P0 and lists 0"},
		"a conclusion alone":   {strings.Replace(strip(with(), "issues"), `"approve"`, `"request_changes"`, 1), review.RequestChanges, "it concludes request_changes and lists nothing"},
		"a claim that is met":  {strings.Replace(with(bare(``)), `"p1_critical":0`, `"p1_critical":1`, 1), review.Approve, ""},
		"a claim of a P3 more": {strings.Replace(with(), `"p3_suggestion":0`, `"p3_suggestion":1`, 1), review.Approve, ""},
	} {
		r, _, err := DecodeModel([]byte(row.doc))
		claim := (*ClaimError)(nil)
		if errors.As(err, &claim) != (row.why != "") || claim != nil && claim.Why != row.why || err != nil && claim == nil || r.Conclusion != row.conclusion {
			t.Errorf("%s: %v, %s", name, err, r.Conclusion)
		}
		if left := slices.ContainsFunc(r.Findings, Unreadable); left != (row.why != "") || r.Issues != review.Count(r.Findings) {
			t.Errorf("%s: left a place %v: %+v", name, left, r)
		}
	}
	for _, doc := range []string{strip(with(), "findings"), strip(with(), "agent"), strings.Replace(with(), `"approve"`, `"perhaps"`, 1), `[]`, `null`} {
		r, _, err := DecodeModel([]byte(doc))
		if claim := (*ClaimError)(nil); err == nil || errors.As(err, &claim) || r.Findings != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
	if _, _, err := DecodeReviewer([]byte(strip(with(), "issues"))); err == nil {
		t.Error("a program need not count")
	}
}

// The law: whatever happens to an answer that says a P0 once that can be read, the P0 is found or a place is left.
func TestNoMutationLosesAP0(t *testing.T) {
	for name, doc := range map[string]string{"quiet": quiet, "indented": indented(t, quiet), "fenced": "```json\n" + quiet + "\n```\n", "after text": "Here you are \"so:\n" + quiet} {
		from := strings.Index(doc, `"P0`) + len(`"P0`)
		for cut := from; cut <= len(doc); cut++ {
			if !saysSevere([]byte(doc[:cut])) {
				t.Fatalf("%s: cut at %d loses it: %s", name, cut, doc[:cut])
			}
		}
		if name != "quiet" && name != "after text" {
			continue
		}
		for at := range len(doc) { // one byte is lost, doubled or replaced
			for _, with := range []string{"", doc[at:at+1] + doc[at:at+1], "\"", "{", "}", "]", "[", "\\", "'", " ", "\x00", "\xff", ":", ","} {
				broken := doc[:at] + with + doc[at+1:]
				if strings.Contains(broken, "P0") && !saysSevere([]byte(broken)) {
					t.Fatalf("%s: %q for byte %d loses it: %s", name, with, at, broken)
				}
			}
		}
	}
}

func indented(t *testing.T, doc string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// FuzzNoMutationLosesAP0 wraps, repeats, cuts and recases parts of an answer that says a P0.
func FuzzNoMutationLosesAP0(f *testing.F) {
	f.Add(uint16(0), uint16(1), "[", "]", false)
	f.Add(uint16(40), uint16(1), `{"x":`, "}", true)
	f.Fuzz(func(t *testing.T, at, n uint16, before, after string, upper bool) {
		start := int(at) % len(quiet)
		end := min(len(quiet), start+int(n)%64)
		part := quiet[start:end]
		if upper {
			part = strings.ToUpper(part)
		}
		doc := fmt.Sprint(before, quiet[:start], part, quiet[end:], after)
		if !saysSevere([]byte(doc)) {
			t.Fatalf("lost: %s", doc)
		}
	})
}

// A line that says "null" or "none" of a P0 and goes on speaks of null and none; one that stops there denies it.
func TestADenialSaysNoMore(t *testing.T) {
	for text, want := range map[string]bool{
		"- P0: null pointer dereference in parse()": true, "- P0: None is dereferenced in parse()": true, "- P1: false positives lock accounts": true,
		"- P0: none of the inputs are checked": true, "P1: 0 is divided by": true, "- P0: 0.5 seconds are lost": true, "- **P1:** null is stored": true,
		"- P0: none": false, "- **P0:** none": false, "- **Critical:** None.": false, "* P1: none found": false, "P0: 0 issues found.\r\nP1: 0": false,
		"### P0: `None`": false, "| P0: none | P1: none |": false, "- P0: 0, P1: 0": false,
	} {
		if why := Beside([]byte(text), nil); (why != "") != want {
			t.Errorf("%q: %q", text, why)
		}
		answer := fmt.Sprintf(`{"agent":"a","prNumber":1,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[],"fullReport":"","said":%q}`, text)
		if got, _, err := DecodeReviewer([]byte(answer)); err != nil || (len(got.Findings) > 0) != want {
			t.Errorf("%q in an unknown field: %v %+v", text, err, got.Findings)
		}
	}
}

// A finding that is listed as P2 or P3 and whose title begins by calling it a P0 or P1 leaves a place; one that only speaks of such words does not.
func TestATitleThatCallsItAP0(t *testing.T) {
	for title, want := range map[string]bool{
		"[P0] SQL injection": true, "P1: the lock is not held": true, "Critical: SQL injection": true, "**Blocking**: SQL injection": true, "(critical) SQL injection": true,
		"Critical section is left without the lock": false, "Blocking call in the event loop": false, "critical path: slow": false, "Name of P0 misleads": false, "SQL injection": false, "No P0: the constant is missing": false,
		"`critical:` is read as a label": false, "p1 := f() shadows p1": false, "critical(): returns twice": false, "`P1]` is no index": false,
	} {
		for _, p := range []string{"P2", "P3"} {
			doc := strings.Replace(strings.Replace(with(bare(``)), `"P1"`, `"`+p+`"`, 1), `"title":"`, `"title":"`+title+` `, 1)
			r, _, err := DecodeReviewer([]byte(doc))
			if err != nil || len(r.Findings) == 0 || !strings.Contains(r.Findings[0].Title, title) {
				t.Fatalf("%v: %s", err, doc)
			}
			if left := slices.ContainsFunc(r.Findings, Unreadable); left != want {
				t.Errorf("%s %q: left a place: %v", p, title, left)
			}
		}
	}
}

// A title of the comments analyzer is in the words of somebody on GitHub: what calls a thread or a review a P0 there raises nothing (threats.md T586).
func TestTitlesOfThreadsRaiseNothing(t *testing.T) {
	pending := func(fields string) []byte {
		return []byte(`{"agent":"a","prNumber":7,"issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":1},"reviewState":{"hasChangesRequested":true,"changesRequestedBy":[]},` +
			`"stats":{"totalThreads":0,"resolvedThreads":0,"unresolvedThreads":0},"threadsTruncated":false,"fullReport":"",` +
			`"pendingIssues":[{"id":"review-1","priority":"P3","category":"discussion","file":"","line":null,"description":"d","suggestion":"s",` + fields + `}]}`)
	}
	for _, title := range []string{"P0: I do not like it.", "Blocking: please rename this.", "[P1] no"} {
		r, _, err := DecodeComments(pending(`"title":"` + title + `"`))
		if err != nil || len(r.PendingIssues) != 1 || r.Issues != (review.Counts{P3: 1}) {
			t.Errorf("%q: %v, %+v", title, err, r.PendingIssues)
		}
	}
	r, _, err := DecodeComments(pending(`"title":"t","severity":"critical"`))
	if err != nil || len(r.PendingIssues) != 2 || !Unreadable(r.PendingIssues[1]) {
		t.Errorf("what the analyzer itself rates in another field: %v, %+v", err, r.PendingIssues)
	}
}

// What is far too long to be read loosely, or has too many values or objects, is never taken for plainly harmless (threats.md T474).
func TestWhatIsTooMuchToReadLeavesItsPlace(t *testing.T) {
	const head = `{"agent":"a","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[],"fullReport":"Fine."`
	for name, refused := range map[string]string{
		"a long text": head + `,"x":"` + strings.Repeat("x", 5<<20) + `"`,
		"tiny values": head + `,"x":[` + strings.Repeat(`{"":0},`, 700_000),
	} {
		if kept, _ := SalvageReviewer([]byte(refused)); len(kept) != 1 || !Unreadable(kept[0]) {
			t.Errorf("%s: %d findings are kept", name, len(kept))
		}
	}
	if !MayBlock([]byte(strings.Repeat(`{}`, 100_000) + `{"priority":"P0"}`)) {
		t.Error("a P0 behind empty objects is not seen")
	}
	long := head + `,"x":["` + strings.Repeat("x", 900<<10) + `","` + strings.Repeat("x", 900<<10) + `","` + strings.Repeat("x", 900<<10) + `"]}`
	if r, _, err := DecodeReviewer([]byte(long)); err != nil || len(r.Findings) != 1 || !Unreadable(r.Findings[0]) {
		t.Errorf("a field that is too long to be read: %d findings, %v", len(r.Findings), err)
	}
	many := []byte(`{"findings":[{"title":"t","x":[` + strings.Repeat("0,", 70_000) + `0]}]}`)
	if !doubtful(many, ofReviewer, nil) {
		t.Error("an entry of too many values says nothing plainly")
	}
}
