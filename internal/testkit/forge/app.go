package forge

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// App is a GitHub App. Its account is SLUG[bot].
type App struct {
	ID         int64
	Slug, Name string
	// Owner is the account it is registered by.
	Owner string
	// Permissions are those it asks for, as GitHub names them: {"contents": "read"}.
	Permissions map[string]string
	Events      []string
	// Secret is that of its webhook, HookURL where that goes; made by a manifest.
	Secret, HookURL string

	key *rsa.PublicKey
}

// Installation is an App on an account.
type Installation struct {
	ID int64
	// Account is whose repositories it reaches: all of them when Repos, of OWNER/NAME, is nil.
	Account string
	Repos   []string
	// Permissions are those that were granted; nil for what the App asks for.
	Permissions map[string]string

	app       *App
	suspended time.Time
}

// Minted is a token that an App was given.
type Minted struct {
	Installation int64
	Token        string
	// Repos are those it was narrowed to; nil for all of the installation.
	Repos       []string
	Permissions map[string]string
}

// apps is what the forge knows of them; under its lock.
type apps struct {
	all       []*App
	installed []*Installation
	minted    []Minted
	manifests map[string]manifest // by code
	last      int64
}

// tokenLife is how long an installation's token is good for.
const tokenLife = time.Hour

// AddApp registers an App and gives its private key, as PEM.
func (f *Forge) AddApp(a App) (App, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.addApp(a)
}

func (f *Forge) addApp(a App) (App, string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return App{}, "", fmt.Errorf("make the key of an app: %w", err)
	}
	if a.ID == 0 {
		f.apps.last++
		a.ID = 4000 + f.apps.last
	}
	if a.Name == "" {
		a.Name = a.Slug
	}
	a.key = &key.PublicKey
	f.user(a.Slug + "[bot]").Bot = true
	f.apps.all = append(f.apps.all, &a)
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return a, string(text), nil
}

// RevokeKey has GitHub take an App's key no more.
func (f *Forge) RevokeKey(slug string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.apps.all {
		if a.Slug == slug {
			a.key = nil
		}
	}
}

// Install installs an App and gives the number of the installation. Its account may write to the repositories.
func (f *Forge) Install(slug string, i Installation) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.apps.all, func(a *App) bool { return a.Slug == slug })
	if at < 0 {
		return 0, fmt.Errorf("there is no app %q", slug)
	}
	i.app = f.apps.all[at]
	if i.Permissions == nil {
		i.Permissions = maps.Clone(i.app.Permissions)
	}
	f.apps.last++
	i.ID = 70000 + f.apps.last
	f.apps.installed = append(f.apps.installed, &i)
	for _, r := range f.repos {
		if i.reaches(r) {
			r.roles[strings.ToLower(slug)+"[bot]"] = Write
		}
	}
	return i.ID, nil
}

// Suspend ends an installation's access until it is given back.
func (f *Forge) Suspend(installation int64, suspended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range f.apps.installed {
		if i.ID != installation {
			continue
		}
		i.suspended = time.Time{}
		if suspended {
			i.suspended = f.now()
			f.dropTokens(installation)
		}
	}
}

// Uninstall takes an App away from an account.
func (f *Forge) Uninstall(installation int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.apps.installed = slices.DeleteFunc(f.apps.installed, func(i *Installation) bool { return i.ID == installation })
	f.dropTokens(installation)
}

// DropTokens makes the tokens of an installation invalid before their time.
func (f *Forge) DropTokens(installation int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropTokens(installation)
}

func (f *Forge) dropTokens(installation int64) {
	for _, m := range f.apps.minted {
		if m.Installation == installation {
			delete(f.tokens, m.Token)
		}
	}
}

// Minted are the tokens that Apps were given, oldest first.
func (f *Forge) Minted() []Minted {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.apps.minted)
}

// reaches reports whether an installation reaches a repository.
func (i *Installation) reaches(r *Repo) bool {
	return strings.EqualFold(r.Owner, i.Account) && (i.Repos == nil ||
		slices.ContainsFunc(i.Repos, func(name string) bool { return strings.EqualFold(name, r.FullName()) }))
}

// Of the tokens of Apps: what they may.

// grants reports whether a token has a permission; one that names none has all.
func (t Token) grants(name, level string) bool {
	have, some := t.Permissions[name]
	return t.Permissions == nil || some && (have == level || have == "write" || have == "admin")
}

