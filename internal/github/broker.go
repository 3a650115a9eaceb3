package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Broker does on GitHub what processes without a credential ask for (decision 94): the operations that prloop has, each read by the same rules as
// those of its own process, and git's fetches and pushes. Whoever may open its socket may ask.
type Broker struct {
	client *Client
	only   []review.Repo
	log    hclog.Logger
	git    *httputil.ReverseProxy
}

// NewBroker makes the broker of a client's credential, for all repositories or for some. One without a name stands for all of its owner.
func NewBroker(c *Client, only []review.Repo, log hclog.Logger) (*Broker, error) {
	to, err := url.Parse(c.gitURL)
	if err != nil || c.relay != nil {
		return nil, &Error{Op: "start a broker", Kind: ErrHost, Cause: err}
	}
	b := &Broker{client: c, only: only, log: log}
	b.git = &httputil.ReverseProxy{
		FlushInterval: -1, ErrorLog: log.StandardLogger(nil),
		Rewrite: func(p *httputil.ProxyRequest) {
			rest := strings.TrimPrefix(p.In.URL.Path, gitPath)
			p.Out.URL, p.Out.Host = to.JoinPath(rest), to.Host
			p.Out.URL.RawQuery = p.In.URL.RawQuery
			token, _ := p.In.Context().Value(gitToken{}).(string)
			p.Out.SetBasicAuth("x-access-token", token)
		},
		ModifyResponse: func(resp *http.Response) error {
			resp.Header.Del("Set-Cookie")
			return nil
		},
	}
	return b, nil
}

// toldKinds are the kinds of errors that a broker tells by their names.
var toldKinds = []error{sanitize.ErrUnsafe, sanitize.ErrKnownSecret, ErrForbidden, ErrNotFound, ErrNotInstalled, ErrSuspended, ErrAppKey, ErrMoved, ErrUnavailable, ErrRateLimited, ErrBadAnswer}

// operation is a kind of request that prloop makes; only these are made for others.
type operation struct {
	method string
	// path is the address below a repository's.
	path *lazyregexp.Regexp
	// fields are those that a request which changes something may have; fixed are the only values of some.
	fields []string
	fixed  map[string]string
}

// only gives a field its one value.
func (o operation) only(field, value string) operation {
	o.fields, o.fixed = append(o.fields, field), map[string]string{field: value}
	return o
}

var (
	inRepo   = lazyregexp.New(`^/repos/[\w.-]+/[\w.-]+`)
	anywhere = lazyregexp.New(`^/(rate_limit|app/installations|installation/repositories)$`)

	changing = []operation{
		operation{http.MethodPost, lazyregexp.New(`^/statuses/[0-9a-f]+$`), []string{"state", "description", "target_url"}, nil}.only("context", gate.Context),
		{http.MethodPost, lazyregexp.New(`^/pulls$`), []string{"head", "base", "title", "body"}, nil},
		{http.MethodPatch, lazyregexp.New(`^/pulls/[0-9]+$`), []string{"title", "body"}, nil},
		operation{http.MethodPost, lazyregexp.New(`^/pulls/[0-9]+/reviews$`), []string{"commit_id", "body", "comments"}, nil}.only("event", "COMMENT"),
		{http.MethodPost, lazyregexp.New(`^/pulls/[0-9]+/requested_reviewers$`), []string{"reviewers", "team_reviewers"}, nil},
		{http.MethodPost, lazyregexp.New(`^/pulls/[0-9]+/comments/[0-9]+/replies$`), []string{"body"}, nil},
		{http.MethodPatch, lazyregexp.New(`^/issues/comments/[0-9]+$`), []string{"body"}, nil},
		{http.MethodPost, lazyregexp.New(`^/issues/comments/[0-9]+/reactions$`), []string{"content"}, nil},
	}
	// documents are those of GraphQL, word by word. gh has its own.
	documents = []string{
		viewerQuery, viewerPermissionQuery, pullQuery, branchQuery, repositoryQuery, discussionQuery, reviewsQuery, commentsQuery, threadsQuery, threadQuery,
		mailedQuery, labelsQuery, pendingQuery, pushQuery, mergedQuery, minimizeMutation, resolveMutation, unresolveMutation,
	}
)

