package sanitize

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"
)

// window is how many bytes of a known secret give it away (threats.md L0): the trick of cutting its first
// characters off does not help.
const window = 12

// ownBytes is how many bytes of a window must lie behind the public prefix of its secret, in bytes of the secret: the prefix
// with fewer of the secret's own stands in every other credential of that kind, and in the documentation of its issuer.
const ownBytes = 6

// minWindowEntropy is what a window must have to give a secret away, in bits for each byte. Zeros, ramps and repetitions
// have less, such as those of the index line of a new file in a diff; 97 of 100 windows of a random hexadecimal number have
// more, and those of base64 nearly all.
const minWindowEntropy = 2.5

// issuers are the public beginnings of credentials. Everybody may write them, so they give nothing away.
var issuers = []struct{ prefix, kind string }{
	{"github_pat_11A", "GitHub token"}, {"github_pat_", "GitHub token"}, {"ghp_", "GitHub token"}, {"gho_", "GitHub token"}, {"ghu_", "GitHub token"},
	{"ghs_", "GitHub token"}, {"ghr_", "GitHub token"}, {"glpat-", "GitLab token"}, {"sk-ant-api03-", "Anthropic API key"}, {"sk-ant-admin01-", "Anthropic API key"},
	{"sk-ant-oat01-", "Anthropic token"}, {"sk-ant-", "Anthropic API key"}, {"sk-proj-", "OpenAI API key"}, {"sk-svcacct-", "OpenAI API key"},
	{"sk-admin-", "OpenAI API key"}, {"sk-or-v1-", "OpenRouter API key"}, {"sk-", "model API key"}, {"AIzaSy", "Google API key"}, {"ya29.", "Google token"},
	{"gsk_", "Groq API key"}, {"xai-", "xAI API key"}, {"hf_", "Hugging Face token"}, {"xoxb-", "Slack token"}, {"xoxp-", "Slack token"},
	{"AKIA", "AWS key"}, {"ASIA", "AWS key"}, {"glsa_", "Grafana token"}, {"glc_eyJ", "Grafana token"}, {"Bearer ", "bearer token"}, {"Basic ", "basic authorization"},
	{"prlcanary_", "canary"}, // internal/canary plants these in the homes of agents
}

// AnyCredential is the kind of a credential whose issuer its beginning does not tell.
const AnyCredential = "credential"

// public splits off what of a secret everybody knows, and names its kind. Of a JSON Web Token all but the signature is public:
// header and claims are much alike in all tokens, and worth nothing without it.
func public(secret string) (prefix, kind string) {
	if at := strings.LastIndexByte(secret, '.'); at >= 0 && strings.HasPrefix(secret, "eyJ") {
		return secret[:at+1], "JSON Web Token"
	}
	for _, i := range issuers {
		if strings.HasPrefix(secret, i.prefix) {
			return i.prefix, i.kind
		}
	}
	return "", AnyCredential
}

// Leaks reports whether s holds a known secret, or 12 bytes of one: as it is, upper or lower case, as hex, reversed, in
// base64 at any alignment, also when spaces, line ends, hidden characters or punctuation were put between, or when it was
// written as entities (threats.md L0). Bytes that tell nothing do not count: the public prefix of an issuer, and runs
// such as zeros; a secret of nothing else is found whole. One that somebody made of words is found whole and as it is written, or
// encoded: its words stand in ordinary sentences. Rot13 and the like are out of reach.
func Leaks(s string, p Policy) bool { return Leaked(s, p) != "" }

