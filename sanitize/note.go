package sanitize

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/spelling"
)

// maxNote bounds what stands before the block of a note, maxValue one text in the block, maxQuote a quote; in bytes. Where a block is too
// long with that, all its texts are cut to half of maxValue, and so on until leastValue.
const (
	maxNote    = 20_000
	maxValue   = 2_000
	maxQuote   = 4 * maxValue
	leastValue = maxValue / 16
)

// Value is one field of a note's block: a text, or a whole number where that is not 0. Whole is true of a text that is names, and is not cut;
// where cleaning would make another name of the spelling of a file's, it is spelled in ASCII. Quote is true of code that is looked for again: it reads back as
// it is, in escapes where cleaning would change it.
type Value struct {
	Name   string
	Text   string
	Number int
	Whole  bool
	Quote  bool
}

// Around the block of a note (spec.md D4.2): folded, so that people are not bothered by it.
const (
	blockStart = "\n\n---\n\n<details>\n<summary>For prloop</summary>\n\n```rmcoc\n"
	blockEnd   = "\n```\n\n</details>\n"
)

// Note turns a text into a comment of a review thread: the body as Comment does, in one part, and behind it the block with what
// prloop remembers of it. Nothing but a note has such a block: an agent's own is plain code (threats.md T155). It fails as Comment does.
func Note(body string, block []Value, m Marker, p Policy) (Text, error) {
	if err := m.valid(); err != nil {
		return Text{}, err
	}
	texts := body
	for _, v := range block {
		texts += "\n" + v.Text
	}
	if Leaks(texts, p) {
		return Text{}, fmt.Errorf("sanitize comment: %w", ErrKnownSecret)
	}
	if short := cut(body, maxNote); short != body {
		body = short + "\n\n" + TruncatedComment
	}
	md := mode{policy: p, body: true}
	whole := md.settled(strings.Trim(clean(p.Learned.Mask(body)), "\n"), maxBody, md.writeBlocks)
	sealed := ""
	for limit := maxValue; limit >= leastValue; limit /= 2 {
		if sealed = m.seal(whole + blockStart + writeBlock(block, limit, p) + blockEnd); len(sealed) <= Cap {
			break
		}
	}
	if err := check(sealed, p); err != nil {
		return Text{}, fmt.Errorf("sanitize comment: %w", err)
	}
	return Text{sealed}, nil
}

// NoteBlock gives the block of a note as JSON. Whether the note is ours, Verify says.
func NoteBlock(body string) (json string, ok bool) {
	h, ok := readHeader(body)
	if !ok {
		return "", false
	}
	_, json = splitNote(h.rest)
	return json, json != ""
}

// splitNote takes the block off the end of a note; empty for a text without one. GitHub may have cut white space off the end.
func splitNote(rest string) (body, block string) {
	end, ok := strings.CutSuffix(strings.TrimRight(rest, " \t\r\n"), strings.TrimRight(blockEnd, "\n"))
	at := strings.LastIndex(end, blockStart)
	if !ok || at < 0 || strings.Contains(end[at+len(blockStart):], "`") {
		return rest, ""
	}
	return end[:at] + "\n", end[at+len(blockStart):]
}

// writeBlock writes the fields as JSON, no text longer than limit. A text that the oracle does not let through is written in escapes, which no bot reads, and if
// that does not help taken out.
func writeBlock(fields []Value, limit int, p Policy) string {
	lines := make([]string, len(fields))
	for i, f := range fields {
		if f.Number != 0 {
			lines[i] = fmt.Sprintf("  %s: %d", quoted(f.Name), f.Number)
			continue
		}
		if f.Quote && limit == maxValue {
			f.Text = cut(f.Text, maxQuote)
		} else if !f.Whole {
			f.Text = cut(f.Text, limit)
		}
		raw := f.Text
		if f.Quote { // cleaning can break a secret into lines that show it
			f.Text = Redact(raw)
		}
		cleaned, write := f.cleaned(), quoted
		text := redactDeep(redactOwn(cleaned))
		if f.Quote && f.Text == raw && text == cleaned && text != raw { // no secret hides in it, as it is or cleaned
			text, write = raw, inASCII
		}
		for _, write := range []func(string) string{write, escaped} {
			if lines[i] = "  " + quoted(f.Name) + ": " + write(text); checkBlock(lines[i], p) == nil {
				break
			}
			lines[i] = "  " + quoted(f.Name) + ": " + quoted(Redacted)
		}
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}"
}

// cleaned is the text of a field as clean leaves it.
func (v Value) cleaned() string {
	if text := clean(v.Text); !v.Whole || text == v.Text {
		return text
	}
	return spelling.Quoted(spelling.Raw(v.Text))
}

// checkBlock is the oracle over a block, which is code of a kind that nothing else may have.
func checkBlock(block string, p Policy) error {
	if strings.Contains(block, markWord) {
		return fmt.Errorf("%w: there is more than one marker", ErrUnsafe)
	}
	return checkBody("```json\n"+block+"\n```\n", mode{policy: p, body: true})
}

// quoted is a JSON string without what has a meaning outside of it.
func quoted(s string) string { return jsonString(s, meansNothing) }

// inASCII is the same with escapes for all that is not ASCII.
func inASCII(s string) string {
	return jsonString(s, func(r rune) bool { return r < utf8.RuneSelf && meansNothing(r) })
}

// escaped is a JSON string of letters, digits and escapes alone.
func escaped(s string) string {
	return jsonString(s, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' })
}

func meansNothing(r rune) bool { return r >= ' ' && r != 0x7f && !strings.ContainsRune("\"\\`@<>&", r) }

// jsonString writes a string of JSON, with escapes for all characters that are not plain.
func jsonString(s string, plain func(rune) bool) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	b.WriteByte('"')
	return b.String()
}