// ServeHTTP does one operation.
func (b *Broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == aboutPath:
		b.about(w)
	case strings.HasPrefix(r.URL.Path, gitPath):
		b.serveGit(w, r)
	default:
		ctx, cancel := context.WithTimeoutCause(r.Context(), answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
		defer cancel()
		resp, err := b.hand(ctx, r)
		if err != nil {
			b.refuse(w, r, err)
			return
		}
		defer resp.Body.Close()
		for _, name := range passedBack {
			if v := resp.Header.Values(name); len(v) > 0 {
				w.Header()[http.CanonicalHeaderKey(name)] = v
			}
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, &bounded{body: resp.Body, left: answerLimitBytes})
	}
}

// passedBack are the headers of GitHub's answers that callers see.
var passedBack = []string{"Content-Type", "Date", "Etag", "Link", "Location", "Retry-After", "X-Accepted-Oauth-Scopes", "X-Github-Request-Id", "X-Github-Sso",
	"X-Oauth-Scopes", "X-Accepted-Github-Permissions", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Ratelimit-Resource", "X-Ratelimit-Used"}

func (b *Broker) about(w http.ResponseWriter) {
	a := account{Host: b.client.host, Minted: b.client.minted}
	if l := b.client.app; l != nil {
		app := *l.app
		app.KeyFile, app.KeyEnv, app.KeyCommand, app.WebhookSecretFile = "", "", nil, ""
		a.App = &app
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a)
}

// refuse tells why a request has no answer of GitHub, and whether it was certainly not sent.
func (b *Broker) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var e *Error
	b.log.Warn("not done", "method", r.Method, "path", r.URL.Path, "err", err)
	status := http.StatusBadGateway
	if errors.As(err, &e) && e.unsent {
		kind := cmp.Or(e.Kind, ErrForbidden)
		w.Header().Set(notSentHeader, kind.Error())
		if !e.Until.IsZero() {
			w.Header().Set(untilHeader, e.Until.UTC().Format(time.RFC3339))
		}
		status = http.StatusForbidden
	}
	http.Error(w, describe(err), status)
}

// unwanted is the error of an operation that is not prloop's.
func unwanted(why string) error { return notSent(ErrForbidden, errors.New("the broker refuses: "+why)) }

// hand does a request on GitHub.
func (b *Broker) hand(ctx context.Context, r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, largestRequest+1))
	if err != nil {
		return nil, notSent(ErrUnavailable, err)
	}
	path, known := b.path(r)
	if !known {
		return nil, unwanted("it is no address of the API of " + b.client.host)
	}
	raw, why := spelled(r, path, raw)
	if why != "" {
		return nil, unwanted(why)
	}
	repo := b.repo(r, path, raw)
	if !b.serves(repo) {
		return nil, unwanted(repo.String() + " is not one of its repositories")
	}
	req, err := http.NewRequestWithContext(about(ctx, repo), r.Method, "https://"+r.Host+r.URL.RequestURI(), nil)
	if err != nil {
		return nil, notSent(ErrBadAnswer, err)
	}
	if len(raw) > 0 {
		req.Body, req.ContentLength = io.NopCloser(onlyOnce{bytes.NewReader(raw)}), int64(len(raw))
	}
	for _, name := range append([]string{"If-None-Match"}, carried...) {
		if v := r.Header.Values(name); len(v) > 0 {
			req.Header[name] = v
		}
	}
	if l := b.client.app; l != nil && (path == "/app/installations" || strings.HasSuffix(path, "/installation")) {
		return l.asks.Transport.RoundTrip(req)
	}
	c, token, err := b.credential(req, raw, repo)
	if err != nil {
		e := *classify("", err)
		e.unsent = true
		return nil, &e
	}
	req.Header.Set("Authorization", "token "+token)
	if req, err = c.outgoing.read(req); err != nil {
		return nil, err
	}
	if err := b.mayTouch(ctx, c, r, path, raw, repo); err != nil {
		return nil, err
	}
	resp, err := c.transport.next.RoundTrip(req) // who asks knows of limits, and judges the answer
	if err == nil && resp.StatusCode == http.StatusUnauthorized && c.app != nil {
		c.app.forget(c.at.ID) // it was revoked before its time; who asked may ask again
	}
	return resp, err
}

