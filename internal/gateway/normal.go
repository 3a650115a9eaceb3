package gateway

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// aside are fields that do not change what is asked: limits, which depend on the budget left, and labels.
var aside = append(slices.Clone(outputFields), "stream_options", "user", "metadata", "safety_identifier", "prompt_cache_key")

// normal writes a request so that two that ask the same are the same bytes: keys sorted, space folded, labels left out.
func normal(path string, fields map[string]json.RawMessage) ([]byte, error) {
	fields = maps.Clone(fields)
	for _, name := range aside {
		delete(fields, name)
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	out, err := json.Marshal(v)
	return append([]byte(path+"\n"), out...), err
}
