package schema

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A pruner fits a parsed document to a Go type before the schema judges it: unknown fields go, null where a field may be
// left out goes, whole numbers get their plain spelling.
type pruner struct {
	notes  Notes
	faults []Fault
	// nullArrays reads null as an empty array: our own Go writers produce it, agents have no reason to.
	nullArrays bool
}

func (p *pruner) value(v any, t reflect.Type, at string) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		if t.Kind() == reflect.Struct && t != timeType {
			p.object(v, t, at)
		}
	case []any:
		if t.Kind() == reflect.Slice {
			for i := range v {
				v[i] = p.value(v[i], t.Elem(), At(at, strconv.Itoa(i)))
			}
		}
	case json.Number:
		if isInt(t.Kind()) {
			return plain(v)
		}
	case nil:
		if t.Kind() == reflect.Slice && p.nullArrays {
			return []any{}
		}
	}
	return v
}

func (p *pruner) object(m map[string]any, t reflect.Type, at string) {
	fields := fieldsOf(t)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if i < 0 {
			p.unknown(m, key, fields, at)
			continue
		}
		f := fields[i]
		v := p.value(m[key], f.typ, At(at, key))
		m[key] = v
		switch {
		case v == nil && f.rule.optional:
			delete(m, key)
		case f.rule.unknownAtZero && v == json.Number("0"):
			delete(m, key)
			p.notes.Add("%s: 0 was read as unknown", At(at, key))
		case f.typ == timeType:
			p.time(m, key, f.rule, at)
		}
	}
}

func (p *pruner) unknown(m map[string]any, key string, fields []field, at string) {
	for _, f := range fields {
		if strings.EqualFold(f.name, key) {
			p.faults = append(p.faults, Fault{At(at, key), "field names are case-sensitive, write " + f.name})
			return
		}
	}
	delete(m, key)
	p.notes.Add("%s: unknown field was dropped", At(at, key))
}

// time brings a timestamp to UTC. One that is no RFC 3339 time is dropped where the field may be left out: prloop knows
// itself when an agent answered, and a whole review is worth more than its clock.
func (p *pruner) time(m map[string]any, key string, r rule, at string) {
	s, ok := m[key].(string)
	if !ok {
		return
	}
	var text []byte
	t, err := time.Parse(time.RFC3339Nano, s)
	if err == nil {
		text, err = t.UTC().MarshalText()
	}
	switch {
	case err == nil:
		m[key] = string(text)
	case r.optional:
		delete(m, key)
		p.notes.Add("%s: is no RFC 3339 time and was dropped", At(at, key))
	default:
		p.faults = append(p.faults, Fault{At(at, key), "must be an RFC 3339 time such as 2026-01-24T00:00:00Z"})
	}
}

func isInt(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Int64 }

// plain spells 42.0 and 4.2e1 as 42, which JSON Schema calls integers and encoding/json does not.
func plain(n json.Number) json.Number {
	if !strings.ContainsAny(n.String(), ".eE-") {
		return n
	}
	f, err := n.Float64()
	if i := int64(f); err == nil && float64(i) == f {
		return json.Number(strconv.FormatInt(i, 10))
	}
	return n
}
