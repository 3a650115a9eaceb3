package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

var (
	baseID  = strings.Repeat("0123456789", 4)
	headID  = strings.Repeat("fedcba9876", 4)
	otherID = strings.Repeat("abcdef0123", 4)
)

const samplePatch = `diff --git a/src/auth.go b/src/auth.go
index 1111111..2222222 100644
--- a/src/auth.go
+++ b/src/auth.go
@@ -3,3 +3,5 @@ import
 import "fmt"
+
+import "crypto/subtle"
 
 func x() {
@@ -41,6 +43,3 @@ func check(token, want string) bool {
-if token == want {
-	return true
-}
-return false
+same := subtle.ConstantTimeCompare([]byte(token), []byte(want))
+return same == 1
 }
-// end
diff --git a/src/empty.go b/src/empty.go
new file mode 100644
index 0000000..e69de29
diff --git a/src/auth_test.go b/src/auth_test.go
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/src/auth_test.go
@@ -0,0 +1,3 @@
+package auth
+
+--- not a header
diff --git a/old.txt b/old.txt
deleted file mode 100644
index 4444444..0000000
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
\ No newline at end of file
diff --git a/logo.png b/logo.png
index 5555555..6666666 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/docs/a b.md b/docs/c.md
similarity index 90%
rename from docs/a b.md
rename to docs/c.md
index 7777777..8888888 100644
--- a/docs/a b.md	
+++ b/docs/c.md
@@ -1 +1 @@
-old
+new
`

func fixSamples() map[string]FixData {
	pushed := FixData{
		Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "shop"}, PR: 7}, Round: 1, Rounds: 3, State: FixPushed,
		Base: baseID, Head: headID,
		Fixed: []FixedItem{
			{Item: Item{Priority: review.P1, Title: "Token compared with ==", File: "src/auth.go", Line: 42}, Commit: headID, Text: "The comparison takes the same time for every token now.",
				Tests: "TestToken covers it.", Risk: "Callers that compare on their own are unchanged."},
			{Item: Item{Priority: review.P2, Title: "Total ignores the discount", File: "src/cart.go"}, Commit: otherID},
		},
		Rejected: []RejectedItem{{Item: Item{Priority: review.P2, Title: "Split the package"}, Reason: "Out of the scope of this pull request."}},
		Missing:  []RejectedItem{{Item: Item{Priority: review.P2, Title: "No test for an empty token"}, Reason: "The fixer did not mention it."}},
		Noticed:  []NoticedItem{{File: "src/session.go", Line: 12, Text: "The session is never closed."}, {Text: "No caller checks the error."}},
		Deferred: 2, Files: 3, Lines: 41, Tries: 2, Commits: []review.FixCommit{{SHA: otherID, Message: "Apply the discount once\n\nbody"}, {SHA: headID, Message: "Compare tokens in constant time"}},
		Checks:       []review.Check{{Command: "make lint", State: review.CheckPassed, Seconds: 3.21}, {Command: "go test ./... | tail", State: review.CheckPassed, Seconds: 48.4}},
		PushedChecks: []review.Check{{Command: "make lint", State: review.CheckPassed, Seconds: 3}, {Command: "go test ./... | tail", State: review.CheckFailed, ExitCode: 1, Seconds: 51, Log: "--- FAIL: TestToken (0.00s)\n    auth_test.go:9: got true\nFAIL"}},
		GitHubToken:  true, Tests: []string{"`TestOldToken` in `src/auth_test.go` is skipped."}, Notes: []string{"The verify commands were found in the Makefile."},
		Agent: review.AgentReceipt{Name: "pr-fix", Role: review.RoleFixer, Kind: "builtin", Model: "gpt-5", State: review.AgentComplete, FilesGiven: 3, HunksGiven: 8, Attempts: 1, Seconds: 71.2,
			Usage: review.Usage{LLMCalls: 9, ToolCalls: 31, InputTokens: ptr(80123), CachedTokens: ptr(61000), OutputTokens: ptr(4911), CostUSD: ptr(0.09121)}},
	}
	with := func(state FixState, change func(*FixData)) FixData {
		d := pushed
		d.State, d.Head, d.PushedChecks, d.GitHubToken, d.Tests = state, "", nil, false, nil
		change(&d)
		return d
	}
	return map[string]FixData{
		"fix-pushed": pushed,
		"fix-patch": with(FixPatch, func(d *FixData) {
			d.Patch, d.PatchFile = Edits(samplePatch), "fix-1.patch"
			d.Outcome, d.Reason = review.ChangesRequested, "The fix could not be pushed."
		}),
		"fix-refused": with(FixRefused, func(d *FixData) {
			d.Fixed, d.Commits, d.Checks = nil, nil, nil
			d.Refusals = []review.Refusal{{Rule: "protected-path", Path: ".github/workflows/ci.yml", Detail: "a dot folder"}, {Rule: "unasked-file", Path: "values.yaml", Detail: "no finding names it"}, {Rule: "scope-brake", Detail: "412 lines, allowed are 120"}}
			d.Outcome, d.Reason = review.ChangesRequested, "nothing was pushed: the push policy refuses it: protected-path (`.github/workflows/ci.yml`), unasked-file (`values.yaml`), scope-brake"
		}),
		"fix-verify-failed": with(FixVerifyFailed, func(d *FixData) {
			d.Fixed, d.Commits, d.Checks = nil, nil, pushed.PushedChecks
			d.Outcome, d.Reason = review.Stuck, "Every finding that counts is stuck."
		}),
		"fix-unchanged": with(FixUnchanged, func(d *FixData) { d.Fixed, d.Commits, d.Checks, d.Files, d.Lines = nil, nil, nil, 0, 0 }),
		"fix-nothing": with(FixUnchanged, func(d *FixData) {
			d.Fixed, d.Commits, d.Checks = nil, nil, nil
			d.Outcome, d.Reason = review.ChangesRequested, "The fixer fixed nothing: every finding was rejected."
		}),
		"fix-superseded": with(FixSuperseded, func(d *FixData) {
			d.NewerHead, d.Outcome, d.Reason = otherID, review.Superseded, "Somebody pushed while the fix was made."
			d.Patch, d.PatchFile = Edits(samplePatch), "round-1/fix.patch"
		}),
		"fix-failed": with(FixFailed, func(d *FixData) {
			d.Fixed, d.Commits, d.Checks = nil, nil, nil
			d.Agent.State, d.Agent.Reason = review.AgentFailed, "no answer within 600 s"
		}),
	}
}

