package github

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/cli/go-gh/v2/pkg/api"
)

// AppPermissions are those that a GitHub App for prloop asks for; one that never pushes reads contents alone.
func AppPermissions(pushes bool) map[string]string {
	contents := "read"
	if pushes {
		contents = "write"
	}
	return map[string]string{"pull_requests": "write", "contents": contents, "issues": "write", "statuses": "write", "checks": "read", "metadata": "read"}
}

// AppEvents are those that its webhook sends.
func AppEvents() []string {
	return []string{"pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "issue_comment", "check_suite", "check_run"}
}

// Registered is a GitHub App that was registered from a manifest.
type Registered struct {
	ID   int64
	Slug string
	// URL is its page.
	URL string
	// Key is its private key, WebhookSecret that of its webhook; empty where it has none.
	Key, WebhookSecret string
}

// Register exchanges the code that GitHub gives for a manifest. It is good once, so that nothing is tried again.
func Register(ctx context.Context, o Options, code string) (Registered, error) {
	const op = "register the GitHub App"
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if strings.ContainsAny(o.Host, ":/@ ") || o.Host == "" {
		return Registered{}, &Error{Op: op, Kind: ErrHost, Detail: "a host has neither scheme nor port"}
	}
	s := environment(o.Env).settings(o.Host)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.restPrefix(o.Host)+"app-manifests/"+url.PathEscape(code)+"/conversions", nil)
	if err != nil {
		return Registered{}, err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("User-Agent", "prloop")
	client := &http.Client{Transport: newTransport(o.Host, s, &limits{}, &outgoing{host: o.Host}), CheckRedirect: stayHere, Timeout: answerTimeout}
	resp, err := client.Do(req)
	if err != nil {
		return Registered{}, classify(op, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return Registered{}, classify(op, api.HandleHTTPError(resp))
	}
	var a struct {
		ID      int64
		Slug    string
		HTMLURL string `json:"html_url"`
		PEM     string
		Secret  *string `json:"webhook_secret"`
	}
	raw, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil || a.ID <= 0 || !strings.HasPrefix(a.PEM, "-----BEGIN ") || !strings.HasPrefix(a.HTMLURL, "https://"+o.Host+"/") {
		return Registered{}, &Error{Op: op, Kind: ErrBadAnswer, Detail: "GitHub answered with no App", Cause: err}
	}
	out := Registered{ID: a.ID, Slug: a.Slug, URL: a.HTMLURL, Key: a.PEM}
	if a.Secret != nil {
		out.WebhookSecret = *a.Secret
	}
	return out, nil
}
