package evidence

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

const headSHA, baseSHA = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"

// files is a history in memory: "commit:path" to content.
type files map[string]string

func (f files) ReadFile(_ context.Context, commit, path string) ([]byte, error) {
	if s, ok := f[commit+":"+path]; ok {
		return []byte(s), nil
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
}

func TestEvidence(t *testing.T) {
	history := files{
		headSHA + ":a.go":       "package a\n\nfunc f(x int) {\n\treturn g(x)\n}\n",
		baseSHA + ":a.go":       "package a\n\nfunc f(x int) error {\n\tif x < 0 {\n\t\treturn errNegative\n\t}\n}\n",
		baseSHA + ":gone.go":    "package gone\nvar Kept = 1\n",
		baseSHA + ":before.go":  "var Old = 2\n",
		headSHA + ":after.go":   "var New = 2\n",
		headSHA + ":secret.go":  "const key = 1\n",
		headSHA + ":b/real.go":  "var Real = 1\n",
		headSHA + ":real.go":    "var Other = 1\n",
		headSHA + ":d.go":       "package d\n\nfunc d(err error) {\n\tif err != nil {\n\t\treturn nil\n\t}\n\tlog(\"failed: it's over\")\n\tlog(\"step 1\u20132, re\u2011run\")\n}\n",
		headSHA + ":caf\xe9.py": "open(\"a\")\n",
		headSHA + ":b.php":      "system(\"convert \xff\xfe\" . $_GET[\"f\"]);\ncut(\"\xed\xa0\x80\");\n",
		headSHA + ":d.py":       "import os\r\nos.system(x)\r\na()\rb()\r\n",
		headSHA + ":e.py":       "pay(\"cafe\u0301\", 1)\n",
		headSHA + ":f.py":       "connect(user, q7Rz2Lm9)\nsend(q7Rz2Lm9)\n",
		headSHA + ":c.py":       "run(user, \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\", sys.argv)\n",
	}
	changed := []review.BriefFile{
		{Path: "a.go", Change: "modified"}, {Path: "gone.go", Change: "deleted"},
		{Path: "d.go", Change: "modified", Diff: "diff --git a/d.go b/d.go\n--- a/d.go\n+++ b/d.go\n@@ -3,2 +3,4 @@\n func d(err error) {\n-\tmust(err)\n+\tif err != nil {\n+\t\treturn nil\n+\t}\n"},
		{Path: `"caf\351.py"`, Change: "added"}, {Path: "b.php", Change: "modified"}, {Path: "c.py", Change: "modified"}, {Path: "d.py", Change: "modified"}, {Path: "e.py", Change: "modified"},
		{Path: "lib", Change: "modified", Diff: "diff --git a/lib b/lib\n@@ -1 +1 @@\n-Subproject commit 1111\n+Subproject commit 2222\n"},
		{Path: "f.py", Change: "modified", Context: []review.Region{{Start: 1, End: 1, Text: "connect(user, [REDACTED])\n"}}},
		{Path: "two.go", OldPath: "one.go", Change: "renamed"}, {Path: "three.go", OldPath: "one.go", Change: "copied"},
		{Path: "after.go", OldPath: "before.go", Change: "renamed"}, {Path: "secret.go", Change: "modified", Omitted: "excluded by configuration"},
	}
	at := func(n int) *int { return &n }
	for _, c := range []struct {
		what     string
		finding  review.Finding
		required bool
		want     Status
		dropped  bool
	}{
		{"a quote that stands in the file, white space folded", review.Finding{File: "a.go", Line: at(3), Evidence: "func f(x int) {\n    return g(x)"}, true, Verified, false},
		{"a quote of lines that were taken away", review.Finding{File: "a.go", Evidence: "if x < 0 { return errNegative }"}, true, Verified, false},
		{"a quote of a deleted file", review.Finding{File: "gone.go", Evidence: "var Kept = 1"}, true, Verified, false},
		{"a quote of a renamed file's old version", review.Finding{File: "after.go", Evidence: "var Old = 2"}, true, Verified, false},
		{"a quote of a renamed file by the name it had", review.Finding{File: "before.go", Evidence: "var New = 2"}, true, Verified, false},
		{"such a name as in the header of a diff", review.Finding{File: "a/before.go", Evidence: "var Old = 2"}, true, Verified, false},
		{"a name that two files have of one that is gone", review.Finding{File: "one.go", Evidence: "var New = 2"}, true, False, false},
		{"a line of a region with the mask it was shown with", review.Finding{File: "f.py", Line: at(1), Evidence: "connect(user, [REDACTED])"}, true, Verified, false},
		{"a part of it, with its number", review.Finding{File: "f.py", Line: at(1), Evidence: "     1  connect(user, [REDACTED]"}, true, Verified, false},
		{"related code with such a mask", review.Finding{File: "f.py", Line: at(2), Evidence: "send([REDACTED])"}, true, Verified, false},
		{"other code with such a mask", review.Finding{File: "f.py", Line: at(2), Evidence: "send(a, [REDACTED])"}, true, False, false},
		{"a quote whose reviewer says that it left a secret out", review.Finding{File: "a.go", Evidence: "[REDACTED](x int) {[REDACTED]"}, true, Verified, false},
		{"a mark where the file has a secret (threats.md T30)", review.Finding{File: "c.py", Evidence: "run(user, \"[REDACTED]\", sys.argv)"}, true, Verified, false},
		{"a mark for more than the secret", review.Finding{File: "c.py", Evidence: "run(user, [REDACTED], sys.argv)"}, true, Verified, false},
		{"a mark in code that is not there", review.Finding{File: "c.py", Evidence: "eval(user, \"[REDACTED]\", sys.argv)"}, true, False, false},
		{"a name that is not UTF-8, as it is spelled (threats.md T28)", review.Finding{File: `"caf\351.py"`, Evidence: `open("a")`}, true, Verified, false},
		{"such a name without its quotes", review.Finding{File: `"caf\\351.py"`, Evidence: `open("a")`}, true, Verified, false},
		{"such a name read as text", review.Finding{File: `"caf\357\277\275.py"`, Evidence: `open("a")`}, true, Verified, false},
		{"invalid bytes, one replacement character each", review.Finding{File: "b.php", Evidence: "system(\"convert \ufffd\ufffd\" . $_GET[\"f\"]);"}, true, Verified, false},
		{"invalid bytes, as they are shown", review.Finding{File: "b.php", Evidence: "system(\"convert ⟨0xE9⟩⟨0xE9⟩\" . $_GET[\"f\"]);"}, true, Verified, false},
		{"invalid bytes that a model merged", review.Finding{File: "b.php", Evidence: "system(\"convert \ufffd\" . $_GET[\"f\"]);"}, true, Verified, false},
		{"a lone surrogate", review.Finding{File: "b.php", Evidence: "cut(\"\ufffd\ufffd\ufffd\");"}, true, Verified, false},
		{"a line that ends in CR LF, without the LF", review.Finding{File: "d.py", Evidence: "os.system(x)\r"}, true, Verified, false},
		{"several such lines", review.Finding{File: "d.py", Evidence: "import os\r\nos.system(x)\r"}, true, Verified, false},
		{"a CR within a line", review.Finding{File: "d.py", Evidence: "a()\rb()\r"}, true, Verified, false},
		{"a CR that is not there", review.Finding{File: "d.py", Evidence: "os.\rsystem(x)"}, true, False, false},
		{"a letter and its accent as one character", review.Finding{File: "e.py", Evidence: "pay(\"caf\u00e9\", 1)"}, true, Verified, false},
		{"the letter without its accent", review.Finding{File: "e.py", Evidence: "pay(\"cafe\", 1)"}, true, False, false},
		{"a submodule, whose text stands in the diff alone", review.Finding{File: "lib", Evidence: "Subproject commit 2222"}, true, Verified, false},
		{"as in a diff, with its marks", review.Finding{File: "d.go", Evidence: "+\tif err != nil {\n+\t\treturn nil"}, true, Verified, false},
		{"as in a diff, with marks and line numbers", review.Finding{File: "d.go", Evidence: "     4 +\tif err != nil {\n     5 +\t\treturn nil"}, true, Verified, false},
		{"a removed line with its mark", review.Finding{File: "d.go", Evidence: "       -\tmust(err)"}, true, Verified, false},
		{"as in a region, with line numbers", review.Finding{File: "a.go", Evidence: "     3  func f(x int) {\n     4  \treturn g(x)"}, true, Verified, false},
		{"line numbers and a bar", review.Finding{File: "a.go", Evidence: "3 | func f(x int) {\n4 | return g(x)"}, true, Verified, false},
		{"another line's number", review.Finding{File: "a.go", Evidence: "     2  func f(x int) {\n     3  \treturn g(x)"}, true, False, false},
		{"another line's mark", review.Finding{File: "d.go", Evidence: "-\tif err != nil {"}, true, False, false},
		{"a mark where the file has a sign", review.Finding{File: "a.go", Evidence: "-return g(x)"}, true, False, false},
		{"between backticks", review.Finding{File: "a.go", Evidence: "`return g(x)`"}, true, Verified, false},
		{"in a fence", review.Finding{File: "a.go", Evidence: "```go\nfunc f(x int) {\n\treturn g(x)\n```"}, true, Verified, false},
		{"typographic quotation marks", review.Finding{File: "d.go", Evidence: "log(\u201cfailed: it\u2019s over\u201d)"}, true, Verified, false},
		{"dashes, as in prose", review.Finding{File: "d.go", Evidence: "log(\"step 1-2, re-run\")"}, true, Verified, false},
		{"a dash where none is", review.Finding{File: "d.go", Evidence: "log(\"step 1 2, re-run\")"}, true, False, false},
		{"an ellipsis between two lines", review.Finding{File: "d.go", Evidence: "func d(err error) {\n\t...\n\tlog("}, true, Verified, false},
		{"an ellipsis within a line", review.Finding{File: "d.go", Evidence: "func d(\u2026) {"}, true, Verified, false},
		{"an ellipsis as a comment, and margins", review.Finding{File: "d.go", Evidence: "     3  func d(err error) {\n  // ...\n     5 +\t\treturn nil"}, true, Verified, false},
		{"an ellipsis between parts in another order", review.Finding{File: "d.go", Evidence: "log(... func d("}, true, False, false},
		{"an ellipsis within a word", review.Finding{File: "d.go", Evidence: "re...rn nil"}, true, False, false},
		{"an ellipsis, and one part that is not there", review.Finding{File: "d.go", Evidence: "func d(err error) {\n...\nos.RemoveAll(x)"}, true, False, false},
		{"an ellipsis alone", review.Finding{File: "d.go", Evidence: "..."}, true, False, false},
		{"a name as in the header of a diff", review.Finding{File: "b/a.go", Evidence: "return g(x)"}, true, Verified, false},
		{"such a name of a file that is gone", review.Finding{File: "a/gone.go", Evidence: "var Kept = 1"}, true, Verified, false},
		{"such a name of an excluded file", review.Finding{File: "b/secret.go", Evidence: "const key = 1"}, true, False, false},
		{"a folder that is called so", review.Finding{File: "b/real.go", Evidence: "var Real = 1"}, true, Verified, false},
		{"such a name of no file", review.Finding{File: "b/nowhere.go", Evidence: "var Real = 1"}, true, False, false},
		{"a mark in the middle where there is no secret", review.Finding{File: "a.go", Evidence: "func [REDACTED](x int)"}, true, False, false},
		{"a mark alone is no quote", review.Finding{File: "a.go", Evidence: " [REDACTED] [REDACTED] "}, true, False, false},
		{"a mark alone between backticks", review.Finding{File: "a.go", Evidence: "`[REDACTED]`"}, true, False, false},
		{"a mark alone in a fence", review.Finding{File: "a.go", Evidence: "```\n[REDACTED]\n```"}, false, None, false},
		{"marks and an ellipsis", review.Finding{File: "a.go", Evidence: "[REDACTED]\n...\n[REDACTED]"}, true, False, false},
		{"a quote that stands nowhere", review.Finding{File: "a.go", Evidence: "os.RemoveAll(x)"}, false, False, false},
		{"no quote from a command reviewer", review.Finding{File: "a.go"}, false, None, false},
		{"no quote from a builtin reviewer", review.Finding{File: "a.go"}, true, False, false},
		{"a file that does not exist (threats.md T87)", review.Finding{File: "nowhere.go"}, false, False, false},
		{"a line far outside the file (threats.md T87)", review.Finding{File: "a.go", Line: at(1_000_000_000)}, false, None, true},
		{"a finding about no file", review.Finding{}, false, None, false},
		{"an excluded file is not read", review.Finding{File: "secret.go", Evidence: "const key = 1"}, false, False, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			checker := New(history, headSHA, baseSHA, changed).Shown([]review.RelatedFile{{Path: "f.py", Regions: []review.Region{{Start: 2, End: 2, Text: "send([REDACTED])\n"}}}})
			got, _, err := checker.Place(t.Context(), &c.finding, c.required)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != c.want || got.LineDropped != c.dropped {
				t.Errorf("got %+v, want %s, line dropped %v", got, c.want, c.dropped)
			}
			if got.Status == False && got.Reason == "" {
				t.Error("false without a reason")
			}
		})
	}
}

