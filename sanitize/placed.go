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
	// protocolPassword is one inside an address that has its protocol behind it, as Go's driver of MySQL writes it; protocolWords are those of which each has one.
	protocolPassword = lazyregexp.New(`[\w.-]{1,60}:([^\s"'\x60<>{}\[\]|$%][^\s"'\x60<>{}\[\]|]{2,100})@(?:tcp[46]?|udp|unix)\(([^\s()"'\x60]{0,100})`)
	protocolWords    = []string{"@tcp", "@udp(", "@unix("}
	// addressUser is who asks in an address without a password, which is a token where it was drawn; publicUser is one that everybody may see, as where Sentry is told of errors: hex, at the number
	// of a project.
	addressUser = lazyregexp.New(`\b[a-z][a-z0-9+.-]{1,20}://([^\s/:@"'` + "`" + `{}<>$]{13,255})(?::(?:x-oauth-basic)?)?@([A-Za-z0-9.-]{2,100})(?::[0-9]{1,5})?([^\s"'` + "`" + `<>]{0,200})`)
	publicUser  = lazyregexp.New(`^[0-9a-f]{32}@.*/[0-9]+(?:[?#].*)?$`)
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

// AddressPasswords are the passwords inside the addresses of a line, and the tokens in their places, without those of development set-ups, such as postgres or password1.
func AddressPasswords(line string) (out []Span) {
	var found [][]int
	if strings.Contains(line, "://") && strings.Contains(line, "@") {
		found = addressPassword.FindAllStringSubmatchIndex(line, -1)
		for _, m := range addressUser.FindAllStringSubmatchIndex(line, -1) {
			if user, host := line[m[2]:m[3]], line[m[4]:m[5]]; Drawn(user) && !MadeUp(user) && !LocalHost(host) && !publicUser.MatchString(user+"@"+line[m[4]:m[7]]) {
				out = append(out, Span{Start: m[2], End: m[3]})
			}
		}
	}
	if containsAny(line, protocolWords) {
		found = append(found, protocolPassword.FindAllStringSubmatchIndex(line, -1)...)
	}
	for _, m := range found {
		password, host := line[m[2]:m[3]], line[m[4]:m[5]]
		if !MadeUp(password) && !LocalHost(host) && Entropy(password) >= 2.8 && LettersAndDigits(password) {
			out = append(out, Span{Start: m[2], End: m[3]})
		}
	}
	return out
}

var (
	// givenPassword is a password that a command, a statement of SQL, or the settings of a mailer or of Redis are given in a way of their own.
	givenPassword = lazyregexp.New(`(?i)(?:\b(?:docker|podman)\s+login\s(?:[^|;&]{0,200}?\s)??-p\s+["']?|\bsshpass\s+-p\s*["']?|\bmysql(?:dump|admin)?\s(?:[^|;&]{0,200}?\s)??-p["']?|\bredis-cli\s(?:[^|;&]{0,200}?\s)??-a\s+["']?` +
		`|\bldap[a-z]{3,10}\s(?:[^|;&]{0,200}?\s)??(?-i:-w)\s*["']?|\b(?:requirepass|masterauth)\s+["']?` +
		`|\bidentified\s+(?:with\s+\S{1,40}\s+)?by\s+["']|\bconvertto-securestring\s+(?:-string\s+)?["']|\bauth["']?\s*[:=]\s*\{[^{}]{0,200}?\bpass["']?\s*:\s*["'])` + givenValue)
	// pgpassLine is a line of .pgpass with a port that PostgreSQL or its pool has.
	pgpassLine = lazyregexp.New(`(?:^|["'])[0-9A-Za-z.*_-]{1,100}:(?:54[0-9]{2}|6432|\*):[^\s:"']{1,60}:[^\s:"']{1,60}:` + givenValue + `["'\r]?(?:\s*>|$)`)
	// loginCall begins a call that logs in, signs or connects, up to its arguments. Its group is of one that connects.
	loginCall = lazyregexp.New(`(?i)(?:auth(?:_?password|enticat(?:e|ion))?|log_?[io]n|sign_?in|credentials?|(?:ldap|simple)_?bind(?:_s)?|\bjwt\.(?:sign|encode|verify|decode)|(connect(?:ion)?|\bpdo))(?:(?:with|as|user)[a-z]{0,30})?(?:=?\(|[ \t]["'])`)
	// givenAlone is such a password where an argument of a call is nothing else.
	givenAlone = lazyregexp.New(`^` + givenValue)
	// givenWords are those of which every match of givenPassword and pgpassLine has one, optionWords those of optionHere, loginWords those of loginCall.
	givenWords  = []string{"login", "sshpass", "mysql", "redis-cli", "ldap", "requirepass", ":54", ":6432:", ":*:", "identified", "convertto-securestring", "auth"}
	optionWords = []string{"-p", "-hp", "-a", "-w", "-k", "/p", "-u"}
	loginWords  = []string{"auth", "login", "log_in", "logon", "log_on", "signin", "sign_in", "credential", "bind", "connect", "jwt.", "pdo"}
)

// givenValue is what such a password is written with. What people write for a server of their own machine is shorter, or repeats its letters.
const givenValue = "([^\\s\"'`$;|&<>{}()\\[\\]]{8,100})"

