package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// fixed is a commit of ours on top of the reviewed head, ready to be pushed.
func (b *bench) fixed(t *testing.T, text string) string {
	t.Helper()
	write(t, b.clone, "topic", text)
	tree, err := b.r.TakeTree(t.Context(), b.clone, b.head)
	if err != nil {
		t.Fatal(err)
	}
	done, err := b.r.Rewrite(t.Context(), b.head, []Taken{{Tree: tree, Message: "fix: " + text}}, signature())
	if err != nil {
		t.Fatal(err)
	}
	return done[0].New
}

// hook puts a hook on the server.
func (b *bench) hook(t *testing.T, name, text string) {
	t.Helper()
	write(t, b.origin, "hooks/"+name, "#!/bin/sh\n"+text)
	if err := os.Chmod(filepath.Join(b.origin, "hooks", name), 0o755); err != nil {
		t.Fatal(err)
	}
}

// theirs is a commit of somebody else on the server, on top of a commit, under no ref yet.
func (b *bench) theirs(t *testing.T, on, message string) string {
	t.Helper()
	return shell(t, b.origin, "commit-tree", "-p", on, "-m", message, on+"^{tree}")
}

func TestPushOutcomes(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made := b.fixed(t, "2\n")
	other := b.theirs(t, b.head, "theirs")
	shell(t, b.r.dir, "push", "-q", b.origin, made+":refs/keep/made")
	on := b.theirs(t, made, "theirs, on ours")
	further := b.theirs(t, on, "and another")
	beside := b.theirs(t, other, "not on ours")
	for _, c := range []struct {
		rule    string
		prepare func()
		want    PushResult
		at      string
	}{
		{"somebody pushed: theirs stays (threats.md T94)", func() { shell(t, b.origin, "update-ref", b.ref, other) }, PushResult{Outcome: Moved, Head: other}, other},
		{"somebody pushed back: theirs stays", func() { shell(t, b.origin, "update-ref", b.ref, b.head+"~1") }, PushResult{Outcome: Moved, Head: shell(t, b.origin, "rev-parse", b.head+"~1")}, b.head + "~1"},
		{"the branch is gone: it does not come back (threats.md T95)", func() { shell(t, b.origin, "update-ref", "-d", b.ref) }, PushResult{Outcome: Moved}, ""},
		{"the push of a killed process arrived (threats.md K22)", func() { shell(t, b.origin, "update-ref", b.ref, made) }, PushResult{Outcome: Already, Head: made}, made},
		{"somebody built on the push of a killed process", func() { shell(t, b.origin, "update-ref", b.ref, on) }, PushResult{Outcome: Already, Head: on}, on},
		{"and went on", func() { shell(t, b.origin, "update-ref", b.ref, further) }, PushResult{Outcome: Already, Head: further}, further},
		{"somebody put another one in its place", func() { shell(t, b.origin, "update-ref", b.ref, beside) }, PushResult{Outcome: Moved, Head: beside}, beside},
		{"the reviewed head is there", func() { shell(t, b.origin, "update-ref", b.ref, b.head) }, PushResult{Outcome: Pushed, Head: made}, made},
	} {
		c.prepare()
		if res := b.push(t, made); res != c.want {
			t.Errorf("%s: %+v, want %+v", c.rule, res, c.want)
		}
		if c.at == "" {
			if out := shellFails(b.origin, "rev-parse", "--verify", b.ref); !strings.Contains(out, "fatal") {
				t.Errorf("%s: the branch is at %s", c.rule, out)
			}
		} else if b.at(t) != shell(t, b.origin, "rev-parse", c.at) {
			t.Errorf("%s: the branch is at %s", c.rule, b.at(t))
		}
	}
}

