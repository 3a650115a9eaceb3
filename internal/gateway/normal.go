package gateway

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// aside are fields that do not change what is asked: limits, which depend on the budget left, labels, and what is kept.
var aside = append(slices.Collect(maps.Keys(callerLabels)), append(slices.Clone(outputFields), "stream_options", "store")...)

// question names what a call asks so that two that ask the same are the same bytes: keys sorted, labels left out.
func (c *call) question() ([]byte, error) {
	if c.key != nil {
		return c.key, nil
	}
	fields := maps.Clone(c.fields)
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
	raw, err = json.Marshal(v)
	c.key = append([]byte(c.path+"\n"), raw...)
	return c.key, err
}

// unstreamed is a question without the wish that its answer be streamed; nil for one that has none.
func unstreamed(question []byte) []byte {
	path, raw, _ := bytes.Cut(question, []byte("\n"))
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || string(fields["stream"]) != "true" {
		return nil
	}
	delete(fields, "stream")
	plain, err := json.Marshal(fields)
	if err != nil {
		return nil // not reached: it was JSON
	}
	return append(append(bytes.Clone(path), '\n'), plain...)
}
