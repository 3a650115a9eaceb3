package cli_test

import (
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/appfile"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/forge"
)

// asApp makes a GitHub App the only credential of a hall, installed on acme, and gives its key.
func (h *hall) asApp() (installation int64, key string) {
	h.t.Helper()
	a, key, err := h.forge.AddApp(forge.App{Slug: "acme-prloop", Owner: "acme", Permissions: map[string]string{
		"contents": "write", "pull_requests": "write", "issues": "write", "statuses": "write", "checks": "read", "metadata": "read"}})
	if err == nil {
		installation, err = h.forge.Install(a.Slug, forge.Installation{Account: "acme"})
	}
	if err != nil {
		h.t.Fatal(err)
	}
	file, err := appfile.Write(filepath.Join(h.home, "app"), appfile.App{Host: "github.com", ID: a.ID, Slug: a.Slug}, key, hookSecret)
	if err != nil {
		h.t.Fatal(err)
	}
	h.env = slices.DeleteFunc(h.env, func(e string) bool {
		return strings.HasPrefix(e, "GH_TOKEN=") || strings.HasPrefix(e, "PRLOOP_WEBHOOK_SECRET=")
	})
	h.env = append(h.env, appfile.Env+"="+file)
	return installation, key
}

// As a GitHub App, a server reviews what it is told of and looks for what it was not told of, with tokens for the repository alone. A suspended installation
// ends nothing: what came meanwhile is seen to when it is given back. Neither the key nor a token stands anywhere afterwards.
func TestServeAsApp(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]func(*hall){"by itself": func(*hall) {}, "by a broker": (*hall).broker} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serveAsApp(t, apart)
		})
	}
}

// broker has a process of its own hold the credential of a hall.
func (h *hall) broker() {
	h.t.Helper()
	dir, err := os.MkdirTemp("", "prloop-broker-")
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "github.sock")
	cmd := exec.Command("prloop", "broker", "github", "acme/*", "--socket", socket)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = slices.Clone(h.env), h.home, h, h
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually.True(h.t, "the broker to listen", func() bool { _, err := os.Stat(socket); return err == nil })
	h.env = slices.DeleteFunc(h.env, func(e string) bool { return strings.HasPrefix(e, appfile.Env+"=") || strings.HasPrefix(e, "GH_TOKEN=") })
	h.env = append(h.env, operator.EnvGitHubBroker+"="+socket, "PRLOOP_WEBHOOK_SECRET="+h.secret)
}

// serveAsApp does it with a credential that is with the server or apart.
func serveAsApp(t *testing.T, apart func(*hall)) {
	h := openHall(t)
	installation, key := h.asApp()
	apart(h)
	h.repo.SetPrivate(true)
	spy := filepath.Join(h.home, "spy.sh")
	script := "#!/bin/sh\nenv >> " + filepath.Join(h.home, "spied") + "\nexec " + filepath.Join(h.home, "clean.sh") + "\n"
	if err := os.WriteFile(spy, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	h.serve("", "--every", "1s", "--reviewers", "exec:"+spy, "--metrics", "127.0.0.1:0")
	p := h.open(7, nil)
	if w := h.settled(1)["#7"]; w.Outcome != "converged" {
		t.Fatalf("opened: %+v", w)
	}
	by := func(p *forge.PullRequest) (n int) {
		for _, c := range p.Comments() {
			if c.Author == "acme-prloop[bot]" && strings.Contains(c.Body, "\n## prloop: ") {
				n++
			}
		}
		return n
	}
	if by(p) != 1 {
		t.Errorf("%d reports of the App", by(p))
	}
	h.forge.Suspend(installation, true)
	second := h.open(8, nil)
	eventually.True(t, "the server to say what is wrong", func() bool { return strings.Contains(h.log(), "the installation of the GitHub App is suspended") })
	if by(second) != 0 {
		t.Error("a suspended installation posted")
	}
	h.forge.Suspend(installation, false)
	eventually.True(t, "what came meanwhile to be reviewed", func() bool { return by(second) == 1 })
	h.settled(2)
	address := regexp.MustCompile(`metrics at (\S+)`).FindStringSubmatch(h.log())
	if address == nil {
		t.Fatal("no metrics are shown")
	}
	figures := scrape(t, address[1])
	for _, want := range []string{`prloop_runs_ended_total{outcome="converged"} 2`, `prloop_github_requests_left{account="acme",resource="core"}`,
		`prloop_webhook_deliveries_total{event="pull_request"}`, `prloop_queue_waiting{priority="new"} 0`} {
		if !strings.Contains(figures, "\n"+want) {
			t.Errorf("there is no %s in\n%s", want, figures)
		}
	}
	if strings.Contains(figures, "widgets") || strings.Contains(figures, "contributor") {
		t.Errorf("a repository or a person stands in the metrics:\n%s", figures)
	}
	if resp, err := h.client().Get("http://localhost/metrics"); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("where webhooks come in there are metrics: %v, %v", resp.Status, err)
	}
	for _, m := range h.forge.Minted() {
		if m.Repos == nil && len(m.Permissions) > 1 || len(m.Repos) > 1 || m.Permissions["contents"] == "write" {
			t.Errorf("a token may more than was needed: %v %v", m.Repos, m.Permissions)
		}
	}
	secrets := []string{strings.TrimSpace(strings.Split(key, "\n")[5])}
	for _, m := range h.forge.Minted() {
		secrets = append(secrets, m.Token)
	}
	holds := func(what, text string) {
		for _, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("%s holds the key or a token of the App", what)
			}
		}
	}
	holds("the log", h.log())
	holds("the metrics", figures)
	for _, name := range []string{"state", "spied"} {
		err := filepath.WalkDir(filepath.Join(h.home, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			holds(path, string(data))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(h.home, "spied")); err != nil || strings.Contains(string(data), appfile.Env) {
		t.Errorf("an agent is told of the App: %v", err)
	}
}

func scrape(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	return string(body)
}

// doctor says where an App is installed, and what is missing there for what.
func TestDoctorOfAnApp(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	h.asApp()
	if _, err := h.forge.Install("acme-prloop", forge.Installation{Account: "other", Repos: []string{"other/tools"}, Permissions: map[string]string{
		"contents": "read", "pull_requests": "write", "metadata": "read"}}); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("prloop")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "doctor")
	cmd.Env, cmd.Dir = h.env, h.home
	out, _ := cmd.CombinedOutput() // this machine may lack other things
	for _, want := range []string{"the GitHub App acme-prloop[bot] at github.com, on acme, other (selected repositories): lacks statuses: write, to set commit statuses; contents: write, to resolve threads; contents: write, to push"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}
}
