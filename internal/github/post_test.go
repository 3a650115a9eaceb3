package github

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func TestPost(t *testing.T) {
	for _, host := range []string{"github.com", "ghe.example.com"} {
		t.Run(host, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			f, p, _ := open(t)
			c := client(t, f, Options{Host: host})
			body := text(t, "A report.\n\n- one\n- `two`\n\nünïcode\n")
			address, err := c.Post(t.Context(), readPull(t, c), body)
			if err != nil {
				t.Fatal(err)
			}
			posted := p.Comments()
			if len(posted) != 1 || posted[0].Body != body.String() || posted[0].Author != "octocat" {
				t.Fatalf("posted %+v, want %q", posted, body)
			}
			if want := fmt.Sprintf("https://%s/acme/widgets/pull/7#issuecomment-%d", host, posted[0].ID); address != want {
				t.Errorf("the address is %s, want %s", address, want)
			}
			left, err := os.ReadDir(os.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range left {
				if strings.HasPrefix(e.Name(), "prloop-") {
					t.Errorf("%s was left behind", e.Name())
				}
			}
		})
	}
}

// TestPostFaults is threats.md T58: one call whatever happens, and Refused only when nothing was posted for certain.
func TestPostFaults(t *testing.T) {
	t.Parallel()
	f, p, repo := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	rows := []struct {
		mode    forge.Mode
		want    error
		refused bool
		posted  int
	}{
		{forge.Unauthorized, ErrNotLoggedIn, true, 0},
		{forge.Forbidden, ErrForbidden, true, 0},
		{forge.LockedConversation, ErrLocked, true, 0},
		{forge.PrimaryLimit, ErrRateLimited, true, 0},
		{forge.SecondaryLimit, ErrRateLimited, true, 0},
		{forge.SecondaryLimitWait, ErrRateLimited, true, 0},
		{forge.NotFound, ErrNotFound, true, 0},
		{forge.Gone, ErrForbidden, true, 0},
		{forge.TooLong, ErrTooLong, true, 0},
		{forge.Conflict, ErrBadAnswer, true, 0},
		{forge.InternalError, ErrUnavailable, false, 0},
		{forge.BadGateway, ErrUnavailable, false, 0},
		{forge.Unavailable, ErrUnavailable, false, 0},
		{forge.ResetBefore, ErrUnavailable, false, 0},
		{forge.GraphQLErrors, ErrUnavailable, false, 0},
		{forge.HTML, ErrUnavailable, false, 0},
		{forge.BadGatewayAfter, ErrUnavailable, false, 1},
		{forge.ResetAfter, ErrUnavailable, false, 1},
		{forge.TruncatedJSON, ErrUnavailable, false, 1},
	}
	for _, row := range rows {
		before, calls := len(p.Comments()), writes(f)
		f.Heal()
		c.limits.forget() // each row is a process of its own
		f.Fail(forge.Fault{Op: "CommentCreate", Mode: row.mode, After: time.Minute})
		_, err := c.Post(t.Context(), pr, text(t, "report"))
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, row.want) || e.Refused() != row.refused {
			t.Errorf("%s: %v (refused %v), want %v (refused %v)", row.mode, err, e != nil && e.Refused(), row.want, row.refused)
		}
		if errors.Is(err, ErrRateLimited) && (e.Until.Before(time.Now()) || !strings.HasSuffix(err.Error(), e.Until.UTC().Format(time.RFC3339))) {
			t.Errorf("%s: may go on at %s, and says: %v", row.mode, e.Until, err)
		}
		if strings.ContainsAny(err.Error(), `{\`) {
			t.Errorf("%s: GitHub's answer is printed as it came: %v", row.mode, err)
		}
		if n := len(p.Comments()) - before; n != row.posted {
			t.Errorf("%s: %d comments were posted, want %d", row.mode, n, row.posted)
		}
		if n := writes(f) - calls; n != 1 {
			t.Errorf("%s: %d writes were made, want 1", row.mode, n)
		}
	}
	f.Heal()

	// What the forge itself refuses, in the words GraphQL uses.
	f.AddToken("app", forge.Token{Login: "octocat", ReadOnly: true})
	weak := client(t, f, Options{Env: f.EnvWithToken("", "app")})
	refusedAs(t, weak, pr, ErrForbidden)
	p.Lock()
	repo.SetPermission("octocat", forge.Read)
	refusedAs(t, c, pr, ErrLocked)
	p.Unlock()
	refusedAs(t, c, review.PullRequest{Repo: widgets, Number: 8}, ErrNotFound)
	f.RevokeToken(forge.DefaultToken)
	refusedAs(t, c, pr, ErrNotLoggedIn)
}

// A comment is collapsed in one call whatever happens, and Refused only when it certainly is not.
func TestMinimize(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	address, err := c.Post(t.Context(), pr, text(t, "report"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Discussion(t.Context(), pr)
	if err != nil || len(d.Comments) != 1 || d.Comments[0].Minimized {
		t.Fatalf("%+v, %v", d.Comments, err)
	}
	id := d.Comments[0].ID
	for _, row := range []struct {
		mode    forge.Mode
		want    error
		refused bool
	}{
		{forge.Unauthorized, ErrNotLoggedIn, true}, {forge.Forbidden, ErrForbidden, true}, {forge.PrimaryLimit, ErrRateLimited, true},
		{forge.BadGateway, ErrUnavailable, false}, {forge.ResetBefore, ErrUnavailable, false}, {forge.HTML, ErrBadAnswer, false},
	} {
		calls := writes(f)
		f.Heal()
		c.limits.forget() // each row is a process of its own
		f.Fail(forge.Fault{Op: "Minimize", Mode: row.mode, After: time.Minute})
		_, err := c.Minimize(t.Context(), pr, id)
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, row.want) || e.Refused() != row.refused || writes(f)-calls != 1 || p.Comments()[0].Minimized {
			t.Errorf("%s: %v (refused %v) after %d writes", row.mode, err, e != nil && e.Refused(), writes(f)-calls)
		}
	}
	f.Heal()
	for range 2 { // the second changes nothing
		if got, err := c.Minimize(t.Context(), pr, id); err != nil || got != address {
			t.Errorf("%s, %v; want %s", got, err, address)
		}
		if m := p.Comments()[0]; !m.Minimized || m.Reason != "OUTDATED" || m.Body != text(t, "report").String() {
			t.Errorf("%+v", m)
		}
	}
	if d, err := c.Discussion(t.Context(), pr); err != nil || !d.Comments[0].Minimized {
		t.Errorf("%+v, %v", d.Comments, err)
	}
	var e *Error
	if _, err := c.Minimize(t.Context(), pr, "IC_nothing"); !errors.As(err, &e) || !errors.Is(err, ErrNotFound) || !e.Refused() {
		t.Errorf("a comment that is not there: %v", err)
	}
}

// TestSpoken: what gh prints of an answer is told in GitHub's own words, also where the answer was cut.
func TestSpoken(t *testing.T) {
	for said, want := range map[string]string{
		"GraphQL: Something went wrong (addComment)\nmore":                                                "GraphQL: Something went wrong (addComment)",
		`non-200 OK status code: 403 Forbidden body: "{\"message\":\"No.\",\"status\":\"403\"}\n"` + "\n": "No.",
		`non-200 OK status code: 502 Bad Gateway body: "<html>"`:                                          "HTTP 502 Bad Gateway",
		`non-200 OK status code: 403 Forbidden body: "{\"message\":\"Not`:                                 "HTTP 403 Forbidden",
		"": "",
	} {
		if got := spoken(said); got != want {
			t.Errorf("%q is told as %q, want %q", said, got, want)
		}
	}
}

