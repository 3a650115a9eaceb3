package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/sanitize"
)

// framer finds the one envelope in a child's standard output, line by line (package comment, "What an agent writes").
type framer struct {
	// event is given every event line; false when it is not one that was read whole.
	event func(line []byte) bool

	text   spool // everything but events that were read, for salvage and for the record
	open   *block
	blocks []block // the first two are kept, of the others only the number counts
	more   int
	prose  int
	sample string // the first line of prose
	stray  bool   // END_JSON without BEGIN_JSON
	severe bool   // a line that may hold a P0 or P1 was kept beyond maxLoose
}

// block is one candidate for the envelope: a part of the framer's text, which an answer of 8 MB must not fill twice.
type block struct {
	framing    framing
	start, end int
	depth      depth
}

// maxLoose is how much is kept of text that belongs to no candidate, in bytes: enough to say what was written. A flood of
// it must not cost memory (threats.md T84).
const maxLoose = 1 << 20

type framing string

const (
	bare   framing = "bare"
	fenced framing = "fenced"
	marked framing = "marked"
	quoted framing = "quoted" // a fence of another language: text
)

var (
	beginJSON  = []byte("BEGIN_JSON")
	endJSON    = []byte("END_JSON")
	fence      = []byte("```")
	lineEnd    = []byte("\n")
	eventStart = lazyregexp.New(`^\{\s*"event"\s*:`)
)

// line takes one line of output.
func (f *framer) line(line []byte) {
	trimmed := bytes.TrimSpace(line)
	if f.open == nil && isEvent(trimmed) {
		if !f.event(trimmed) || answer.Beside(trimmed, nil) != "" { // an event has no room for findings
			f.keep(line, false)
		}
		return
	}
	at := f.text.Len()
	f.keep(line, f.open != nil && f.open.framing != quoted || f.open == nil && opens(trimmed))
	if f.open != nil {
		f.within(at, line, trimmed)
		return
	}
	switch {
	case len(trimmed) == 0:
	case bytes.HasPrefix(trimmed, beginJSON):
		rest := bytes.Index(line, beginJSON) + len(beginJSON)
		f.open = &block{framing: marked, start: at + rest}
		if tail := line[rest:]; len(bytes.TrimSpace(tail)) > 0 {
			f.within(at+rest, tail, bytes.TrimSpace(tail))
		}
	case bytes.Equal(trimmed, endJSON):
		f.stray = true
	case bytes.HasPrefix(trimmed, fence):
		f.open = &block{framing: quoted, start: f.text.Len()}
		if tag := bytes.ToLower(trimmed[len(fence):]); len(tag) == 0 || string(tag) == "json" {
			f.open.framing = fenced
		}
	case startsDocument(trimmed):
		f.open = &block{framing: bare, start: at}
		f.within(at, line, trimmed)
	default:
		f.say(trimmed)
	}
}

// keep adds a line to the text, if it is a part of a candidate, there is room, or it is the first that may hold a P0 or P1.
func (f *framer) keep(line []byte, candidate bool) {
	if !candidate && f.text.Len() >= maxLoose {
		if f.severe || !answer.MayBlock(line) {
			return
		}
		f.severe = true
	}
	_, _ = f.text.Write(line)
	_, _ = f.text.Write(lineEnd)
}

// opens reports whether a line outside all blocks may begin one.
func opens(trimmed []byte) bool {
	return bytes.HasPrefix(trimmed, beginJSON) || bytes.HasPrefix(trimmed, fence) || startsDocument(trimmed)
}

// within takes one line inside an open block; at is where it begins in the text.
func (f *framer) within(at int, line, trimmed []byte) {
	b := f.open
	switch b.framing {
	case fenced, quoted:
		if bytes.Equal(trimmed, fence) {
			f.close(at)
		}
	case marked:
		if bytes.HasSuffix(trimmed, endJSON) {
			f.close(at + bytes.LastIndex(line, endJSON))
		}
	case bare:
		if b.depth.add(line) {
			f.close(f.text.Len())
		}
	}
}

// close ends the open block where its text does.
func (f *framer) close(end int) {
	b := f.open
	f.open, b.end = nil, end
	switch {
	case b.framing == quoted, b.framing == fenced && !startsDocument(bytes.TrimSpace(f.content(b))):
		f.say(fence)
	case len(f.blocks) < 2:
		f.blocks = append(f.blocks, *b)
	default:
		f.more++
	}
}