func TestGoldenFixReports(t *testing.T) {
	for name, d := range fixSamples() {
		file := filepath.Join("testdata", name+".md")
		got := RenderFix(d)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
		fixLaw(t, d)
	}
}

func fixLaw(t interface{ Fatalf(string, ...any) }, d FixData) {
	text := RenderFix(d)
	want := CanonicalFix(d)
	got, err := parseFix("<!-- marker -->\n" + text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("parseFix(RenderFix(d)) differs:\n%s\n%s", diff, text)
	}
	if diff := cmp.Diff(want, CanonicalFix(want)); diff != "" {
		t.Fatalf("CanonicalFix changes what is canonical:\n%s", diff)
	}
	if again := RenderFix(got); again != text {
		t.Fatalf("rendering again differs:\n%s", cmp.Diff(text, again))
	}
}

func anyItem(t *rapid.T) Item {
	return Item{Title: anyText().Draw(t, "it"), Priority: rapid.SampledFrom([]review.Priority{"", "P1", "x"}).Draw(t, "ip"), File: anyText().Draw(t, "if"), Line: rapid.IntRange(-1, 9).Draw(t, "il")}
}

func anyFix() *rapid.Generator[FixData] {
	return rapid.Custom(func(t *rapid.T) FixData {
		s := func(l string) string { return anyText().Draw(t, l) }
		list := func(l string) []string { return rapid.SliceOfN(anyText(), 0, 3).Draw(t, l) }
		n := func(l string) int { return rapid.IntRange(-1, 3000).Draw(t, l) }
		id := func(l string) string { return rapid.SampledFrom([]string{"", baseID, headID, "HEAD", "`"}).Draw(t, l) }
		checks := func(l string) (out []review.Check) {
			for range rapid.IntRange(0, 3).Draw(t, l) {
				out = append(out, review.Check{Command: s("cmd"), State: rapid.SampledFrom([]review.CheckState{"passed", "failed", "missing", "timeout", "skipped", "**x**"}).Draw(t, "cs"),
					ExitCode: n("exit"), Seconds: rapid.Float64().Draw(t, "sec"), Log: s("log")})
			}
			return out
		}
		d := FixData{Target: review.Target{PR: rapid.IntRange(0, 2).Draw(t, "pr"), Base: s("base"), Repo: review.Repo{Owner: rapid.SampledFrom([]string{"", "acme"}).Draw(t, "o"), Name: "shop"}},
			Round: n("round"), Rounds: n("rounds"), Outcome: review.Outcome(rapid.OneOf(rapid.Just("stuck"), anyText()).Draw(t, "outcome")), Reason: s("reason"),
			State: rapid.SampledFrom([]FixState{FixPushed, FixPatch, FixRefused, FixVerifyFailed, FixUnchanged, FixSuperseded, FixFailed, "?"}).Draw(t, "state"),
			Base:  id("b"), Head: id("h"), NewerHead: id("n"), Deferred: n("d"), Files: n("f"), Lines: n("l"), Tries: n("t"), Tests: list("tests"), Remarks: list("remarks"), Notes: list("notes"),
			Checks: checks("checks"), PushedChecks: checks("pushed"), GitHubToken: rapid.Bool().Draw(t, "token"), PatchLeft: n("left"), PatchFile: rapid.SampledFrom([]string{"", "fix.patch", "a b", "$(x)"}).Draw(t, "pf")}
		d.Agent = review.AgentReceipt{Name: s("an"), Role: review.RoleFixer, Kind: s("k"), State: review.AgentComplete, Reason: s("ar"), Notes: list("an")}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			d.Fixed = append(d.Fixed, FixedItem{Item: anyItem(t), Commit: id("c"), Text: s("text"), Tests: s("ft"), Risk: s("fr")})
			d.Noticed = append(d.Noticed, NoticedItem{s("nf"), n("nl"), s("nt")})
			d.Rejected = append(d.Rejected, RejectedItem{Item: anyItem(t), Reason: s("reason")})
			d.Missing = append(d.Missing, RejectedItem{Item: anyItem(t), Reason: s("reason")})
			d.Commits = append(d.Commits, review.FixCommit{SHA: id("sha"), Message: s("msg")})
			d.Refusals = append(d.Refusals, review.Refusal{Rule: s("rule"), Path: s("path"), Detail: s("detail")})
			d.Patch = append(d.Patch, Edit{Kind: rapid.SampledFrom([]string{"change", "new", "deleted", "renamed", "binary", "?"}).Draw(t, "kind"), File: s("file"), OldFile: rapid.SampledFrom([]string{"", "a b"}).Draw(t, "of"),
				Start: n("start"), Lines: rapid.IntRange(-1, 3).Draw(t, "el"), Text: s("et")})
		}
		return d
	})
}

