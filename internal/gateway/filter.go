package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// filter writes a document again, value by value, by the rules of its protocol: what no rule names is not written. So what
// was looked at is what is sent, whatever another reader would make of the original.
type filter struct {
	*document
	// mask is applied to every text a model reads; nil masks nothing.
	mask func(string) string
	out  []byte
	// masked counts the texts that the mask changed; left names the fields that were left out, for the log.
	masked int
	left   []string
	// media is what the parts that are no text may count for, in tokens.
	media int
	// asking is set while the texts are read that the model is asked; words adds up how many words they have (unread.go).
	asking bool
	words  int
	// reader and written are for documents inside texts, one after the other.
	reader  parser
	written []byte
}

// rule writes one value, or says why a request with it is refused. null stands for a field that is not there: every rule
// writes it. A rule that writes nothing leaves the field out.
type rule func(f *filter, n int) *fault

// shape is what an object may hold. A field that is not in it is left out: clients send labels and parameters of one
// endpoint to all.
type shape map[string]rule

// fault is why a request is refused.
type fault struct {
	// path leads to the value, the outermost name last.
	path []string
	why  string
}

func refused(format string, args ...any) *fault { return &fault{why: fmt.Sprintf(format, args...)} }

// in adds a step to the path of a fault.
func (e *fault) in(step string) *fault {
	if e != nil {
		e.path = append(e.path, fmt.Sprintf("%.40s", step))
	}
	return e
}

// String names the value, then what is wrong.
func (e *fault) String() string {
	if len(e.path) == 0 {
		return e.why
	}
	path := slices.Clone(e.path)
	slices.Reverse(path)
	return "field " + strings.Join(path, "/") + ": " + e.why
}

// isText reports whether a value is a text.
func (f *filter) isText(n int) bool { return f.kind(n) == '"' }

// wrongType is the fault of a value that is another kind of JSON value than its rule takes.
func wrongType(want string) *fault { return refused("has the wrong type, want %s", want) }

// The rules of values that are written as they are.
var (
	// verbatim is a text that is no prose: a name, an id, data, a signature, or something a provider encrypted.
	verbatim = scalar("a string", `"`)
	// number keeps its digits.
	number  = scalar("a number", "-0123456789")
	boolean = scalar("true or false", "tf")
)

// typed takes null, which it writes, and values that begin with one of some bytes, by a rule for them.
func typed(want, first string, r rule) rule {
	return func(f *filter, n int) *fault {
		switch kind := f.kind(n); {
		case kind == 'n':
			f.out = append(f.out, "null"...)
			return nil
		case strings.IndexByte(first, kind) < 0:
			return wrongType(want)
		}
		return r(f, n)
	}
}

// scalar takes values that begin with one of some bytes, and writes them as they are.
func scalar(want, first string) rule {
	return typed(want, first, func(f *filter, n int) *fault {
		f.copy(n)
		return nil
	})
}

// copy writes a scalar or name; a text with escapes in one way of several.
func (f *filter) copy(n int) {
	raw := f.raw(n)
	if raw[0] == '"' && bytes.IndexByte(raw, '\\') >= 0 {
		f.out = appendQuoted(f.out, f.name(n))
		return
	}
	f.out = append(f.out, raw...)
}

// text is prose that a model reads.
var text = typed("a string", `"`, func(f *filter, n int) *fault {
	if f.mask == nil {
		f.ask(f.text(n))
		f.copy(n)
		return nil
	}
	plain := f.text(n)
	masked := strings.ToValidUTF8(f.mask(plain), "\uFFFD")
	if masked != plain {
		f.masked++
	}
	f.ask(masked)
	f.out = appendQuoted(f.out, masked)
	return nil
})

// arguments are JSON in a text, as a model wrote them: the texts inside are masked, so that they stay JSON.
func arguments(f *filter, n int) *fault {
	if f.mask == nil || !f.isText(n) {
		return text(f, n)
	}
	plain := f.name(n)
	d, err := f.reader.parse(plain)
	if err != nil {
		return text(f, n)
	}
	inner := filter{document: d, mask: f.mask, out: f.written[:0]}
	_ = data(&inner, 0) // takes anything
	f.written = inner.out
	if inner.masked > 0 {
		f.masked++
		plain = inner.out
	}
	f.out = appendQuoted(f.out, plain)
	return nil
}

// data is any value; its texts are read by a model.
func data(f *filter, n int) *fault { return f.any(n, func(*filter, int) *fault { return nil }) }