// A mask in a quote stands for what the run learned of the change too: tools show it so in files that the rules find nothing in.
func TestQuotesOfLearnedValues(t *testing.T) {
	const value, quote = "q7Rz2Lm9Xc4Vb8Nt1Wk6", `dial("[REDACTED]", "api")`
	known := &sanitize.Learned{}
	known.Learn(value)
	for _, row := range []struct {
		known *sanitize.Learned
		file  string
		want  Status
	}{{nil, value, False}, {known, value, Verified}, {known, "staging", False}} {
		c := New(files{headSHA + ":a.go": "c := dial(\"" + row.file + "\", \"api\")\n"}, headSHA, baseSHA, nil).Knows(row.known)
		got, _, err := c.Place(t.Context(), &review.Finding{File: "a.go", Evidence: quote}, true)
		if err != nil || got.Status != row.want {
			t.Errorf("%q: %+v, %v", row.file, got, err)
		}
		if f, err := c.Read(t.Context(), headSHA, "a.go"); err != nil || f.Quotes(quote) != (row.want == Verified) {
			t.Errorf("%q: a file quotes it: %t, %v", row.file, f.Quotes(quote), err)
		}
	}
}

// A word of a file that is written like a mask is quoted in the spelling in which it was shown, or as it is, and its place is known (threats.md T790).
func TestQuotesOfOwnWords(t *testing.T) {
	for _, own := range []string{"[REDACTED]", "[REDACTED~]", "⟨U+001F⟩", "⟨~U+001F⟩"} {
		file := "one\nif token == \"" + own + "\" { admit() }\n"
		for _, evidence := range []string{sanitize.Spelled("if token == \"" + own + "\" {"), sanitize.Spelled(own) + "\" { admit() }"} {
			c := New(files{headSHA + ":a.go": file}, headSHA, baseSHA, nil)
			f := review.Finding{File: "a.go", Evidence: evidence}
			if got, _, err := c.Place(t.Context(), &f, true); err != nil || got.Status != Verified || got.Quoted != [2]int{2, 2} {
				t.Errorf("%s: %+v, %v", evidence, got, err)
			}
			fact := review.Fact{File: "a.go", Evidence: sanitize.Spelled("if token == \"" + own + "\" { admit() }")}
			if got, err := c.Fact(t.Context(), &fact, review.Finding{}); err != nil || got.Status != Verified {
				t.Errorf("the fact %s: %+v, %v", fact.Evidence, got, err)
			}
		}
	}
}

