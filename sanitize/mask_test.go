package sanitize

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestMask(t *testing.T) {
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	for _, c := range []struct{ clause, in, want string }{
		{"the quotes around a value stay", `const ghToken = "` + token + `";`, `const ghToken = "[REDACTED]";`},
		{"every value of a line", `f("` + token + `", 'hunter2'); password = "hunter2-and-more"`, `f("[REDACTED]", 'hunter2'); password = "[REDACTED]"`},
		{"a password in an address", "postgres://app:s3cretpw@db/x", "postgres://app:[REDACTED]@db/x"},
		{"a name in another case", `API_KEY: "8f14e45fceea167a5a36dedd4bea2543"`, `API_KEY: "[REDACTED]"`},
		{"a value on the next line", "password:\n  s3cret-and-long1\nuser: a", "password:\n  [REDACTED]\nuser: a"},
		{"a header", "Authorization: Bearer abcdef123456", "Authorization: Bearer [REDACTED]"},
		{"a diff stays", "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n", "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n"},
		{"the mark of a removed line stays", "-" + token, "-[REDACTED]"},
		{"a key, line by line", "a\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEvQIBADANBgkqhkiG9w0B\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
			"a\n[REDACTED]\nProc-Type: 4,ENCRYPTED\n\n[REDACTED]\n[REDACTED]\n[REDACTED]\nb"},
		{"the rest of a key whose header is not seen", "MIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----\nb", "[REDACTED]\n[REDACTED]\nb"},
		{"a key in a string", `{"k":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----\n","n":1}`, `{"k":"[REDACTED]\n","n":1}`},
		{"the words around a key hide no code", "// -----BEGIN PRIVATE KEY-----\nos.RemoveAll(dir)\n// -----END PRIVATE KEY-----", "// [REDACTED]\nos.RemoveAll(dir)\n// [REDACTED]"},
		{"hidden characters in a value", "run(\"ghp\u200b_abc\", x)", `run("[REDACTED]", x)`},
		{"hidden characters hide no code", "system(x) // ghp\u200b_abc", "system(x) // [REDACTED]"},
		{"a line end of two bytes", "password = \"hunter2-and-more\"\r\nb\r\n", "password = \"[REDACTED]\"\r\nb\r\n"},
		{"bytes that are no text", "\xff\xfe " + token + " \xff", "\xff\xfe [REDACTED] \xff"},
		{"a mask stays", `password = "[REDACTED]"`, `password = "[REDACTED]"`},
		{"a reference is no value", `password = os.Getenv("DB_PASSWORD")`, `password = os.Getenv("DB_PASSWORD")`},
	} {
		t.Run(c.clause, func(t *testing.T) {
			if got := Mask(c.in); got != c.want {
				t.Errorf("Mask(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
			lawsOfMask(t, c.in)
		})
	}
}

// maskedDiff masks a diff of which nobody knows more than it shows.
func maskedDiff(s string) string { return KeyLines{}.MaskDiff(s) }

// Of a heading that git cut nobody knows how its last word ends, and a value may be known by that alone (threats.md T508).
func TestMaskDiffOfCutHeadings(t *testing.T) {
	const rest = "\n-a\n+b\n"
	for title, want := range map[string]string{
		`POOL = open_pool("inventory-poolxxxxx", 20, "postgres://app:q7Rz2Lm9Xc4Vb8Nt1Wk6@`:   ` POOL = open_pool("inventory-poolxxxxx", 20,`,
		`x = f(a_word_of_some_length, another_word_of_length, pass="correct horse battery s`:  ` x = f(a_word_of_some_length, another_word_of_length, pass=`,
		`func (s *Server) handleAnIncomingRequest(w http.ResponseWriter, r *http.Request) er`: ` func (s *Server) handleAnIncomingRequest(w http.ResponseWriter, r`,
		`func (s *Server) handleRequest(w http.ResponseWriter, r *http.Request) error {`:      ` func (s *Server) handleRequest(w http.ResponseWriter, r *http.Request) error {`,
		strings.Repeat("a", 80): "",
	} {
		title = title[:min(len(title), hunkTitle)]
		diff := "@@ -9 +9 @@ " + title + rest
		if got := maskedDiff(diff); got != "@@ -9 +9 @@"+want+rest {
			t.Errorf("%q is shown as %q", diff, got)
		}
		if maskChange(t, nil, &diff, nil); diff != "@@ -9 +9 @@"+want+rest {
			t.Errorf("a change shows %q", diff)
		}
	}
}

func TestMaskDiff(t *testing.T) {
	const in = "diff --git a/k b/k\n--- a/k\n+++ b/k\n@@ -1,4 +1,4 @@\n-ghp_16C7e42F292c6912E7710c838347Ae178B4a\n+password:\n+  s3cret-and-long1\n" +
		" -----BEGIN PRIVATE KEY-----\n-MIIEvQIBADANBgkqhkiG9w0B\n+MIIEvQIBADANBgkqhkiG9w0C\n -----END PRIVATE KEY-----\n\\ No newline at end of file\n"
	const want = "diff --git a/k b/k\n--- a/k\n+++ b/k\n@@ -1,4 +1,4 @@\n-[REDACTED]\n+password:\n+  [REDACTED]\n" +
		" [REDACTED]\n-[REDACTED]\n+[REDACTED]\n [REDACTED]\n\\ No newline at end of file\n"
	if got := maskedDiff(in); got != want {
		t.Errorf("MaskDiff gives\n%s\nwant\n%s", got, want)
	}
	if got := maskedDiff(want); got != want {
		t.Errorf("masking twice gives\n%s", got)
	}
}

// lawsOfMask hold for every text.
func lawsOfMask(t *testing.T, s string) {
	t.Helper()
	spans := Secrets(s)
	done := 0
	for _, p := range spans {
		if p.Start < done || p.End <= p.Start || p.End > len(s) || strings.Contains(s[p.Start:p.End], "\n") {
			t.Fatalf("spans %v of %q", spans, s)
		}
		done = p.End
	}
	got := Mask(s)
	if strings.Count(got, "\n") != strings.Count(s, "\n") {
		t.Errorf("Mask(%q) = %q: other lines", s, got)
	}
	if again := Mask(got); again != got {
		t.Errorf("masking %q twice changes %q to %q", s, got, again)
	}
	for name, rule := range map[string]func(string) string{"keys": redactKeys, "patterns": redactPatterns, "assignments": redactAssignments, "deep": redactDeep} {
		if left := rule(got); left != got {
			t.Errorf("%s still find in the mask of %q:\n%q\nand make it\n%q", name, s, got, left)
		}
	}
}

// What the rules of the redaction samples find is masked in a line, in a diff and between other lines.
func TestMaskSamples(t *testing.T) {
	var all, found int
	for _, row := range samples(t) {
		lawsOfMask(t, row.Text)
		if row.Label != "tp" {
			continue
		}
		all++
		diff := maskedDiff("+" + strings.ReplaceAll(row.Text, "\n", "\n+"))
		if got := Mask("x = 1\n" + row.Text + "\nend()\n"); !containsAny(got, row.Secrets) && !containsAny(diff, row.Secrets) &&
			strings.HasPrefix(got, "x = 1\n") && strings.HasSuffix(got, "\nend()\n") {
			found++
		}
	}
	t.Logf("%d of %d found", found, all)
	if all < 150 || found*100 < all*97 {
		t.Errorf("%d of %d secrets masked, want 97 in 100", found, all)
	}
}

type sample struct {
	Rule, Label, Text string
	Secrets           []string
}

func samples(t *testing.T) []sample {
	t.Helper()
	file, err := os.Open("testdata/redaction/samples.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(zip)
	lines.Buffer(nil, 1<<20)
	var out []sample
	for lines.Scan() {
		var row sample
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func FuzzMask(f *testing.F) {
	f.Add("token = ghp_abc\n+password: \"s3cret-and-long1\"")
	f.Add("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n")
	f.Add("ghp\u200b_abc\xff")
	f.Fuzz(lawsOfMask)
}

func TestMaskPath(t *testing.T) {
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	for in, want := range map[string]string{
		"conf/" + token + ".txt":    `conf/\[REDACTED\]~[0-9a-f]{4}\.txt`,
		token + "/a.go":             `\[REDACTED\]~[0-9a-f]{4}/a.go`,
		"AKIA" + "QWERTYUIOPAS2345": `\[REDACTED\]~[0-9a-f]{4}`,
		"a/b/user-token.go":         "a/b/user-token.go",
		"hooks.slack.com/services/T01234567/B01234567/0123456789abcdefghijklmn": `hooks\.slack\.com|.*~.*`,
	} {
		got := MaskPath(in)
		if !regexp.MustCompile("^(?:" + want + ")$").MatchString(got) {
			t.Errorf("MaskPath(%q) = %q, want %q", in, got, want)
		}
		if again := MaskPath(got); again != got {
			t.Errorf("masking twice changes %q to %q", got, again)
		}
	}
	tree := map[string][]string{".": {"conf", "x"}, "conf": {"ghp_a", "ghp_b", token + ".txt", "[REDACTED]~0000"}}
	list := func(folder string) ([]string, error) { return tree[folder], nil }
	tree["two"] = []string{token + ".txt", MaskName(token + ".txt")}
	if p := MaskPath("two/" + token + ".txt"); p != "two/"+tree["two"][1] {
		t.Errorf("two/%s.txt is %s", token, p)
	} else if got, err := UnmaskPath(p, list); err != nil || got != p {
		t.Errorf("beside a file that is called %s, it stands for %s, %v", p, got, err)
	}
	for _, p := range []string{"conf/ghp_a", "conf/" + token + ".txt", "x", "conf/[REDACTED]~0000"} {
		if got, err := UnmaskPath(MaskPath(p), list); err != nil || got != p {
			t.Errorf("%q comes back as %q, %v", p, got, err)
		}
	}
}

func TestMaskChangeEverywhere(t *testing.T) {
	const value = "q7Rz2Lm9Xc4Vb8Nt1Wk6"
	title, body, diff := "Rotate "+value, "password: hunter2-and-more1", "@@ -1 +1 @@\n-api_key = \""+value+"\"\n+api_key = load()\n"
	if n, err := MaskChange(t.Context(), nil, nil, []*string{&diff}, nil, []*string{&title, &body}); n != 2 || err != nil {
		t.Errorf("%d values are counted, want 2: %v", n, err)
	}
	if title != "Rotate [REDACTED]" || body != "password: [REDACTED]" || diff != "@@ -1 +1 @@\n-api_key = \"[REDACTED]\"\n+api_key = load()\n" {
		t.Errorf("%q, %q, %q", title, body, diff)
	}
}

// A word that somebody chose is masked where the rules find it and nowhere else: a title makes no code unreadable.
func TestMaskChangeTeachesNoNames(t *testing.T) {
	for _, word := range []string{"verifySignatureV2Strict", "require_admin_role_v2_or_403", "X509CertificatePoolFromPEM2", "!user.isAuthorized2&&x9", "HMAC_SHA256_VERIFY_OR_FAIL"} {
		title, body, name := "token="+word, "password: "+word, "api_key="+word+".txt"
		code := "-\tif !" + word + "(r) {\n+\tif " + word + " {\n"
		diff := "@@ -1 +1 @@\n" + code
		maskChange(t, []*string{&title, &body, &name}, &diff, nil)
		if diff != "@@ -1 +1 @@\n"+code {
			t.Errorf("%q was masked in %q", word, diff)
		}
	}
}

// maskChange masks texts of the files of a change, and its diff.
func maskChange(t *testing.T, files []*string, diff *string, pieces map[*string]KeyLines) int {
	t.Helper()
	n, err := MaskChange(t.Context(), nil, files, []*string{diff}, pieces)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What somebody calls a secret in words goes from these words alone: it takes no commit out of the code, and nothing out of what somebody
// else says. What a file calls one goes from everything.
func TestMaskChangeTeachesNoWords(t *testing.T) {
	const commit, value = "40f1582b2485089dde7abd97c1529aa768e1baff", "q7Rz2Lm9Xc4Vb8Nt1Wk6"
	const code, said = "@@ -0,0 +1,2 @@\n+rev = \"" + commit + "\"\n+- uses: a/b@" + commit + "\n", "See " + commit
	title, body, comment, piece, diff := "token="+commit, said, said, said, code
	maskChange := func(words ...[]*string) {
		if _, err := MaskChange(t.Context(), nil, []*string{&piece}, []*string{&diff}, nil, words...); err != nil {
			t.Fatal(err)
		}
	}
	maskChange([]*string{&title, &body}, []*string{&comment})
	if title != "token=[REDACTED]" || body != "See [REDACTED]" || comment != said || piece != said || diff != code {
		t.Errorf("%q, %q, %q, %q, %q", title, body, comment, piece, diff)
	}
	title, comment, piece, diff = value, value, "api_key = \""+value+"\"", "@@ -1 +1 @@\n-"+value+"()\n+ "+value+"\n"
	maskChange([]*string{&title}, []*string{&comment})
	if title != Redacted || comment != Redacted || piece != "api_key = \"[REDACTED]\"" || diff != "@@ -1 +1 @@\n-[REDACTED]()\n+ [REDACTED]\n" {
		t.Errorf("%q, %q, %q, %q", title, comment, piece, diff)
	}
}

// Masking a change ends with its context.
func TestMaskChangeEnds(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, lists := range [][3][]*string{{{new(string)}}, {nil, {new(string)}}, {nil, nil, {new(string)}}} {
		if _, err := MaskChange(over, nil, lists[0], lists[1], nil, lists[2]); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	}
}

func TestRandom(t *testing.T) {
	for v, want := range map[string]bool{
		"q7Rz2Lm9Xc4Vb8Nt1Wk6": true, "ghp_16C7e42F292c6912E7710c838347Ae178B4a": true, "3f786850e387550fdab836ed7e6dc881de23001b": true,
		"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzK9x2m": true, "AKIA" + "QWERTYUIOPAS2345": true,
		"": false, "q7Rz2Lm9Xc": false, "q7Rz2Lm9Xc4Vb8Nt1W(6": false, "aaaaaaaaaaaaaaaaaaaa1": false,
		"verifySignatureV2Strict": false, "check_permissions_of_user_2": false, "require_admin_role_v2_or_403": false,
	} {
		if got := Random(v); got != want {
			t.Errorf("%q: %v", v, got)
		}
	}
	r, found := rand.New(rand.NewPCG(1, 2)), 0
	for range 1000 {
		v := make([]byte, 32)
		for i := range v {
			v[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[r.IntN(62)]
		}
		if Random(string(v)) {
			found++
		}
	}
	if found < 900 {
		t.Errorf("%d of 1000 values drawn at random are taken for random", found)
	}
}

// Masking takes time in proportion to the text, however its values stand: four times the text takes no eight times as long, where a
// quadratic rule would take sixteen.
func TestMaskTakesLinearTime(t *testing.T) {
	inputs, quarters := hostile(1<<16), hostile(1<<14)
	maps.Copy(inputs, hostileValues(1<<20))
	maps.Copy(quarters, hostileValues(1<<18))
	cost := func(s string) time.Duration {
		if underRace {
			s = cut(s, len(s)/10)
		}
		start := cpu(t)
		Mask(s)
		maskedDiff(s)
		return cpu(t) - start
	}
	for name, s := range inputs {
		quarter, took := cost(quarters[name]), cost(s)
		t.Logf("%s: %v for %d bytes, %v for %d", name, took, len(s), quarter, len(quarters[name]))
		if took > 3*time.Second && took > 8*quarter { // a quadratic rule takes far longer for as much text
			t.Errorf("%s took %v for %d bytes, and %v for %d", name, took, len(s), quarter, len(quarters[name]))
		}
	}
}

// hostileValues are texts of about n bytes made to cost Mask time.
func hostileValues(n int) map[string]string {
	var values strings.Builder
	for i := 0; values.Len() < n; i++ {
		fmt.Fprintf(&values, "k%d = ghp_%036d; api_key=\"%x\"\n", i, i, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	pair := "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIKq7Rz2Lm9Xc4Vb8Nt1Wk6yQ5dPj3HsFg0aUeZoTiR2x\n-----END PRIVATE KEY-----\n"
	return map[string]string{
		"many values":                values.String(),
		"names of secrets as values": strings.Repeat("_key=token=", n/11),
		"broken key lines":           strings.Repeat(strings.Repeat("A", 64)+"\n", n/65) + "-----END PRIVATE KEY-----\n",
		"hidden characters":          strings.Repeat("gh\u200bp_abcdefgh ", n/15),
		"hidden key headers":         strings.Repeat("\u200b-----BEGIN PRIVATE KEY-----\n"+strings.Repeat("A", 64)+"\n", n/100),
		"key footers":                strings.Repeat(strings.Repeat("Ab1", 21)+"\n-----END PRIVATE KEY-----\n", n/90),
		"key headers far apart":      strings.Repeat("-----BEGIN PRIVATE KEY-----\n"+strings.Repeat("x y\n", 100), n/430),
		"key headers on a line":      strings.Repeat("BEGIN PRIVATE KEY ", n/18),
		"hunks of key lines":         strings.Repeat("@@ -9,9 +9,9 @@\n"+strings.Repeat("Ab1", 21)+"\n", n/80),
		"a long value of names":      "token=" + strings.Repeat("pwd", n/3),
		"names beside random values": strings.Repeat("token 8f14e45fceea167a5a36dedd4bea2543 ", n/39),
		"commits on a line":          strings.Repeat("token-service-ref=3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c ", n/59),
		"commands that log in":       strings.Repeat("docker login -p mysql auth: { pass: ", n/36),
		"names within one value":     strings.Repeat("tokenA1b2C3", n/11),
		"padded names":               strings.Repeat("password_"+strings.Repeat("a", 60)+" ", n/70),
		"addresses with at signs":    "a://b:" + strings.Repeat("c@", n/2),
		"a long line beside a key":   pair + strings.Repeat("Ab1Cd2Ef3Gh4Ij5K ", n/17),
		"armours beside a key":       pair + strings.Repeat("-----BEGIN A-----Ab1Cd2Ef3Gh4Ij5Kx/", n/35),
		"beginnings of long keys":    strings.Repeat("MII//wIBAAKCAQEA"+strings.Repeat("Ab1", 16)+"\n", n/65),
		"beginnings in small parts":  strings.Repeat("MII//wIBAAKCAQEA"+strings.Repeat("Ab1", 8)+strings.Repeat("\na", 20), n/80),
		"names of keys":              strings.Repeat("private_key:\n# a\n"+strings.Repeat("Ab1", 21)+"\n", n/81),
		"kinds of keys in JSON":      strings.Repeat(`"kty":"EC",`, n/11),
		"numbers of keys in JSON":    `"kty":"EC"` + strings.Repeat(`,"d":"Ab1Cd2Ef3Gh4Ij5Kl6Mn7"`, n/29),
		"blanks in numbers of keys":  `"kty":"EC"` + strings.Repeat(`,"d":`+strings.Repeat(" ", 1000), n/1005),
		"ids of access keys":         strings.Repeat(pairID+" ", n/21),
		"access keys on a line":      strings.Repeat(pairID+","+pairSecret+",", n/62),
		"ids before a long word":     strings.Repeat(pairID+"+", n/42) + strings.Repeat("Ab1", n/6),
		"numbers of keys in XML":     "<RSAKeyValue>" + strings.Repeat("<D>Ab1Cd2Ef3Gh4Ij5Kl6Mn7", n/26),
	}
}
