package github

import (
	"context"
	"crypto/rsa"
	"errors"
	"maps"
	"net/http"
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

// ticket is what a token is for.
type ticket struct {
	installation int64
	repo         string
	need         need
}

// keyBegins is how much of a key is the same for all keys of its kind, in characters.
const keyBegins = 32

// newApp reads the key of an App and makes it the credential.
func newApp(ctx context.Context, a *appfile.App, c *Client) (*appLogin, error) {
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
	l := c.newLogin(a)
	l.key = key
	if body.Len() > 2*keyBegins {
		l.secrets = []string{body.String()[keyBegins:]}
	}
	c.outgoing.add(l.secrets...)
	l.asks.Transport = l.signed()
	return l, nil
}

// newLogin is an App without a key, which a broker may hold.
func (c *Client) newLogin(a *appfile.App) *appLogin {
	l := &appLogin{
		app: a, rest: strings.TrimSuffix(c.settings.restPrefix(c.host), "/"), first: c.shared,
		known: map[string]Installation{}, shared: map[int64]*shared{}, minted: map[ticket]*ghinstallation.Transport{},
		connect: func(l *limits) *transport { return newTransport(c.host, c.settings, l, c.outgoing) },
	}
	l.base = l.connect(&limits{})
	l.asks = &http.Client{Transport: l.base, CheckRedirect: stayHere, Timeout: answerTimeout}
	return l
}

// signed signs requests with the App's key. Each has its own: it is not made for several at once.
func (l *appLogin) signed() *ghinstallation.AppsTransport {
	t := ghinstallation.NewAppsTransportFromPrivateKey(l.base, l.app.ID, l.key)
	t.BaseURL = l.rest
	return t
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
		s = &shared{writing: make(turn, 1), writeGap: l.first.writeGap, limits: limits, transport: l.connect(limits), pace: pace{places: l.first.pace.places, clock: limits.now}}
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

// mint gives a token for a repository of an installation and one kind of operation: the one there is, while it is good for another minute.
func (c *Client) mint(ctx context.Context, in Installation, repo string, n need) (string, error) {
	for i, p := range permissionsOf[n] {
		if i == 0 && !grants(in.Permissions, p) {
			c.app.unlearn(in.ID)
			return "", &Error{Kind: ErrForbidden, Needs: p.String(), Detail: "the installation of the GitHub App on " + oneLine(in.Account) + " has not been granted it", status: http.StatusForbidden}
		}
	}
	if c.relay != nil {
		return claim(in.Account, repo), nil
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
