package schema

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/prloop/prloop/review"
)

// shape is one published schema.
type shape struct {
	name string
	typ  reflect.Type
	// from says what the shape is.
	from string
}

var shapes = []shape{
	{"command-result", reflect.TypeFor[review.CommandResult](), "What a command of .reviewerc answers."},
	{"comments-result", reflect.TypeFor[review.CommentsResult](), "What the comments analyzer answers."},
	{"event", reflect.TypeFor[review.Event](), "One event line on an agent's standard output."},
	{"finding", reflect.TypeFor[review.Finding](), "One problem somebody sees in a pull request."},
	{"finder-result", reflect.TypeFor[review.FinderResult](), "What a finder answers."},
	{"fix-payload", reflect.TypeFor[review.FixPayload](), "What the fixer is asked to fix."},
	{"fix-result", reflect.TypeFor[review.FixResult](), "What the fixer answers."},
	{"reviewer-result", reflect.TypeFor[review.ReviewerResult](), "What a reviewer answers."},
	{"run-result", reflect.TypeFor[review.RunResult](), "What prloop run --json prints."},
	{"scout-result", reflect.TypeFor[review.ScoutResult](), "What a scout answers."},
	{"task", reflect.TypeFor[review.Task](), "The request an agent reads from its standard input."},
	{"verdict", reflect.TypeFor[review.Verdict](), "The consensus of one round."},
	{"verifier-result", reflect.TypeFor[review.VerifierResult](), "What the verifier answers."},
	{"verify-payload", reflect.TypeFor[review.VerifyPayload](), "What the verifier is asked about."},
}

// comments.json holds the doc comments of package review, so that the schemas explain themselves; a test keeps it fresh.
//
//go:generate go test . -run Golden -update
//go:embed comments.json
var commentsJSON []byte

// Names lists the shapes Schema knows, sorted.
func Names() []string {
	names := make([]string, len(shapes))
	for i, s := range shapes {
		names[i] = s.name
	}
	return names
}

// Schema returns the JSON Schema (draft 2020-12) of a shape as indented JSON ending in a newline.
// Fields it does not name are allowed: decoding drops and notes them.
func Schema(name string) ([]byte, error) {
	s, err := generate(name, comments())
	if err != nil {
		return nil, err
	}
	return indent(s)
}

func indent(s *jsonschema.Schema) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	return b.Bytes(), err
}

func find(name string) (shape, error) {
	for _, s := range shapes {
		if s.name == name {
			return s, nil
		}
	}
	return shape{}, fmt.Errorf("schema %q: there are %s", name, strings.Join(Names(), ", "))
}

var comments = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	if err := json.Unmarshal(commentsJSON, &m); err != nil {
		panic("comments.json is part of the program and must parse: " + err.Error())
	}
	return m
})

// generate makes the schema of a shape, explained by doc comments unless there are none.
func generate(name string, docs map[string]string) (*jsonschema.Schema, error) {
	sh, err := find(name)
	if err != nil {
		return nil, err
	}
	r := jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, ExpandedStruct: true, AllowAdditionalProperties: true, CommentMap: docs,
	}
	s := r.ReflectFromType(sh.typ)
	s.Title, s.Description = name, sh.from
	apply(s, sh.typ)
	return s, nil
}

// apply walks a schema beside the Go type it was made of and applies rules.
func apply(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			s = s.Items
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || s == nil || s.Properties == nil {
		return
	}
	for _, f := range fieldsOf(t) {
		p, ok := s.Properties.Get(f.name)
		if !ok {
			continue
		}
		apply(p, f.typ)
		tune(p, f.rule)
		if f.rule.optional {
			s.Required = slices.DeleteFunc(s.Required, func(n string) bool { return n == f.name })
			allowNull(p)
		}
	}
}

func tune(p *jsonschema.Schema, r rule) {
	if r.min != 0 || r.max != 0 {
		p.Minimum, p.Maximum = json.Number(strconv.Itoa(r.min)), json.Number(strconv.Itoa(r.max))
	}
	if r.notNegative {
		p.Minimum = "0"
	}
	for _, b := range []struct {
		limit uint64
		to    **uint64
	}{{r.minLength, &p.MinLength}, {r.maxLength, &p.MaxLength}, {r.maxItems, &p.MaxItems}} {
		if b.limit != 0 {
			*b.to = &b.limit
		}
	}
	for _, e := range r.enum {
		p.Enum = append(p.Enum, e)
	}
}

// allowNull turns the type into a union with null; the generator knows single types only.
func allowNull(p *jsonschema.Schema) {
	if p.Type == "" {
		return
	}
	p.Extras = map[string]any{"type": []string{p.Type, "null"}}
	p.Type = ""
	if p.Enum != nil {
		p.Enum = append(p.Enum, nil)
	}
}
