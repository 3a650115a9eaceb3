package dismissals

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Name is the file of a repository that holds its dismissals, at its root.
const Name = ".prloop-ignore"

// Header is what a new file begins with.
const Header = `# Findings that prloop lists and does not count: docs/usage.md, "Living with findings".
# identity | category | file | title | who | until (or -) | why
`

const (
	between = " | "
	fields  = 7
	noEnd   = "-"
	// ofValue is the category in a line for the value of a secret, ofLine in one for a line of code that is known by its value all the same, such as a
	// call of a debugger.
	ofValue = "secret_value"
	ofLine  = "exact_line"
	// MaxBytes and maxLine bound a file and a line of it, in bytes.
	MaxBytes = 1 << 20
	maxLine  = 2000
)

// ruled are the titles that the static reviewer has for secrets. A line with one of them is for a value, also where it was written before lines said so.
var ruled = lazyregexp.New(`^Adds an? (?:(?:GitHub|GitLab|Slack|npm|PyPI|Hugging Face|DigitalOcean|Shopify) token` +
	`|(?:live Stripe|live secret|Anthropic|OpenAI|OpenRouter|Google API|SendGrid|Twilio|age secret|private) key` +
	`|AWS access key id|AWS secret access key|Slack webhook address|private key in base64|token in the form of its issuer|secret written into the code|password inside an address)$`)

// Read gives the dismissals of a file, and a fault for each line that is none. Blank lines and those that begin with # say
// nothing.
func Read(text []byte) ([]Dismissal, []Fault) {
	if len(text) > MaxBytes {
		return nil, []Fault{{Name, 1, fmt.Sprintf("the file has more than %d bytes and is not read: take out what is expired", MaxBytes)}}
	}
	var list []Dismissal
	var faults []Fault
	n := 0
	for line := range bytes.Lines(text) {
		n++
		said := strings.TrimSpace(strings.TrimRight(string(line), "\r\n"))
		if said == "" || said[0] == '#' {
			continue
		}
		d, what := parse(said)
		if what != "" {
			faults = append(faults, Fault{Name, n, what})
			continue
		}
		d.File, d.Line = Name, n
		list = append(list, d)
	}
	return list, faults
}

// parse reads one line; what says what is wrong with it.
func parse(line string) (d Dismissal, what string) {
	part := strings.SplitN(line, between, fields)
	switch {
	case len(line) > maxLine:
		return d, fmt.Sprintf("the line has more than %d bytes", maxLine)
	case !printable(line):
		return d, "the line holds characters that are not visible, or is not UTF-8"
	case len(part) != fields:
		return d, fmt.Sprintf("the line has %d of the %d fields identity | category | file | title | who | until | why", len(part), fields)
	}
	for i := range part {
		part[i] = strings.TrimSpace(part[i])
	}
	if p, rest, _ := strings.Cut(part[1], " "); p == string(review.P0) || p == string(review.P1) {
		d.Priority, part[1] = review.Priority(p), strings.TrimSpace(rest)
	}
	d = Dismissal{Priority: d.Priority, Mark: &identity.Mark{ID: part[0], Category: part[1], File: part[2], Title: part[3]}, By: part[4], Why: part[6]}
	if d.Mark.Value = part[1] == ofValue || part[1] == ofLine || ruled.MatchString(part[3]) && identity.Category(part[1]) == review.CategorySecurity; d.Mark.Value {
		d.Mark.Category = review.CategorySecurity
	}
	for i, name := range []string{"", "category", "", "title", "who", "until", "why"} { // a finding may be about no file
		if name != "" && part[i] == "" {
			return d, fmt.Sprintf("the field %q is empty", name)
		}
	}
	if !identity.IsID(part[0]) {
		return d, fmt.Sprintf("%q is no identity: 16 hexadecimal digits", part[0])
	}
	if part[5] != noEnd {
		if d.Until, what = Day(part[5]); what != "" {
			return d, what + ", or - for no end"
		}
	}
	return d, ""
}

// Day reads a day such as 2027-03-31; what says that s is none.
func Day(s string) (day, what string) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", fmt.Sprintf("%q is no day: write it as 2027-03-31", s)
	}
	return s, ""
}

// printable reports whether a text has nothing in it that a reader of a diff does not see.
func printable(s string) bool {
	if _, hidden := sanitize.Visible(s); len(hidden) > 0 {
		return false
	}
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) })
}

// Text is the line that says d; what says why no line can. What would break a line, or stand for another field, is taken out
// of title, who and why.
func (d Dismissal) Text() (line, what string) {
	m := *d.Mark
	part := []string{m.ID, cmp.Or(identity.Category(folded(m.Category)), "other"), m.File, cmp.Or(short(m.Title), "(no title)"), d.By, cmp.Or(d.Until, noEnd), d.Why}
	switch {
	case m.Value && part[1] != review.CategorySecurity:
		part[1] = ofLine
	case m.Value:
		part[1] = ofValue
	case part[1] == ofValue, part[1] == ofLine, part[1] == review.CategorySecurity && ruled.MatchString(part[3]): // a model's words, and no line for a value
		part[1] = "secret"
	}
	for i, s := range part {
		if s = folded(s); i < fields-1 && i != 2 {
			s = strings.ReplaceAll(s, "|", "/")
		}
		part[i] = s
	}
	if d.Priority != "" {
		part[1] = string(d.Priority) + " " + part[1]
	}
	line = strings.Join(part, between)
	again, what := parse(line)
	if what == "" && again.Mark.File != m.File {
		what = fmt.Sprintf("a file with the name %q cannot stand in a line", m.File)
	}
	return line, what
}

// folded is a text on one line, of characters that people see.
func folded(s string) string {
	s = strings.Map(func(r rune) rune {
		if !printable(string(r)) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.Join(strings.Fields(s), " ")
}

// longestTitle bounds what a line keeps of a title, in characters.
const longestTitle = 150

func short(title string) string {
	if r := []rune(title); len(r) > longestTitle {
		return string(r[:longestTitle-1]) + "…"
	}
	return title
}
