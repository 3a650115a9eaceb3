package forge

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// draft is one comment of a review that is being made. StartLine is 0 for one line.
type draft struct {
	Path, Body, Side, StartSide string
	Line, StartLine             int
}

// What GitHub says of a review it does not take.
const (
	onePending = "User can only have one pending review per pull request"
	noSuchLine = "Line could not be resolved"
	noSuchPath = "Path could not be resolved"
)

// submit makes a review with its threads, all or none. An empty event leaves it pending: its comments are then nobody's to see.
func (c *call) submit(p *PullRequest, event, body, commit string, drafts []draft) (*Review, error) {
	if err := c.mayComment(p); err != nil {
		return nil, err
	}
	states := map[string]string{"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED", "": "PENDING"}
	switch {
	case event != "COMMENT" && event != "" && p.author == c.login:
		return nil, refusal{"UNPROCESSABLE", "Can not approve your own pull request"}
	case event == "COMMENT" && body == "" && len(drafts) == 0:
		return nil, refusal{"UNPROCESSABLE", "Body can't be blank"}
	case slices.ContainsFunc(p.reviews, func(r *Review) bool { return r.State == "PENDING" && r.Author == c.login }):
		return nil, refusal{"UNPROCESSABLE", onePending}
	}
	if commit == "" {
		commit = p.HeadSHA()
	}
	for _, d := range drafts {
		if err := checkBody(d.Body); err != nil {
			return nil, err
		}
		if err := c.f.anchored(p, commit, d); err != nil {
			return nil, err
		}
	}
	r := &Review{ID: c.f.newID(), Author: c.login, State: states[event], Body: body, Commit: commit, Submitted: c.f.now(), pr: p}
	p.reviews = append(p.reviews, r)
	p.updated = c.f.now()
	if event == "" {
		return r, nil
	}
	for _, d := range drafts {
		t := &Thread{ID: c.f.newID(), Path: d.Path, Line: d.Line, StartLine: d.StartLine, Commit: commit, pr: p}
		p.threads = append(p.threads, t)
		c.say(t, r.ID, d.Body)
	}
	return r, nil
}

// say adds a comment to a thread.
func (c *call) say(t *Thread, review int64, body string) *Comment {
	m := &Comment{ID: c.f.newID(), Author: c.login, Body: body, Created: c.f.now(), Updated: c.f.now(), pr: t.pr, thread: t, review: review}
	t.Comments = append(t.Comments, m)
	t.pr.updated = c.f.now()
	return m
}

// reply answers in a thread.
func (c *call) reply(t *Thread, body string) (*Comment, error) {
	if err := c.mayComment(t.pr); err != nil {
		return nil, err
	}
	if err := checkBody(body); err != nil {
		return nil, err
	}
	return c.wrapped(t, body), nil
}

// wrapped is a reply as GitHub makes it: in a review of its own, at the head.
func (c *call) wrapped(t *Thread, body string) *Comment {
	r := &Review{ID: c.f.newID(), Author: c.login, State: "COMMENTED", Commit: t.pr.HeadSHA(), Submitted: c.f.now(), pr: t.pr}
	t.pr.reviews = append(t.pr.reviews, r)
	return c.say(t, r.ID, body)
}

// anchored is GitHub's check: a comment stands on the lines of one hunk of the diff, which has three lines of context.
func (f *Forge) anchored(p *PullRequest, commit string, d draft) error {
	diff, err := f.git.run(p.repo.Bare, nil, nil, "-c", "core.quotePath=false", "diff", "-M", "--no-color", "-U3", p.BaseSHA()+"..."+commit)
	if err != nil {
		return refusal{"UNPROCESSABLE", "commit_id is not part of the pull request"}
	}
	known, left := false, d.Side == "LEFT"
	for _, file := range strings.Split("\n"+string(diff), "\ndiff --git ")[1:] {
		if !strings.Contains(file, "\n+++ b/"+d.Path+"\n") && !strings.Contains(file, "\n+++ b/"+d.Path+"\t") && !strings.Contains(file, "\n--- a/"+d.Path+"\n") {
			continue
		}
		known = true
		for line := range strings.SplitSeq(file, "\n") {
			h, ok := hunkOf(line)
			from, n := h.newStart, h.newLines
			if left {
				from, n = h.oldStart, h.oldLines
			}
			in := func(line int) bool { return line >= from && line < from+n }
			if ok && in(d.Line) && (d.StartLine == 0 || in(d.StartLine) && d.StartLine < d.Line) {
				return nil
			}
		}
	}
	if !known {
		return refusal{"UNPROCESSABLE", noSuchPath}
	}
	return refusal{"UNPROCESSABLE", noSuchLine}
}

type hunkHead struct{ oldStart, oldLines, newStart, newLines int }

// hunkOf reads the first line of a hunk.
func hunkOf(line string) (h hunkHead, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return h, false
	}
	sides, _, _ := strings.Cut(rest, " @@")
	old, head, ok := strings.Cut(sides, " +")
	count := func(s string) (start, lines int) {
		a, b, counted := strings.Cut(s, ",")
		start, _ = strconv.Atoi(a)
		if lines = 1; counted {
			lines, _ = strconv.Atoi(b)
		}
		return start, lines
	}
	h.oldStart, h.oldLines = count(old)
	h.newStart, h.newLines = count(head)
	return h, ok
}

