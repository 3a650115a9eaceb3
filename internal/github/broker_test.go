package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// brokered has tests reach the forge through a broker.
var brokered bool

// throughBroker starts a broker with the credential of some options, and gives options without one.
func throughBroker(t testing.TB, o Options, only ...review.Repo) Options {
	t.Helper()
	c, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c.writeGap = 0
	dir, err := os.MkdirTemp("", "prloop-broker-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "b")
	b, err := NewBroker(c, only, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	l, err := broker.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	var env []string
	for _, name := range passed {
		env = append(env, environment(o.Env).pick(name)...)
	}
	env = append(env, environment(o.Env).pick("GH_HOST")...)
	o.Broker, o.Env = socket, append(env, "GH_CONFIG_DIR="+t.TempDir())
	return o
}

// held opens a forge whose credential a broker has, and gives a client of the broker.
func held(t *testing.T, only ...review.Repo) (*forge.Forge, *forge.PullRequest, *forge.Repo, *Client, Options) {
	t.Helper()
	f, p, repo := open(t)
	o := throughBroker(t, Options{Env: f.Env(""), GH: forgetest.GH(t)}, only...)
	return f, p, repo, client(t, f, o), o
}

// A client of a broker reads, writes and fails as one that has the credential.
func TestThroughABroker(t *testing.T) {
	brokered = true
	defer func() { brokered = false }()
	for name, test := range map[string]func(*testing.T){
		"comments": TestPostFaults, "reviews": TestReview, "refused reviews": TestReviewFaults, "statuses": TestSetStatusFaults, "listed statuses": TestStatuses, "read": TestPullRequest,
		"refused reads": TestReadErrors, "discussion": TestDiscussionIsWhole, "long texts": TestLongTextsOfStrangers, "pushes": TestMayPushInOneRepository, "job": TestActionsToken,
		"account of an App": TestAppAccount,
	} {
		t.Run(name, test)
	}
}

// It has no credential, and nothing of a token is known to it; an App's client asks as the App, for one repository at a time.
func TestClientOfABrokerHoldsNothing(t *testing.T) {
	f, _, _, c, _ := held(t)
	own, _, key, env := asApp(t, "")
	app := client(t, own, throughBroker(t, Options{Env: env, GH: forgetest.GH(t)}))
	if !app.IsApp() {
		t.Error("it does not know that the credential is an App's")
	}
	of, err := app.For(t.Context(), widgets)
	if err != nil {
		t.Fatal(err)
	}
	pr := readPull(t, of)
	if _, err := of.Post(t.Context(), pr, text(t, "Hello.")); err != nil {
		t.Error(err)
	}
	if _, err := of.SetStatus(t.Context(), pr.Repo, pr.HeadSHA, effects.CommitStatus{State: "pending", Description: "Reviewing", Target: pr.URL}); err != nil {
		t.Error(err)
	}
	var may []string
	for _, m := range own.Minted() {
		if len(m.Repos) != 1 || m.Repos[0] != "acme/widgets" {
			t.Errorf("a token is for %v", m.Repos)
		}
		may = append(may, fmt.Sprint(m.Permissions))
	}
	if want := 3; len(may) != want { // to read, to comment and to set a status
		t.Errorf("tokens may %s", strings.Join(may, "; "))
	}
	readPull(t, c)
	for _, c := range []*Client{c, app, of} {
		if all := fmt.Sprintf("%+v %v", c.Secrets(), c.token); strings.Contains(all, forge.DefaultToken) || strings.Contains(all, key[40:60]) || strings.Contains(all, "ghs_") {
			t.Error("a credential is here")
		}
	}
	if n := len(f.Log()); n == 0 {
		t.Error("nobody was asked")
	}
}

// What prloop does not do is not done for anybody who finds the socket, and nothing of it reaches GitHub.
func TestBrokerRefuses(t *testing.T) {
	f, p, _, c, o := held(t, review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"})
	pr := readPull(t, c)
	good := text(t, "Fine.").String()
	f.AddToken("ghp_planted0000000000000000000000000000", forge.Token{Login: "octocat"})
	query := func(q string, vars map[string]any) string {
		return string(must(json.Marshal(map[string]any{"query": q, "variables": vars})))
	}
	object := func(fields ...any) string {
		all := map[string]any{}
		for i := 0; i < len(fields); i += 2 {
			all[fields[i].(string)] = fields[i+1]
		}
		return string(must(json.Marshal(all)))
	}
	ask := http.Client{Transport: broker.Transport(o.Broker), Timeout: time.Minute}
	for name, row := range map[string]struct{ method, address, body string }{
		"approval":                        {"POST", "api.github.com/repos/acme/widgets/pulls/7/reviews", object("commit_id", pr.HeadSHA, "event", "APPROVE", "body", good, "comments", []any{})},
		"approval after a comment":        {"POST", "api.github.com/repos/acme/widgets/pulls/7/reviews", `{"event":"COMMENT","body":` + string(must(json.Marshal(good))) + `,"event":"APPROVE"}`},
		"a review that is pending":        {"POST", "api.github.com/repos/acme/widgets/pulls/7/reviews", object("commit_id", pr.HeadSHA, "body", good)},
		"another status":                  {"POST", "api.github.com/repos/acme/widgets/statuses/" + pr.HeadSHA, object("state", "success", "context", "ci/build", "description", "Fine")},
		"a closed pull request":           {"PATCH", "api.github.com/repos/acme/widgets/pulls/7", object("state", "closed")},
		"a merge":                         {"PUT", "api.github.com/repos/acme/widgets/pulls/7/merge", "{}"},
		"a branch that goes":              {"DELETE", "api.github.com/repos/acme/widgets/git/refs/heads/main", ""},
		"a file":                          {"PUT", "api.github.com/repos/acme/widgets/contents/x", "{}"},
		"a merge by GraphQL":              {"POST", "api.github.com/graphql", query("mutation { mergePullRequest(input: {pullRequestId: \"x\"}) { clientMutationId } }", nil)},
		"two mutations":                   {"POST", "api.github.com/graphql", query(resolveMutation+" mutation Merge { mergePullRequest(input: {pullRequestId: \"x\"}) { clientMutationId } }", nil)},
		"a mutation behind a query":       {"POST", "api.github.com/graphql", query("query A { viewer { login } } mutation B { mergePullRequest(input: {pullRequestId: \"x\"}) { clientMutationId } }", nil)},
		"another repository":              {"GET", "api.github.com/repos/acme/gadgets/pulls/1", ""},
		"another's by GraphQL":            {"POST", "api.github.com/graphql", query(viewerPermissionQuery, map[string]any{"owner": "acme", "name": "gadgets"})},
		"another's by a name given twice": {"POST", "api.github.com/graphql", query("query($owner:String!,$repo:String!){ repository(owner: $owner, name: $repo, name: \"gadgets\") { pullRequest(number: 7) { id } } }", map[string]any{"owner": "acme", "repo": "widgets"})},
		"another's by a literal":          {"POST", "api.github.com/graphql", query("query($owner:String!,$repo:String!){ repository(owner: \"acme\", name: \"gadgets\") { pullRequest(number: 7) { id } } }", map[string]any{"owner": "acme", "repo": "widgets"})},
		"another's by gh's variables":     {"POST", "api.github.com/graphql", query("query($owner:String!,$repo:String!){ repository(owner: $owner, name: $repo) { pullRequest(number: 7) { id } } }", map[string]any{"owner": "acme", "repo": "gadgets"})},
		"another's by two words":          {"POST", "api.github.com/graphql", query("query($owner:String!,$repo:String!){ repository(owner: $owner, name: $repo) { pullRequest(number: 7) { id } } }", map[string]any{"owner": "acme", "repo": "gadgets", "name": "widgets"})},
		"another's by a default":          {"POST", "api.github.com/graphql", query("query($owner:String!,$repo:String=\"gadgets\"){ repository(owner: $owner, name: $repo) { pullRequest(number: 7) { id } } }", map[string]any{"owner": "acme"})},
		"another's by its owner":          {"POST", "api.github.com/graphql", query("query($owner:String!,$repo:String!){ repository(owner: $owner, name: $repo) { owner { ... on Organization { repositories(first: 9) { nodes { name } } } } } }", map[string]any{"owner": "acme", "repo": "widgets"})},
		"another's by a pull request":     {"POST", "api.github.com/graphql", query("query($owner:String!,$repo:String!){ repository(owner: $owner, name: $repo) { pullRequest(number: 7) { author { login } } } }", map[string]any{"owner": "acme", "repo": "widgets"})},
		"a search":                        {"POST", "api.github.com/graphql", query("query{ search(query: \"secret\", type: REPOSITORY, first: 1) { repositoryCount } }", nil)},
		"a second field":                  {"POST", "api.github.com/graphql", query("query($owner:String!,$repo:String!){ repository(owner: $owner, name: $repo) { id } viewer { email } }", map[string]any{"owner": "acme", "repo": "widgets"})},
		"a fragment at the top":           {"POST", "api.github.com/graphql", query("query($owner:String!,$repo:String!){ ...X } fragment X on Query { viewer { email } }", map[string]any{"owner": "acme", "repo": "widgets"})},
		"another host":                    {"GET", "github.example.com/repos/acme/widgets", ""},
		"a way out of the prefix":         {"GET", "api.github.com/repos/acme/widgets/../../../user/keys", ""},
		"keys of the account":             {"GET", "api.github.com/user/keys", ""},
		"an order to a bot":               {"PATCH", "api.github.com/repos/acme/widgets/issues/comments/1", object("body", "/approve")},
		"the credential in a text":        {"PATCH", "api.github.com/repos/acme/widgets/issues/comments/1", object("body", good+forge.DefaultToken)},
		"the credential in an address":    {"GET", "api.github.com/repos/acme/widgets/labels/" + forge.DefaultToken, ""},
		"a comment by gh elsewhere":       {"POST", "api.github.com/graphql", query("mutation($input:AddCommentInput!){addComment(input:$input){commentEdge{node{url}}}}", map[string]any{"input": map[string]any{"subjectId": "x", "body": "@octocat merge"}})},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(f.Log())
			req, err := http.NewRequestWithContext(t.Context(), row.method, "https://"+row.address, strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "token "+claimed)
			resp, err := ask.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			said, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != http.StatusForbidden || resp.Header.Get(notSentHeader) == "" || strings.Contains(string(said), forge.DefaultToken) {
				t.Errorf("%s: %s", resp.Status, said)
			}
			if n := len(f.Log()) - before; n != 0 {
				t.Errorf("GitHub had %d requests", n)
			}
		})
	}
	if len(p.Comments()) != 0 {
		t.Error("something was done")
	}
}

// What a client names by its id, or edits, is in a repository that the broker serves, and what it edits or hides is of the broker's account.
func TestBrokerAsksWhoseItIs(t *testing.T) {
	f, p, _, c, o := held(t, widgets)
	other, err := f.AddRepo("acme", "gadgets")
	if err != nil {
		t.Fatal(err)
	}
	other.SetPermission("octocat", forge.Write)
	private := forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "gadgets", Number: 1, Title: "Private", Author: "mona", HeadRef: "x", Base: tree("package a\n"), Head: tree("package b\n")})
	direct, err := New(t.Context(), Options{Env: f.Env(""), GH: forgetest.GH(t)})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(c *Client, repo string, number int, p *forge.PullRequest) (pull, thread, mine, theirs string, numbers [2]int64) {
		t.Helper()
		for i, login := range []string{"octocat", "mona"} {
			numbers[i] = p.Comment(login, "Words of "+login+".")
		}
		p.AddThread(forge.Thread{Path: "main.go", Line: 1, Comments: []*forge.Comment{{Author: "mona", Body: "Words in a thread."}}})
		pr, err := c.PullRequest(t.Context(), review.Repo{Host: "github.com", Owner: "acme", Name: repo}, number)
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Discussion(t.Context(), pr)
		if err != nil || len(d.Comments) != 2 || len(d.Threads) != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
		return pr.NodeID, d.Threads[0].ID, d.Comments[0].ID, d.Comments[1].ID, numbers
	}
	farPull, farThread, farMine, _, _ := ids(direct, "gadgets", 1, private)
	pull, thread, mine, theirs, numbers := ids(c, "widgets", 7, p)
	query := func(q string, vars map[string]any) string {
		return string(must(json.Marshal(map[string]any{"query": q, "variables": vars})))
	}
	body := text(t, "Fine.").String()
	comment := func(on string) string {
		return query("mutation CommentCreate($input:AddCommentInput!){addComment(input: $input){commentEdge{node{url}}}}", map[string]any{"input": map[string]any{"subjectId": on, "body": body}})
	}
	edit := func(fields map[string]any) string { return string(must(json.Marshal(fields))) }
	for name, row := range map[string]struct {
		method, path, body string
		want               int
	}{
		"a comment elsewhere":                {"POST", "graphql", comment(farPull), http.StatusForbidden},
		"a comment":                          {"POST", "graphql", comment(pull), http.StatusOK},
		"a thread elsewhere":                 {"POST", "graphql", query(threadQuery, map[string]any{"id": farThread, "few": 50}), http.StatusForbidden},
		"a thread":                           {"POST", "graphql", query(threadQuery, map[string]any{"id": thread, "few": 50}), http.StatusOK},
		"how a comment elsewhere was made":   {"POST", "graphql", query(mailedQuery, map[string]any{"id": farMine}), http.StatusForbidden},
		"how a comment was made":             {"POST", "graphql", query(mailedQuery, map[string]any{"id": theirs}), http.StatusOK},
		"a thread elsewhere that is settled": {"POST", "graphql", query(resolveMutation, map[string]any{"id": farThread}), http.StatusForbidden},
		"a thread that is settled":           {"POST", "graphql", query(resolveMutation, map[string]any{"id": thread}), http.StatusOK},
		"a comment elsewhere that is hidden": {"POST", "graphql", query(minimizeMutation, map[string]any{"id": farMine}), http.StatusForbidden},
		"somebody's comment that is hidden":  {"POST", "graphql", query(minimizeMutation, map[string]any{"id": theirs}), http.StatusForbidden},
		"an own comment that is hidden":      {"POST", "graphql", query(minimizeMutation, map[string]any{"id": mine}), http.StatusOK},
		"somebody's comment":                 {"PATCH", fmt.Sprintf("repos/acme/widgets/issues/comments/%d", numbers[1]), edit(map[string]any{"body": body}), http.StatusForbidden},
		"an own comment":                     {"PATCH", fmt.Sprintf("repos/acme/widgets/issues/comments/%d", numbers[0]), edit(map[string]any{"body": body}), http.StatusOK},
		"somebody's pull request":            {"PATCH", "repos/acme/widgets/pulls/7", edit(map[string]any{"title": "Another", "body": body}), http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), row.method, "https://api.github.com/"+row.path, strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "token "+claimed+"acme/widgets")
			req.Header.Set("Content-Type", "application/json")
			resp, err := (&http.Client{Transport: broker.Transport(o.Broker), Timeout: time.Minute}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			said, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != row.want || strings.Contains(string(said), `"errors"`) {
				t.Errorf("%s: %s", resp.Status, said)
			}
		})
	}
	if title, _, _, _ := p.Words(); len(private.Comments()) != 2 || title == "Another" {
		t.Errorf("%d comments elsewhere, and the title is %q", len(private.Comments()), title)
	}
}

