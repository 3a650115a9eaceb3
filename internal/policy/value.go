package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/nearest"
)

// Values are what the columns of a row say. A column that is not there says nothing.
type Values map[string]any

// Check holds a value to its column. It gives the value as Values have it, and one fault, or none.
func (c Column) Check(v any) (any, *Fault) {
	wrong := func(format string, args ...any) (any, *Fault) {
		return nil, &Fault{Field: c.Name, Message: fmt.Sprintf(format, args...)}
	}
	switch c.Kind {
	case Bool:
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return wrong("must be true or false")
	case Int:
		n, ok := number(v)
		switch {
		case !ok || n != math.Trunc(n):
			return wrong("must be a whole number")
		case n < c.Low || n > c.High:
			return wrong("must be from %s to %s", decimal(c.Low), decimal(c.High))
		}
		return int64(n), nil
	case Number:
		n, ok := number(v)
		switch {
		case !ok:
			return wrong("must be a number")
		case n < c.Low || n > c.High:
			return wrong("must be from %s to %s", decimal(c.Low), decimal(c.High))
		}
		return n, nil
	case Text:
		s, ok := v.(string)
		if !ok {
			return wrong("must be text")
		}
		if f := c.checkText(c.Name, s); f != nil {
			return nil, f
		}
		return s, nil
	}
	return c.checkList(v)
}

func (c Column) checkList(v any) (any, *Fault) {
	var items []string
	switch l := v.(type) {
	case []string:
		items = l
	case []any:
		for _, item := range l {
			s, ok := item.(string)
			if !ok {
				return nil, &Fault{Field: c.Name, Message: "must be a list of texts"}
			}
			items = append(items, s)
		}
	default:
		return nil, &Fault{Field: c.Name, Message: "must be a list of texts"}
	}
	if len(items) > c.Items {
		return nil, &Fault{Field: c.Name, Message: fmt.Sprintf("has %d, but at most %d are accepted", len(items), c.Items)}
	}
	out := []string{}
	for i, s := range items {
		if f := c.checkText(fmt.Sprintf("%s[%d]", c.Name, i), s); f != nil {
			return nil, f
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out, nil
}

func (c Column) checkText(field, s string) *Fault {
	wrong := func(format string, args ...any) *Fault {
		return &Fault{Field: field, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(c.Words) > 0 && !slices.Contains(c.Words, s):
		f := wrong("%s is not one of %s", quote(s), strings.Join(c.Words, ", "))
		f.Suggestion = nearest.Name(s, c.Words)
		return f
	case len(c.Words) > 0:
		return nil
	case strings.TrimSpace(s) == "":
		return wrong("is empty")
	case len(s) > c.Most:
		return wrong("has %d bytes, but at most %d are accepted", len(s), c.Most)
	case !utf8.ValidString(s):
		return wrong("is not valid UTF-8")
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return wrong("holds a control character")
	case c.Globs && globs.Check(s) != nil:
		return wrong("%s %v", quote(s), globs.Check(s))
	case c.Globs && strings.HasPrefix(s, "!"):
		return wrong("%s would match nothing: a glob takes nothing out of another one", quote(s))
	case c.Globs && (path.IsAbs(s) || strings.HasPrefix(s, "./") || s == ".." || strings.HasPrefix(s, "../")):
		return wrong("%s would match nothing: paths begin at the root of the repository, without a slash", quote(s))
	case c.Names && strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}):
		return wrong("%s is not a name of lower-case letters, digits, dots, underscores and dashes", quote(s))
	}
	return nil
}

// quote shows a text of somebody's in one short line.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.QuoteToASCII(s)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Parse reads a value as people type it: lists by commas outside of braces, or by lines.
func (c Column) Parse(text string) (any, *Fault) {
	switch c.Kind {
	case Bool:
		if b, err := strconv.ParseBool(strings.TrimSpace(text)); err == nil {
			return b, nil
		}
		return c.Check(text)
	case Int, Number:
		if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
			return c.Check(f)
		}
		return c.Check(text)
	case List:
		return c.Check(split(text))
	}
	return c.Check(text)
}

func split(text string) (items []string) {
	depth, from := 0, 0
	add := func(to int) {
		if s := strings.TrimSpace(text[from:to]); s != "" {
			items = append(items, s)
		}
		from = to + 1
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '}':
			depth = max(0, depth-1)
		case c == '\n' || c == ',' && depth == 0:
			add(i)
		}
	}
	if from <= len(text) {
		add(len(text))
	}
	return items
}

// Encode writes a value as JSON; "" is a column that is not set.
func Encode(v any) string {
	if v == nil {
		return ""
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return strconv.Quote(err.Error()) // values are texts, numbers and lists: they have JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Read checks the columns of a JSON object, decoded with numbers kept as they are. All faults are found.
func Read(object map[string]any) (Values, error) {
	out, wrong := Values{}, []Fault(nil)
	for _, name := range sorted(object) {
		v := object[name]
		c, near, ok := Find(name)
		if !ok {
			wrong = append(wrong, Fault{Field: clean(name), Message: "unknown column", Suggestion: near})
			continue
		}
		if v == nil { // as a column that is not set is written
			continue
		}
		checked, fault := c.Check(v)
		if fault != nil {
			wrong = append(wrong, *fault)
			continue
		}
		out[name] = checked
	}
	return out, faults(wrong)
}

// Assign reads COLUMN=VALUE words; an empty value unsets a column. The values of from are kept where no word names them.
func Assign(from Values, words []string) (Values, error) {
	out, wrong := from.Clone(), []Fault(nil)
	for _, w := range words {
		name, text, ok := strings.Cut(w, "=")
		c, near, known := Find(name)
		switch {
		case !known:
			wrong = append(wrong, Fault{Field: clean(name), Message: "unknown column", Suggestion: near})
		case !ok:
			wrong = append(wrong, Fault{Field: name, Message: "has no value: write " + name + "=VALUE, or " + name + "= to unset it"})
		case text == "":
			delete(out, name)
		default:
			v, fault := c.Parse(text)
			if fault != nil {
				wrong = append(wrong, *fault)
				continue
			}
			out[name] = v
		}
	}
	return out, faults(wrong)
}

// clean keeps a name of somebody's to one short line.
func clean(name string) string {
	q := quote(name)
	return q[1 : len(q)-1]
}
