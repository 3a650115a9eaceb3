package github

import (
	"context"
	"crypto/rsa"
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
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/cli/go-gh/v2/pkg/api"
	"github.com/golang-jwt/jwt/v4"
	gogithub "github.com/google/go-github/v88/github"

	"github.com/prloop/prloop/internal/appfile"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
)

// appLogin is a GitHub App as the credential of a host (decision 74). Its key signs what asks for tokens, and nothing else: every request carries a
// token of an installation, for one repository and one kind of operation.
type appLogin struct {
	app     *appfile.App
	key     *rsa.PrivateKey
	secrets []string
	// asks asks as the App itself; rest is the prefix of addresses.
	asks *http.Client
	base http.RoundTripper
	rest string
	// connect makes the transport of an installation, which has limits of its own.
	connect func(*limits) *transport
	first   *shared

	mu     sync.Mutex
	known  map[string]Installation // by the name of a repository, in lower case
	shared map[int64]*shared
	minted map[ticket]*ghinstallation.Transport
}

// Installation is the App on an account.
type Installation struct {
	ID int64
	// Account is whose repositories it reaches, all of them or those that were selected.
	Account string
	All     bool
	// Permissions are those that were granted.
	Permissions map[string]string
	// Suspended is when it was suspended; zero when it works. URL is its page.
	Suspended time.Time
	URL       string

	until time.Time
}

// ticket is what a token is for.
type ticket struct {
	installation int64
	repo         string
	need         need
}

// need is a kind of operation.
type need string

// The kinds of operations, and the permissions that a token for one has. What is not granted is left out but for the first, without which there is
// no token. No token has workflows, administration, secrets or actions.
const (
	reading    need = "read"
	commenting need = "comment and review"
	marking    need = "set commit statuses"
	resolving  need = "resolve threads"
	proposing  need = "open pull requests"
	pushing    need = "push"
	naming     need = "say who it is"
)

type permission struct{ name, level string }

func (p permission) String() string { return p.name + ": " + p.level }

var permissionsOf = map[need][]permission{
	reading:    {{"pull_requests", "read"}, {"contents", "read"}, {"issues", "read"}, {"statuses", "read"}, {"checks", "read"}, {"metadata", "read"}},
	commenting: {{"pull_requests", "write"}, {"issues", "write"}, {"metadata", "read"}},
	marking:    {{"statuses", "write"}, {"metadata", "read"}},
	resolving:  {{"contents", "write"}, {"pull_requests", "write"}, {"metadata", "read"}}, // GitHub wants contents: write for it
	proposing:  {{"pull_requests", "write"}, {"contents", "read"}, {"metadata", "read"}},
	pushing:    {{"contents", "write"}, {"metadata", "read"}},
	naming:     {{"metadata", "read"}},
}

// grants reports whether permissions have one.
func grants(have map[string]string, p permission) bool {
	level, some := have[p.name]
	return some && (level == p.level || level == "write" || level == "admin")
}

// Lacking says what an installation cannot do, for want of which permission.
func (i Installation) Lacking() []string {
	var out []string
	for _, n := range []need{reading, commenting, marking, resolving, proposing, pushing} {
		var without []string
		for _, p := range permissionsOf[n] {
			if p == permissionsOf[n][0] || n == reading && p.name == "contents" {
				if !grants(i.Permissions, p) {
					without = append(without, p.String())
				}
			}
		}
		if len(without) > 0 {
			out = append(out, fmt.Sprintf("%s, to %s", strings.Join(without, " and "), n))
		}
	}
	return out
}

// keyBegins is how much of a key is the same for all keys of its kind, in characters.
const keyBegins = 32

