package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// maxOpen is how deep objects may be nested to be read loosely, maxMinor how many places may hold those that are minor, and maxObject how
// long one is, in bytes.
const (
	maxOpen   = 1000
	maxMinor  = 100_000
	maxObject = 1 << 20
)

// span is a part of a text: where it begins, and where what follows it does.
type span struct{ start, end int }

// minors finds the objects that plainly are P2 or P3, or empty, in text of any shape, outside the spans that were kept, which are in order;
// the last one may be cut off. n is how many were none of the empty ones. An object around what was kept is none of them.
func minors(text []byte, list listing, kept []span) (spans []span, n int) {
	type open struct{ start, height int }
	var stack []open
	quoted := false
	for i := 0; i < len(text); i++ {
		if len(kept) > 0 && i >= kept[0].start {
			for k := range stack {
				stack[k].height = maxOpen
			}
			i, kept = kept[0].end-1, kept[1:]
			continue
		}
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			if len(stack) == maxOpen {
				return spans, n // what is nested so deep is not plainly anything
			}
			stack = append(stack, open{i, 0})
		case c == '}' && len(stack) > 0:
			o := stack[len(stack)-1]
			if stack = stack[:len(stack)-1]; len(stack) > 0 {
				up := &stack[len(stack)-1]
				up.height = max(up.height, o.height+1)
			}
			if o.height <= 1 && minor(text[o.start:i+1], list, &n) { // a finding holds its source and no more
				start := o.start
				for len(spans) > 0 && (spans[len(spans)-1].start >= o.start || len(bytes.Trim(text[spans[len(spans)-1].end:o.start], ", \t\r\n")) == 0) {
					start = min(start, spans[len(spans)-1].start) // within this one, or beside it
					spans = spans[:len(spans)-1]
				}
				if len(spans) == maxMinor {
					return spans, n // nor is what has so many of them
				}
				spans = append(spans, span{start, i + 1})
			}
		}
	}
	for _, o := range stack[max(0, len(stack)-2):] {
		if o.height <= 1 && minor(bytes.TrimRight(text[o.start:], " \t\r\n"), list, &n) {
			spans = slices.DeleteFunc(spans, func(s span) bool { return s.start >= o.start })
			return append(spans, span{o.start, len(text)}), n
		}
	}
	return spans, n
}

// minor reports whether an object, which may be cut off, plainly says that it is P2 or P3, or says nothing. It counts in n those that say so.
func minor(object []byte, list listing, n *int) bool {
	if len(object) > maxObject {
		return false
	}
	if len(bytes.Trim(object, "{} \t\r\n")) == 0 {
		return bytes.HasSuffix(object, []byte("}")) && bytes.Count(object, []byte("{")) == 1
	}
	if bytes.Count(bytes.ToLower(object), []byte(`"priority"`)) != 1 {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return false
	}
	said, fields := review.Priority(""), map[string]json.RawMessage{}
	for {
		key, err := dec.Token()
		if err != nil || key == json.Delim('}') {
			if err != nil && !ended(err) {
				return false
			}
			break
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			if !ended(err) {
				return false
			}
			value, _ = json.Marshal(strings.Trim(string(object[dec.InputOffset():]), ": \t\r\n\"")) // what is there of it
		}
		word := strings.ToUpper(strings.Trim(string(value), `"`))
		switch name, _ := key.(string); {
		case fields[name] != nil || strings.EqualFold(name, "score") && graveScore.MatchString(`"score":`+string(value)):
			return false
		case strings.EqualFold(name, "priority") && said == "":
			said = review.Priority(word)
		case strings.EqualFold(name, "priority"):
			return false // said twice, it says nothing plainly
		case strings.EqualFold(name, "severity") && word != "MEDIUM" && word != "LOW":
			return false
		case (value[0] == '{' || value[0] == '[') && name != "source" && name != "cause":
			return false
		default:
			fields[name] = value
		}
	}
	if said != review.P2 && said != review.P3 || named(legible(object)) || list.graver(fields) != "" {
		return false
	}
	*n++
	return true
}

// ended reports whether a decoder came to the end of its text, and found no fault before.
func ended(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }
