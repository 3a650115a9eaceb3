package forge

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Thread, review and comment makers, and the changes that happen to a pull request while somebody is looking at it.

// Comment posts a comment as login, as if through the web, and returns its id. The body is kept byte for byte.
func (p *PullRequest) Comment(login, body string) int64 {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return p.addComment(login, body).ID
}

// Mail is Comment for an answer to a mail.
func (p *PullRequest) Mail(login, body string) int64 {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	c := p.addComment(login, body)
	c.Mailed = true
	return c.ID
}

func (p *PullRequest) addComment(login, body string) *Comment {
	p.f.user(login)
	now := p.f.now()
	c := &Comment{ID: p.f.newID(), Author: login, Body: body, Created: now, Updated: now, pr: p}
	p.comments = append(p.comments, c)
	p.updated = now
	c.happened("created")
	return c
}

// Updated is when anything of the pull request changed last.
func (p *PullRequest) Updated() time.Time {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return p.updated
}

// Comments are the timeline's comments, oldest first.
func (p *PullRequest) Comments() []Comment {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	out := make([]Comment, len(p.comments))
	for i, c := range p.comments {
		out[i] = *c
	}
	return out
}

// EditComment replaces the body of a comment; DeleteComment removes it. Both report whether it was there.
func (p *PullRequest) EditComment(id int64, body string) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for _, c := range p.comments {
		if c.ID == id {
			c.Body, c.Updated = body, p.f.now()
			p.f.touch(c.ID, false)
			c.happened("edited")
			return true
		}
	}
	return false
}

// DeleteComment removes a comment of the timeline.
func (p *PullRequest) DeleteComment(id int64) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	before := len(p.comments)
	p.f.touch(id, true)
	p.comments = slices.DeleteFunc(p.comments, func(c *Comment) bool { return c.ID == id })
	return len(p.comments) < before
}

// AddReview submits a review as it stands; a zero Commit means the present head.
func (p *PullRequest) AddReview(r Review) int64 {
	head := p.HeadSHA()
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if r.Commit == "" {
		r.Commit = head
	}
	if r.Submitted.IsZero() {
		r.Submitted = p.f.now()
	}
	p.f.user(r.Author)
	r.ID, r.pr = p.f.newID(), p
	p.reviews, p.updated = append(p.reviews, &r), p.f.now()
	if r.State != "PENDING" {
		p.happened("pull_request_review", "submitted", r.Author, map[string]any{"review": map[string]any{"id": r.ID, "state": strings.ToLower(r.State), "body": r.Body}})
	}
	return r.ID
}

// EditReview replaces the body of the newest review of a login, as somebody does; it reports whether there is one.
func (p *PullRequest) EditReview(login, by, body string) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for _, r := range slices.Backward(p.reviews) {
		if r.Author == login {
			r.Body, r.Edited, r.Editor = body, p.f.now(), by
			p.updated = r.Edited
			return true
		}
	}
	return false
}

// AddThread opens an inline conversation; the comments' ids and dates are filled in.
func (p *PullRequest) AddThread(t Thread) int64 {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	t.ID, t.pr = p.f.newID(), p
	for _, c := range t.Comments {
		p.f.user(c.Author)
		c.ID, c.pr, c.thread = p.f.newID(), p, &t
		if c.Created.IsZero() {
			c.Created = p.f.now()
		}
		if c.Updated.IsZero() {
			c.Updated = c.Created
		}
	}
	p.threads = append(p.threads, &t)
	return t.ID
}

// Threads are the inline conversations, oldest first.
func (p *PullRequest) Threads() []Thread {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	out := make([]Thread, len(p.threads))
	for i, t := range p.threads {
		out[i] = *t
		out[i].Comments = nil
		for _, c := range t.Comments {
			m := *c
			out[i].Comments = append(out[i].Comments, &m)
		}
	}
	return out
}

// Reply answers in an inline conversation as login, as if through the web, and returns the comment's id; 0 when there is no
// such conversation.
func (p *PullRequest) Reply(thread int64, login, body string) int64 {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.user(login)
	for _, t := range p.threads {
		if t.ID == thread {
			c := &call{f: p.f, host: "github.com", login: login}
			m := c.wrapped(t, body)
			p.happened("pull_request_review_comment", "created", login, map[string]any{"comment": c.restReviewComment(m, "pull-request-review-comment")})
			return m.ID
		}
	}
	return 0
}

