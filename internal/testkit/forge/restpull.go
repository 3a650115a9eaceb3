package forge

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (c *call) pull(p *PullRequest, schema string) map[string]any {
	p.read()
	path := fmt.Sprintf("/repos/%s/pulls/%d", p.repo.FullName(), p.Number)
	state := "open"
	if p.state != "OPEN" {
		state = "closed"
	}
	labels := []any{}
	for i, l := range p.labels {
		labels = append(labels, map[string]any{"id": i + 1, "node_id": "LA_" + l, "url": c.api("/repos/" + p.repo.FullName() + "/labels/" + l),
			"name": l, "description": "", "color": "ededed", "default": false})
	}
	size := p.size()
	return c.fill(schema, map[string]any{
		"id": p.id, "node_id": nodeID("PR", p.id), "number": p.Number, "state": state, "locked": p.locked, "title": p.title, "body": p.body,
		"draft": p.draft, "user": c.user(p.author), "author_association": p.repo.association(p.author), "labels": labels,
		"html_url": c.web(fmt.Sprintf("/%s/pull/%d", p.repo.FullName(), p.Number)), "url": c.api(path), "diff_url": c.web(fmt.Sprintf("/%s/pull/%d.diff", p.repo.FullName(), p.Number)),
		"base": c.ref(p.repo, p.baseRef, p.BaseSHA()), "head": c.ref(p.head, p.headRef, p.HeadSHA()),
		"created_at": stamp(p.created), "updated_at": stamp(p.updated), "maintainer_can_modify": p.canModify, "merged": p.state == "MERGED",
		"additions": size.additions, "deletions": size.removed, "changed_files": len(size.files), "comments": len(p.comments), "commits": 1,
		"mergeable_state": "clean",
	})
}

// ref is one end of a pull request; its repository is null when a fork is gone.
func (c *call) ref(r *Repo, branch, sha string) map[string]any {
	if r == nil {
		return map[string]any{"label": "unknown:" + branch, "ref": branch, "sha": sha, "user": nil, "repo": nil}
	}
	return map[string]any{"label": r.Owner + ":" + branch, "ref": branch, "sha": sha, "user": c.user(r.Owner), "repo": c.fill("repository", c.repository(r))}
}

func (c *call) getPull(w http.ResponseWriter, r *http.Request) {
	if p := c.targetPull(w, r, "pull_number"); p != nil {
		writeJSON(w, http.StatusOK, c.pull(p, "pull-request"))
	}
}

func (c *call) listPulls(w http.ResponseWriter, r *http.Request) {
	repo := c.target(w, r)
	if repo == nil {
		return
	}
	q := r.URL.Query()
	var found []*PullRequest
	for n := repo.lastNumber; n > 0; n-- {
		p := repo.prs[n]
		if p == nil || (q.Get("state") != "all" && (q.Get("state") == "closed") == (p.state == "OPEN")) {
			continue
		}
		if head := q.Get("head"); head != "" && (p.head == nil || head != p.head.Owner+":"+p.headRef) {
			continue
		}
		found = append(found, p)
	}
	if q.Get("sort") == "updated" {
		slices.SortStableFunc(found, func(a, b *PullRequest) int { return b.updated.Compare(a.updated) })
	}
	all := []any{}
	for _, p := range found {
		all = append(all, c.pull(p, "pull-request-simple"))
	}
	c.sendPage(w, r, all)
}

func (c *call) listFiles(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil {
		return
	}
	all := []any{}
	for _, f := range p.size().files {
		known := map[string]any{"sha": f.blob, "filename": f.path, "status": f.change, "additions": f.additions, "deletions": f.deletions,
			"changes": f.additions + f.deletions}
		if f.oldPath != "" {
			known["previous_filename"] = f.oldPath
		}
		all = append(all, c.fill("diff-entry", known))
	}
	c.sendPage(w, r, all)
}

func (c *call) listReviews(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil {
		return
	}
	all := []any{}
	for _, v := range p.reviews {
		if v.State != "PENDING" || v.Author == c.login {
			all = append(all, c.restReview(v))
		}
	}
	c.sendPage(w, r, all)
}