// TestNoFalseQuoteIsRead: whatever a model puts around or between words, a quote with a word that is not in the file stays false, and
// one of the words of consecutive lines in the margins they were shown with is read.
func TestNoFalseQuoteIsRead(t *testing.T) {
	const head = "package a\n\nfunc f(x int) {\n\tlog(\"it's\")\n\tif x < 0 {\n\t\treturn errNegative\n\t}\n\treturn g(x)\n}\n"
	lines := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	diff := fmt.Sprintf("diff --git a/a.go b/a.go\n--- /dev/null\n+++ b/a.go\n@@ -0,0 +1,%d @@\n", len(lines))
	for _, l := range lines {
		diff += "+" + l + "\n"
	}
	c := New(files{headSHA + ":a.go": head}, headSHA, baseSHA, []review.BriefFile{{Path: "a.go", Change: "added", Diff: diff}})
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		quoted := slices.Clone(lines[from:rapid.IntRange(from+1, len(lines)).Draw(t, "to")])
		wrong := rapid.Bool().Draw(t, "false")
		if at := rapid.IntRange(0, len(quoted)-1).Draw(t, "at"); wrong {
			word := rapid.SampledFrom([]string{"exec", "errNegatives", "77", "y", "os.RemoveAll(x)"}).Draw(t, "word")
			quoted[at] = rapid.SampledFrom([]string{word + " " + quoted[at], quoted[at] + " " + word, word}).Draw(t, "with")
		}
		margin := rapid.SampledFrom([]string{"", "%[1]d: ", "%6[1]d  ", "%6[1]d +", "+", "%[1]d | "}).Draw(t, "margin")
		for i := range quoted {
			if margin != "" && strings.Contains(margin, "%") {
				quoted[i] = fmt.Sprintf(margin, from+i+1) + quoted[i]
			} else {
				quoted[i] = margin + quoted[i]
			}
		}
		if len(quoted) > 2 && !wrong && rapid.Bool().Draw(t, "shortened") {
			quoted[1] = "..."
		}
		quote := strings.Join(quoted, "\n")
		if strings.Trim(quote, "0123456789:|+ \t\n}") == "" {
			t.Skip("no words")
		}
		quote = rapid.SampledFrom([]string{quote, "`" + quote + "`", "```\n" + quote + "\n```", typographic.Replace(quote)}).Draw(t, "around")
		want := Verified
		if wrong {
			want = False
		}
		if got, err := c.check(context.Background(), review.Finding{File: "a.go", Evidence: quote}, true); err != nil || got.Status != want {
			t.Fatalf("%s (%s), want %s: %v\n%s", got.Status, got.Reason, want, err, quote)
		}
	})
}

