package sanitize

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

func TestKnownSecretsAreMaskedInEverySpelling(t *testing.T) {
	const secret = "prl_7Qm2Zx9Kd4Tn8Vb1Wc6Hs3Jf5Lg0Rp"
	p := Policy{Known: []string{secret}}
	b64, inHex := base64.StdEncoding.EncodeToString([]byte("user:"+secret)), hex.EncodeToString([]byte(secret))
	for _, row := range []struct{ rule, text, want string }{
		{"nothing known", "one\ntwo " + strings.Repeat("abcdefgh", 9), "one\ntwo " + strings.Repeat("abcdefgh", 9)},
		{"as it is", "one\nsay " + secret + "!\nthree", "one\n[REDACTED]\nthree"},
		{"base64", "one\nsay " + b64 + "!\nthree", "one\n[REDACTED]\nthree"},
		{"hex", inHex + "\n\ntwo\n", "[REDACTED]\n\ntwo\n"},
		{"a part of it", "one\ntwo\n" + inHex[20:60], "one\ntwo\n[REDACTED]"},
		{"twice", b64 + "\nbetween\n" + inHex, "[REDACTED]\nbetween\n[REDACTED]"},
		{"over two lines", "one\n" + secret[:17] + "\n" + secret[17:] + "\nfour", "one\n[REDACTED]\n[REDACTED]\nfour"},
		{"too often", strings.Repeat(inHex+"\nx\n", knownPlaces+1), strings.Repeat("[REDACTED]\n", 2*knownPlaces+2) + "[REDACTED]"},
		{"one line alone", b64, "[REDACTED]"},
	} {
		got := MaskKnown(row.text, p)
		if got != row.want || Leaks(got, p) || MaskKnown(got, p) != got {
			t.Errorf("%s: %q, want %q", row.rule, got, row.want)
		}
	}
	const diff = "@@ -1,2 +1,3 @@\n a\n-b\n+"
	if got, want := MaskKnownDiff(diff+b64+"\n+c\n", p), diff+"[REDACTED]\n+c\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