// minGivenEntropy is what it has at least, in bits for each byte.
const minGivenEntropy = 3

var (
	// optionHere begins with an option by which commands are given a password, or a user and a password, and ends with what may be one.
	optionHere = lazyregexp.New("^(?:(?:-(?:pw|hp|[pawk]|P[\"'`]?[ \t:=,])|/p[ \t:])[\"'`]?[ \t:=,]{0,4}[\"'`]?|(?:-[uU]|--user)[\"'`]?[ \t:=,]{0,4}[\"'`]?[\\w.@\\\\-]{1,60}[:/%])" + givenValue)
	// idOption is what such an option of Git or GnuPG has: a commit in short, or a public key.
	idOption = lazyregexp.New(`^(?:[0-9a-f]{1,15}|[0-9a-f]{40}|[0-9a-f]{64}|(?:0x)?(?:[0-9A-F]{16}|[0-9A-F]{40}))$`)
)

// optionReach is how much of a line is looked at from an option on, in bytes.
const optionReach = 200

// givenToOptions are the values that were drawn and that an option for passwords has, of whatever command.
func givenToOptions(line string) (out []Span) {
	for i := 1; i < len(line); i++ {
		if line[i-1] != '-' && line[i-1] != '/' || strings.IndexByte("pPhawkuU-", line[i]) < 0 || i > 1 && strings.IndexByte(" \t\"'`([,", line[i-2]) < 0 {
			continue
		}
		if m := optionHere.FindStringSubmatchIndex(line[i-1 : min(len(line), i-1+optionReach)]); m != nil {
			start, end := i-1+m[2], i-1+m[3]
			if v := line[start:end]; drawnAt(line, start, end) && !idOption.MatchString(v) && !strings.Contains(v, "://") && !pathStart.MatchString("/"+strings.TrimLeft(v, "@./~")) {
				out = append(out, Span{Start: start, End: end})
			}
		}
	}
	return out
}

// GivenPasswords are the passwords that a line gives to a command, a statement, a mailer or a call that logs in.
func GivenPasswords(line string) []Span {
	lower := lowerASCII(line)
	out := givenToOptions(line)
	if containsAny(lower, givenWords) {
		out = append(out, givenInPlace(line)...)
	}
	if containsAny(lower, loginWords) {
		out = append(out, givenToCalls(line)...)
	}
	return out
}

// givenInPlace are those that givenPassword and pgpassLine find.
func givenInPlace(line string) (out []Span) {
	for _, m := range append(givenPassword.FindAllStringSubmatchIndex(line, -1), pgpassLine.FindAllStringSubmatchIndex(line, -1)...) {
		if given(line, m[2], m[3]) {
			out = append(out, Span{Start: m[2], End: m[3]})
		}
	}
	return out
}

// givenToCalls are those that calls are given as arguments.
func givenToCalls(line string) (out []Span) {
	for _, m := range loginCall.FindAllStringSubmatchIndex(line, -1) {
		first, connects := 2, m[2] >= 0
		if connects { // where to comes first
			first = 3
		}
		for _, p := range textArguments(line[:min(len(line), m[1]+callReach)], m[1], first) {
			v := givenAlone.FindString(line[p.Start:p.End])
			if given(line, p.Start, p.Start+len(v)) && !(connects && (plainWords(v) || hostAndPort.MatchString(v))) {
				out = append(out, p)
			}
		}
	}
	return out
}

// given reports whether what stands in the place of a password, from start to end of a line, is one.
func given(line string, start, end int) bool {
	v := line[start:end]
	return drawnAt(line, start, end) || LettersAndDigits(v) && Entropy(v) >= minGivenEntropy && !MadeUp(v) && !NoValue(v) && !reference.MatchString(v)
}

// drawnAt reports whether a value was drawn and is none that everybody may see.
func drawnAt(line string, start, end int) bool {
	return Drawn(line[start:end]) && noDigest(line, start, end)
}

// callReach is how far the arguments of a call are looked at, in bytes.
const callReach = 300

// textArguments are the texts in quotes, without a blank, that are the arguments from the first to the third of the call whose arguments begin at a place of a line.
func textArguments(line string, at, first int) (out []Span) {
	if strings.IndexByte("\"'", line[at-1]) >= 0 {
		at-- // no bracket stands before the first
	}
	depth, n := 0, 1
	for i := at; i < len(line) && n <= 3; i++ {
		switch line[i] {
		case '"', '\'', '`':
			end := i + closes(line[i:])
			if end == i {
				return out
			}
			text := line[i+1 : end]
			if depth == 0 && n >= first && strings.HasSuffix(strings.TrimRight(line[:i], " \t"), ",") && !strings.ContainsAny(text, " \t") {
				out = append(out, Span{Start: i + 1, End: end})
			}
			i = end
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return out
			}
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return out
}

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
	look(append([]string{"://"}, protocolWords...), AddressPasswords)
	look(givenWords, givenInPlace)
	look(optionWords, givenToOptions)
	look(loginWords, givenToCalls)
	slices.SortFunc(out, func(a, b Span) int { return a.Start - b.Start })
	return joinSpans(slices.Compact(out))
}
