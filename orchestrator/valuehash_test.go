package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/testkit/pace"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Values are told apart by all of their lines, and lines may move (threats.md T443).
func TestValueHash(t *testing.T) {
	const name = "conf/" + planted + ".env"
	key := func(body string) string {
		return "-----BEGIN PRIVATE KEY-----\n+" + body + "\n+-----END PRIVATE KEY-----"
	}
	of := func(line int, text string) string {
		t.Helper()
		text += strings.Repeat("\n+z", 8)
		b := review.Brief{Files: []review.BriefFile{{Path: name, Diff: fmt.Sprintf("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,%d @@\n+%s\n", 1+strings.Count(text, "\n"), text)}}}
		hash, err := (&values{brief: b}).valueHash(review.Finding{ID: secretRule + "X-1", File: sanitize.MaskSpelled(name), Line: &line, Title: "Adds a token"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	one := of(1, "TOKEN=abc")
	for what, same := range map[string]bool{
		"it moved":                       of(2, "x\n+  TOKEN=abc") == one && len(one) == 16,
		"another value":                  of(1, "TOKEN=abd") != one,
		"another body of a key":          of(1, key("aaaa")) != of(1, key("aaab")),
		"what stands below the same key": of(1, key("aaaa")) == of(1, key("aaaa")+"\n+z"),
	} {
		if !same {
			t.Error(what)
		}
	}
	long := strings.Repeat("aaaa\n+", 300)
	if of(1, key(long+"a")) == of(1, key(long+"b")) {
		t.Error("the end of a long key")
	}
	line := 1
	twice := func(value, name string) string {
		t.Helper()
		gone := review.BriefFile{Path: "a.env", Diff: "diff --git a/a.env b/a.env\ndeleted file mode 120000\n--- a/a.env\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"}
		made := review.BriefFile{Path: name, Diff: "diff --git a/a.env b/a.env\nnew file mode 100644\n--- /dev/null\n+++ b/a.env\n@@ -0,0 +1 @@\n+" + value + "\n"}
		hash, err := (&values{brief: review.Brief{Files: []review.BriefFile{gone, made}}}).valueHash(review.Finding{ID: secretRule + "X-1", File: "a.env", Line: &line, Title: "Adds a token"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	for _, name := range []string{"a.env", "elsewhere"} {
		if twice("TOKEN=abc", name) == twice("TOKEN=abd", name) {
			t.Errorf("two values in %s have one hash", name)
		}
	}
	hidden := func(text string) string {
		t.Helper()
		f := review.Finding{ID: "STATIC-HIDDEN-TEXT-1", Category: review.CategorySecurity, Priority: review.P2, File: "a.py", Line: &line, Title: "Adds invisible characters"}
		hash, err := (&values{brief: review.Brief{Files: []review.BriefFile{{Path: "a.py", Diff: "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+" + text + "\n"}}}}).valueHash(f, 0)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	if one := hidden("shalom\u202c"); len(one) != 16 || one == hidden("shalom\u202e") {
		t.Error("one line with hidden text is another (threats.md T505)")
	}
	endless := func(lines int) func() { // a key without an end (threats.md T536)
		text := "-----BEGIN PRIVATE KEY-----\n+" + strings.Repeat("x = 1\n+", lines)
		return func() { of(1, text) }
	}
	pace.Within(t, 16, endless(30_000), endless(240_000))
	if hash, err := (&values{brief: review.Brief{Files: []review.BriefFile{{Path: "a"}}}}).valueHash(review.Finding{ID: "STATIC-DEBUG-1", Priority: review.P2, File: "a", Line: &line}, 0); hash != "" || err != nil {
		t.Errorf("a finding that is no secret has %q, %v", hash, err)
	}
}

// A line of code is counted behind those like it that stand in its file, and those that the change adds before it (threats.md T535).
func TestLikeBefore(t *testing.T) {
	const whole = "stop()\n\n  stop()\na\nstop()\nstop(1)\n"
	b := review.Brief{Files: []review.BriefFile{{Path: "a.py", Diff: "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,5 @@\n+stop()\n \n   stop()\n a\n+stop()\n"}}}
	read := func(ctx context.Context, file string) (evidence.File, error) {
		return evidence.New(files{headSHA + ":a.py": whole}, headSHA, "", nil).Read(ctx, headSHA, file)
	}
	for _, row := range []struct {
		id         string
		line, want int
	}{{"STATIC-DEBUG-1", 1, 1}, {"STATIC-DEBUG-2", 5, 2}, {secretRule + "X-1", 5, 0}} {
		got, err := (&values{brief: b, read: read}).likeBefore(t.Context(), review.Finding{ID: row.id, Priority: review.P1, File: "a.py", Line: &row.line})
		if err != nil || got != row.want {
			t.Errorf("%s in line %d: %d, %v", row.id, row.line, got, err)
		}
	}
}
