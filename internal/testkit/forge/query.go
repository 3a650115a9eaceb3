package forge

import (
	"fmt"
	"strconv"
	"strings"
)

// query is the root of every read.
func (x *execution) query() object {
	return object{kind: "Query", fields: map[string]any{
		"viewer":     resolver(func(args) (any, error) { return x.actor(x.login), nil }),
		"repository": resolver(x.repository),
		"user": resolver(func(a args) (any, error) {
			u := x.f.users[strings.ToLower(a.text("login"))]
			if u == nil {
				return nil, refusal{"NOT_FOUND", fmt.Sprintf("Could not resolve to a User with the login of '%s'.", a.text("login"))}
			}
			return x.actor(u.Login), nil
		}),
		"node": resolver(func(a args) (any, error) {
			o, err := x.node(a.text("id"))
			if err != nil {
				return nil, err
			}
			return o, nil
		}),
		"rateLimit": object{kind: "RateLimit", fields: map[string]any{
			"limit": 5000, "remaining": 4999, "used": 1, "cost": 1, "nodeCount": 1, "resetAt": x.f.now(),
		}},
	}}
}

func (x *execution) repository(a args) (any, error) {
	name := a.text("owner") + "/" + a.text("name")
	r := x.visible(name)
	if r == nil {
		return nil, refusal{"NOT_FOUND", fmt.Sprintf("Could not resolve to a Repository with the name '%s'.", name)}
	}
	return x.repo(r), nil
}

// visible finds a repository the caller may see.
func (c *call) visible(fullName string) *Repo {
	r := c.f.repos[strings.ToLower(fullName)]
	if r == nil || r.permission(c.login).rank() == 0 || r.Private && !c.token.reaches(r) {
		return nil
	}
	return r
}

// node resolves a node id of the things the forge models.
func (x *execution) node(id string) (object, error) {
	for _, r := range x.f.repos {
		if r.permission(x.login).rank() == 0 {
			continue
		}
		if nodeID("R", r.ID) == id {
			return x.repo(r), nil
		}
		for _, p := range r.prs {
			if o, ok := x.nodeOf(p, id); ok {
				return o, nil
			}
		}
	}
	return object{}, refusal{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
}

func (x *execution) nodeOf(p *PullRequest, id string) (object, bool) {
	if nodeID("PR", p.id) == id {
		return x.pull(p), true
	}
	for _, c := range p.comments {
		if nodeID("IC", c.ID) == id {
			return x.issueComment(c), true
		}
	}
	for _, t := range p.threads {
		if nodeID("PRRT", t.ID) == id {
			return x.thread(t), true
		}
	}
	return object{}, false
}

func (x *execution) repo(r *Repo) object {
	url := x.web("/" + r.FullName())
	role := r.permission(x.login)
	fields := map[string]any{
		"id": nodeID("R", r.ID), "databaseId": r.ID, "name": r.Name, "nameWithOwner": r.FullName(), "url": url,
		"sshUrl": "git@" + x.host + ":" + r.FullName() + ".git", "owner": x.actor(r.Owner), "isPrivate": r.Private,
		"isFork": r.parent != nil, "visibility": visibility(r), "createdAt": r.created, "hasIssuesEnabled": true,
		"isArchived":       r.archived,
		"viewerPermission": strings.ToUpper(string(role)), "viewerCanAdminister": role == Admin,
		"mergeCommitAllowed": true, "squashMergeAllowed": true, "rebaseMergeAllowed": true,
		"defaultBranchRef": object{kind: "Ref", fields: map[string]any{"id": nodeID("REF", r.ID), "name": "main", "prefix": "refs/heads/",
			"target": resolver(func(args) (any, error) { return x.commit(r, x.f.sha(r.Bare, "refs/heads/main")), nil })}},
		"object": resolver(func(a args) (any, error) {
			return x.commit(r, x.f.sha(r.Bare, a.text("oid")+"^{commit}")), nil
		}),
		"pullRequest":        resolver(func(a args) (any, error) { return x.pullByNumber(r, a) }),
		"issueOrPullRequest": resolver(func(a args) (any, error) { return x.pullByNumber(r, a) }),
		"pullRequests":       resolver(func(a args) (any, error) { return x.pulls(r, a) }),
	}
	if r.parent != nil {
		fields["parent"] = x.repo(r.parent)
	}
	return object{kind: "Repository", fields: fields}
}

func visibility(r *Repo) string {
	if r.Private {
		return "PRIVATE"
	}
	return "PUBLIC"
}

func (x *execution) pullByNumber(r *Repo, a args) (any, error) {
	n, _ := a.number("number")
	if p := r.prs[n]; p != nil {
		return x.pull(p), nil
	}
	return nil, refusal{"NOT_FOUND", fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.", n)}
}

// pulls lists pull requests by state and branch, newest first unless asked otherwise.
func (x *execution) pulls(r *Repo, a args) (any, error) {
	var list []entry
	for n := r.lastNumber; n > 0; n-- {
		p := r.prs[n]
		if p == nil || !wanted(a["states"], p.state) || (a.text("headRefName") != "" && a.text("headRefName") != p.headRef) ||
			(a.text("baseRefName") != "" && a.text("baseRefName") != p.baseRef) {
			continue
		}
		list = append(list, entry{key: strconv.Itoa(n), make: func() object { return x.pull(p) }})
	}
	return x.connection("PullRequest", list)(a)
}

// wanted reports whether a state is in a list argument; no list wants all.
func wanted(states any, state string) bool {
	list, ok := states.([]any)
	if !ok {
		return true
	}
	for _, s := range list {
		if s == state {
			return true
		}
	}
	return false
}

// actor is a user or an app's account as GraphQL shows it.
func (x *execution) actor(login string) object {
	u := x.f.user(login)
	kind, shown := "User", u.Login
	prefix := "U"
	if u.Bot {
		kind, prefix, shown = "Bot", "BOT", strings.TrimSuffix(u.Login, "[bot]")
	}
	return object{kind: kind, fields: map[string]any{
		"id": nodeID(prefix, u.ID), "databaseId": u.ID, "login": shown, "name": u.Name,
		"url": x.web("/" + shown), "avatarUrl": x.web("/" + shown + ".png"), "resourcePath": "/" + shown,
	}}
}
