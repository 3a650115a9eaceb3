package sanitize

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// A Secret of Kubernetes keeps values under names of any kind, so what tells them is where they stand.

var (
	kindOfSecret = lazyregexp.New(`^[ \t]*(?:- +)?["']?kind["']?:[ \t]*["']?Secret["']?,?[ \t\r]*(?:#.*)?$`)
	kindName     = lazyregexp.New(`^["']?kind["']?:`)
	// secretEntry is a name and its value, or the sign that the value stands in the lines below.
	secretEntry = lazyregexp.New(`^[ \t]*(?:"[0-9A-Za-z_.-]{1,253}":[ \t]*|["']?[0-9A-Za-z_.-]{1,253}["']?:[ \t]+)(?:[!&][^\s,]{1,40}[ \t]+){0,2}(?:([|>][-+0-9]*)|"([^"]+)"|'([^']+)'|([^\s"'#{|>&*!][^\s#]*)),?[ \t\r]*(?:#.*)?$`)
	// setting is a line that gives a name its value.
	setting = lazyregexp.New(`(?m)^[ \t]*(?:export[ \t]+)?["']?[0-9A-Za-z_.-]{1,253}["']?[ \t]*[=:][ \t]*["']?([^\s"']+)["']?[,;]?[ \t\r]*(?:[ \t]#.*)?$`)
	// nextName is the name of another value, behind a comma.
	nextName = lazyregexp.New(`^[ \t]*(?:"[0-9A-Za-z_.-]{1,253}":|["']?[0-9A-Za-z_.-]{1,253}["']?:[ \t])`)
	// hostAndPort is a host, perhaps with a port.
	hostAndPort = lazyregexp.New(`^[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)+(?::[0-9]{1,5})?$`)
	// passwordInside is an address with a password in it.
	passwordInside = lazyregexp.New(`://[^\s/:@]*:[^\s/@]+@`)
)

// minKept is how long a value is at least that a Secret keeps encoded, in bytes. One in clear, as texts of settings are, is as long as those in quotes, or was drawn for certain.
const minKept = 8

// deepest is how many braces within each other are told apart in a line: a list of objects in a text has six.
const deepest = 16

// KeptValues are the values of Secrets of Kubernetes in a text of YAML, or of JSON, under data and stringData, of those that look as if they were drawn.
func KeptValues(s string) []Span { return keptIn(s, quotesDeep) }

// keptIn are those values, also in objects that stand in quotes, so many deep.
func keptIn(s string, deep int) (out []Span) {
	if !strings.Contains(s, "Secret") || !strings.Contains(s, "kind") {
		return nil
	}
	y := yamlOf(s)
	for i, line := range y.lines {
		if strings.Contains(line.text, "Secret") && kindOfSecret.MatchString(line.text) {
			from, to := y.object(i)
			applied := deep < quotesDeep || strings.Contains(s[y.lines[max(0, from-2)].start:y.lines[from].start], "last-applied-configuration")
			out = y.kept(out, from, to, line.column, applied)
		}
	}
	if deep > 0 {
		for _, q := range append(quotedObjects(s), blockObjects(s)...) {
			for _, p := range keptIn(q.text, deep-1) {
				out = appendLines(out, s, q.places[p.Start], q.places[p.End])
			}
		}
	}
	return joinSpans(out)
}

// yaml is a text in lines. One in flow style, as JSON is, counts as several: what stands between its braces, and commas before names.
type yaml struct {
	text  string
	lines []yamlLine
}

// yamlLine is a line, or a part of one, and where it begins. column is where its name does, behind the mark of a list, or how deep it stands in braces; -1 of one that has none.
type yamlLine struct {
	text          string
	start, column int
}

func yamlOf(s string) yaml {
	y := yaml{text: s}
	at := 0
	for line := range strings.SplitSeq(s, "\n") {
		y.lines = flowed(y.lines, line, at)
		at += len(line) + 1
	}
	return y
}

// unlisted is what stands in a line from its name on.
func unlisted(line string) string {
	rest := strings.TrimLeft(line, " \t")
	if item, ok := strings.CutPrefix(rest, "- "); ok {
		rest = strings.TrimLeft(item, " ")
	}
	return rest
}

// flowed adds a line that begins at a place. A brace of a template, or of a reference, is a sign like others.
func flowed(out []yamlLine, line string, at int) []yamlLine {
	column := len(line) - len(unlisted(line))
	ends := len(strings.TrimRight(line, ",]} \t\r")) // behind it braces close that earlier lines opened
	from, depth, inner, quotes := 0, 0, 0, `"'`
	cut := func(to int) {
		part := line[from:to]
		l := yamlLine{part, at + from, column + min(depth, deepest)}
		if rest := strings.TrimRight(unlisted(part), "\r"); rest == "" || rest[0] == '#' || from > 0 && strings.Trim(rest, ",]} \t") == "" {
			l.column = -1
		}
		out = append(out, l)
		from = to
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case strings.IndexByte(quotes, c) >= 0 && valueAfter(line[from:i]):
			if n := closes(line[i:]); n > 0 {
				i += n
			} else {
				quotes = strings.ReplaceAll(quotes, line[i:i+1], "")
			}
		case c == '{' && (inner > 0 || strings.HasPrefix(line[i:], "{{") || !valueAfter(line[from:i])):
			inner++
		case c == '}' && inner > 0:
			inner--
		case c == '{' && strings.TrimSpace(line[i+1:]) != "":
			cut(i + 1)
			depth++
		case c == '}' && (depth > 0 || i >= ends):
			if strings.TrimSpace(line[from:i]) != "" {
				cut(i)
			}
			depth = max(0, depth-1)
		case c == ',' && inner == 0 && nextName.MatchString(line[i+1:min(len(line), i+300)]):
			cut(i)
			from++
		}
	}
	cut(len(line))
	return out
}