// schema is a JSON schema. One that refers to another document would be fetched by an endpoint that follows it.
func schema(f *filter, n int) *fault {
	return f.any(n, func(f *filter, name int) *fault {
		if !f.isText(name + 1) {
			return nil
		}
		key, v := string(f.name(name)), f.name(name+1)
		switch {
		case (strings.EqualFold(key, "$ref") || strings.EqualFold(key, "$dynamicRef") || strings.EqualFold(key, "$recursiveRef")) && !bytes.HasPrefix(v, []byte("#")),
			(strings.EqualFold(key, "$id") || strings.EqualFold(key, "id")) && elsewhere.Match(bytes.Map(shown, v)), // what "#" in references is relative to
			strings.EqualFold(key, "$schema") && !metaSchema.Match(v):
			return refused("an address of a schema: agents have no network").in(key)
		}
		return nil
	})
}

// metaSchema matches the addresses that name a version of JSON Schema.
var metaSchema = lazyregexp.New(`^https?://json-schema\.org/[\w./-]*#?$`)

// elsewhere matches what names another host: with a scheme, also behind another one, or with that of the document around it. Behind some schemes no slashes are
// needed where addresses are read as browsers read them.
var elsewhere = lazyregexp.New(`(?i)(?:^|:)(?:(?:https?|wss?|ftp|file):|[/\\]{2})`)

// shown drops white space and control characters, which stand nowhere in an address, and which many readers pass over.
func shown(r rune) rune {
	if r <= ' ' {
		return -1
	}
	return r
}

// any writes any value, and asks about each name in it.
func (f *filter) any(n int, allow func(f *filter, name int) *fault) *fault {
	switch f.kind(n) {
	case '"':
		return text(f, n)
	case '[':
		return f.array(n, func(f *filter, n int) *fault { return f.any(n, allow) })
	case '{':
		f.out = append(f.out, '{')
		first := true
		for name := range f.items(n) {
			if why := allow(f, name); why != nil {
				return why
			}
			f.separate(&first)
			f.copy(name)
			f.out = append(f.out, ':')
			if why := f.any(name+1, allow); why != nil {
				return why
			}
		}
		f.out = append(f.out, '}')
	default:
		f.copy(n)
	}
	return nil
}

func (f *filter) separate(first *bool) {
	if !*first {
		f.out = append(f.out, ',')
	}
	*first = false
}

func (f *filter) array(n int, each rule) *fault {
	f.out = append(f.out, '[')
	first, at := true, 0
	for item := range f.items(n) {
		f.separate(&first)
		if why := each(f, item); why != nil {
			return why.in(fmt.Sprint(at))
		}
		at++
	}
	f.out = append(f.out, ']')
	return nil
}

// list takes arrays.
func list(each rule) rule {
	return typed("a list", "[", func(f *filter, n int) *fault { return f.array(n, each) })
}

// object takes objects of a shape.
func object(s shape) rule {
	return typed("an object", "{", func(f *filter, n int) *fault {
		f.out = append(f.out, '{')
		begin := len(f.out)
		why := f.members(n, s, func(name int, r rule) *fault {
			before := len(f.out)
			if before > begin {
				f.out = append(f.out, ',')
			}
			f.copy(name)
			f.out = append(f.out, ':')
			empty := len(f.out)
			why := r(f, name+1)
			if len(f.out) == empty {
				f.leave(string(f.name(name)))
				f.out = f.out[:before]
			}
			return why
		})
		f.out = append(f.out, '}')
		return why
	})
}

// members hands over the names of an object that its shape has, with their rules.
func (f *filter) members(n int, s shape, write func(name int, r rule) *fault) *fault {
	for i := range f.items(n) {
		name := string(f.name(i))
		r, known := s[name]
		if !known {
			for other := range s {
				if strings.EqualFold(name, other) {
					return refused("names of fields are case-sensitive, write %s", other).in(name)
				}
			}
			f.leave(name)
			continue
		}
		if why := write(i, r); why != nil {
			return why.in(name)
		}
	}
	return nil
}

// leftNames is how many of the fields that were left out are named.
const leftNames = 16

func (f *filter) leave(name string) {
	if len(f.left) == leftNames {
		return
	}
	if name = fmt.Sprintf("%.40s", name); !slices.Contains(f.left, name) {
		f.left = append(f.left, name)
	}
}

// dropped is the rule of a known field that is left out: it labels the caller, or changes price or privacy behind the
// operator's back. Endpoints have defaults for it.
func dropped(*filter, int) *fault { return nil }

// notStored writes false, whatever an agent asks for: no endpoint is to keep what it is told.
func notStored(f *filter, n int) *fault {
	if strings.IndexByte("tfn", f.kind(n)) < 0 {
		return wrongType("true or false")
	}
	f.out = append(f.out, "false"...)
	return nil
}

// never is the rule of a field that is refused by name, unless it says nothing.
func never(why string) rule {
	return func(f *filter, n int) *fault {
		if slices.Contains([]string{"null", "[]", "false", `""`}, string(f.raw(n))) {
			return nil
		}
		return refused("%s", why)
	}
}

