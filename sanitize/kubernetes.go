package sanitize

import (
	"encoding/base64"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// A Secret of Kubernetes keeps values under names of any kind, so what tells them is where they stand.

var (
	kindOfSecret = lazyregexp.New(`^[ \t]*(?:- +)?["']?kind["']?:[ \t]*["']?Secret["']?,?[ \t\r]*(?:#.*)?$`)
	kindName     = lazyregexp.New(`^["']?kind["']?:`)
	// secretEntry is a name and its value, or the sign that the value stands in the lines below.
	secretEntry = lazyregexp.New(`^[ \t]+["']?[0-9A-Za-z_.-]{1,253}["']?:[ \t]+(?:[!&][^\s,]{1,40}[ \t]+){0,2}(?:([|>][-+0-9]*)|"([^"]+)"|'([^']+)'|([^\s"'#{|>&*!][^\s#]*)),?[ \t\r]*(?:#.*)?$`)
	// hostAndPort is a host, perhaps with a port.
	hostAndPort = lazyregexp.New(`^[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)+(?::[0-9]{1,5})?$`)
	// passwordInside is an address with a password in it.
	passwordInside = lazyregexp.New(`://[^\s/:@]*:[^\s/@]+@`)
)

// minKept is how long a value is at least that a Secret keeps encoded, in bytes. One in clear, as texts of settings are, is as long as those in quotes.
const minKept = 8

// KeptValues are the values of Secrets of Kubernetes in a text of YAML, or of JSON in lines, under data and stringData, of those that look as if they were drawn.
func KeptValues(s string) (out []Span) {
	if !strings.Contains(s, "Secret") || !strings.Contains(s, "kind") {
		return nil
	}
	y := yamlOf(s)
	for i, line := range y.lines {
		if kindOfSecret.MatchString(line) {
			from, to := y.object(i)
			out = y.kept(out, from, to, y.column(i))
		}
	}
	return joinSpans(out)
}

// yaml is a text in lines; starts are where they begin.
type yaml struct {
	text   string
	lines  []string
	starts []int
}

func yamlOf(s string) yaml {
	y := yaml{text: s, lines: strings.Split(s, "\n")}
	at := 0
	for _, line := range y.lines {
		y.starts = append(y.starts, at)
		at += len(line) + 1
	}
	return y
}

// column is where the name in a line begins, behind the mark of a list; -1 in a line that has none.
func (y yaml) column(i int) int {
	rest := strings.TrimLeft(y.lines[i], " \t")
	if item, ok := strings.CutPrefix(rest, "- "); ok {
		rest = strings.TrimLeft(item, " ")
	}
	if strings.TrimRight(rest, "\r") == "" || rest[0] == '#' {
		return -1
	}
	return len(y.lines[i]) - len(rest)
}

// object are the lines of the object that the kind in line i belongs to. Two objects share no line: each has one kind.
func (y yaml) object(i int) (from, to int) {
	own := y.column(i)
	within := func(j int) bool {
		c := y.column(j)
		return !strings.HasPrefix(y.lines[j], "---") && (c < 0 || c > own || c == own && !kindName.MatchString(y.lines[j][c:]))
	}
	item := func(j int) bool {
		return y.column(j) == own && strings.HasPrefix(strings.TrimLeft(y.lines[j], " \t"), "- ")
	}
	for from = i; from > 0 && !item(from) && within(from-1); from-- {
	}
	for to = i + 1; to < len(y.lines) && within(to) && !item(to); to++ {
	}
	return from, to
}

// kept adds the values under data and stringData in the object from from to to, whose names stand in a column.
func (y yaml) kept(out []Span, from, to, column int) []Span {
	section := ""
	for i := from; i < to; i++ {
		c := y.column(i)
		switch {
		case c < 0:
		case c <= column:
			name, _, _ := strings.Cut(y.lines[i][c:], ":")
			section = strings.Trim(name, `"'`)
		case section == "data", section == "stringData":
			m := secretEntry.FindStringSubmatchIndex(y.lines[i])
			if m == nil {
				continue
			}
			if m[2] >= 0 { // the value stands below
				end := i + 1
				for end < to && y.column(end) > c {
					end++
				}
				out = y.block(out, i+1, end, section == "data")
				i = end - 1
				continue
			}
			for g := 4; g <= 8; g += 2 {
				if m[g] >= 0 && keptValue(y.lines[i][m[g]:m[g+1]], section == "data") {
					out = append(out, Span{Start: y.starts[i] + m[g], End: y.starts[i] + m[g+1]})
				}
			}
		}
	}
	return out
}

// block adds the value that the lines from from to to hold.
func (y yaml) block(out []Span, from, to int, encoded bool) []Span {
	if from >= to {
		return out
	}
	start, end := y.starts[from], y.starts[to-1]+len(y.lines[to-1])
	value := strings.TrimSpace(y.text[start:end])
	if encoded {
		value = strings.Join(strings.Fields(value), "")
	}
	if keptValue(value, encoded) {
		return appendLines(out, y.text, start, end)
	}
	return out
}

// keptValue reports whether a value of a Secret is one that was drawn: a text in words, a placeholder, a name of a host and an address without a password are none.
// Of several words only what the other rules find counts, as those are settings or a certificate.
func keptValue(v string, encoded bool) bool {
	least := minGenerated
	if encoded {
		data, err := base64.StdEncoding.DecodeString(v)
		if err != nil || len(data) < minKept {
			return false
		}
		if !printable(data) {
			return true
		}
		v, least = strings.TrimSpace(string(data)), minKept
		if strings.ContainsAny(v, " \t\r\n") {
			return len(findSpans(v, ownSpans)) > 0
		}
	}
	switch {
	case strings.ContainsAny(v, " \t\r\n"), v == Redacted, Published(v), MadeUp(v), NoValue(v), reference.MatchString(v), hostAndPort.MatchString(v):
		return false
	case strings.Contains(v, "://"):
		return passwordInside.MatchString(v) && LettersAndDigits(v)
	}
	signs := encoded && strings.ContainsAny(v, `!$*^%&?\=+`) && strings.ToUpper(v) != v && strings.ToLower(v) != v // a password without a digit
	return len(v) >= least && (signs || LettersAndDigits(v)) && Entropy(v) >= minPasswordBits && !plainWords(v) && !className(v)
}

// printable reports whether a text is of ASCII that can be seen, with blanks and line ends.
func printable(data []byte) bool {
	for _, c := range data {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}
