// Package secretrules finds secrets by the rules of gitleaks 8.30.1, which table.go holds. It answers what gitleaks does for a text
// without a file name, and apart from that what those rules say that ask for one; tools/secretrules writes the table and compares the two.
package secretrules

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/needles"
)

// Rule finds one kind of secret.
type Rule struct {
	id string
	// Keywords are the prefilter, in small letters: without one of them in the text the rule is not tried.
	Keywords []string
	re       *lazyregexp.Regexp
	// path is what the name of a file has to be like; nil is every text.
	path *lazyregexp.Regexp
	// group is the group of re that is the secret; 0 is the first one that is not empty, or all without groups; whole is all with groups that are parts of it.
	group int
	// entropy is what a secret must have more of, in bits for each byte.
	entropy float64
	allowed []allowlist
}

const whole = -1

// allowlist names what is no secret though a rule finds it.
type allowlist struct {
	// of is what re is held against.
	of target
	// re is nil when the words are all.
	re *lazyregexp.Regexp
	// words are parts of secrets, in small letters.
	words []string
}

type target int

const (
	inSecret target = iota
	inMatch
	inLine
)

// found is one match of a rule.
type found struct {
	rule                string
	secret, match, line string
	// lineStart is where the line begins, lineEnd where it ends.
	lineStart, lineEnd int
}

// Secret is one that a rule finds. It is generic when the rule knows no issuer.
type Secret struct {
	Text    string
	Generic bool
}

// Find returns the secrets in a text. ok is false when more than limit rules would have to be tried, and none was: a rule reads all
// of a text that holds one of its keywords.
func Find(text string, limit int) (secrets []Secret, ok bool) {
	var tried []Rule
	present, at := keywords().In(strings.ToLower(text)), 0
	for _, r := range Rules() {
		from := at
		at += len(r.Keywords)
		if present.Any(from, len(r.Keywords)) {
			if tried = append(tried, r); len(tried) > limit {
				return nil, false
			}
		}
	}
	var all []found
	for _, r := range tried {
		all = r.find(all, text)
	}
	known := slices.DeleteFunc(slices.Clone(all), func(f found) bool { return generic(f.rule) })
	for _, f := range all {
		if !generic(f.rule) || !slices.ContainsFunc(known, f.better) {
			secrets = append(secrets, Secret{f.secret, generic(f.rule)})
		}
	}
	return secrets, true
}

// FindNamed returns the secrets that the rules about files of such a name find in a text of one.
func FindNamed(path, text string) (secrets []string) {
	lower := ""
	for _, r := range named() {
		if !r.path.MatchString(path) {
			continue
		}
		if lower == "" {
			lower = strings.ToLower(text)
		}
		if slices.ContainsFunc(r.Keywords, func(w string) bool { return strings.Contains(lower, w) }) {
			for _, f := range r.find(nil, text) {
				secrets = append(secrets, f.secret)
			}
		}
	}
	return secrets
}

// keywords are those of all rules, in their order.
var keywords = sync.OnceValue(func() *needles.Set {
	var words []string
	for _, r := range Rules() {
		words = append(words, r.Keywords...)
	}
	return needles.New(words)
})

// Published reports whether a value is, as a whole, one of those that issuers' own examples publish.
func Published(v string) bool {
	return slices.ContainsFunc(Rules(), func(r Rule) bool {
		return slices.ContainsFunc(r.allowed, func(a allowlist) bool { return a.of == inSecret && a.re != nil && a.re.FindString(v) == v })
	})
}

// generic rules give way to those that know the issuer.
func generic(rule string) bool { return strings.Contains(rule, "generic") }

// better reports whether the match of a rule that knows the issuer holds that of a generic one.
func (f found) better(g found) bool {
	return f.lineStart == g.lineStart && strings.Contains(g.secret, f.secret)
}

// find adds what the rule finds. A line is looked for and held against the lists once for all matches side by side in it, as there may be very many.
func (r Rule) find(all []found, text string) []found {
	lists := slices.Concat(allowed(), r.allowed)
	var last found
	lineAllowed := false
	for i, at := range r.re.FindAllStringIndex(text, -1) {
		match := strings.Trim(text[at[0]:at[1]], "\n")
		f := found{rule: r.id, secret: match, match: match, line: last.line, lineStart: last.lineStart, lineEnd: last.lineEnd}
		if i == 0 || at[0] >= last.lineEnd || at[0]+len(match) > last.lineEnd {
			f.findLine(text, at[0])
			lineAllowed = f.allowedBy(lists, true)
		}
		last = f
		if groups := r.re.FindStringSubmatch(match); len(groups) > 1 && r.group != whole {
			if r.group > 0 {
				f.secret = groups[r.group]
			} else if i := slices.IndexFunc(groups[1:], func(g string) bool { return g != "" }); i >= 0 {
				f.secret = groups[1+i]
			}
		}
		if lineAllowed || r.entropy > 0 && entropy(f.secret) <= r.entropy || f.allowedBy(lists, false) {
			continue
		}
		all = append(all, f)
	}
	return all
}

// findLine sets the line of a match that begins at a place of a text. A line holds the line end before it, and all lines the match goes over.
func (f *found) findLine(text string, at int) {
	f.lineStart = max(strings.LastIndexByte(text[:min(at+1, len(text))], '\n'), 0)
	f.lineEnd = at + len(f.match)
	if n := strings.IndexByte(text[f.lineEnd:], '\n'); n >= 0 {
		f.lineEnd += n
	} else {
		f.lineEnd = len(text)
	}
	f.line = text[f.lineStart:f.lineEnd]
}

// allowedBy reports whether one of the lists names a match: of those that are held against its line, or of the others.
func (f found) allowedBy(lists []allowlist, line bool) bool {
	lower := strings.ToLower(f.secret)
	return slices.ContainsFunc(lists, func(a allowlist) bool {
		if (a.of == inLine) != line {
			return false
		}
		text := [...]string{f.secret, f.match, f.line}[a.of]
		return a.re != nil && text != "" && a.re.MatchString(text) ||
			slices.ContainsFunc(a.words, func(w string) bool { return strings.Contains(lower, w) })
	})
}

// entropy is Shannon's of the characters, in bits for each byte. It is summed in one order, so that its last bit is always the same.
func entropy(s string) float64 {
	counts := map[rune]int{}
	for _, c := range s {
		counts[c]++
	}
	h, each := 0.0, 1/float64(len(s))
	for _, n := range slices.Sorted(maps.Values(counts)) {
		p := float64(n) * each
		h -= p * math.Log2(p)
	}
	return h
}
