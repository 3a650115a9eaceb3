package github

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/sanitize"
)

// planted is a secret that the process holds beside the credential, such as the key of a model.
const planted = "sk-proj-Zm9yZ2VkTm90QVJlYWxLZXkxMjM0NTY3ODkw"

// Whatever a fault in the making of texts lets through, the last place before the network does not (threats.md T240).
func TestWhatLeavesIsReadOnceMore(t *testing.T) {
	t.Parallel()
	f, p, repo := open(t)
	c := client(t, f, Options{})
	c.Guard(planted, "short")
	pr := readPull(t, c)
	good := text(t, "A report.").String()
	reply := func(body string) error {
		_, err := c.create(t.Context(), "reply", pr, restPath(pr, "pulls")+"/comments/1/replies", map[string]string{"body": body}, beforeReply, afterReply)
		return err
	}
	review := func(first, body string) error {
		in := map[string]any{"commit_id": pr.HeadSHA, "body": first, "event": "COMMENT", "comments": []lineComment{{Path: "main.go", Line: 1, Side: right, Body: body}}}
		_, err := c.create(t.Context(), "review", pr, restPath(pr, "pulls")+"/reviews", in, beforeReply, afterReply)
		return err
	}
	words := func(title, body string) error {
		_, err := c.writePull(t.Context(), "open", pr.Repo, http.MethodPost, repoAddress(pr.Repo, "/pulls"), map[string]string{"title": title, "body": body, "head": "topic", "base": "main"})
		return err
	}
	status := func(s effects.CommitStatus) error {
		_, err := c.SetStatus(t.Context(), widgets, pr.HeadSHA, s)
		return err
	}
	for name, row := range map[string]struct {
		send func() error
		want error
	}{
		"an order to a bot":               {func() error { return reply(good + "\n/approve\n") }, sanitize.ErrUnsafe},
		"a mention":                       {func() error { return reply(strings.Replace(good, "report", "report for @octo-org", 1)) }, sanitize.ErrUnsafe},
		"an image":                        {func() error { return reply(good + "\n![x](https://example.com/x.png)\n") }, sanitize.ErrUnsafe},
		"a box to tick":                   {func() error { return reply(good + "\n1. [x] approved\n") }, sanitize.ErrUnsafe},
		"no marker":                       {func() error { return reply("A report.") }, sanitize.ErrUnsafe},
		"nothing":                         {func() error { return reply("") }, sanitize.ErrUnsafe},
		"the credential":                  {func() error { return reply(good + forge.DefaultToken) }, sanitize.ErrKnownSecret},
		"a part of a model's key":         {func() error { return reply(good + planted[9:27]) }, sanitize.ErrKnownSecret},
		"a model's key in base64":         {func() error { return reply(good + base64.StdEncoding.EncodeToString([]byte(planted))) }, sanitize.ErrKnownSecret},
		"an order in a comment on a line": {func() error { return review(good, good+"\n/lgtm\n") }, sanitize.ErrUnsafe},
		"an order before the comments":    {func() error { return review(good+"\n/lgtm\n", good) }, sanitize.ErrUnsafe},
		"a key in a comment on a line":    {func() error { return review(good, good+planted) }, sanitize.ErrKnownSecret},
		"an order as a title":             {func() error { return words("/approve", good) }, sanitize.ErrUnsafe},
		"two lines as a title":            {func() error { return words("one\ntwo", good) }, sanitize.ErrUnsafe},
		"a key as a title":                {func() error { return words(planted, good) }, sanitize.ErrKnownSecret},
		"a key in what a status says": {func() error {
			return status(effects.CommitStatus{State: "pending", Description: planted, Target: "https://github.com/acme/widgets/pull/7"})
		}, sanitize.ErrKnownSecret},
		"a key in where a status leads": {func() error {
			return status(effects.CommitStatus{State: "pending", Description: "x", Target: "https://github.com/?" + planted})
		}, sanitize.ErrKnownSecret},
		"a key in a reaction": {func() error { _, err := c.React(t.Context(), pr, 1, planted); return err }, sanitize.ErrKnownSecret},
		"a key in a name":     {func() error { _, err := c.RequestReview(t.Context(), pr, []string{planted}, nil); return err }, sanitize.ErrKnownSecret},
		"a key in a mutation": {func() error { _, err := c.Resolve(t.Context(), pr, planted); return err }, sanitize.ErrKnownSecret},
	} {
		err := row.send()
		var e *Error
		if !errors.Is(err, row.want) || !errors.As(err, &e) || e.write && !e.Refused() {
			t.Errorf("%s: %v (%+v), want %v for certain", name, err, e, row.want)
		}
		if err != nil && strings.Contains(err.Error(), planted[8:30]) {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
	}
	if _, err := c.Permission(t.Context(), widgets, planted); !errors.Is(err, sanitize.ErrKnownSecret) {
		t.Errorf("a key in an address that is read: %v", err)
	}
	if n := writes(f); n != 0 {
		t.Errorf("%d requests that write reached GitHub", n)
	}
	if len(p.Comments())+len(p.Threads())+len(repo.Statuses()) != 0 {
		t.Error("something stands there")
	}
	if err := reply(good); errors.Is(err, sanitize.ErrUnsafe) { // GitHub refuses it: there is no such thread
		t.Error(err)
	}
}

// gh is no way around: what it sends passes the same place, and it has neither the credential nor the user's settings (threats.md T241).
func TestGhGoesThroughTheDoor(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{Temp: deep(t)})
	pr := readPull(t, c)
	link := "See [main.go](https://github.com/acme/widgets/blob/" + pr.HeadSHA + "/main.go)."
	own, err := sanitize.Summary(link, sanitize.Policy{Repo: widgets})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Post(t.Context(), pr, own); err != nil || len(p.Comments()) != 1 || p.Comments()[0].Body != own.String() || !strings.Contains(own.String(), "](https") {
		t.Fatalf("%v, %+v", err, p.Comments())
	}
	asked := writes(f)
	// hijacked says something else in gh's place, with its environment alone.
	hijacked := func(change func(body string) string) {
		c.run = func(_ context.Context, spec proc.Spec) (proc.Result, error) {
			for _, e := range spec.Env {
				if strings.Contains(e, forge.DefaultToken) {
					t.Errorf("gh is told the credential: %s", e)
				}
			}
			file, err := os.ReadFile(spec.Args[4])
			if err != nil {
				t.Error(err)
			}
			through := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", short(t, filepath.Join(spec.Dir, doorName)))
			}}}
			resp, err := through.Post("http://api.github.com/graphql", "application/json", strings.NewReader(
				`{"query":"mutation CommentCreate($input: AddCommentInput!) { addComment(input: $input) { commentEdge { node { url } } } }","variables":{"input":{"subjectId":"x","body":`+
					quote(t, change(string(file)))+`}}}`))
			if err != nil {
				t.Error(err)
				return proc.Result{}, err
			}
			defer resp.Body.Close()
			return proc.Result{ExitCode: 1, StderrTail: []byte("HTTP 502")}, &proc.ExitError{}
		}
		var e *Error
		if _, err := c.Post(t.Context(), pr, own); !errors.As(err, &e) || !e.Refused() || !errors.Is(err, sanitize.ErrUnsafe) && !errors.Is(err, sanitize.ErrKnownSecret) {
			t.Errorf("%v", err)
		}
	}
	hijacked(func(body string) string { return body + "\n/approve\n" })
	hijacked(func(body string) string { return body + forge.DefaultToken })
	hijacked(func(string) string { return "hello" })
	if n := writes(f) - asked; n != 0 || len(p.Comments()) != 1 {
		t.Errorf("%d writes, %d comments", n, len(p.Comments()))
	}
}

