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
		if len(typed(v)) >= minGenerated && !MadeUp(v) && !NoValue(v) && !wordNamed(line[:m[2]], v) && !publicNamed(line[m[0]:m[2]], v) && !publicHere(line[max(0, m[2]-digestReach):m[2]], v, line[m[3]:]) && !digestNamed(line[m[0]:m[2]], v) && !Published(v) && LettersAndDigits(v) && varied(v) {
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

var (
	// givenPassword is a password that a command, a statement of SQL, the settings of a mailer or a call that logs in are given in a way of their own.
	givenPassword = lazyregexp.New(`(?i)(?:\b(?:docker|podman)\s+login\s(?:[^|;&]{0,200}?\s)??-p\s+["']?|\bsshpass\s+-p\s*["']?|\bmysql(?:dump|admin)?\s(?:[^|;&]{0,200}?\s)??-p["']?|\bredis-cli\s(?:[^|;&]{0,200}?\s)??-a\s+["']?` +
		`|\bidentified\s+(?:with\s+\S{1,40}\s+)?by\s+["']|\bconvertto-securestring\s+(?:-string\s+)?["']|\bauth["']?\s*[:=]\s*\{[^{}]{0,200}?\bpass["']?\s*:\s*["']` +
		`|\b(?:set|http)?_?basic_?auth[( ]\s{0,4}[^,\s{}]{1,100},\s{0,4}["'` + "`" + `]|\bauth=\(["'][^"',]{1,100}["'],\s{0,4}["'])([^\s"'` + "`" + `$;|&<>{}()\[\]]{12,100})`)
	// givenWords are those of which every match has one.
	givenWords = []string{"login", "sshpass", "mysql", "redis-cli", "identified", "convertto-securestring", "auth"}
)

// GivenPasswords are the passwords that a line gives to a command, a statement, a mailer or a call that logs in. What people write for a server of their own machine is shorter.
func GivenPasswords(line string) (out []Span) {
	if !containsAny(lowerASCII(line), givenWords) {
		return nil
	}
	for _, m := range givenPassword.FindAllStringSubmatchIndex(line, -1) {
		if v := line[m[2]:m[3]]; LettersAndDigits(v) && Entropy(v) >= minGivenEntropy && !MadeUp(v) && !NoValue(v) && !reference.MatchString(v) {
			out = append(out, Span{Start: m[2], End: m[3]})
		}
	}
	return out
}

// minGivenEntropy is what such a password has at least, in bits for each byte.
const minGivenEntropy = 3

// longestRead bounds the lines in which values are found by where they stand, in bytes: the static reviewer reads no longer ones either.
const longestRead = 20_000

// placedSpans are the values of AssignedValues, AddressPasswords and GivenPasswords in all lines.
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
	look(givenWords, GivenPasswords)
	slices.SortFunc(out, func(a, b Span) int { return a.Start - b.Start })
	return joinSpans(slices.Compact(out))
}
