package sanitize

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/text"
)

// Bounds on one text. What is beyond them cannot be in a comment anyway.
const (
	maxField = 40_000
	maxBody  = MaxParts * Cap
)

// settleRounds is how often a text is read and written again until nothing changes.
const settleRounds = 5

// Field makes untrusted Markdown safe to stand as a block of a report (threats.md "Sanitization"). No HTML survives, no details
// either; headings are clamped below those of the report. A field that holds a known secret becomes Redacted. Field of a
// field changes nothing.
func Field(s string, p Policy) string {
	if Leaks(s, p) {
		return Redacted
	}
	m := mode{policy: p}
	return m.settled(clean(s), maxField, m.writeBlocks)
}

// Inline makes untrusted text safe to stand anywhere in one line of a report: in a sentence, a heading, a list item, a
// table cell or a summary. Emphasis, code and links to the repository's own pages survive, but for those of other pull requests.
// Inline of an inline changes nothing.
func Inline(s string, p Policy) string {
	if Leaks(s, p) {
		return Redacted
	}
	m := mode{policy: p}
	return m.settled(strings.Join(strings.Fields(clean(s)), " "), maxField, m.writeLine)
}

// CodeSpan writes a name, such as a path, as code in one line; it fits table cells too. Secrets are redacted; an empty
// name gives an empty string.
func CodeSpan(s string) string {
	s = strings.Join(strings.Fields(redactOwn(inert(clean(s)))), " ")
	w := &writer{cell: true}
	w.inlines(splitPipes([]inline{{kind: kindSpan, s: cut(s, maxField)}}))
	return w.String()
}

// writeBlocks is one pass over blocks: read, make inactive, write.
func (m mode) writeBlocks(s string) string {
	return renderBlocks(parseBlocks(redactOwn(dropMarkers(clean(s))), m))
}

// writeLine is one pass over a line.
func (m mode) writeLine(s string) string {
	s = strings.Join(strings.Fields(redactOwn(dropMarkers(clean(s)))), " ")
	return strings.Join(strings.Fields(strings.Join(paragraphLines(splitPipes(parseInline(s, m))), " ")), " ")
}

// settled brings s to a fixed point of pass that the second redaction and the oracle agree with. What does not get there
// becomes one block of plain text, and if even that is refused, Redacted. A text that is such a point already is returned
// as it is, which makes cleaning twice change nothing.
func (m mode) settled(s string, limit int, write func(string) string) string {
	var in, out string // the last pass, which is asked for again when nothing has changed since
	pass := func(s string) string {
		if s != in {
			in, out = s, write(s)
		}
		return out
	}
	sound := func(t string) bool {
		if limit == maxBody && len(t) > Cap { // each of its parts will be settled by itself
			return true
		}
		return redactDeep(t) == t && checkBody(t, m) == nil
	}
	most := limit + limit/2
	good := func(t string) bool { return len(t) <= most && pass(t) == t && sound(t) }
	if good(s) {
		return s
	}
	s = cut(s, limit)
	t := redactDeep(redactOwn(cut(dropMarkers(s), limit)))
	for range settleRounds {
		next := pass(t)
		if len(next) > most { // escapes are escaped again in each round: what stands as code at the end is not to be made of them
			break
		}
		if next != t {
			t = next
			continue
		}
		if sound(t) {
			return t
		}
		if next = redactDeep(t); next == t {
			break
		}
		t = next
	}
	plain := m
	plain.plain = true
	p := t
	for range settleRounds {
		again := plain.writeLine
		if m.body || strings.Contains(p, "\n") {
			again = plain.writeBlocks
		}
		next := redactDeep(again(p))
		if next == p || len(next) > most {
			break
		}
		p = next
	}
	if good(p) {
		return p
	}
	if f := pass(fenced(t)); good(f) {
		return f
	}
	return Redacted
}

// fenced is text as one block of code.
func fenced(s string) string {
	b := &block{kind: kindCode, info: "text", lines: strings.Split(s, "\n")}
	return strings.Join(b.codeLines(0), "\n")
}

// cut shortens s to limit bytes, at a line end or a space if one is near, never inside a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	at := limit
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	if line := strings.LastIndexByte(s[:at], '\n'); line > limit/2 {
		at = line
	} else if space := strings.LastIndexByte(s[:at], ' '); space > limit/2 {
		at = space
	}
	return s[:at]
}

// splitPipes takes pipes out of code, where a table cell cannot hold them.
func splitPipes(in []inline) []inline {
	var out []inline
	for _, n := range in {
		if n.kind != kindSpan || !strings.Contains(n.s, "|") {
			n.kids = splitPipes(n.kids)
			out = append(out, n)
			continue
		}
		for i, piece := range strings.Split(n.s, "|") {
			if i > 0 {
				out = append(out, inline{kind: kindText, s: "|"})
			}
			out = append(out, inline{kind: kindSpan, s: strings.TrimSpace(piece)})
		}
	}
	return join(out)
}

// parseRaw reads one line without making it inactive yet.
func parseRaw(s string, m mode) []inline {
	src := []byte(s)
	doc := readLine().Parse(text.NewReader(src))
	c := converter{m, src}
	var out []inline
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, c.gather(n)...)
	}
	return out
}