// valueAfter reports whether a value, or a name, begins behind what stands before it.
func valueAfter(before string) bool {
	mark := strings.TrimRight(before, " \t[{")
	n := len(mark)
	if n == 0 {
		return true
	}
	set := n < len(before) && strings.IndexByte(" \t", before[n]) >= 0
	return strings.IndexByte(":,-}", mark[n-1]) >= 0 && (set || n > 1 && strings.IndexByte(`"'}]`, mark[n-2]) >= 0)
}

// closes is where the quote closes with which a text begins; 0 where it does not.
func closes(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] == s[0]:
			return i
		}
	}
	return 0
}

// object are the lines of the object that the kind in line i belongs to. Two objects share no line: each has one kind.
func (y yaml) object(i int) (from, to int) {
	own := y.lines[i].column
	within := func(j int) bool {
		l := y.lines[j]
		return !strings.HasPrefix(l.text, "---") && (l.column < 0 || l.column > own || l.column == own && !kindName.MatchString(unlisted(l.text)))
	}
	item := func(j int) bool {
		return y.lines[j].column == own && strings.HasPrefix(strings.TrimLeft(y.lines[j].text, " \t"), "- ")
	}
	for from = i; from > 0 && !item(from) && within(from-1); from-- {
	}
	for to = i + 1; to < len(y.lines) && within(to) && !item(to); to++ {
	}
	return from, to
}

// kept adds the values under data and stringData in the object from from to to, whose names stand in a column. What was applied in clear, the Secret keeps encoded: it is judged so.
func (y yaml) kept(out []Span, from, to, column int, applied bool) []Span {
	section := ""
	for i := from; i < to; i++ {
		l := y.lines[i]
		switch {
		case l.column < 0:
		case l.column <= column:
			name, _, _ := strings.Cut(unlisted(l.text), ":")
			section = strings.Trim(name, `"'`)
		case section == "data", section == "stringData":
			m := secretEntry.FindStringSubmatchIndex(l.text)
			if m == nil {
				continue
			}
			if m[2] >= 0 { // the value stands below
				end := i + 1
				for j := end; j < to && (y.lines[j].column > l.column || y.lines[j].column < 0); j++ {
					if y.lines[j].column > l.column {
						end = j + 1
					}
				}
				out = y.block(out, i+1, end, section == "data")
				i = end - 1
				continue
			}
			for g := 4; g <= 8; g += 2 {
				if m[g] < 0 {
					continue
				}
				v, encoded := l.text[m[g]:m[g+1]], section == "data"
				if applied && !encoded {
					v, encoded = base64.StdEncoding.EncodeToString([]byte(v)), true
				}
				if keptValue(v, encoded) {
					out = append(out, Span{Start: l.start + m[g], End: l.start + m[g+1]})
				}
			}
		}
	}
	return out
}

// block adds the value that the lines from from to to hold, or those that its lines give names to.
func (y yaml) block(out []Span, from, to int, encoded bool) []Span {
	if from >= to {
		return out
	}
	start, end := y.lines[from].start, y.lines[to-1].start+len(y.lines[to-1].text)
	value := strings.TrimSpace(y.text[start:end])
	if encoded {
		value = strings.Join(strings.Fields(value), "")
	}
	if keptValue(value, encoded) {
		return appendLines(out, y.text, start, end)
	}
	if !encoded {
		for _, p := range assignedIn(y.text[start:end]) {
			out = append(out, Span{Start: start + p.Start, End: start + p.End})
		}
	}
	return out
}

// assignedIn are the values that lines of settings give to names, of those that were drawn.
func assignedIn(s string) (out []Span) {
	for _, m := range setting.FindAllStringSubmatchIndex(s, -1) {
		if keptValue(s[m[2]:m[3]], false) {
			out = append(out, Span{Start: m[2], End: m[3]})
		}
	}
	return out
}

// keptValue reports whether a value of a Secret is one that was drawn: a text in words, a placeholder, a name of a host and an address without a password are none.
// What has a secret in it is one; several words without one are settings or a certificate.
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
		if holdsSecret(v) {
			return true
		}
	}
	switch {
	case strings.ContainsAny(v, " \t\r\n"), v == Redacted, Published(v), MadeUp(v), NoValue(v), reference.MatchString(v), hostAndPort.MatchString(v):
		return false
	case strings.Contains(v, "://"):
		return passwordInside.MatchString(v) && LettersAndDigits(v)
	}
	signs := encoded && strings.ContainsAny(v, `!$*^%&?\=+`) && strings.ToUpper(v) != v && strings.ToLower(v) != v // a password without a digit
	return !encoded && Drawn(v) || len(v) >= least && (signs || LettersAndDigits(v)) && Entropy(v) >= minPasswordBits && !plainWords(v) && !className(v)
}

// holdsSecret reports whether a text that a Secret keeps encoded has a secret in it: what the other rules find, what a line or a part of JSON gives a name to, or another Secret,
// which is not looked into.
func holdsSecret(v string) bool {
	others := func(s string) []Span {
		return joinSpans(keySpans(s), patternSpans(s), assignmentSpans(s), deepSpans(s))
	}
	return slices.ContainsFunc(yamlOf(v).lines, func(l yamlLine) bool { return kindOfSecret.MatchString(l.text) }) ||
		len(findSpans(v, others)) > 0 || len(assignedIn(braces.Replace(v))) > 0
}

// braces are what parts the names of JSON in one line.
var braces = strings.NewReplacer("{", "\n", "}", "\n", ",", "\n")

// printable reports whether a text is of ASCII that can be seen, with blanks and line ends.
func printable(data []byte) bool {
	for _, c := range data {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}
