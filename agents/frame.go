package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// framer finds the one envelope in a child's standard output, line by line (package comment, "What an agent writes").
type framer struct {
	// event is given every event line.
	event func(line []byte)

	text   bytes.Buffer // everything but events, for salvage and for the record
	open   *block
	blocks []block // the first two are kept, of the others only the number counts
	more   int
	prose  int
	sample string // the first line of prose
	stray  bool   // END_JSON without BEGIN_JSON
}

// block is one candidate for the envelope.
type block struct {
	dress dress
	text  bytes.Buffer
	depth depth
}

type dress string

const (
	bare   dress = "bare"
	fenced dress = "fenced"
	marked dress = "marked"
	quoted dress = "quoted" // a fence of another language: text
)

var (
	beginJSON  = []byte("BEGIN_JSON")
	endJSON    = []byte("END_JSON")
	fence      = []byte("```")
	eventStart = regexp.MustCompile(`^\{\s*"event"\s*:`)
)

// line takes one line of output.
func (f *framer) line(line []byte) {
	trimmed := bytes.TrimSpace(line)
	if f.open == nil && isEvent(trimmed) {
		f.event(trimmed)
		return
	}
	f.text.Write(line)
	f.text.WriteByte('\n')
	if f.open != nil {
		f.within(line, trimmed)
		return
	}
	switch {
	case len(trimmed) == 0:
	case bytes.HasPrefix(trimmed, beginJSON):
		f.open = &block{dress: marked}
		if rest := trimmed[len(beginJSON):]; len(rest) > 0 {
			f.within(rest, rest)
		}
	case bytes.Equal(trimmed, endJSON):
		f.stray = true
	case bytes.HasPrefix(trimmed, fence):
		f.open = &block{dress: quoted}
		if tag := bytes.ToLower(trimmed[len(fence):]); len(tag) == 0 || string(tag) == "json" {
			f.open.dress = fenced
		}
	case startsDocument(trimmed):
		f.open = &block{dress: bare}
		f.within(line, trimmed)
	default:
		f.say(trimmed)
	}
}

// within takes one line inside an open block.
func (f *framer) within(line, trimmed []byte) {
	b := f.open
	switch b.dress {
	case fenced, quoted:
		if bytes.Equal(trimmed, fence) {
			f.close()
			return
		}
	case marked:
		if rest, ok := bytes.CutSuffix(trimmed, endJSON); ok {
			b.text.Write(rest)
			f.close()
			return
		}
	}
	b.text.Write(line)
	b.text.WriteByte('\n')
	if b.dress == bare && b.depth.add(line) {
		f.close()
	}
}

func (f *framer) close() {
	b := f.open
	f.open = nil
	switch {
	case b.dress == quoted, b.dress == fenced && !startsDocument(bytes.TrimSpace(b.text.Bytes())):
		f.say(fence)
	case len(f.blocks) < 2:
		f.blocks = append(f.blocks, *b)
	default:
		f.more++
	}
}

func (f *framer) say(line []byte) {
	if f.prose++; f.prose == 1 {
		f.sample = visible(string(line), 80)
	}
}

// envelope returns the one candidate once the output is complete. An error is fit to be quoted to the agent.
func (f *framer) envelope() (doc []byte, notes []string, err error) {
	if text := f.text.Bytes(); bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, nil, errors.New("the output is UTF-16, plain UTF-8 is wanted")
	}
	if b := f.open; b != nil {
		switch b.dress {
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
		return nil, nil, fmt.Errorf("no JSON envelope, only text that starts with %q", f.sample)
	case n == 0:
		return nil, nil, errors.New("no output: an envelope is missing")
	}
	b := &f.blocks[0]
	if f.prose > 0 {
		if b.dress == bare {
			return nil, nil, fmt.Errorf("text beside a bare envelope (%q): write the envelope alone, or put it between BEGIN_JSON and END_JSON", f.sample)
		}
		notes = append(notes, fmt.Sprintf("%d lines of text beside the envelope were ignored", f.prose))
	}
	return b.text.Bytes(), notes, nil
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
