package forge

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// openPull is POST /pulls: what pushed a branch asks for it to be merged.
func (c *call) openPull(w http.ResponseWriter, r *http.Request) {
	repo := c.target(w, r)
	if repo == nil || !c.mayWrite(w, repo.permission(c.login).rank() >= Write.rank()) {
		return
	}
	if repo.noActionsPulls && strings.EqualFold(c.login, "github-actions[bot]") {
		restError(w, http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
		return
	}
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	if !c.decode(w, &in) {
		return
	}
	head := in.Head
	if owner, branch, named := strings.Cut(in.Head, ":"); named && strings.EqualFold(owner, repo.Owner) {
		head = branch
	}
	if wrong := c.checkPull(repo, in.Title, in.Body, head, in.Base); wrong != "" {
		restError(w, http.StatusUnprocessableEntity, wrong)
		return
	}
	repo.lastNumber++
	now := c.f.now()
	p := &PullRequest{
		Number: repo.lastNumber, f: c.f, repo: repo, head: repo, id: c.f.newID(), title: in.Title, body: in.Body, author: c.login,
		state: "OPEN", draft: in.Draft, baseRef: in.Base, headRef: head, created: now, updated: now,
	}
	repo.prs[p.Number] = p
	if err := c.f.syncHead(p, repo); err != nil {
		c.f.violate("open a pull request: %v", err)
	}
	p.happened("pull_request", "opened", p.author, nil)
	w.Header().Set("Location", c.api(fmt.Sprintf("/repos/%s/pulls/%d", repo.FullName(), p.Number)))
	writeJSON(w, http.StatusCreated, c.pull(p, "pull-request"))
}

// checkPull says in GitHub's words why a pull request cannot be opened; empty when it can.
func (c *call) checkPull(repo *Repo, title, body, head, base string) string {
	tip := c.f.sha(repo.Bare, "refs/heads/"+head)
	switch {
	case title == "":
		return "Validation Failed: missing_field: title"
	case utf8.RuneCountInString(body) > maxCommentChars:
		return "Validation Failed: body is too long (maximum is 65536 characters)"
	case tip == "":
		return "Validation Failed: invalid: head"
	case c.f.sha(repo.Bare, "refs/heads/"+base) == "":
		return "Validation Failed: invalid: base"
	}
	for _, p := range repo.prs {
		if p.state == "OPEN" && p.head == repo && p.headRef == head && p.baseRef == base {
			return fmt.Sprintf("Validation Failed: A pull request already exists for %s:%s.", repo.Owner, head)
		}
	}
	if n, err := c.f.git.line(repo.Bare, nil, nil, "rev-list", "--count", "refs/heads/"+base+".."+tip); err == nil && n == "0" {
		return fmt.Sprintf("Validation Failed: No commits between %s and %s", base, head)
	}
	return ""
}

// patchPull is PATCH /pulls/N. Whoever opened a pull request may change its words, and so may who writes to the repository.
func (c *call) patchPull(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil || !c.mayWrite(w, strings.EqualFold(p.author, c.login) || p.repo.permission(c.login).rank() >= Write.rank()) {
		return
	}
	var in struct{ Title, Body, State *string }
	if !c.decode(w, &in) {
		return
	}
	if in.Body != nil && utf8.RuneCountInString(*in.Body) > maxCommentChars {
		restError(w, http.StatusUnprocessableEntity, "Validation Failed: body is too long (maximum is 65536 characters)")
		return
	}
	if in.Title != nil {
		p.title = *in.Title
	}
	if in.Body != nil {
		p.body = *in.Body
	}
	if in.State != nil {
		p.state = strings.ToUpper(*in.State)
		p.happened("pull_request", map[string]string{"OPEN": "reopened", "CLOSED": "closed"}[p.state], c.login, nil)
	}
	p.updated = c.f.now()
	writeJSON(w, http.StatusOK, c.pull(p, "pull-request"))
}

// ForbidActionsPulls is the setting of a repository under which the token of an Actions job opens no pull requests.
func (r *Repo) ForbidActionsPulls() {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.noActionsPulls = true
}

// PullRequests are all pull requests, by number.
func (r *Repo) PullRequests() []*PullRequest {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	var all []*PullRequest
	for n := 1; n <= r.lastNumber; n++ {
		if p := r.prs[n]; p != nil {
			all = append(all, p)
		}
	}
	return all
}

// Words are what a pull request says of itself.
func (p *PullRequest) Words() (title, body, state, headRef string) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return p.title, p.body, p.state, p.headRef
}

// Branches are the heads of a repository's branches, by name.
func (r *Repo) Branches() (map[string]string, error) {
	out, err := r.f.git.run(r.Bare, nil, nil, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads")
	if err != nil {
		return nil, err
	}
	heads := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, oid, _ := strings.Cut(strings.TrimSpace(line), " ")
		heads[name] = oid
	}
	return heads, nil
}
