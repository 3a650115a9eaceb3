package evidence

import (
	"testing"

	"github.com/prloop/prloop/review"
)

func TestFact(t *testing.T) {
	history := files{
		headSHA + ":a.go": "func f(list []int) int {\n\tif len(list) == 0 {\n\t\treturn 0\n\t}\n\treturn sum(list) / len(list)\n\t// the list is never empty, callers see to it\n}\n",
		baseSHA + ":a.go": "func f(list []int) int {\n\tmustNotBeEmpty(list)\n\treturn 0\n}\n", headSHA + ":lib/b.go": "const answerToEverything = 42\n",
	}
	changed := []review.BriefFile{
		{Path: "a.go", Change: "modified", Diff: "@@ -2 +2 @@\n-\tmustNotBeEmpty(list)\n+\tif len(list) == 0 {\n"}, {Path: "secret.go", Omitted: "excluded by configuration"},
	}
	about := review.Finding{File: "a.go", Evidence: "return sum(list) / len(list)", Description: "It is also put so:\nif len(list) == 0 { is not enough"}
	far := 99
	for _, row := range []struct {
		name string
		fact *review.Fact
		want Status
	}{
		{"it stands there", &review.Fact{File: "a.go", Evidence: "if len(list) == 0 {\n\t\treturn 0"}, Verified},
		{"in a file that was not changed", &review.Fact{File: "lib/b.go", Evidence: "const answerToEverything = 42"}, Verified},
		{"more than the finding quotes", &review.Fact{File: "a.go", Evidence: "}\n\treturn sum(list) / len(list)"}, Verified},
		{"only what the finding quotes", &review.Fact{File: "a.go", Evidence: "sum(list) / len(list)"}, False},
		{"only what the finding speaks of", &review.Fact{File: "a.go", Evidence: "if len(list) == 0 {"}, False},
		{"only the diff shows it, as removed", &review.Fact{File: "a.go", Evidence: "mustNotBeEmpty(list)"}, False},
		{"made up", &review.Fact{File: "a.go", Evidence: "if len(list) < 1 { panic(list) }"}, False},
		{"a bracket", &review.Fact{File: "a.go", Evidence: "}"}, False},
		{"a comment", &review.Fact{File: "a.go", Evidence: "// the list is never empty, callers see to it"}, False},
		{"a comment and a bracket", &review.Fact{File: "a.go", Evidence: "// the list is never empty, callers see to it\n}"}, False},
		{"a mask", &review.Fact{File: "a.go", Evidence: "[REDACTED]"}, False},
		{"no such file", &review.Fact{File: "c.go", Evidence: "if len(list) == 0 {"}, False},
		{"a file that nobody may read", &review.Fact{File: "secret.go", Evidence: "if len(list) == 0 {"}, False},
		{"a line that is not there is dropped", &review.Fact{File: "a.go", Line: &far, Evidence: "if len(list) == 0 { return 0 }"}, Verified},
		{"none", nil, None},
	} {
		got, err := New(history, headSHA, baseSHA, changed).Fact(t.Context(), row.fact, about)
		if err != nil || got.Status != row.want || (got.Reason == "") != (row.want != False) {
			t.Errorf("%s: %+v, %v", row.name, got, err)
		}
		if row.fact != nil && row.fact.Line != nil && !got.LineDropped {
			t.Errorf("%s: the line was kept", row.name)
		}
	}
}
