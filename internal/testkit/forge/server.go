package forge

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
)

// bodyLimitBytes is what the forge reads of a request, other than a push.
const bodyLimitBytes = 8 << 20

// handle sends a request to GraphQL, REST or git, by its host and path.
func (f *Forge) handle(w http.ResponseWriter, r *http.Request) {
	if service := gitService(r); service != "" {
		f.serveGit(w, r, service)
		return
	}
	if f.newApp(w, r) {
		return
	}
	c := &call{f: f, r: r, host: webHost(r.Host), path: apiPath(r)}
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimitBytes))
	if err != nil {
		return
	}
	c.body = body
	c.login, c.token, c.known = f.authenticate(r)
	if c.path == "/graphql" {
		f.serveGraphQL(w, c)
		return
	}
	f.serveREST(w, c)
}

// call is one API request with what the forge worked out about it.
type call struct {
	f     *Forge
	r     *http.Request
	host  string
	path  string
	body  []byte
	login string
	token Token
	known bool // a valid token came with the request
	fault Fault
}

// web makes an address people see.
func (c *call) web(path string) string { return "https://" + c.host + path }

// api makes an address of the REST API.
func (c *call) api(path string) string {
	if c.host == "github.com" {
		return "https://api.github.com" + path
	}
	return "https://" + c.host + "/api/v3" + path
}

// webHost is the host people see for the host a request went to.
func webHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimPrefix(strings.ToLower(host), "api.")
}

// apiPath is the path as on api.github.com; Enterprise Server prefixes it.
func apiPath(r *http.Request) string {
	switch p := r.URL.Path; {
	case p == "/api/graphql":
		return "/graphql"
	case strings.HasPrefix(p, "/api/v3"):
		return "/" + strings.TrimPrefix(strings.TrimPrefix(p, "/api/v3"), "/")
	default:
		return p
	}
}

// authenticate finds whose token a request carries: "token T" or "Bearer T" of the API, or git's basic credential,
// whose password is the token.
func (f *Forge) authenticate(r *http.Request) (login string, t Token, known bool) {
	value := ""
	if _, password, ok := r.BasicAuth(); ok {
		value = password
	} else if _, rest, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		value = rest
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if t, known = f.tokens[value]; known && !t.Expires.IsZero() && !t.Expires.After(f.now()) {
		return "", Token{}, false
	}
	return t.Login, t, known
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// restError answers as GitHub's REST API words its errors.
func restError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest", "status": http.StatusText(status)})
}

// limits sets the headers GitHub puts on every API answer.
func (c *call) limits(h http.Header) {
	h.Set("X-GitHub-Request-Id", "F06E:0001")
	h.Set("X-RateLimit-Limit", "5000")
	h.Set("X-RateLimit-Remaining", "4999")
	h.Set("X-OAuth-Scopes", "read:org, repo, workflow")
	h.Set("Date", c.f.opt.Now().UTC().Format(http.TimeFormat))
}