// reaches reports whether a token is for a repository.
func (t Token) reaches(r *Repo) bool {
	return t.Repos == nil || slices.ContainsFunc(t.Repos, func(name string) bool { return strings.EqualFold(name, r.FullName()) })
}

// needs are the permissions that routes ask for; any of several is enough.
func needs(method, route string) (names []string, level string) {
	level = "read"
	if method != http.MethodGet && method != http.MethodHead {
		level = "write"
	}
	switch {
	case strings.Contains(route, "/statuses"):
		names = []string{"statuses"}
	case strings.Contains(route, "/pulls"):
		names = []string{"pull_requests"}
	case strings.Contains(route, "/issues/"):
		names = []string{"issues", "pull_requests"}
	}
	return names, level
}

// lacks answers a request whose token lacks a permission; false when it has what is needed.
func (c *call) lacks(w http.ResponseWriter, route string) bool {
	names, level := needs(c.r.Method, route)
	if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return c.token.grants(n, level) }) {
		return false
	}
	w.Header().Set("X-Accepted-GitHub-Permissions", strings.Join(names, "="+level+"; ")+"="+level)
	restError(w, http.StatusForbidden, "Resource not accessible by integration")
	return true
}

// forbids says why a token may not do a mutation.
func (t Token) forbids(mutation string) error {
	name := "pull_requests"
	if mutation == "resolveReviewThread" || mutation == "unresolveReviewThread" { // as GitHub has it
		name = "contents"
	}
	if t.grants(name, "write") || name == "pull_requests" && t.grants("issues", "write") {
		return nil
	}
	return refusal{"FORBIDDEN", "Resource not accessible by integration"}
}

// JSON Web Tokens.

// bearer is the App that signed a JSON Web Token; the message says why there is none.
func (f *Forge) bearer(token string) (*App, string) {
	const unread = "A JSON web token could not be decoded"
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, unread
	}
	var claims struct {
		Issuer  json.RawMessage `json:"iss"`
		Issued  int64           `json:"iat"`
		Expires int64           `json:"exp"`
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	signature, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || err2 != nil || json.Unmarshal(body, &claims) != nil {
		return nil, unread
	}
	issuer := strings.Trim(string(claims.Issuer), `"`)
	at := slices.IndexFunc(f.apps.all, func(a *App) bool { return strconv.FormatInt(a.ID, 10) == issuer })
	if at < 0 {
		return nil, "Integration not found"
	}
	a, sum, now := f.apps.all[at], sha256.Sum256([]byte(parts[0]+"."+parts[1])), f.now()
	switch {
	case a.key == nil || rsa.VerifyPKCS1v15(a.key, crypto.SHA256, sum[:], signature) != nil:
		return nil, unread
	case now.Unix() >= claims.Expires:
		return nil, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
	case claims.Expires-now.Unix() > 600:
		return nil, "'Expiration time' claim ('exp') is too far in the future"
	case claims.Issued > now.Unix():
		return nil, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
	}
	return a, ""
}

// app is the App a request is from, answering 401 itself when there is none.
func (c *call) app(w http.ResponseWriter) *App {
	_, token, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	a, why := c.f.bearer(token)
	if a == nil {
		restError(w, http.StatusUnauthorized, why)
	}
	return a
}

// appRoutes are answered to a JSON Web Token, or to nobody in particular.
var appRoutes = map[string]bool{
	"GET /app": true, "GET /app/installations": true, "GET /repos/{owner}/{repo}/installation": true,
	"POST /app/installations/{installation_id}/access_tokens": true, "POST /app-manifests/{code}/conversions": true,
}

func init() {
	maps.Copy(routes, map[string]func(*call, http.ResponseWriter, *http.Request){
		"GET /app":               (*call).getApp,
		"GET /app/installations": (*call).listInstallations,
		"POST /app/installations/{installation_id}/access_tokens": (*call).postToken,
		"GET /repos/{owner}/{repo}/installation":                  (*call).getInstallation,
		"GET /installation/repositories":                          (*call).listInstalled,
		"POST /app-manifests/{code}/conversions":                  (*call).convertManifest,
	})
}

func (c *call) integration(a *App) map[string]any {
	return c.fill("integration", map[string]any{
		"id": a.ID, "slug": a.Slug, "node_id": nodeID("A", a.ID), "name": a.Name, "owner": c.user(a.Owner), "html_url": c.web("/apps/" + a.Slug),
		"external_url": "https://example.com", "permissions": a.Permissions, "events": append([]string{}, a.Events...),
		"created_at": stamp(c.f.now()), "updated_at": stamp(c.f.now()),
	})
}

