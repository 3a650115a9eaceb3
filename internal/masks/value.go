package masks

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/sanitize"
)

var (
	// plainValue is a value that is no code by itself in a setting or an address.
	plainValue = lazyregexp.New(`^[0-9A-Za-z_.~%+-]+$`)
	// addressed is what stands before a password in an address.
	addressed = lazyregexp.New(`[a-z]://[^\s/:@"'` + "`" + `]*:$`)
	// inertText is a value that is no code within quotes: nothing in it is put in, called or ended by any language.
	inertText = lazyregexp.New(`^[^\s$(){}\[\]<>;|\\"'` + "`" + `]+$`)
	// settingsFile is the name of a file of settings, in which what stands alone behind a name is a value.
	settingsFile = lazyregexp.New(`(?:^|/)(?:\.env[^/]*|[^/]*\.(?:env|ini|cfg|conf|properties|toml|ya?ml))$`)
	// used begins what stands behind a name that is called, asked for a part, or given a type. The end of an element, or of a sentence, is none of it.
	used        = lazyregexp.New(`^(?:[(\[{]|\.\S|<[^/])`)
	settingName = lazyregexp.New(`^[^'"` + "`" + `]*[\w.-][ \t]*[=:][ \t]*$`)
	// putIn is what languages run, or put in, within quotes: no secret, also where a rule takes all between the quotes for one.
	putIn = lazyregexp.New(`\$\(.*\)|[$#]\{.*\}|\{.*\(.*\}`)
	// keyLine is the first or the last line of a key, perhaps with the rest of the key, or a line of its text.
	keyLine = lazyregexp.New(`^-----(?:BEGIN|END) [A-Z0-9 ]+-----(?:[A-Za-z0-9+/=\\]*(?:-----END [A-Z0-9 ]+-----[\\nr]*)?)?$|^[A-Za-z0-9+/]{60,}$|^[A-Za-z0-9+/]+={1,2}$`)
)

// value is one value that is masked in a line, with what the mask leaves of the line on both sides. at is where it begins in the line.
type value struct {
	before, text, behind string
	at                   int
}

// values are the values that are masked in a line. Where they cannot be told apart, it is one that stands nowhere.
func values(was, is string) (found []value) {
	unknown := []value{{at: -1}}
	pieces := strings.Split(is, sanitize.Redacted)
	rest, ok := strings.CutPrefix(was, pieces[0])
	if !ok {
		return unknown
	}
	for i, piece := range pieces[1:] {
		end := strings.Index(rest, piece)
		if i == len(pieces)-2 { // the last piece goes to the end of the line
			end = len(rest) - len(piece)
		}
		if end < 0 || !strings.HasPrefix(rest[end:], piece) {
			return unknown
		}
		found = append(found, value{pieces[i], rest[:end], piece, len(was) - len(rest)})
		rest = rest[end+len(piece):]
	}
	return found
}

// within reports whether one of some parts of the line holds all of a value, but for signs at its ends.
func (v value) within(parts []sanitize.Span) bool {
	const signs = "-_.:~%=+/"
	from, to := v.at+len(v.text)-len(strings.TrimLeft(v.text, signs)), v.at+len(strings.TrimRight(v.text, signs))
	return slices.ContainsFunc(parts, func(p sanitize.Span) bool { return p.Start <= from && to <= p.End })
}

// quoted reports whether a value is a whole quoted text. What stands in backticks is run by a shell.
func (v value) quoted() bool {
	return v.before != "" && v.behind != "" && strings.IndexByte("\"'", v.before[len(v.before)-1]) >= 0 && v.behind[0] == v.before[len(v.before)-1]
}

// inAddress reports whether a value is the password of an address.
func (v value) inAddress() bool {
	return strings.HasPrefix(v.behind, "@") && addressed.MatchString(v.before)
}

// gone reports whether a value in a removed line is no code. The line was there before and nobody could write it for this
// purpose, so it is enough that no name of something that runs is written like the value.
func (v value) gone(path string) bool {
	alone := strings.TrimSpace(v.behind) == ""
	switch {
	case v.djangoKey():
		return true
	case sanitize.Random(v.text):
		return !used.MatchString(v.behind) || settingsFile.MatchString(path) && settingName.MatchString(v.before) && sanitize.Generated(v.text+v.behind)
	case v.quoted():
		return inertText.MatchString(v.text) || keyLine.MatchString(v.text) || sanitize.Generated(v.text)
	case v.inAddress():
		return plainValue.MatchString(v.text)
	case settingsFile.MatchString(path):
		return settingName.MatchString(v.before) && (alone && plainValue.MatchString(v.text) || sanitize.Generated(v.text+v.behind)) || alone && keyLine.MatchString(v.text)
	}
	return alone && strings.TrimSpace(v.before) == "" && keyLine.MatchString(v.text)
}

var (
	djangoText = lazyregexp.New(`^(?:django-insecure-)?([a-z0-9!@#$%^&*(_=+)-]{40,})$`)
	djangoRuns = lazyregexp.New(`[a-z]+|[0-9]+`)
)

// djangoKey reports whether a value is, or with what the mask leaves of it begins, a quoted key of an application of Django, which has all kinds of signs in it. It is
// drawn at random: its runs of letters and of digits are shorter than the names that code is made of.
func (v value) djangoKey() bool {
	if v.before == "" || strings.IndexByte("\"'", v.before[len(v.before)-1]) < 0 {
		return false
	}
	rest, _, ended := strings.Cut(v.behind, v.before[len(v.before)-1:])
	m := djangoText.FindStringSubmatch(v.text + rest)
	return ended && m != nil && len(m[1])*100 <= len(djangoRuns.FindAllString(m[1], -1))*maxDjangoRun
}

// maxDjangoRun is the mean length of such runs, with the signs between, in hundredths of a byte; it is 2.4 in the mean.
const maxDjangoRun = 330
