package forge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pull is a pull request as GraphQL shows it.
func (x *execution) pull(p *PullRequest) object {
	p.read()
	url := x.web(fmt.Sprintf("/%s/pull/%d", p.repo.FullName(), p.Number))
	size := resolver(func(args) (any, error) { return p.size().additions, nil })
	fields := map[string]any{
		"id": nodeID("PR", p.id), "fullDatabaseId": strconv.FormatInt(p.id, 10), "number": p.Number, "title": p.title, "body": p.body,
		"bodyText": p.body, "url": url, "permalink": url, "resourcePath": fmt.Sprintf("/%s/pull/%d", p.repo.FullName(), p.Number),
		"author": x.actor(p.author), "authorAssociation": p.repo.association(p.author), "state": p.state,
		"closed": p.state != "OPEN", "merged": p.state == "MERGED", "isDraft": p.draft, "locked": p.locked,
		"baseRefName": p.baseRef, "headRefName": p.headRef,
		"baseRefOid":        resolver(func(args) (any, error) { return p.BaseSHA(), nil }),
		"headRefOid":        resolver(func(args) (any, error) { return p.HeadSHA(), nil }),
		"isCrossRepository": p.crossRepository(), "maintainerCanModify": p.canModify, "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN",
		"createdAt": p.created, "updatedAt": p.updated, "viewerDidAuthor": x.login == p.author,
		"baseRepository": resolver(func(args) (any, error) { return x.repo(p.repo), nil }),
		"repository":     resolver(func(args) (any, error) { return x.repo(p.repo), nil }),
		"additions":      size,
		"deletions":      resolver(func(args) (any, error) { return p.size().removed, nil }),
		"changedFiles":   resolver(func(args) (any, error) { return len(p.size().files), nil }),
		"comments":       x.comments(p),
		"reviews":        x.reviews(p),
		"latestReviews":  x.reviews(p),
		"reviewThreads":  x.threads(p),
		"files":          resolver(func(a args) (any, error) { return x.files(p)(a) }),
		"labels":         x.labels(p),
		"commits":        resolver(func(a args) (any, error) { return x.commits(p)(a) }),
		"timelineItems":  x.timeline(p),
	}
	fields["latestOpinionatedReviews"] = x.opinions(p)
	if p.mergeCommit != "" {
		fields["mergedBy"], fields["mergeCommit"] = x.actor(p.mergedBy), resolver(func(args) (any, error) { return x.commit(p.repo, p.mergeCommit), nil })
	}
	if p.head != nil {
		fields["headRepository"], fields["headRepositoryOwner"] = x.repo(p.head), x.actor(p.head.Owner)
		fields["headRef"] = resolver(func(args) (any, error) { return x.headRef(p), nil })
	}
	return object{kind: "PullRequest", fields: fields}
}

// headRef is the branch itself, null when somebody deleted it. Its rule is what GitHub shows of branch protection to those
// who do not administer the repository.
func (x *execution) headRef(p *PullRequest) any {
	sha := x.f.sha(p.head.Bare, "refs/heads/"+p.headRef)
	if sha == "" {
		return nil
	}
	fields := map[string]any{"id": nodeID("REF", p.id), "name": p.headRef, "prefix": "refs/heads/",
		"target": resolver(func(args) (any, error) { return x.commit(p.head, sha), nil })}
	switch k := p.head.refused[p.headRef]; k {
	case ProtectedBranch, SignatureRequired:
		fields["refUpdateRule"] = object{kind: "RefUpdateRule", fields: map[string]any{
			"pattern": p.headRef, "viewerCanPush": k == SignatureRequired, "requiresSignatures": k == SignatureRequired,
			"allowsForcePushes": false, "allowsDeletions": false, "blocksCreations": false, "requiresCodeOwnerReviews": false,
			"requiresConversationResolution": false, "requiresLinearHistory": false, "viewerAllowedToDismissReviews": false}}
	}
	return object{kind: "Ref", fields: fields}
}

