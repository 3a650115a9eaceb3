package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/review"
)

// Validate checks one file by itself. The error is an *Error that holds every fault with its line.
func Validate(k Kind, name string, data []byte) error {
	s, err := load(k, name, data)
	if err != nil {
		return err
	}
	return s.checkNeeded()
}

// load parses and validates a file.
func load(k Kind, name string, data []byte) (*source, error) {
	s, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	s.respell()
	var invalid *jsonschema.ValidationError
	if err := schemas[k]().Validate(s.value); errors.As(err, &invalid) {
		s.collect(k, invalid)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.crossCheck()
	if len(s.faults) > 0 {
		return nil, &Error{sortFaults(s.faults)}
	}
	return s, nil
}

// respell gives values under an old spelling of their key the new one.
func (s *source) respell() {
	for _, k := range keys() {
		v, was, old := s.lookup(k.was)
		if k.was == "" || !old {
			continue
		}
		if _, _, both := s.lookup(k.path); both {
			s.faultAt(was, "is the old spelling of "+k.path+", and both are set", "")
			continue
		}
		parent, name := path.Split(was)
		group, next := s.group(strings.TrimSuffix(parent, "/")), k.path[strings.LastIndexByte(k.path, '.')+1:]
		now := parent + next
		for _, places := range []map[string]place{s.places, s.scalars} {
			for pointer, at := range places {
				if below, ok := strings.CutPrefix(pointer, was); ok && (below == "" || below[0] == '/') {
					places[now+below] = at
				}
			}
		}
		group[next] = v
		delete(group, name)
	}
}

// collect turns the validator's tree of errors into faults at their lines.
func (s *source) collect(k Kind, e *jsonschema.ValidationError) {
	if _, names := e.ErrorKind.(*kind.PropertyNames); names {
		return // the validator does not say where the name stands: checkCommands does
	}
	for _, cause := range e.Causes {
		s.collect(k, cause)
	}
	if len(e.Causes) > 0 {
		return
	}
	pointer := ""
	for _, part := range e.InstanceLocation {
		pointer += "/" + escape(part)
	}
	if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		for _, name := range extra.Properties {
			s.unknownKey(k, pointer, name)
		}
		return
	}
	message := s.message(e.ErrorKind)
	if n, ok := s.valueAt(e.InstanceLocation).(json.Number); ok && schemaAt(schemaOf(k), pointer)["pattern"] == timeSpan {
		message = noSpan(n.String())
	}
	s.faultIn(pointer, message, s.meant(e.ErrorKind))
}

// valueAt is the value at a path; nil when there is none.
func (s *source) valueAt(path []string) (at any) {
	at = s.value
	for _, part := range path {
		switch group := at.(type) {
		case map[string]any:
			at = group[part]
		case []any:
			at = nil
			if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(group) {
				at = group[i]
			}
		default:
			return nil
		}
	}
	return at
}

// noSpan says what is wrong with a time span.
func noSpan(got string) string {
	if _, err := strconv.ParseFloat(got, 64); err == nil {
		return clip(got) + " has no unit; a time span is such as 90s or 10m"
	}
	return "is not " + forms[timeSpan]
}

// faultIn adds a fault about a value: at the value itself, or at the key of a list or group.
func (s *source) faultIn(pointer, message, suggestion string) {
	s.faultAt(pointer, message, suggestion)
	if p, ok := s.scalars[pointer]; ok {
		f := &s.faults[len(s.faults)-1]
		at := s.at(p.line, p.column, f.Key, message)
		at.Suggestion = suggestion
		*f = *at
	}
}

// faultAt adds a fault at a pointer, or at the nearest place above it that is known.
func (s *source) faultAt(pointer, message, suggestion string) {
	at := pointer
	p, ok := s.places[at]
	for !ok && at != "" {
		at = at[:strings.LastIndexByte(at, '/')]
		p, ok = s.places[at]
	}
	f := s.at(p.line, p.column, keyOf(pointer), message)
	f.Suggestion = suggestion
	s.faults = append(s.faults, *f)
}