var typographic = strings.NewReplacer(`"it's"`, "\u201cit\u2019s\u201d")

// A quote of a piece of a key as it was shown is evidence, though nothing in the piece tells that it is one.
func TestPieceOfAKeyIsEvidence(t *testing.T) {
	var key strings.Builder
	for i := range 20 {
		fmt.Fprintf(&key, "    \"%s%02d\", // %d\n", strings.Repeat("Ab", 24), i+10, i)
	}
	const begin, end = "    \"-----BEGIN RSA PRIVATE KEY-----\",\n", "    \"-----END RSA PRIVATE KEY-----\",\n"
	for name, f := range map[string]files{
		"of the head": {headSHA + ":a.py": begin + key.String() + end + "x = 2\n", baseSHA + ":a.py": begin + key.String() + end + "x = 1\n"},
		"of the base": {headSHA + ":a.py": key.String() + "x = 2\n", baseSHA + ":a.py": begin + key.String() + end + "x = 2\n"},
	} {
		c := New(f, headSHA, baseSHA, []review.BriefFile{{Path: "a.py", Change: "modified"}})
		for quote, want := range map[string]Status{
			"\"[REDACTED]\", // 9\n    \"[REDACTED]\", // 10": Verified, "\"[REDACTED]\", // 9\n    eval(x)\n    \"[REDACTED]\", // 10": False,
		} {
			if got, err := c.check(t.Context(), review.Finding{File: "a.py", Evidence: quote}, true); err != nil || got.Status != want {
				t.Errorf("%s: %q is %s (%s), want %s: %v", name, quote, got.Status, got.Reason, want, err)
			}
		}
	}
}

