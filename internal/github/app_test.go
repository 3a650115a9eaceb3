package github

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/appfile"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/review"
)

// all is what `prloop app create` asks for.
var all = AppPermissions(true)

// asApp opens a forge on which an App is installed on acme, and gives the environment in which its key is the only credential.
func asApp(t *testing.T, host string) (f *forge.Forge, installation int64, key string, env []string) {
	t.Helper()
	f, _, _ = open(t)
	a, key, err := f.AddApp(forge.App{Slug: "acme-prloop", Owner: "acme", Permissions: all})
	if err != nil {
		t.Fatal(err)
	}
	if installation, err = f.Install("acme-prloop", forge.Installation{Account: "acme"}); err != nil {
		t.Fatal(err)
	}
	if host == "" {
		host = "github.com"
	}
	file, err := appfile.Write(filepath.Join(t.TempDir(), "app"), appfile.App{Host: host, ID: a.ID, Slug: a.Slug}, key, "")
	if err != nil {
		t.Fatal(err)
	}
	return f, installation, key, append(f.EnvWithToken(host, ""), appfile.Env+"="+file)
}

func as(t *testing.T, f *forge.Forge, env []string, host string) *Client {
	t.Helper()
	repo := widgets
	if host != "" {
		repo.Host = host
	}
	c, err := client(t, f, Options{Env: env, Host: host}).For(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each operation has a token of its own: for the one repository, with what it needs and no more.
func TestAppTokens(t *testing.T) {
	for _, host := range []string{"", "ghe.example.com"} {
		t.Run(host, func(t *testing.T) {
			f, installation, _, env := asApp(t, host)
			c := as(t, f, env, host)
			pr := readPull(t, c)
			last := func() map[string]string { m := f.Minted(); return m[len(m)-1].Permissions }
			expect := func(what string, want map[string]string) {
				t.Helper()
				if got, _ := json.Marshal(last()); string(got) != string(must(json.Marshal(want))) {
					t.Errorf("the token to %s may %s", what, got)
				}
			}
			expect("read", map[string]string{"pull_requests": "read", "contents": "read", "issues": "read", "statuses": "read", "checks": "read", "metadata": "read"})
			url, err := c.Post(t.Context(), pr, text(t, "Hello."))
			if err != nil || !strings.Contains(url, "#issuecomment-") {
				t.Fatal(url, err)
			}
			expect("comment", map[string]string{"pull_requests": "write", "issues": "write", "metadata": "read"})
			if _, err := c.SetStatus(t.Context(), pr.Repo, pr.HeadSHA, effects.CommitStatus{State: "pending", Description: "Reviewing", Target: pr.URL}); err != nil {
				t.Fatal(err)
			}
			expect("set a status", map[string]string{"statuses": "write", "metadata": "read"})
			for what, how := range map[string]Clone{"fetch": c.Clone(pr.Repo), "push": c.Pushed(pr.Repo)} {
				env, err := how.Env(t.Context())
				if err != nil || !strings.HasPrefix(env[1], "PRLOOP_GIT_TOKEN=ghs_") {
					t.Errorf("%s: %v, %v", what, len(env), err)
				}
			}
			pushes := 0
			for _, m := range f.Minted() {
				if m.Installation != installation || !slices.Equal(m.Repos, []string{"acme/widgets"}) {
					t.Errorf("a token is for %v of %d, which is more than the repository", m.Repos, m.Installation)
				}
				for _, never := range []string{"workflows", "administration", "secrets", "actions"} {
					if m.Permissions[never] != "" {
						t.Errorf("a token has %s", never)
					}
				}
				if m.Permissions["contents"] == "write" {
					pushes++
				}
			}
			if pushes != 1 {
				t.Errorf("%d tokens may push, want the one that is for it", pushes)
			}
			minted := len(f.Minted())
			readPull(t, c)
			if _, err := as(t, f, env, host).Post(t.Context(), pr, text(t, "Again.")); err != nil {
				t.Error(err)
			}
			if got := len(f.Minted()); got != minted+1 { // another process has tokens of its own
				t.Errorf("%d tokens were made for what there were tokens for", got-minted)
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAppAccount(t *testing.T) {
	f, installation, _, env := asApp(t, "")
	c := client(t, f, Options{Env: env})
	who, err := c.Viewer(t.Context(), "github.com")
	if err != nil || who.Login != "acme-prloop[bot]" || !who.Bot {
		t.Fatalf("%+v, %v", who, err)
	}
	if m := f.Minted(); len(m) != 1 || len(m[0].Permissions) != 1 || m[0].Permissions["metadata"] != "read" {
		t.Errorf("to say who it is it asked for %+v", m)
	}
	bound, err := as(t, f, env, "").Viewer(t.Context(), "")
	if err != nil || bound != who {
		t.Errorf("for a repository it is %+v, %v; else %+v", bound, err, who)
	}
	if job, err := as(t, f, env, "").ActionsToken(t.Context()); job || err != nil {
		t.Errorf("its token counts as that of an Actions job: %t, %v", job, err)
	}
	if right, err := as(t, f, env, "").MayPush(t.Context(), readPull(t, as(t, f, env, ""))); err != nil || right.Allowed || !strings.Contains(right.Reason, "reaches no fork") {
		t.Errorf("a push to a fork: %+v, %v", right, err)
	}
	all, err := c.Installations(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != installation || all[0].Account != "acme" || !all[0].All || len(all[0].Lacking()) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	must(f.AddRepo("other", "tools"))
	if repos, err := c.Installed(t.Context(), "ACME"); err != nil || !slices.Equal(repos, []review.Repo{widgets}) {
		t.Errorf("its repositories of acme are %v, %v", repos, err)
	}
	if repos, err := c.Installed(t.Context(), "other"); err != nil || repos != nil {
		t.Errorf("its repositories of other are %v, %v", repos, err)
	}
	if _, err := c.PullRequest(t.Context(), widgets, 7); err == nil {
		t.Error("without a repository the App was let in")
	}
}

// What is wrong with an App is said in one sentence, and what is put right is believed again.
func TestAppsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*forge.Forge, int64)
		kind  error
		says  string
	}{
		"another key":        {func(f *forge.Forge, _ int64) { f.RevokeKey("acme-prloop") }, ErrAppKey, "could not be decoded"},
		"suspended":          {func(f *forge.Forge, i int64) { f.Suspend(i, true) }, ErrSuspended, "since"},
		"uninstalled":        {func(f *forge.Forge, i int64) { f.Uninstall(i) }, ErrNotInstalled, "https://github.com/apps/acme-prloop/installations/new"},
		"a clock far ahead":  {func(f *forge.Forge, _ int64) { f.Skew(time.Hour) }, ErrAppKey, "'exp'"},
		"a clock far behind": {func(f *forge.Forge, _ int64) { f.Skew(-time.Hour) }, ErrAppKey, "'exp'"},
	} {
		t.Run(name, func(t *testing.T) {
			f, installation, _, env := asApp(t, "")
			c.spoil(f, installation)
			_, err := client(t, f, Options{Env: env}).For(t.Context(), widgets)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v; want %v with %q", err, c.kind, c.says)
			}
		})
	}
	t.Run("moved", func(t *testing.T) {
		f, _, _, env := asApp(t, "")
		must(f.AddRepo("acme", "widgets")).Rename("acme", "gadgets")
		if _, err := client(t, f, Options{Env: env}).For(t.Context(), widgets); !errors.Is(err, ErrMoved) {
			t.Error(err)
		}
	})
	t.Run("later", func(t *testing.T) {
		f, installation, _, env := asApp(t, "")
		base := client(t, f, Options{Env: env})
		c, err := base.For(t.Context(), widgets)
		if err != nil {
			t.Fatal(err)
		}
		pr := readPull(t, c)
		f.DropTokens(installation) // before their time
		readPull(t, c)
		f.Suspend(installation, true)
		if _, err := c.PullRequest(t.Context(), widgets, 7); !errors.Is(err, ErrSuspended) {
			t.Errorf("of a suspended installation: %v", err)
		}
		_, err = c.Post(t.Context(), pr, text(t, "Hello."))
		var e *Error
		if !errors.As(err, &e) || !e.Refused() || !errors.Is(err, ErrSuspended) {
			t.Errorf("a comment of a suspended installation is not known to be refused: %v", err)
		}
		if _, err := base.For(t.Context(), widgets); !errors.Is(err, ErrSuspended) {
			t.Errorf("what was known before is still believed: %v", err)
		}
		f.Suspend(installation, false)
		if c, err = base.For(t.Context(), widgets); err != nil {
			t.Fatal(err)
		}
		readPull(t, c)
	})
	t.Run("private", func(t *testing.T) {
		f, installation, _, env := asApp(t, "")
		c := as(t, f, env, "")
		readPull(t, c)
		must(f.AddRepo("acme", "widgets")).SetPrivate(true)
		readPull(t, c) // it is installed there
		f.Uninstall(installation)
		if _, err := c.PullRequest(t.Context(), widgets, 7); !errors.Is(err, ErrNotInstalled) {
			t.Error(err)
		}
	})
}

// What was not granted is named, and what needs it is certain not to have happened.
func TestAppPermissions(t *testing.T) {
	f, _, _ := open(t)
	a, key, err := f.AddApp(forge.App{Slug: "acme-prloop", Owner: "acme", Permissions: all})
	if err != nil {
		t.Fatal(err)
	}
	few := map[string]string{"contents": "read", "pull_requests": "read", "metadata": "read"}
	must(f.Install("acme-prloop", forge.Installation{Account: "acme", Repos: []string{"acme/widgets"}, Permissions: few}))
	file := must(appfile.Write(t.TempDir(), appfile.App{Host: "github.com", ID: a.ID}, key, ""))
	env := append(f.EnvWithToken("", ""), appfile.Env+"="+file)
	c := as(t, f, env, "")
	pr := readPull(t, c)
	for what, do := range map[string]func() error{
		"pull_requests: write": func() error { _, err := c.Post(t.Context(), pr, text(t, "Hello.")); return err },
		"statuses: write": func() error {
			_, err := c.SetStatus(t.Context(), pr.Repo, pr.HeadSHA, effects.CommitStatus{State: "pending", Description: "Reviewing", Target: pr.URL})
			return err
		},
	} {
		err := do()
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, ErrForbidden) || e.Needs != what || !e.Refused() {
			t.Errorf("without %s: %v", what, err)
		}
	}
	if _, err := c.Pushed(widgets).Env(t.Context()); !errors.Is(err, ErrForbidden) {
		t.Errorf("a token to push: %v", err)
	}
	installed, err := c.Installations(t.Context())
	if err != nil || len(installed) != 1 || installed[0].All {
		t.Fatal(installed, err)
	}
	want := []string{"pull_requests: write, to comment and review", "statuses: write, to set commit statuses", "contents: write, to resolve threads",
		"pull_requests: write, to open pull requests", "contents: write, to push"}
	if got := installed[0].Lacking(); !slices.Equal(got, want) {
		t.Errorf("it lacks %q", got)
	}
	f.AddUser(forge.User{Login: "other"})
	must(f.AddRepo("other", "tools"))
	if _, err := c.For(t.Context(), review.Repo{Host: "github.com", Owner: "other", Name: "tools"}); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("where it is not installed: %v", err)
	}
}

// The key and the tokens are known as secrets, and stand in no environment of gh.
func TestAppSecrets(t *testing.T) {
	f, _, key, env := asApp(t, "")
	spy := filepath.Join(t.TempDir(), "gh")
	seen := filepath.Join(t.TempDir(), "seen")
	if err := os.WriteFile(spy, []byte("#!/bin/sh\nenv > "+seen+"\ncat \"$4\" >> "+seen+"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := client(t, f, Options{Env: env, GH: spy}).For(t.Context(), widgets)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Post(t.Context(), readPull(t, c), text(t, "Hello.")) // the spy fails
	data, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	minted := f.Minted()
	commenting := minted[len(minted)-1].Token
	if strings.Contains(string(data), appfile.Env) || !strings.Contains(string(data), "GH_TOKEN="+noCredential) {
		t.Errorf("gh got %s", data)
	}
	for _, m := range minted {
		if strings.Contains(string(data), m.Token) {
			t.Error("gh got a token")
		}
	}
	lines := strings.Split(strings.TrimSpace(key), "\n")
	secrets := strings.Join(c.Secrets(), " ")
	for _, want := range []string{commenting, minted[0].Token, strings.TrimSpace(lines[5])} {
		if !strings.Contains(secrets, want) {
			t.Error("a secret is not known as one")
		}
	}
	if strings.Contains(secrets, "MIIE") || strings.Contains(secrets, "BEGIN") {
		t.Error("what begins every key counts as a secret")
	}
}

func TestAppKeys(t *testing.T) {
	f, _, key, _ := asApp(t, "")
	dir := t.TempDir()
	write := func(text string) []string {
		t.Helper()
		path := filepath.Join(dir, "app.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return append(f.EnvWithToken("", ""), appfile.Env+"="+path)
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.pem"), []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key.pem"), []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	id := `{"host":"github.com","id":4001,`
	cat := must(exec.LookPath("cat"))
	for name, env := range map[string][]string{
		"variable": append(write(id+`"key_env":"THE_KEY"}`), "THE_KEY="+key),
	} {
		if _, err := client(t, f, Options{Env: env}).For(t.Context(), widgets); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := client(t, f, Options{Env: write(id + `"key_command":["` + cat + `","` + filepath.Join(dir, "key.pem") + `"]}`)}).For(t.Context(), widgets); err != nil {
		t.Errorf("command: %v", err)
	}
	if _, err := New(t.Context(), Options{Env: write(id + `"key_file":"bad.pem"}`), ReadOnly: true}); !errors.Is(err, ErrAppKey) || strings.Contains(err.Error(), "no key\n") {
		t.Errorf("a file without a key: %v", err)
	}
	var e *appfile.Error
	if _, err := New(t.Context(), Options{Env: write(id + `"key_command":["false"]}`), ReadOnly: true}); !errors.As(err, &e) {
		t.Errorf("a command that fails: %v", err)
	}
}
