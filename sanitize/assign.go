package sanitize

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// urlPassword is the password of a URL with user information; it may hold an at sign itself.
	urlPassword = lazyregexp.New(`[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@"'\x60<>\[\]|]{0,200}:([^\s/"'\x60<>\[\]|]{3,})@`)
	// authHeader is the credential of an Authorization header, in a header or set by code.
	authHeader = lazyregexp.New(`(?i)(authorization\\?["'\x60]?\s{0,3}[:=,]\s{0,3}\\?["'\x60]?(?:bearer|basic|token|apikey|api-key)\s+)([0-9A-Za-z._~+/=-]{8,})`)

	passwordName = lazyregexp.New(`(?i)passw|passphrase|pwd|^pass`)
	// reference is a value that names a secret instead of being one.
	reference = lazyregexp.New(`^(?:[$%@*&.]|\\?\$|env[.:]|process\.|os\.|config\.|https?://|/)|^[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]\w*)+$|^[A-Z][A-Z_]+$|^[x*.#-]+$`)

	// assignedHere is an assignment from the name of a secret on: a sign of assignment or comparison and a value, as in code, YAML,
	// JSON, dotenv and headers. Between them may stand what a pair of name and value is written with.
	assignedHere = lazyregexp.New(`^(?i)(` + secretName + `\\?["'\x60]?\]?(?:["'\s,{:=]{1,40}(?:value|default)\\?["'\x60]?)?\s{0,4}(?::=|=>|<-|[!=]==?|[+?|]{0,2}=|:)\s{0,4}(?:bearer |basic )?)` +
		`([bruf]{1,2}["'\x60]|\\?["'\x60]?)([^\s"'\x60,;<>\[\](){}|\\]{6,})`)
	// typedHere is such an assignment with a type behind the name, and in quotes.
	typedHere = lazyregexp.New(`^(?i)(` + secretName + `(?:\s{0,2}:\s{0,2}[&*?a-z_.<>\[\]']{1,30}(?: [a-z]{1,20}[>\]]?)?|\s{1,4}\*?string)\s{0,4}=\s{0,4})([bruf]{0,2}["'\x60])([^\s"'\x60,;<>\[\](){}|\\]{6,})`)
	// elementHere is an element of XML from its name on.
	elementHere = lazyregexp.New(`^(?i)(` + secretName + `>)()([^\s"'\x60<>\[\](){}|\\]{6,})</`)

	// digestBefore ends what stands before the sum of a file, a pinned commit, an embedded file or an encrypted value: long, random,
	// and no secret.
	digestBefore = lazyregexp.New(`(?i)(?:\b(?:sha-?[0-9]{1,3}|md5|h1|blake[0-9a-z]{1,2}|base64)\s?[-:=,]\s?|\b(?:integrity|checksum|digest|commit|rev|sha|hash|resolved)\b["']?\s{0,2}[:=]?\s{0,2}["']?|,(?:data|iv|tag):|[@#]` +
		`|\{:hex, :[0-9a-z_]{1,40}, "[0-9a-z.+-]{1,40}", "|"hexpm", ")$`)
	digestWord = lazyregexp.New(`^(?:(?:sha[0-9]{1,3}|md5|h1)[-:]|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$)`)
	hexWord    = lazyregexp.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	uuid       = lazyregexp.New(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	// optionOfSecret ends in the name of a secret that a value is given to with a blank between: a variable of a Dockerfile or a shell, an option of a command.
	optionOfSecret = lazyregexp.New(`(?:(?m:^)[-+ \t]*(?:(?i:ENV)|setenv|set -g?x)[ \t]+[0-9A-Za-z_]*|(?:^|\s)--(?:[0-9a-z]+-)*)(?i:secret|token|password|passwd|passphrase|(?:api|access|auth|secret|license|app)[_-]?key)[ \t]+$`)
	// xcodeID is the id of an object in a project of Xcode, which has the name of the object in a comment behind it; migration is the name of a
	// migration: words behind an id are no assignment.
	xcodeID   = lazyregexp.New(`^[0-9A-F]{24}$`)
	migration = lazyregexp.New(`^[0-9a-f]{12}(?:_[a-z]+[0-9]?)+(?:\.[a-z]{1,5})?$`)
)

// secretName is the name of a secret, from the word on that tells; maxNameRest is how many bytes may follow that word.
const (
	secretName  = `(?:secret|token|passw(?:or)?d|passphrase|pwd|pass|credential|key|_auth|bearer)[0-9a-z_.-]{0,64}`
	maxNameRest = 64
)