// A name is found whichever way its accents are written, and a quote in whichever file has a name that reads like the one that was written. Where
// that cannot be told, nothing is held against a finding.
func TestNamesThatReadAlike(t *testing.T) {
	const one, two = "\u00e9.py", "e\u0301.py"
	history := files{headSHA + ":x" + two: "apart()\n", headSHA + ":" + one: "one()\n", headSHA + ":" + two: "two()\n", headSHA + ":a\xe8": "grave()\n", headSHA + ":a\xe9": "acute()\n", headSHA + ":old" + two: "old()\n"}
	changed := []review.BriefFile{{Path: "x" + two, Change: "added"}, {Path: one, Change: "added"}, {Path: two, Change: "added"}, {Path: `"a\350"`, Change: "added"}, {Path: `"a\351"`, Change: "added"}}
	for _, row := range []struct {
		wrote, quote, file string
		want               Status
	}{
		{"x" + one, "apart()", "x" + two, Verified},
		{"b/x" + one, "apart()", "x" + two, Verified},
		{"x" + one, "nowhere()", "x" + two, False},
		{one, "one()", one, Verified},
		{one, "two()", two, Verified},
		{two, "one()", one, Verified},
		{one, "nowhere()", one, None},
		{`"a\357\277\275"`, "acute()", `"a\351"`, Verified},
		{`"a\357\277\275"`, "grave()", `"a\350"`, Verified},
		{`"a/a\357\277\275"`, "nowhere()", `"a/a\357\277\275"`, False},
		{`"a\357\277\275"`, "nowhere()", `"a\357\277\275"`, None},
		{`"a\351"`, "acute()", `"a\351"`, Verified},
		{`"a\351"`, "grave()", `"a\351"`, False},
		{"old" + one, "old()", "old" + two, Verified}, // not changed
	} {
		f := review.Finding{File: row.wrote, Evidence: row.quote}
		ev, _, err := New(history, headSHA, baseSHA, changed).Place(t.Context(), &f, true)
		if err != nil || ev.Status != row.want || f.File != row.file {
			t.Errorf("%+v: %+v in %s, %v", row, ev, f.File, err)
		}
	}
}