func TestPushRefusesWhatIsNoFix(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made := b.fixed(t, "2\n")
	for _, c := range []struct {
		rule string
		o    PushOptions
		want error
	}{
		{"a tag", PushOptions{Ref: "refs/tags/v1", Old: b.head, New: made}, ErrName},
		{"the ref of the pull request", PushOptions{Ref: "refs/pull/1/head", Old: b.head, New: made}, ErrName},
		{"a ref that is an option", PushOptions{Ref: "--receive-pack=x", Old: b.head, New: made}, ErrName},
		{"two refs", PushOptions{Ref: "refs/heads/a:refs/heads/b", Old: b.head, New: made}, ErrName},
		{"a branch name instead of an object id", PushOptions{Ref: b.ref, Old: "main", New: made}, ErrName},
		{"deleting", PushOptions{Ref: b.ref, Old: b.head, New: strings.Repeat("0", 40)}, ErrName},
		{"creating", PushOptions{Ref: b.ref, Old: strings.Repeat("0", 40), New: made}, ErrName},
		{"going back", PushOptions{Ref: b.ref, Old: made, New: b.head}, ErrNotDescendant},
		{"nothing new", PushOptions{Ref: b.ref, Old: made, New: made}, ErrNotDescendant},
		{"a credential in the URL", PushOptions{Server: Server{URL: "https://x:y@example.com/r"}, Ref: b.ref, Old: b.head, New: made}, ErrProtocol},
		{"ext:: (threats.md T23)", PushOptions{Server: Server{URL: "ext::sh -c true"}, Ref: b.ref, Old: b.head, New: made}, ErrProtocol},
		{"git's own variables", PushOptions{Server: Server{URL: "file://" + b.origin, Env: []string{"git_ssh_command=x"}}, Ref: b.ref, Old: b.head, New: made}, ErrName},
	} {
		if c.o.URL == "" {
			c.o.Server = b.server()
		}
		if _, err := b.r.Push(t.Context(), c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.rule, err, c.want)
		}
	}
	if b.at(t) != b.head {
		t.Error("something was pushed")
	}
}

// A caller that is not sure any more once all is ready pushes nothing.
func TestPushIsHeldBack(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made, gone := b.fixed(t, "2\n"), errors.New("somebody else goes on")
	_, err := b.r.Push(t.Context(), PushOptions{Server: b.server(), Ref: b.ref, Old: b.head, New: made, Sure: func() error { return gone }})
	if !errors.Is(err, ErrHeldBack) || !errors.Is(err, gone) || b.at(t) != b.head {
		t.Errorf("%v; the branch is at %s", err, b.at(t))
	}
}

// What a server says in a hook is told as it reads; nothing is pushed.
func TestPushRefusedByTheServer(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made := b.fixed(t, "2\n")
	for _, c := range []struct{ says, rule, reason string }{
		{"error: GH006: Protected branch update failed for refs/heads/topic.\nerror: At least 1 approving review is required", RefusedProtected,
			"GH006: Protected branch update failed for refs/heads/topic."},
		{"error: GH013: Repository rule violations found for refs/heads/topic.\n\n- Changes must be made through a pull request.", RefusedRule,
			"GH013: Repository rule violations found for refs/heads/topic."},
		{"error: GH013: Repository rule violations found for refs/heads/topic.\n\n- GITHUB PUSH PROTECTION\n  - Push cannot contain secrets", RefusedSecret, "- GITHUB PUSH PROTECTION"},
		{"error: GH001: Large files detected.", RefusedLarge, "GH001: Large files detected."},
		{"\\033[31mour own rule\\007 says no", RefusedHook, "[31mour own rule  says no"},
	} {
		b.hook(t, "pre-receive", "printf '"+strings.ReplaceAll(c.says, "\n", "\\n")+"\\n' >&2\nexit 1\n")
		want := PushResult{Outcome: Refused, Rule: c.rule, Reason: c.reason}
		if res := b.push(t, made); res != want {
			t.Errorf("%+v, want %+v", res, want)
		}
		if b.at(t) != b.head {
			t.Fatal("it was pushed")
		}
	}
}

// Refusals as GitHub words them, which no hook of a test can.
func TestRefusalTexts(t *testing.T) {
	for _, c := range []struct{ flag, summary, stderr, rule string }{
		{"!", "[remote rejected] (protected branch hook declined)", "", RefusedProtected},
		{"!", "[remote rejected] (push declined due to repository rule violations)", "", RefusedRule},
		{"!", "[remote rejected] (refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission)", "", RefusedWorkflow},
		{"!", "[remote rejected] (push declined due to email privacy restrictions)", "remote: error: GH007: Your push would publish a private email address.\n", RefusedEmail},
		{"!", "[remote rejected] (pre-receive hook declined)", "", RefusedHook},
		{"!", "[remote rejected] (shallow update not allowed)", "", RefusedOther},
		{"!", "[remote rejected] (cannot lock ref 'refs/heads/topic': is at 1 but expected 2)", "", ""},
		{"!", "[remote rejected] (failed to update ref)", "", ""},
		{"!", "[rejected] (stale info)", "remote: protected branch", ""},
		{"!", "[rejected] (fetch first)", "", ""},
		{"", "", "remote: Permission to o/r.git denied to me.\nfatal: unable to access 'https://github.com/o/r/': The requested URL returned error: 403", RefusedPermission},
		{"", "", "remote: Repository not found.\nfatal: repository 'https://github.com/o/r/' not found", RefusedNotFound},
		{"", "", "fatal: could not read Username for 'https://github.com': terminal prompts disabled", RefusedAuth},
		{"", "", "fatal: unable to access 'https://github.com/o/r/': Could not resolve host: github.com", ""},
		{"", "", "error: RPC failed; HTTP 502", ""},
	} {
		if rule, _ := refusal(c.flag, c.summary, c.stderr); rule != c.rule {
			t.Errorf("%s%s: %q, want %q", c.summary, c.stderr, rule, c.rule)
		}
	}
}