func refusedAs(t *testing.T, c *Client, pr review.PullRequest, want error) {
	t.Helper()
	_, err := c.Post(t.Context(), pr, text(t, "report"))
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, want) || !e.Refused() {
		t.Errorf("got %v, want %v for certain", err, want)
	}
}

func writes(f *forge.Forge) int {
	n := 0
	for _, e := range f.Log() {
		if e.Write {
			n++
		}
	}
	return n
}

func TestPostNeedsASanitizedText(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	_, err := c.Post(t.Context(), pr, sanitize.Text{})
	var e *Error
	if !errors.As(err, &e) || !e.Refused() || len(p.Comments()) != 0 || writes(f) != 0 {
		t.Errorf("an empty text: %v", err)
	}
}

func TestPostStopsAndKeepsItsDistance(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	f.Fail(forge.Fault{Op: "CommentCreate", Mode: forge.SlowBody, After: time.Minute, Do: cancel})
	_, err := c.Post(ctx, pr, text(t, "report"))
	var e *Error
	if !errors.As(err, &e) || e.Refused() {
		t.Errorf("stopped in the middle: %v", err)
	}
	f.Heal()
	c.writeGap = time.Second
	started := time.Now()
	for range 2 {
		if _, err := c.Post(t.Context(), pr, text(t, "report")); err != nil {
			t.Fatal(err)
		}
	}
	if gap := time.Since(started); gap < time.Second {
		t.Errorf("two posts within %s, want a second between writes (threats.md T57)", gap)
	}
	if n := len(p.Comments()); n != 3 {
		t.Errorf("%d comments, want 3", n)
	}
}