// credential is the token for what a request does, and the client whose it is.
func (b *Broker) credential(req *http.Request, raw []byte, repo review.Repo) (*Client, string, error) {
	c := b.client
	if c.app == nil {
		return c, c.token, nil
	}
	ctx := req.Context()
	in, err := b.installed(ctx, repo)
	if err != nil {
		return nil, "", err
	}
	if c, err = c.bound(in, repo.Name); err != nil {
		return nil, "", err
	}
	seen := *req
	seen.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	n := needOf(&seen)
	if repo.Name == "" {
		n = naming
	}
	token, err := c.mint(ctx, in, repo.Name, n)
	return c, token, err
}

// installed is the installation that reaches a repository; that of an owner where it has no name, and any where it has none.
func (b *Broker) installed(ctx context.Context, repo review.Repo) (Installation, error) {
	c := b.client
	if repo.Name != "" {
		return c.installation(ctx, repo)
	}
	all, err := c.Installations(ctx)
	if err != nil {
		return Installation{}, err
	}
	at := slices.IndexFunc(all, func(i Installation) bool {
		return i.Suspended.IsZero() && (repo.Owner == "" || strings.EqualFold(i.Account, repo.Owner))
	})
	if at < 0 {
		return Installation{}, &Error{Op: "log in as the GitHub App", Kind: ErrNotInstalled, Detail: "install it: " + c.installURL()}
	}
	return all[at], nil
}

// path is that of a request below the API's prefix; false when it is for another host, or leads out of where it begins.
func (b *Broker) path(r *http.Request) (string, bool) {
	prefix, err := url.Parse(b.client.settings.restPrefix(b.client.host))
	if err != nil || !strings.EqualFold(r.Host, prefix.Host) {
		return "", false
	}
	for part := range strings.FieldsFuncSeq(r.URL.Path, func(c rune) bool { return c == '/' || c == '\\' }) {
		if part == ".." || part == "." {
			return "", false
		}
	}
	if path, ok := strings.CutPrefix(r.URL.EscapedPath(), strings.TrimSuffix(prefix.Path, "/")); ok {
		return path, true
	}
	return r.URL.EscapedPath(), true
}

// repo is the repository a request is about: that of its address, or of its variables, or else the one that its sender names.
func (b *Broker) repo(r *http.Request, path string, raw []byte) review.Repo {
	owner, name, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.Header.Get("Authorization"), "token "), claimed), "/")
	if said := r.Header.Get(aboutHeader); said != "" {
		owner, name, _ = strings.Cut(said, "/")
	}
	var asked struct {
		Query     string
		Variables map[string]any // names of fields of a structure would not know upper case from lower
	}
	if resource(r) == graphql && json.Unmarshal(raw, &asked) == nil {
		last := "name"
		if !slices.Contains(documents, asked.Query) {
			last = "repo" // gh's word
		}
		if o, ok := asked.Variables["owner"].(string); ok {
			owner = o
			name, _ = asked.Variables[last].(string)
		}
	}
	if rest, ok := strings.CutPrefix(path, "/repos/"); ok {
		part := append(strings.SplitN(rest, "/", 3), "")
		owner, name = part[0], part[1]
	}
	return review.Repo{Host: b.client.host, Owner: owner, Name: name}
}