// Of many pushes onto one head exactly one wins, each of the others is told what is there, and the winner's commit stays.
func TestConcurrentPushesNeverOverwrite(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	const n = 6
	var commits [n]string
	for i := range commits {
		commits[i] = b.fixed(t, fmt.Sprintf("%d\n", i+2))
	}
	var results [n]PushResult
	var errs [n]error
	var g sync.WaitGroup
	for i := range n {
		g.Go(func() {
			results[i], errs[i] = b.r.Push(t.Context(), PushOptions{Server: b.server(), Ref: b.ref, Old: b.head, New: commits[i]})
		})
	}
	g.Wait()
	at, won := b.at(t), 0
	for i := range n {
		switch {
		case errs[i] != nil:
			t.Error(errs[i])
		case results[i].Outcome == Pushed && commits[i] == at:
			won++
		case results[i] != (PushResult{Outcome: Moved, Head: at}):
			t.Errorf("push %d: %+v, the branch is at %s", i, results[i], at)
		}
	}
	if won != 1 {
		t.Errorf("%d pushes won", won)
	}
}

// A push of somebody else that lands while the server is taking ours wins, at the last moment there is.
func TestPushInTheMiddleOfOursWins(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made := b.fixed(t, "2\n")
	other := b.theirs(t, b.head, "theirs")
	// pre-receive runs after the server has looked where the ref is, and before it moves it.
	b.hook(t, "pre-receive", "unset GIT_QUARANTINE_PATH\nexec git update-ref "+b.ref+" "+other+"\n")
	if res := b.push(t, made); res != (PushResult{Outcome: Moved, Head: other}) || b.at(t) != other {
		t.Errorf("%+v, the branch is at %s", res, b.at(t))
	}
}

// httpServer serves the origin over HTTP to those who bring the password. before may answer a request itself.
func (b *bench) httpServer(t *testing.T, password string, before func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	shell(t, b.origin, "config", "http.receivepack", "true")
	backend := &cgi.Handler{Path: path, Args: []string{"http-backend"}, Root: "/",
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(b.origin), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, p, _ := r.BasicAuth(); p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		if before == nil || !before(w, r) {
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/" + filepath.Base(b.origin)
}

const secret = "s3cret-t0ken"

func withHelper(url, token string) Server {
	return Server{URL: url, Helper: `!f() { echo username=x; echo "password=$TOKEN"; }; f`, Env: []string{"TOKEN=" + token}}
}

// listening is a git that writes down the arguments of all its calls, and the processes it sees meanwhile.
func listening(t *testing.T) (*Git, string) {
	t.Helper()
	dir := t.TempDir()
	log, program := filepath.Join(dir, "log"), filepath.Join(dir, "git")
	text := "#!/bin/sh\nprintf '%s\\n' \"$@\" >>" + log + "\ncat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' >>" + log + "\nexec git \"$@\"\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := Find(t.Context(), Options{Path: program, Protocols: []string{"http", "file"}})
	if err != nil {
		t.Fatal(err)
	}
	return g, log
}

func TestPushCredentialIsNowhereElse(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made := b.fixed(t, "2\n")
	url := b.httpServer(t, secret, nil)
	g, log := listening(t)
	r := &Repository{git: g, dir: b.r.dir, kept: newKept()}
	if head, err := r.RemoteHead(t.Context(), withHelper(url, secret), b.ref); err != nil || head != b.head {
		t.Fatalf("%s %v", head, err)
	}
	if _, err := r.RemoteHead(t.Context(), withHelper(url, secret), "refs/heads/none"); !errors.Is(err, ErrUnknownRevision) {
		t.Errorf("a ref that is not there: %v", err)
	}
	if _, err := r.RemoteHead(t.Context(), withHelper(url, "wrong"), b.ref); !errors.Is(err, ErrAuth) {
		t.Errorf("with a wrong token: %v", err)
	}
	res, err := r.Push(t.Context(), PushOptions{Server: withHelper(url, secret), Ref: b.ref, Old: b.head, New: made})
	if err != nil || res.Outcome != Pushed || b.at(t) != made {
		t.Fatalf("%+v %v", res, err)
	}
	if text, err := os.ReadFile(log); err != nil || strings.Contains(string(text), secret) || !strings.Contains(string(text), "push") {
		t.Errorf("the token stands in arguments (threats.md T73), or none were seen: %v", err)
	}
	for _, dir := range []string{b.r.dir, b.clone, b.origin} {
		for name := range census(t, dir) {
			if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), secret) {
				t.Errorf("the token stands in %s (threats.md T73)", name)
			}
		}
	}
}

