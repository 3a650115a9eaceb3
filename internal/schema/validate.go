package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

var compiled sync.Map // name -> *validator.Schema

// compile turns a generated schema into a checker, once for each shape and only when it is needed.
func compile(name string) (*validator.Schema, error) {
	if c, ok := compiled.Load(name); ok {
		return c.(*validator.Schema), nil
	}
	shape, err := generate(name, nil)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(shape)
	if err != nil {
		return nil, err
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if root, ok := doc.(map[string]any); ok {
		share(root)
	}
	// A bare name would be an address below the working directory, which is a stranger's checkout.
	address := "prloop:///" + name
	c := validator.NewCompiler()
	c.UseLoader(validator.SchemeURLLoader{}) // nothing is read from anywhere
	if err := c.AddResource(address, doc); err != nil {
		return nil, err
	}
	s, err := c.Compile(address)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	compiled.Store(name, s)
	return s, nil
}

// share puts the objects a schema describes into its definitions, each once: a task holds findings in five places, and
// every child of prloop's own compiles its schema at the start.
func share(root map[string]any) {
	s := sharing{refs: map[string]string{}, defs: map[string]any{}}
	s.fields(root)
	root["$defs"] = s.defs
}

type sharing struct {
	refs map[string]string // of what has been seen, by its text
	defs map[string]any
}

// fields puts references in the place of the objects among a node's properties.
func (s sharing) fields(node map[string]any) bool {
	fields, ok := node["properties"].(map[string]any)
	for name, field := range fields {
		fields[name] = s.node(field)
	}
	return ok
}

// node returns what is to stand in a schema's place: itself, or a reference to its definition.
func (s sharing) node(v any) any {
	node, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if items, ok := node["items"]; ok {
		node["items"] = s.node(items)
	}
	if !s.fields(node) {
		return node
	}
	text, err := json.Marshal(node) // with sorted keys
	if err != nil {
		return node
	}
	ref, ok := s.refs[string(text)]
	if !ok {
		name := strconv.Itoa(len(s.defs))
		ref = "#/$defs/" + name
		s.refs[string(text)], s.defs[name] = ref, node
	}
	return map[string]any{"$ref": ref}
}

// validate holds a pruned document against its schema.
func validate(name string, v any) ([]Fault, error) {
	s, err := compile(name)
	if err != nil {
		return nil, err
	}
	var invalid *validator.ValidationError
	switch err := s.Validate(v); {
	case err == nil:
		return nil, nil
	case errors.As(err, &invalid):
		return leaves(invalid, nil), nil
	default:
		return nil, err
	}
}

// leaves flattens the tree of causes.
func leaves(e *validator.ValidationError, faults []Fault) []Fault {
	for _, c := range e.Causes {
		faults = leaves(c, faults)
	}
	if len(e.Causes) > 0 {
		return faults
	}
	at := ""
	for _, step := range e.InstanceLocation {
		at = At(at, step)
	}
	if r, ok := e.ErrorKind.(*kind.Required); ok {
		for _, name := range r.Missing {
			faults = append(faults, Fault{At(at, name), "required field is missing"})
		}
		return faults
	}
	return append(faults, Fault{at, why(e.ErrorKind)})
}

// why words the rules our schemas use; values an agent wrote are quoted shortened and escaped.
func why(k validator.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		want := slices.Clone(k.Want)
		slices.SortStableFunc(want, func(a, b string) int { return strings.Compare(nullLast(a), nullLast(b)) })
		return "must be " + strings.Join(want, " or ") + ", not " + k.Got
	case *kind.Enum:
		var allowed []string
		for _, w := range k.Want {
			if w != nil {
				allowed = append(allowed, fmt.Sprint(w))
			}
		}
		text := "value must be one of " + strings.Join(allowed, ", ")
		if got, ok := k.Got.(string); ok {
			text += ", not " + Quote(got)
		}
		return text
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString()
	case *kind.MinLength:
		return "must not be empty"
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters, has %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items, has %d", k.Want, k.Got)
	}
	return "breaks the rule " + strings.Join(k.KeywordPath(), "/")
}

func nullLast(typ string) string {
	if typ == "null" {
		return "~null"
	}
	return typ
}
