package masks

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/sanitize"
)

// Any mask of an added line may hide what could run: a program may take the password of an address for a name (threats.md T791). Of a removed line it is enough
// that the value is written like no code.
func TestWhatAMaskHides(t *testing.T) {
	const mask, planted = sanitize.Redacted, "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	const random = "q7Rz2Lm9Xc4Vb8Nt1Wk6"
	for _, row := range []struct {
		says, path, was, is string
		added, removed      bool // whether nothing that could run is hidden
	}{
		{"a random value in quotes", "a", `k = "` + random + `"`, `k = "` + mask + `"`, false, true},
		{"an image that is named at random", "compose.yml", `token: {image: "x/` + random + `"}`, `token: {image: "` + mask + `"}`, false, true},
		{"a token in quotes", "a", `k = "` + planted + `"`, `k = "` + mask + `"`, false, true},
		{"a random password in an address", "a", `u = "https://ci:` + random + `@localhost/x"`, `u = "https://ci:` + mask + `@localhost/x"`, false, true},
		{"a token in an address", "a", `u = "https://ci:` + planted + `@localhost/x"`, `u = "https://ci:` + mask + `@localhost/x"`, false, true},
		{"two of them", "a", `f("x://a:` + planted + `@b", "x://a:` + random + `@b")`, `f("x://a:` + mask + `@b", "x://a:` + mask + `@b")`, false, true},
		{"one of them", "a", `f("x://a:` + planted + `@b", '` + planted + `')`, `f("x://a:` + mask + `@b", '` + mask + `')`, false, true},
		{"a random value in backticks", "a.sh", "PASSWORD=`" + random + "`", "PASSWORD=`" + mask + "`", false, true},
		{"a command in backticks", "a.sh", "PASSWORD=`reset_prod_db`", "PASSWORD=`" + mask + "`", false, false},
		{"a command in quotes", "a.sh", `PASSWORD= "reset_prod_db"`, `PASSWORD= "` + mask + `"`, false, true},
		{"a macro between two texts", "a.c", `puts("password="MACRO_9"\n");`, `puts("password="` + mask + `"\n");`, false, true},
		{"a version", "package.json", `"generate-password": "1.27.0-b4d"`, `"generate-password": "` + mask + `"`, false, true},
		{"a quoted value", "a", `k = "abc123"`, `k = "` + mask + `"`, false, true},
		{"the password of an address", "a", `u = "mongodb://admin:password@localhost/x"`, `u = "mongodb://admin:` + mask + `@localhost/x"`, false, true},
		{"a command behind a value", ".env", `DB_PASSWORD=Hunter2024&touch$IFS/tmp/x`, `DB_PASSWORD=` + mask, false, false},
		{"an expression in an address", "a", "x = `https://ci:x${eval(name)}@m`", "x = `https://ci:" + mask + "@m`", false, false},
		{"a name that is called", "a", `exec_backdoor9.run(q)`, mask + `.run(q)`, false, false},
		{"a check by its name", "a", `if !verifySignatureV2Strict(r) {`, `if !` + mask + `(r) {`, false, false},
		{"a comparison", "a", `if password == expected_9 {`, `if password == ` + mask + ` {`, false, false},
		{"a whole line", "a", `reboot`, mask, false, false},
		{"an assignment", "a", `ghp_=location=name`, mask, false, false},
		{"a key of Django", "settings.py", `SECRET_KEY = 'django-insecure-r$8#4(x6k^m@v1z)p_w!t3q=+b7n*c9y2u5h0j&d%g'`, `SECRET_KEY = '` + mask + `(x6k^m@v1z)p_w!t3q=+b7n*c9y2u5h0j&d%g'`, false, true},
		{"code as long as one", "a", `token = "$(verify_signature_of_request&&openssl_rand_64)"`, `token = "` + mask + `"`, false, false},
		{"code in quotes", "a", `token = "$(curl)"`, `token = "` + mask + `"`, false, false},
		{"other quotes around it", "a", `a = "b' + c + 'd"`, `a = "b' + ` + mask + ` + 'd"`, false, false},

		{"a password with signs", "a", `password = "Tr0ub4dor&3!"`, `password = "` + mask + `"`, false, true},
		{"a generated password with a bracket", "a", `password = "kT9wZ2q7(Lm4Vb8Xc5R"`, `password = "` + mask + `"`, false, true},
		{"a setting with one", ".env", `DB_PASSWORD=kT9wZ2q7(Lm4Vb8Xc5R`, `DB_PASSWORD=` + mask + `(Lm4Vb8Xc5R`, false, true},
		{"a long one", ".env", `DB_PASSWORD=` + random + `(Lm4Vb8Xc5R`, `DB_PASSWORD=` + mask + `(Lm4Vb8Xc5R`, false, true},
		{"a random value in an element", "a.xml", `<token>` + random + `</token>`, `<token>` + mask + `</token>`, false, true},
		{"one at the end of a sentence", "a.md", `The token is ` + random + `.`, `The token is ` + mask + `.`, false, true},
		{"a part of what is called so", "a", random + `.run(q)`, mask + `.run(q)`, false, false},
		{"a call in quotes", "a.sh", `token = "verify_user2(request_id,owner)"`, `token = "` + mask + `"`, false, false},
		{"a random value without quotes", "deploy.sh", `export TOKEN=` + random, `export TOKEN=` + mask, false, true},
		{"a random value that is called", "a", random + `()`, mask + `()`, false, false},
		{"a setting", "conf/.env.local", `DB_PASSWORD=Hunter2024`, `DB_PASSWORD=` + mask, false, true},
		{"a setting in YAML", "a.yml", `  password: Hunter2024`, `  password: ` + mask, false, true},
		{"the same in code", "a.rb", `password = hunter_2024`, `password = ` + mask, false, false},
		{"the first line of a key", "a", `-----BEGIN RSA PRIVATE KEY-----`, mask, false, true},
		{"a line of one", "a", `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj`, mask, false, true},
		{"its last line", "a", `MzEfYyjiWA4=`, mask, false, true},
		{"a whole key", "a.json", `"key": "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"`, `"key": "` + mask + `"`, false, true},
	} {
		const head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3 +7 @@\n"
		all, removed := Hides(row.path, head+"-"+row.was+"\n+"+row.was+"\n", head+"-"+row.is+"\n+"+row.is+"\n", nil)
		var added []Line
		for _, a := range all {
			added = append(added, a.Line)
		}
		want := func(plain bool, n int) []Line {
			if plain {
				return nil
			}
			return slices.Repeat([]Line{{row.path, n}}, strings.Count(row.is, mask))
		}
		if d := cmp.Diff(want(row.added, 7), added) + cmp.Diff(want(row.removed, 3), removed); d != "" {
			t.Errorf("%s: %s", row.says, d)
		}
	}
}

