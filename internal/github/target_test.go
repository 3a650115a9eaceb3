package github

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

func TestParseTarget(t *testing.T) {
	here := review.Repo{Host: "ghe.example.com", Owner: "o", Name: "r"}
	rows := []struct{ arg, want string }{
		{"7", "ghe.example.com/o/r#7"},
		{"#7", "ghe.example.com/o/r#7"},
		{" 12 ", "ghe.example.com/o/r#12"},
		{"acme/widgets#7", "ghe.example.com/acme/widgets#7"},
		{"github.com/acme/widgets#7", "acme/widgets#7"},
		{"https://github.com/acme/widgets/pull/7", "acme/widgets#7"},
		{"https://www.github.com/acme/widgets/pull/7/files#diff-1", "acme/widgets#7"},
		{"https://github.com/acme/widgets/pull/7?w=1", "acme/widgets#7"},
		{"https://ghe.example.com/acme/widgets.js/pull/7/commits/abc", "ghe.example.com/acme/widgets.js#7"},
		{"", ""}, {"0", ""}, {"-1", ""}, {"seven", ""}, {"99999999999999999999", ""}, {"acme/widgets", ""}, {"acme/../x#7", ""},
		{"-o/r#1", ""}, {"https://github.com/acme/widgets", ""}, {"https://github.com/acme/widgets/tree/7", ""},
		{"https://github.com/a b/widgets/pull/7", ""}, {"ftp://github.com/acme/widgets/pull/7", ""}, {"https:///acme/widgets/pull/7", ""},
	}
	for _, row := range rows {
		got, err := ParseTarget(row.arg, here)
		switch {
		case row.want == "" && !errors.Is(err, ErrTarget):
			t.Errorf("%q: %v, %v; want ErrTarget", row.arg, got, err)
		case row.want != "" && (err != nil || got.String() != row.want):
			t.Errorf("%q: %v, %v; want %s", row.arg, got, err, row.want)
		}
	}
	if _, err := ParseTarget("7", review.Repo{}); !errors.Is(err, ErrTarget) || !strings.Contains(err.Error(), "-R") {
		t.Errorf("a number without a repository: %v", err)
	}
}

func TestParseBranch(t *testing.T) {
	for arg, want := range map[string]string{
		"main": "/main", " fix/it ": "/fix/it", "acme:fix/it": "acme/fix/it", "a#b": "/a#b", "acme/widgets": "/acme/widgets", "v1.2": "/v1.2",
		"7": "-", "#7": "-", "acme/widgets#7": "-", "https://github.com/acme/widgets/pull/7": "-", "": "-", "-f": "-", "a b": "-", "HEAD~1": "-", "x:": "-", "a:b:c": "-", "a/b:c": "-",
	} {
		got := "-"
		if owner, branch, ok := ParseBranch(arg); ok {
			got = owner + "/" + branch
		}
		if got != want {
			t.Errorf("%q: %s, want %s", arg, got, want)
		}
	}
}

func TestRepoOfRemotes(t *testing.T) {
	hosts := []string{"github.com", "ghe.example.com"}
	rows := []struct {
		name    string
		remotes []Remote
		want    string
	}{
		{"origin by ssh", []Remote{{"origin", "git@github.com:acme/widgets.git"}}, "acme/widgets"},
		{"upstream beats origin", []Remote{{"origin", "https://github.com/me/widgets"}, {"upstream", "ssh://git@github.com/acme/widgets.git"}}, "acme/widgets"},
		{"a host of ours", []Remote{{"origin", "https://ghe.example.com/acme/widgets.git"}}, "ghe.example.com/acme/widgets"},
		{"another forge does not count", []Remote{{"origin", "https://gitlab.com/acme/widgets.git"}, {"x", "https://github.com/acme/gadgets"}}, "acme/gadgets"},
		{"a folder is no forge", []Remote{{"origin", "/srv/git/acme/widgets.git"}}, ""},
		{"an option is no remote", []Remote{{"origin", "https://github.com/-x/--upload-pack=id"}}, ""},
		{"nothing", nil, ""},
	}
	for _, row := range rows {
		got, err := RepoOfRemotes(row.remotes, hosts)
		if got.String() != row.want && (row.want != "" || err == nil) {
			t.Errorf("%s: %v, %v; want %q", row.name, got, err, row.want)
		}
		if row.want == "" && !errors.Is(err, ErrTarget) {
			t.Errorf("%s: %v, want ErrTarget", row.name, err)
		}
	}
}

