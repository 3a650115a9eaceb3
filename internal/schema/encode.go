package schema

import (
	"encoding/json"
	"reflect"
)

// Encode writes a review shape as compact JSON in which an empty list is [] and never null, as the schemas demand. The
// value itself is not changed.
func Encode(v any) ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	return json.Marshal(filled(reflect.ValueOf(v)).Interface())
}

// filled copies v with every nil slice that is always written replaced by an empty one.
func filled(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(filled(v.Elem()))
		return p
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		i := reflect.New(v.Type()).Elem()
		i.Set(filled(v.Elem()))
		return i
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v // bytes and raw JSON are values, not lists
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			s.Index(i).Set(filled(v.Index(i)))
		}
		return s
	case reflect.Struct:
		if v.Type() == timeType {
			return v
		}
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(filled(v.Field(i)))
			}
		}
		return c
	}
	return v
}