func TestPushOverHTTPWhenItGoesWrong(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made := b.fixed(t, "2\n")
	r := &Repository{git: find(t), dir: b.r.dir, kept: newKept()}
	r.git.protocols = []string{"http", "file"}
	push := func(s Server) (PushResult, error) {
		return r.Push(t.Context(), PushOptions{Server: s, Ref: b.ref, Old: b.head, New: made})
	}
	status := func(code int, text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, q *http.Request) bool {
			if !strings.Contains(q.URL.String(), "receive-pack") {
				return false
			}
			w.Header().Set("Content-Type", "text/plain")
			http.Error(w, text, code)
			return true
		}
	}
	if res, err := push(withHelper(b.httpServer(t, secret, nil), "wrong")); err != nil || res.Outcome != Refused || res.Rule != RefusedAuth {
		t.Errorf("401: %+v %v", res, err)
	}
	if res, err := push(withHelper(b.httpServer(t, secret, status(403, "Permission to o/r.git denied to me.")), secret)); err != nil || res.Outcome != Refused || res.Rule != RefusedPermission {
		t.Errorf("403: %+v %v", res, err)
	}
	if res, err := push(withHelper(b.httpServer(t, secret, status(404, "Repository not found.")), secret)); err != nil || res.Outcome != Refused || res.Rule != RefusedNotFound {
		t.Errorf("404: %+v %v", res, err)
	}
	if res, err := push(withHelper(b.httpServer(t, secret, status(502, "bad gateway")), secret)); err == nil {
		t.Errorf("502: %+v", res)
	}
	if b.at(t) != b.head {
		t.Fatal("it was pushed")
	}
	if res, err := push(Server{URL: "http://127.0.0.1:1/x"}); err == nil {
		t.Errorf("nobody there: %+v", res)
	}
	// What somebody else put there cannot be downloaded: whether ours is in it stays unknown.
	shell(t, b.r.dir, "push", "-q", b.origin, made+":"+b.ref)
	on := b.theirs(t, made, "theirs, on ours")
	shell(t, b.origin, "update-ref", b.ref, on)
	unread := b.httpServer(t, secret, func(w http.ResponseWriter, q *http.Request) bool {
		body, err := io.ReadAll(q.Body)
		q.Body = io.NopCloser(bytes.NewReader(body))
		if err != nil || !bytes.Contains(body, []byte("want "+on)) {
			return false
		}
		http.Error(w, "bad gateway", http.StatusBadGateway)
		return true
	})
	if res, err := push(withHelper(unread, secret)); err == nil || res != (PushResult{}) {
		t.Errorf("what is there cannot be read: %+v %v", res, err)
	}
	// With the same credential as everything else it can.
	if res, err := push(withHelper(b.httpServer(t, secret, nil), secret)); err != nil || res != (PushResult{Outcome: Already, Head: on}) {
		t.Errorf("somebody built on ours: %+v %v", res, err)
	}
	shell(t, b.origin, "update-ref", b.ref, b.head)
	// The answer is lost after the push was taken: the branch says what became of it (threats.md K22).
	lost := b.httpServer(t, secret, func(w http.ResponseWriter, q *http.Request) bool {
		if !strings.HasSuffix(q.URL.Path, "/git-receive-pack") {
			return false
		}
		shell(t, b.r.dir, "push", "-q", b.origin, made+":"+b.ref)
		panic(http.ErrAbortHandler)
	})
	if res, err := push(withHelper(lost, secret)); err != nil || res != (PushResult{Outcome: Already, Head: made}) {
		t.Errorf("the answer is lost: %+v %v", res, err)
	}
}

// A push whose caller gave up says so, or finds out; it never claims what it does not know.
func TestPushOfACallerWhoGaveUp(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	made := b.fixed(t, "2\n")
	ctx, cancel := context.WithCancel(t.Context())
	r := &Repository{git: find(t), dir: b.r.dir, kept: newKept()}
	r.git.protocols = []string{"http", "file"}
	url := b.httpServer(t, secret, func(_ http.ResponseWriter, q *http.Request) bool {
		if strings.Contains(q.URL.String(), "receive-pack") {
			cancel()
			<-q.Context().Done()
			panic(http.ErrAbortHandler)
		}
		return false
	})
	res, err := r.Push(ctx, PushOptions{Server: withHelper(url, secret), Ref: b.ref, Old: b.head, New: made})
	if !errors.Is(err, context.Canceled) || res != (PushResult{}) || b.at(t) != b.head {
		t.Errorf("%+v %v, the branch is at %s", res, err, b.at(t))
	}
}