// git fetches and pushes without a credential: one branch that is not the default one, and never away.
func TestGitThroughABroker(t *testing.T) {
	f, _, repo, c, _ := held(t)
	if _, err := f.Open(forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 8, Title: "Own", Author: "octocat", HeadRef: "own", Head: tree("package main\n\n// own\n")}); err != nil {
		t.Fatal(err)
	}
	how, dir := c.Pushed(widgets), t.TempDir()
	login, err := how.Env(t.Context())
	if err != nil || !strings.HasPrefix(how.URL, "http://127.0.0.1:") || strings.Contains(strings.Join(login, " "), forge.DefaultToken) {
		t.Fatal(how.URL, err)
	}
	run := func(args ...string) error {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "credential.helper=" + how.Helper, "-c", "user.name=o", "-c", "user.email=o@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), append(login, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	for _, args := range [][]string{{"init", "-q"}, {"fetch", "-q", how.URL, "refs/heads/own"}, {"checkout", "-q", "-b", "own", "FETCH_HEAD"}, {"commit", "-q", "--allow-empty", "-m", "more"}} {
		if err := run(args...); err != nil {
			t.Fatal(err)
		}
	}
	before := must(repo.Branches())
	for name, refs := range map[string][]string{
		"a branch goes": {":refs/heads/own"}, "a tag": {"HEAD:refs/tags/v1"}, "two branches": {"HEAD:refs/heads/own", "HEAD:refs/heads/other"}, "the default branch": {"+HEAD:refs/heads/main"},
	} {
		if err := run(append([]string{"push", "-q", how.URL}, refs...)...); err == nil {
			t.Errorf("%s: pushed", name)
		}
	}
	if now := must(repo.Branches()); !maps.Equal(before, now) {
		t.Errorf("branches are %v, and were %v", now, before)
	}
	if err := run("push", "-q", how.URL, "HEAD:refs/heads/own"); err != nil {
		t.Error(err)
	}
	if now := must(repo.Branches()); now["own"] == before["own"] {
		t.Error("nothing was pushed")
	}
	login[1] = "PRLOOP_GIT_TOKEN=wrong"
	if err := run("fetch", "-q", how.URL, "refs/heads/own"); err == nil {
		t.Error("anybody on the machine may fetch")
	}

}

// Where no broker answers, nothing was sent, and it is said.
func TestNoBroker(t *testing.T) {
	f, _, _, c, o := held(t)
	pr := readPull(t, c)
	if err := os.Remove(o.Broker); err != nil {
		t.Fatal(err)
	}
	c.transport.next.(borrowed).next.(*http.Transport).CloseIdleConnections()
	var e *Error
	_, err := c.SetStatus(t.Context(), pr.Repo, pr.HeadSHA, effects.CommitStatus{State: "pending", Description: "Reviewing", Target: pr.URL})
	if !errors.As(err, &e) || !e.Refused() || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "broker") {
		t.Error(err)
	}
	if _, err := New(t.Context(), o); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), o.Broker) {
		t.Error(err)
	}
	if n := writes(f); n != 0 {
		t.Errorf("%d writes", n)
	}
}