// unknownKey says why a key is not accepted: it belongs to the other file, or it is misspelt.
func (s *source) unknownKey(k Kind, parent, name string) {
	pointer := parent + "/" + escape(name)
	path := strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
	for _, known := range keys() {
		switch {
		case strings.HasPrefix(known.path, path+".") && !k.allows(known) && s.inside(pointer):
			// A whole group that this file may not have: each of its keys is refused by its own name.
			for _, child := range slices.Sorted(maps.Keys(s.group(pointer))) {
				s.unknownKey(k, pointer, child)
			}
			return
		case known.path != path:
		case known.operator != "":
			s.faultAt(pointer, "may be set only by the operator (command line, environment or config.yml): "+known.operator, "")
			return
		default:
			s.faultAt(pointer, "belongs in the repository's .reviewerc", "")
			return
		}
	}
	properties, _ := schemaAt(schemaOf(k), parent)["properties"].(shape)
	if parent == "/schedule" && (name == "cron" || name == "timezone") {
		s.faultAt(pointer, "unknown key; when a job runs is said in its workflow (on.schedule)", "")
		return
	}
	s.faultAt(pointer, "unknown key", nearest.Name(name, slices.Collect(maps.Keys(properties))))
}

// group is the group of keys at a pointer of names; nil when there is none.
func (s *source) group(pointer string) map[string]any {
	at := s.value
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		at, _ = at[part].(map[string]any)
	}
	return at
}

func (s *source) inside(pointer string) bool { return len(s.group(pointer)) > 0 }

// schemaAt follows a pointer of the instance through a schema.
func schemaAt(at shape, pointer string) shape {
	for _, part := range strings.Split(pointer, "/")[1:] {
		if items, ok := at["items"].(shape); ok {
			at = items
			continue
		}
		properties, _ := at["properties"].(shape)
		next, _ := properties[part].(shape)
		if next == nil { // a map from names that people choose
			next, _ = at["additionalProperties"].(shape)
		}
		if group, ok := next["then"].(shape); ok {
			next = group
		}
		at = next
	}
	return at
}

// message says in one line what the schema found.
func (s *source) message(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("is %s, but must be %s", article(k.Got), article(k.Want...))
	case *kind.Enum:
		if slices.Contains(k.Want, any(UseNone)) && slices.Contains(k.Want, any(false)) { // orWord
			return fmt.Sprintf("is %s, but must be a group such as {use: acp, preset: opencode}, or one of %s", quoted(k.Got), words(k.Want))
		}
		if len(k.Want) == 1 {
			return fmt.Sprintf("is %s, but must be %s", quoted(k.Got), words(k.Want))
		}
		return quoted(k.Got) + " is not one of " + words(k.Want)
	case *kind.Required:
		return "lacks " + strings.Join(k.Missing, ", ")
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want)
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("needs at least %d", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %d, but at most %d are accepted", k.Got, k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("has %d, but at most %d are accepted", k.Got, k.Want)
	case *kind.MinLength:
		return "is empty"
	case *kind.MaxLength:
		return fmt.Sprintf("is longer than %d characters", k.Want)
	case *kind.UniqueItems:
		return "names the same thing twice"
	case *kind.Format:
		return k.Err.Error()
	case *kind.Pattern:
		switch k.Want {
		case notBlank:
			return "is empty"
		case timeSpan:
			return noSpan(k.Got)
		}
		return "is not " + forms[k.Want]
	}
	return "is not accepted"
}

// decimal writes a bound as people write it: 0.01, not 1/100.
func decimal(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// otherWords are what people call a way to be an agent that has another name here, --reviewers' exec: above all.
var otherWords = map[string]string{
	"exec": review.KindCommand, "program": review.KindCommand, "script": review.KindCommand, "shell": review.KindCommand, "llm": review.KindBuiltin, "model": review.KindBuiltin, "openai": review.KindBuiltin,
}

func (s *source) meant(k jsonschema.ErrorKind) string {
	e, ok := k.(*kind.Enum)
	if !ok {
		return ""
	}
	got, _ := e.Got.(string)
	var candidates []string
	for _, w := range e.Want {
		if text, ok := w.(string); ok {
			candidates = append(candidates, text)
		}
	}
	if word := otherWords[got]; slices.Contains(candidates, word) {
		return word
	}
	return nearest.Name(got, candidates)
}

// quoted shows a value that is not accepted: a text in quotes, anything else as it is written.
func quoted(v any) string {
	if text, ok := v.(string); ok {
		return strconv.Quote(clip(text))
	}
	return clip(fmt.Sprint(v))
}

func article(kinds ...string) string {
	names := map[string]string{
		"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
		"array": "a list", "object": "a group of keys", "null": "empty",
	}
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = names[k]
	}
	return strings.Join(out, " or ")
}

func words(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return strings.Join(out, ", ")
}

// item gives the text at keys below a list item; empty when it is missing or no text.
func item(v any, name string) string {
	m, _ := v.(map[string]any)
	text, _ := m[name].(string)
	return text
}

func index(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }
