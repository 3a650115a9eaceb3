package gateway

import (
	"encoding/json"
	"slices"
)

// masked are the fields of a request that hold what a model reads.
var masked = []string{"messages", "input", "instructions", "system", "tools", "response_format", "text"}

// untouched are names of fields whose texts are ids, data or sealed by the provider.
var untouched = []string{
	"role", "type", "id", "name", "model", "status", "tool_call_id", "tool_use_id", "call_id", "media_type", "format",
	"data", "url", "image_url", "file_data", "signature", "thinking", "encrypted_content", "cache_control",
}

// maskFields masks every text a model reads.
func maskFields(fields map[string]json.RawMessage, mask func(string) string) {
	for _, name := range masked {
		v, ok := decode(fields[name])
		if !ok {
			continue
		}
		changed := false
		v = maskTexts(v, func(s string) string {
			t := mask(s)
			changed = changed || t != s
			return t
		})
		if changed {
			fields[name] = json.RawMessage(encode(v))
		}
	}
}

func maskTexts(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return mask(v)
	case []any:
		for i, sub := range v {
			v[i] = maskTexts(sub, mask)
		}
	case map[string]any:
		for name, sub := range v {
			switch text, isText := sub.(string); {
			case isText && slices.Contains(untouched, name):
			case isText && name == "arguments":
				v[name] = maskArguments(text, mask)
			default:
				v[name] = maskTexts(sub, mask)
			}
		}
	}
	return v
}

// maskArguments masks the texts inside the arguments of a call, which are JSON in a text and have to stay JSON.
func maskArguments(s string, mask func(string) string) string {
	v, ok := decode([]byte(s))
	if !ok {
		return mask(s)
	}
	changed := false
	v = maskTexts(v, func(s string) string {
		t := mask(s)
		changed = changed || t != s
		return t
	})
	if !changed {
		return s
	}
	return encode(v)
}
