package sanitize

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// credentials are made up, one of each shape prloop may hold.
var credentials = map[string][]string{
	"GitHub token":       {"github_pat_11ABCDEFG0q9Zt7Lw2Xc4Vb6_Nm8Kj0Hg1Fd3Sa5PoQwErTyUi", "ghp_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT", "ghs_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT"},
	"Anthropic API key":  {"sk-ant-api03-q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErTyUi-AAAAAA"},
	"OpenAI API key":     {"sk-proj-q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErTyUi"},
	"OpenRouter API key": {"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"},
	"Google API key":     {"AIzaSyD9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQ"},
	"Slack token":        {"xoxb-294857203947-3948572039485-q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1F"},
	"GitLab token":       {"glpat-q9Zt7Lw2Xc4Vb6Nm8Kj0"},
	"AWS key":            {"AKIAQ9ZT7LW2XC4VB6NM"},
	"JSON Web Token": {"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2V4YW1wbGUuY29tIiwic3ViIjoiMTIzNDU2Nzg5MCJ9." +
		"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
	"credential": {"q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5Po", "8f14e45fceea167a5a36dedd4bea2543"},
}

// spelled is a text in the ways the tripwire reads it.
func spelled(s string) []string {
	out := append(spellings(s), strings.ToUpper(s))
	for _, e := range slices.Clone(out) {
		out = append(out, strings.ToUpper(e), strings.Join(strings.Split(e, ""), " "))
	}
	return out
}

// What an issuer writes before every credential of its kind ends nobody's run, in no spelling, and with a few characters of
// one's own neither: they stand in every example.
func TestPublicPrefixesGiveNothingAway(t *testing.T) {
	var all []string
	for _, list := range credentials {
		all = append(all, list...)
	}
	p := Policy{Known: all}
	for kind, list := range credentials {
		for _, secret := range list {
			prefix, got := public(secret)
			if got != kind {
				t.Errorf("%.12s… is a %s, want %s", secret, got, kind)
			}
			if prefix == "" {
				continue
			}
			for _, s := range append(spelled(prefix), spelled(secret[:len(prefix)+2])...) {
				if k := Leaked("the text "+s+" of a test", p); k != "" {
					t.Errorf("%q trips as a %s", s, k)
				}
			}
		}
	}
	for _, s := range []string{
		"index 0000000..1f2e3d4", "index 000000000000..000000000000", "ghp_000000000000000000000000", "sk-ant-api03-", "github_pat_11", "github_pat_1", "eyJhbGciOiJI",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRw", "1234567890123456", "AKIAIOSFODNN7EXAMPLE", "abcdefghijklmnopqrstuvwxyz", "xoxb-123456789012", "MDAwMDAwMDAwMDAw",
		"============", "------------------------", "3030303030303030",
	} {
		if k := Leaked(s, Policy{Known: append(all, "ghp_000000000000000000000000000000000000", "sk-test-0123456789012345678901234567")}); k != "" {
			t.Errorf("%q trips as a %s", s, k)
		}
	}
}

// Everything else of them still does, wherever it is cut.
func TestTwelveBytesOfACredentialTrip(t *testing.T) {
	for kind, list := range credentials {
		for _, secret := range list {
			p := Policy{Known: []string{secret}}
			prefix, _ := public(secret)
			own := secret[len(prefix):]
			for _, s := range append(spelled(secret), spelled(own)...) {
				if got := Leaked("found "+s+" here", p); got != kind {
					t.Errorf("%s: %q is told as %q", kind, s, got)
				}
			}
			tripping, pieces := 0, 0
			for i := 0; i+16 <= len(own); i++ {
				pieces++
				if Leaks("x "+own[i:i+16]+" x", p) {
					tripping++
				}
			}
			if tripping*10 < pieces*9 { // padding, which some keys end in, tells nothing
				t.Errorf("%s: %d of %d pieces of 16 bytes trip", kind, tripping, pieces)
			}
		}
	}
}

// A secret without a single piece that tells anything is found whole, in every spelling, and in nothing shorter.
func TestARegularSecretIsFoundWhole(t *testing.T) {
	for _, secret := range []string{"ghp_000000000000000000000000000000000000", "aaaaaaaaaaaaaaaaaaaaaaaa", "12345678901234567890", "abcabcabcabcabcabcabc", "abcdefghijklmnopqrst"} {
		p := Policy{Known: []string{secret}}
		for _, s := range spellings(secret) {
			if !Leaks("it is "+s+".", p) {
				t.Errorf("%q does not trip", s)
			}
		}
		if Leaks(secret[:len(secret)-1], p) {
			t.Errorf("%q trips before its end", secret)
		}
	}
}

// Random credentials of 32 bytes are given away by nearly every 12 bytes of them: what counts as regular is rare.
func TestFewWindowsAreRegular(t *testing.T) {
	for alphabet, most := range map[string]int{"0123456789abcdef": 5, "0123456789abcdefghijklmnopqrstuvwxyz": 1} {
		weakOnes, n := 0, 20_000
		seed := uint64(1)
		for range n {
			w := make([]byte, window)
			for i := range w {
				seed = seed*6364136223846793005 + 1442695040888963407
				w[i] = alphabet[(seed>>33)%uint64(len(alphabet))]
			}
			if weak(string(w)) {
				weakOnes++
			}
		}
		if weakOnes*100 > most*n {
			t.Errorf("%d of %d windows over %d characters count as regular", weakOnes, n, len(alphabet))
		}
	}
	for _, w := range []string{"000000000000", "abababababab", "abcdefghijkl", "lkjihgfedcba", "123456123456", strings.Repeat("303", 4)} {
		if !weak(w) {
			t.Errorf("%q counts as a secret", w)
		}
	}
	if weak("q9zt7lw2xc4v") {
		t.Error("a random window counts as regular")
	}
}

// A secret of words is found where it stands, and encoded; a sentence of the same words is no leak (threats.md T522).
func TestASecretOfWords(t *testing.T) {
	for _, secret := range []string{"sk-team-proxy-key-required", "correct-horse-battery-staple", "LITELLM_MASTER_KEY", "Summer.Holiday.House-2024", "sk-litellm-proxy-key-1"} {
		p := Policy{Known: []string{secret}}
		words := strings.NewReplacer("sk-", "a ", "-", " ", "_", " ", ".", " ").Replace(secret)
		for _, s := range []string{words, strings.ToLower(words), secret[:len(secret)-3]} {
			if Leaks("Here "+s+" is it.", p) {
				t.Errorf("%q trips for %q", s, secret)
			}
		}
		for _, s := range append(spellings(secret), strings.ToUpper(secret), secret[:9]+"\n"+secret[9:], secret[:9]+"\u200b"+secret[9:], hex.EncodeToString([]byte(secret))[8:32]) {
			if !Leaks("found "+s+" here", p) {
				t.Errorf("%q does not trip for %q", s, secret)
			}
		}
		if got := MaskKnown("a\nkey: "+secret+"\nb", p); got != "a\n"+Redacted+"\nb" {
			t.Errorf("%q is masked as %q", secret, got)
		}
	}
	for _, secret := range []string{"qWeR-tYuI-oPaS-dFgH-jKlZ", "qzxkvjwpqhtrmnbvcdfg", "q9zt-7lw2-xc4v-b6nm"} {
		if own := letters(secret); inWords(secret) || !Leaks("x "+own[2:16]+" x", Policy{Known: []string{secret}}) {
			t.Errorf("a piece of %q does not trip", secret)
		}
	}
}

// What servers of local models have people write for a key is none (threats.md T522).
func TestAKeyThatSaysItIsNone(t *testing.T) {
	for _, secret := range []string{"sk-no-key-required", "no-api-key-required", "API_KEY_NOT_NEEDED", "key-is-not-required"} {
		if Leaks("OPENAI_API_KEY="+secret+" works: there is no key required.", Policy{Known: []string{secret}}) {
			t.Errorf("%q counts as a secret", secret)
		}
	}
	for _, secret := range []string{"no-one-will-guess-this", "sk-not-my-real-key", "no-key-for-the-wicked"} {
		if !Leaks("It is "+secret+".", Policy{Known: []string{secret}}) {
			t.Errorf("%q counts as none", secret)
		}
	}
}

// The runs of a process ask about secrets of their own, one after the other: what each looks for is worked out once.
func TestTracesOfSeveral(t *testing.T) {
	first, second := []string{"prlcanary_0123fe9a8b7c6d5e4f3a"}, []string{"prlcanary_9a8b7c6d5e4f3a0123fe"}
	a, b := tracesOf(first), tracesOf(second)
	if tracesOf(first) != a || tracesOf(second) != b || a == b {
		t.Error("a trace was made twice")
	}
	for i := range keptTraces {
		tracesOf([]string{strings.Repeat("x", 8) + strconv.Itoa(i)})
	}
	if tracesOf(first) == a || len(*lastTraces.Load()) != keptTraces {
		t.Error("every trace is kept")
	}
}