// newApp reads the key of an App and makes it the credential.
func newApp(ctx context.Context, a *appfile.App, c *Client, s settings) (*appLogin, error) {
	text, err := a.Key(ctx, c.env.get, func(ctx context.Context, argv []string) ([]byte, error) {
		res, err := proc.Run(ctx, proc.Spec{
			Path: argv[0], Args: argv[1:], Timeout: 30 * time.Second, MaxStdout: 1 << 16, MaxStderr: 1 << 16, Direct: true,
			Env: c.env.pick(append(slices.Clone(passed), keyring...)...),
		})
		return res.Stdout, err
	})
	if err != nil {
		return nil, err
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM(text)
	if err != nil { // it says nothing of what stands there
		return nil, &Error{Op: "read the key of the GitHub App", Kind: ErrAppKey, Detail: "it is no RSA key in PEM"}
	}
	var body strings.Builder
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") {
			body.WriteString(line)
		}
	}
	l := &appLogin{
		app: a, key: key, rest: strings.TrimSuffix(s.restPrefix(c.host), "/"), first: c.shared,
		known: map[string]Installation{}, shared: map[int64]*shared{}, minted: map[ticket]*ghinstallation.Transport{},
		connect: func(l *limits) *transport { return newTransport(c.host, s, l, c.outgoing) },
	}
	if body.Len() > 2*keyBegins {
		l.secrets = []string{body.String()[keyBegins:]}
	}
	c.outgoing.add(l.secrets...)
	l.base = l.connect(&limits{})
	l.asks = &http.Client{Transport: l.signed(), CheckRedirect: stayHere, Timeout: answerTimeout}
	return l, nil
}

// signed signs requests with the App's key. Each has its own: it is not made for several at once.
func (l *appLogin) signed() *ghinstallation.AppsTransport {
	t := ghinstallation.NewAppsTransportFromPrivateKey(l.base, l.app.ID, l.key)
	t.BaseURL = l.rest
	return t
}

// knownFor is how long it is believed where the App is installed and what it may.
const knownFor = 5 * time.Minute

// installation finds where a repository's App is installed.
func (c *Client) installation(ctx context.Context, repo review.Repo) (Installation, error) {
	l, name := c.app, strings.ToLower(repo.Owner+"/"+repo.Name)
	l.mu.Lock()
	in, ok := l.known[name]
	l.mu.Unlock()
	if ok && time.Now().Before(in.until) {
		return in, nil
	}
	op := fmt.Sprintf("find the installation of the GitHub App for %s/%s", repo.Owner, repo.Name)
	var a installed
	err := c.read(ctx, op, false, func(ctx context.Context) error {
		return l.ask(ctx, "/repos/"+url.PathEscape(repo.Owner)+"/"+url.PathEscape(repo.Name)+"/installation", &a)
	})
	if errors.Is(err, ErrNotFound) {
		return in, &Error{Op: op, Kind: ErrNotInstalled, Detail: "the repository may be gone, private or not selected: look at " + c.installURL(), status: http.StatusNotFound}
	}
	if err != nil {
		return in, err
	}
	in = a.shape()
	if !in.Suspended.IsZero() {
		return in, &Error{Op: op, Kind: ErrSuspended, Detail: "since " + in.Suspended.UTC().Format(time.RFC3339), status: http.StatusForbidden}
	}
	in.until = time.Now().Add(knownFor)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[name] = in
	return in, nil
}

func (c *Client) installURL() string {
	if c.app.app.Slug == "" {
		return "its settings at https://" + c.host
	}
	return "https://" + c.host + "/apps/" + c.app.app.Slug + "/installations/new"
}

// installed is an installation as REST shows it.
type installed struct {
	ID          int64
	Account     *struct{ Login string }
	Selection   string `json:"repository_selection"`
	Permissions map[string]string
	SuspendedAt *time.Time `json:"suspended_at"`
	HTMLURL     string     `json:"html_url"`
}

func (i installed) shape() Installation {
	out := Installation{ID: i.ID, All: i.Selection == "all", Permissions: i.Permissions, URL: i.HTMLURL}
	if i.Account != nil {
		out.Account = i.Account.Login
	}
	if i.SuspendedAt != nil {
		out.Suspended = *i.SuspendedAt
	}
	return out
}

// ask reads one address as the App.
func (l *appLogin) ask(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.rest+address, nil)
	if err != nil {
		return err
	}
	resp, err := l.asks.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return l.refused(api.HandleHTTPError(resp))
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// refused says what it means that GitHub refuses the App itself.
func (l *appLogin) refused(err error) error {
	var h *api.HTTPError
	if !errors.As(err, &h) {
		return err
	}
	e := &Error{Detail: oneLine(h.Message), status: h.StatusCode, Cause: err}
	switch {
	case h.StatusCode == http.StatusUnauthorized:
		e.Kind = ErrAppKey
	case h.StatusCode == http.StatusForbidden && strings.Contains(h.Message, "suspended"):
		e.Kind = ErrSuspended
	default:
		return err
	}
	return e
}