// Findings stand for a mask where one of them is about all that it took, but for signs at its ends (threats.md T866).
func TestWhatFindingsStandFor(t *testing.T) {
	const value = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	at := func(line, part string) sanitize.Span {
		i := strings.Index(line, part)
		return sanitize.Span{Start: i, End: i + len(part)}
	}
	for _, row := range []struct {
		was, is string
		about   []string
		want    []int
	}{
		{`k = "` + value + `"`, `k = "[REDACTED]"`, []string{value}, []int{1}},
		{`k = "` + value + `"`, `k = "[REDACTED]"`, nil, []int{0}},
		{`k = "` + value + `"`, `k = "[REDACTED]"`, []string{value[:20]}, []int{0}},
		{`k = "${K:-` + value + `}"`, `k = "${K:[REDACTED]}"`, []string{value}, []int{1}},
		{`k = "` + value + `=="`, `k = "[REDACTED]"`, []string{value}, []int{1}},
		{`k = "` + value + `.run"`, `k = "[REDACTED]"`, []string{value}, []int{0}},
		{`k = f"` + value + `{run()}"`, `k = f"[REDACTED]"`, []string{value}, []int{0}},
		{`k = "` + value + `$(run)"`, `k = "[REDACTED]"`, []string{value + "$(run)"}, []int{0}},
		{`k = "` + value + `#{run}"`, `k = "[REDACTED]"`, []string{value + "#{run}"}, []int{0}},
		{`k = f"` + value + `{run(4)}"`, `k = f"[REDACTED]"`, []string{value + "{run(4)}"}, []int{0}},
		{`k = "` + value + `$(4{x"`, `k = "[REDACTED]"`, []string{value + "$(4{x"}, []int{1}},
		{`f("` + value + `", "q7Rz2Lm9")`, `f("[REDACTED]", "[REDACTED]")`, []string{value, "q7Rz2Lm9"}, []int{2, 2}},
		{`f("` + value + `", "q7Rz2Lm9")`, `f("[REDACTED]", "[REDACTED]")`, []string{value}, []int{1, 0}},
		{`reboot`, `[REDACTED]x`, []string{"reboot"}, []int{0}},
	} {
		spans := map[int][]sanitize.Span{}
		for _, part := range row.about {
			spans[7] = append(spans[7], at(row.was, part))
		}
		const head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -6,0 +7 @@\n+"
		var got []int
		added, _ := Hides("a", head+row.was+"\n", head+row.is+"\n", spans)
		for _, a := range added {
			got = append(got, a.Found)
		}
		if d := cmp.Diff(row.want, got); d != "" {
			t.Errorf("%s about %q: %s", row.was, row.about, d)
		}
	}
}
