package orchestrator

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/sanitize"
)

// A mask that hides a plain value hides nothing that could run; of any other nobody can say so.
func TestWhatAMaskHides(t *testing.T) {
	const mask = sanitize.Redacted
	for _, row := range []struct {
		says, was, is string
		plain         bool
	}{
		{"a quoted value", `k = "abc123"`, `k = "` + mask + `"`, true},
		{"the password of an address", `u = "mongodb://admin:password@localhost/x"`, `u = "mongodb://admin:` + mask + `@localhost/x"`, true},
		{"two of them", `f("a1", 'b2')`, `f("` + mask + `", '` + mask + `')`, true},
		{"a command behind a value", `DB_PASSWORD=Hunter2024&touch$IFS/tmp/x`, `DB_PASSWORD=` + mask, false},
		{"an expression in an address", "x = `https://ci:x${eval(name)}@m`", "x = `https://ci:" + mask + "@m`", false},
		{"a name that is called", `exec_backdoor9.run(q)`, mask + `.run(q)`, false},
		{"a whole line", `reboot`, mask, false},
		{"an assignment", `ghp_=location=name`, mask, false},
		{"code in quotes", `token = "$(curl)"`, `token = "` + mask + `"`, false},
		{"other quotes around it", `a = "b' + c + 'd"`, `a = "b' + ` + mask + ` + 'd"`, false},
	} {
		if got := plainValues(row.was, row.is); got != row.plain {
			t.Errorf("%s: plain is %v", row.says, got)
		}
	}
	head := "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -3 +3,2 @@\n-old\n"
	got := opaque("a", head+"+k = \"abc\"\n+run_x9(1)\n", head+"+k = \""+mask+"\"\n+"+mask+"(1)\n")
	if d := cmp.Diff([]Line{{"a", 4}}, got); d != "" {
		t.Error(d)
	}
}