// Installations lists where the App is installed; nil, and no error, for a login that is none.
func (c *Client) Installations(ctx context.Context) ([]Installation, error) {
	if c.app == nil {
		return nil, nil
	}
	out := []Installation{}
	for page := 1; page <= sinceLimit; page++ {
		var all []installed
		err := c.read(ctx, "list the installations of the GitHub App", false, func(ctx context.Context) error {
			return c.app.ask(ctx, fmt.Sprintf("/app/installations?per_page=100&page=%d", page), &all)
		})
		if err != nil {
			return nil, err
		}
		for _, i := range all {
			out = append(out, i.shape())
		}
		if len(all) < 100 {
			break
		}
	}
	return out, nil
}

// Installed lists the repositories of an owner that the App is installed on; nil, and no error, for a login that is none.
func (c *Client) Installed(ctx context.Context, owner string) (all []review.Repo, err error) {
	installations, err := c.Installations(ctx)
	at := slices.IndexFunc(installations, func(i Installation) bool { return strings.EqualFold(i.Account, owner) && i.Suspended.IsZero() })
	if err != nil || at < 0 {
		return nil, err
	}
	b, err := c.bound(installations[at], "")
	if err != nil {
		return nil, err
	}
	address := "installation/repositories?per_page=100"
	for range sinceLimit {
		var page struct {
			Repositories []struct {
				Name     string
				Archived bool
				Owner    struct{ Login string }
			}
		}
		if address, err = b.get(ctx, "list the repositories of the GitHub App on "+owner, false, address, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Repositories {
			repo, err := checkRepo(review.Repo{Host: c.host, Owner: r.Owner.Login, Name: r.Name})
			if err == nil && !r.Archived {
				all = append(all, repo)
			}
		}
		if address == "" {
			break
		}
	}
	return all, nil
}

// IsApp reports whether the credential is a GitHub App's key.
func (c *Client) IsApp() bool { return c.app != nil }

// For is the client for a repository: the same one, unless the credential is a GitHub App, which has a login for each of its installations. Errors:
// ErrNotInstalled, ErrSuspended, ErrAppKey, ErrMoved.
func (c *Client) For(ctx context.Context, repo review.Repo) (*Client, error) {
	if c.app == nil {
		return c, nil
	}
	in, err := c.installation(ctx, repo)
	if err != nil {
		return nil, err
	}
	return c.bound(in, repo.Name)
}

// bound is the client of an installation, for one of its repositories.
func (c *Client) bound(in Installation, repo string) (*Client, error) {
	l := c.app
	l.mu.Lock()
	s := l.shared[in.ID]
	if s == nil {
		limits := &limits{}
		s = &shared{writing: make(turn, 1), writeGap: l.first.writeGap, limits: limits, transport: l.connect(limits)}
		l.shared[in.ID] = s
	}
	l.mu.Unlock()
	out := *c
	out.shared, out.at, out.repo = s, in, repo
	return &out, out.wire(&ticketed{c: &out, next: s.transport})
}

// anyone is the client of any installation, to ask whose the App's account is.
func (c *Client) anyone(ctx context.Context) (*Client, error) {
	all, err := c.Installations(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(i Installation) bool { return i.Suspended.IsZero() })
	if at < 0 {
		return nil, &Error{Op: "log in as the GitHub App", Kind: ErrNotInstalled, Detail: "install it: " + c.installURL()}
	}
	return c.bound(all[at], "")
}

// ticketed gives every request a token for what it does.
type ticketed struct {
	c    *Client
	next http.RoundTripper
}

func (t *ticketed) RoundTrip(r *http.Request) (*http.Response, error) {
	n := needOf(r)
	if t.c.repo == "" {
		n = naming
	}
	resp, err := t.send(r, n)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	t.c.app.forget(t.c.at.ID) // it was revoked before its time
	if n != reading && n != naming || r.Body != nil && r.GetBody == nil {
		return resp, nil // what writes is not sent again
	}
	_ = resp.Body.Close()
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.send(again, n)
}

func (t *ticketed) send(r *http.Request, n need) (*http.Response, error) {
	token, err := t.c.mint(r.Context(), t.c.at, t.c.repo, n)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "token "+token)
	return t.next.RoundTrip(r)
}

// needOf is what a request does.
func needOf(r *http.Request) need {
	path := r.URL.Path
	switch {
	case strings.HasSuffix(path, "/graphql"):
		return needOfQuery(r)
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		return reading
	case strings.Contains(path, "/statuses/"):
		return marking
	case strings.HasSuffix(path, "/pulls"), r.Method == http.MethodPatch && strings.Contains(path, "/pulls/"):
		return proposing
	}
	return commenting
}

