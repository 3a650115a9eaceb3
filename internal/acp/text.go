package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/values"
	"github.com/prloop/prloop/review"
)

// maxRead bounds what is read to find the objects of a text, in bytes: where one may begin that does not end, all behind it is read again.
const maxRead = 256 << 20

// lastObject finds the answer in the text of a turn that submitted nothing: the last balanced JSON object that has the
// keys of an answer. When text beside it may be another answer, neither is taken: which of the two was meant cannot be
// known, and one may be a quotation from the pull request (threats.md T85, T789).
func lastObject(text []byte, role review.Role, check func([]byte) error) ([]byte, error) {
	key := answer.Key(role)
	var last []byte
	left := &io.LimitedReader{N: maxRead}
	for i := 0; i < len(text); {
		k := bytes.IndexByte(text[i:], '{')
		if k < 0 {
			break
		}
		i += k
		if !opens(text[i+1:]) {
			i++
			continue
		}
		left.R = bytes.NewReader(text[i:])
		dec := json.NewDecoder(left)
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if left.N <= 0 {
			return nil, errors.New("the text is too long to find the result in: submit it, or write it alone")
		}
		if err != nil {
			i++
			continue
		}
		var keys map[string]json.RawMessage
		if !values.MoreThan(schema.MaxValues, raw) && json.Unmarshal(raw, &keys) == nil && keys[key] != nil {
			last = raw
		}
		i += int(dec.InputOffset())
	}
	if last == nil {
		return nil, errors.New("no result was submitted, and the text holds no JSON object with " + key)
	}
	if err := answer.Another(bytes.ReplaceAll(text, last, nil), role); err != nil {
		return nil, err
	}
	return last, check(last)
}

// opens reports whether what follows a brace can be the inside of a JSON object; code in a text mostly cannot.
func opens(rest []byte) bool {
	rest = bytes.TrimLeft(rest[:min(len(rest), 256)], " \t\r\n")
	return len(rest) > 0 && rest[0] == '"'
}