// Leaked is Leaks, and names the kind of the secret, such as "GitHub token" or AnyCredential; empty when s holds none.
func Leaked(s string, p Policy) (kind string) {
	known := tracesOf(p.Known)
	if len(known.windows) == 0 && len(known.whole) == 0 {
		return ""
	}
	if kind := known.in(strings.ToLower(s)); kind != "" {
		return kind
	}
	cleaned := clean(s)
	texts := []string{cleaned}
	if strings.Contains(cleaned, "&") {
		texts = append(texts, decodeEntities(cleaned))
	}
	for i, t := range texts {
		if i > 0 {
			if kind := known.in(strings.ToLower(t)); kind != "" {
				return kind
			}
		}
		for _, as := range []func(string) string{squeeze, letters} { // one after the other: a text may be long
			if kind := known.in(strings.ToLower(as(t))); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// trace is what gives known secrets away, in lower case, each with the kind of its secret.
type trace struct {
	known []string
	// windows are pieces of long secrets, whole the spellings of short ones and of those without a piece that tells anything.
	windows, whole map[string]string
	// first tells quickly that no window begins with four bytes.
	first [1 << 16]bool
}

// lastTraces are those of the last sets of secrets, the newest first: each of the runs of a process asks about its own again and again.
var lastTraces atomic.Pointer[[]*trace]

// keptTraces is how many are kept, each of a megabyte or so.
const keptTraces = 8

func tracesOf(known []string) *trace {
	var last []*trace
	if kept := lastTraces.Load(); kept != nil {
		last = *kept
	}
	for _, t := range last {
		if slices.Equal(t.known, known) {
			return t
		}
	}
	t := traces(known)
	last = append([]*trace{t}, last[:min(len(last), keptTraces-1)]...)
	lastTraces.Store(&last)
	return t
}

func traces(known []string) *trace {
	t := &trace{known: slices.Clone(known), windows: map[string]string{}, whole: map[string]string{}}
	for _, secret := range known {
		if secret = strings.TrimSpace(secret); len(secret) >= 8 && !saysNoKey(secret) {
			t.add(secret)
		}
	}
	return t
}

func (t *trace) add(secret string) {
	prefix, kind := public(secret)
	common := map[string]bool{} // windows of the prefix alone
	if prefix != "" {
		for _, text := range texts(secret[:min(len(prefix)+ownBytes-1, len(secret))]) {
			for i := 0; i+window <= len(text); i++ {
				common[text[i:i+window]] = true
			}
		}
	}
	own := secret[len(prefix):]
	forms := []string{secret}
	if prefix != "" && len(own) >= 16 {
		forms = append(forms, own)
	}
	worded := inWords(own)
	for _, form := range forms {
		for i, text := range texts(form) {
			if plain := i < asItIs; plain && worded {
				if i == 0 {
					t.whole[text] = kind
				}
				continue
			}
			t.addText(text, kind, len(secret) >= 16, common)
		}
	}
}

// addText adds one spelling: its pieces, where it may be cut and one of them tells anything, else the whole of it.
func (t *trace) addText(text, kind string, cut bool, common map[string]bool) {
	telling := false
	for i := 0; cut && i+window <= len(text); i++ {
		if w := text[i : i+window]; !common[w] && !weak(w) {
			t.windows[w], t.first[hash4(w)], telling = kind, true, true
		}
	}
	if !telling && len(text) >= 8 {
		t.whole[text] = kind
	}
}

// in returns the kind of the secret that stands in a lower-case text, empty when none does.
func (t *trace) in(s string) string {
	for i := 0; i+window <= len(s) && len(t.windows) > 0; i++ {
		if !t.first[hash4(s[i:])] {
			continue
		}
		if kind, hit := t.windows[s[i:i+window]]; hit {
			return kind
		}
	}
	for text, kind := range t.whole {
		if strings.Contains(s, text) {
			return kind
		}
	}
	return ""
}

// hash4 spreads the first four bytes of s over 16 bits.
func hash4(s string) uint16 {
	n := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	return uint16(n * 2654435761 >> 16)
}

// weak reports whether a window is too regular to come from a secret only: few characters over and over, a number, or a
// sequence such as abcdef.
func weak(w string) bool {
	steps, digits := map[int]int{}, 0
	for i := range len(w) {
		if w[i] >= '0' && w[i] <= '9' {
			digits++
		}
		if i > 0 {
			steps[int(w[i])-int(w[i-1])]++
		}
	}
	return digits == len(w) || Entropy(w) < minWindowEntropy || steps[1] >= len(w)-3 || steps[-1] >= len(w)-3
}

// asItIs is how many of the texts of a secret show it as it is.
const asItIs = 3

// texts are the lower-case spellings of a secret, the secret itself first: as they are and as they are left when what could stand between is dropped.
func texts(secret string) []string {
	var out []string
	for _, e := range spellings(secret) {
		e = strings.ToLower(e)
		out = append(out, e, squeeze(e), letters(e))
	}
	return out
}

// spellings are the ways a secret could be written down, case aside.
func spellings(secret string) []string {
	back := []byte(secret)
	slices.Reverse(back)
	out := []string{secret, string(back), hex.EncodeToString([]byte(secret)), hex.EncodeToString(back)}
	for shift := range 3 {
		// A secret inside a longer base64 text starts at one of three alignments; the characters that also depend on
		// the neighbours are left out.
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			e := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
			from := []int{0, 2, 3}[shift]
			to := len(e)
			if (shift+len(secret))%3 != 0 {
				to--
			}
			out = append(out, e[from:to])
		}
	}
	return out
}

// squeeze drops white space and everything outside ASCII.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return -1
		}
		return r
	}, s)
}

// letters drops everything but letters and digits: quotes, plus signs and list marks between the pieces of a secret.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') {
			return r
		}
		return -1
	}, s)
}