// A line that is off is put right by a quote that stands in the file once, and noted; a line within the quote stays, and so does one
// whose quote stands twice.
// A file may have the very name that the header of a diff gives another one.
func TestNamesOfASideOfADiff(t *testing.T) {
	history := files{
		headSHA + ":app.py": "import os\nos.system(request.args)\nboth(1)\n", headSHA + ":b/app.py": "other(1)\nboth(1)\n",
	}
	for _, row := range []struct {
		changed           []string
		name, quote, want string
		status            Status
	}{
		{[]string{"app.py"}, "b/app.py", "os.system(request.args)", "app.py", Verified},
		{[]string{"app.py", "b/app.py"}, "b/app.py", "os.system(request.args)", "app.py", Verified},
		{[]string{"app.py", "b/app.py"}, "b/app.py", "other(1)", "b/app.py", Verified},
		{[]string{"app.py", "b/app.py"}, "b/app.py", "both(1)", "b/app.py", Verified},
		{[]string{"app.py"}, "b/app.py", "both(1)", "app.py", Verified}, // of what did not change nothing is said
		{[]string{"app.py"}, "b/app.py", "other(1)", "b/app.py", Verified},
		{[]string{"b/app.py"}, "b/app.py", "os.system(request.args)", "b/app.py", False},
		{[]string{"app.py"}, "b/app.py", "nowhere(1)", "b/app.py", False},
	} {
		var changed []review.BriefFile
		for _, name := range row.changed {
			changed = append(changed, review.BriefFile{Path: name, Change: "modified"})
		}
		f := review.Finding{File: row.name, Evidence: row.quote}
		ev, _, err := New(history, headSHA, baseSHA, changed).Place(t.Context(), &f, true)
		if err != nil || ev.Status != row.status || f.File != row.want {
			t.Errorf("%q of %s, where %v changed: %v, %s, %v", row.quote, row.name, row.changed, ev, f.File, err)
		}
	}
}