// place is where a thread made through the API stands at the present head: on the line it was put on as long as nothing wrote
// that line anew, and then outdated, on none.
func (t *Thread) place() (line int, outdated bool) {
	head := t.pr.HeadSHA()
	if t.Commit == "" || t.Outdated || head == t.Commit {
		return t.Line, t.Outdated
	}
	diff, err := t.pr.f.git.run(t.pr.repo.Bare, nil, nil, "-c", "core.quotePath=false", "diff", "--no-color", "-U0", t.Commit, head, "--", t.Path)
	if err != nil {
		return 0, true
	}
	line = t.Line
	for text := range strings.SplitSeq(string(diff), "\n") {
		switch h, ok := hunkOf(text); {
		case !ok:
		case h.oldLines > 0 && t.Line >= h.oldStart && t.Line < h.oldStart+h.oldLines:
			return 0, true
		case h.oldStart < t.Line:
			line += h.newLines - h.oldLines
		}
	}
	return line, false
}

func (c *call) refuse(w http.ResponseWriter, err error) {
	if r := (refusal{}); errors.As(err, &r) && r.kind == "FORBIDDEN" {
		restError(w, http.StatusForbidden, r.message)
		return
	}
	unprocessable(w, err.Error())
}

// unprocessable refuses a write as GitHub does for what is wrong with it.
func unprocessable(w http.ResponseWriter, why string) {
	writeJSON(w, http.StatusUnprocessableEntity, map[string]any{"message": "Unprocessable Entity", "errors": []string{why},
		"documentation_url": "https://docs.github.com/rest", "status": "422"})
}

func (c *call) postReview(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil || !c.mayWrite(w, true) {
		return
	}
	var in struct {
		CommitID string `json:"commit_id"`
		Body     string
		Event    string
		Comments []struct {
			Path, Body, Side string
			Line             int
			StartLine        int    `json:"start_line"`
			StartSide        string `json:"start_side"`
		}
	}
	if !c.decode(w, &in) {
		return
	}
	var drafts []draft
	for _, d := range in.Comments {
		drafts = append(drafts, draft{d.Path, d.Body, d.Side, d.StartSide, d.Line, d.StartLine})
	}
	v, err := c.submit(p, in.Event, in.Body, in.CommitID, drafts)
	if err != nil {
		c.refuse(w, err)
		return
	}
	writeJSON(w, http.StatusOK, c.restReview(v))
}

func (c *call) restReview(v *Review) map[string]any {
	p := v.pr
	return c.fill("pull-request-review", map[string]any{"id": v.ID, "node_id": nodeID("PRR", v.ID), "user": c.user(v.Author),
		"body": v.Body, "state": v.State, "commit_id": v.Commit, "submitted_at": stamp(v.Submitted), "author_association": p.repo.association(v.Author),
		"html_url": c.web(fmt.Sprintf("/%s/pull/%d#pullrequestreview-%d", p.repo.FullName(), p.Number, v.ID))})
}

// restReviewComment is a comment in a thread, in either of the two shapes the API has for it.
func (c *call) restReviewComment(m *Comment, schema string) map[string]any {
	t := m.thread
	line, outdated := t.place()
	known := map[string]any{"id": m.ID, "node_id": nodeID("PRRC", m.ID), "user": c.user(m.Author), "pull_request_review_id": m.review,
		"body": m.Body, "path": t.Path, "created_at": stamp(m.Created), "updated_at": stamp(m.Updated), "html_url": c.commentURL(m),
		"author_association": m.association(), "original_line": max(t.Line, 1)}
	if !outdated && line > 0 {
		known["line"] = line
	}
	if m != t.Comments[0] {
		known["in_reply_to_id"] = t.Comments[0].ID
	}
	return c.fill(schema, known)
}

func (c *call) listReviewsComments(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil {
		return
	}
	id, _ := strconv.ParseInt(r.PathValue("review_id"), 10, 64)
	if !slices.ContainsFunc(p.reviews, func(v *Review) bool { return v.ID == id }) {
		restError(w, http.StatusNotFound, "Not Found")
		return
	}
	all := []any{}
	for _, t := range p.threads {
		for _, m := range t.Comments {
			if m.review == id {
				all = append(all, c.restReviewComment(m, "review-comment"))
			}
		}
	}
	c.sendPage(w, r, all)
}

func (c *call) postReviewComment(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil || !c.mayWrite(w, true) {
		return
	}
	var in struct {
		CommitID         string `json:"commit_id"`
		Path, Body, Side string
		Line             int
		StartLine        int    `json:"start_line"`
		StartSide        string `json:"start_side"`
	}
	if !c.decode(w, &in) {
		return
	}
	_, err := c.submit(p, "COMMENT", "", in.CommitID, []draft{{in.Path, in.Body, in.Side, in.StartSide, in.Line, in.StartLine}})
	if err != nil {
		c.refuse(w, err)
		return
	}
	t := p.threads[len(p.threads)-1]
	writeJSON(w, http.StatusCreated, c.restReviewComment(t.Comments[0], "pull-request-review-comment"))
}

