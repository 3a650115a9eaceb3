// Package signin signs people in with GitHub, for pages in a browser: the authorization code flow with PKCE, and then two questions
// with the person's own token, which is forgotten at once: who they are, and which repositories they administer.
package signin

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/prloop/prloop/review"
)

// GitHub is an OAuth app, or a GitHub App, of one host.
type GitHub struct {
	// Host is the web host. Web and API are where its pages and its REST API are; by default those of the host.
	Host     string
	Web, API string
	ID       string
	Secret   string
	// Callback is the address of ours that GitHub sends people back to.
	Callback string
	// Client makes the calls; nil for one that gives up after 20 seconds.
	Client *http.Client
}

// Person is somebody whom GitHub knows, and the repositories they administer, sorted by name.
type Person struct {
	Login string
	Repos []Repo
}

// Repo is a repository: its name of today (review.Repo.String), and what it is known by.
type Repo struct {
	Name string
	Key  review.RepoKey
}

// A Visit is one attempt to sign in. It stays with the person's browser, so that nobody can end what another began.
type Visit struct{ State, Verifier string }

// Errors that are the visitor's.
var (
	ErrState  = errors.New("this sign-in was not begun in this browser, or has ended")
	ErrDenied = errors.New("GitHub did not grant access")
)

// limits of what GitHub is asked for.
const (
	maxPages = 50
	maxBody  = 8 << 20
)

func (g GitHub) config() *oauth2.Config {
	web := g.Web
	if web == "" {
		web = "https://" + g.Host
	}
	return &oauth2.Config{
		ClientID: g.ID, ClientSecret: g.Secret, RedirectURL: g.Callback,
		Endpoint: oauth2.Endpoint{AuthURL: web + "/login/oauth/authorize", TokenURL: web + "/login/oauth/access_token"},
	}
}

func (g GitHub) api() string {
	switch {
	case g.API != "":
		return g.API
	case g.Host == "github.com":
		return "https://api.github.com"
	}
	return "https://" + g.Host + "/api/v3"
}

// Begin gives the address to send a person to, and what to remember until they come back.
func (g GitHub) Begin() (address string, v Visit) {
	v = Visit{State: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier()}
	return g.config().AuthCodeURL(v.State, oauth2.S256ChallengeOption(v.Verifier)), v
}

// End says who came back.
func (g GitHub) End(ctx context.Context, v Visit, answer url.Values) (Person, error) {
	if v.State == "" || subtle.ConstantTimeCompare([]byte(v.State), []byte(answer.Get("state"))) != 1 {
		return Person{}, ErrState
	}
	if answer.Get("code") == "" {
		return Person{}, ErrDenied
	}
	client := g.Client
	if client == nil {
		client = &http.Client{Timeout: 20 * time.Second}
	}
	token, err := g.config().Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), answer.Get("code"), oauth2.VerifierOption(v.Verifier))
	if err != nil {
		var refused *oauth2.RetrieveError // its text holds what the server wrote
		if errors.As(err, &refused) {
			return Person{}, ErrDenied
		}
		return Person{}, fmt.Errorf("%s gave no token: %w", g.Host, err)
	}
	var who struct {
		Login string `json:"login"`
	}
	if err := g.get(ctx, client, token, "/user", &who); err != nil {
		return Person{}, err
	}
	if who.Login == "" {
		return Person{}, errors.New("GitHub did not say who signed in")
	}
	p := Person{Login: who.Login}
	for page := 1; ; page++ {
		if page > maxPages {
			return Person{}, fmt.Errorf("%s has access to more than %d repositories", p.Login, maxPages*100)
		}
		var list []struct {
			ID    int64  `json:"id"`
			Name  string `json:"name"`
			Owner struct {
				Login string `json:"login"`
			} `json:"owner"`
			Permissions struct {
				Admin bool `json:"admin"`
			} `json:"permissions"`
		}
		if err := g.get(ctx, client, token, "/user/repos?per_page=100&page="+strconv.Itoa(page), &list); err != nil {
			return Person{}, err
		}
		for _, r := range list {
			if r.Permissions.Admin {
				repo := review.Repo{Host: g.Host, Owner: r.Owner.Login, Name: r.Name}
				p.Repos = append(p.Repos, Repo{repo.String(), repo.Key(r.ID)})
			}
		}
		if len(list) < 100 {
			slices.SortFunc(p.Repos, func(a, b Repo) int { return cmp.Compare(a.Name, b.Name) })
			return p, nil
		}
	}
}

func (g GitHub) get(ctx context.Context, client *http.Client, token *oauth2.Token, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.api()+path, nil)
	if err != nil {
		return err
	}
	token.SetAuthHeader(req)
	req.Header.Set("Accept", "application/vnd.github+json")
	answer, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%s did not answer: %w", g.Host, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s to %s", g.Host, answer.Status, strings.SplitN(path, "?", 2)[0])
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxBody)).Decode(into); err != nil {
		return fmt.Errorf("read what %s answered to %s: %w", g.Host, path, err)
	}
	return nil
}
