package sanitize

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// assignment is a name that promises a secret, a sign of assignment and a value: code, YAML, JSON, dotenv, headers.
	assignment = lazyregexp.New(`(?i)((?:api_?-?key|secret|token|passw(?:or)?d|passphrase|pwd|credential|private_?-?key|access_?-?key|auth_?-?key|account_?-?key|encryption_?-?key|signing_?-?key|_key|_auth|bearer)[0-9a-z_.-]{0,24}\\?["'\x60]?\]?\s{0,4}(?::=|=>|==|=|:)\s{0,4}(?:bearer |basic )?)(\\?["'\x60]?)([^\s"'\x60,;<>\[\](){}|\\]{6,})`)
	// urlPassword is the password of a URL with user information.
	urlPassword = lazyregexp.New(`([a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@"'\x60<>\[\]|]{0,80}:)([^\s/@"'\x60<>\[\]|]{3,})@`)
	// authHeader is the credential of an Authorization header.
	authHeader = lazyregexp.New(`(?i)(authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s+)([0-9A-Za-z._~+/=-]{8,})`)

	passwordName = lazyregexp.New(`(?i)passw|passphrase|pwd`)
	// reference is a value that names a secret instead of being one.
	reference = lazyregexp.New(`^(?:[$%@*&.]|\\?\$|env[.:]|process\.|os\.|config\.|https?://|/)|^[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]\w*)+$|^[A-Z][A-Z_]+$|^[x*.#-]+$`)
)

// secretNames is the prefilter of assignment.
var secretNames = []string{"key", "secret", "token", "passw", "pwd", "passphrase", "credential", "auth", "bearer"}

// Bounds of what a value must be like (threats.md L3).
const (
	minEntropy       = 3.5
	minSecretLen     = 20
	minPasswordBits  = 2.3
	minQuotedSecrets = 8
)

// redactAssignments replaces values assigned to names such as token, secret and password, and passwords in URLs. Only the
// value goes: the name says what was there.
func redactAssignments(s string) string {
	if strings.Contains(s, "://") && strings.Contains(s, "@") {
		s = urlPassword.ReplaceAllStringFunc(s, func(m string) string {
			sub := urlPassword.FindStringSubmatch(m)
			if reference.MatchString(sub[2]) {
				return m
			}
			return sub[1] + Redacted + "@"
		})
	}
	if !strings.ContainsAny(s, "=:") {
		return s
	}
	lower := strings.ToLower(s)
	if strings.Contains(lower, "authorization") {
		s = authHeader.ReplaceAllString(s, "${1}"+Redacted)
	}
	if !containsAny(lower, secretNames) {
		return s
	}
	return assignment.ReplaceAllStringFunc(s, func(m string) string {
		sub := assignment.FindStringSubmatch(m)
		if !secretValue(sub[1], sub[2] != "", strings.TrimRight(sub[3], ".:!?*_~")) {
			return m
		}
		return sub[1] + sub[2] + Redacted
	})
}

// secretValue judges a value by its name and by how it is written.
func secretValue(name string, quoted bool, value string) bool {
	switch {
	case reference.MatchString(value):
		return false
	case len(value) >= minSecretLen && hasDigit(value) && windowEntropy(value) >= minEntropy:
		return true
	case !passwordName.MatchString(name):
		return quoted && len(value) >= 16 && hasDigit(value) && windowEntropy(value) >= 3
	case quoted:
		return len(value) >= minQuotedSecrets-2 && entropy(value) >= minPasswordBits && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") != ""
	}
	return len(value) >= minQuotedSecrets && hasDigit(value) && strings.ContainsAny(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// windowEntropy is the highest entropy of any 20 bytes, so that padding cannot lower it.
func windowEntropy(s string) float64 {
	if len(s) <= minSecretLen {
		return entropy(s)
	}
	best := 0.0
	for i := 0; i+minSecretLen <= len(s) && i < 200; i += 4 {
		best = max(best, entropy(s[i:i+minSecretLen]))
	}
	return best
}

// assignmentSpans are the values redactAssignments takes out.
func assignmentSpans(s string) []Span {
	if !strings.ContainsAny(s, "=:") {
		return nil
	}
	var out []Span
	lower := lowerASCII(s)
	inLines(s, lower, []string{"://"}, func(line string, at int) {
		for _, m := range urlPassword.FindAllStringSubmatchIndex(line, -1) {
			if !reference.MatchString(line[m[4]:m[5]]) {
				out = appendLines(out, s, at+m[4], at+m[5])
			}
		}
	})
	inLines(s, lower, []string{"authorization"}, func(line string, at int) {
		for _, m := range authHeader.FindAllStringSubmatchIndex(line, -1) {
			out = appendLines(out, s, at+m[4], at+m[5])
		}
	})
	// The expression of an assignment is slow to search with and quick to match where a name stands.
	for _, name := range namesOfSecrets {
		for i := 0; ; i++ {
			n := strings.Index(lower[i:], name.word)
			if n < 0 {
				break
			}
			i += n
			if !name.follows(lower[:i]) {
				continue
			}
			rest := s[i:min(len(s), i+assignmentReach)]
			m := assignedHere.FindStringSubmatchIndex(rest)
			if m == nil {
				continue
			}
			from := i
			i += m[1] - 1 // the value is looked at once, also when it is made of such names
			value := strings.TrimRight(rest[m[6]:m[7]], ".:!?*_~")
			if secretValue(rest[m[2]:m[3]], m[4] < m[5], value) {
				out = appendLines(out, s, from+m[6], from+m[7])
			}
		}
	}
	return out
}

// nameOfSecret is how the expression of an assignment begins: a word, and what has to stand before it.
type nameOfSecret struct {
	word   string
	before []string
}

func (n nameOfSecret) follows(before string) bool {
	return n.before == nil || slices.ContainsFunc(n.before, func(b string) bool { return strings.HasSuffix(before, b) })
}

// namesOfSecrets are the beginnings of assignment.
var namesOfSecrets = []nameOfSecret{
	{"secret", nil}, {"token", nil}, {"passwd", nil}, {"password", nil}, {"passphrase", nil}, {"pwd", nil}, {"credential", nil}, {"bearer", nil},
	{"_auth", nil}, {"key", keyKinds()},
}

func keyKinds() []string {
	out := []string{"_"}
	for _, kind := range []string{"api", "private", "access", "auth", "account", "encryption", "signing"} {
		out = append(out, kind, kind+"-") // with "_" it ends in "_"
	}
	return append(out, "_-")
}

// assignedHere is assignment from its name on; the reach is how far it is looked for, in bytes.
var assignedHere = lazyregexp.New(`^(?i)((?:secret|token|passw(?:or)?d|passphrase|pwd|credential|key|_auth|bearer)[0-9a-z_.-]{0,24}\\?["'\x60]?\]?\s{0,4}(?::=|=>|==|=|:)\s{0,4}(?:bearer |basic )?)(\\?["'\x60]?)([^\s"'\x60,;<>\[\](){}|\\]{6,})`)

const assignmentReach = 8 << 10