// Bounds of what a value must be like (threats.md L3).
const (
	minEntropy       = 3.5
	minSecretLen     = 20
	minPasswordBits  = 2.3
	minQuotedSecrets = 8
	// assignmentReach is how far an assignment is looked for, namedReach how far from the name of a secret a random value is one,
	// in bytes.
	assignmentReach = 8 << 10
	namedReach      = 200
	// digestReach is how much is read of what stands before a digest, in bytes.
	digestReach = 128
)

// nameOfSecret is a word that names a secret, and what has to stand before it.
type nameOfSecret struct {
	word   string
	before []string
}

func (n nameOfSecret) follows(before string) bool {
	return n.before == nil || slices.ContainsFunc(n.before, func(b string) bool { return strings.HasSuffix(before, b) })
}

// namesOfSecrets are the names values are assigned to.
var namesOfSecrets = []nameOfSecret{
	{"secret", nil}, {"token", nil}, {"passwd", nil}, {"password", nil}, {"passphrase", nil}, {"pwd", nil}, {"pass", []string{"_"}},
	{"credential", nil}, {"bearer", nil}, {"_auth", nil}, {"authorization", nil}, {"key", keyKinds()},
}

// kindsOfKeys are the words that make a key a secret one.
var kindsOfKeys = []string{"api", "private", "access", "auth", "account", "encryption", "signing", "secret", "shared"}

func keyKinds() []string {
	out := []string{"_"}
	for _, kind := range kindsOfKeys {
		out = append(out, kind, kind+"-") // with "_" it ends in "_"
	}
	return append(out, "_-")
}

// redactAssignments replaces values assigned to names such as token, secret and password, and passwords in URLs. Only the
// value goes: the name says what was there.
func redactAssignments(s string) string { return replaceSpans(s, assignmentSpans(s)) }

// assignmentSpans are those values.
func assignmentSpans(s string) []Span {
	var out []Span
	lower := lowerASCII(s)
	for _, form := range []struct {
		words []string
		re    *lazyregexp.Regexp
	}{{[]string{"://"}, urlPassword}, {protocolWords, protocolPassword}} {
		inLines(s, lower, form.words, func(line string, at int) {
			for _, m := range form.re.FindAllStringSubmatchIndex(line, -1) {
				if v := line[m[2]:m[3]]; !reference.MatchString(v) && !wordOfPassword.MatchString(v) {
					out = appendLines(out, s, at+m[2], at+m[3])
				}
			}
		})
	}
	inLines(s, lower, []string{"authorization"}, func(line string, at int) {
		for _, m := range authHeader.FindAllStringSubmatchIndex(line, -1) {
			if v := line[m[4]:m[5]]; (hasDigit(v) || !strings.Contains(line[m[2]:m[3]], ",")) && drawn(v) >= minDrawn {
				out = appendLines(out, s, at+m[4], at+m[5])
			}
		}
	})
	// The expression of an assignment is slow to search with and quick to match where a name stands.
	var names []int
	for _, name := range namesOfSecrets {
		covered := 0 // up to here stands a line of base64
		for i := 0; ; i++ {
			n := strings.Index(lower[i:], name.word)
			if n < 0 {
				break
			}
			i += n
			if !name.follows(lower[:i]) || namesNoSecret(s, i, name.word) {
				continue
			}
			if i >= covered && tells(lower, i, name.word) {
				if covered = valueAround(s, i); covered == 0 {
					names = append(names, i)
				}
			}
			if name.word == "pass" && i+4 < len(lower) && lower[i+4] >= 'a' && lower[i+4] <= 'z' {
				continue
			}
			if !signFollows(lower[i+len(name.word):]) {
				continue
			}
			rest := s[i:min(len(s), i+assignmentReach)]
			var m []int
			for _, form := range formsAfter(rest[len(name.word):]) {
				if m = form.FindStringSubmatchIndex(rest); m != nil {
					break
				}
			}
			if m == nil {
				continue
			}
			from, end := i, i+m[7]
			if m[7] == len(rest) { // a value that is longer than the reach
				end = valueEnd(s, end)
			}
			i = end - 1 // the value is looked at once, also when it is made of such names
			value := strings.TrimRight(s[from+m[6]:end], ".:!?*_~")
			at := from + m[6]
			if strings.Contains(value, "@") && ofAddress(s, at) {
				continue // urlPassword knows where it ends
			}
			if secretValue(rest[m[2]:m[3]], m[4] < m[5], value) && !publicHere(s[max(0, at-digestReach):at], value, s[end:]) {
				if m[4] < m[5] {
					end = quoteEnd(s, end, rest[m[4]:m[5]])
				}
				out = appendLines(out, s, from+m[6], end)
			}
		}
	}
	return joinSpans(out, namedSpans(s, names), nearNames(s, lower), otherNames(s, lower), basicSpans(s, lower), placedSpans(s), namedAbove(s))
}

