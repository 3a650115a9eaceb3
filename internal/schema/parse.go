package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/values"
)

// Bounds of any document; MaxBytes and MaxValues are those of an answer. A task carries a whole brief and is the largest.
const (
	MaxBytes      = 8 << 20
	MaxValues     = 1 << 16
	maxEvent      = 1 << 20
	maxEventValue = 1 << 10
	maxTask       = 64 << 20
	maxTaskValues = 1 << 20
	maxDepth      = 32
	maxNumber     = 1 << 53 // beyond it a float64 no longer tells neighbours apart
)

// parse reads exactly one JSON document into maps, slices, strings, json.Numbers, bools and nil. encoding/json alone
// would accept keys that occur twice or differ in case, replace broken UTF-8 and half surrogates, and ignore depth up
// to ten thousand (threats.md T85, T86).
func parse(data []byte, o options) (any, []Fault) {
	if f := checkBytes(data, o.limit); f != nil {
		return nil, []Fault{*f}
	}
	if !json.Valid(data) {
		return nil, []Fault{syntaxFault(data, json.Unmarshal(data, new(json.RawMessage)))}
	}
	if values.MoreThan(o.values, data) {
		return nil, []Fault{{"", fmt.Sprintf("document has more than %d values", o.values)}}
	}
	p := parser{dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	v := p.value("", 0)
	return v, p.faults
}

func checkBytes(data []byte, limit int) *Fault {
	switch {
	case len(data) > limit:
		return &Fault{"", fmt.Sprintf("document has %d bytes, at most %d are read", len(data), limit)}
	case len(bytes.TrimSpace(data)) == 0:
		return &Fault{"", "document is empty"}
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")), bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return &Fault{"", "document starts with a byte order mark; write plain UTF-8"}
	case !utf8.Valid(data):
		return &Fault{position(data, invalidAt(data)), "bytes are not valid UTF-8"}
	}
	return checkEscapes(data)
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// checkEscapes refuses \u0000 and half surrogate pairs, which the decoder would let through or replace.
func checkEscapes(data []byte) *Fault {
	unit := func(i int) int {
		if i+6 > len(data) || data[i] != '\\' || data[i+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(data[i+2:i+6]), 16, 16)
		if err != nil {
			return -1
		}
		return int(n)
	}
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		u := unit(i)
		switch {
		case u == 0:
			return &Fault{position(data, i), `\u0000 is not allowed`}
		case u >= 0xdc00 && u <= 0xdfff:
			return &Fault{position(data, i), "second half of a surrogate pair without the first"}
		case u >= 0xd800 && u <= 0xdbff:
			if low := unit(i + 6); low < 0xdc00 || low > 0xdfff {
				return &Fault{position(data, i), "first half of a surrogate pair without the second"}
			}
			i += 6
		}
		i++ // the escaped character, so that \\u is not taken for an escape
	}
	return nil
}

func syntaxFault(data []byte, err error) Fault {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return Fault{"", "document is not JSON: " + err.Error()}
	}
	at := int(syntax.Offset)
	if at > 0 {
		at--
	}
	return Fault{position(data, at), "document is not one JSON value: " + syntax.Error()}
}

// position names a byte offset for people: 1-based line and column, columns in characters.
func position(data []byte, at int) string {
	at = min(at, len(data))
	before := data[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return fmt.Sprintf("line %d, column %d", bytes.Count(before, []byte("\n"))+1, utf8.RuneCount(before[start:])+1)
}

type parser struct {
	dec    *json.Decoder
	faults []Fault
	// halted is set by faults after which reading on is pointless or dangerous.
	halted bool
}

// value reads the next value; once the parser has halted it returns nil.
func (p *parser) value(at string, depth int) any {
	tok, err := p.dec.Token()
	if err != nil {
		return p.halt(at, "document cannot be read: "+err.Error())
	}
	switch tok := tok.(type) {
	case json.Delim:
		if depth++; depth > maxDepth {
			return p.halt("", fmt.Sprintf("document is nested more than %d deep", maxDepth))
		}
		if tok == '{' {
			return p.object(at, depth)
		}
		return p.array(at, depth)
	case json.Number:
		if why := numberFault(tok.String()); why != "" {
			p.fault(at, why)
		}
		return tok
	}
	return tok
}

func (p *parser) object(at string, depth int) any {
	m := map[string]any{}
	folded := map[string]string{}
	for !p.stop() && p.dec.More() {
		tok, err := p.dec.Token()
		key, ok := tok.(string)
		if err != nil || !ok {
			return p.halt(at, "document cannot be read")
		}
		f := fold(key)
		if other, dup := folded[f]; dup && other == key {
			p.fault(At(at, key), "field occurs twice")
		} else if dup {
			p.fault(At(at, key), "field differs from "+Quote(other)+" only in case")
		}
		folded[f] = key
		m[key] = p.value(At(at, key), depth)
	}
	p.end()
	return m
}

func (p *parser) array(at string, depth int) any {
	a := []any{}
	for !p.stop() && p.dec.More() {
		a = append(a, p.value(At(at, strconv.Itoa(len(a))), depth))
	}
	p.end()
	return a
}

func (p *parser) end() {
	if !p.stop() {
		_, _ = p.dec.Token() // the closing bracket: syntax was checked before
	}
}

func (p *parser) stop() bool { return p.halted || len(p.faults) > maxFaults }

func (p *parser) fault(at, why string) { p.faults = append(p.faults, Fault{at, why}) }

func (p *parser) halt(at, why string) any {
	p.fault(at, why)
	p.halted = true
	return nil
}

// fold maps keys that differ only in case to one, by the same rule encoding/json matches field names with.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, key)
}

// numberFault refuses numbers that could not be compared exactly or would make exact arithmetic explode.
func numberFault(n string) string {
	f, err := strconv.ParseFloat(n, 64)
	_, exponent, _ := strings.Cut(strings.ToLower(n), "e")
	if e, eerr := strconv.Atoi(exponent); exponent != "" && (eerr != nil || e > 300 || e < -300) {
		err = strconv.ErrRange
	}
	if err != nil || len(n) > 64 || f >= maxNumber || f <= -maxNumber {
		return "number " + Quote(n) + " is out of range"
	}
	return ""
}
