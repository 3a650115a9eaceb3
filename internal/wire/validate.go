package wire

import (
	"errors"
	"fmt"
	"slices"
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
	text, err := Schema(name)
	if err != nil {
		return nil, err
	}
	doc, err := validator.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	c := validator.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	compiled.Store(name, s)
	return s, nil
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
		at = join(at, step)
	}
	if r, ok := e.ErrorKind.(*kind.Required); ok {
		for _, name := range r.Missing {
			faults = append(faults, Fault{join(at, name), "required field is missing"})
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
			text += ", not " + short(got)
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