// ofAddress reports whether the password of an address that urlPassword knows begins at a place.
func ofAddress(s string, at int) bool {
	before, password := s[max(0, at-namedReach):at], s[at:min(len(s), at+2*namedReach)]
	i := strings.LastIndex(before, "://")
	if i < 1 || !alnum(before[i-1]) || strings.IndexAny(before[i+3:], ":/@ \"'`<>[]|") != len(before)-i-4 {
		return false
	}
	if end := strings.IndexAny(password, "/ \t\r\n\"'`<>[]|"); end >= 0 {
		password = password[:end]
	}
	return strings.LastIndexByte(password, '@') >= 3
}

// otherPlaces are what names no secret in plain words, and has one beside it: options of commands, settings of routers.
var otherPlaces = []string{"erlang_cookie", "-setcookie", "snmp-server community", "rocommunity", "rwcommunity", "tacacs-server", "radius-server", "isakmp key", "authentication-key", "rootpw", "keypass", "storepass",
	"vault login", "smbclient"}

// nearNames are the random values near these, and those of cookies (threats.md T903).
func nearNames(s, lower string) []Span {
	var names []int
	for _, word := range otherPlaces {
		for i := 0; ; i++ {
			n := strings.Index(lower[i:], word)
			if n < 0 {
				break
			}
			if i += n; valueAround(s, i) == 0 {
				names = append(names, i)
			}
		}
	}
	return joinSpans(namedSpans(s, names), cookieSpans(s, lower))
}

// NearValues are the random values near such names, and those that other names are given.
func NearValues(s string) []Span {
	lower := lowerASCII(s)
	return joinSpans(nearNames(s, lower), otherNames(s, lower))
}

var (
	// otherName gives a value to a secret by a name in another language, or by a short one, which is a word of its own, or ends in pass or _pat.
	otherName = lazyregexp.New(`(?i)(?:pass|[a-z]_pat|(?:^|[^\pL\d])(?:passwort|kennwort|mot[ _-]?de[ _-]?passe|contrase[ñn]a|senha|has[łl]o|пароль|密码|密碼|heslo|wachtwoord|l[öo]senord|salasana|パスワード|비밀번호|[sş]ifre|pw|psk|totp|pepper|passcode|pswd|passwrd|bindpw|(?:recovery|backup)[_-]?codes?))["'\x60]?\s{0,4}(?::=|=>|[=:>])\s{0,4}["'\x60]?`)
	// otherNameWords are those of which every such name has one, in the case in which it is mostly written.
	otherNameWords = []string{"pass", "kennwort", "depasse", "de_passe", "de-passe", "de passe", "contrase", "senha", "haslo", "hasło", "hasŁo", "пароль", "Пароль", "ПАРОЛЬ", "密码", "密碼", "heslo", "wachtwoord", "senord", "salasana", "パスワード", "비밀번호", "ifre", "pw", "psk",
		"_pat", "totp", "pepper", "passcode", "pswd", "passwrd", "recovery", "backup"}
)

// otherNames are the random values given to secrets by such names. Anything less than random may be a word of a page.
func otherNames(s, lower string) (out []Span) {
	inLines(s, lower, otherNameWords, func(line string, at int) {
		end := 0 // of what was looked at
		for _, m := range otherName.FindAllStringIndex(line, -1) {
			if m[0] < end {
				continue
			}
			for end = m[1]; end < len(line) && signByte(line[end]); end++ {
			}
			out = randomValues(out, s, at+m[1], at+end, at)
		}
	})
	slices.SortFunc(out, func(a, b Span) int { return a.Start - b.Start })
	return joinSpans(slices.Compact(out))
}

// Forms of an assignment, by what stands behind the name.
var (
	elementForms = []*lazyregexp.Regexp{typedHere, assignedHere, elementHere}
	typedForms   = []*lazyregexp.Regexp{typedHere, assignedHere}
	plainForms   = []*lazyregexp.Regexp{assignedHere}
)

