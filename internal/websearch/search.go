package websearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/sanitize"
)

// Bounds of one search.
const (
	// queryLimit bounds a question in bytes: it is the one thing a hijacked agent can tell the provider.
	queryLimit = 120
	resultsMax = 8
	// titleLimit and excerptLimit bound what an agent is given of each result, in bytes.
	titleLimit   = 200
	excerptLimit = 500
	addressLimit = 500
	bodyLimit    = 1 << 20
	timeLimit    = 10 * time.Second
)

// Result is one page that a search found.
type Result struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Excerpt string `json:"excerpt"`
}

// Results is what a search answers.
type Results struct {
	Results []Result `json:"results"`
}

// Searcher asks one provider.
type Searcher struct {
	provider provider
	address  string
	key      string
	client   *http.Client
}

// Endpoint is a provider for whoever holds its key in the place of others: where it is asked, and how. The configuration was checked before: a name
// that is none is a fault of the program.
func Endpoint(name, address, key string) broker.Endpoint {
	p := known(name)
	return broker.Endpoint{Name: endpointName, BaseURL: p.at(address), Key: key, Calls: p.calls}
}

// endpointName is what the provider is called where its key is held.
const endpointName = "web search"

func known(name string) provider {
	p, ok := providers[name]
	if !ok {
		panic("search provider " + name + " is unknown")
	}
	return p
}

func (p provider) at(address string) string {
	return strings.TrimRight(cmp.Or(address, p.address), "/")
}

// New makes a searcher that asks searxng at an address, or brave or tavily with a key, which the broker at a socket may hold.
func New(name, address, key, held string) *Searcher {
	p := known(name)
	return &Searcher{provider: p, address: p.at(address), key: key, client: &http.Client{
		Timeout: timeLimit, Transport: broker.Through(held, http.DefaultTransport),
		// A redirect would take the question, and the key, to somebody the operator has not named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// RefusedError says that a question is not one that is asked. It holds nothing of what a provider said.
type RefusedError struct{ Reason string }

// Error gives the reason.
func (e *RefusedError) Error() string { return e.Reason }

func check(query string) error {
	switch {
	case strings.TrimSpace(query) == "":
		return &RefusedError{"the query is empty"}
	case len(query) > queryLimit:
		return &RefusedError{fmt.Sprintf("a query has at most %d bytes", queryLimit)}
	case !utf8.ValidString(query) || strings.ContainsFunc(query, func(r rune) bool { return !unicode.IsPrint(r) }):
		return &RefusedError{"a query is one line of text"}
	case len(sanitize.Secrets(query)) > 0:
		return &RefusedError{"the query holds what looks like a secret"}
	}
	return nil
}

// Search asks the provider. What may not be asked is a *RefusedError; other errors are the provider's, in our words.
func (s *Searcher) Search(ctx context.Context, query string) (Results, error) {
	if err := check(query); err != nil {
		return Results{}, err
	}
	req, err := s.provider.request(ctx, s.address, s.key, query)
	if err != nil {
		return Results{}, errors.New("the search provider's address is not valid")
	}
	req.Header.Set("User-Agent", "prloop")
	req.Header.Set("Accept", "application/json")
	if s.key == broker.Held {
		req.Header.Set(broker.EndpointHeader, endpointName)
	}
	resp, err := s.client.Do(req)
	if err != nil { // the error names the address, the question in it
		return Results{}, errors.New("the search provider cannot be reached")
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return Results{}, fmt.Errorf("the search provider refuses: HTTP %d%s", resp.StatusCode, s.provider.refusal)
	case resp.StatusCode == http.StatusTooManyRequests:
		return Results{}, errors.New("the search provider's quota is used up: HTTP 429")
	case resp.StatusCode != http.StatusOK:
		return Results{}, fmt.Errorf("the search provider answers HTTP %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, bodyLimit+1))
	if err != nil || len(data) > bodyLimit {
		return Results{}, errors.New("the search provider's answer broke off or is too long")
	}
	found, err := s.provider.results(data)
	if err != nil {
		return Results{}, errors.New("the search provider's answer is no JSON that prloop knows")
	}
	out := Results{Results: []Result{}}
	for _, f := range found {
		if len(out.Results) == resultsMax {
			break
		}
		if !strings.HasPrefix(f.URL, "https://") && !strings.HasPrefix(f.URL, "http://") || len(f.URL) > addressLimit {
			continue
		}
		out.Results = append(out.Results, Result{Title: line(f.Title, titleLimit), URL: line(f.URL, addressLimit), Excerpt: line(f.Excerpt, excerptLimit)})
	}
	return out, nil
}

// line is a text of a stranger on one line, within a bound.
func line(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }), " ")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// decode reads a list of results out of an answer.
func decode[T any](data []byte, list func(T) []Result) ([]Result, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	return list(v), nil
}