func key(id int64) string { return strconv.FormatInt(id, 10) }

func (x *execution) comments(p *PullRequest) resolver {
	list := make([]entry, len(p.comments))
	for i, c := range p.comments {
		list[i] = entry{key(c.ID), func() object { return x.issueComment(c) }}
	}
	return x.connection("IssueComment", list)
}

func (x *execution) issueComment(c *Comment) object {
	o := x.comment(c, "IssueComment", "IC")
	o.fields["pullRequest"] = resolver(func(args) (any, error) { return x.pull(c.pr), nil })
	o.fields["repository"] = resolver(func(args) (any, error) { return x.repo(c.pr.repo), nil })
	return o
}

// comment is what both kinds of comment have in common.
func (x *execution) comment(c *Comment, kind, prefix string) object {
	fields := map[string]any{
		"id": nodeID(prefix, c.ID), "databaseId": c.ID, "fullDatabaseId": key(c.ID), "url": x.commentURL(c), "body": c.Body,
		"bodyText": c.Body, "author": x.actor(c.Author), "authorAssociation": c.association(), "createdAt": c.Created,
		"updatedAt": c.Updated, "publishedAt": slices.MaxFunc([]time.Time{c.Created, c.Published}, time.Time.Compare), "isMinimized": c.Minimized, "includesCreatedEdit": c.Updated.After(c.Created),
		"viewerDidAuthor": x.login == c.Author, "createdViaEmail": c.Mailed,
	}
	if c.Minimized {
		fields["minimizedReason"] = c.Reason
	}
	if c.Updated.After(c.Created) {
		fields["lastEditedAt"], fields["editor"] = c.Updated, x.editor(cmp.Or(c.Editor, c.Author))
	}
	return object{kind: kind, fields: fields}
}

// editor is who changed a text last: nobody, once the account is gone. ghost stands for such accounts.
func (x *execution) editor(login string) any {
	if login == "ghost" {
		return nil
	}
	return x.actor(login)
}

func (c *Comment) association() string {
	if c.Association != "" {
		return c.Association
	}
	return c.pr.repo.association(c.Author)
}

func (c *call) commentURL(m *Comment) string {
	anchor := "issuecomment-"
	if m.thread != nil {
		anchor = "discussion_r"
	}
	return c.web(fmt.Sprintf("/%s/pull/%d#%s%d", m.pr.repo.FullName(), m.pr.Number, anchor, m.ID))
}

func (x *execution) reviews(p *PullRequest) resolver {
	return func(a args) (any, error) {
		var list []entry
		for _, r := range p.reviews {
			if wanted(a["states"], r.State) && (a.text("author") == "" || a.text("author") == r.Author) {
				list = append(list, entry{key(r.ID), func() object { return x.review(r) }})
			}
		}
		return x.connection("PullRequestReview", list)(a)
	}
}

// opinions are the newest reviews of people that approve or request changes; one that was dismissed since is none.
func (x *execution) opinions(p *PullRequest) resolver {
	return func(a args) (any, error) {
		newest := map[string]*Review{}
		for _, r := range p.reviews {
			if r.State != "COMMENTED" && r.State != "PENDING" {
				newest[strings.ToLower(r.Author)] = r
			}
		}
		var list []entry
		for _, r := range p.reviews {
			if newest[strings.ToLower(r.Author)] == r && r.State != "DISMISSED" && (!a.flag("writersOnly") || p.repo.permission(r.Author).rank() >= Write.rank()) {
				list = append(list, entry{key(r.ID), func() object { return x.review(r) }})
			}
		}
		return x.connection("PullRequestReview", list)(a)
	}
}

