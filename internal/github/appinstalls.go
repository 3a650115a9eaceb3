package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"

	"github.com/prloop/prloop/review"
)

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
