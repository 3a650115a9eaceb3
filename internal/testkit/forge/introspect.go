package forge

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// introspect answers __type and __schema from the published schema; gh asks which fields a server has.
func (x *execution) introspect(s *ast.Field) (any, bool) {
	if s.Name == "__type" {
		d := x.f.schema.Types[args(s.ArgumentMap(x.vars)).text("name")]
		if d == nil {
			return nil, true
		}
		return x.typeObject(d), true
	}
	var all []object
	for _, d := range x.f.schema.Types {
		all = append(all, x.typeObject(d))
	}
	slices.SortFunc(all, func(a, b object) int {
		if a.fields["name"].(string) < b.fields["name"].(string) {
			return -1
		}
		return 1
	})
	return object{kind: "__Schema", fields: map[string]any{"types": all,
		"queryType": x.typeObject(x.f.schema.Query), "mutationType": x.typeObject(x.f.schema.Mutation)}}, true
}

func (x *execution) typeObject(d *ast.Definition) object {
	o := object{kind: "__Type", fields: map[string]any{"kind": string(d.Kind), "name": d.Name, "description": d.Description}}
	o.fields["fields"] = resolver(func(a args) (any, error) {
		fields := []object{}
		for _, f := range d.Fields {
			old := f.Directives.ForName("deprecated") != nil
			if old && !a.flag("includeDeprecated") {
				continue
			}
			fields = append(fields, object{kind: "__Field", fields: map[string]any{"name": f.Name, "description": f.Description, "isDeprecated": old}})
		}
		return fields, nil
	})
	o.fields["enumValues"] = resolver(func(args) (any, error) {
		values := []object{}
		for _, v := range d.EnumValues {
			values = append(values, object{kind: "__EnumValue", fields: map[string]any{"name": v.Name, "description": v.Description, "isDeprecated": false}})
		}
		return values, nil
	})
	return o
}
