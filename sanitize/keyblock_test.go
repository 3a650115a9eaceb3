package sanitize

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The lines of a made-up key. No line stands for another.
var keyLines = []string{"-----BEGIN RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gun",
	"VTLw7onLRnrq0/IzW7yWR7QkrmBL7jTKEn5u+qKhbwKfBstIs+bMY2Zkp18gnTxK", "rmBL7jTKEn5u+q==", "-----END RSA PRIVATE KEY-----"}

// around writes each line of a key by a format, which may ask for its number and has to ask for the line.
func around(format string, lines ...string) string {
	var b strings.Builder
	for i, line := range lines {
		b.WriteString(strings.NewReplacer("%n", fmt.Sprint(i+8), "%4n", fmt.Sprintf("%4d", i+8), "%05n", fmt.Sprintf("%05d", i+8), "%s", line).Replace(format) + "\n")
	}
	return b.String()
}

// keyTexts are texts with a key in them, by how it is written.
func keyTexts() map[string]string {
	whole := strings.Join(keyLines, "\n")
	once, _ := json.Marshal(whole)
	twice, _ := json.Marshal(string(once))
	out := map[string]string{
		"words that are no ASCII before it": "The key “prod” " + whole + "\nis public now",
		"a mark of a test before it":        "✗ loads key " + whole,
		"an accent behind the header":       strings.Replace(whole, "-----\n", "----- é\n", 1),
		"line ends of two bytes":            strings.ReplaceAll(whole, "\n", "\r\n") + "\r\n",
		"colours":                           around("\x1b[32m%s\x1b[0m", keyLines...),
		"a zero-width space in the header":  strings.Replace(whole, "PRIVATE", "PRI\u200bVATE", 1),
		"a zero-width space in each line":   strings.NewReplacer("VTL", "VT\u200bL", "MIIE", "MI\u200bIE", "END", "E\u00adND").Replace(whole),
		"JSON":                              string(once),
		"JSON in JSON, cut off":             string(twice[:len(twice)-50]),
		"blank lines between":               strings.ReplaceAll(whole, "\n", "\n\n"),
		"the footer alone":                  strings.Join(keyLines[1:], "\n"),
		"the end of it":                     keyLines[1][20:] + "\n" + strings.Join(keyLines[2:], "\n"),
		"a cut line and the end of it":      "…" + keyLines[1][20:] + "\n" + strings.Join(keyLines[2:], "\r\n"),
		"a log that begins in it":           around("2026-01-01T00:00:0%n.12Z %s", keyLines[2:]...),
		"the header alone":                  strings.Join(keyLines[:3], "\n") + "\nand so on",
		"only a line before the footer":     keyLines[2] + " " + keyLines[4],
		"two keys":                          whole + "\n" + whole,
		"one on a line":                     strings.Join(keyLines, " "),
	}
	for name, format := range map[string]string{"//": "// %s", "//, close": "//%s", "#": "# %s", ";": "; %s", "REM": "REM %s", "--": "-- %s", "*": " * %s", ">": "> %s", "bytes": "  b'%s\\n'",
		"echo": "echo '%s' >> k", "arrow": "%4n→%s", "tab": "%4n\t%s", "bar": "%05n| %s", "colon": "%n: %s", "grep": "conf/key.pem:%n:%s", "its context": "conf/key.pem-%n-%s",
		"blame": "1a2b3c4d (Ann 2026-01-01 00:00:00 +0000 %n) %s", "container": "web-1  | %s", "stamp": "2026-01-01T00:00:%nZ stderr F %s", "test": "    x_test.go:%n: %s", "E": "E   %s",
		"added": "+%s", "removed": "-%s", "added twice": "++%s", "coloured grep": "\x1b[35mk.pem\x1b[m:\x1b[32m%n\x1b[m:%s", "array": "\t\"%s\",", "string": "\"%s\\n\" +", "é": "é %s"} {
		out[name] = around(format, keyLines...)
		out[name+", its end"] = around(format, keyLines[2:]...)
	}
	return out
}

// A static key of OpenVPN is a private key in hex (threats.md T760).
func TestStaticKeysOfOpenVPN(t *testing.T) {
	const first, last = "6acef03f62675b4b1bbd03e53b187727", "423cea742242106cb2916a8a4c829756"
	s := "#\n# 2048 bit OpenVPN static key\n#\n-----BEGIN OpenVPN Static key V1-----\n" + first + "\n" + last + "\n-----END OpenVPN Static key V1-----\n</tls-auth>\n"
	diff := "@@ -0,0 +1,8 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n+") + "\n"
	maskChange(t, nil, &diff, nil)
	for _, got := range []string{Mask(s), Redact(s), diff} {
		if strings.Contains(got, first) || strings.Contains(got, last) || !strings.Contains(got, "tls-auth") {
			t.Errorf("%q", got)
		}
	}
	mention := "@@ -0,0 +1 @@\n+if line == \"-----BEGIN OpenVPN Static key V1-----\" {\n"
	if maskChange(t, nil, &mention, nil); strings.Contains(mention, Redacted) {
		t.Errorf("a mention becomes %q", mention)
	}
}