// content is the text of a block that was closed.
func (f *framer) content(b *block) []byte { return f.text.span(b.start, b.end) }

func (f *framer) say(line []byte) {
	if f.prose++; f.prose == 1 {
		f.sample = sanitize.Line(string(line), 80)
	}
}

// proseError says that the output is no answer for the text in it.
type proseError struct{ what, quoted string }

// Error quotes the text, which is for the agent and the operator alone.
func (e *proseError) Error() string { return e.what + e.quoted }

// openly is why an answer was refused, without a quote of text that belongs to no answer: everybody may read it.
func openly(invalid error) string {
	if prose := (*proseError)(nil); errors.As(invalid, &prose) {
		return prose.what
	}
	return invalid.Error()
}

// envelope returns the one candidate once the output is complete. An error is fit to be quoted to the agent.
func (f *framer) envelope() (doc []byte, notes []string, err error) {
	if text := f.text.head(2); bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, nil, errors.New("the output is UTF-16, plain UTF-8 is wanted")
	}
	if b := f.open; b != nil {
		switch b.framing {
		case bare:
			return nil, nil, errors.New("the envelope is cut off: its JSON object is not closed")
		case marked:
			return nil, nil, errors.New("BEGIN_JSON is not followed by END_JSON")
		case fenced:
			return nil, nil, errors.New("the fence around the envelope is not closed")
		case quoted:
			f.say(fence)
		}
	}
	switch n := len(f.blocks) + f.more; {
	case f.stray:
		return nil, nil, errors.New("END_JSON without BEGIN_JSON before it")
	case n > 1:
		return nil, nil, fmt.Errorf("%d JSON envelopes, exactly one is allowed", n)
	case n == 0 && f.prose > 0:
		return nil, nil, &proseError{"no JSON envelope, only text", fmt.Sprintf(" that starts with %q", f.sample)}
	case n == 0:
		return nil, nil, errors.New("no output: an envelope is missing")
	}
	b := &f.blocks[0]
	if f.prose > 0 {
		if b.framing == bare {
			return nil, nil, &proseError{"text beside a bare envelope", fmt.Sprintf(" (%q): write the envelope alone, or put it between BEGIN_JSON and END_JSON", f.sample)}
		}
		notes = append(notes, fmt.Sprintf("%d lines of text beside the envelope were ignored", f.prose))
	}
	return f.content(b), notes, nil
}

// beside is the text beside the one envelope.
func (f *framer) beside() []byte {
	b := f.blocks[0]
	return slices.Concat(f.text.span(0, b.start), lineEnd, f.text.span(b.end, f.text.Len()))
}

// startsDocument reports whether a line begins a JSON object, or what was meant to be one: with a byte order mark, NUL or
// UTF-16 in front it is to be refused for that and not passed over as text.
func startsDocument(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	odd := line[0] == 0 || line[0] >= 0xef
	return line[0] == '{' || odd && bytes.IndexByte(line[:min(len(line), 8)], '{') >= 0
}

// isEvent reports whether a line is an event: an object whose first key is "event", or one on a line of its own that has
// that key anywhere and is no envelope.
func isEvent(line []byte) bool {
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	if eventStart.Match(line) {
		return true
	}
	if len(line) > 64<<10 || !bytes.Contains(line, []byte(`"event"`)) {
		return false
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(line, &keys) != nil {
		return false
	}
	_, event := keys["event"]
	_, agent := keys["prNumber"]
	return event && !agent
}

// depth follows the nesting of one JSON object across lines.
type depth struct {
	n              int
	quoted, escape bool
}

// add reports whether the object is closed.
func (d *depth) add(line []byte) (closed bool) {
	for _, c := range line {
		switch {
		case d.escape:
			d.escape = false
		case d.quoted && c == '\\':
			d.escape = true
		case c == '"':
			d.quoted = !d.quoted
		case d.quoted:
		case c == '{' || c == '[':
			d.n++
		case c == '}' || c == ']':
			if d.n--; d.n <= 0 {
				closed = true // what follows on this line is refused by the decoder
			}
		}
	}
	return closed
}
