// Package schema carries GitHub's published contracts: the GraphQL schema and the part of the OpenAPI description that
// the forge serves. README.md beside it says where they come from and under which licence.
package schema

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sync"
)

//go:embed schema.graphql.gz
var sdlPacked []byte

//go:embed api.github.com.json.gz
var openAPIPacked []byte

// SDL returns the GraphQL schema in its definition language.
var SDL = sync.OnceValue(func() []byte { return unpack("schema.graphql", sdlPacked) })

// OpenAPI returns the trimmed OpenAPI description as JSON.
var OpenAPI = sync.OnceValue(func() []byte { return unpack("api.github.com.json", openAPIPacked) })

// unpack panics on a damaged file: it is part of the binary, so nobody could do anything else about it.
func unpack(name string, packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		var b []byte
		if b, err = io.ReadAll(r); err == nil {
			return b
		}
	}
	panic(fmt.Sprintf("unpack %s: %v", name, err))
}
