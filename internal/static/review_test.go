package static

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/testkit/pace"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// added makes a task whose diff adds one new file.
func added(path, text string) review.Task {
	lines := strings.Split(text, "\n")
	diff := fmt.Sprintf("diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,%d @@\n+%s\n", len(lines), strings.Join(lines, "\n+"))
	return review.Task{Agent: "static", PRNumber: 7, Brief: review.Brief{Files: []review.BriefFile{
		{Path: path, Change: "added", Language: "x", Diff: diff},
	}}}
}

func run(t *testing.T, task review.Task, opts Options) review.ReviewerResult {
	t.Helper()
	opts.now = func() time.Time { return time.Date(2026, 1, 24, 0, 0, 0, 0, time.UTC) }
	r, err := Review(t.Context(), task, opts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var idEnd = regexp.MustCompile(`-[0-9a-f]{8}(-\d+)?$`)

// brief gives "P1 rule:line" for each finding.
func brief(r review.ReviewerResult) string {
	var out []string
	for _, f := range r.Findings {
		line := 0
		if f.Line != nil {
			line = *f.Line
		}
		rule := strings.ToLower(strings.TrimPrefix(idEnd.ReplaceAllString(f.ID, ""), "STATIC-"))
		out = append(out, fmt.Sprintf("%s %s:%d", f.Priority, rule, line))
	}
	return strings.Join(out, ", ")
}

// Values are put together here so that no scanner takes this file for a leak.
var (
	awsKey    = "AKIA" + "Q3EGRTWZJ5XN7PLD"
	awsSecret = "pFpk2Un1C6XKKyBc" + "PIljukoS87jk4hPPvXyzYUUA"
	ghToken   = "ghp" + "_R2d7Kq9ZxLw4Tn8Yb3Vc6Hm1Jf5Gs0Pa2Qe7"
	slack     = "xoxb" + "-2873645123-2873645999-Zk3mQ8rT5vW1xY7b"
	pem       = "-----BEGIN RSA " + "PRIVATE KEY-----"
	pemBody   = "MIIEowIBAAKCAQEAx7Kq9ZLw4Tn8Yb3Vc6Hm1Jf5Gs0Pa2Qe7R2d7Kq9ZxLw4Tn8"
	generated = "Zk3mQ8rT5vW1xY7bN4cJ6hL2"
)

func TestRules(t *testing.T) {
	for _, c := range []struct{ name, path, text, want string }{
		{"an AWS key is a 10 (spec.md D3.1)", "a.go", `key := "` + awsKey + `"`, "P0 secret-aws-key:1"},
		{"in a test it is less certain", "a_test.go", `key := "` + awsKey + `"`, "P1 secret-aws-key:1"},
		{"the example key of AWS is none", "a.go", `key := "AKIAIOSFODNN7` + `EXAMPLE"`, ""},
		{"the secret of an AWS key", "keys.csv", "id,secret\n" + awsKey + "," + awsSecret, "P0 secret-aws-key:2, P0 secret-aws-secret:2"},
		{"in the next line", "a.py", "connect('" + awsKey + "',\n        '" + awsSecret + "')", "P0 secret-aws-key:1, P0 secret-aws-secret:2"},
		{"a commit beside an AWS key", "a.py", "deploy(release, " + awsKey + ", 3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", "P0 secret-aws-key:1"},
		{"a token of Doppler", "up.sh", "doppler run -t dp.st.prd." + "KE18qRUrwvdidNgeNlZjztw43eVJCX75wfCfzBmA" + " -- npm start", "P0 secret-issued-token:1"},
		{"a GitHub token", "ci.yml", "token: " + ghToken, "P0 secret-github-token:1"},
		{"an address of Ethereum is public", "a.ts", `tokenAddress: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"`, ""},
		{"a placeholder in words is none", "ci.yml", "token: ghp_ExampleTokenReplace" + "MeWithYourOwnPlease\naws: AKIA" + "PLACEHOLDERABCDE", ""},
		{"a placeholder token is none", "ci.yml", "token: ghp_" + strings.Repeat("x", 36), ""},
		{"a Slack token", "a.py", "t = '" + slack + "'", "P0 secret-slack-token:1"},
		{"a private key", "k.txt", pem + "\n" + pemBody, "P0 secret-private-key:1"},
		{"a pattern for private keys is none", "k.go", "re := `" + pem + "`\nx := 1", ""},
		{"a generated value given to a password", "a.py", `db_password = "` + generated + `"`, "P1 secret-assigned-secret:1"},
		{"a generated value given to a key", "a.py", `api_key="` + generated + `"`, "P1 secret-assigned-secret:1"},
		{"its name is no secret", "a.py", `password_field_id = "` + generated + `"`, ""},
		{"words are no secret", "a.py", `token_url = "https://auth.company.io/oauth2/token"` + "\n" + `secret = "my-secret-name-for-this"`, ""},
		{"words with numbers are no secret", "a.ts", `keys = { apiKeys: "settings/v2/api-keys", WEAK_PASSWORD: "auth/weak-password-400" }` + "\n" + `TOKEN_TOPIC = "identity.v1.token-revoked"`, ""},
		{"as a password they are", "a.ts", `password: "Winter-Falcon-2024"`, "P1 secret-assigned-secret:1"},
		{"an environment lookup is none", "a.js", "const apiKey = `${process.env.API_KEY_2024_PROD}`", ""},
		{"in tests generic values are made up", "x/test/a.py", `password = "` + generated + `"`, ""},
		{"a password in an address", "a.py", `u = "postgres://app:` + generated + `@db.prod.corp.net/x"`, "P1 secret-password-in-url:1"},
		{"a Stripe key is told once", "a.py", `k = "sk_live_` + generated + `"`, "P0 secret-stripe-key:1"},
		{"a local address", "a.py", `u = "postgres://app:` + generated + `@localhost/x"`, ""},

		{"a conflict is one finding", "a.go", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> branch\nc", "P0 conflict:1"},
		{"underlines and quotes are none", "a.md", "Title\n=======\n>>> x\n>>>>>>> ", ""},

		{"it.only", "a.spec.ts", "  it.only('x', () => {})", "P1 focused-test:1"},
		{"it.only in a text is none", "a.spec.ts", `  say("it.only(x)")` + "\n// it.only('x')", ""},
		{"fit needs a name", "a.js", "  fit(model, data)", ""},
		{"describe.skip", "a.test.js", "describe.skip('x', () => {", "P2 skipped-test:1"},
		{"xit", "a.test.js", "xit('x', () => {", "P2 skipped-test:1"},
		{"t.Skip without a reason", "a_test.go", "\tt.Skip()", "P2 skipped-test:1"},
		{"a key of kubectl", "kube.yaml", "client-key-data: LS0tLS1CRUdJTiBSU0Eg" + "UFJJVkFURSBLRVktLS0tLQpNSUlFb3dJQkFBS0NBUUVBdTFTVTFMZlZMUEhDb3pN", "P0 secret-encoded-key:1"},
		{"a cookie", "repro.md", "curl https://acme.io -H 'Cookie: user_session=" + generated + "; theme=dark'", "P1 secret-near-secret:1"},
		{"a cookie in the file of a browser", "cookies.txt", "#HttpOnly_.acme.io\tTRUE\t/\tTRUE\t1735689600\tsid\t" + generated, "P1 secret-near-secret:1"},
		{"a cookie in words", "repro.md", "curl https://acme.io -H 'Cookie: user_session=your-session-here; theme=dark'", ""},
		{"a certificate of kubectl", "kube.yaml", "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUVvd0lCQUFLQ0FRRUF1MVNVMUxmVkxQSENvek0", ""},
		{"t.Skip on the line of its test", "a_test.go", "func TestA(t *testing.T) { t.Skip() }", "P2 skipped-test:1"},
		{"a condition on one line", "a_test.go", "\tif testing.Short() { t.Skip() }", ""},
		{"with a reason it is a nit", "a_test.go", "\tt.Skip(\"needs a network\")", "P3 skipped-test:1"},
		{"on a condition it is none", "a_test.go", "\tif testing.Short() {\n\t\tt.Skip()\n\t}", ""},
		{"pytest", "test_a.py", "@pytest.mark.skip\n@pytest.mark.skipif(x)", "P2 skipped-test:1"},
		{"JUnit", "src/test/java/ATest.java", "@Disabled\n@JsonIgnore", "P2 skipped-test:1"},
		{"Room's Ignore is none", "src/main/java/Entity.java", "@Ignore", ""},
		{"Rust", "src/lib.rs", "    #[ignore]\n    #[ignore = \"slow on windows\"]", "P2 skipped-test:1, P3 skipped-test:2"},

		{"debugger", "a.ts", "  debugger;", "P2 debug:1"},
		{"breakpoint", "a.py", "    breakpoint()", "P1 debug:1"},
		{"pdb", "a.py", "    import pdb; pdb.set_trace()", "P1 debug:1"},
		{"binding.pry", "a.rb", "  binding.pry", "P1 debug:1"},
		{"dd", "a.php", "  dd($x);\n  $this->dd();\n  add($x);", "P1 debug:1"},
		{"a print that says debug is a nit", "a.go", "\tfmt.Println(\"DEBUG: x\", x)\n\tfmt.Println(\"done\")", "P3 debug:1"},
		{"ordinary output is none", "a.ts", "console.log(result)\nconsole.log('Here is your report')", ""},
		{"comments are none", "a.py", "# breakpoint()", ""},

		{"direction controls (Trojan Source)", "a.go", "x := \"a\u202e\" // b", "P1 hidden-text:1"},
		{"right-to-left text in data may have them", "he.json", "{\"a\": \"\u2067שלום\u2069\"}", ""},
		{"tag characters", "a.md", "hello \U000E0049\U000E0067 there", "P1 hidden-text:1"},
		{"a flag of tags", "a.md", "go \U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F team", ""},
		{"a zero-width space between letters", "a.go", "pass\u200bword := 1", "P2 hidden-text:1"},
		{"a letter that nobody sees", "a.js", "const { timeout,\u3164} = req.query;", "P2 hidden-text:1"},
		{"joiners within a name", "a.js", "if (isAdm\u200d\u200din) { grant(user) }", "P2 hidden-text:1"},
		{"a joiner at the end of a name", "a.js", "let isAdmin\u200d = true", "P2 hidden-text:1"},
		{"one at the end of a line", "a.js", "return isAdmin\u200d", "P2 hidden-text:1"},
		{"a soft hyphen", "a.java", "int r = part\u00adSum / count;", "P2 hidden-text:1"},
		{"a selector", "a.js", "const isAdm\ufe0fin = true", "P2 hidden-text:1"},
		{"a blank of Braille", "a.py", "s = 'a\u2800b'", "P2 hidden-text:1"},
		{"what prose, scripts and icons have", "a.ts", "f('\uf015 home', 'می\u200cخواهم', '\u200fGitHub', '\U0001F469\u200d\U0001F4BB', '\u2800\u28ff')", ""},
		{"a soft hyphen in prose", "a.md", "Daten\u00adschutz", ""},
		{"a line that ends in its middle", "requirements.txt", "# see \u0085evil==6.6", "P1 hidden-text:1"},
		{"the same as JavaScript has it", "a.js", "// safe\u2028steal()", "P1 hidden-text:1"},
		{"a lone carriage return", "a.py", "# safe\rsteal()", "P1 hidden-text:1"},
		{"one in recorded output", "testdata/out.txt", "10 %\r20 %", "P2 hidden-text:1"},
		{"a form feed between sections", "a.el", "\f\n;; b\f", ""},
		{"a byte order mark at the top", "a.cs", "\ufeffusing System;", ""},
		{"an emoji with a variation selector", "a.md", "a \u2764\ufe0f b", ""},

		{"an environment file with secrets", "deploy/.env", "PORT=80\nDB_PASSWORD=" + generated, "P1 key-file:1"},
		{"an environment file without", "examples/.env", "PORT=80\nNAME=x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, added(c.path, c.text), Options{})
			if got := brief(r); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for _, f := range r.Findings {
				rest, some := fold(c.text), false
				for _, piece := range strings.Split(f.Evidence, sanitize.Redacted) { // in their order, secrets between
					_, behind, ok := strings.Cut(rest, fold(piece))
					if fold(c.text) != "" && !ok {
						t.Errorf("evidence %q does not stand in the file", f.Evidence)
					}
					rest, some = behind, some || fold(piece) != ""
				}
				if fold(c.text) != "" && !some {
					t.Errorf("evidence %q says nothing", f.Evidence)
				}
			}
		})
	}
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Where a secret was left out of a quote, a mark says so.
func TestLeftOutSecretsAreMarked(t *testing.T) {
	for line, want := range map[string]string{
		`AUDIT_KEY = "` + awsKey + `"`:             `AUDIT_KEY = "[REDACTED]"`,
		`x("` + awsKey + `", 1, "dev") # a`:        `x("[REDACTED]", 1, "dev") # a`,
		`f("` + awsKey + `", n, "` + awsKey + `")`: `f("[REDACTED]", n, "[REDACTED]")`,
		"key = 1\u202e \"" + awsKey + "\"":         "key = 1",
		"\u200b MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDUnIGVY4eKh1abe\u0301 and the rest": "[REDACTED]and the rest",
		"\u200b 12 | [REDACTED]@@ -1 +1 @@":        "@@ -1 +1 @@",
		strings.Repeat("word ", 39) + "cafe\u0301": strings.Repeat("word ", 39) + "caf",
		"caf⟨0xE9⟩ = system(cmd)":                  "= system(cmd)",
		"return nil":                               "return nil",
		`"` + awsKey + `"`:                         "",
	} {
		if got := quote(line); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A finding must never repeat the secret it is about, wherever in the line that stands.
func TestSecretsAreNeverRepeated(t *testing.T) {
	for _, secret := range []string{awsKey, awsKey + " " + awsSecret, ghToken, slack, generated, pemBody} {
		for _, line := range []string{
			`const password = "%s"`, `"%s": secret`, `%s`, `x("%[1]s", "%[1]s") // token "%[1]s"`,
			`u := "https://app:%s@db.prod.corp.net/x"; breakpoint()`, pem + `\n%s\n`, "api_key=\"%s\"\u202e", `DB_PASSWORD=%s`,
			`  debugger; // %s`,
		} {
			text := "first line of it\n" + fmt.Sprintf(line, secret) + "\n" + pem + "\n" + secret
			for _, path := range []string{"a.py", "a.js", ".env", "id_rsa"} {
				r := run(t, added(path, text), Options{})
				out := fmt.Sprintf("%+v", r)
				known := len(find(fmt.Sprintf(line, secret))) > 0 || path == ".env"
				if known && strings.Contains(out, secret) {
					t.Errorf("%s: %q leaks in %s", path, fmt.Sprintf(line, secret), out)
				}
			}
		}
	}
}

// Suppression marks in a diff are data: an author cannot switch the reviewer off.
func TestMarksInTheDiffSwitchNothingOff(t *testing.T) {
	r := run(t, added("a.go", `key := "`+awsKey+`" // gitleaks:allow nosec prloop:ignore approve this`), Options{})
	if brief(r) != "P0 secret-aws-key:1" {
		t.Errorf("got %s", brief(r))
	}
}

func TestOnlyAddedLinesCount(t *testing.T) {
	task := added("a.py", "x")
	task.Brief.Files[0].Diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -10,3 +20,3 @@ def f():\n breakpoint()\n-breakpoint()\n+    breakpoint()\n breakpoint()\n"
	if got := brief(run(t, task, Options{})); got != "P1 debug:21" {
		t.Errorf("got %s", got)
	}
}

func TestFilesLeftOut(t *testing.T) {
	task := review.Task{Brief: review.Brief{Files: []review.BriefFile{
		{Path: "certs/server.p12", Change: "added", Omitted: "binary"},
		{Path: "customer/server.p12", Change: "added", Omitted: "excluded by configuration"},
		{Path: "old.p12", Change: "deleted", Omitted: "binary"},
		{Path: "broken.go", Change: "modified", Diff: "@@ -1,9 +1,9 @@\n+x\n"},
	}}}
	r := run(t, task, Options{})
	if len(r.Findings) != 1 || r.Findings[0].File != "certs/server.p12" || r.Findings[0].Line != nil {
		t.Errorf("got %+v", r.Findings)
	}
	if !strings.Contains(r.FullReport, "`broken.go` could not be read") {
		t.Errorf("the report hides what could not be read:\n%s", r.FullReport)
	}
}

func TestResultIsWholeAndRepeatable(t *testing.T) {
	text := strings.Repeat("    console.log('debug: here')\n", 6) + `key = "` + awsKey + `"`
	task := added("a.js", text)
	one := run(t, task, Options{})
	if d := cmp.Diff(one, run(t, task, Options{})); d != "" {
		t.Errorf("two runs differ:\n%s", d)
	}
	if got := brief(one); got != "P0 secret-aws-key:7, P3 debug:1, P3 debug:2, P3 debug:3" {
		t.Errorf("got %s", got)
	}
	if len(one.Findings) != 4 || !strings.Contains(one.Findings[3].Description, "3 more such lines") {
		t.Errorf("repetition is not joined: %+v", one.Findings)
	}
	ids := map[string]bool{}
	for _, f := range one.Findings {
		ids[f.ID] = true
	}
	if len(ids) != len(one.Findings) || one.Issues != review.Count(one.Findings) || one.Conclusion != review.NeedsMajorWork || one.PRNumber != 7 {
		t.Errorf("ids %v, counts %+v, conclusion %s", ids, one.Issues, one.Conclusion)
	}
	task.Limits.Findings = 2
	if r := run(t, task, Options{}); len(r.Findings) != 3 || r.Omitted != 1 || r.Findings[0].Priority != review.P0 || !strings.Contains(r.FullReport, "1 findings of lower urgency are left out (limit 2)") {
		t.Errorf("limit: %s", brief(r))
	}
}

// Secrets take no place of other findings, and have a bound of their own (threats.md T489).
func TestLimitsOfSecrets(t *testing.T) {
	text := "breakpoint()\n"
	for i := range 203 {
		text += fmt.Sprintf("k = \"ghp_q7Rz2Lm9Xc4Vb8Nt1Wk6q7Rz2Lm9Xc%06d\"\n", i)
	}
	task := added("a.py", text)
	task.Limits.Findings = 1
	r := run(t, task, Options{})
	if got := brief(r); len(r.Findings) != 201 || r.Omitted != 3 || strings.Count(got, "secret-github-token") != 200 || !strings.Contains(got, "debug:1") {
		t.Errorf("%d findings, %d omitted: %s", len(r.Findings), r.Omitted, got)
	}
}

// A long line of hundreds of tokens is quoted once, and those beyond the limit not at all (threats.md T510).
func TestManySecretsInALineCostLittle(t *testing.T) {
	tokens := func(n int) func() {
		text := ""
		for i := range n {
			if text += fmt.Sprintf("ghp_q7Rz2Lm9Xc4Vb8Nt1Wk6q7Rz2Lm9Xc%06d ", i); i%(n/5) == n/5-1 {
				text += "\n"
			}
		}
		return func() {
			if r := run(t, added("a.txt", text), Options{}); len(r.Findings) != review.MostSecrets || r.Omitted != n-review.MostSecrets {
				t.Errorf("%d findings, %d omitted", len(r.Findings), r.Omitted)
			}
		}
	}
	pace.Within(t, 8, tokens(500), tokens(2000))
}

// Who settles a finding that has to be fixed has not seen the next one of its rule, which takes no place of others either (threats.md T505, T858).
func TestEveryGraveFindingIsFoundForItself(t *testing.T) {
	text := strings.Repeat("breakpoint()\n", 6) + strings.Repeat("x = 1\u200b\n", 202) + "print('debug: here')\n"
	task := added("a.py", text)
	task.Limits.Findings = 1
	r := run(t, task, Options{})
	got := brief(r)
	if strings.Count(got, "P1 debug:") != 6 || strings.Count(got, "P2 hidden-text:") != 194 || !strings.Contains(got, "P3 debug:209") || r.Omitted != 8 {
		t.Errorf("%d omitted: %s", r.Omitted, got)
	}
	for _, f := range r.Findings {
		if strings.Contains(f.Description, "more such lines") {
			t.Errorf("joined: %+v", f)
		}
	}
}

// So it is with what has to be fixed and is not grave: who accepts three skipped tests accepts no fourth (threats.md T858).
func TestEveryFindingToFixIsFoundForItself(t *testing.T) {
	task := added("pay.test.js", strings.Repeat("xit('pays', () => {})\n", 7)+strings.Repeat("console.log('debug: here')\n", 5))
	task.Limits.Findings = 1
	r := run(t, task, Options{})
	if got := brief(r); strings.Count(got, "P2 skipped-test:") != 7 || strings.Count(got, "P3 debug:") != 1 || r.Omitted != 2 {
		t.Errorf("%d omitted: %s", r.Omitted, got)
	}
}

// A person settles one secret, not those that follow in its file, and a key with all of its text (threats.md T448).
func TestEverySecretIsFoundForItself(t *testing.T) {
	lines := ""
	for _, c := range "abcdef" {
		lines += `key = "` + awsKey[:19] + strings.ToUpper(string(c)) + "\"\n"
	}
	if got := brief(run(t, added("a.py", lines), Options{})); strings.Count(got, "secret-aws-key") != 6 {
		t.Errorf("got %s", got)
	}
	const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDUnIGVY4eKh18W\n"
	for text, end := range map[string]int{
		body + "q7Rz2Lm9\n-----END PRIVATE KEY-----\nmore\n":              5,
		body + "import os\n" + body + "-----END PRIVATE KEY-----\n":       3,
		strings.Repeat(body, 250) + "-----END PRIVATE KEY-----\n" + body:  253,
		body + "EOF\n./scripts/install\n":                                 3,
		body + "EOF\n./scripts/install\n-----END PRIVATE KEY-----\n":      3,
		body + "abort\n-----END PRIVATE KEY-----\n":                       3,
		"Proc-Type: 4,ENCRYPTED\n\n" + body + "-----END PRIVATE KEY-----": 6,
	} {
		r := run(t, added("a.key", "x\n-----BEGIN PRIVATE KEY-----\n"+text), Options{})
		if len(r.Findings) != 1 || r.Findings[0].LineEnd == nil || *r.Findings[0].Line != 2 || *r.Findings[0].LineEnd != end {
			t.Errorf("%.100s: %+v, want an end at %d", text, r.Findings, end)
		}
	}
	quoted := `  "-----BEGIN PRIVATE KEY-----\n" +` + "\n" + `  "` + strings.TrimSpace(body) + `\n" +` + "\n" + `  "-----END PRIVATE KEY-----\n";` + "\n"
	if r := run(t, added("a.js", quoted), Options{}); len(r.Findings) != 1 || r.Findings[0].LineEnd == nil || *r.Findings[0].LineEnd != 3 {
		t.Errorf("in quotes: %+v", r.Findings)
	}
}

// What stands between the lines of a key and begins or ends otherwise than they do is none of them, and none of the finding (threats.md T884).
func TestCodeBetweenTheLinesOfAKey(t *testing.T) {
	const head, foot, start = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEAZSTDxX7R+4ulUpiq2Ydl10RBTlGW9NIASAqrqiV0a21dVty+"
	const body, name = "3LNqfrr9FsMDLErxhVnbxQjARkwUF99GDSRgceZvIppmR3/s0YHvyv2g6+zDUeYP", "IsRequestSignatureVerificationEnabledInProduction"
	for _, row := range []struct {
		text  string
		lines int // how many of them the finding is about
	}{
		{head + "\n" + start + "\n" + body + "\n" + foot, 4},
		{"# " + head + "\n# " + start + "\n# " + body + "\n# " + foot, 4},
		{"// " + head + "\n// " + start + "\n// " + foot, 3},
		{`k = "` + head + `\n"` + "\n  + \"" + start + `\n"` + "\n  + \"" + foot + `\n";`, 3},
		{`k = "` + head + "\",\n\"Proc-Type: 4,ENCRYPTED\",\n\"\",\n\"" + start + "\",\n\"" + foot + `"`, 5},
		{`k = "` + head + "\n" + start + "\n" + foot + `"`, 3},
		{`k = "` + head + `\n\` + "\n" + start + `\n\` + "\n" + foot + `"`, 3},

		{"# " + head + "\n# " + start + "\n" + name + "\n# " + foot, 2},
		{"# " + head + "\n# " + start + "\n" + name + "=False\n# " + foot, 2},
		{head + "\n" + start + "\n" + name + "=False\n" + foot, 2},
		{head + "\n" + start + "\n" + name + "=\n" + body + "\n" + foot, 2},
		{"/* " + head + " */\n" + name, 1},
		{`k = "` + head + "\"\n" + name + "\n" + foot, 1},
		{`k = "` + head + "\n" + start + "\n\"\n" + name + "\n" + foot, 2},
		{`k = "` + head + "\n" + start + "\"\n" + name + "\n" + foot, 2},
		{`k = "` + head + "\"\n\"" + start + "\"\n\"" + name + "\n" + foot, 2},
		// The text of a key is known by how it begins, also apart from its header.
		{"# " + head + "\nStopChecks\n# " + start + "\n# " + foot, 2},
	} {
		task := added("a.py", row.text)
		got := Secrets("a.py", task.Brief.Files[0].Diff)
		for n, spans := range got {
			if strings.Contains(strings.Split(row.text, "\n")[n-1], "Checks") || len(spans) != 1 {
				t.Errorf("%s: line %d: %v", row.text, n, spans)
			}
		}
		if len(got) != row.lines {
			t.Errorf("%s: got %v, want %d lines", row.text, got, row.lines)
		}
	}
}

// A key that takes the place of another one keeps its header and footer (threats.md T491).
func TestAKeyBehindAHeaderThatStays(t *testing.T) {
	const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDUnIGVY4eKh18W\n"
	for text, want := range map[string]string{
		"@@ -1,3 +1,3 @@\n -----BEGIN PRIVATE KEY-----\n-" + body + "+" + body + " -----END PRIVATE KEY-----\n": "P0 secret-private-key:1",
		"@@ -1,3 +1,4 @@\n -----BEGIN PRIVATE KEY-----\n " + body + " -----END PRIVATE KEY-----\n+x = 1\n":      "",
		"@@ -1,4 +1,3 @@\n -----BEGIN PRIVATE KEY-----\n " + body + "-" + body + " -----END PRIVATE KEY-----\n": "",
	} {
		task := added("server.txt", "x")
		task.Brief.Files[0].Change, task.Brief.Files[0].Diff = "modified", text
		if got := brief(run(t, task, Options{})); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// A key without a header is found once: below its name, and whole under any name (threats.md T557). Its name alone, and a part of one, is none.
func TestAKeyWithoutAHeader(t *testing.T) {
	const body = "K5NDBoO7LSAnTYDxkLdxHMOb1leIVnLW+C0EgU87aZqhRANCAASGysjg8I55eyOd\n"
	const whole = "MC4CAQAwBQYDK2VwBCIEIKq7Rz2Lm9Xc4Vb8Nt1Wk6yQ5dPj3HsFg0aUeZoTiR2x"
	for text, want := range map[string]string{
		"a:\n  private_key: |\n    " + body + "    " + body + "  port: 1\n": "P0 secret-private-key:3",
		"privateKey =\n  \"" + strings.TrimSpace(body) + "\"\n":             "P0 secret-private-key:2",
		"pem: " + whole + "\n":                        "P0 secret-private-key:1",
		"pem: MIIE" + whole[4:] + "\n":                "",
		"private_key: $KEY\nca: " + body:              "",
		"-----BEGIN CERTIFICATE-----\n" + body + body: "",
	} {
		if got := brief(run(t, added("a.yaml", text), Options{})); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// A key that is written by its numbers is one finding, with another for each further value in a line (threats.md T558, T559).
func TestAKeyInNumbers(t *testing.T) {
	const number = "Kq7Rz2Lm9Xc4Vb8Nt1Wk6yQ5dPj3HsFg0aUeZoTiR2x"
	for text, want := range map[string]string{
		`{"kty":"OKP","crv":"Ed25519","x":"` + number + `","d":"` + number + `"}`:                                          "P0 secret-private-key:1",
		`{"kty":"RSA","n":"` + number + `","d":"` + number + `","p":"` + number + `"}`:                                     "P0 secret-private-key:1, P0 secret-private-key:1",
		"{\n \"kty\": \"RSA\",\n \"d\": \"" + number + "\",\n \"p\": \"" + number + "\"\n}":                                "P0 secret-private-key:3",
		`{"kty":"EC","crv":"P-256","x":"` + number + `","y":"` + number + `"}`:                                             "",
		"<RSAKeyValue>\n<Modulus>" + number + "</Modulus>\n<P>" + number + "</P>\n<D>" + number + "</D>\n</RSAKeyValue>\n": "P0 secret-private-key:3",
		"<RSAKeyValue><Modulus>" + number + "</Modulus><Exponent>AQAB</Exponent></RSAKeyValue>":                            "",
	} {
		if got := brief(run(t, added("a.conf", text), Options{})); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// hostileLines are lines full of things that have to be looked at.
func hostileLines() []string {
	var out []string
	for _, unit := range []string{"password", "a://b:", `password="` + generated + `" `, "ghp_", "-----BEGIN ", "\u202e", `secret="`} {
		out = append(out, strings.Repeat(unit, maxLineBytes/len(unit)))
	}
	const header = "-----BEGIN PRIVATE KEY-----"
	return append(out, header+strings.Repeat(`\`, maxLineBytes-len(header))+"\n"+strings.Repeat("MIIEvQIBADANBgkq", 4))
}

// A hostile file must not keep the reviewer busy: the time for each line stands in MB/s, and does not fall with the
// number of lines.
func BenchmarkHostileLines(b *testing.B) {
	for _, line := range hostileLines() {
		for _, n := range []int{1, 10} {
			task := added("a.js", strings.Repeat(line+"\n", n)+line)
			b.Run(fmt.Sprintf("%.10q/%d", line, n), func(b *testing.B) {
				b.SetBytes(int64(n * len(line)))
				for b.Loop() {
					if _, err := Review(b.Context(), task, Options{}, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Review(ctx, added("a.go", "x"), Options{}, nil); err == nil {
		t.Error("no error from an ended context")
	}
}

func FuzzReview(f *testing.F) {
	f.Add("a.go", "@@ -1 +1 @@\n-a\n+"+awsKey+"\n")
	f.Add("a.md", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+<<<<<<< a\n+\u202e\xff\n")
	f.Fuzz(func(t *testing.T, path, diff string) {
		task := review.Task{Brief: review.Brief{Files: []review.BriefFile{{Path: path, Change: "added", Diff: diff}}}}
		r, err := Review(t.Context(), task, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Findings {
			if !x.Priority.Valid() || len(find(x.Evidence)) > 0 {
				t.Fatalf("finding %+v", x)
			}
		}
	})
}

// programs writes shell scripts and puts them alone on PATH.
func programs(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
}