// EditReply replaces the body of a comment in an inline conversation; it reports whether it was there.
func (p *PullRequest) EditReply(id int64, body string) bool { return p.EditReplyAs(id, "", body) }

// EditReplyAs is EditReply by somebody who may write; empty for its author.
func (p *PullRequest) EditReplyAs(id int64, login, body string) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for _, t := range p.threads {
		for _, c := range t.Comments {
			if c.ID == id {
				c.Body, c.Editor, c.Updated = body, login, p.f.now()
				p.f.touch(c.ID, false)
				return true
			}
		}
	}
	return false
}

// Reviews are the reviews submitted so far, oldest first, pending ones too.
func (p *PullRequest) Reviews() []Review {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	out := make([]Review, len(p.reviews))
	for i, r := range p.reviews {
		out[i] = *r
	}
	return out
}

// ThreadID is how the API calls a conversation.
func ThreadID(id int64) string { return nodeID("PRRT", id) }

// Requested are the logins of those who were asked to review.
func (p *PullRequest) Requested() []string {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return slices.Clone(p.requested)
}

// ResolveThread closes an inline conversation, as if through the web and by nobody that GitHub names; it reports whether it was there.
func (p *PullRequest) ResolveThread(id int64) bool { return p.ResolveThreadAs(id, "") }

// ResolveThreadAs closes an inline conversation as somebody.
func (p *PullRequest) ResolveThreadAs(id int64, login string) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for _, t := range p.threads {
		if t.ID == id {
			t.Resolved, t.ResolvedBy = true, login
			p.updated = p.f.now()
			p.happened("pull_request_review_thread", "resolved", p.author, nil)
			return true
		}
	}
	return false
}

// SetState makes the pull request OPEN, CLOSED or MERGED.
func (p *PullRequest) SetState(state string) {
	p.change(func() {
		p.state = state
		p.happened("pull_request", map[string]string{"OPEN": "reopened", "CLOSED": "closed", "MERGED": "closed"}[state], p.author, nil)
	})
}

// Retitle gives the pull request another title.
func (p *PullRequest) Retitle(title string) {
	p.change(func() {
		before := p.title
		p.title = title
		p.happened("pull_request", "edited", p.author, map[string]any{"changes": map[string]any{"title": map[string]any{"from": before}}})
	})
}

// Retarget gives the pull request another base branch, which is made at the commit of the present one if there is none of
// that name.
func (p *PullRequest) Retarget(base string) error {
	ref := "refs/heads/" + base
	if p.f.sha(p.repo.Bare, ref) == "" {
		if _, err := p.f.git.run(p.repo.Bare, nil, nil, "update-ref", ref, p.BaseSHA()); err != nil {
			return fmt.Errorf("retarget #%d: %w", p.Number, err)
		}
	}
	p.change(func() {
		before := p.baseRef
		p.baseRef = base
		p.happened("pull_request", "edited", p.author, map[string]any{"changes": map[string]any{"base": map[string]any{"ref": map[string]any{"from": before}}}})
	})
	return nil
}

// Merge merges the pull request as somebody does through the web, by a merge commit or, squashed, by one with the base alone as its
// parent.
func (p *PullRequest) Merge(login string, squash bool) error {
	head, base := p.HeadSHA(), p.BaseSHA()
	out, err := p.f.git.line(p.repo.Bare, nil, nil, "merge-tree", "--write-tree", base, head)
	if err != nil {
		return fmt.Errorf("merge #%d: %w", p.Number, err)
	}
	args := []string{"commit-tree", out, "-m", fmt.Sprintf("Merge pull request #%d", p.Number), "-p", base}
	if !squash {
		args = append(args, "-p", head)
	}
	commit, err := p.f.git.line(p.repo.Bare, nil, nil, args...)
	if err != nil {
		return err
	}
	if _, err := p.f.git.run(p.repo.Bare, nil, nil, "update-ref", "refs/heads/"+p.baseRef, commit); err != nil {
		return err
	}
	p.change(func() {
		p.f.user(login)
		p.state, p.mergedBy, p.mergeCommit = "MERGED", login, commit
		p.happened("pull_request", "closed", login, nil)
	})
	return nil
}

// SetDraft makes it a draft, or ready for review.
func (p *PullRequest) SetDraft(draft bool) {
	p.change(func() {
		p.draft = draft
		p.happened("pull_request", map[bool]string{true: "converted_to_draft", false: "ready_for_review"}[draft], p.author, nil)
	})
}

