package forge

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/testkit/forge/schema"
)

// openAPI is the published description as plain JSON; answers are filled from it.
var openAPI = sync.OnceValue(func() map[string]any {
	var doc map[string]any
	if err := json.Unmarshal(schema.OpenAPI(), &doc); err != nil {
		panic("read the embedded OpenAPI description: " + err.Error())
	}
	return doc
})

// fill completes what the forge knows of a thing with the least value of every field that the published description
// requires, so that clients that rely on any required field find it.
func (c *call) fill(schemaName string, known map[string]any) map[string]any {
	s := component("#/components/schemas/" + schemaName)
	if s == nil {
		panic("the published description has no schema " + schemaName)
	}
	out := map[string]any{}
	c.fillObject(s, out, 0)
	for k, v := range known {
		out[k] = v
	}
	return out
}

func component(ref string) map[string]any {
	var at any = openAPI()
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, _ := at.(map[string]any)
		at = m[part]
	}
	m, _ := at.(map[string]any)
	return m
}

func (c *call) fillObject(s map[string]any, out map[string]any, depth int) {
	if ref, ok := s["$ref"].(string); ok {
		s = component(ref)
	}
	if all, ok := s["allOf"].([]any); ok {
		for _, part := range all {
			c.fillObject(part.(map[string]any), out, depth)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		if p, ok := properties[name.(string)].(map[string]any); ok {
			out[name.(string)] = c.least(p, depth+1)
		}
	}
}

// least is the least value a schema allows.
func (c *call) least(s map[string]any, depth int) any {
	if ref, ok := s["$ref"].(string); ok {
		s = component(ref)
	}
	if s["nullable"] == true || depth > 6 {
		return nil
	}
	for _, choice := range []string{"oneOf", "anyOf"} {
		if list, ok := s[choice].([]any); ok && len(list) > 0 {
			return c.least(list[0].(map[string]any), depth+1)
		}
	}
	if values, ok := s["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	switch s["type"] {
	case "string":
		return c.leastText(s["format"])
	case "integer", "number":
		return 0
	case "boolean":
		return false
	case "array":
		return []any{}
	}
	out := map[string]any{}
	c.fillObject(s, out, depth)
	return out
}

func (c *call) leastText(format any) string {
	switch format {
	case "uri":
		return c.api("/")
	case "date-time":
		return stamp(c.f.now())
	case "email":
		return "nobody@example.com"
	}
	return ""
}
