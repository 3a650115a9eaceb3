package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"testing"
	"unicode/utf8"
)

// FuzzParse: what is taken is what encoding/json takes whose objects have each name once, and every value is in its place.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.50e3,true,false,null,"x"],"b":{"c":{}},"d":[[],[{}]]}`, ` [ 1 , 2 ] `, `"\u0041\"\\"`, `7`, `{"a":1,"\u0061":2}`,
		`{"a":{"a":{"a":1}}}`, `[{"a":1},{"a":1}]`, `{"":0}`, `{"a":"}","b":"]"}`, "{\"\xff\":1}", `[1,]`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parse(data)
		want, good := oracle(data)
		switch {
		case (err == nil) != good:
			t.Fatalf("%q: %v, want it taken: %v", data, err, good)
		case err != nil:
			return
		}
		w := filter{document: d}
		if why := w.any(0, func(*filter, int) *fault { return nil }); why != nil {
			t.Fatalf("%q: %s", data, why)
		}
		if got, _ := oracle(w.out); !reflect.DeepEqual(want, got) {
			t.Fatalf("%q became %q", data, w.out)
		}
	})
}

// FuzzInspect: what is sent is one document, which is taken again and stays as it is.
func FuzzInspect(f *testing.F) {
	for path, plain := range plainQuestion {
		f.Add(path, []byte("{"+plain+`,"tools":[],"x":1}`))
	}
	f.Fuzz(func(t *testing.T, path string, data []byte) {
		if shapes[path] == nil {
			return
		}
		c, no := inspect(path, data, nil)
		if no != nil {
			return
		}
		body, err := json.Marshal(c.fields)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		again, no := inspect(path, body, nil)
		if no != nil || !maps.EqualFunc(c.fields, again.fields, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Fatalf("%q became %s, then %+v", data, body, no)
		}
	})
}

// oracle reads a document token by token.
func oracle(data []byte) (any, bool) {
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	values := 0
	v, err := token(dec, 0, &values)
	return v, err == nil && values <= maxValues
}

func token(dec *json.Decoder, depth int, values *int) (any, error) {
	*values++
	tok, err := dec.Token()
	if d, ok := tok.(json.Delim); !ok || err != nil || d == ']' || d == '}' {
		return tok, err
	}
	if depth == maxDepth {
		return nil, errors.New("deep")
	}
	list, object := []any{}, map[string]any{}
	for dec.More() {
		if tok == json.Delim('[') {
			v, err := token(dec, depth+1, values)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			continue
		}
		*values++
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		if _, twice := object[name.(string)]; twice {
			return nil, errors.New("twice")
		}
		if object[name.(string)], err = token(dec, depth+1, values); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if tok == json.Delim('[') {
		return list, nil
	}
	return object, nil
}
