package sanitize

import (
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// changeSecrets are the values of Secrets without the ordinary words, and without the headers and footers of keys that are only mentioned. A word that
// a rule for keys, for tokens, of gitleaks or for what is hidden finds too is none.
func changeSecrets(s string) []Span {
	mentions := mentionSpans(s)
	return original(wordlessSecrets(replaceSpans(s, mentions)), mentions)
}

// wordlessSecrets are the values of Secrets without the ordinary words.
func wordlessSecrets(s string) []Span {
	all := Secrets(s)
	if !slices.ContainsFunc(all, func(p Span) bool { return ordinary(s, p) }) {
		return all
	}
	deep := slices.DeleteFunc(findSpans(s, sureSpans), func(p Span) bool { return nameAt(s, p) })
	tokens := slices.DeleteFunc(findSpans(s, patternSpans), func(p Span) bool { return EmptyToken(s[p.Start:p.End]) })
	sure := joinSpans(findSpans(s, func(s string) []Span { return joinSpans(keySpans(s), placedSpans(s), KeptValues(s)) }), tokens, deep)
	return slices.DeleteFunc(all, func(p Span) bool {
		return ordinary(s, p) && !slices.ContainsFunc(sure, func(q Span) bool { return q.Start < p.End && p.Start < q.End })
	})
}

// Bounds of an ordinary word.
const (
	// mixedPiece is the mean length of pieces, in hundredths of a byte, up to which a long value is too mixed to be one. What lies
	// between it and maxPiece may be either.
	mixedPiece = 330
	// minGenerated is how long a quoted value is that may have been generated, in bytes, as in the static reviewer's rules.
	minGenerated = 16
)

// ordinary reports whether the value at p is a word or a number that somebody chose. What the static reviewer's rules find never is.
func ordinary(s string, p Span) bool {
	v := s[p.Start:p.End]
	switch {
	case EmptyToken(v):
		return true
	case p.More, Random(v) && !ofLanguage(nameBefore(lineBefore(s, p.Start)), wholeValue(s, p)):
		return false
	case nameAt(s, p):
		return true
	case Drawn(v), drawnIn(v):
		return false
	case inQuotes(s, p):
		whole := typed(wholeValue(s, p))
		if strings.Contains(whole, " ") && !hasDigit(v) { // a text for people, of which the rules found a word
			whole = v
		}
		if len(whole) >= minGenerated && LettersAndDigits(whole) && varied(whole) {
			return MadeUp(whole) || NoValue(whole)
		}
	case strings.HasPrefix(s[p.End:], "@"): // the password of an address
		return MadeUp(v) || LocalHost(hostName.FindString(s[p.End+1:]))
	}
	return len(v) < minSecretLen || !LettersAndDigits(v) || windowEntropy(v) < minEntropy || len(v)*100 > pieces(v)*mixedPiece
}

// EmptyToken reports whether a value begins like a token of specPatterns, and holds less behind that than any token does: nothing but filler, too little for the rules of its
// siblings among ownPatterns, or words that say that they are made up.
func EmptyToken(v string) bool {
	for _, p := range specPatterns {
		prefix := p.words[0]
		if rest, ok := strings.CutPrefix(v, prefix); ok {
			return tokenRest.MatchString(rest) && (len(rest) < minTokenRest || drawn(v, prefix) < minDrawn || !hasDigit(rest) && MadeUp(rest))
		}
	}
	return false
}

// tokenRest is what stands behind the beginning of such a token, minTokenRest how long it is at least.
var tokenRest = lazyregexp.New(`^[0-9A-Za-z_-]*$`)

const minTokenRest = 16

// typed is the longest part of a value without letters of the scripts that are written without blanks: texts in them are for people, and no password is typed in them.
func typed(v string) (longest string) {
	for _, part := range strings.FieldsFunc(v, func(c rune) bool {
		return c > unicode.MaxLatin1 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
	}) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// nameAt reports whether the value at p is a name in words, and no password of an address.
func nameAt(s string, p Span) bool {
	return !strings.HasPrefix(s[p.End:], "@") && wordNamed(lineBefore(s, p.Start), wholeValue(s, p))
}

// inQuotes reports whether a value stands behind a quote.
func inQuotes(s string, p Span) bool {
	return p.Start > 0 && strings.IndexByte("\"'`", s[p.Start-1]) >= 0
}

// wholeValue is the value at p up to the closing quote or the end of its line, or as it is where no quote stands before it.
func wholeValue(s string, p Span) string {
	if !inQuotes(s, p) {
		return s[p.Start:p.End]
	}
	whole := s[p.Start:]
	if n := strings.IndexAny(whole, s[p.Start-1:p.Start]+"\n"); n >= 0 {
		whole = whole[:n]
	}
	return whole
}

// lineBefore is what stands near before a place in its line.
func lineBefore(s string, at int) string {
	before := s[max(0, at-namedReach):at]
	return before[strings.LastIndexByte(before, '\n')+1:]
}

// LettersAndDigits reports whether a value holds both, as generated ones do.
func LettersAndDigits(v string) bool {
	return hasDigit(v) && strings.ContainsAny(lowerASCII(v), "abcdefghijklmnopqrstuvwxyz")
}

// madeUpWord is a short word that says so. It stands for itself, behind a word for what is tested, or before one for what it is a value of: greatest and latest say nothing.
const madeUpWord = `(?:(?:^|[^a-z]|py|my|e2e|smoke|unit|integration|db|dev|local|just|for)(?:test|fake|mock|todo)|(?-i:[a-z](?:Test|Fake|Mock|Todo)))` +
	`(?:(?-i:[A-Z])|(?:s|ed|er|ing)?(?:$|[^a-z]|data|user|pass|pwd|pw|secret|token|key|api|auth|value|only|case|client|account|admin|app|bot|db|env|server|container|redis))`

var (
	hostName = lazyregexp.New(`^[A-Za-z0-9.-]{2,100}`)
	madeUp   = lazyregexp.New(`(?i)example|sample|dummy|placeholder|change.?me|your[-_]|\byour|redacted|xxxx|1234567|abcdef|foobar|insert|replace|default|env\.|process\.|\$\{|\{\{|<[a-z]|%s|\.\.\.|lorem|invalid|^pass(?:word|wd)?[0-9]{0,3}$|` + madeUpWord)
	noValue  = lazyregexp.New(`^(?:https?:|[./~@#&%\\]|[a-z]+(?:[._/:-][a-z]+)+$|[A-Za-z]+$|[a-z]+(?:[A-Z][a-z]+)+[0-9]?$|[A-Z_]+$|[a-z_]+$|sha(?:1|256|512)-)`)
)

// plainName is words with signs between, and small numbers.
const plainName = `(?:[A-Z]?[a-z]{2,15}|[A-Z]{2,10})(?:[-_.](?:[A-Z]?[a-z]{2,15}|[A-Z]{2,10})|[-_]?[0-9]{1,3}\b|[-_]?[0-9]{1,3}_){0,6}`

var (
	// keptAt names a secret in a store: of AWS, whose names end in six characters of its own, of Google, 1Password and Vault.
	keptAt = lazyregexp.New(`^(?:arn:aws[a-z-]{0,10}:(?:secretsmanager|ssm):[a-z0-9-]{0,20}:[0-9]{0,12}:(?:secret:|parameter/)(?:` + plainName + `(?:/` + plainName + `){0,5}(?:-[A-Za-z0-9]{6})?|rds!(?:cluster|db)-` + hexUUID + `-[A-Za-z0-9]{6})` +
		`|projects/(?:[0-9]{1,12}|` + plainName + `)/secrets/` + plainName + `(?:/versions/(?:[0-9]{1,4}|latest))?` +
		`|op:/(?:/` + plainName + `){2,4}|vault:` + plainName + `(?:/` + plainName + `){0,5}#` + plainName + `)$`)
	// patternOf is a pattern of ranges of characters: nothing in it is written out but what a token begins with.
	patternOf = lazyregexp.New(`^\^?(?:[a-z]{2,6}[_-])?(?:(?:\(\?[=!]\.\*)?(?:\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|\\[dwWs]|[^A-Za-z0-9\]\s])+\]|\.|\\[dw])(?:\{[0-9]{1,3}(?:,[0-9]{0,3})?\}|[*+?])?\)?)+\$?$`)
)

// MadeUp reports whether a value says that it is no real one.
func MadeUp(v string) bool { return madeUp.MatchString(v) }

// NoValue reports whether a value has a shape that assignments often have without being secrets: a path, an address, a name.
// Where a secret is kept and a pattern that it matches hold nothing of it, as long as they are that from end to end, in plain words.
func NoValue(v string) bool {
	return noValue.MatchString(v) || keptAt.MatchString(v) || patternOf.MatchString(v)
}

// LocalHost reports whether a host is one of a set-up for development.
func LocalHost(host string) bool {
	h := strings.ToLower(host)
	return !strings.Contains(h, ".") || strings.HasPrefix(h, "127.") || strings.HasPrefix(h, "0.0.0.0") ||
		strings.Contains(h, "example") || strings.HasSuffix(h, ".local") || strings.HasSuffix(h, ".test")
}
