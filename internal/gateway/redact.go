package gateway

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// redactWhole takes secrets and whole diffs out of the texts of a JSON value; what is no JSON is redacted as it stands.
func redactWhole(data []byte, redact func(string) string) string {
	v, ok := decode(data)
	if !ok {
		return redact(string(data))
	}
	changed := false
	v = each(v, "", func(_, s string) string {
		r := redact(s)
		changed = changed || r != s
		return r
	})
	if !changed {
		return string(data) // to the byte
	}
	return encode(v)
}

// redactStream does the same for a stream, where a secret may come in pieces: the texts at one place of all events are
// looked at together, and if there is something to take out, the first event carries the whole and the others nothing.
func redactStream(data []byte, redact func(string) string) string {
	lines := bytes.SplitAfter(data, []byte("\n"))
	values := make([]any, len(lines))
	joined := map[string]string{}
	for i, line := range lines {
		rest, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if values[i], ok = decode(rest); ok {
			each(values[i], "", func(at, s string) string { joined[at] += s; return s })
		}
	}
	clean := map[string]string{}
	for at, s := range joined {
		if r := redact(s); r != s {
			clean[at] = r
		}
	}
	var b strings.Builder
	for i, line := range lines {
		switch {
		case values[i] == nil:
			b.WriteString(redact(string(line)))
			continue
		case len(clean) == 0:
			b.Write(line)
			continue
		}
		v := each(values[i], "", func(at, s string) string {
			r, ok := clean[at]
			if !ok {
				return s
			}
			clean[at] = "" // the first event has it
			return r
		})
		b.WriteString("data: " + encode(v) + "\n")
	}
	return b.String()
}

func decode(data []byte) (any, bool) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err := dec.Decode(&v)
	return v, err == nil && v != nil
}

func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "null" // not reached: v was JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// each replaces every text of a value; at is its place.
func each(v any, at string, change func(at, s string) string) any {
	switch v := v.(type) {
	case string:
		return change(at, v)
	case []any:
		for i, sub := range v {
			place := strconv.Itoa(i)
			if m, ok := sub.(map[string]any); ok { // a piece of a stream says what it is a piece of
				if n, ok := m["index"].(json.Number); ok {
					place = "index " + n.String()
				}
			}
			v[i] = each(sub, at+"/"+place, change)
		}
	case map[string]any:
		for key, sub := range v {
			v[key] = each(sub, at+"/"+key, change)
		}
	}
	return v
}
