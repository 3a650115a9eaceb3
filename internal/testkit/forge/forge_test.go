package forge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

// pull opens acme/widgets#7 from the fork of contributor.
func pull(t *testing.T, f *forge.Forge) *forge.PullRequest {
	t.Helper()
	p := forgetest.Open(t, f, forge.PullSpec{
		Owner: "acme", Repo: "widgets", Number: 7, Title: "Turn faster", Body: "Because.", Author: "contributor",
		Base: files("main.go", "package main\n", "old name.txt", "a\nb\nc\nd\ne\nf\ng\nh\n", "gone.txt", "x\n"),
		Head: files("main.go", "package main\n\nfunc main() {}\n", "neu\".txt", "a\nb\nc\nd\ne\nf\ng\nH\n", "new.txt", "1\n2\n"),
	})
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	return p
}

type result struct {
	stdout, stderr string
	code           int
}

func gh(t *testing.T, env []string, args ...string) result {
	t.Helper()
	return command(t, env, t.TempDir(), forgetest.GH(t), args...)
}

func command(t *testing.T, env []string, dir, path string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, dir, &stdout, &stderr
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func TestGhReadsAndComments(t *testing.T) {
	for _, host := range []string{"github.com", "ghe.example.com"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			f := forgetest.Start(t)
			p := pull(t, f)
			env := f.Env(host)
			repo := host + "/acme/widgets"

			view := gh(t, env, "pr", "view", "7", "-R", repo, "--json", "number,title,state,headRefOid,changedFiles,additions,author,files,comments,reviews,labels,isDraft")
			if view.code != 0 {
				t.Fatalf("gh pr view: %s", view.stderr)
			}
			var got struct {
				Title, State, HeadRefOid string
				ChangedFiles, Additions  int
				Files                    []struct{ Path string }
			}
			if err := json.Unmarshal([]byte(view.stdout), &got); err != nil {
				t.Fatal(err)
			}
			if got.Title != "Turn faster" || got.State != "OPEN" || got.HeadRefOid != p.HeadSHA() || got.ChangedFiles != 4 || len(got.Files) != 4 {
				t.Errorf("gh pr view gave %+v", got)
			}

			body := "first line\n\n\ttabs, ünïcode and a trailing blank \n"
			file := filepath.Join(t.TempDir(), "body")
			if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			posted := gh(t, env, "pr", "comment", "7", "-R", repo, "--body-file", file)
			if posted.code != 0 {
				t.Fatalf("gh pr comment: %s", posted.stderr)
			}
			c := p.Comments()
			if len(c) != 1 || c[0].Body != body || c[0].Author != "octocat" {
				t.Fatalf("posted %+v", c)
			}
			if want := fmt.Sprintf("https://%s/acme/widgets/pull/7#issuecomment-%d\n", host, c[0].ID); posted.stdout != want {
				t.Errorf("gh printed %q, want %q", posted.stdout, want)
			}
		})
	}
}

// Each row is a command of gh that people use beside prloop; all of it is validated against the published contracts.
func TestGhCommands(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	p := pull(t, f)
	p.AddReview(forge.Review{Author: "acme", State: "CHANGES_REQUESTED", Body: "no"})
	p.AddThread(forge.Thread{Path: "main.go", Line: 3, Comments: []*forge.Comment{{Author: "acme", Body: "why?"}}})
	p.Comment("helper[bot]", "beep")
	env := f.Env("")
	rows := []struct {
		args string
		want string
		code int
	}{
		{"auth status", "Logged in to github.com account octocat", 0},
		{"api user --jq .login", "octocat", 0},
		{"api rate_limit --jq .rate.limit", "5000", 0},
		{"api repos/acme/widgets --jq .permissions.push", "true", 0},
		{"api repos/acme/widgets/pulls --jq .[0].number", "7", 0},
		{"api repos/acme/widgets/pulls/7 --jq .changed_files", "4", 0},
		{"api repos/acme/widgets/pulls/7/files --paginate --jq .[].status", "modified", 0},
		{"api repos/acme/widgets/pulls/7/reviews --jq .[0].state", "CHANGES_REQUESTED", 0},
		{"api repos/acme/widgets/pulls/7/comments --jq .[0].body", "why?", 0},
		{"api repos/acme/widgets/issues/7/comments --jq .[0].user.login", "helper[bot]", 0},
		{"api repos/acme/widgets/collaborators/octocat/permission --jq .permission", "write", 0},
		{"api repos/acme/widgets/collaborators/contributor/permission --jq .permission", "read", 0},
		{"api -X POST repos/acme/widgets/statuses/" + p.HeadSHA() + " -f state=success --jq .state", "success", 0},
		{"api repos/acme/widgets/commits/" + p.HeadSHA() + "/statuses --jq .[0].creator.login", "octocat", 0},
		{"api -X POST repos/acme/widgets/issues/7/comments -f body=hi --jq .body", "hi", 0},
		{"api repos/acme/nothing", "Not Found", 1},
		{"pr view 7 -R acme/widgets", "Turn faster", 0},
		{"pr list -R acme/widgets --json number,headRefName", `"number":7`, 0},
		{"pr view 8 -R acme/widgets", "Could not resolve to a PullRequest with the number of 8.", 1},
		{"pr checks 7 -R acme/widgets", "no checks reported", 1},
		{"pr review 7 -R acme/widgets --comment -b fine", "", 0},
		{"pr comment 7 -R acme/widgets --edit-last -b edited", "issuecomment", 0},
		{"repo view acme/widgets --json nameWithOwner,viewerPermission", "WRITE", 0},
	}
	for _, row := range rows {
		got := gh(t, env, strings.Fields(row.args)...)
		if got.code != row.code || !strings.Contains(got.stdout+got.stderr, row.want) {
			t.Errorf("gh %s: exit %d, want %d with %q:\n%s%s", row.args, got.code, row.code, row.want, got.stdout, got.stderr)
		}
	}
}