func TestPullRequestOfBranch(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	rows := []struct {
		name, owner, branch string
		want                int
		err                 error
	}{
		{"a branch pushed to the fork", "contributor", "topic", 7, nil},
		{"owner unknown, one candidate", "", "topic", 7, nil},
		{"the same name in another fork is another branch", "acme", "topic", 0, ErrNoPullRequest},
		{"no such branch", "", "other", 0, ErrNoPullRequest},
	}
	for _, row := range rows {
		if n, err := c.PullRequestOfBranch(t.Context(), widgets, row.owner, row.branch); n != row.want || !errors.Is(err, row.err) {
			t.Errorf("%s: %d, %v; want %d, %v", row.name, n, err, row.want, row.err)
		}
	}
	forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Head: tree("package other\n")})
	if _, err := c.PullRequestOfBranch(t.Context(), widgets, "", "topic"); !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), "#8, #7") {
		t.Errorf("two candidates: %v", err)
	}
	p.SetState("CLOSED")
	if n, err := c.PullRequestOfBranch(t.Context(), widgets, "", "topic"); n != 8 || err != nil {
		t.Errorf("closed ones do not count: %d, %v", n, err)
	}
}

// TestCloneOfAPrivateRepository fetches with real git through the helper and looks for the token everywhere it must not be.
func TestCloneOfAPrivateRepository(t *testing.T) {
	t.Parallel()
	f, p, repo := open(t)
	repo.SetPrivate(true)
	c := client(t, f, Options{})
	how := c.Clone(widgets)
	env, err := how.Env(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "repo")
	run := func(env []string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
			"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=", "GIT_CONFIG_KEY_1=credential.helper", "GIT_CONFIG_VALUE_1=" + how.Helper}, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(nil, "init", "-q", "--bare", dir); err != nil {
		t.Fatal(out)
	}
	if out, err := run(nil, "-C", dir, "fetch", "-q", how.URL, "refs/pull/7/head"); err == nil {
		t.Errorf("fetched without the environment: %s", out)
	}
	if out, err := run(env, "-C", dir, "fetch", "-q", how.URL, "+refs/pull/7/head:refs/x"); err != nil {
		t.Fatal(out)
	}
	if out, _ := run(nil, "-C", dir, "rev-parse", "refs/x"); strings.TrimSpace(out) != p.HeadSHA() {
		t.Errorf("fetched %s, want %s", out, p.HeadSHA())
	}
	if strings.Contains(how.URL+how.Helper, forge.DefaultToken) {
		t.Error("the token stands in the address or the helper")
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), forge.DefaultToken) {
			t.Errorf("%s holds the token (%v)", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := append([]string{}, env...)
	elsewhere[0] = "PRLOOP_GIT_ORIGIN=http://elsewhere.example"
	if out, err := run(elsewhere, "-C", dir, "fetch", "-q", how.URL, "refs/pull/7/head"); err == nil {
		t.Errorf("the helper answered for another host: %s", out)
	}
}

// A token of the environment is for the hosts that the operator named; every other is refused by name, and nothing is sent to it.
func TestWhereATokenOfTheEnvironmentGoes(t *testing.T) {
	t.Parallel()
	login := t.TempDir()
	if err := os.WriteFile(filepath.Join(login, "hosts.yml"), []byte("GHE.example.com:\n  user: a\nother.example.com:\n  user: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const enterprise, dotcom = "GH_ENTERPRISE_TOKEN=ghp_one", "GH_TOKEN=ghp_one"
	for _, row := range []struct {
		says  string
		host  string
		env   []string
		named []string
		goes  bool
	}{
		{"GH_HOST", "ghe.example.com", []string{enterprise, "GH_HOST=GHE.example.com"}, nil, true},
		{"a host in gh's configuration", "ghe.example.com", []string{enterprise, "GH_CONFIG_DIR=" + login}, nil, true},
		{"the server of a job", "ghe.example.com", []string{enterprise, "GITHUB_SERVER_URL=https://ghe.example.com"}, nil, true},
		{"a host that is served", "ghe.example.com", []string{enterprise}, []string{"ghe.example.com"}, true},
		{"github.com", "github.com", []string{dotcom, "GH_HOST=ghe.example.com"}, nil, true},
		{"a host of ghe.com", "acme.ghe.com", []string{dotcom, "GH_HOST=acme.ghe.com"}, nil, true},
		{"any other", "127.0.0.77", []string{enterprise, "GH_HOST=ghe.example.com"}, []string{"github.example.com"}, false},
		{"any other, by the older name", "127.0.0.77", []string{"GITHUB_ENTERPRISE_TOKEN=ghp_one", "GH_CONFIG_DIR=" + login}, nil, false},
		{"any other of ghe.com", "evil.ghe.com", []string{dotcom, "GH_HOST=acme.ghe.com"}, nil, false},
		{"a part of a name", "example.com", []string{enterprise, "GH_HOST=ghe.example.com"}, nil, false},
	} {
		c, err := New(t.Context(), Options{Host: row.host, Named: row.named, Env: append([]string{"HOME=" + t.TempDir()}, row.env...), GH: "no-such-gh", ReadOnly: true})
		variable, _, _ := strings.Cut(row.env[0], "=")
		switch {
		case row.goes && (err != nil || c.token != "ghp_one"):
			t.Errorf("%s: %v", row.says, err)
		case !row.goes && (!errors.Is(err, ErrNotLoggedIn) || !strings.Contains(err.Error(), row.host) || !strings.Contains(err.Error(), variable+" is not sent")):
			t.Errorf("%s: %v", row.says, err)
		}
	}
}