// oneOf takes some words.
func oneOf(words ...string) rule {
	return typed("a string", `"`, func(f *filter, n int) *fault {
		if !slices.Contains(words, string(f.name(n))) {
			return refused("%.40q is not one of %s", f.name(n), strings.Join(words, ", "))
		}
		f.copy(n)
		return nil
	})
}

// either takes a text by one rule, and anything else by another.
func either(asText, other rule) rule {
	return func(f *filter, n int) *fault {
		if f.isText(n) {
			return asText(f, n)
		}
		return other(f, n)
	}
}

// kinds takes objects whose shape depends on their field type; "" is that of objects without one. unknown is the reason to
// refuse others, with a place for their type.
func kinds(unknown string, of map[string]shape) rule {
	rules := map[string]rule{}
	for kind, s := range of {
		s["type"] = verbatim
		rules[kind] = object(s)
	}
	return typed("an object", "{", func(f *filter, n int) *fault {
		kind := ""
		if !f.absent(n, "type") {
			at := f.member(n, "type")
			if !f.isText(at) {
				return wrongType("a string").in("type")
			}
			kind = string(f.name(at))
		}
		r, known := rules[kind]
		if !known {
			return refused(unknown, fmt.Sprintf("%.40q", kind))
		}
		f.media += mediaTokens[kind]
		return r(f, n)
	})
}

// mediaTokens are what a part of a kind may count for, whatever its length: the most that endpoints are known to count for an image, and a document of
// a hundred pages. An hour of sound is less.
var mediaTokens = map[string]int{
	"image_url": 40_000, "input_image": 40_000, "image": 40_000, "input_audio": 200_000, "file": 200_000, "input_file": 200_000, "document": 200_000,
}

// wholeData is how data addresses begin of what holds no addresses that somebody would follow, wholeSound those of sound, whose kind some endpoints leave out.
var (
	wholeData  = lazyregexp.New(`(?i)^data:(image/(png|jpe?g|gif|webp)|application/pdf);base64,`)
	wholeSound = lazyregexp.New(`(?i)^data:(audio/[a-z0-9.+-]+)?;base64,`)
)

// inline takes content that is given whole, as a data address.
func inline(f *filter, n int) *fault {
	if !f.isText(n) || wholeData.Match(f.name(n)) {
		return content(f, n)
	}
	if bytes.HasPrefix(f.name(n), []byte("data:")) {
		return refused("a data address of another kind than an image or a PDF document in base64")
	}
	return refused("a message part with an address: %s", noNetwork)
}

// content takes content that is given whole, in base64. No address with a scheme, a dot or a port has that form: some endpoints take one in its place.
func content(f *filter, n int) *fault {
	if f.isText(n) {
		whole := f.name(n)
		if wholeData.Match(whole) || wholeSound.Match(whole) {
			whole = whole[bytes.IndexByte(whole, ',')+1:]
		}
		if bytes.ContainsFunc(whole, notBase64) {
			return refused("content that is not base64, which may be an address: %s", noNetwork)
		}
	}
	return verbatim(f, n)
}

// notBase64 reports whether a rune stands in no base64 of either alphabet, and is no white space between its lines.
func notBase64(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+/-_= \t\r\n", r)
}

// numbers takes objects of numbers.
var numbers = typed("an object", "{", func(f *filter, n int) *fault {
	for name := range f.items(n) {
		if strings.IndexByte("-0123456789", f.kind(name+1)) < 0 {
			return wrongType("a number").in(string(f.name(name)))
		}
	}
	return data(f, n)
})

// appendQuoted appends a text as JSON, with no escape it does not need.
func appendQuoted[T string | []byte](out []byte, s T) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	plain := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(out, s[plain:i]...)
		plain = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, `\n`...)
		case '\t':
			out = append(out, `\t`...)
		case '\r':
			out = append(out, `\r`...)
		default:
			out = append(out, `\u00`...)
			out = append(out, hex[c>>4], hex[c&15])
		}
	}
	return append(append(out, s[plain:]...), '"')
}

// fields writes the members of the whole document, each on its own.
func (f *filter) fields(s shape) (map[string]json.RawMessage, *fault) {
	f.out = make([]byte, 0, len(f.data)) // what is written is no longer, unless masks are
	ends := map[string][2]int{}
	why := f.members(0, s, func(name int, r rule) *fault {
		start := len(f.out)
		why := r(f, name+1)
		if len(f.out) > start {
			ends[string(f.name(name))] = [2]int{start, len(f.out)}
		} else {
			f.leave(string(f.name(name)))
		}
		return why
	})
	if why != nil {
		return nil, why
	}
	out := make(map[string]json.RawMessage, len(ends))
	for name, at := range ends {
		out[name] = f.out[at[0]:at[1]:at[1]]
	}
	return out, nil
}