func needOfQuery(r *http.Request) need {
	if r.GetBody == nil {
		return reading
	}
	body, err := r.GetBody()
	if err != nil {
		return reading
	}
	defer body.Close()
	var q struct{ Query string }
	if json.NewDecoder(body).Decode(&q) != nil || !strings.HasPrefix(strings.TrimSpace(q.Query), "mutation") {
		return reading
	}
	if strings.Contains(q.Query, "resolveReviewThread") {
		return resolving
	}
	return commenting
}

// mint gives a token for a repository of an installation and one kind of operation: the one there is, while it is good for another minute.
func (c *Client) mint(ctx context.Context, in Installation, repo string, n need) (string, error) {
	for i, p := range permissionsOf[n] {
		if i == 0 && !grants(in.Permissions, p) {
			c.app.unlearn(in.ID)
			return "", &Error{Kind: ErrForbidden, Needs: p.String(), Detail: "the installation of the GitHub App on " + oneLine(in.Account) + " has not been granted it", status: http.StatusForbidden}
		}
	}
	l, k := c.app, ticket{in.ID, strings.ToLower(repo), n}
	l.mu.Lock()
	t := l.minted[k]
	if t == nil {
		t = ghinstallation.NewFromAppsTransport(l.signed(), in.ID)
		t.Client = &http.Client{Transport: l.base, CheckRedirect: stayHere, Timeout: answerTimeout}
		t.InstallationTokenOptions = &gogithub.InstallationTokenOptions{Permissions: asked(in.Permissions, n)}
		if repo != "" {
			t.InstallationTokenOptions.Repositories = []string{repo}
		}
		l.minted[k] = t
	}
	l.mu.Unlock()
	token, err := t.Token(ctx)
	if err == nil {
		c.outgoing.passing(token)
		return token, nil
	}
	l.unlearn(in.ID)
	var h *ghinstallation.HTTPError
	if !errors.As(err, &h) || h.Response == nil {
		return "", err
	}
	defer h.Response.Body.Close()
	err = l.refused(api.HandleHTTPError(h.Response))
	e := classify("", err)
	switch {
	case errors.Is(e, ErrNotFound):
		e.Kind = ErrNotInstalled
	case e.status == http.StatusUnprocessableEntity: // a repository that is not selected any more, or a permission that was taken away
		e.Kind = ErrForbidden
	}
	return "", e
}

// asked are the permissions of a token, as the library takes them.
func asked(have map[string]string, n need) *gogithub.InstallationPermissions {
	want := map[string]string{}
	for _, p := range permissionsOf[n] {
		if grants(have, p) {
			want[p.name] = p.level
		}
	}
	data, err := json.Marshal(want)
	out := &gogithub.InstallationPermissions{}
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil { // words to words
		panic(err)
	}
	return out
}

// forget drops the tokens of an installation, unlearn what was known of it.
func (l *appLogin) forget(installation int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.minted, func(k ticket, _ *ghinstallation.Transport) bool { return k.installation == installation })
}

func (l *appLogin) unlearn(installation int64) {
	l.forget(installation)
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.known, func(_ string, i Installation) bool { return i.ID == installation })
}

// credential is a token for what is done outside of this process's requests: by gh and by git.
func (c *Client) credential(ctx context.Context, op string, repo review.Repo, n need) (token string, err error) {
	if c.app == nil {
		return c.token, nil
	}
	in, name := c.at, c.repo
	if !strings.EqualFold(name, repo.Name) || !strings.EqualFold(in.Account, repo.Owner) {
		if in, err = c.installation(ctx, repo); err != nil {
			return "", err
		}
		name = repo.Name
	}
	err = c.read(ctx, op, false, func(ctx context.Context) (err error) {
		token, err = c.mint(ctx, in, name, n)
		return err
	})
	return token, err
}

// held are the secrets of the App: its key, and the tokens that are good.
func (l *appLogin) held() []string {
	l.mu.Lock()
	all := slices.Collect(maps.Values(l.minted))
	l.mu.Unlock()
	out := slices.Clone(l.secrets)
	for _, t := range all {
		if _, refresh, err := t.Expiry(); err == nil && refresh.After(time.Now()) {
			if token, err := t.Token(context.Background()); err == nil { // the one there is
				out = append(out, token)
			}
		}
	}
	return out
}