func TestUnknownFieldsAndPathsAreViolations(t *testing.T) {
	t.Parallel()
	f, err := forge.Start(forge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := gh(t, f.Env(""), "api", "graphql", "-f", "query={viewer{shoeSize}}")
	if got.code == 0 || !strings.Contains(got.stdout, "shoeSize") {
		t.Errorf("an unknown field: exit %d, %s", got.code, got.stdout)
	}
	gh(t, f.Env(""), "api", "no/such/path")
	if n := len(f.Violations()); n != 2 {
		t.Errorf("%d violations, want 2: %q", n, f.Violations())
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	p := pull(t, f)
	repo, _ := f.AddRepo("acme", "widgets")
	f.AddToken("reader", forge.Token{Login: "reader"})
	f.AddToken("app", forge.Token{Login: "octocat", ReadOnly: true})
	comment := []string{"pr", "comment", "7", "-R", "acme/widgets", "-b", "x"}
	rows := []struct {
		name, token string
		prepare     func()
		want        string
		code        int
	}{
		{"nobody is told to log in", "", nil, "gh auth login", 4},
		{"an unknown token is refused", "stale", nil, "Bad credentials", 1},
		{"a reader may comment in public", "reader", nil, "issuecomment", 0},
		{"a token without write permission may not", "app", nil, "Resource not accessible by integration", 1},
		{"a reader may not comment on a locked conversation", "reader", p.Lock, "locked", 1},
		{"a writer may", forge.DefaultToken, nil, "issuecomment", 0},
		{"a private repository does not exist for outsiders", "reader", func() { repo.SetPrivate(true) }, "Could not resolve to a Repository", 1},
	}
	for _, row := range rows {
		if row.prepare != nil {
			row.prepare()
		}
		got := gh(t, f.EnvWithToken("", row.token), comment...)
		if got.code != row.code || !strings.Contains(got.stdout+got.stderr, row.want) {
			t.Errorf("%s: exit %d, want %d with %q: %s%s", row.name, got.code, row.code, row.want, got.stdout, got.stderr)
		}
	}
}

func git(t *testing.T, dir string, args ...string) result {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	return command(t, env, dir, path, args...)
}

func TestGitOverHTTP(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	p := pull(t, f)
	f.AddToken("reader", forge.Token{Login: "reader"})
	dir := t.TempDir()
	url := f.GitURL() + "acme/widgets.git"
	if got := git(t, dir, "clone", "-q", "-b", "topic", url, "w"); got.code != 0 {
		t.Fatalf("clone: %s", got.stderr)
	}
	work := filepath.Join(dir, "w")
	before := p.HeadSHA()
	if got := git(t, work, "rev-parse", "HEAD"); strings.TrimSpace(got.stdout) != before {
		t.Errorf("the clone's head is %s, the pull request's %s", got.stdout, before)
	}
	big := bytes.Repeat([]byte("0123456789abcdef\n"), 1<<18) // above git's post buffer when it cannot be compressed away
	if err := os.WriteFile(filepath.Join(work, "big"), big, 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, work, "add", "-A")
	git(t, work, "commit", "-q", "-m", "more")
	asReader := strings.Replace(url, "http://", "http://x-access-token:reader@", 1)
	if got := git(t, work, "push", "-q", asReader, "HEAD:refs/heads/topic"); got.code == 0 || !strings.Contains(got.stderr, "403") {
		t.Errorf("a reader's push: exit %d, %s", got.code, got.stderr)
	}
	if got := git(t, work, "push", "-q", url, "HEAD:refs/heads/topic"); got.code == 0 {
		t.Error("a push without a token went through")
	}
	asWriter := strings.Replace(url, "http://", "http://x-access-token:"+forge.DefaultToken+"@", 1)
	if got := git(t, work, "-c", "http.postBuffer=65536", "push", "-q", asWriter, "HEAD:refs/heads/topic"); got.code != 0 {
		t.Fatalf("a writer's push: %s", got.stderr)
	}
	head := strings.TrimSpace(git(t, work, "rev-parse", "HEAD").stdout)
	if p.HeadSHA() != head || head == before {
		t.Errorf("after the push refs/pull/7/head is %s, want %s", p.HeadSHA(), head)
	}
	if got := git(t, work, "push", "-q", asWriter, "HEAD:refs/pull/7/head"); got.code == 0 {
		t.Error("a push to refs/pull went through")
	}
}

func TestForks(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	p := forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Fork: "contributor/widgets", Author: "contributor",
		Base: files("a", "1\n"), Head: files("a", "2\n")})
	fork, err := f.AddRepo("contributor", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	before := p.HeadSHA()
	if err := f.Commit(fork, "topic", before, "more", files("a", "3\n")); err != nil {
		t.Fatal(err)
	}
	if p.HeadSHA() == before {
		t.Error("a commit on the fork did not move refs/pull/1/head")
	}
	view := gh(t, f.Env(""), "pr", "view", "1", "-R", "acme/widgets", "--json", "isCrossRepository,headRepositoryOwner")
	if !strings.Contains(view.stdout, `"isCrossRepository":true`) || !strings.Contains(view.stdout, `"login":"contributor"`) {
		t.Errorf("gh pr view gave %s", view.stdout)
	}
	p.DropFork()
	view = gh(t, f.Env(""), "pr", "view", "1", "-R", "acme/widgets", "--json", "headRepository")
	if !strings.Contains(view.stdout, `"headRepository":null`) {
		t.Errorf("with the fork gone gh pr view gave %s%s", view.stdout, view.stderr)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	p := pull(t, f)
	rows := []struct {
		mode   forge.Mode
		want   string
		posted int
	}{
		{forge.Unauthorized, "401 ", 0},
		{forge.Forbidden, "403 ", 0},
		{forge.PrimaryLimit, "rate limit", 0},
		{forge.SecondaryLimit, "secondary rate limit", 0},
		{forge.SecondaryLimitWait, "429 ", 0},
		{forge.NotFound, "404 ", 0},
		{forge.Gone, "410 ", 0},
		{forge.TooLong, "422 ", 0},
		{forge.InternalError, "500 ", 0},
		{forge.BadGateway, "502 ", 0},
		{forge.Unavailable, "503 ", 0},
		{forge.ResetBefore, "EOF", 0},
		{forge.HTML, "invalid character", 0},
		{forge.GraphQLErrors, "Something went wrong", 0},
		{forge.BadGatewayAfter, "502 ", 1},
		{forge.ResetAfter, "EOF", 1},
		{forge.TruncatedJSON, "unexpected", 1},
	}
	for _, row := range rows {
		before := len(p.Comments())
		f.Fail(forge.Fault{Op: "CommentCreate", Mode: row.mode, After: time.Minute})
		got := gh(t, f.Env(""), "pr", "comment", "7", "-R", "acme/widgets", "-b", "x")
		f.Heal()
		if got.code == 0 || !strings.Contains(got.stderr, row.want) {
			t.Errorf("%s: exit %d, want an error with %q: %s", row.mode, got.code, row.want, got.stderr)
		}
		if n := len(p.Comments()) - before; n != row.posted {
			t.Errorf("%s: %d comments were posted, want %d", row.mode, n, row.posted)
		}
	}
}

func TestFaultsPassSkipAndHeal(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	p := pull(t, f)
	moved := 0
	f.Fail(forge.Fault{Op: "GET /user", Mode: forge.NotFound, Skip: 1, Times: 1, Do: func() { moved++; p.SetState("CLOSED") }})
	var codes []int
	for range 3 {
		codes = append(codes, gh(t, f.Env(""), "api", "user").code)
	}
	if fmt.Sprint(codes) != "[0 1 0]" || moved != 1 {
		t.Errorf("exit statuses %v and %d moves, want [0 1 0] and 1", codes, moved)
	}
}

// TestConcurrentUse is for the race detector: reads, writes and changes at the same time.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	p := pull(t, f)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			p.Comment("octocat", fmt.Sprint(i))
			p.SetDraft(i%2 == 0)
			p.AddReview(forge.Review{Author: "acme", State: "COMMENTED"})
			gh(t, f.Env(""), "pr", "view", "7", "-R", "acme/widgets", "--json", "comments,reviews,isDraft")
			_, _ = f.Log(), f.Violations()
		})
	}
	wg.Wait()
	if n := len(p.Comments()); n != 6 {
		t.Errorf("%d comments, want 6", n)
	}
}
