package forge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

// fork opens acme/widgets#7 from a fork, clones its head branch and commits something there.
func fork(t *testing.T, canModify bool) (f *forge.Forge, p *forge.PullRequest, head *forge.Repo, work string) {
	t.Helper()
	f = forgetest.Start(t)
	p = forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Fork: "contributor/widgets", Author: "contributor",
		MaintainerCanModify: canModify, Base: files("a", "1\n"), Head: files("a", "2\n")})
	base, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	base.SetPermission("octocat", forge.Write)
	if head, err = f.AddRepo("contributor", "widgets"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if got := git(t, dir, "clone", "-q", "-b", "topic", f.GitURL()+"contributor/widgets.git", "w"); got.code != 0 {
		t.Fatalf("clone: %s", got.stderr)
	}
	work = filepath.Join(dir, "w")
	if err := os.WriteFile(filepath.Join(work, "b"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, work, "add", "-A")
	git(t, work, "commit", "-q", "-m", "fix")
	return f, p, head, work
}

func push(t *testing.T, f *forge.Forge, work, token, ref string) result {
	t.Helper()
	url := strings.Replace(f.GitURL(), "http://", "http://x-access-token:"+token+"@", 1) + "contributor/widgets.git"
	return git(t, work, "push", "--porcelain", url, "HEAD:"+ref)
}

// GitHub's words for each refusal, as git shows them; the branch stays where it was.
func TestPushesAreRefused(t *testing.T) {
	t.Parallel()
	const jobToken = "ghs_job"
	rows := []struct {
		name  string
		setup func(*forge.Forge, *forge.Repo)
		token string
		ref   string
		want  []string
	}{
		{"a protected branch", func(_ *forge.Forge, r *forge.Repo) { r.RefusePushes("topic", forge.ProtectedBranch) }, forge.DefaultToken, "refs/heads/topic",
			[]string{"remote: error: GH006: Protected branch update failed for refs/heads/topic.", "[remote rejected] (protected branch hook declined)"}},
		{"a ruleset", func(_ *forge.Forge, r *forge.Repo) { r.RefusePushes("topic", forge.RepositoryRule) }, forge.DefaultToken, "refs/heads/topic",
			[]string{"GH013", "push declined due to repository rule violations"}},
		{"a secret", func(_ *forge.Forge, r *forge.Repo) { r.RefusePushes("topic", forge.PushProtection) }, forge.DefaultToken, "refs/heads/topic",
			[]string{"GH013", "GITHUB PUSH PROTECTION"}},
		{"another branch of the fork, as a maintainer", func(*forge.Forge, *forge.Repo) {}, forge.DefaultToken, "refs/heads/other", []string{"GH013"}},
		{"an archived fork", func(_ *forge.Forge, r *forge.Repo) { r.Archive() }, forge.DefaultToken, "refs/heads/topic", []string{"403"}},
		{"the token of a job of the base repository", func(f *forge.Forge, r *forge.Repo) {
			f.AddToken(jobToken, forge.Token{Login: "github-actions[bot]", Repo: "acme/widgets"})
		}, jobToken, "refs/heads/topic", []string{"403"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f, p, head, work := fork(t, true)
			row.setup(f, head)
			before := p.HeadSHA()
			got := push(t, f, work, row.token, row.ref)
			for _, want := range row.want {
				if got.code == 0 || !strings.Contains(got.stdout+got.stderr, want) {
					t.Errorf("exit %d, want %q:\n%s%s", got.code, want, got.stdout, got.stderr)
				}
			}
			if p.HeadSHA() != before {
				t.Error("the head moved")
			}
			if head.RefusePushes("topic", ""); row.ref == "refs/heads/topic" && strings.Contains(strings.Join(row.want, " "), "GH") {
				if got := push(t, f, work, row.token, row.ref); got.code != 0 || p.HeadSHA() == before {
					t.Errorf("with the refusal lifted: exit %d: %s", got.code, got.stderr)
				}
			}
		})
	}
}

func TestMaintainersPushToForks(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		f, p, _, work := fork(t, allowed)
		before := p.HeadSHA()
		got := push(t, f, work, forge.DefaultToken, "refs/heads/topic")
		if (got.code == 0) != allowed || (p.HeadSHA() != before) != allowed {
			t.Errorf("edits by maintainers %v: exit %d: %s", allowed, got.code, got.stderr)
		}
	}
}

// Somebody pushes between the reading of the refs and the pack: their commit stays.
func TestPushDuringAPush(t *testing.T) {
	t.Parallel()
	f, p, _, work := fork(t, true)
	before := p.HeadSHA()
	p.PushWhen(forge.DuringPush, "contributor", map[string]string{"c": "mine\n"})
	got := push(t, f, work, forge.DefaultToken, "refs/heads/topic")
	after := p.HeadSHA()
	if got.code == 0 || after == before {
		t.Errorf("exit %d, head %s before and %s after", got.code, before, after)
	}
	if ours := strings.TrimSpace(git(t, work, "rev-parse", "HEAD").stdout); after == ours {
		t.Error("the commit of a person was overwritten")
	}
	if v := f.Violations(); len(v) > 0 {
		t.Error(v)
	}
}

func TestTheHeadLags(t *testing.T) {
	t.Parallel()
	f, p, _, _ := fork(t, true)
	p.LagHead(2)
	old := p.HeadSHA()
	fresh, err := p.Push("contributor", "more", map[string]string{"c": "1\n"})
	if err != nil {
		t.Fatal(err)
	}
	var heads []string
	for range 4 {
		heads = append(heads, strings.TrimSpace(gh(t, f.Env(""), "api", "repos/acme/widgets/pulls/7", "--jq", ".head.sha").stdout))
	}
	want := []string{old, old, fresh, fresh}
	for i := range want {
		if heads[i] != want[i] {
			t.Errorf("reading %d gave %s, want %s", i+1, heads[i], want[i])
		}
	}
}