// Lock closes the conversation to people without write permission; Unlock opens it.
func (p *PullRequest) Lock() { p.change(func() { p.locked = true }) }

// Unlock opens the conversation again.
func (p *PullRequest) Unlock() { p.change(func() { p.locked = false }) }

// SetLabels replaces the labels.
func (p *PullRequest) SetLabels(labels ...string) { p.change(func() { p.labels = labels }) }

// Label sets a label as somebody, as if through the web; nobody, when By is empty, is an account that is gone.
func (p *PullRequest) Label(by, label string) {
	p.change(func() {
		if by != "" {
			p.f.user(by)
		}
		if !slices.Contains(p.labels, label) {
			p.labels = append(p.labels, label)
		}
		p.labelled = append(p.labelled, Labelling{ID: p.f.newID(), Label: label, By: by, At: p.f.now()})
		p.happened("pull_request", "labeled", p.author, map[string]any{"label": map[string]any{"name": label}})
	})
}

// Unlabel takes a label off as somebody.
func (p *PullRequest) Unlabel(by, label string) {
	p.change(func() {
		p.labels = slices.DeleteFunc(p.labels, func(l string) bool { return l == label })
		p.labelled = append(p.labelled, Labelling{ID: p.f.newID(), Label: label, Off: true, By: by, At: p.f.now()})
		p.happened("pull_request", "unlabeled", p.author, map[string]any{"label": map[string]any{"name": label}})
	})
}

// RenameLabel gives a label that stands another name, which is no event of the pull request. The events keep the name of then.
func (p *PullRequest) RenameLabel(from, to string) {
	p.change(func() {
		for i, l := range p.labels {
			if l == from {
				p.labels[i] = to
			}
		}
		if p.renamed == nil {
			p.renamed = map[string]time.Time{}
		}
		p.renamed[to] = p.f.now().Add(time.Second) // times are those of seconds, and this one is later
	})
}

// commits are the pull request's own, oldest first.
func (p *PullRequest) commits() []string {
	out, err := p.f.git.run(p.repo.Bare, nil, nil, "rev-list", "--reverse", p.BaseSHA()+".."+p.HeadSHA())
	if err != nil {
		return []string{p.HeadSHA()}
	}
	return strings.Fields(string(out))
}

// DropFork makes the head repository disappear, as when somebody deletes their fork. What it returns brings it back.
func (p *PullRequest) DropFork() (restore func()) {
	var was *Repo
	p.change(func() { was, p.head = p.head, nil })
	return func() { p.change(func() { p.head = was }) }
}

// HeadRepo is OWNER/NAME of the repository the head branch lives in; empty when that is gone.
func (p *PullRequest) HeadRepo() (name string) {
	p.change(func() {
		if p.head != nil {
			name = p.head.FullName()
		}
	})
	return name
}

func (p *PullRequest) change(do func()) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	do()
	p.updated = p.f.now()
}

// FindPull returns a pull request, or nil.
func (r *Repo) FindPull(number int) *PullRequest {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	return r.prs[number]
}

// crossRepository is true for a pull request from a fork, a deleted one included.
func (p *PullRequest) crossRepository() bool { return p.head != p.repo }

// Author is the login of who opened it.
func (p *PullRequest) Author() string {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return p.author
}

// CommentID is how GraphQL calls a comment of the timeline.
func CommentID(id int64) string { return nodeID("IC", id) }

// HideReply collapses the newest comment of a login in an inline conversation, as outdated; it reports whether there is one.
func (p *PullRequest) HideReply(thread int64, login string) bool {
	return p.newest(thread, login, func(t *Thread, at int) { t.Comments[at].Minimized, t.Comments[at].Reason = true, "OUTDATED" })
}

// DropReply deletes it.
func (p *PullRequest) DropReply(thread int64, login string) bool {
	return p.newest(thread, login, func(t *Thread, at int) {
		p.f.touch(t.Comments[at].ID, true)
		t.Comments = slices.Delete(t.Comments, at, at+1)
	})
}

// newest does something to the newest comment of a login in an inline conversation; it reports whether there is one.
func (p *PullRequest) newest(thread int64, login string, do func(t *Thread, at int)) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for _, t := range p.threads {
		for i, c := range slices.Backward(t.Comments) {
			if t.ID == thread && c.Author == login {
				do(t, i)
				return true
			}
		}
	}
	return false
}
