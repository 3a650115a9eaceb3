package sanitize

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/pace"
)

// A value that one place of a change calls a secret is masked in everything that is read or written later, and no word that somebody chose is.
func TestLearned(t *testing.T) {
	const value = "q7Rz2Lm9Xc4Vb8Nt1Wk6"
	var nobody *Learned
	known := &Learned{}
	settings := "API_TOKEN=" + value + "\nPASSWORD=hunter2024\nsecret_key=verifySignatureV2Strict\n"
	if _, err := MaskChange(t.Context(), known, []*string{&settings}, nil, nil); err != nil {
		t.Fatal(err)
	}
	title := "token=w3Ke9Tz5Yh1Bn7Qx2Rd8"
	diff := "@@ -1 +1 @@\n+dial(\"" + value + "\")\n"
	if _, err := MaskChange(t.Context(), known, nil, []*string{&diff}, nil, []*string{&title}); err != nil || strings.Contains(diff, value) {
		t.Errorf("another round shows %q, %v", diff, err)
	}
	if got := known.Values(); len(got) != 1 || got[0] != value {
		t.Errorf("it learned %q", got)
	}
	for text, want := range map[string]string{
		`dial("` + value + `", "api")`:               `dial("[REDACTED]", "api")`,
		"got 401 for q7Rz2Lm9\u200bXc4Vb8Nt1Wk6":     "got 401 for [REDACTED]",
		"verifySignatureV2Strict(hunter2024)":        "verifySignatureV2Strict(hunter2024)",
		value[:12] + " " + value + value[:12] + "\n": value[:12] + " [REDACTED]" + value[:12] + "\n",
	} {
		if got := known.Mask(text); got != want || known.Mask(got) != got || nobody.Mask(text) != text {
			t.Errorf("%q is masked as %q", text, got)
		}
		if got := known.Redact(text); strings.Contains(got, value) {
			t.Errorf("%q is redacted as %q", text, got)
		}
	}
	for shift := range 3 { // as a check of the project may print it
		for _, encoded := range []string{base64.StdEncoding.EncodeToString([]byte("a:b"[:shift] + value)), base64.URLEncoding.EncodeToString([]byte("a:b"[:shift] + value + "\n")), fmt.Sprintf("%x", value), fmt.Sprintf("%X", "a"+value+"b"), fmt.Sprintf("%#x", value)} {
			if got := known.Mask("got " + encoded); len(got) > len("got [REDACTED]")+8 || !strings.Contains(got, Redacted) {
				t.Errorf("%s is shown as %q", encoded, got)
			}
		}
	}
	diff = "@@ -1 +1 @@\n-dial(\"" + value + "\")\n+dial(env)\n"
	if got, want := known.MaskDiff(diff, nil), strings.ReplaceAll(diff, value, Redacted); got != want {
		t.Errorf("the diff is shown as %q", got)
	}
	policy := Policy{Learned: known}
	if texts, err := Comment("It dials with "+value+".", Marker{}, policy); err != nil || strings.Contains(texts[0].String(), value) {
		t.Errorf("posted: %q, %v", texts, err)
	}
}

// A value that was drawn is learned as well as a longer one, with signs or without; what somebody chose is not.
func TestDrawnValuesAreLearned(t *testing.T) {
	known := &Learned{}
	known.Learn("q7Rz2Lm9Xc4Vb8Nt", "L2U3L8cmUh+uAPL/", "uJ7!kQ2z$Lm9-Xc4Vb8Nt#", "600da347bb3f084e", "hunter2024", "productionDatabase", "VerifyPKCS1v15Digest", "my-team-key-2024", "0123456789abcdef", "507f1f7")
	if got, want := known.Mask("fill('q7Rz2Lm9Xc4Vb8Nt', 'L2U3L8cmUh+uAPL/', 'uJ7!kQ2z$Lm9-Xc4Vb8Nt#', '600da347bb3f084e')"), "fill('[REDACTED]', '[REDACTED]', '[REDACTED]', '[REDACTED]')"; got != want || len(known.Values()) != 4 {
		t.Errorf("it knows %q, and shows %s", known.Values(), got)
	}
}

// What stands in the name of a file that everybody is shown is no value, whenever it was learned; what goes beyond it is one.
func TestLearnedSpares(t *testing.T) {
	const value, other = "q7Rz2Lm9Xc4Vb8Nt1Wk6", "w3Ke9Tz5Yh1Bn7Qx2Rd8"
	known := &Learned{}
	known.Learn(value, other, "c/"+value)
	known.Spare("b/" + value + ".go")
	known.Spare("b/main.go", "")
	known.Spare("b/main.go")
	known.Learn(value, "b/"+value)
	if got := known.Values(); !slices.Equal(got, []string{"c/" + value, other}) {
		t.Errorf("it knows %q", got)
	}
	if got, want := known.Mask("b/"+value+".go dials with "+other), "b/"+value+".go dials with [REDACTED]"; got != want {
		t.Errorf("masked: %q", got)
	}
}

// Thousands of values cost a text one reading.
func TestLearnedTakesOneReading(t *testing.T) {
	known, values := &Learned{}, make([]string, 20_000)
	for i := range values {
		sum := sha256.Sum256(fmt.Append(nil, i))
		values[i] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	known.Learn(values...)
	text := strings.Repeat("x := dial(\""+values[7][:30]+"\", \"api.acme.io\") // nothing of it is known\n", 1<<14)
	few := &Learned{}
	few.Learn(values[:20]...)
	mask := func(known *Learned) func() {
		return func() {
			if known.Mask(text+values[5]) != text+Redacted {
				t.Error("it masks something else")
			}
		}
	}
	pace.Within(t, 50, mask(few), mask(known))
}
