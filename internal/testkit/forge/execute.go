package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// object is one thing a query can select from: its concrete type and what the forge knows of it. A value may be a
// resolver; fields the forge does not model are answered with null, an empty list or a zero of the schema's type.
type object struct {
	kind   string
	fields map[string]any
}

type args map[string]any

// resolver computes a field's value from its arguments.
type resolver func(args) (any, error)

// refusal is an error with GitHub's classification of it.
type refusal struct{ kind, message string }

func (r refusal) Error() string { return r.message }

// execution walks one operation.
type execution struct {
	*call
	vars   map[string]any
	errors []any
	set    ast.SelectionSet // what is selected of the field whose resolver runs
}

// execute runs an operation under the forge's lock and returns the answer's body.
func (f *Forge) execute(c *call, op *ast.OperationDefinition, vars map[string]any) map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := &execution{call: c, vars: vars}
	if n := countNodes(op.SelectionSet, vars); n > nodeLimit {
		return map[string]any{"errors": []any{map[string]any{"type": "MAX_NODE_LIMIT_EXCEEDED",
			"message": fmt.Sprintf("This query requests up to %d possible nodes which exceeds the maximum limit of 500,000.", n)}}}
	}
	var root object
	if op.Operation == ast.Mutation {
		root = x.mutation()
	} else {
		root = x.query()
	}
	data, _ := x.selection(root, op.SelectionSet, nil)
	answer := map[string]any{"data": data}
	if len(x.errors) > 0 {
		answer["errors"] = x.errors
	}
	return answer
}

// selection resolves a set of fields on an object. ok is false when a field that may not be null could not be had, so
// that the null moves up to the next place that may.
func (x *execution) selection(o object, set ast.SelectionSet, path []any) (result map[string]any, ok bool) {
	out := map[string]any{}
	if !x.into(out, o, set, path) {
		return nil, false
	}
	return out, true
}

func (x *execution) into(out map[string]any, o object, set ast.SelectionSet, path []any) bool {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if !x.included(s.Directives) {
				continue
			}
			v, ok := x.field(o, s, append(path[:len(path):len(path)], s.Alias))
			if !ok {
				return false
			}
			merge(out, s.Alias, v)
		case *ast.InlineFragment:
			if x.included(s.Directives) && x.applies(o, s.TypeCondition) && !x.into(out, o, s.SelectionSet, path) {
				return false
			}
		case *ast.FragmentSpread:
			if x.included(s.Directives) && x.applies(o, s.Definition.TypeCondition) && !x.into(out, o, s.Definition.SelectionSet, path) {
				return false
			}
		}
	}
	return true
}

// merge joins what two mentions of one field selected.
func merge(out map[string]any, name string, v any) {
	old, isMap := out[name].(map[string]any)
	add, addMap := v.(map[string]any)
	if !isMap || !addMap {
		out[name] = v
		return
	}
	for k, e := range add {
		merge(old, k, e)
	}
}

func (x *execution) included(ds ast.DirectiveList) bool {
	for _, d := range ds {
		on, _ := d.ArgumentMap(x.vars)["if"].(bool)
		if (d.Name == "skip" && on) || (d.Name == "include" && !on) {
			return false
		}
	}
	return true
}

// applies reports whether an object is of a type, an interface it implements or a union it belongs to.
func (x *execution) applies(o object, condition string) bool {
	if condition == "" || condition == o.kind {
		return true
	}
	for _, d := range x.f.schema.PossibleTypes[condition] {
		if d.Name == o.kind {
			return true
		}
	}
	return false
}

func (x *execution) field(o object, s *ast.Field, path []any) (any, bool) {
	if s.Name == "__typename" {
		return o.kind, true
	}
	def := s.Definition
	if d := x.f.schema.Types[o.kind].Fields.ForName(s.Name); d != nil {
		def = d
	}
	v, known := o.fields[s.Name]
	if !known && (s.Name == "__type" || s.Name == "__schema") {
		v, known = x.introspect(s)
	}
	if r, lazy := v.(resolver); lazy {
		var err error
		x.set = s.SelectionSet
		if v, err = r(args(s.ArgumentMap(x.vars))); err != nil {
			x.fail(err, path)
			return nil, !def.Type.NonNull
		}
	}
	if !known {
		v = x.zero(def.Type, 0)
	}
	return x.complete(v, def.Type, s, path)
}

// complete turns a value into JSON of the field's type.
func (x *execution) complete(v any, t *ast.Type, s *ast.Field, path []any) (any, bool) {
	switch v := v.(type) {
	case nil:
		if t.NonNull {
			x.fail(fmt.Errorf("the forge does not know %s.%s", s.ObjectDefinition.Name, s.Name), path)
		}
		return nil, !t.NonNull
	case object:
		m, ok := x.selection(v, s.SelectionSet, path)
		if !ok {
			return nil, !t.NonNull
		}
		return m, true
	case []object:
		out := make([]any, len(v))
		for i, e := range v {
			m, ok := x.selection(e, s.SelectionSet, append(path[:len(path):len(path)], i))
			if !ok && t.Elem != nil && t.Elem.NonNull {
				return nil, !t.NonNull
			}
			if ok {
				out[i] = m
			}
		}
		return out, true
	}
	return v, true
}

func (x *execution) fail(err error, path []any) {
	e := map[string]any{"message": err.Error(), "path": path}
	var r refusal
	if errors.As(err, &r) {
		e["type"] = r.kind
	}
	x.errors = append(x.errors, e)
}

// zero is the least value of a type: null where it may be, else an empty list, the zero of a scalar, the first value
// of an enumeration, or an object about which nothing is known.
func (x *execution) zero(t *ast.Type, depth int) any {
	switch {
	case !t.NonNull && t.Elem == nil, depth > 4:
		return nil
	case t.Elem != nil:
		return []any{}
	}
	d := x.f.schema.Types[t.NamedType]
	switch d.Kind {
	case ast.Enum:
		return d.EnumValues[0].Name
	case ast.Object:
		return object{kind: d.Name}
	case ast.Interface, ast.Union:
		return object{kind: x.f.schema.PossibleTypes[d.Name][0].Name}
	}
	switch t.NamedType {
	case "Int":
		return 0
	case "Float":
		return 0.0
	case "Boolean":
		return false
	case "DateTime":
		return x.f.now()
	case "URI":
		return x.web("/")
	}
	return ""
}

// text, number and flag read an argument; absent and null are the zero value.
func (a args) text(name string) string { s, _ := a[name].(string); return s }

func (a args) flag(name string) bool { b, _ := a[name].(bool); return b }

// number also reports whether the argument was given.
func (a args) number(name string) (int, bool) {
	switch n := a[name].(type) {
	case json.Number:
		i, err := strconv.Atoi(n.String())
		return i, err == nil
	case int64:
		return int(n), true
	case int:
		return n, true
	case float64:
		return int(n), true
	}
	return 0, false
}

func (a args) input() args { m, _ := a["input"].(map[string]any); return m }
