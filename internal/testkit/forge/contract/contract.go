// Package contract judges the forge's REST exchanges against GitHub's published OpenAPI description with a validator
// that nobody here wrote. It stands apart from the forge so that a program which only serves one need not link it.
package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/prloop/prloop/internal/testkit/forge/schema"
)

// Checker is a forge.Contract. It is safe for concurrent use.
type Checker struct{ router routers.Router }

// New loads the published description, once per process.
func New() (*Checker, error) {
	router, err := load()
	return &Checker{router}, err
}

var load = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(schema.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("load GitHub's OpenAPI description: %w", err)
	}
	doc.Servers = openapi3.Servers{{URL: "/"}}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("load GitHub's OpenAPI description: %w", err)
	}
	return router, nil
})

// Check validates a request and the answer it got. Statuses that the description does not list are accepted for errors
// only: GitHub itself gives more kinds of refusal than it publishes.
func (c *Checker) Check(req *http.Request, reqBody []byte, status int, header http.Header, body []byte) error {
	req = req.Clone(context.Background())
	req.Body = io.NopCloser(bytes.NewReader(reqBody))
	route, params, err := c.router.FindRoute(req)
	if err != nil {
		return fmt.Errorf("find the path in GitHub's description: %w", err)
	}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: &openapi3filter.Options{
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: status < http.StatusBadRequest,
	}}
	// A request that GitHub would refuse as invalid is the forge's to refuse; it is a violation either way.
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
		return fmt.Errorf("request: %w", brief(err))
	}
	if kind := header.Get("Content-Type"); len(body) > 0 && !strings.HasPrefix(kind, "application/json") {
		return nil // the bytes of an asset
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: status, Header: header, Options: in.Options}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		return fmt.Errorf("answer: %w", brief(err))
	}
	return nil
}

// brief keeps the reason and the place of an error; the validator prints the whole schema after them.
func brief(err error) error {
	var e *openapi3.SchemaError
	if errors.As(err, &e) {
		return fmt.Errorf("%s at /%s", e.Reason, strings.Join(e.JSONPointer(), "/"))
	}
	return err
}