// What follows a header and what stands before a footer goes with it, however its lines are written.
func TestKeysGoWhole(t *testing.T) {
	for name, s := range keyTexts() {
		for gate, pass := range map[string]func(string) string{"Mask": Mask, "Redact": Redact,
			"MaskDiff": func(s string) string { return maskedDiff("@@ -1,9 +1,9 @@\n+" + strings.ReplaceAll(s, "\n", "\n+")) },
			"Field":    func(s string) string { return Field(Redact(s), testPolicy) }} {
			got := pass(s)
			if squeezed := strings.NewReplacer("\u200b", "", "\u00ad", "").Replace(got); containsAny(squeezed, []string{"gOEePzNm0t", "IzW7yWR7Q", "rmBL7jTKEn5u", "PRIVATE"}) {
				t.Errorf("%s of a key with %s leaves\n%s", gate, name, got)
			}
		}
		lawsOfMask(t, s)
		if again := Redact(Redact(s)); again != Redact(s) {
			t.Errorf("redacting a key with %s twice changes %q to %q", name, Redact(s), again)
		}
	}
}

// Code is no key: what stands between a header and a footer, and what looks like a word of code, stays for a reviewer.
func TestKeysHideNoCode(t *testing.T) {
	for _, code := range []string{"os.RemoveAll(dir)", "verifySignatureV2Strict(user)", "if !allowed { return }", "import \"github.com/acme/widgets/internal/authorization2\"", "x = y"} {
		for _, mark := range []string{"// ", "# ", "", "\""} {
			s := mark + keyLines[0] + "\n" + code + "\n" + mark + keyLines[4] + "\n" + code + "\n"
			if got := Mask(s); strings.Count(got, code) != 2 {
				t.Errorf("Mask(%q) = %q", s, got)
			}
		}
	}
	const said = "The file holds BEGIN PRIVATE KEY\nagain\nand BEGIN PRIVATE KEY twice"
	if got, want := Redact(said), "The file holds [REDACTED]\nagain\nand [REDACTED] twice"; got != want {
		t.Errorf("Redact(%q) = %q, want %q", said, got, want)
	}
}

// A hunk in the middle of a key has neither its header nor its footer.
func TestHunksInTheMiddleOfAKey(t *testing.T) {
	full := []string{keyLines[1], keyLines[2]}
	changed := "-" + strings.Replace(full[0], "MIIE", "NJJF", 1) + "\n+" + full[0] + "\n"
	hunk := "@@ -10,4 +10,4 @@ " + full[0] + "\n " + full[1] + "\n" + changed
	for name, s := range map[string]string{"plain": hunk, "behind another": "@@ -1,1 +1,2 @@\n a\n+b\n" + hunk, "in comments": around("@@ -7,2 +7,3 @@\n # %s\n+# %s\n # %s", full...)} {
		for gate, got := range map[string]string{"Mask": Mask(s), "MaskDiff": maskedDiff(s)} {
			if containsAny(got, []string{"gOEePzNm0t", "IzW7yWR7Q"}) || strings.Count(got, "\n") != strings.Count(s, "\n") {
				t.Errorf("%s of a hunk %s leaves\n%s", gate, name, got)
			}
		}
		lawsOfMask(t, s)
	}
	lines := " " + full[0] + "\n+" + full[1] + "\n"
	for name, s := range map[string]string{
		"a certificate":           "@@ -10,3 +10,4 @@\n" + lines + " rmBL7jTKEn5u+q==\n -----END CERTIFICATE-----\n",
		"the start of a file":     "@@ -0,0 +1,2 @@\n" + lines,
		"a single line":           "@@ -10,1 +10,2 @@\n " + full[0] + "\n+x\n",
		"a line behind code":      "@@ -10,1 +10,3 @@\n x\n" + lines,
		"sums":                    "@@ -10,1 +10,3 @@\n " + strings.Repeat("0a1b2c3d", 8) + "  a\n+" + strings.Repeat("4a1b2c3d", 8) + "  b\n",
		"sums without their file": "@@ -10,1 +10,3 @@\n " + strings.Repeat("0a1b2c3d", 8) + "\n+" + strings.Repeat("4a1b2c3d", 8) + "\n",
	} {
		if got := maskedDiff(s); got != s {
			t.Errorf("%s is masked: %q", name, got)
		}
	}
}

// A short match does not leave the rest of a value, and a hidden character ends none.
func TestHiddenCharactersEndNoValue(t *testing.T) {
	const head, tail = "ghp_aB3d", "E5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	for _, hidden := range []string{"\u200b", "\u00ad", "\u2060", "\x1b[0m", "\x1b[m\x1b[K", "\x00", "\ufeff", "\u202e", "\U000E0041", "\r", "\x1b]0;title\x07"} {
		for _, s := range []string{head + hidden + tail, "a \x1b[01;31m\x1b[K" + head + hidden + tail, "k = \"" + head + hidden + tail + "\"; x()", head + "\n" + head + hidden + tail,
			"github_pat_11ABCDEFG0ab" + hidden + "cdefghijkl_" + tail, "password = \"Xk9mQ2vL7pRtt" + hidden + tail + "\""} {
			if got := Mask(s); strings.Contains(got, tail) {
				t.Errorf("Mask(%q) = %q", s, got)
			}
			if got := Redact(s); strings.Contains(got, tail) {
				t.Errorf("Redact(%q) = %q", s, got)
			}
			lawsOfMask(t, s)
		}
	}
	if s := "\x1b]0;" + head + tail + "\x07"; strings.Contains(Mask(s), tail) {
		t.Errorf("what an escape sequence covers stays: %q", Mask(s))
	}
}
