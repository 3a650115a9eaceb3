package sanitize

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
)

// madeUpKey is a whole key of n lines of w characters each, and a short one.
func madeUpKey(n, w int) string {
	var b strings.Builder
	b.WriteString(keyLines[0] + "\n")
	for i := range n {
		line := ""
		for j := 0; len(line) < w; j++ {
			line += base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%d;%d?%c", i*131+j, j*77+i, 'A'+i%26))[:8]
		}
		b.WriteString(line[:w] + "\n")
	}
	return b.String() + "q1Z=\n" + keyLines[4] + "\n"
}

// Every piece of a text with a key loses what the whole text shows to be one, in a diff too, and nothing else.
func TestPiecesOfAKey(t *testing.T) {
	key := madeUpKey(40, 64)
	for name, whole := range map[string]string{
		"plain": "a = 1\n" + key + "b = 2\n", "indented": "k: |\n  " + strings.ReplaceAll(key, "\n", "\n  ") + "b: 2\n", "line ends of two bytes": strings.ReplaceAll("a\n"+key+"b\n", "\n", "\r\n"),
		"strings": "k = \"" + strings.ReplaceAll(strings.TrimSpace(key), "\n", "\\n\" +\n  \"") + "\"\n", "narrow": madeUpKey(40, 32), "hidden characters": strings.ReplaceAll("a\n"+key+"b\n", "M", "M\u200b"),
		"base64 of it":        "tls.key: >-\n  " + strings.Join(strings.SplitAfter(wrapped(key, 76), "\n"), "  ") + "tls.crt: x\n",
		"narrow, in commands": "echo " + strings.ReplaceAll(strings.TrimSpace(madeUpKey(40, 32)), "\n", " >> k\necho ") + " >> k\n",
	} {
		keys := KeyLines{}
		keys.Learn(whole)
		lines, shown := strings.SplitAfter(whole, "\n"), strings.SplitAfter(replaceSpans(whole, findSpans(whole, keySpans)), "\n")
		if n := strings.Count(strings.Join(shown, ""), Redacted); n < 40 {
			t.Fatalf("%s: %d lines of the key are found", name, n)
		}
		for from := range lines {
			to := min(from+4, len(lines))
			piece, want := strings.Join(lines[from:to], ""), strings.Join(shown[from:to], "")
			if got := replaceSpans(piece, keys.spans(piece)); got != want || len(keys.spans(got)) > 0 {
				t.Fatalf("%s: %q is shown as %q, want %q", name, piece, got, want)
			}
			diff := "@@ -2,4 +2,4 @@ " + strings.TrimRight(cut(lines[from], 80), "\r\n") + "\n-" + strings.ReplaceAll(strings.TrimSuffix(piece, "\n"), "\n", "\n-") + "\n"
			if got := keys.MaskDiff(diff); strings.Contains(got, strings.TrimSpace(lines[from])) && strings.TrimSpace(lines[from]) != "" && lines[from] != shown[from] {
				t.Errorf("%s: %q is masked as %q", name, diff, got)
			}
			text := piece
			n := maskChange(t, []*string{&text}, &diff, map[*string]KeyLines{&text: keys, &diff: keys})
			held := piece != want
			if held && (n == 0 || !MayHoldKey(piece) && strings.Contains(piece, "M")) || strings.Count(diff, "\n") != strings.Count(strings.TrimSuffix(piece, "\n"), "\n")+2 {
				t.Errorf("%s: %d values in %q, %q", name, n, piece, diff)
			}
			for i, line := range lines[from:to] {
				if line != shown[from+i] && strings.TrimSpace(line) != "" && (strings.Contains(diff, strings.TrimSpace(line)) || strings.Contains(text, strings.TrimSpace(line))) {
					t.Errorf("%s: %q is left in %q, %q", name, line, diff, text)
				}
			}
		}
	}
}

func wrapped(s string, width int) string {
	var b strings.Builder
	for s := base64.StdEncoding.EncodeToString([]byte(s)); s != ""; s = s[min(width, len(s)):] {
		b.WriteString(s[:min(width, len(s))] + "\n")
	}
	return b.String()
}

// Of a text that cannot be read as a whole, what looks like the middle of a key is taken out.
func TestPiecesOfAnUnreadText(t *testing.T) {
	lines := strings.Split(madeUpKey(8, 64), "\n")[2:6]
	piece := "@@ -9,3 +9,3 @@ " + lines[0] + "\n " + lines[1] + "\n-" + lines[2] + "\n+" + lines[3] + "\n call(1)\n"
	keys := KeyLines{}
	keys.LearnPiece(piece)
	if maskChange(t, nil, &piece, map[*string]KeyLines{&piece: keys}); piece != "@@ -9,3 +9,3 @@ [REDACTED]\n [REDACTED]\n-[REDACTED]\n+[REDACTED]\n call(1)\n" {
		t.Errorf("%q", piece)
	}
}

// A key that is in base64 once more goes whole, however wide its lines are; what stands behind it, and what is no private key, stays.
func TestKeysInBase64(t *testing.T) {
	for _, width := range []int{40, 64, 76, 1 << 20} {
		text := strings.TrimSuffix(wrapped(madeUpKey(26, 64), width), "\n")
		for name, s := range map[string]string{"block": "tls.key: >-\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\nport: 1\n", "first line beside its name": "k: " + strings.ReplaceAll(text, "\n", "\n  ") + "\nport: 1\n",
			"strings": "k = (\"" + strings.ReplaceAll(text, "\n", "\"\n  \"") + "\")\nport: 1\n"} {
			got := Mask(s)
			for _, line := range strings.Split(text, "\n") {
				if strings.Contains(got, line) {
					t.Fatalf("%s of lines of %d leaves %q in\n%s", name, width, line, got)
				}
			}
			if !strings.HasSuffix(got, "\nport: 1\n") {
				t.Errorf("%s of lines of %d: %q", name, width, got)
			}
			lawsOfMask(t, s)
		}
		certificate := "tls.crt: >-\n    " + strings.ReplaceAll(wrapped(strings.ReplaceAll(madeUpKey(26, 64), "RSA PRIVATE KEY", "CERTIFICATE"), width), "\n", "\n    ") + "\n"
		if keySpans(certificate) != nil {
			t.Errorf("a certificate in lines of %d is taken for a key", width)
		}
	}
}

// Looking up lines takes time in proportion to the text.
func TestKeyLinesTakeLinearTime(t *testing.T) {
	cost := func(n int) time.Duration {
		start := cpu(t)
		for _, s := range []string{madeUpKey(n/64, 64), strings.Repeat(encodedBegin+strings.Repeat("A", 40)+"\n", n/55), strings.Repeat(strings.Repeat("A1b", 25)+"\n", n/76)} {
			keys := KeyLines{}
			keys.Learn(s)
			keys.LearnPiece(s)
			keys.spans(s)
			MayHoldKey(s)
		}
		return cpu(t) - start
	}
	quarter, took := cost(1<<15), cost(1<<17)
	if took > 3*time.Second && took > 8*quarter {
		t.Errorf("%v, and %v for a quarter", took, quarter)
	}
}
