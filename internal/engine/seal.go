package engine

import "errors"

// The first byte of a sealed outcome says what the rest is.
const (
	sealedResult = '='
	sealedNil    = '0'
	sealedError  = '!'
)

// seal packs a step's outcome into bytes.
func seal(out []byte, err error) []byte {
	switch {
	case err != nil:
		return append([]byte{sealedError}, err.Error()...)
	case out == nil:
		return []byte{sealedNil}
	}
	return append([]byte{sealedResult}, out...)
}

// unseal gives a result, or the text of an error.
func unseal(b []byte) (out []byte, text *string, err error) {
	if len(b) == 0 {
		return nil, nil, errors.New("stored result is empty")
	}
	switch b[0] {
	case sealedResult:
		return b[1:], nil, nil
	case sealedNil:
		return nil, nil, nil
	case sealedError:
		t := string(b[1:])
		return nil, &t, nil
	}
	return nil, nil, errors.New("stored result is of an unknown form")
}
