package forge

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"path/filepath"
	"strings"
	"sync"
)

// pushLimitBytes bounds one push.
const pushLimitBytes = 256 << 20

// gitService says which git service a request asks for; empty when it is none.
func gitService(r *http.Request) string {
	switch p := r.URL.Path; {
	case strings.HasSuffix(p, "/info/refs"):
		return r.URL.Query().Get("service")
	case strings.HasSuffix(p, "/git-upload-pack"):
		return "git-upload-pack"
	case strings.HasSuffix(p, "/git-receive-pack"):
		return "git-receive-pack"
	}
	return ""
}

// serveGit lets git-http-backend answer, after the forge has judged who may.
func (f *Forge) serveGit(w http.ResponseWriter, r *http.Request, service string) {
	login, token, known := f.authenticate(r)
	push := service == "git-receive-pack"
	at := f.note(r, Exchange{Op: service, Login: login, Authorized: r.Header.Get("Authorization") != "", Write: push && r.Method == http.MethodPost})
	x := f.fault(service, touching(push && r.Method == http.MethodPost))
	if x.before(w, f.opt.Now()) {
		f.settle(at, x, nil)
		return
	}
	repo, rest := f.gitTarget(r.URL.Path)
	status, message := f.mayGit(repo, r, login, token, known, push)
	if status != http.StatusOK {
		f.settle(at, x, &answer{status: status})
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		}
		http.Error(w, message, status)
		return
	}
	out := newAnswer()
	f.backend(out, r, repo, rest, login)
	if push && r.Method == http.MethodPost {
		if err := f.syncHeads(repo); err != nil {
			f.violate("git push: %v", err)
		}
	}
	f.settle(at, x, out)
	x.after(w, r, out, f.opt.Now())
}

// gitTarget splits /owner/name.git/rest.
func (f *Forge) gitTarget(path string) (*Repo, string) {
	part := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
	if len(part) < 3 {
		return nil, ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.repos[strings.ToLower(part[0]+"/"+strings.TrimSuffix(part[1], ".git"))], part[2]
}

// mayGit is GitHub's rule: what is public may be read by all; nobody learns that a private repository exists; a push
// needs write permission.
func (f *Forge) mayGit(repo *Repo, r *http.Request, login string, t Token, known, push bool) (int, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch sent := r.Header.Get("Authorization") != ""; {
	case sent && !known:
		return http.StatusUnauthorized, "Invalid username or token."
	case repo == nil, repo.permission(login).rank() == 0, repo.Private && !(t.reaches(repo) && t.grants("contents", "read")):
		if known {
			return http.StatusNotFound, "Repository not found."
		}
		return http.StatusUnauthorized, "No anonymous access."
	case push && !known:
		return http.StatusUnauthorized, "No anonymous write access."
	case push && repo.archived:
		return http.StatusForbidden, "This repository was archived so it is read-only."
	case push && (t.ReadOnly || !t.reaches(repo) || !t.grants("contents", "write") || t.Repo != "" && !strings.EqualFold(t.Repo, repo.FullName()) ||
		repo.permission(login).rank() < Write.rank() && !f.asMaintainer(repo, login, "")):
		return http.StatusForbidden, "Permission to " + repo.FullName() + ".git denied to " + login + "."
	}
	return http.StatusOK, ""
}

// httpBackend is the path of git-http-backend: git itself would only start it, a process more for each request.
var httpBackend = sync.OnceValues(func() (string, error) {
	git, err := findGit()
	if err != nil {
		return "", err
	}
	programs, err := git.line("", nil, nil, "--exec-path")
	return filepath.Join(programs, "git-http-backend"), err
})

// backend runs git-http-backend. The body is read first: CGI takes no chunked requests, and git sends large packs so.
func (f *Forge) backend(w http.ResponseWriter, r *http.Request, repo *Repo, rest, login string) {
	body, err := io.ReadAll(io.LimitReader(r.Body, pushLimitBytes))
	if err != nil {
		http.Error(w, "read request", http.StatusBadRequest)
		return
	}
	if list, caps := pushCommands(body); len(list) > 0 && strings.HasSuffix(rest, "git-receive-pack") {
		if k, ref := f.judgePush(repo, login, list); k != "" {
			refusePush(w, k, ref, list, caps)
			return
		}
	}
	program, err := httpBackend()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	in := r.Clone(r.Context())
	in.Body, in.ContentLength, in.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	in.URL.Path = "/" + filepath.Base(repo.Bare) + "/" + rest
	h := &cgi.Handler{
		Path: program, Root: "/",
		Env: append(gitEnv("GIT_PROJECT_ROOT="+filepath.Dir(repo.Bare), "GIT_HTTP_EXPORT_ALL=1"), remoteUser(login)...),
		Dir: repo.Bare, Logger: log.New(io.Discard, "", 0), Stderr: io.Discard,
	}
	h.ServeHTTP(w, in)
}

func remoteUser(login string) []string {
	if login == "" {
		return nil
	}
	return []string{"REMOTE_USER=" + login}
}
