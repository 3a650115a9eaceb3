package acp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/values"
)

// maxTries bounds the places of a text where a JSON object may begin and does not end.
const maxTries = 64

// lastObject finds the answer in the text of a turn that submitted nothing: the last balanced JSON object that has the
// keys of an answer. When an earlier one is a valid answer too, neither is taken: which of the two was meant cannot be
// known, and one may be a quotation from the pull request (threats.md T85).
func lastObject(text []byte, key string, check func([]byte) error) ([]byte, error) {
	var found [][]byte
	tries := 0
	for i := 0; i < len(text) && tries < maxTries; {
		k := bytes.IndexByte(text[i:], '{')
		if k < 0 {
			break
		}
		i += k
		if !opens(text[i+1:]) {
			i++
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(text[i:]))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			tries++
			i++
			continue
		}
		var keys map[string]json.RawMessage
		if !values.MoreThan(schema.MaxValues, raw) && json.Unmarshal(raw, &keys) == nil && keys[key] != nil {
			found = append(found, raw)
		}
		i += int(dec.InputOffset())
	}
	if len(found) == 0 {
		return nil, errors.New("no result was submitted, and the text holds no JSON object with " + key)
	}
	last := found[len(found)-1]
	for _, earlier := range found[:len(found)-1] {
		claim := (*answer.ClaimError)(nil)
		if err := check(earlier); !bytes.Equal(earlier, last) && (err == nil || errors.As(err, &claim)) {
			return nil, errors.New("the text holds more than one result")
		}
	}
	return last, check(last)
}

// opens reports whether what follows a brace can be the inside of a JSON object; code in a text mostly cannot.
func opens(rest []byte) bool {
	rest = bytes.TrimLeft(rest[:min(len(rest), 256)], " \t\r\n")
	return len(rest) > 0 && rest[0] == '"'
}