// TestSecretsStayOut is threats.md T73: a gh that tells what it was given sees no credential.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	f, _, _ := open(t)
	spy := filepath.Join(t.TempDir(), "gh")
	out := filepath.Join(t.TempDir(), "seen")
	script := "#!/bin/sh\n{ echo args: \"$@\"; stat -c '%a %n' \"$5\" \"$(dirname \"$5\")\"; env; } > " + out + "\nexit 1\n"
	if err := os.WriteFile(spy, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	env := append(f.Env(""), "OPENAI_API_KEY=model-key-canary", "GITHUB_TOKEN=other", "AWS_SECRET_ACCESS_KEY=canary")
	c := client(t, f, Options{GH: spy, Env: env})
	_, err := c.Post(t.Context(), readPull(t, c), text(t, "report"))
	raw, readErr := os.ReadFile(out)
	if readErr != nil {
		t.Fatal(err, readErr)
	}
	seen := string(raw)
	args, rest, _ := strings.Cut(seen, "\n")
	if strings.Contains(args, forge.DefaultToken) || strings.Contains(err.Error(), forge.DefaultToken) {
		t.Errorf("the token stands in the arguments or the error: %s; %v", args, err)
	}
	if strings.Contains(rest, "canary") || strings.Contains(rest, "GITHUB_TOKEN=") || strings.Contains(rest, forge.DefaultToken) {
		t.Errorf("gh's environment is\n%s", rest)
	}
	if !strings.Contains(rest, "600 ") || !strings.Contains(rest, "700 ") {
		t.Errorf("the body's file and folder are not private:\n%s", rest)
	}
}

func TestNewErrors(t *testing.T) {
	t.Parallel()
	f, _, _ := open(t)
	gh := forgetest.GH(t)
	rows := []struct {
		name string
		o    Options
		want error
	}{
		{"no gh", Options{Env: f.Env(""), GH: "no-such-gh"}, ErrNoGH},
		{"not logged in", Options{Env: f.EnvWithToken("", ""), GH: gh}, ErrNotLoggedIn},
		{"logged in elsewhere only", Options{Env: f.Env(""), GH: gh, Host: "ghe.example.com"}, ErrNotLoggedIn},
		{"a host with a port gets no credential from gh", Options{Env: f.Env(""), GH: gh, Host: "ghe.example.com:8443"}, ErrHost},
		{"reading needs no gh", Options{Env: f.Env(""), GH: "no-such-gh", ReadOnly: true}, nil},
	}
	for _, row := range rows {
		c, err := New(t.Context(), row.o)
		if !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
		if row.o.ReadOnly {
			if _, err := c.Post(t.Context(), readPull(t, c), text(t, "x")); !errors.Is(err, ErrNoGH) {
				t.Errorf("posting without gh: %v", err)
			}
		}
	}
}

// TestLoginFromFile finds the credential where gh auth login puts it when there is no keyring.
func TestLoginFromFile(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	env := f.EnvWithToken("", "")
	dir := environment(env).configDir()
	hosts := "ghe.example.com:\n    user: octocat\n    oauth_token: " + forge.DefaultToken + "\n    git_protocol: https\n"
	if err := os.WriteFile(filepath.Join(dir, "hosts.yml"), []byte(hosts), 0o600); err != nil {
		t.Fatal(err)
	}
	if h := DefaultHost(env); h != "ghe.example.com" {
		t.Errorf("the default host is %s", h)
	}
	c := client(t, f, Options{Env: env})
	if _, err := c.Post(t.Context(), readPull(t, c), text(t, "report")); err != nil || len(p.Comments()) != 1 {
		t.Errorf("%v, %d comments", err, len(p.Comments()))
	}
}