func TestLineOfAQuote(t *testing.T) {
	history := files{headSHA + ":a.go": "package a\n\nfunc f() {\n\n\tone()\n\ttwo()\n\n\ttwo()\n}\n"}
	for _, row := range []struct {
		what, lines, quote, want, note string
	}{
		{"off by some lines", "9", "one()", "5", "its line was 9, and its quote stands at 5"},
		{"beyond the file", "900", "\tone()\n\ttwo()", "5-6", "its line was 900, and its quote stands at 5"},
		{"in backticks", "2", "`one()`", "5", "its line was 2, and its quote stands at 5"},
		{"the first line", "4-5", "package a", "1", "its line was 4, and its quote stands at 1"},
		{"within the quote", "6", "one()\ntwo()", "6", ""},
		{"its lines touch the quote", "3-5", "one()", "3-5", ""},
		{"the quote stands twice", "2", "two()", "2", ""},
		{"the quote stands twice, and the line nowhere", "20", "two()", "", ""},
		{"no line", "", "one()", "5", ""},
		{"with its number", "2", "5: one()", "5", "its line was 2, and its quote stands at 5"},
		{"no line, and the quote stands twice", "", "two()", "", ""},
	} {
		f := review.Finding{File: "b/a.go", Evidence: row.quote}
		var line, end int
		if n, _ := fmt.Sscanf(row.lines, "%d-%d", &line, &end); n > 0 {
			if f.Line = &line; n > 1 {
				f.LineEnd = &end
			}
		}
		c := New(history, headSHA, baseSHA, nil)
		ev, note, err := c.Place(t.Context(), &f, true)
		got := ""
		if f.Line != nil {
			got = fmt.Sprint(*f.Line)
		}
		if f.LineEnd != nil {
			got += fmt.Sprint("-", *f.LineEnd)
		}
		if err != nil || ev.Status != Verified || got != row.want || note != row.note || f.File != "a.go" {
			t.Errorf("%s: %q %q %+v %s, %v", row.what, got, note, ev, f.File, err)
		}
	}
}