// Names are spelled the same in a link, where they are read back as bytes, and in a code span.
func TestNamesInFixReportsAreSpellings(t *testing.T) {
	for name, want := range map[string]string{"\u00ad": `"\302\255"`, "a\u202eb": `"a\342\200\256b"`, "a\u00a0b": `"a\302\240b"`, "caf\xe9.py": `"caf\351.py"`, "a\nb": `"a\nb"`,
		" a": `" a"`, "a`b": "a'b", "a\ufffdb": `"a\357\277\275b"`, "\ue000": `"\356\200\200"`, `"\302\255"`: `"\302\255"`, "caf\u00e9.py": "caf\u00e9.py"} {
		for _, repo := range []string{"acme", ""} { // with links and without
			d := fixSamples()["fix-patch"]
			d.Target.Repo.Owner = repo
			d.Refusals = []review.Refusal{{Rule: "protected-path", Path: name}}
			for _, kind := range []string{EditChange, EditNew, EditDeleted, EditRenamed, EditBinary} {
				d.Patch = []Edit{{Kind: kind, File: name, OldFile: name, Start: 1, Lines: 1, Text: "x\n"}}
				fixLaw(t, d)
				got := CanonicalFix(d)
				if got.Patch[0].File != want || got.Refusals[0].Path != want || kind == EditRenamed && got.Patch[0].OldFile != want {
					t.Errorf("%s of %q: %+v, %+v", kind, name, got.Patch[0], got.Refusals[0])
				}
			}
		}
	}
}

