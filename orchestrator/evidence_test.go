package orchestrator

import (
	"context"
	"io/fs"
	"testing"

	"github.com/prloop/prloop/review"
)

// files is a history in memory: "commit:path" to content.
type files map[string]string

func (f files) Pin(context.Context, review.Target, review.PullRequest, string) (Range, error) {
	return Range{Base: baseSHA, MergeBase: baseSHA, Head: headSHA}, nil
}

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
		headSHA + ":caf\xe9.py": "open(\"a\")\n",
		headSHA + ":b.php":      "system(\"convert \xff\xfe\" . $_GET[\"f\"]);\ncut(\"\xed\xa0\x80\");\n",
		headSHA + ":d.py":       "import os\r\nos.system(x)\r\na()\rb()\r\n",
		headSHA + ":c.py":       "run(user, \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\", sys.argv)\n",
	}
	snap := Snapshot{Range: Range{MergeBase: baseSHA, Head: headSHA}, Brief: review.Brief{Files: []review.BriefFile{
		{Path: "a.go", Change: "modified"}, {Path: "gone.go", Change: "deleted"},
		{Path: `"caf\351.py"`, Change: "added"}, {Path: "b.php", Change: "modified"}, {Path: "c.py", Change: "modified"}, {Path: "d.py", Change: "modified"},
		{Path: "lib", Change: "modified", Diff: "diff --git a/lib b/lib\n@@ -1 +1 @@\n-Subproject commit 1111\n+Subproject commit 2222\n"},
		{Path: "after.go", OldPath: "before.go", Change: "renamed"}, {Path: "secret.go", Change: "modified", Omitted: "excluded by configuration"},
	}}}
	at := func(n int) *int { return &n }
	for _, c := range []struct {
		what     string
		finding  review.Finding
		required bool
		want     EvidenceStatus
		dropped  bool
	}{
		{"a quote that stands in the file, white space folded", review.Finding{File: "a.go", Line: at(3), Evidence: "func f(x int) {\n    return g(x)"}, true, EvidenceVerified, false},
		{"a quote of lines that were taken away", review.Finding{File: "a.go", Evidence: "if x < 0 { return errNegative }"}, true, EvidenceVerified, false},
		{"a quote of a deleted file", review.Finding{File: "gone.go", Evidence: "var Kept = 1"}, true, EvidenceVerified, false},
		{"a quote of a renamed file's old version", review.Finding{File: "after.go", Evidence: "var Old = 2"}, true, EvidenceVerified, false},
		{"a quote whose reviewer says that it left a secret out", review.Finding{File: "a.go", Evidence: "[REDACTED](x int) {[REDACTED]"}, true, EvidenceVerified, false},
		{"a mark where the file has a secret (threats.md T30)", review.Finding{File: "c.py", Evidence: "run(user, \"[REDACTED]\", sys.argv)"}, true, EvidenceVerified, false},
		{"a mark for more than the secret", review.Finding{File: "c.py", Evidence: "run(user, [REDACTED], sys.argv)"}, true, EvidenceVerified, false},
		{"a mark in code that is not there", review.Finding{File: "c.py", Evidence: "eval(user, \"[REDACTED]\", sys.argv)"}, true, EvidenceFalse, false},
		{"a name that is not UTF-8, as it is spelled (threats.md T28)", review.Finding{File: `"caf\351.py"`, Evidence: `open("a")`}, true, EvidenceVerified, false},
		{"such a name without its quotes", review.Finding{File: `"caf\\351.py"`, Evidence: `open("a")`}, true, EvidenceVerified, false},
		{"such a name read as text", review.Finding{File: `"caf\357\277\275.py"`, Evidence: `open("a")`}, true, EvidenceVerified, false},
		{"invalid bytes, one replacement character each", review.Finding{File: "b.php", Evidence: "system(\"convert \ufffd\ufffd\" . $_GET[\"f\"]);"}, true, EvidenceVerified, false},
		{"invalid bytes that a model merged", review.Finding{File: "b.php", Evidence: "system(\"convert \ufffd\" . $_GET[\"f\"]);"}, true, EvidenceVerified, false},
		{"a lone surrogate", review.Finding{File: "b.php", Evidence: "cut(\"\ufffd\ufffd\ufffd\");"}, true, EvidenceVerified, false},
		{"a line that ends in CR LF, without the LF", review.Finding{File: "d.py", Evidence: "os.system(x)\r"}, true, EvidenceVerified, false},
		{"several such lines", review.Finding{File: "d.py", Evidence: "import os\r\nos.system(x)\r"}, true, EvidenceVerified, false},
		{"a CR within a line", review.Finding{File: "d.py", Evidence: "a()\rb()\r"}, true, EvidenceVerified, false},
		{"a CR that is not there", review.Finding{File: "d.py", Evidence: "os.\rsystem(x)"}, true, EvidenceFalse, false},
		{"a submodule, whose text stands in the diff alone", review.Finding{File: "lib", Evidence: "Subproject commit 2222"}, true, EvidenceVerified, false},
		{"a mark in the middle where there is no secret", review.Finding{File: "a.go", Evidence: "func [REDACTED](x int)"}, true, EvidenceFalse, false},
		{"a mark alone is no quote", review.Finding{File: "a.go", Evidence: " [REDACTED] [REDACTED] "}, true, EvidenceFalse, false},
		{"a quote that stands nowhere", review.Finding{File: "a.go", Evidence: "os.RemoveAll(x)"}, false, EvidenceFalse, false},
		{"no quote from a command reviewer", review.Finding{File: "a.go"}, false, EvidenceNone, false},
		{"no quote from a builtin reviewer", review.Finding{File: "a.go"}, true, EvidenceFalse, false},
		{"a file that does not exist (threats.md T87)", review.Finding{File: "nowhere.go"}, false, EvidenceFalse, false},
		{"a line far outside the file (threats.md T87)", review.Finding{File: "a.go", Line: at(1_000_000_000)}, false, EvidenceNone, true},
		{"a finding about no file", review.Finding{}, false, EvidenceNone, false},
		{"an excluded file is not read", review.Finding{File: "secret.go", Evidence: "const key = 1"}, false, EvidenceFalse, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			checker := newChecker(history, snap)
			c.finding.File = checker.file(c.finding.File)
			got, err := checker.check(t.Context(), c.finding, c.required)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != c.want || got.LineDropped != c.dropped {
				t.Errorf("got %+v, want %s, line dropped %v", got, c.want, c.dropped)
			}
			if got.Status == EvidenceFalse && got.Reason == "" {
				t.Error("false without a reason")
			}
		})
	}
}
