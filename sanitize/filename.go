package sanitize

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/sanitize/secretrules"
)

var (
	// numberedName is a name of small letters in several parts, with small numbers.
	numberedName = lazyregexp.New(`^[a-z]+(?:[-_](?:[a-z]+[0-9]{0,2}|[0-9]{1,2}))+$`)
	// terraform is the name of a file of Terraform's, terraformPassword a password in one, also within jsonencode or a text of JSON. The rule of gitleaks knows none with signs.
	terraform = lazyregexp.New(`(?i)\.(?:tf|tfvars|hcl)$`)
	// keyFile is the name of a file that holds a key, hexLine a line of one that is nothing else: config/master.key of Rails, which opens all its credentials.
	keyFile           = lazyregexp.New(`(?i)\.key$`)
	hexLine           = lazyregexp.New(`(?m)^[ \t]*([0-9a-f]{32,}|[0-9A-F]{32,})[ \t\r]*$`)
	terraformPassword = lazyregexp.New(`(?i)password\\?["']?\s{0,20}[=:]\s{0,20}\\?"([^"\s\\]{8,64})\\?"`)
)

// FileSecrets are the values in a text of a file that only its name makes secrets: short passwords in Terraform, for instance, which are words elsewhere, and hex in a file of a key. What is made
// of words, or says that it is made up, is none.
func FileSecrets(path, text string) (out []Span) {
	found := secretrules.FindNamed(path, text)
	for _, kind := range []struct{ name, value *lazyregexp.Regexp }{{terraform, terraformPassword}, {keyFile, hexLine}} {
		if kind.name.MatchString(path) {
			for _, m := range kind.value.FindAllStringSubmatch(text, -1) {
				found = append(found, m[1])
			}
		}
	}
	values := map[string]bool{}
	for _, v := range found {
		v = strings.Trim(v, `"`)
		if len(v) >= minKept && LettersAndDigits(v) && Entropy(v) >= minPasswordBits && !MadeUp(v) && !NoValue(v) && !reference.MatchString(v) && !plainWords(v) && !numberedName.MatchString(v) && !strings.ContainsAny(v, " \t\n") {
			values[v] = true
		}
	}
	return slices.DeleteFunc(occurrences(text, values), func(p Span) bool { return !wordEnds(text, p) })
}

// wordEnds reports whether a span begins and ends with a word.
func wordEnds(s string, p Span) bool {
	return (p.Start == 0 || !wordByte(s[p.Start-1])) && (p.End == len(s) || !wordByte(s[p.End]))
}

// LearnNamed adds the lines of a text of a file, or of a piece of one, that hold what only its name makes a secret.
func (k KeyLines) LearnNamed(path, text string) {
	k.learn(text, func(s string) []Span { return FileSecrets(path, s) })
}

// LearnNamedDiff is LearnNamed for both versions that a diff of the file shows.
func (k KeyLines) LearnNamedDiff(path, diff string) {
	for _, other := range "+-" {
		k.LearnNamed(path, version(diff, byte(other)))
	}
}
