package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// writer writes inline nodes as canonical Markdown. What could be read as syntax is escaped; nothing else, so that
// identifiers and paths stay readable in mails and on the command line.
type writer struct {
	b strings.Builder
	// heading, cell and link say where the text stands; each escapes a little more.
	heading, cell, link bool
}

func (w *writer) String() string { return w.b.String() }

// paragraphLines writes a paragraph, line ends as they are, blank lines dropped: they would end it.
func paragraphLines(in []inline) []string {
	w := &writer{}
	w.inlines(in)
	var out []string
	for line := range strings.SplitSeq(w.String(), "\n") {
		if line = strings.Trim(line, " \t"); line != "" && line != `\` {
			out = append(out, line)
		}
	}
	if n := len(out); n > 0 {
		out[n-1] = trimBreak(out[n-1])
	}
	return out
}

// trimBreak drops a line break at the end of a paragraph, where it would be a backslash.
func trimBreak(line string) string {
	n := len(line) - len(strings.TrimRight(line, `\`))
	if n%2 == 1 {
		return strings.TrimRight(line[:len(line)-1], " \t")
	}
	return line
}

func (w *writer) inlines(in []inline) {
	for i, n := range in {
		var next *inline
		if i+1 < len(in) {
			next = &in[i+1]
		}
		switch n.kind {
		case kindText:
			w.text(n.s, next)
		case kindSpan:
			w.b.WriteString(codeSpan(n.s))
		case kindSoft:
			w.b.WriteByte('\n')
		case kindHard:
			w.b.WriteString("\\\n")
		case kindEm:
			w.wrapped("*", n.kids)
		case kindStrong:
			w.wrapped("**", n.kids)
		case kindStrike:
			w.wrapped("~~", n.kids)
		case kindLink:
			w.anchor(n)
		}
	}
}

// wrapped writes emphasis; spaces go outside, where delimiters can still open and close.
func (w *writer) wrapped(mark string, kids []inline) {
	inner := &writer{heading: w.heading, cell: w.cell, link: w.link}
	inner.inlines(kids)
	s := inner.String()
	body := strings.Trim(s, " \t\n")
	if body == "" {
		w.b.WriteString(s)
		return
	}
	at := strings.Index(s, body)
	w.b.WriteString(s[:at] + mark + body + mark + s[at+len(body):])
}

func (w *writer) anchor(n inline) {
	if flatText(n.kids) == n.s {
		w.b.WriteString("<" + n.s + ">")
		return
	}
	inner := &writer{heading: w.heading, cell: w.cell, link: true}
	inner.inlines(oneLine(n.kids))
	w.b.WriteString("[" + strings.TrimSpace(inner.String()) + "](" + n.s + ")")
}

// codeSpan writes a code span around text without line ends.
func codeSpan(s string) string {
	if strings.Trim(s, " ") == "" {
		return ""
	}
	fence := "`"
	for has(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || (s[0] == ' ' && s[len(s)-1] == ' ') {
		s = " " + s + " "
	}
	return fence + s + fence
}

// has reports whether s holds a run of backticks of exactly fence's length.
func has(s, fence string) bool {
	for s != "" {
		i := strings.IndexByte(s, '`')
		if i < 0 {
			return false
		}
		n := i
		for n < len(s) && s[n] == '`' {
			n++
		}
		if n-i == len(fence) {
			return true
		}
		s = s[n:]
	}
	return false
}

var (
	// safeBracket is a bracketed word that no definition, box or footnote can turn into something.
	safeBracket = lazyregexp.New(`^\[(?:REDACTED|DIFF REDACTED|TRUNCATED_COMMENT|[A-Za-z0-9_][A-Za-z0-9_., -]+|[a-wyzA-WYZ0-9_])\](?:[^(\[:]|$)`)
	listNumber  = lazyregexp.New(`^[0-9]{1,9}[.)](?:[ \t]|$)`)
	atxMark     = lazyregexp.New(`^#{1,6}(?:[ \t]|$)`)
)

// text writes literal text. next is the node after it, nil at the end of the block.
func (w *writer) text(s string, next *inline) {
	if w.lineStart() {
		s = strings.TrimLeft(s, " \t")
	}
	closed := len(s) // where the marks that could close a heading begin
	if w.heading && next == nil {
		closed = len(strings.TrimRight(s, "# "))
	}
	for i := 0; i < len(s); i++ {
		c, rest := s[i], s[i+1:]
		if w.lineStart() {
			if n := len(listNumber.FindString(s[i:])); n > 0 {
				digits := strings.IndexAny(s[i:], ".)")
				w.b.WriteString(s[i : i+digits])
				w.b.WriteByte('\\')
				w.b.WriteByte(s[i+digits])
				i += digits
				continue
			}
			if w.escapeAtStart(s[i:]) {
				w.b.WriteByte('\\')
				w.b.WriteByte(c)
				continue
			}
		}
		if c == '#' && i >= closed || w.escape(c, rest, s[i:], next) {
			w.b.WriteByte('\\')
		}
		w.b.WriteByte(c)
	}
}

func (w *writer) lineStart() bool {
	s := w.b.String()
	return !w.link && (s == "" || s[len(s)-1] == '\n')
}

// escapeAtStart reports whether the line's first character would begin a block.
func (w *writer) escapeAtStart(s string) bool {
	switch s[0] {
	case '#':
		return atxMark.MatchString(s)
	case '>', '=':
		return true
	case '-', '+':
		return len(s) == 1 || strings.IndexByte(" \t-:+", s[1]) >= 0
	case ':':
		return len(s) > 1 && s[1] == '-'
	}
	return false
}

// escape reports whether c must be written with a backslash here.
func (w *writer) escape(c byte, rest, all string, next *inline) bool {
	switch c {
	case '`', '*', '~', '|', '$':
		return true
	case '\\':
		return rest == "" || !alnum(rest[0]) && rest[0] < 0x80
	case '_':
		s := w.b.String()
		return rest == "" || s == "" || !alnum(s[len(s)-1]) || !alnum(rest[0]) && rest[0] != '_' || rest[0] == '_' && !intraword(rest)
	case '[':
		return w.link || !safeBracket.MatchString(all) || glued(next) && strings.IndexByte(all, ']') == len(all)-1
	case ']':
		return w.link
	case '<':
		return rest == "" || strings.IndexByte(" =0123456789-", rest[0]) < 0
	case '&':
		return rest == "" && next != nil || rest != "" && (rest[0] == '#' || alnum(rest[0])) && entityHere.MatchString(all[:min(len(all), 40)])
	case '!':
		return rest == "" && next != nil && next.kind == kindLink || strings.HasPrefix(rest, "[")
	}
	return false
}

// glued reports whether a node follows on the same line.
func glued(next *inline) bool { return next != nil && next.kind != kindSoft && next.kind != kindHard }

// intraword reports whether a run of underscores is followed by a word character.
func intraword(s string) bool {
	t := strings.TrimLeft(s, "_")
	return t != "" && alnum(t[0])
}

// alnum is a letter or digit of ASCII. Others are not asked about, so underscores beside them are escaped.
func alnum(c byte) bool {
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
}
