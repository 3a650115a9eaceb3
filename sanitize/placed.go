package sanitize

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// The static reviewer finds these values by where they stand, whatever signs they are written with; so what it finds is masked for everybody else.

var (
	// assignedValue is a quoted value given to something called a secret.
	assignedValue = lazyregexp.New(`(?i)(?:api_?-?key|secret|token|passwd|password|passphrase|credentials?|private_?-?key|access_?-?key|auth_?-?key|jwt_{0,2}-?key|shared_?-?key|psk)` +
		`[a-z0-9_-]{0,20}["'` + "`" + `\])]{0,3}\s*(?::=|=>|[:=]|,)\s*["'` + "`" + `]([^"'` + "`" + `\s]{16,200})["'` + "`" + `]`)
	// addressPassword is a password inside a connection address.
	addressPassword = lazyregexp.New(`\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@"'` + "`" + `{}<>$]{1,60}:([^\s/@"'` + "`" + `{}<>$]{6,100})@([A-Za-z0-9.-]{2,100})`)
	// nameOnly is a name that speaks about a secret without holding it: credentialsId, secretName, tokenType, passwordField.
	nameOnly = lazyregexp.New(`(?i)(?:ids?|names?|type|url|uri|path|file|field|label|count|length|regex|pattern)["'` + "`" + `\])]{0,3}\s*(?::=|=>|[:=]|,)\s*["'` + "`" + `]$`)
)

// assignedWords are the front parts of the names of assignedValue.
var assignedWords = []string{"key", "secret", "token", "passw", "passphrase", "credential", "psk"}

// AssignedValues are the values of a line that stand in quotes behind the name of a secret, and are like generated ones.
func AssignedValues(line string) (out []Span) {
	first := strings.IndexAny(line, "\"'`")
	if first < 0 || strings.LastIndexAny(line, "\"'`") <= first+minGenerated || !containsAny(lowerASCII(line), assignedWords) {
		return nil
	}
	for _, m := range assignedValue.FindAllStringSubmatchIndex(line, -1) {
		v := line[m[2]:m[3]]
		if name := line[m[0]:m[2]]; endsInWord(nameOnly.FindStringIndex(name), name) || strings.EqualFold(line[max(0, m[0]-6):m[0]], "public") {
			continue
		}
		if !MadeUp(v) && !NoValue(v) && !wordNamed(line[:m[2]], v) && !publicNamed(line[m[0]:m[2]], v) && !publicHere(line[max(0, m[2]-digestReach):m[2]], v, line[m[3]:]) && !digestNamed(line[m[0]:m[2]], v) && !Published(v) && LettersAndDigits(v) && varied(v) {
			out = append(out, Span{Start: m[2], End: m[3]})
		}
	}
	return out
}

// AddressPasswords are the passwords inside the addresses of a line, without those of development set-ups, such as postgres or password1.
func AddressPasswords(line string) (out []Span) {
	if !strings.Contains(line, "://") || !strings.Contains(line, "@") {
		return nil
	}
	for _, m := range addressPassword.FindAllStringSubmatchIndex(line, -1) {
		password, host := line[m[2]:m[3]], line[m[4]:m[5]]
		if !MadeUp(password) && !LocalHost(host) && Entropy(password) >= 2.8 && LettersAndDigits(password) {
			out = append(out, Span{Start: m[2], End: m[3]})
		}
	}
	return out
}

// longestRead bounds the lines in which values are found by where they stand, in bytes: the static reviewer reads no longer ones either.
const longestRead = 20_000

// placedSpans are the values of AssignedValues and AddressPasswords in all lines.
func placedSpans(s string) (out []Span) {
	lower := lowerASCII(s)
	look := func(words []string, find func(line string) []Span) {
		inLines(s, lower, words, func(line string, at int) {
			if len(line) > longestRead {
				return
			}
			for _, p := range find(line) {
				out = append(out, Span{Start: at + p.Start, End: at + p.End})
			}
		})
	}
	look(assignedWords, AssignedValues)
	look([]string{"://"}, AddressPasswords)
	slices.SortFunc(out, func(a, b Span) int { return a.Start - b.Start })
	return joinSpans(slices.Compact(out))
}
