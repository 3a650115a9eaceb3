package schema

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"
)

// A modelShape says how the strict variant differs from the published schema.
type modelShape struct {
	// without are fields a model must not fill: prloop knows them better.
	without []string
	// always are optional fields of findings that the builtin agents must give (spec.md R9).
	always []string
	// of is the published schema it is a variant of; empty for the one of its own name.
	of string
}

var modelShapes = map[string]modelShape{
	"reviewer-result": {without: []string{"issues", "conclusion", "source", "originalScore", "fingerprint", "valueHash", "assessment", "cause", "unconfirmed", "earlier"}, always: []string{"score", "confidence", "evidence", "suggestion"}},
	"later-review":    {without: []string{"issues", "conclusion", "source", "originalScore", "fingerprint", "valueHash", "assessment", "cause", "unconfirmed"}, always: []string{"score", "confidence", "evidence", "suggestion", "earlier", "why"}, of: "reviewer-result"},
	"fix-result":      {},
	"command-result":  {without: []string{"wishes", "unconfirmed"}, always: []string{"suggestion", "evidence"}},
	"verifier-result": {without: []string{"ruling", "risk"}, always: []string{"reason", "probability", "importance"}},
	"judge-result":    {without: []string{"duplicateOf", "probability", "importance"}, always: []string{"reason", "ruling"}, of: "verifier-result"},
	"scout-result":    {},
	"finder-result":   {always: []string{"reason"}},
	"comments-result": {without: []string{"fingerprint", "valueHash", "assessment", "cause", "timestamp", "score", "originalScore", "lineEnd", "unconfirmed"}, always: []string{"suggestion"}},
}

// ForModel returns the variant of reviewer-result, comments-result, fix-result, verifier-result, scout-result, finder-result or command-result, or of what a verifier answers that is a judge (judge-result) and a reviewer that is shown findings of earlier rounds (later-review), that strict structured output of OpenAI-compatible
// endpoints accepts: no unknown fields, every field required, "unknown" written as null, no length rules and no $schema.
// Whatever satisfies it is accepted by DecodeModel or DecodeComments, by DecodeCommand, by DecodeScout and DecodeFinder where files are inside the repository, and by DecodeFix or DecodeVerifier if each
// id stands in it once.
func ForModel(name string) ([]byte, error) {
	m, ok := modelShapes[name]
	if !ok {
		return nil, fmt.Errorf("model schema %q: there are reviewer-result, comments-result, fix-result, verifier-result, judge-result, later-review, scout-result, finder-result and command-result", name)
	}
	s, err := generate(cmp.Or(m.of, name), comments())
	if err != nil {
		return nil, err
	}
	s.Version, s.Title = "", ""
	m.tighten(s)
	return indent(s)
}

func (m modelShape) tighten(s *jsonschema.Schema) {
	s.MinLength, s.MaxLength, s.Format = nil, nil, ""
	if s.Items != nil {
		m.tighten(s.Items)
	}
	if s.Properties == nil {
		return
	}
	for _, name := range m.without {
		s.Properties.Delete(name)
	}
	s.AdditionalProperties = jsonschema.FalseSchema
	s.Required = nil
	for name, p := range s.Properties.FromOldest() {
		s.Required = append(s.Required, name)
		m.tighten(p)
		if union, ok := p.Extras["type"].([]string); ok && slices.Contains(m.always, name) {
			p.Type, p.Extras = union[0], nil
		}
	}
}
