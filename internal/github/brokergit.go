package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// gitToken is the key of the token of a request of git.
type gitToken struct{}

// gitRequest is what git asks a server for, below gitPath.
var gitRequest = lazyregexp.New(`^([\w.-]+)/([\w.-]+)\.git/(info/refs|git-upload-pack|git-receive-pack)$`)

// serveGit passes git on to GitHub. Of a push it reads what is to become of which branch.
func (b *Broker) serveGit(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	n, repo, err := b.gitNeed(r)
	if err == nil && n == pushing && r.Method == http.MethodPost {
		err = b.readPush(ctx, r, repo)
	}
	var token string
	if err == nil {
		token, err = b.client.credential(ctx, fmt.Sprintf("get a token to %s %s/%s", n, repo.Owner, repo.Name), repo, n)
	}
	if err != nil {
		b.log.Warn("git is refused", "path", r.URL.Path, "err", err)
		http.Error(w, describe(err), http.StatusForbidden)
		return
	}
	b.git.ServeHTTP(w, r.WithContext(context.WithValue(ctx, gitToken{}, token)))
}

// gitNeed is what a request of git is for, and on which repository.
func (b *Broker) gitNeed(r *http.Request) (need, review.Repo, error) {
	m := gitRequest.FindStringSubmatch(strings.TrimPrefix(r.URL.Path, gitPath))
	if m == nil {
		return "", review.Repo{}, unwanted("it is no request of git")
	}
	repo := review.Repo{Host: b.client.host, Owner: m[1], Name: m[2]}
	if !b.serves(repo) {
		return "", repo, unwanted(repo.String() + " is not one of its repositories")
	}
	switch service := r.URL.RawQuery; {
	case m[3] == "info/refs" && r.Method == http.MethodGet && service == "service=git-upload-pack":
		return reading, repo, nil
	case m[3] == "info/refs" && r.Method == http.MethodGet && service == "service=git-receive-pack":
		return pushing, repo, nil
	case m[3] == "git-upload-pack" && r.Method == http.MethodPost && service == "":
		return reading, repo, nil
	case m[3] == "git-receive-pack" && r.Method == http.MethodPost && service == "" && r.Header.Get("Content-Encoding") == "":
		return pushing, repo, nil
	}
	return "", repo, unwanted("it is no request of git")
}

// longestOrder bounds what stands before the pack of a push, in bytes.
const longestOrder = 16 << 10

// readPush reads the one branch that a push changes, and leaves the body as it was. Protocol: gitprotocol-pack(5).
func (b *Broker) readPush(ctx context.Context, r *http.Request, repo review.Repo) error {
	var read bytes.Buffer
	in := io.TeeReader(io.LimitReader(r.Body, longestOrder), &read)
	var orders []string
	for {
		var size [4]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return unwanted("the push is not readable")
		}
		n, err := strconv.ParseUint(string(size[:]), 16, 16)
		if err != nil || n > 0 && n < 5 {
			return unwanted("the push is not readable")
		}
		if n == 0 {
			break
		}
		line := make([]byte, n-4)
		if _, err := io.ReadFull(in, line); err != nil {
			return unwanted("the push is not readable")
		}
		text, _, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\x00")
		orders = append(orders, text)
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(&read, r.Body), r.Body}
	if len(orders) == 0 { // git asks whether it may send more
		return nil
	}
	part := strings.Split(orders[0], " ")
	if len(orders) > 1 || len(part) != 3 {
		return unwanted("a push of prloop changes one branch")
	}
	branch, ok := strings.CutPrefix(part[2], "refs/heads/")
	switch {
	case !ok || branch == "":
		return unwanted("a push of prloop changes a branch")
	case strings.Trim(part[1], "0") == "":
		return unwanted("prloop deletes no branch")
	}
	return b.mayChange(ctx, repo, branch)
}

// mayChange refuses the default branch of a repository that is no fork.
func (b *Broker) mayChange(ctx context.Context, repo review.Repo, branch string) error {
	c, err := b.client.For(ctx, repo)
	if err != nil {
		return err
	}
	var a struct {
		DefaultBranch string `json:"default_branch"`
		Fork          *bool
	}
	if _, err := c.get(ctx, "read the default branch of "+repo.String(), true, repoAddress(repo, ""), &a); err != nil {
		return err
	}
	if a.DefaultBranch == "" {
		return &Error{Op: "push", Kind: ErrBadAnswer, Cause: errors.New("GitHub named no default branch")}
	}
	if branch == a.DefaultBranch && (a.Fork == nil || !*a.Fork) {
		return unwanted("prloop does not push to the default branch")
	}
	return nil
}
