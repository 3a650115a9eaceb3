package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// An access key of AWS is an id and a secret, which nothing but the id tells from other base64; an account of Twilio has an id and a token of hex.

var (
	accessKeyID = lazyregexp.New(`\b(?:AKIA|ASIA|ABIA|ACCA|A3T[0-9A-Z])[0-9A-Z]{16}\b`)
	// accessKeyWords are the beginnings of an id.
	accessKeyWords = []string{"AKIA", "ASIA", "ABIA", "ACCA", "A3T"}
	accountSID     = lazyregexp.New(`\bAC[0-9a-f]{32}\b`)
	accountToken   = lazyregexp.New(`^[0-9a-f]{32}$`)
)

const (
	// pairedSecret is how many bytes the secret has, of base64 without padding.
	pairedSecret = 40
	// pairLines and pairReach are how far from its id the secret is looked for, in lines and in bytes.
	pairLines, pairReach = 2, 512
)

// PairedSecrets are the secret halves of access keys of AWS, which stand near their ids.
func PairedSecrets(s string) []Span {
	if !containsAny(s, accessKeyWords) {
		return nil
	}
	return besideIDs(s, accessKeyID, paired)
}

// AccountTokens are the tokens of accounts of Twilio, which stand near their ids.
func AccountTokens(s string) []Span {
	if !strings.Contains(s, "AC") {
		return nil
	}
	return besideIDs(s, accountSID, func(v string) bool { return accountToken.MatchString(v) && hexKey(v) })
}

// besideIDs are the words near an id that are secret.
func besideIDs(s string, id *lazyregexp.Regexp, secret func(string) bool) (out []Span) {
	done := 0
	for _, at := range id.FindAllStringIndex(s, -1) {
		from, to := linesAround(s, at[0], at[1])
		for i := max(from, done); i < to; i++ {
			start := i
			for i < len(s) && base64Byte(s[i]) && s[i] != '=' {
				i++
			}
			if start < i && markAt(s, start) && !secret(s[start:i]) {
				start++
			}
			if secret(s[start:i]) {
				out = append(out, Span{Start: start, End: i})
			}
			done = i
		}
	}
	return out
}

// markAt reports whether the byte at i is no part of the word behind it: the mark of a line in a diff, or the letter of an escape such as \n.
func markAt(s string, i int) bool {
	if s[i] == '+' {
		return i == 0 || s[i-1] == '\n'
	}
	return i > 0 && s[i-1] == '\\' && strings.IndexByte("nrt", s[i]) >= 0
}

// paired reports whether a value is like the secret of an access key: of letters in both cases, which nobody wrote. A commit is none.
func paired(v string) bool {
	return len(v) == pairedSecret && strings.ToUpper(v) != v && strings.ToLower(v) != v && len(v)*100 <= pieces(v)*mixedNumber && !plainWords(v) && !className(v) && !Published(v)
}

// linesAround is what is looked at around the text from start to end: its lines and those beside it, as far as they reach, and no part of a word at its beginning.
func linesAround(s string, start, end int) (from, to int) {
	from, to = start, end
	for n := 0; from > max(0, start-pairReach); from-- {
		if s[from-1] == '\n' {
			if n++; n > pairLines {
				break
			}
		}
	}
	for n := 0; to < min(len(s), end+pairReach); to++ {
		if s[to] == '\n' {
			if n++; n > pairLines {
				break
			}
		}
	}
	for from > 0 && from < start && base64Byte(s[from-1]) && base64Byte(s[from]) {
		from++
	}
	return from, to
}
