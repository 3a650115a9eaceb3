package appcli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/appfile"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// creating is a `prloop app create` that is under way.
type creating struct {
	t     *testing.T
	forge *forge.Forge
	dir   string
	out   output
	start string
	ended chan error
}

func begin(t *testing.T, args ...string) *creating {
	t.Helper()
	c := &creating{t: t, forge: forgetest.Start(t), dir: t.TempDir(), ended: make(chan error, 1)}
	cmd := Commands().Members[0]
	if err := cmd.Flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(errors.New("the test is over")) })
	go func() {
		c.ended <- cmd.Run(ctx, subcommand.Process{Stdout: &c.out, Stderr: &c.out, Env: c.forge.EnvWithToken("", ""), Dir: c.dir}, nil)
	}()
	eventually.True(t, "the address to open", func() bool {
		found := regexp.MustCompile(`http://\S+`).FindString(c.out.String())
		c.start = found
		return found != ""
	})
	return c
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// github sends the form to the forge as the browser would, and gives where that leads.
func (c *creating) github() *url.URL {
	c.t.Helper()
	status, page := get(c.t, c.start)
	action := regexp.MustCompile(`action="([^"]+)"`).FindStringSubmatch(page)
	manifest := regexp.MustCompile(`name="manifest" value="([^"]+)"`).FindStringSubmatch(page)
	if status != http.StatusOK || action == nil || manifest == nil {
		c.t.Fatalf("%d\n%s", status, page)
	}
	to, err := url.Parse(html.UnescapeString(action[1]))
	if err != nil || to.Scheme != "https" || to.Host != "github.com" {
		c.t.Fatalf("the form leads to %v, %v", to, err)
	}
	here := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := here.PostForm(strings.TrimSuffix(c.forge.GitURL(), "/")+to.RequestURI(), url.Values{"manifest": {html.UnescapeString(manifest[1])}})
	if err != nil {
		c.t.Fatal(err)
	}
	answer.Body.Close()
	back, err := answer.Location()
	if err != nil {
		c.t.Fatal(answer.Status, err)
	}
	return back
}

// The browser goes to GitHub and comes back; then the App, its key and its secret are in files of the owner alone, and the App works.
func TestCreate(t *testing.T) {
	c := begin(t, "--org", "acme", "--webhook", "https://prloop.example/webhook")
	back := c.github()
	if status, page := get(t, back.String()); status != http.StatusOK || !strings.Contains(page, "https://github.com/apps/prloop-acme/installations/new") {
		t.Errorf("%d\n%s", status, page)
	}
	if err := <-c.ended; err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.dir, "prloop-app", "app.json")
	if said := c.out.String(); !strings.Contains(said, "export PRLOOP_APP="+path) {
		t.Errorf("it says %q", said)
	}
	var app appfile.App
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &app) != nil || app.Slug != "prloop-acme" || app.Host != "github.com" {
		t.Fatalf("%s, %v", data, err)
	}
	for _, name := range []string{"app.json", "key.pem", "webhook.secret"} {
		file := filepath.Join(c.dir, "prloop-app", name)
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		text, err := os.ReadFile(file)
		if err != nil || name != "app.json" && strings.Contains(c.out.String(), strings.TrimSpace(string(text))) {
			t.Errorf("%s was printed, %v", name, err)
		}
	}
	if _, err := c.forge.AddRepo("acme", "widgets"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.forge.Install("prloop-acme", forge.Installation{Account: "acme"}); err != nil {
		t.Fatal(err)
	}
	client, err := github.New(t.Context(), github.Options{Env: append(c.forge.EnvWithToken("", ""), appfile.Env+"="+path), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	all, err := client.Installations(t.Context())
	if err != nil || len(all) != 1 || len(all[0].Lacking()) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// Without a webhook there is no secret, and no right to push where none is wanted.
func TestCreateToPoll(t *testing.T) {
	c := begin(t, "--no-push", "--dir", "other", "--name", "The Reviewer")
	back := c.github()
	if status, _ := get(t, back.String()); status != http.StatusOK {
		t.Error(status)
	}
	if err := <-c.ended; err != nil {
		t.Fatal(err)
	}
	app, err := appfile.Read(filepath.Join(c.dir, "other", "app.json"))
	if err != nil || app.WebhookSecretFile != "" || app.Slug != "the-reviewer" {
		t.Fatalf("%+v, %v", app, err)
	}
	if _, err := c.forge.Install(app.Slug, forge.Installation{Account: "octocat"}); err != nil {
		t.Fatal(err)
	}
	client, err := github.New(t.Context(), github.Options{Env: append(c.forge.EnvWithToken("", ""), appfile.Env+"="+filepath.Join(c.dir, "other", "app.json")), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := client.Installations(t.Context()); err != nil || len(all) != 1 || all[0].Permissions["contents"] != "read" {
		t.Errorf("%+v, %v", all, err)
	}
}

// What does not come from GitHub, for this visit, writes nothing; and a code that GitHub does not know ends the command in a sentence.
func TestForgedAnswers(t *testing.T) {
	c := begin(t)
	at, err := url.Parse(c.start)
	if err != nil {
		t.Fatal(err)
	}
	back := c.github()
	good := back.Query()
	for what, q := range map[string]url.Values{
		"no state":        {"code": good["code"]},
		"another state":   {"code": good["code"], "state": {strings.Repeat("0", 64)}},
		"no code":         {"state": good["state"]},
		"a code as path":  {"code": {"../../user"}, "state": good["state"]},
		"a code too long": {"code": {strings.Repeat("a", 200)}, "state": good["state"]},
	} {
		if status, page := get(t, "http://"+at.Host+"/created?"+q.Encode()); status != http.StatusForbidden || strings.Contains(page, good.Get("state")) {
			t.Errorf("%s: %d", what, status)
		}
	}
	if status, _ := get(t, "http://"+at.Host+"/"); status != http.StatusNotFound {
		t.Errorf("without the key of the address: %d", status)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.start, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example"
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("under another name: %v, %v", answer.Status, err)
	}
	answer.Body.Close()
	if _, err := os.Stat(filepath.Join(c.dir, "prloop-app")); err == nil {
		t.Error("something was written")
	}
	if status, _ := get(t, "http://"+at.Host+"/created?"+url.Values{"code": {"0123456789abcdef"}, "state": good["state"]}.Encode()); status != http.StatusBadGateway {
		t.Error(status)
	}
	if err := <-c.ended; !errors.Is(err, github.ErrNotFound) {
		t.Errorf("a code that GitHub does not know: %v", err)
	}
}

func TestWhatIsThereStays(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key.pem"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--dir", dir}, {"--org", "a/b"}, {"--name", strings.Repeat("x", 35)}, {"--webhook", "prloop.example"}} {
		cmd := Commands().Members[0]
		if err := cmd.Flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		err := cmd.Run(t.Context(), subcommand.Process{Stdout: io.Discard, Stderr: io.Discard, Env: []string{"HOME=" + dir}, Dir: t.TempDir()}, nil)
		var there *appfile.Error
		var misuse advice.Error
		if !errors.As(err, &there) && !errors.As(err, &misuse) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