// formsAfter are the forms that what follows a name can be the rest of.
func formsAfter(s string) []*lazyregexp.Regexp {
	i := 0
	for i < len(s) && (wordByte(s[i]) || s[i] == '.') {
		i++
	}
	blank := i
	for i < len(s) && strings.IndexByte(" \t\n\v\f\r", s[i]) >= 0 {
		i++
	}
	switch {
	case i == len(s):
		return plainForms
	case s[i] == '>':
		return elementForms
	case s[i] == ':' || i > blank && (s[i] == '*' || s[i] == 's' || s[i] == 'S'):
		return typedForms
	}
	return plainForms
}

// signFollows is a quick refusal: behind a name stands no sign of assignment.
func signFollows(after string) bool {
	for i := 0; i < len(after) && i <= maxNameRest; i++ {
		if c := after[i]; !wordByte(c) && c != '.' {
			return strings.IndexByte("\"'`]\\ \t\n\v\f\r:=!+?|<>,{", c) >= 0
		}
	}
	return false
}

func valueEnd(s string, i int) int {
	if n := strings.IndexAny(s[i:], " \t\n\r\v\f\"'`,;<>[](){}|\\"); n >= 0 {
		return i + n
	}
	return len(s)
}

// quoteEnd is where a secret in quotes ends of which all up to i is known to be one: at the closing quote, as a sign that ends a word in code may stand in
// the middle of a secret. It is i where a blank comes first: what follows may be no part of it.
func quoteEnd(s string, i int, opening string) int {
	quote, escaped := opening[len(opening)-1], strings.Contains(opening, `\`)
	for j := i; j < min(len(s), i+assignmentReach); j++ {
		switch {
		case s[j] <= ' ':
			return i
		case s[j] == quote && escaped && s[j-1] == '\\':
			return j - 1
		case s[j] == quote && !escaped:
			return j
		case s[j] == '\\' && !escaped && j+1 < len(s) && s[j+1] > ' ':
			j++ // what follows belongs to the text, a quote too
		}
	}
	return i
}

// tells reports whether the word at i of a text in lower case names a secret in plain words, not the parts of a language or a count.
func tells(lower string, i int, word string) bool {
	after := lower[i+len(word):]
	switch word {
	case "token":
		if strings.HasPrefix(after, "s") && strings.HasSuffix(lower[:i], "_") { // max_tokens is a count, service_tokens may be a list
			return listFollows.MatchString(after[:min(len(after), 24)])
		}
		return !strings.HasPrefix(after, "iz") && !strings.HasPrefix(after, "is")
	case "key":
		before := strings.TrimRight(lower[:i], "_-")
		return slices.ContainsFunc(kindsOfKeys, func(kind string) bool { return strings.HasSuffix(before, kind) })
	case "pass":
		return after == "" || after[0] < 'a' || after[0] > 'z'
	}
	return true
}

// listFollows is what stands behind the word of a name in the plural that is given a list.
var listFollows = lazyregexp.New(`^s["']?\s{0,4}[:=]\s{0,4}[{\[]`)

// valueAround is the end of what is seen of the line of base64 a word stands in, which holds many words, or 0.
func valueAround(s string, i int) int {
	from, to := i, i
	for from > 0 && i-from < minArmour && base64Byte(s[from-1]) {
		from--
	}
	for to < len(s) && to-i < minArmour && base64Byte(s[to]) {
		to++
	}
	if to-from < minArmour || !mixed(s[from:to]) {
		return 0
	}
	return to
}

// namedSpans are the random values near the names of secrets, whatever stands between: on the line of the name, on the next one when it is nothing but a value, and in
// the lines around that say of themselves that they are one.
func namedSpans(s string, names []int) []Span {
	slices.Sort(names)
	var out []Span
	done, below := 0, 0 // where the last line of a name ends, and the last value below one
	for _, at := range names {
		from := max(done, strings.LastIndexByte(s[max(0, at-namedReach):at], '\n')+1+max(0, at-namedReach))
		for from > done && valueByte(s[from]) && valueByte(s[from-1]) {
			from--
		}
		to := lineEnd(s, at)
		for to < len(s) && to > from && valueByte(s[to]) && valueByte(s[to-1]) {
			to++
		}
		if to <= from {
			continue
		}
		if from > 0 && s[from-1] == '\n' && !beginsThing(s[from:to]) {
			reach := max(0, from-1-namedReach)
			if above := reach + strings.LastIndexByte(s[reach:from-1], '\n') + 1; saidValue(s[above : from-1]) {
				out = randomValues(out, s, above, from, at)
			}
		}
		out = randomValues(out, s, from, to, at)
		done = to
		list := listOpens(s[from:to])
		for i := 0; (i < linesBelow || list) && to < len(s) && s[to] == '\n'; i++ {
			from, to = to+1, lineEnd(s, to+1)
			line := s[from:to]
			list = list && listItem(line)
			alone := (i == 0 || list) && onlyValue(line)
			if !alone && !list && beginsThing(line) {
				break
			}
			if to > below && (alone || saidValue(line)) {
				out, below = randomValues(out, s, from, to, at), to
			}
		}
	}
	return out
}

// lineEnd is where the line of a place ends, or what is read of it.
func lineEnd(s string, at int) int {
	to := min(len(s), at+namedReach)
	if n := strings.IndexByte(s[at:to], '\n'); n >= 0 {
		return at + n
	}
	return to
}

// beginsThing reports whether what stands in a line, and below it, is of something else than what stands above.
func beginsThing(line string) bool {
	t := strings.TrimLeft(line, " \t")
	return t != "" && strings.IndexByte("-{}[]", t[0]) >= 0 || headName(line) != ""
}

// linesBelow is how many lines below a name its value may stand.
const linesBelow = 3

const (
	valueWord = `[ \t]*[-+>#*<{]?[ \t]*(?:["']?[a-z]{0,20}(?:value|default|example|literal|data|string|return)["']?[ \t]*[:=>]?[ \t]*)`
	valueLine = "[\"'`]?[0-9a-z_+/=.~!@#$%^&*()?:-]{13,}[\"'`]?(?:</[a-z]{1,20}>)?[ \t]*[,;)\\]}]*[ \t\r]*$"
)

var (
	// onlyValue reports whether a line is a value, perhaps in quotes, behind a sign, or behind a word that says it is one; saidValue, whether it is the latter.
	onlyValue = lazyregexp.New("(?i)^" + valueWord + "?" + valueLine).MatchString
	saidValue = lazyregexp.New("(?i)^" + valueWord + valueLine).MatchString
	// listOpens reports whether a list begins at the end of a line, and listItem, whether a line is one thing of a list.
	listOpens = lazyregexp.New(`[\[({:][ \t\r]*$`).MatchString
	listItem  = lazyregexp.New("^[ \t]*(?:-[ \t]+)?(?:[\"'`][^\"'`]*[\"'`]|[^\\s\"'`\\[\\](){}:]+)[ \t]*,?[ \t\r]*$").MatchString
)

// randomValues adds the random values from from to to. A value of which the name at a place is a part may be a name itself.
func randomValues(out []Span, s string, from, to, name int) []Span {
	whole := from // up to here stands what is looked at as a whole
	for i := from; i < to; i++ {
		if i >= whole && signByte(s[i]) {
			for whole = i; whole < to && signByte(s[whole]); whole++ {
			}
			if at := drawnWhole(s, i, whole, name); at >= 0 {
				out = appendLines(out, s, at, whole)
				i = whole - 1
				continue
			}
		}
		if !valueByte(s[i]) || s[i] == '-' { // as before the default of a variable of a shell
			continue
		}
		end := i
		for end < to && valueByte(s[end]) {
			end++
		}
		for pad := end; end < to && end < pad+2 && s[end] == '='; end++ {
		}
		word := strings.TrimRight(s[i:end], ".")
		random := Random(word) || Drawn(word) && (name < i || name >= end) || uuid.MatchString(word) && optionOfSecret.MatchString(s[max(0, i-digestReach):i])
		if random && noDigest(s, i, i+len(word)) {
			out = appendLines(out, s, i, i+len(word))
		}
		i = end - 1 // what stands behind the padding may be a value itself
	}
	return out
}

// noDigest reports whether the random value from i to end is none that everybody may see, nor a part of a path or an address.
func noDigest(s string, i, end int) bool {
	before, word, behind := s[max(0, i-digestReach):i], s[i:end], s[end:]
	return !isPublic(word) && !publicHere(before, word, behind) && !digest(before, word, behind) && !pathOrAddress(s[max(0, i-1):i], word)
}

// signByte reports whether a byte may stand in a value that is whole between quotes or blanks.
func signByte(c byte) bool { return valueByte(c) || strings.IndexByte("!@#$%^&*()=?:", c) >= 0 }

// givenName begins a word that gives something to a name.
var givenName = lazyregexp.New(`^[\w.-]+(?::?=|:)`)

// drawnWhole is where a random value begins that goes to the end of a word, or -1: where the word does, or behind a name and a sign of assignment.
func drawnWhole(s string, i, end, name int) int {
	for _, at := range []int{i, i + len(givenName.FindString(s[i:end]))} {
		if apart(s, i, at, end) && (name < at || name >= end) && Drawn(s[at:end]) && noDigest(s, at, end) {
			return at
		}
	}
	return -1
}

// apart reports whether the word from i to end is whole between quotes, blanks, or the tags of XML. Its value from at on is no code but in quotes of its own.
func apart(s string, i, at, end int) bool {
	before, behind := byte('\n'), byte('\n')
	if i > 0 {
		before = s[i-1]
	}
	if end < len(s) {
		behind = s[end]
	}
	quoted := strings.IndexByte("\"'`", before) >= 0
	if quoted && (before != behind || at == i) {
		return before == behind
	}
	code := strings.ContainsAny(strings.TrimRight(s[at:end], "="), "()=")
	return !code && (quoted || before <= ' ' && behind <= ' ' || before == '>' && behind == '<')
}

func valueByte(c byte) bool { return wordByte(c) || c == '+' || c == '/' || c == '.' || c == '~' }

// digest reports whether a random word is the sum of a file, a commit, or the number of a thing.
func digest(before, word, behind string) bool {
	if optionOfSecret.MatchString(before) && (hexWord.MatchString(word) || uuid.MatchString(word)) {
		return false
	}
	if digestWord.MatchString(word) || digestBefore.MatchString(before) {
		return true
	}
	if xcodeID.MatchString(word) && strings.HasPrefix(behind, " /* ") || migration.MatchString(word) {
		return true
	}
	switch {
	case !hexWord.MatchString(word):
		return false
	case strings.HasSuffix(before, "="):
		return strings.HasSuffix(before, "?ref=") // the commit that a module of Terraform is pinned by
	}
	quoted := before != "" && behind != "" && strings.IndexByte("\"'", behind[0]) >= 0 && before[len(before)-1] == behind[0]
	return !quoted
}

// pathOrAddress reports whether a word is a part of a path or an address. Base64 may begin with a slash too, so right behind a sign or a quote, and with padding at its end,
// a path begins with a word.
func pathOrAddress(before, word string) bool {
	switch {
	case !strings.Contains(word, "/"):
		return false
	case word[0] == '/' && (before != "" && strings.Contains("=\"'`", before) || strings.HasSuffix(word, "=")):
		return pathStart.MatchString(word)
	}
	return strings.Contains(word, ".") || word[0] == '/' || before == ":"
}

// pathStart begins a path: a first part that is a word, perhaps with a small number.
var pathStart = lazyregexp.New(`^/+(?:[.~_-]|(?:[A-Z]?[a-z]{2,20}|[A-Z]{3,10}|[a-z])[0-9]{0,2}(?:[/._-]|$))`)

// secretValue judges a value by its name and by how it is written.
func secretValue(name string, quoted bool, value string) bool {
	switch {
	case reference.MatchString(value), publicNamed(name, value), digestNamed(name, value):
		return false
	case !passwordName.MatchString(name) && drawn(value) < minDrawn:
		return false
	case len(value) >= minSecretLen && hasDigit(value) && (windowEntropy(value) >= minEntropy || hexKey(value)):
		return true
	case !passwordName.MatchString(name):
		return quoted && len(value) >= 16 && hasDigit(value) && windowEntropy(value) >= 3
	case quoted:
		return len(value) >= minQuotedSecrets-2 && Entropy(value) >= minPasswordBits && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") != ""
	}
	return len(value) >= minQuotedSecrets && hasDigit(value) && strings.ContainsAny(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// windowEntropy is the highest entropy of any 20 bytes, so that padding cannot lower it; it looks no further once that is enough
// for every rule.
func windowEntropy(s string) float64 {
	if len(s) <= minSecretLen {
		return Entropy(s)
	}
	best := 0.0
	for i := 0; i+minSecretLen <= len(s) && best < minEntropy; i += 4 {
		best = max(best, Entropy(s[i:i+minSecretLen]))
	}
	return best
}