func (c *call) getApp(w http.ResponseWriter, _ *http.Request) {
	if a := c.app(w); a != nil {
		writeJSON(w, http.StatusOK, c.integration(a))
	}
}

func (c *call) installation(i *Installation) map[string]any {
	selection, since := "all", any(nil)
	if i.Repos != nil {
		selection = "selected"
	}
	if !i.suspended.IsZero() {
		since = stamp(i.suspended)
	}
	return c.fill("installation", map[string]any{
		"id": i.ID, "app_id": i.app.ID, "app_slug": i.app.Slug, "account": c.user(i.Account), "target_id": c.f.user(i.Account).ID, "target_type": "Organization",
		"repository_selection": selection, "permissions": i.Permissions, "events": append([]string{}, i.app.Events...), "suspended_at": since,
		"html_url":          c.web(fmt.Sprintf("/organizations/%s/settings/installations/%d", i.Account, i.ID)),
		"access_tokens_url": c.api(fmt.Sprintf("/app/installations/%d/access_tokens", i.ID)),
	})
}

func (c *call) listInstallations(w http.ResponseWriter, r *http.Request) {
	a := c.app(w)
	if a == nil {
		return
	}
	var all []any
	for _, i := range c.f.apps.installed {
		if i.app.ID == a.ID {
			one := c.installation(i)
			one["account"] = c.account(i.Account)
			all = append(all, one)
		}
	}
	c.sendPage(w, r, all)
}

// account is what the published description wants of an installation's account in a list: a user, and an enterprise.
func (c *call) account(login string) map[string]any {
	out := c.fill("enterprise", nil)
	maps.Copy(out, c.user(login))
	out["slug"], out["name"] = login, login
	return out
}

func (c *call) getInstallation(w http.ResponseWriter, r *http.Request) {
	a := c.app(w)
	if a == nil {
		return
	}
	repo := c.f.repos[strings.ToLower(r.PathValue("owner")+"/"+r.PathValue("repo"))]
	for _, i := range c.f.apps.installed {
		if repo == nil || i.app.ID != a.ID || !i.reaches(repo) {
			continue
		}
		if !strings.EqualFold(repo.Name, r.PathValue("repo")) || !strings.EqualFold(repo.Owner, r.PathValue("owner")) {
			w.Header().Set("Location", c.api(fmt.Sprintf("/repositories/%d/installation", repo.ID)))
			restError(w, http.StatusMovedPermanently, "Moved Permanently")
			return
		}
		writeJSON(w, http.StatusOK, c.installation(i))
		return
	}
	restError(w, http.StatusNotFound, "Not Found")
}

