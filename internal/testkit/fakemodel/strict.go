package fakemodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Limits the real API puts on strict schemas.
const (
	strictDepth      = 10
	strictProperties = 5000
)

// unsupported are keywords strict mode refuses.
var unsupported = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties",
	"unevaluatedProperties", "propertyNames", "minProperties", "maxProperties", "contains", "uniqueItems",
}

// strictSchema reports the first thing the API refuses in a schema with strict: true: every object closed, every
// property required, no unsupported keyword, an object at the root.
func strictSchema(raw json.RawMessage) error {
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		return errors.New("schema must be a JSON object")
	}
	if root["type"] != "object" {
		return fmt.Errorf("schema must have type 'object', got %v", root["type"])
	}
	count := 0
	return strictNode(root, "()", 1, &count)
}

func strictNode(n map[string]any, at string, depth int, count *int) error {
	if depth > strictDepth {
		return fmt.Errorf("in context=%s, schema is nested more than %d deep", at, strictDepth)
	}
	for _, k := range unsupported {
		if _, ok := n[k]; ok {
			return fmt.Errorf("in context=%s, %q is not permitted", at, k)
		}
	}
	if props, ok := n["properties"].(map[string]any); ok || isType(n, "object") {
		if err := strictObject(n, props, at, depth, count); err != nil {
			return err
		}
	}
	if items, ok := n["items"].(map[string]any); ok {
		if err := strictNode(items, at+"items", depth+1, count); err != nil {
			return err
		}
	} else if isType(n, "array") {
		return fmt.Errorf("in context=%s, array schema missing items", at)
	}
	for _, branch := range []string{"anyOf", "$defs", "definitions"} {
		for i, sub := range children(n[branch]) {
			if err := strictNode(sub, fmt.Sprintf("%s%s%d", at, branch, i), depth+1, count); err != nil {
				return err
			}
		}
	}
	return nil
}

func strictObject(n, props map[string]any, at string, depth int, count *int) error {
	if n["additionalProperties"] != false {
		return fmt.Errorf("in context=%s, 'additionalProperties' is required to be supplied and to be false", at)
	}
	required, _ := n["required"].([]any)
	for _, key := range slices.Sorted(maps.Keys(props)) {
		if *count++; *count > strictProperties {
			return fmt.Errorf("schema has more than %d properties", strictProperties)
		}
		if !slices.Contains(required, any(key)) {
			return fmt.Errorf("in context=%s, 'required' is required to be supplied and to be an array including every key in properties. Missing '%s'", at, key)
		}
		sub, ok := props[key].(map[string]any)
		if !ok {
			return fmt.Errorf("in context=%s, property %s is no schema", at, key)
		}
		if err := strictNode(sub, at+"properties/"+key, depth+1, count); err != nil {
			return err
		}
	}
	for _, r := range required {
		if _, ok := props[fmt.Sprint(r)]; !ok {
			return fmt.Errorf("in context=%s, required names unknown property '%v'", at, r)
		}
	}
	return nil
}

func isType(n map[string]any, want string) bool {
	switch t := n["type"].(type) {
	case string:
		return t == want
	case []any:
		return slices.Contains(t, any(want))
	}
	return false
}

// children lists the schemas in a list or in a map of them, in a fixed order.
func children(v any) []map[string]any {
	var out []map[string]any
	switch v := v.(type) {
	case []any:
		for _, s := range v {
			if m, ok := s.(map[string]any); ok {
				out = append(out, m)
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if m, ok := v[k].(map[string]any); ok {
				out = append(out, m)
			}
		}
	}
	return out
}