// serves reports whether a repository is one of those that operations are for. One that is not named is not known to be another.
func (b *Broker) serves(r review.Repo) bool {
	return len(b.only) == 0 || r.Owner == "" || slices.ContainsFunc(b.only, func(o review.Repo) bool {
		return strings.EqualFold(o.Owner, r.Owner) && (o.Name == "" || r.Name == "" || strings.EqualFold(o.Name, r.Name))
	})
}

// spelled is the body of a request that prloop makes, written anew, so that GitHub reads what was read here; or why it is none.
func spelled(r *http.Request, path string, raw []byte) (_ []byte, why string) {
	if resource(r) == graphql {
		return spelledQuery(r, raw)
	}
	below := strings.TrimPrefix(path, inRepo.FindString(path))
	if r.Method == http.MethodGet && (anywhere.MatchString(path) || below != path && (below == "" || below[0] == '/')) {
		return nil, ""
	}
	at := -1
	if below != path {
		at = slices.IndexFunc(changing, func(o operation) bool { return o.method == r.Method && o.path.MatchString(below) })
	}
	if at < 0 {
		return nil, r.Method + " " + path + " is no operation of prloop"
	}
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&fields) != nil || d.More() {
		return nil, "the request is no JSON object"
	}
	for name, value := range fields {
		if only, ok := changing[at].fixed[name]; !slices.Contains(changing[at].fields, name) || ok && value != only {
			return nil, fmt.Sprintf("prloop does not send %s with this value there", oneLine(name))
		}
	}
	for name := range changing[at].fixed {
		if _, ok := fields[name]; !ok {
			return nil, name + " is missing"
		}
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return nil, "the request is no JSON object"
	}
	return out, ""
}

func spelledQuery(r *http.Request, raw []byte) (_ []byte, why string) {
	var asked struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables,omitempty"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if r.Method != http.MethodPost || d.Decode(&asked) != nil || d.More() {
		return nil, "the request is no query"
	}
	out, err := json.Marshal(asked)
	if err != nil || !slices.Contains(documents, asked.Query) && !ofGH(asked.Query, asked.Variables) {
		return nil, "the query is none of prloop's"
	}
	return out, ""
}

// ofGH reports whether a document is one that gh may have for a comment: the comment itself, or a question about a pull request of the repository that its
// variables name, or about the schema.
func ofGH(query string, variables map[string]any) bool {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, maxQueryTokens)
	if err != nil || len(doc.Operations) != 1 {
		return false
	}
	o := doc.Operations[0]
	if o.Operation == ast.Mutation {
		return aComment.MatchString(strings.Join(strings.Fields(query), ""))
	}
	owner, _ := variables["owner"].(string)
	repo, _ := variables["repo"].(string)
	for _, s := range o.SelectionSet {
		f, ok := s.(*ast.Field)
		if !ok || f.Name != "__type" && (f.Name != "repository" || owner == "" || repo == "" || !names(f, "owner", "owner") || !names(f, "name", "repo") || !flat(f.SelectionSet)) {
			return false
		}
	}
	return o.Operation == ast.Query
}

// flat reports whether what is asked of a repository is no more than plain fields of a pull request.
func flat(set ast.SelectionSet) bool {
	for _, s := range set {
		f, ok := s.(*ast.Field)
		if !ok || f.Name != "pullRequest" {
			return false
		}
		for _, below := range f.SelectionSet {
			if b, ok := below.(*ast.Field); !ok || len(b.SelectionSet) > 0 {
				return false
			}
		}
	}
	return true
}

// names reports whether an argument of a field is the variable of a name.
func names(f *ast.Field, argument, variable string) bool {
	if n := len(slices.DeleteFunc(slices.Clone(f.Arguments), func(a *ast.Argument) bool { return a.Name != argument })); n != 1 { // which one counts is for others to say
		return false
	}
	a := f.Arguments.ForName(argument)
	return a != nil && a.Value.Kind == ast.Variable && a.Value.Raw == variable
}

// maxQueryTokens bounds a document of gh.
const maxQueryTokens = 5000