// Whoever finds the socket while gh is at work does with it what gh does, and nothing else: one comment on the pull request.
func TestTheDoorTakesOneComment(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{Temp: deep(t)})
	pr := readPull(t, c)
	own := text(t, "hello")
	comment := func(subject string) string {
		return `{"query":"mutation CommentCreate($input:AddCommentInput!){addComment(input: $input){commentEdge{node{url}}}}","variables":{"input":{"subjectId":"` + subject + `","body":` + quote(t, own.String()) + `}}}`
	}
	var said []int
	before := writes(f)
	c.run = func(_ context.Context, spec proc.Spec) (proc.Result, error) {
		through := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", short(t, filepath.Join(spec.Dir, doorName)))
		}}}
		for _, q := range []struct{ method, path, body string }{
			{http.MethodPut, "/repos/acme/widgets/pulls/7/merge", `{"merge_method":"squash"}`},
			{http.MethodPost, "/repos/acme/widgets/issues/7/comments", `{"body":"hello"}`},
			{http.MethodDelete, "/repos/acme/widgets/git/refs/heads/main", ""},
			{http.MethodPost, "/graphql", `{"query":"mutation { mergePullRequest(input: {pullRequestId: \"` + pr.NodeID + `\"}) { clientMutationId } }"}`},
			{http.MethodPost, "/graphql", strings.Replace(comment(pr.NodeID), "addComment(", "mergePullRequest(", 1)},
			{http.MethodPost, "/graphql", strings.Replace(comment(pr.NodeID), "{addComment(", "{m: closePullRequest(input: $input){clientMutationId} addComment(", 1)},
			{http.MethodPost, "/graphql", `{"query":"query A { viewer { login } } mutation B { closePullRequest(input: {pullRequestId: \"x\"}) { clientMutationId } }","operationName":"B"}`},
			{http.MethodPost, "/graphql", comment("another")},
			{http.MethodPost, "/graphql", comment(pr.NodeID)},
			{http.MethodPost, "/graphql", comment(pr.NodeID)},
		} {
			req, err := http.NewRequest(q.method, "http://api.github.com"+q.path, strings.NewReader(q.body))
			if err != nil {
				t.Error(err)
				continue
			}
			resp, err := through.Do(req)
			if err != nil {
				t.Error(err)
				continue
			}
			said = append(said, resp.StatusCode)
			_ = resp.Body.Close()
		}
		return proc.Result{ExitCode: 1, StderrTail: []byte("HTTP 502")}, &proc.ExitError{}
	}
	_, _ = c.Post(t.Context(), pr, own) // whatever it makes of that
	bad := http.StatusBadGateway
	if want := []int{bad, bad, bad, bad, bad, bad, bad, bad, http.StatusOK, bad}; !slices.Equal(said, want) || writes(f)-before != 1 || len(p.Comments()) != 1 {
		t.Errorf("%v, want %v; %d writes, %d comments", said, want, writes(f)-before, len(p.Comments()))
	}
}

// deep is a folder whose name is too long for a socket.
func deep(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("deep", 30))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// short is the address of a socket by a name that is short enough.
func short(t *testing.T, name string) string {
	t.Helper()
	at, err := filepath.EvalSymlinks(name)
	if err != nil {
		t.Error(err)
	}
	return at
}

func quote(t *testing.T, s string) string {
	t.Helper()
	out, err := json.Marshal(s)
	if err != nil {
		t.Error(err)
	}
	return string(out)
}
