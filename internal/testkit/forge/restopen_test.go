package forge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

// A pull request is opened and changed over REST as on GitHub: once for a branch, with a difference, by who may write.
func TestPullRequestsAreOpenedAndChanged(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	p := pull(t, f)
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(repo, "docs", p.BaseSHA(), "Docs", files("main.go", "package main\n", "README.md", "widgets\n")); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(repo, "same", "", "Same", files("main.go", "package main\n")); err != nil {
		t.Fatal(err)
	}
	open := func(env []string, head string) result {
		return gh(t, env, "api", "repos/acme/widgets/pulls", "-f", "title=Update docs", "-f", "head="+head, "-f", "base=main", "-f", "body=Words.")
	}
	first := open(f.Env("github.com"), "docs")
	var made struct{ Number int }
	if err := json.Unmarshal([]byte(first.stdout), &made); err != nil || first.code != 0 {
		t.Fatalf("exit %d: %v %s", first.code, err, first.stderr)
	}
	opened := repo.FindPull(made.Number)
	if title, body, state, head := opened.Words(); title != "Update docs" || body != "Words." || state != "OPEN" || head != "docs" {
		t.Errorf("opened %q %q %s %s", title, body, state, head)
	}
	if got := gh(t, f.Env("github.com"), "pr", "list", "-R", "acme/widgets", "--head", "docs", "--json", "number"); !strings.Contains(got.stdout, `"number":8`) {
		t.Errorf("gh pr list: %s%s", got.stdout, got.stderr)
	}
	for head, want := range map[string]string{"docs": "already exists for acme:docs", "nowhere": "invalid: head", "main": "No commits between"} {
		if got := open(f.Env("github.com"), head); got.code == 0 || !strings.Contains(got.stderr+got.stdout, want) {
			t.Errorf("%s: exit %d, want %q: %s", head, got.code, want, got.stderr)
		}
	}
	if got := gh(t, f.Env("github.com"), "api", "-X", "PATCH", "repos/acme/widgets/pulls/8", "-f", "title=New", "-f", "body=Other."); got.code != 0 {
		t.Errorf("change: %s", got.stderr)
	}
	if title, body, _, _ := opened.Words(); title != "New" || body != "Other." {
		t.Errorf("changed to %q %q", title, body)
	}
	f.AddToken("ghs_job", forge.Token{Login: "github-actions[bot]", Repo: "acme/widgets"})
	repo.SetPermission("github-actions[bot]", forge.Write)
	repo.ForbidActionsPulls()
	if got := open(f.EnvWithToken("github.com", "ghs_job"), "same"); got.code == 0 || !strings.Contains(got.stderr, "not permitted to create") {
		t.Errorf("a job's token: exit %d: %s", got.code, got.stderr)
	}
	f.AddToken("ghp_reader", forge.Token{Login: "reader"})
	if got := open(f.EnvWithToken("github.com", "ghp_reader"), "same"); got.code == 0 {
		t.Error("a reader opened a pull request")
	}
	if heads, err := repo.Branches(); err != nil || heads["docs"] != opened.HeadSHA() {
		t.Errorf("branches %v %v", heads, err)
	}
}
