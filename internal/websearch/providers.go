package websearch

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// provider is how one service is asked.
type provider struct {
	// address is where it is; empty when people run it themselves.
	address string
	// refusal is what a refusal usually means.
	refusal string
	// calls are those that a broker of its key makes.
	calls   []string
	request func(ctx context.Context, address, key, query string) (*http.Request, error)
	results func(data []byte) ([]Result, error)
}

// answer is the form in which SearXNG and Tavily answer.
type answer struct {
	Results []struct{ Title, URL, Content string }
}

func (a answer) list() []Result {
	var out []Result
	for _, r := range a.Results {
		out = append(out, Result{r.Title, r.URL, r.Content})
	}
	return out
}

var providers = map[string]provider{
	// https://docs.searxng.org/dev/search_api.html
	"searxng": {
		refusal: "; SearXNG answers in JSON only where search.formats of its settings.yml lists json",
		request: func(ctx context.Context, address, _, query string) (*http.Request, error) {
			return get(ctx, address+"/search", url.Values{"q": {query}, "format": {"json"}})
		},
		results: func(data []byte) ([]Result, error) { return decode(data, answer.list) },
	},
	// https://api-dashboard.search.brave.com/api-reference/web/search/get
	"brave": {
		address: "https://api.search.brave.com", refusal: "; look at the key", calls: []string{"GET /res/v1/web/search"},
		request: func(ctx context.Context, address, key, query string) (*http.Request, error) {
			req, err := get(ctx, address+"/res/v1/web/search", url.Values{"q": {query}, "count": {strconv.Itoa(resultsMax)}, "text_decorations": {"false"}})
			if err == nil {
				req.Header.Set("X-Subscription-Token", key)
			}
			return req, err
		},
		results: func(data []byte) ([]Result, error) {
			type web struct {
				Web struct {
					Results []struct{ Title, URL, Description string }
				}
			}
			return decode(data, func(w web) []Result {
				var out []Result
				for _, r := range w.Web.Results {
					out = append(out, Result{r.Title, r.URL, r.Description})
				}
				return out
			})
		},
	},
	// https://docs.tavily.com/documentation/api-reference/endpoint/search
	"tavily": {
		address: "https://api.tavily.com", refusal: "; look at the key", calls: []string{"POST /search"},
		request: func(ctx context.Context, address, key, query string) (*http.Request, error) {
			body, err := json.Marshal(map[string]any{"query": query, "max_results": resultsMax})
			if err != nil {
				return nil, err
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/search", bytes.NewReader(body))
			if err == nil {
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Authorization", "Bearer "+key)
			}
			return req, err
		},
		results: func(data []byte) ([]Result, error) { return decode(data, answer.list) },
	},
}

func get(ctx context.Context, address string, q url.Values) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+q.Encode(), nil)
}
