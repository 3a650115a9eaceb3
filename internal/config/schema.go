package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	pathglobs "github.com/prloop/prloop/internal/globs"
)

// Kind is which file a schema is about.
type Kind int

// The two kinds of files.
const (
	Repository Kind = iota // .reviewerc
	Operator               // the operator's own file
)

// RepositorySchema is where editors find the schema of a repository's file.
const RepositorySchema = "https://raw.githubusercontent.com/prloop/prloop/main/schemas/reviewerc.schema.json"

const (
	operatorSchema = "https://github.com/prloop/prloop/docs/schema/config.schema.json"
)

func (k Kind) schemaURL() string {
	if k == Repository {
		return RepositorySchema
	}
	return operatorSchema
}

// allows reports whether a key may stand in a file of this kind.
func (k Kind) allows(s key) bool {
	if k == Repository {
		return s.operator == ""
	}
	return !s.repositoryOnly
}

// schemaOf builds the schema of a kind of file: draft 2020-12, unknown keys refused at every level.
func schemaOf(k Kind) shape {
	top := object(nil, "version", described(shape{"type": "integer", "enum": []any{1}}, "The version of the file's format."))
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["$id"] = k.schemaURL()
	top["title"] = map[Kind]string{Repository: ".reviewerc", Operator: "prloop's config.yml"}[k]
	for _, s := range keys() {
		if !k.allows(s) {
			continue
		}
		properties := enter(top, s.path, described(s.shape, s.doc))
		if s.was != "" {
			old := maps.Clone(s.shape)
			old["deprecated"] = true
			properties[s.was[strings.LastIndexByte(s.was, '.')+1:]] = described(old, "The old spelling of `"+s.path+"`.")
		}
		if s.examples != nil {
			s.shape["examples"] = s.examples
		}
	}
	return top
}

// enter puts the shape of a dotted path into a group, and gives the keys that stand beside it.
func enter(top shape, dotted string, what shape) (properties shape) {
	path := strings.Split(dotted, ".")
	properties = top["properties"].(shape)
	for _, group := range path[:len(path)-1] {
		if properties[group] == nil {
			properties[group] = object(nil)
		}
		properties = properties[group].(shape)["properties"].(shape)
	}
	properties[path[len(path)-1]] = what
	return properties
}

// Schema returns the JSON Schema of a kind of file, indented, as kept in schemas and docs/schema.
func Schema(k Kind) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schemaOf(k)); err != nil {
		panic(err) // the shapes are ours and hold nothing but texts, numbers and lists
	}
	return b.Bytes()
}

// schemas are compiled at their first use: start-up counts, and most runs read one kind of file only.
var schemas = map[Kind]func() *jsonschema.Schema{
	Repository: sync.OnceValue(func() *jsonschema.Schema { return compile(Repository) }),
	Operator:   sync.OnceValue(func() *jsonschema.Schema { return compile(Operator) }),
}

func compile(k Kind) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: glob, Validate: checkGlob})
	c.RegisterFormat(&jsonschema.Format{Name: pathGlob, Validate: checkPathGlob})
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema(k)))
	if err == nil {
		err = c.AddResource(k.schemaURL(), doc)
	}
	if err != nil {
		panic(err) // the shapes are ours
	}
	return c.MustCompile(k.schemaURL())
}

// Warm compiles the schema of a kind of file, so that nobody waits for it later.
func Warm(k Kind) { schemas[k]() }

// Formats of patterns.
const (
	glob     = "glob"
	pathGlob = "path-glob"
)

// checkGlob refuses what is no pattern, and what takes something out of others in .gitignore: here it would do nothing.
func checkGlob(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	if strings.HasPrefix(s, "!") {
		return errors.New(`begins with "!", which takes nothing out of other globs here; write \! for names that begin so`)
	}
	return pathglobs.Check(s)
}

// checkPathGlob refuses what matches no path: a setting that says nothing would do nothing, and nobody would be told.
func checkPathGlob(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	if plain := strings.TrimPrefix(path.Clean("/"+s), "/"); plain != s {
		if strings.HasSuffix(s, "/") {
			plain = path.Join(plain, "**")
		}
		return fmt.Errorf("matches no path: paths are written from the root of the repository, such as %q", cmp.Or(plain, "**"))
	}
	return checkGlob(s)
}

// fits checks one value against one setting's shape and says what is wrong with it; empty when nothing is.
func (s *source) fits(k key, v any) string {
	at := map[string]any{}
	top := at
	steps := strings.Split(k.path, ".")
	for _, group := range steps[:len(steps)-1] {
		next := map[string]any{}
		at[group] = next
		at = next
	}
	at[steps[len(steps)-1]] = v
	kind := Operator
	if k.repositoryOnly {
		kind = Repository
	}
	var invalid *jsonschema.ValidationError
	if err := schemas[kind]().Validate(top); errors.As(err, &invalid) {
		s.collect(kind, invalid)
		return s.faults[0].Message
	}
	return ""
}
