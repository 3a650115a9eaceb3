package schema

import (
	"reflect"
	"strings"
	"sync"
	"time"
)

// field is one JSON field of a struct, as encoding/json and rules see it.
type field struct {
	name string
	typ  reflect.Type
	rule rule
}

var timeType = reflect.TypeFor[time.Time]()

var fieldCache sync.Map // reflect.Type -> []field

// fieldsOf lists the JSON fields of a struct in declaration order. The review shapes embed nothing.
func fieldsOf(t reflect.Type) []field {
	if t == timeType {
		return nil
	}
	if c, ok := fieldCache.Load(t); ok {
		return c.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" || !f.IsExported() {
			continue
		}
		r := rules[t.Name()+"."+name]
		if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") || f.Type.Kind() == reflect.Pointer {
			r.optional = true
		}
		fields = append(fields, field{name, f.Type, r})
	}
	fieldCache.Store(t, fields)
	return fields
}

// FieldNames lists the names of the JSON fields of a struct in declaration order.
func FieldNames(t reflect.Type) []string {
	var names []string
	for _, f := range fieldsOf(t) {
		names = append(names, f.name)
	}
	return names
}
