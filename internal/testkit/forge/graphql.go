package forge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/prloop/prloop/internal/testkit/forge/schema"
)

// loadSchema reads GitHub's published schema once. Later duplicates of a field are dropped (schema/README.md).
var loadSchema = sync.OnceValues(func() (*ast.Schema, error) {
	doc, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: "schema.graphql", Input: string(schema.SDL())})
	if err != nil {
		return nil, fmt.Errorf("parse GitHub's GraphQL schema: %w", err)
	}
	for _, d := range doc.Definitions {
		seen := map[string]bool{}
		var once ast.FieldList
		for _, field := range d.Fields {
			if !seen[field.Name] {
				once = append(once, field)
			}
			seen[field.Name] = true
		}
		d.Fields = once
	}
	s, err := validator.ValidateSchemaDocument(doc)
	if err != nil {
		return nil, fmt.Errorf("load GitHub's GraphQL schema: %w", err)
	}
	return s, nil
})

// queryRules are the rules of the GraphQL specification without the one that GitHub does not hold to: gh selects "name",
// which is String for one type of actor and String! for another, in one answer.
var queryRules = sync.OnceValue(func() *rules.Rules {
	r := rules.NewDefaultRules()
	r.RemoveRule(rules.OverlappingFieldsCanBeMergedRule.Name)
	return r
})

type graphqlRequest struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
}

// serveGraphQL validates a query against GitHub's schema, runs it, and answers as GitHub does: 200 with errors for
// whatever the query is to blame for, other statuses only for authentication and limits.
func (f *Forge) serveGraphQL(w http.ResponseWriter, c *call) {
	var req graphqlRequest
	if err := json.Unmarshal(c.body, &req); err != nil || req.Query == "" {
		f.violate("graphql: body is not a JSON object with a query: %.200q", c.body)
		restError(w, http.StatusBadRequest, "Problems parsing JSON")
		return
	}
	op, vars, invalid := f.prepare(req)
	names := []string{"graphql", req.OperationName}
	var fields []string
	write := false
	if op != nil {
		write = op.Operation == ast.Mutation
		for _, s := range op.SelectionSet {
			if field, ok := s.(*ast.Field); ok {
				fields = append(fields, field.Name)
			}
		}
		names = append(append(names, op.Name, touching(write)), fields...)
	}
	at := f.note(c.r, Exchange{Op: operationName(req, op), Login: c.login, Authorized: c.r.Header.Get("Authorization") != "", Write: write, Variables: req.Variables, Fields: fields})
	c.fault = f.fault(names...)
	out := newAnswer()
	c.limits(out.header)
	switch {
	case c.fault.before(w, f.opt.Now()):
		f.settle(at, c.fault, nil)
		return
	case !c.known:
		restError(out, http.StatusUnauthorized, "Bad credentials")
	case invalid != nil:
		f.violate("graphql: %s: %v", operationName(req, op), invalid)
		writeJSON(out, http.StatusOK, map[string]any{"errors": invalidQuery(invalid)})
	default:
		writeJSON(out, http.StatusOK, f.execute(c, op, vars))
	}
	f.settle(at, c.fault, out)
	c.fault.after(w, c.r, out, f.opt.Now())
}

func operationName(req graphqlRequest, op *ast.OperationDefinition) string {
	switch {
	case op == nil:
		return req.OperationName
	case op.Name != "":
		return op.Name
	case len(op.SelectionSet) > 0:
		if field, ok := op.SelectionSet[0].(*ast.Field); ok {
			return field.Name
		}
	}
	return string(op.Operation)
}

// prepare parses and validates a query and coerces its variables.
func (f *Forge) prepare(req graphqlRequest) (*ast.OperationDefinition, map[string]any, gqlerror.List) {
	doc, errs := gqlparser.LoadQueryWithRules(f.schema, req.Query, queryRules())
	if errs != nil {
		return nil, nil, errs
	}
	op := doc.Operations.ForName(req.OperationName)
	if op == nil {
		return nil, nil, gqlerror.List{gqlerror.Errorf("No operation named %q", req.OperationName)}
	}
	if req.Variables == nil {
		req.Variables = map[string]any{}
	}
	vars, err := validator.VariableValues(f.schema, op, req.Variables)
	if err != nil {
		return op, nil, gqlerror.List{gqlerror.Wrap(err)}
	}
	return op, vars, nil
}

func invalidQuery(errs gqlerror.List) []any {
	var out []any
	for _, e := range errs {
		out = append(out, map[string]any{"message": e.Message, "locations": e.Locations, "extensions": map[string]any{"code": "undefinedField"}})
	}
	return out
}