func (x *execution) review(r *Review) object {
	association := r.Association
	if association == "" {
		association = r.pr.repo.association(r.Author)
	}
	fields := map[string]any{
		"id": nodeID("PRR", r.ID), "databaseId": r.ID, "fullDatabaseId": key(r.ID), "author": x.actor(r.Author), "authorAssociation": association, "state": r.State,
		"body": r.Body, "submittedAt": r.Submitted, "createdAt": r.Submitted, "updatedAt": r.Submitted,
		"url":    x.web(fmt.Sprintf("/%s/pull/%d#pullrequestreview-%d", r.pr.repo.FullName(), r.pr.Number, r.ID)),
		"commit": x.commit(r.pr.repo, r.Commit),
	}
	if !r.Edited.IsZero() {
		fields["lastEditedAt"], fields["editor"] = r.Edited, x.editor(r.Editor)
	}
	return object{kind: "PullRequestReview", fields: fields}
}

func (x *execution) commit(r *Repo, sha string) any {
	if sha == "" {
		return nil
	}
	return object{kind: "Commit", fields: map[string]any{
		"id": "C_" + sha, "oid": sha, "abbreviatedOid": sha[:7], "url": x.web("/" + r.FullName() + "/commit/" + sha),
		"associatedPullRequests": resolver(func(a args) (any, error) { return x.associated(r, sha)(a) }),
		"status":                 resolver(func(args) (any, error) { return x.status(r, sha), nil }),
	}}
}

// status is what was set on a commit: the newest of each context; null when nothing was.
func (x *execution) status(r *Repo, sha string) any {
	newest, order := map[string]Status{}, []string{}
	for _, s := range r.statuses {
		if s.SHA != sha {
			continue
		}
		if _, known := newest[s.Context]; !known {
			order = append(order, s.Context)
		}
		newest[s.Context] = s
	}
	if len(order) == 0 {
		return nil
	}
	show := func(s Status) object {
		fields := map[string]any{"id": nodeID("SC", s.ID), "context": s.Context, "state": strings.ToUpper(s.State), "createdAt": s.Created,
			"creator": x.actor(s.Creator), "commit": resolver(func(args) (any, error) { return x.commit(r, sha), nil })}
		if s.Description != "" {
			fields["description"] = s.Description
		}
		if s.TargetURL != "" {
			fields["targetUrl"] = s.TargetURL
		}
		return object{kind: "StatusContext", fields: fields}
	}
	all, worst := []object{}, "SUCCESS"
	for _, name := range order {
		all = append(all, show(newest[name]))
		if state := newest[name].State; state == "pending" && worst == "SUCCESS" {
			worst = "PENDING"
		} else if state == "failure" || state == "error" {
			worst = "FAILURE"
		}
	}
	return object{kind: "Status", fields: map[string]any{
		"id": "S_" + sha, "state": worst, "contexts": all,
		"context": resolver(func(a args) (any, error) {
			if s, ok := newest[a.text("name")]; ok {
				return show(s), nil
			}
			return nil, nil
		}),
	}}
}

// associated are the pull requests that GitHub shows for a commit: the one that it merged, and those it is the head of.
func (x *execution) associated(r *Repo, sha string) resolver {
	var list []entry
	for n := 1; n <= r.lastNumber; n++ {
		if p := r.prs[n]; p != nil && (p.mergeCommit == sha || x.f.sha(r.Bare, fmt.Sprintf("refs/pull/%d/head", n)) == sha) {
			list = append(list, entry{strconv.Itoa(n), func() object { return x.pull(p) }})
		}
	}
	return x.connection("PullRequest", list)
}

func (x *execution) threads(p *PullRequest) resolver {
	list := make([]entry, len(p.threads))
	for i, t := range p.threads {
		list[i] = entry{key(t.ID), func() object { return x.thread(t) }}
	}
	return x.connection("PullRequestReviewThread", list)
}