func (c *call) postReply(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil || !c.mayWrite(w, true) {
		return
	}
	var in struct{ Body string }
	if !c.decode(w, &in) {
		return
	}
	id, _ := strconv.ParseInt(r.PathValue("comment_id"), 10, 64)
	for _, t := range p.threads {
		if len(t.Comments) == 0 || t.Comments[0].ID != id { // GitHub takes the first comment of a thread alone
			continue
		}
		m, err := c.reply(t, in.Body)
		if err != nil {
			c.refuse(w, err)
			return
		}
		writeJSON(w, http.StatusCreated, c.restReviewComment(m, "pull-request-review-comment"))
		return
	}
	restError(w, http.StatusNotFound, "Not Found")
}

// threadByNode finds a thread that the caller may see.
func (x *execution) threadByNode(id string) (*Thread, error) {
	for _, r := range x.f.repos {
		for _, p := range r.prs {
			for _, t := range p.threads {
				if nodeID("PRRT", t.ID) == id && r.permission(x.login).rank() > 0 {
					return t, nil
				}
			}
		}
	}
	return nil, refusal{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
}

// settle resolves a thread or opens it again: with write permission, or as the author of the pull request.
func (x *execution) settle(payload string, resolved bool) resolver {
	return func(a args) (any, error) {
		in := a.input()
		t, err := x.threadByNode(in.text("threadId"))
		if err != nil {
			return nil, err
		}
		if !x.maySettle(t) {
			return nil, refusal{"FORBIDDEN", "Resource not accessible by integration"}
		}
		t.Resolved, t.ResolvedBy = resolved, ""
		if resolved {
			t.ResolvedBy = x.login
		}
		return x.payload(payload, in, map[string]any{"thread": x.thread(t)}), nil
	}
}

// maySettle reports whether the caller may resolve a thread.
func (x *execution) maySettle(t *Thread) bool {
	return !x.token.ReadOnly && (t.pr.repo.permission(x.login).rank() >= Write.rank() || t.pr.author == x.login)
}

func (x *execution) addReply(a args) (any, error) {
	in := a.input()
	t, err := x.threadByNode(in.text("pullRequestReviewThreadId"))
	if err != nil {
		return nil, err
	}
	m, err := x.reply(t, in.text("body"))
	if err != nil {
		return nil, err
	}
	return x.payload("AddPullRequestReviewThreadReplyPayload", in, map[string]any{"comment": x.reviewComment(m)}), nil
}

func (x *execution) addPullRequestReview(a args) (any, error) {
	in := a.input()
	p, err := x.pullByNode(in.text("pullRequestId"))
	if err != nil {
		return nil, err
	}
	var drafts []draft
	list, _ := in["threads"].([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		d := args(m)
		line, _ := d.number("line")
		start, _ := d.number("startLine")
		drafts = append(drafts, draft{d.text("path"), d.text("body"), d.text("side"), d.text("startSide"), line, start})
	}
	r, err := x.submit(p, in.text("event"), in.text("body"), in.text("commitOID"), drafts)
	if err != nil {
		return nil, err
	}
	return x.payload("AddPullRequestReviewPayload", in, map[string]any{"pullRequestReview": x.review(r)}), nil
}

// listRequested lists who was asked to review. The forge has no teams.
func (c *call) listRequested(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil {
		return
	}
	users := []any{}
	for _, login := range p.requested {
		users = append(users, c.user(login))
	}
	writeJSON(w, http.StatusOK, c.fill("pull-request-review-request", map[string]any{"users": users, "teams": []any{}}))
}

// postRequested asks people to review: those who may read the repository, and not the author.
func (c *call) postRequested(w http.ResponseWriter, r *http.Request) {
	p := c.targetPull(w, r, "pull_number")
	if p == nil || !c.mayWrite(w, true) {
		return
	}
	if p.repo.permission(c.login).rank() < Write.rank() {
		restError(w, http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	var in struct {
		Reviewers []string
		Teams     []string `json:"team_reviewers"`
	}
	if !c.decode(w, &in) {
		return
	}
	for _, login := range in.Reviewers {
		switch {
		case strings.EqualFold(login, p.author):
			unprocessable(w, "Review cannot be requested from pull request author.")
			return
		case p.repo.roles[strings.ToLower(login)].rank() < Read.rank():
			unprocessable(w, "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the "+p.repo.FullName()+" repository.")
			return
		}
	}
	if len(in.Teams) > 0 {
		unprocessable(w, "Could not resolve to a node with the global id of '"+in.Teams[0]+"'.")
		return
	}
	for _, login := range in.Reviewers {
		if !slices.Contains(p.requested, login) {
			p.requested = append(p.requested, login)
		}
	}
	writeJSON(w, http.StatusCreated, c.pull(p, "pull-request-simple"))
}
