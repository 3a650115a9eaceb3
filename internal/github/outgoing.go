package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// outgoing reads every request that writes once more, in the last place before the network and by the exact bytes that are sent: whatever
// went wrong where texts are made, no secret of this process leaves, and nothing that GitHub or a bot would act on (threats.md T240). It
// shares with those places the oracle alone.
type outgoing struct {
	host  string
	mu    sync.Mutex
	known []string
	// tokens are the last that were minted: each is good for an hour.
	tokens []string
}

// maxTokens is how many of them are kept.
const maxTokens = 100

// Guard adds secrets that no request to GitHub may hold a part of. The credential of the client is one of them from the beginning.
func (c *Client) Guard(secrets ...string) { c.outgoing.add(secrets...) }

func (o *outgoing) add(secrets ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range secrets {
		if len(s) >= 16 && !slices.Contains(o.known, s) { // shorter ones would match ordinary text
			o.known = append(o.known[:len(o.known):len(o.known)], s)
		}
	}
}

// passing adds a token that was minted.
func (o *outgoing) passing(token string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.tokens, token) {
		o.tokens = append(slices.Clone(o.tokens[max(0, len(o.tokens)+1-maxTokens):]), token)
	}
}

// texts are the fields that people and bots read as Markdown, lines those that are one line of words.
var (
	texts = []string{"body"}
	lines = []string{"title", "description", "context"}
)

// largestRequest bounds what one request may hold: a review of many comments has a few hundred kilobytes.
const largestRequest = 16 << 20

// aboutKey is the key of the repository that a request is about, where its address does not say.
type aboutKey struct{}

// about says which repository the requests of a context are about.
func about(ctx context.Context, repo review.Repo) context.Context {
	return context.WithValue(ctx, aboutKey{}, repo)
}

// read reads a request and returns it to be sent, with a body that was read. The error is that of a request that was not sent.
func (o *outgoing) read(r *http.Request) (*http.Request, error) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Body == nil {
		return r, o.leaks(r.URL.String())
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, largestRequest+1))
	_ = r.Body.Close()
	switch {
	case err != nil:
		return nil, notSent(ErrUnavailable, err)
	case len(raw) > largestRequest:
		return nil, notSent(sanitize.ErrUnsafe, fmt.Errorf("the request is larger than %d MB", largestRequest>>20))
	}
	if err := o.check(r, raw); err != nil {
		return nil, err
	}
	again := r.GetBody != nil
	r = r.Clone(r.Context())
	r.Body, r.GetBody, r.ContentLength = io.NopCloser(onlyOnce{bytes.NewReader(raw)}), nil, int64(len(raw))
	if again {
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	}
	return r, nil
}

func (o *outgoing) check(r *http.Request, raw []byte) error {
	if err := errors.Join(o.leaks(r.URL.String()), o.leaks(string(raw))); err != nil {
		return err
	}
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var all any
	if err := d.Decode(&all); err != nil || d.More() {
		return notSent(sanitize.ErrUnsafe, errors.New("a request that writes is not JSON"))
	}
	asked, _ := all.(map[string]any)
	if query, ok := asked["query"].(string); ok && resource(r) == graphql {
		if err := o.leaks(query); err != nil {
			return err
		}
		all = asked["variables"]
	}
	return o.walk(all, "", sanitize.Policy{Repo: o.repo(r), Known: o.secrets()})
}

// walk looks at every text of a request as it will be read, without JSON's escapes.
func (o *outgoing) walk(v any, field string, p sanitize.Policy) error {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if err := errors.Join(o.leaks(k), o.walk(v[k], k, p)); err != nil {
				return err
			}
		}
	case []any:
		for _, x := range v {
			if err := o.walk(x, field, p); err != nil {
				return err
			}
		}
	case string:
		var err error
		switch {
		case slices.Contains(texts, field):
			_, err = sanitize.Restore(v, p)
		case slices.Contains(lines, field):
			err = sanitize.CheckLine(v, p)
		default:
			return o.leaks(v)
		}
		if err == nil {
			return nil
		}
		kind := sanitize.ErrUnsafe
		if errors.Is(err, sanitize.ErrKnownSecret) {
			kind = sanitize.ErrKnownSecret
		}
		return notSent(kind, fmt.Errorf("the %s of a request: %w", field, err))
	}
	return nil
}

// changes reports whether a request may change something: of GraphQL a mutation, of REST all but a read.
func changes(r *http.Request, raw []byte) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return false
	}
	var asked struct{ Query string }
	if resource(r) != graphql || json.Unmarshal(raw, &asked) != nil {
		return true
	}
	return !strings.HasPrefix(strings.TrimSpace(asked.Query), "query")
}

// leaks refuses a text that holds a part of a known secret.
func (o *outgoing) leaks(text string) error {
	if sanitize.Leaks(text, sanitize.Policy{Known: o.secrets()}) {
		return notSent(sanitize.ErrKnownSecret, errors.New("a request to GitHub held it"))
	}
	return nil
}

func (o *outgoing) secrets() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Concat(o.known, o.tokens)
}

// repo is the repository a request is about, whose pages its texts may link.
func (o *outgoing) repo(r *http.Request) review.Repo {
	if repo, ok := r.Context().Value(aboutKey{}).(review.Repo); ok {
		return repo
	}
	_, path, ok := strings.Cut(r.URL.EscapedPath(), "/repos/")
	part := strings.SplitN(path, "/", 3)
	if !ok || len(part) < 2 {
		return review.Repo{}
	}
	owner, err := url.PathUnescape(part[0])
	name, failed := url.PathUnescape(part[1])
	if err != nil || failed != nil {
		return review.Repo{}
	}
	return review.Repo{Host: o.host, Owner: owner, Name: name}
}

// notSent is the error of a request that was not sent.
func notSent(kind, cause error) *Error {
	return &Error{Kind: kind, Cause: cause, Detail: describe(cause), unsent: true}
}