// postToken mints a token: it can be narrowed, and never be given what was not granted.
func (c *call) postToken(w http.ResponseWriter, r *http.Request) {
	a := c.app(w)
	if a == nil {
		return
	}
	id, _ := strconv.ParseInt(r.PathValue("installation_id"), 10, 64)
	at := slices.IndexFunc(c.f.apps.installed, func(i *Installation) bool { return i.ID == id && i.app.ID == a.ID })
	if at < 0 {
		restError(w, http.StatusNotFound, "Not Found")
		return
	}
	i := c.f.apps.installed[at]
	var in struct {
		Repositories []string
		Permissions  map[string]string
	}
	switch {
	case !i.suspended.IsZero():
		restError(w, http.StatusForbidden, "This installation has been suspended")
		return
	case len(c.body) > 0 && !c.decode(w, &in):
		return
	}
	t := Token{Login: a.Slug + "[bot]", Permissions: i.Permissions, Expires: c.f.now().Add(tokenLife)}
	if in.Permissions != nil {
		granted := Token{Permissions: i.Permissions}
		for name, level := range in.Permissions {
			if !granted.grants(name, level) {
				restError(w, http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
				return
			}
		}
		t.Permissions = in.Permissions
	}
	minted := Minted{Installation: id, Permissions: t.Permissions}
	t.Repos = []string{}
	for key, r := range c.f.repos {
		wanted := in.Repositories == nil || slices.ContainsFunc(in.Repositories, func(n string) bool { return strings.EqualFold(n, r.Name) })
		if i.reaches(r) && wanted && key == strings.ToLower(r.FullName()) { // an old name leads to the same
			t.Repos = append(t.Repos, r.FullName())
		}
	}
	slices.Sort(t.Repos)
	if in.Repositories != nil && len(t.Repos) != len(in.Repositories) {
		restError(w, http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation.")
		return
	}
	if in.Repositories != nil {
		minted.Repos = slices.Clone(t.Repos)
	}
	minted.Token = "ghs_" + randomHex(18)
	c.f.tokens[minted.Token], c.f.apps.minted = t, append(c.f.apps.minted, minted)
	writeJSON(w, http.StatusCreated, map[string]any{"token": minted.Token, "expires_at": stamp(t.Expires), "permissions": t.Permissions})
}

func (c *call) listInstalled(w http.ResponseWriter, r *http.Request) {
	if !c.known || c.token.Repos == nil {
		restError(w, http.StatusForbidden, "You must authenticate with an installation access token in order to list repositories for an installation.")
		return
	}
	all := []any{}
	for _, name := range c.token.Repos {
		if repo := c.f.repos[strings.ToLower(name)]; repo != nil {
			all = append(all, c.fill("repository", c.repository(repo)))
		}
	}
	page := &answer{header: w.Header()} // its Link is that of this answer
	c.sendPage(page, r, all)
	var items []any
	_ = json.Unmarshal(page.body, &items) // what was just written
	writeJSON(w, http.StatusOK, map[string]any{"total_count": len(all), "repositories": items})
}

// Manifests.

type manifest struct {
	Name     string            `json:"name"`
	URL      string            `json:"url"`
	Redirect string            `json:"redirect_url"`
	Public   bool              `json:"public"`
	Rights   map[string]string `json:"default_permissions"`
	Events   []string          `json:"default_events"`
	Hook     struct {
		URL    string `json:"url"`
		Active *bool  `json:"active"`
	} `json:"hook_attributes"`
	owner string
}

// newApp is the page at which a person registers an App from a manifest. There is nobody to press its button: it leads back at once.
func (f *Forge) newApp(w http.ResponseWriter, r *http.Request) bool {
	organization, isOrganization := strings.CutPrefix(r.URL.Path, "/organizations/")
	organization, isForm := strings.CutSuffix(organization, "/settings/apps/new")
	switch {
	case r.URL.Path == "/settings/apps/new":
		organization = "octocat"
	case !isOrganization || !isForm:
		return false
	}
	var m manifest
	back, err := url.Parse("")
	if r.Method == http.MethodPost && json.Unmarshal([]byte(r.PostFormValue("manifest")), &m) == nil {
		back, err = url.Parse(m.Redirect)
	}
	if err != nil || back.Host == "" || m.Name == "" || m.URL == "" || (m.Hook.URL == "") != (len(m.Events) == 0) {
		http.Error(w, "invalid manifest", http.StatusUnprocessableEntity)
		return true
	}
	m.owner = organization
	f.mu.Lock()
	defer f.mu.Unlock()
	code := randomHex(20)
	if f.apps.manifests == nil {
		f.apps.manifests = map[string]manifest{}
	}
	f.apps.manifests[code] = m
	q := back.Query()
	q.Set("code", code)
	if state := r.URL.Query().Get("state"); state != "" {
		q.Set("state", state)
	}
	back.RawQuery = q.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
	return true
}

// convertManifest gives the App of a code, once.
func (c *call) convertManifest(w http.ResponseWriter, r *http.Request) {
	m, known := c.f.apps.manifests[r.PathValue("code")]
	if !known {
		restError(w, http.StatusNotFound, "Not Found")
		return
	}
	delete(c.f.apps.manifests, r.PathValue("code"))
	slug := strings.ReplaceAll(strings.ToLower(m.Name), " ", "-")
	a, key, err := c.f.addApp(App{Slug: slug, Name: m.Name, Owner: m.owner, Permissions: m.Rights, Events: m.Events, Secret: randomHex(20), HookURL: m.Hook.URL})
	if err != nil {
		restError(w, http.StatusInternalServerError, err.Error())
		return
	}
	out := c.integration(&a)
	out["pem"], out["webhook_secret"], out["client_id"], out["client_secret"] = key, a.Secret, "Iv23"+randomHex(8), randomHex(20)
	if m.Hook.URL == "" {
		out["webhook_secret"] = nil
	}
	writeJSON(w, http.StatusCreated, out)
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