// Code that a file had, and that a change adds again, is altered in each form in which it is quoted (threats.md T886). So is what a file had when a dismissal came, and has lost since
// (threats.md T914).
func TestAltered(t *testing.T) {
	const came = "3333333333333333333333333333333333333333"
	const guarded, bare = "func ByRole(name string) {\n\tguard(name)\n\trows := query(name)\n\treturn rows\n}\n", "func ByForm(name string) {\n\trows := query(name)\n\treturn rows\n}\n"
	notes := strings.Repeat("// Note.\n", 2*nearLines)
	added := strings.ReplaceAll(strings.TrimSuffix(bare, "\n"), "\n", "\n+")
	line := func(n int) *int { return &n }
	copied := review.BriefFile{Path: "a.go", Change: "modified", Diff: "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -25 +25,5 @@\n // Note.\n+" + added + "\n"}
	brought := review.BriefFile{Path: "a.go", Change: "added", Diff: "diff --git a/a.go b/a.go\nnew file mode 100644\n--- /dev/null\n+++ b/a.go\n@@ -0,0 +1,4 @@\n+" + added + "\n"}
	renamed := brought
	renamed.OldPath, renamed.Change = "examples/a.go", "renamed"
	fresh := copied
	fresh.Diff = strings.ReplaceAll(copied.Diff, "25", "20")
	taken := fresh
	taken.OldPath, taken.Change = "b.go", "renamed"
	for _, row := range []struct {
		what       string
		base, head string
		change     review.BriefFile
		line       int
		quote      string
		came, want bool
	}{
		{"a copy", guarded + notes, guarded + notes + bare, copied, 27, "rows := query(name)", false, true},
		{"a copy, in margins", guarded + notes, guarded + notes + bare, copied, 27, "+\trows := query(name)\n+\treturn rows", false, true},
		{"a copy, in margins, at no line of it", guarded + notes, guarded + notes + bare, copied, 3, "+\trows := query(name)\n+\treturn rows", false, true},
		{"a copy, with its middle left out", guarded + notes, guarded + notes + bare, copied, 27, "rows := query(name)\n...\n}", false, true},
		{"the code that was there", guarded + notes, guarded + notes + bare, copied, 3, "rows := query(name)", false, false},
		{"the code that was there, with its middle left out", guarded + notes, guarded + notes + bare, copied, 3, "rows := query(name)\n...\n}", false, false},
		{"new code", notes, notes + bare, fresh, 22, "rows := query(name)", false, false},
		{"new code, in margins", notes, notes + bare, fresh, 22, "+\trows := query(name)\n+\treturn rows", false, false},
		{"new code in a new file", "", bare, brought, 2, "+\trows := query(name)\n+\treturn rows", false, false},
		{"code in place of what was dismissed", notes, notes + bare, fresh, 22, "rows := query(name)", true, true},
		{"such code, in margins", notes, notes + bare, fresh, 22, "+\trows := query(name)\n+\treturn rows", true, true},
		{"such code in a file that was taken away", "", bare, brought, 2, "rows := query(name)", true, true},
		{"a file that gets another name alone, given whole", bare, bare, renamed, 2, "rows := query(name)", false, false},
		{"one with a change, given whole", guarded, bare, renamed, 2, "rows := query(name)", false, true},
		{"such code in a file that takes the name of one that was taken away", notes, notes + bare, taken, 22, "rows := query(name)", true, true},
		{"other code there", notes, notes + bare, fresh, 21, "func ByForm(name string) {", true, false},
	} {
		history := files{headSHA + ":a.go": row.head, came + ":a.go": guarded}
		if row.base != "" {
			history[baseSHA+":"+cmp.Or(row.change.OldPath, "a.go")] = row.base
		}
		c := New(history, headSHA, baseSHA, []review.BriefFile{row.change})
		if row.came {
			c.Came(map[string][]string{"a.go": {came}})
		}
		ev, _, err := c.Place(t.Context(), &review.Finding{File: "a.go", Line: line(row.line), Evidence: row.quote}, true)
		if err != nil || ev.Status != Verified || ev.Altered != row.want {
			t.Errorf("%s: %+v, %v; want %v", row.what, ev, err, row.want)
		}
	}
}

// Of a quote that is a mask alone nobody knows that it is gone: a secret was taken out of what a finding quotes.
func TestAMaskAloneIsNotGone(t *testing.T) {
	c := New(files{headSHA + ":a.go": "package a\n"}, headSHA, baseSHA, nil)
	f, err := c.Read(t.Context(), headSHA, "a.go")
	if err != nil || !f.Bears("[REDACTED]") || f.Bears("gone()") || f.Quotes("[REDACTED]") {
		t.Error(err)
	}
}