func TestParseFixGivesBackWhatRenderFixWrote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { fixLaw(t, anyFix().Draw(t, "data")) })
}

func FuzzEdits(f *testing.F) {
	f.Add(samplePatch)
	f.Fuzz(func(t *testing.T, s string) {
		for _, e := range Edits(s) {
			if e.Lines < 0 || e.Start < 0 {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestTheLastGateChangesNoFixReport(t *testing.T) {
	p := sanitize.Policy{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "shop"}}
	for name, d := range fixSamples() {
		if text := RenderFix(d); text != posted(t, text, p) {
			t.Errorf("%s:\n%s", name, cmp.Diff(text, posted(t, text, p)))
		}
	}
	for _, bad := range nasty { // the outline and the ids stay, whatever a fixer says
		line := sanitize.Inline(bad, p)
		d := fixSamples()["fix-pushed"]
		d.Fixed[0].Text, d.Rejected[0].Reason, d.Notes = line, line, []string{line}
		got, err := parseFix(posted(t, RenderFix(d), p))
		if err != nil {
			t.Errorf("%q: %v\n%s", bad, err, posted(t, RenderFix(d), p))
			continue
		}
		if len(got.Fixed) != 2 || len(got.Rejected) != 1 || got.Fixed[0].Commit != headID || got.Head != headID {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

// The first line says what became of the fix, which a maintainer needs first, and the second where it is or why it is nowhere.
func TestFirstLinesOfAFixReport(t *testing.T) {
	want := map[string][2]string{
		"fix-pushed":        {"2 of 4 findings fixed and pushed · checks fail on the pushed head · round 1 of 3", "Pushed in [`fedcba9876fe`]"},
		"fix-patch":         {"2 of 4 findings fixed, handed over as a patch · round 1 of 3", "Nothing was pushed: prloop may not push to this branch"},
		"fix-refused":       {"fix not pushed, it breaks 3 rules of the push policy · round 1 of 3", "Nothing was pushed: "},
		"fix-verify-failed": {"fix not pushed, 1 of 2 checks failed · a person is needed · round 1 of 3", "Nothing was pushed: the fix does not pass the checks of this repository."},
		"fix-unchanged":     {"nothing fixed, the fixer changed no file · round 1 of 3", "Nothing was pushed: "},
		"fix-nothing":       {"nothing fixed, changes not pushed · round 1 of 3", "Nothing was pushed: the changes of the fixer (3 files, 41 lines) fix no finding."},
		"fix-superseded":    {"fix not pushed, the branch moved · round 1 of 3", "Nothing was pushed: the branch moved from [`012345678901`]"},
		"fix-failed":        {"fix failed · round 1 of 3", "Nothing was pushed: the fixer's work could not be used."},
	}
	for name, d := range fixSamples() {
		lines := strings.Split(RenderFix(d), "\n")
		if lines[0] != heading+want[name][0] || !strings.HasPrefix(lines[2], want[name][1]) || want[name][1] == "" {
			t.Errorf("%s begins:\n%s\n%s", name, lines[0], lines[2])
		}
	}
}

// A push is taken for checked work: where no check ran, the first line says that.
func TestAFixThatNothingVerifiedSaysSoFirst(t *testing.T) {
	skip := []review.Check{{Command: "npm test", State: review.CheckSkipped}}
	for _, c := range []struct {
		what   string
		state  FixState
		checks []review.Check
		says   bool
	}{
		{"there is no command", FixPushed, nil, true},
		{"all are set aside", FixPushed, skip, true},
		{"a patch is no better", FixPatch, skip, true},
		{"one ran", FixPushed, append(skip, review.Check{Command: "make lint", State: review.CheckPassed}), false},
		{"nothing was handed over", FixUnchanged, nil, false},
	} {
		d := fixSamples()["fix-pushed"]
		d.State, d.Checks, d.PushedChecks = c.state, c.checks, c.checks
		first, _, _ := strings.Cut(RenderFix(d), "\n")
		if strings.Contains(first, "nothing could be verified") != c.says {
			t.Errorf("%s: %s", c.what, first)
		}
	}
}

func TestEdits(t *testing.T) {
	want := []Edit{
		{Kind: EditChange, File: "src/auth.go", Start: 3, Text: "\nimport \"crypto/subtle\"\n"},
		{Kind: EditChange, File: "src/auth.go", Start: 41, Lines: 4, Text: "same := subtle.ConstantTimeCompare([]byte(token), []byte(want))\nreturn same == 1\n"},
		{Kind: EditChange, File: "src/auth.go", Start: 46, Lines: 1},
		{Kind: EditNew, File: "src/empty.go"},
		{Kind: EditNew, File: "src/auth_test.go", Text: "package auth\n\n--- not a header\n"},
		{Kind: EditDeleted, File: "old.txt"},
		{Kind: EditBinary, File: "logo.png"},
		{Kind: EditRenamed, OldFile: "docs/a b.md", File: "docs/c.md"},
		{Kind: EditChange, File: "docs/a b.md", Start: 1, Lines: 1, Text: "new\n"},
	}
	if d := cmp.Diff(want, Edits(samplePatch)); d != "" {
		t.Error(d)
	}
}

// What is over the bounds is counted, not dropped without a word, and lines of a file keep their numbers.
func TestPatchBounds(t *testing.T) {
	d := FixData{State: FixPatch}
	for i := range 2 * patchEdits {
		d.Patch = append(d.Patch, Edit{File: "a.go", Start: i + 1, Lines: 1, Text: "x\n"})
	}
	c := CanonicalFix(d)
	if len(c.Patch) != patchEdits || c.PatchLeft != patchEdits || c.Patch[0].Start != 2*patchEdits {
		t.Errorf("%d shown, %d left, first at %d", len(c.Patch), c.PatchLeft, c.Patch[0].Start)
	}
	d.Patch = []Edit{{File: "a.go", Start: 1, Lines: 1, Text: strings.Repeat("x\n", patchBytes)}}
	if c = CanonicalFix(d); len(c.Patch) != 0 || c.PatchLeft != 1 || !strings.Contains(RenderFix(d), "1 more edit is not shown here.") {
		t.Errorf("%d shown, %d left", len(c.Patch), c.PatchLeft)
	}
}

func TestChecksThatDidNotRunDidNotPass(t *testing.T) {
	pass, skip := review.Check{Command: "make lint", State: review.CheckPassed}, review.Check{Command: "make test", State: review.CheckSkipped}
	for _, c := range []struct {
		what   string
		checks []review.Check
		says   string
	}{
		{"those that passed are counted", []review.Check{pass, pass}, "The fix passed 2 checks. The pushed head passed 2 checks too."},
		{"those that were set aside are counted apart", []review.Check{pass, skip},
			"The fix passed 1 check (1 skipped). The pushed head passed 1 check too (1 skipped)."},
		{"nothing that ran is no pass", []review.Check{skip}, ""},
	} {
		d := fixSamples()["fix-pushed"]
		d.Checks, d.PushedChecks = c.checks, c.checks
		got := RenderFix(d)
		if !strings.Contains(got, c.says) || c.says == "" && strings.Contains(got, " passed 1 check") {
			t.Errorf("%s: want %q in\n%s", c.what, c.says, got)
		}
	}
}

func TestWhatToDoAboutFailedChecks(t *testing.T) {
	failed, missing := review.Check{Command: "make lint", State: review.CheckFailed, ExitCode: 2}, review.Check{Command: "tsc", State: review.CheckMissing, ExitCode: 127}
	for _, c := range []struct {
		what   string
		tries  int
		checks []review.Check
		says   string
	}{
		{"a fixer that was told", 3, []review.Check{failed}, "the fixer was told, and did not manage"},
		{"one that was not, because the time was up", 1, []review.Check{failed}, "the fixer was not told any more"},
		{"a command that is not there", 1, []review.Check{missing}, "Install what the commands below need"},
		{"one beside a command that failed", 3, []review.Check{missing, failed}, "the fixer was told, and did not manage"},
	} {
		d := fixSamples()["fix-verify-failed"]
		d.Tries, d.Checks = c.tries, c.checks
		if got := RenderFix(d); !strings.Contains(got, c.says) {
			t.Errorf("%s: want %q in\n%s", c.what, c.says, got)
		}
	}
}
