package sanitize

import (
	"fmt"
	"strings"
	"testing"
)

const (
	pairID     = "AKIA" + "Q2W3E4R5T6Y7U2I3"
	pairSecret = "pFpk2Un1C6XKKyBc" + "PIljukoS87jk4hPPvXyzYUUA"
)

// The secret of an access key is masked beside its id, however the two are written (threats.md T631).
func TestPairedSecrets(t *testing.T) {
	for _, form := range []string{
		"Access key ID,Secret access key\n%s,%s\n", "conn = boto.connect_s3('%s', '%s')", "new BasicAWSCredentials(\n    \"%s\",\n    // signs\n    \"%s\")", "%s:%s", "s3://%s:%s@bucket",
		"%s\n%s\n", "keys: %s %s", `s = "%s\n%s"`, "| %s | %s |",
	} {
		s := fmt.Sprintf(form, pairID, pairSecret)
		diff := "@@ -0,0 +1,4 @@\n+" + strings.ReplaceAll(s, "\n", "\n+") + "\n"
		text, log := s, diff
		maskChange(t, []*string{&text}, &diff, nil)
		for gate, got := range map[string]string{"Mask": Mask(s), "Redact": Redact(s), "Redact of a diff": Redact(strings.TrimPrefix(log, "@@ -0,0 +1,4 @@\n")), "a change": diff + text} {
			if strings.Contains(got, pairSecret[1:]) {
				t.Errorf("%s of %q is %q", gate, s, got)
			}
		}
		lawsOfMask(t, s)
	}
}

// What is no secret of an access key stays beside an id.
func TestPairedSecretsAreNoOthers(t *testing.T) {
	for _, s := range []string{
		pairID + " 3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", pairID + " A035C8C19219BA821ECEA86B64E628F8D684696D", pairID + " src/components/AwsAccess/KeyIdsOfUsers01", pairID + " TestStreamingSignV4ContentEncodingOnWire",
		pairID + " " + pairSecret + "A", pairID + " " + pairSecret[1:], pairID + "\n\n\n" + pairSecret, pairID[1:] + " " + pairSecret, "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		pairID + strings.Repeat(" ", pairReach) + pairSecret,
	} {
		if found := PairedSecrets(s); found != nil {
			t.Errorf("%q is found in %q", s[found[0].Start:found[0].End], s)
		}
	}
}

// A piece of a text that shows the secret without its id is masked by what the whole text tells, or each version that a diff shows (threats.md T631).
func TestPairedSecretsInPieces(t *testing.T) {
	whole := "up \\\n  " + pairID + " \\\n  eu-west-1 \\\n  " + pairSecret + "\n"
	keys := KeyLines{}
	keys.Learn(whole)
	piece := "  eu-west-1 \\\n  " + pairSecret + "\n"
	if got := replaceSpans(piece, keys.spans(piece)); got != "  eu-west-1 \\\n  "+Redacted+"\n" {
		t.Errorf("the piece is shown as %q", got)
	}
	for _, diff := range []string{
		"@@ -1,4 +1,4 @@\n up \\\n   " + pairID + " \\\n-  us-east-1 \\\n-  $SECRET\n+  eu-west-1 \\\n+  " + pairSecret + "\n", "@@ -1,4 +1,4 @@\n up \\\n   " + pairID + " \\\n-  a\n+  b\n+  c\n+  d\n-  " + pairSecret + "\n",
	} {
		keys := KeyLines{}
		keys.LearnPiece(diff)
		if got := keys.MaskDiff(diff); strings.Contains(got, pairSecret) || strings.Count(got, "\n") != strings.Count(diff, "\n") {
			t.Errorf("the diff is shown as %q", got)
		}
	}
}

// The token of an account of Twilio is known by the id beside it (threats.md T650).
func TestAccountTokens(t *testing.T) {
	const id, token = "AC197e20b717859f384315f41be113047c", "f875a156da6c3803d8e3c8a471a288c9"
	for text, masked := range map[string]bool{
		`client = twilio("` + id + `", "` + token + `")`: true, "sid:\n  " + id + "\n  " + token: true,
		`x = ("` + token + `")`: false, id + "\n\n\n\n" + token: false, id + " " + token + token[:8]: false, "PAC" + id[2:] + " " + token: false,
	} {
		diff := "@@ -0,0 +1,5 @@\n+" + strings.ReplaceAll(text, "\n", "\n+") + "\n"
		if maskChange(t, nil, &diff, nil); strings.Contains(diff, token) == masked || len(AccountTokens(text)) == 1 != masked {
			t.Errorf("%q is shown as %q", text, diff)
		}
	}
}
