package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// What stands in a secret's place and is none: examples of documentation, and names that say where a secret is kept. Each rule
// here has a reason that holds for every issuer; none knows a single value.

// Bounds of filler.
const (
	// minRun is how often a character stands side by side before nobody drew it at random: five times in a row happen once in
	// ten million places of a token of letters and digits.
	minRun = 5
	// minDrawn is how many letters and digits a secret has at least beyond its filler and its issuer's prefix.
	minDrawn = 6
)

// fillerWord is a word that says that another value belongs here. Words of less than seven letters count only as whole ones.
var fillerWord = lazyregexp.New(`(?i)example|placeholder|redacted|changeme|(?:^|[^0-9a-z])(?:your|my|here|put|insert|replace|enter|dummy|fake|sample|some|the|access|api|app|bot|user|auth|bearer|token|key|secret|password|value)(?:$|[^0-9a-z])`)

// drawn counts the letters and digits of a value that may have been drawn at random: those that are neither filler nor a part of
// the prefixes.
func drawn(v string, prefixes ...string) int {
	if n := digits(v); n >= minDrawn { // no word of filler holds any
		return n
	}
	for _, p := range prefixes {
		v = strings.Replace(v, p, " ", 1)
	}
	for range 8 { // short words share the sign between them
		t := fillerWord.ReplaceAllString(v, " ")
		if t == v {
			break
		}
		v = t
	}
	n := 0
	for i := 0; i < len(v); {
		run := fillerAt(v, i)
		if run == 0 {
			if c := v[i]; c != '_' && c != '-' && wordByte(c) {
				n++
			}
			run = 1
		}
		i += run
	}
	return n
}

// digits counts those that are no filler.
func digits(v string) int {
	n := 0
	for i := 0; i < len(v); i++ {
		if v[i] < '0' || v[i] > '9' {
			continue
		}
		if run := fillerAt(v, i); run > 0 {
			i += run - 1
			continue
		}
		n++
	}
	return n
}

// fillerAt is how many bytes at i are one character again and again. Counting up is no filler: people take such tokens into use.
func fillerAt(v string, i int) int {
	same := 1
	for i+same < len(v) && v[i+same] == v[i] {
		same++
	}
	if same < minRun {
		return 0
	}
	return same
}

var (
	// placeOf ends a name that says where a secret is, or what it is like, from the word on that names secrets: credentialsId,
	// secret_name, token_url, key_length.
	placeOf = lazyregexp.New(`^(?i)s?[_.-]?(?:ids?|names?|ur[il]s?|endpoints?|len|length|size|count|types?|kind|paths?|files?|dir)$`)
	// noSecret begins a name of what everybody may see: public keys, and tokens against forged forms, which are worth nothing
	// without the session they were made for.
	noSecret = lazyregexp.New(`(?i)(?:public|csrf|xsrf|authenticity)[_-]?$`)
	// indexKey begins a name of a key that finds a row or an object.
	indexKey = lazyregexp.New(`(?i)(?:bucket|cache|primary|foreign|sort|partition|object|storage|index)[_-]$`)
	// wordOfPassword is a password that is the word for one.
	wordOfPassword = lazyregexp.New(`^(?i)(?:user|username|pass|passwd|password|pwd|pw|token|secret|key|apikey|api[_-]key|test|example|changeme|your[_-]?(?:password|token|secret|key)|[x*.]+)$`)
)

// isPublic reports whether a value is made to be seen by everybody: an address of Ethereum, or a value that Bitnami's controller alone opens, which
// begins with the length of its key.
func isPublic(v string) bool { return Address(v) || sealedValue.MatchString(v) }

// Address reports whether a value is an address of Ethereum. Its private keys are longer.
func Address(v string) bool { return address.MatchString(v) }

var (
	address     = lazyregexp.New(`^0x[0-9a-fA-F]{40}$`)
	sealedValue = lazyregexp.New(`^Ag[A-D][0-9A-Za-z+/]{500,}={0,2}$`)
)

// Published reports whether a value says itself that it is one of AWS's documentation.
func Published(v string) bool {
	return strings.HasSuffix(v, "EXAMPLE") || strings.HasSuffix(v, "EXAMPLEKEY")
}

// namesNoSecret reports whether the name around the word at i is that of a place, a measure or something public.
func namesNoSecret(s string, i int, word string) bool {
	from, to := i, i+len(word)
	for from > 0 && i-from < maxNameRest && wordByte(s[from-1]) {
		from--
	}
	for to < len(s) && to-i < maxNameRest && (wordByte(s[to]) || s[to] == '.') {
		to++
	}
	before, behind := s[from:i], strings.TrimRight(s[i+len(word):to], ".")
	return behind != "" && placeOf.MatchString(behind) || before != "" && (noSecret.MatchString(before) || word == "key" && indexKey.MatchString(before))
}
