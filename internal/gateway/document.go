package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Bounds of a request beside its size. A conversation of a thousand messages with fifty tools has about 20,000 values.
const (
	maxValues = 1 << 16
	maxDepth  = 64
)

// document is one JSON document whose every object has each name once. Its values are places in data, in the order in which
// they stand there: a document of many small values costs little more than its bytes.
type document struct {
	data  []byte
	nodes []node
}

// node is a value, or the name before one.
type node struct {
	// start and end are where it stands in data; next is the first node that is no longer inside it.
	start, end, next uint32
}

// parse reads exactly one document. encoding/json checks the syntax; it would let broken UTF-8 and names that occur twice
// pass, and decode a document of zeros into fifty times its size.
func parse(data []byte) (*document, error) { return new(parser).parse(data) }

// parse reads one document after the other; the one before is gone then.
func (p *parser) parse(data []byte) (*document, error) {
	switch {
	case !utf8.Valid(data):
		return nil, fmt.Errorf("it is not valid UTF-8")
	case !json.Valid(data):
		return nil, fmt.Errorf("it is not one JSON document")
	}
	*p = parser{document: document{data, slices.Grow(p.nodes[:0], mostValues(len(data)))}, names: slices.Grow(p.names[:0], mostValues(len(data))/2)}
	if err := p.value(0); err != nil {
		return nil, err
	}
	return &p.document, nil
}

// mostValues is how many values and names a document of a length is read with.
func mostValues(length int) int { return min(maxValues, length/2+1) }

// parser splits data whose syntax is known to be right.
type parser struct {
	document
	pos int
	// names are those of the objects that are open, the innermost last.
	names [][]byte
}

func (p *parser) value(depth int) error {
	at, err := p.begin()
	if err != nil {
		return err
	}
	switch p.data[p.pos] {
	case '{':
		err = p.object(depth + 1)
	case '[':
		err = p.array(depth + 1)
	case '"':
		p.quoted()
	default:
		for p.pos < len(p.data) && bytes.IndexByte([]byte(" \t\r\n,]}"), p.data[p.pos]) < 0 {
			p.pos++
		}
	}
	p.finish(at)
	return err
}

// begin opens a node at the next thing that is no space.
func (p *parser) begin() (int, error) {
	p.space()
	if len(p.nodes) == maxValues {
		return 0, fmt.Errorf("it has more than %d values", maxValues)
	}
	p.nodes = append(p.nodes, node{start: uint32(p.pos)})
	return len(p.nodes) - 1, nil
}

func (p *parser) finish(at int) {
	p.nodes[at].end, p.nodes[at].next = uint32(p.pos), uint32(len(p.nodes))
}

func (p *parser) space() {
	for p.data[p.pos] == ' ' || p.data[p.pos] == '\t' || p.data[p.pos] == '\r' || p.data[p.pos] == '\n' {
		p.pos++
	}
}

// quoted steps over a text.
func (p *parser) quoted() {
	for p.pos++; p.data[p.pos] != '"'; p.pos++ {
		if p.data[p.pos] == '\\' {
			p.pos++
		}
	}
	p.pos++
}

// more steps over a bracket or comma, and reports whether a further member follows.
func (p *parser) more() bool {
	if c := p.data[p.pos]; c == '{' || c == '[' {
		p.pos++
		p.space()
	}
	switch p.data[p.pos] {
	case ',':
		p.pos++
	case ']', '}':
		p.pos++
		return false
	}
	return true
}

func (p *parser) array(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	for p.more() {
		if err := p.value(depth); err != nil {
			return err
		}
		p.space()
	}
	return nil
}

func (p *parser) object(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	outer := len(p.names)
	for p.more() {
		at, err := p.begin()
		if err != nil {
			return err
		}
		p.quoted()
		p.finish(at)
		p.names = append(p.names, p.name(at))
		p.space()
		p.pos++ // the colon
		if err := p.value(depth); err != nil {
			return err
		}
		p.space()
	}
	names := p.names[outer:]
	p.names = p.names[:outer]
	slices.SortFunc(names, bytes.Compare)
	for i := range names {
		if i > 0 && bytes.Equal(names[i-1], names[i]) {
			return fmt.Errorf("it has the field %.40q twice in one object", names[i])
		}
	}
	return nil
}

// raw are the bytes of a node.
func (d *document) raw(n int) []byte { return d.data[d.nodes[n].start:d.nodes[n].end] }

// kind is the first byte of a value: one of { [ " t f n, or the beginning of a number.
func (d *document) kind(n int) byte { return d.data[d.nodes[n].start] }

// name is a text without quotes and escapes. It may be a part of data.
func (d *document) name(n int) []byte {
	raw := d.raw(n)
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	return []byte(d.text(n))
}

// text is the same as a string. Half a surrogate pair, which clients that cut texts send, becomes U+FFFD.
func (d *document) text(n int) string {
	raw := d.raw(n)
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // its syntax is known to be right
	return s
}

// items are the nodes of the values of an array, or of the names of an object, each followed by its value.
func (d *document) items(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		object := d.kind(n) == '{'
		for i := n + 1; i < int(d.nodes[n].next); i = int(d.nodes[i].next) {
			if !yield(i) {
				return
			}
			if object {
				i++
			}
		}
	}
}

// member is the node of the value an object has under a name; 0 for none, as the first node is the whole document.
func (d *document) member(n int, name string) int {
	for i := range d.items(n) {
		if string(d.name(i)) == name {
			return i + 1
		}
	}
	return 0
}

// absent reports whether an object has no such member, null, or an empty text.
func (d *document) absent(n int, name string) bool {
	at := d.member(n, name)
	return at == 0 || d.kind(at) == 'n' || string(d.raw(at)) == `""`
}