func (c *call) listReviewComments(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil {
		return
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	all := []any{}
	for _, t := range p.threads {
		for _, m := range t.Comments {
			if !m.Updated.Before(since) {
				all = append(all, c.restReviewComment(m, "pull-request-review-comment"))
			}
		}
	}
	c.sendPage(w, r, all)
}

func (c *call) comment(m *Comment) map[string]any {
	repo := m.pr.repo.FullName()
	return c.fill("issue-comment", map[string]any{"id": m.ID, "node_id": nodeID("IC", m.ID), "body": m.Body, "user": c.user(m.Author),
		"html_url": c.commentURL(m), "url": c.api(fmt.Sprintf("/repos/%s/issues/comments/%d", repo, m.ID)),
		"issue_url":  c.api(fmt.Sprintf("/repos/%s/issues/%d", repo, m.pr.Number)),
		"created_at": stamp(m.Created), "updated_at": stamp(m.Updated), "author_association": m.association()})
}

func (c *call) listComments(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "issue_number")
	if p == nil {
		return
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	if c.fault.Mode == PageDrift {
		drift := p.addComment("octocat", "a comment posted between two pages")
		p.comments = append([]*Comment{drift}, p.comments[:len(p.comments)-1]...)
	}
	found := slices.DeleteFunc(slices.Clone(p.comments), func(m *Comment) bool { return m.Updated.Before(since) })
	sendPageOf(c, w, r, found, func(m *Comment) any { return c.comment(m) })
}

// listRepoComments lists the comments on all timelines, oldest first.
func (c *call) listRepoComments(w http.ResponseWriter, r *http.Request) {
	repo := c.target(w, r)
	if repo == nil {
		return
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	var found []*Comment
	for _, p := range repo.prs {
		for _, m := range p.comments {
			if !m.Updated.Before(since) {
				found = append(found, m)
			}
		}
	}
	slices.SortFunc(found, func(a, b *Comment) int {
		if r.URL.Query().Get("sort") == "updated" {
			return cmp.Or(a.Updated.Compare(b.Updated), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Compare(a.ID, b.ID)
	})
	sendPageOf(c, w, r, found, func(m *Comment) any { return c.comment(m) })
}

func (c *call) postComment(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "issue_number")
	if p == nil || !c.mayWrite(w, true) {
		return
	}
	var in struct{ Body string }
	if !c.decode(w, &in) {
		return
	}
	if err := c.mayComment(p); err != nil {
		restError(w, http.StatusForbidden, err.Error())
		return
	}
	if err := checkBody(in.Body); err != nil {
		restError(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	m := p.addComment(c.login, in.Body)
	w.Header().Set("Location", c.api(fmt.Sprintf("/repos/%s/issues/comments/%d", p.repo.FullName(), m.ID)))
	writeJSON(w, http.StatusCreated, c.comment(m))
}

// targetComment finds the comment of a request.
func (c *call) targetComment(w http.ResponseWriter, r *http.Request) *Comment {
	repo := c.target(w, r)
	if repo == nil {
		return nil
	}
	id, _ := strconv.ParseInt(r.PathValue("comment_id"), 10, 64)
	for _, p := range repo.prs {
		for _, m := range p.comments {
			if m.ID == id {
				return m
			}
		}
	}
	restError(w, http.StatusNotFound, "Not Found")
	return nil
}

func (c *call) getComment(w http.ResponseWriter, r *http.Request) {
	if m := c.targetComment(w, r); m != nil {
		writeJSON(w, http.StatusOK, c.comment(m))
	}
}

func (c *call) mayChange(m *Comment) bool {
	return strings.EqualFold(m.Author, c.login) || m.pr.repo.permission(c.login).rank() >= Write.rank()
}

func (c *call) patchComment(w http.ResponseWriter, r *http.Request) {
	m := c.targetComment(w, r)
	if m == nil || !c.mayWrite(w, c.mayChange(m)) {
		return
	}
	var in struct{ Body string }
	if !c.decode(w, &in) {
		return
	}
	if err := checkBody(in.Body); err != nil {
		restError(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	m.Body, m.Updated = in.Body, c.f.now()
	writeJSON(w, http.StatusOK, c.comment(m))
}

func (c *call) deleteComment(w http.ResponseWriter, r *http.Request) {
	m := c.targetComment(w, r)
	if m == nil || !c.mayWrite(w, c.mayChange(m)) {
		return
	}
	m.pr.remove(m)
	w.WriteHeader(http.StatusNoContent)
}

// postReaction adds a reaction; one that is there stays the one it is.
func (c *call) postReaction(w http.ResponseWriter, r *http.Request) {
	m := c.targetComment(w, r)
	if m == nil || !c.mayWrite(w, true) {
		return
	}
	var in struct{ Content string }
	if !c.decode(w, &in) {
		return
	}
	known := []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
	if !slices.Contains(known, in.Content) {
		restError(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	status := http.StatusOK
	at := slices.IndexFunc(m.Reactions, func(x Reaction) bool { return x.Login == c.login && x.Content == in.Content })
	if at < 0 {
		m.Reactions = append(m.Reactions, Reaction{c.f.newID(), c.login, in.Content})
		status, at = http.StatusCreated, len(m.Reactions)-1
	}
	x := m.Reactions[at]
	writeJSON(w, status, c.fill("reaction", map[string]any{"id": x.ID, "node_id": nodeID("REA", x.ID), "user": c.user(x.Login), "content": x.Content}))
}
