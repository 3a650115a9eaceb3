package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
)

var update = flag.Bool("update", false, "rewrite comments.json and docs/schema")

const schemaDir = "../../docs/schema"

// TestGoldenSchemas guards the published schemas: a change of a review type or of its doc comments must be seen in review.
func TestGoldenSchemas(t *testing.T) {
	fresh := docComments(t)
	if *update {
		if err := os.WriteFile("comments.json", fresh, 0o644); err != nil {
			t.Fatal(err)
		}
		commentsJSON = fresh
	}
	if !bytes.Equal(fresh, commentsJSON) {
		t.Error("comments.json is behind the doc comments of package review: go generate ./internal/schema")
	}
	for _, name := range Names() {
		got, err := Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join(schemaDir, name+".schema.json"), got)
	}
	for _, name := range []string{"comments-result", "finder-result", "reviewer-result", "scout-result", "verifier-result"} {
		got, err := ForModel(name)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", name+".model.json"), got)
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is generated: go generate ./internal/schema", file)
	}
}

// docComments collects the field comments of package review in the form the generator looks them up.
func docComments(t *testing.T) []byte {
	t.Helper()
	var r jsonschema.Reflector
	if err := r.AddGoComments("github.com/prloop/prloop/internal/schema", "../../review"); err != nil {
		t.Fatal(err)
	}
	for key, text := range r.CommentMap {
		// Keys of fields have one more dot than keys of types and constants, which the schemas do not show.
		if strings.Count(strings.TrimPrefix(key, "github.com/"), ".") < 2 {
			delete(r.CommentMap, key)
			continue
		}
		r.CommentMap[key] = strings.Join(strings.Fields(text), " ")
	}
	if len(r.CommentMap) < 20 {
		t.Fatalf("found %d field comments: the walk starts in the wrong folder", len(r.CommentMap))
	}
	b, err := json.MarshalIndent(r.CommentMap, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// Strict structured output wants every object closed and every field required; endpoints refuse the schema otherwise.
func TestModelSchemasAreStrict(t *testing.T) {
	for name := range modelShapes {
		text, err := ForModel(name)
		if err != nil {
			t.Fatal(err)
		}
		var s map[string]any
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		objects := 0
		walk(s, name, func(at string, node map[string]any) {
			for _, banned := range []string{"minLength", "maxLength", "format", "$schema", "oneOf", "allOf"} {
				if _, ok := node[banned]; ok {
					t.Errorf("%s: %s is not allowed in strict mode", at, banned)
				}
			}
			props, ok := node["properties"].(map[string]any)
			if !ok {
				return
			}
			objects++
			if node["additionalProperties"] != false {
				t.Errorf("%s: object is open", at)
			}
			required, _ := node["required"].([]any)
			for p := range props {
				if !slices.Contains(required, any(p)) {
					t.Errorf("%s: %s is not required", at, p)
				}
			}
		})
		if objects < 2 {
			t.Errorf("%s: only %d objects were looked at", name, objects)
		}
	}
}

func walk(node map[string]any, at string, visit func(string, map[string]any)) {
	visit(at, node)
	if items, ok := node["items"].(map[string]any); ok {
		walk(items, at+"/items", visit)
	}
	if props, ok := node["properties"].(map[string]any); ok {
		for name, p := range props {
			if p, ok := p.(map[string]any); ok {
				walk(p, at+"/"+name, visit)
			}
		}
	}
}