func (x *execution) thread(t *Thread) object {
	list := make([]entry, len(t.Comments))
	for i, c := range t.Comments {
		list[i] = entry{key(c.ID), func() object { return x.reviewComment(c) }}
	}
	fields := map[string]any{
		"id": nodeID("PRRT", t.ID), "path": t.Path, "isResolved": t.Resolved, "isOutdated": t.Outdated, "diffSide": "RIGHT",
		"viewerCanResolve":   x.maySettle(t) && !x.f.refuses("ResolveThread"),
		"viewerCanUnresolve": x.maySettle(t) && !x.f.refuses("UnresolveThread"),
		"subjectType":        "LINE", "comments": x.connection("PullRequestReviewComment", list),
		"pullRequest": resolver(func(args) (any, error) { return x.pull(t.pr), nil }),
	}
	if t.StartLine > 0 {
		fields["originalStartLine"] = t.StartLine
	}
	if t.ResolvedBy != "" && !x.f.user(t.ResolvedBy).Bot { // the field is a User
		fields["resolvedBy"] = x.actor(t.ResolvedBy)
	}
	line, outdated := t.place()
	fields["isOutdated"] = outdated
	if t.Line > 0 {
		fields["originalLine"] = t.Line
		if !outdated {
			fields["line"] = line
		}
	}
	return object{kind: "PullRequestReviewThread", fields: fields}
}

func (x *execution) reviewComment(c *Comment) object {
	o := x.comment(c, "PullRequestReviewComment", "PRRC")
	o.fields["path"] = c.thread.Path
	for _, r := range c.pr.reviews {
		if r.ID == c.review {
			o.fields["pullRequestReview"] = x.review(r)
		}
	}
	return o
}

func (x *execution) files(p *PullRequest) resolver {
	var list []entry
	for i, s := range p.size().files {
		list = append(list, entry{strconv.Itoa(i + 1), func() object {
			change := map[string]string{"added": "ADDED", "removed": "DELETED", "renamed": "RENAMED"}[s.change]
			if change == "" {
				change = "MODIFIED"
			}
			return object{kind: "PullRequestChangedFile", fields: map[string]any{
				"path": s.path, "additions": s.additions, "deletions": s.deletions, "changeType": change}}
		}})
	}
	return x.connection("PullRequestChangedFile", list)
}

func (x *execution) labels(p *PullRequest) resolver {
	list := make([]entry, len(p.labels))
	for i, l := range p.labels {
		list[i] = entry{strconv.Itoa(i + 1), func() object {
			fields := map[string]any{"id": "LA_" + l, "name": l, "color": "ededed", "createdAt": p.created}
			if at, renamed := p.renamed[l]; renamed {
				fields["updatedAt"] = at
			}
			return object{kind: "Label", fields: fields}
		}}
	}
	return x.connection("Label", list)
}

// commits are those of the pull request, oldest first.
func (x *execution) commits(p *PullRequest) resolver {
	var list []entry
	for i, sha := range p.commits() {
		list = append(list, entry{strconv.Itoa(i + 1), func() object {
			return object{kind: "PullRequestCommit", fields: map[string]any{"id": "PURC_" + sha, "commit": x.commit(p.repo, sha)}}
		}})
	}
	return x.connection("PullRequestCommit", list)
}

// timeline has the events of labels alone: nobody asks for others.
func (x *execution) timeline(p *PullRequest) resolver {
	return func(a args) (any, error) {
		var list []entry
		for _, e := range p.labelled {
			kind, item := "LabeledEvent", "LABELED_EVENT"
			if e.Off {
				kind, item = "UnlabeledEvent", "UNLABELED_EVENT"
			}
			if !wanted(a["itemTypes"], item) {
				continue
			}
			list = append(list, entry{key(e.ID), func() object {
				fields := map[string]any{"id": nodeID("LE", e.ID), "createdAt": e.At,
					"label": object{kind: "Label", fields: map[string]any{"id": "LA_" + e.Label, "name": e.Label, "color": "ededed"}}}
				if e.By != "" {
					fields["actor"] = x.actor(e.By)
				}
				return object{kind: kind, fields: fields}
			}})
		}
		return x.connection("PullRequestTimelineItems", list)(a)
	}
}
