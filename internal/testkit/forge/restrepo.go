package forge

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (c *call) getRoot(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, c.fill("root", map[string]any{"current_user_url": c.api("/user")}))
}

func (c *call) getViewer(w http.ResponseWriter, _ *http.Request) {
	if !c.known {
		restError(w, http.StatusUnauthorized, "Requires authentication")
		return
	}
	writeJSON(w, http.StatusOK, c.publicUser(c.login))
}

func (c *call) getUser(w http.ResponseWriter, r *http.Request) {
	u := c.f.users[strings.ToLower(r.PathValue("username"))]
	if u == nil {
		restError(w, http.StatusNotFound, "Not Found")
		return
	}
	writeJSON(w, http.StatusOK, c.publicUser(u.Login))
}

func (c *call) publicUser(login string) map[string]any {
	known := c.person(login)
	known["user_view_type"] = "public"
	return c.fill("public-user", known)
}

// person is what the forge knows of a user; user is that completed.
func (c *call) person(login string) map[string]any {
	u := c.f.user(login)
	kind := "User"
	if u.Bot {
		kind = "Bot"
	}
	known := map[string]any{"login": u.Login, "id": u.ID, "node_id": nodeID("U", u.ID), "type": kind,
		"html_url": c.web("/" + u.Login), "url": c.api("/users/" + u.Login), "avatar_url": c.web("/" + u.Login + ".png")}
	if u.Name != "" {
		known["name"] = u.Name
	}
	return known
}

func (c *call) user(login string) map[string]any { return c.fill("simple-user", c.person(login)) }

func (c *call) getRateLimit(w http.ResponseWriter, _ *http.Request) {
	left := map[string]any{"limit": 5000, "used": 1, "remaining": 4999, "reset": c.f.now().Unix() + 3600}
	writeJSON(w, http.StatusOK, map[string]any{"rate": left, "resources": map[string]any{"core": left, "search": left, "graphql": left}})
}

func (c *call) repository(r *Repo) map[string]any {
	return map[string]any{
		"id": r.ID, "node_id": nodeID("R", r.ID), "name": r.Name, "full_name": r.FullName(), "private": r.Private,
		"owner": c.user(r.Owner), "html_url": c.web("/" + r.FullName()), "url": c.api("/repos/" + r.FullName()),
		"clone_url": c.web("/" + r.FullName() + ".git"), "default_branch": "main", "archived": r.archived, "fork": r.parent != nil, "has_issues": true,
		"created_at": stamp(r.created), "updated_at": stamp(r.created), "pushed_at": stamp(r.created),
	}
}

func (c *call) getRepo(w http.ResponseWriter, r *http.Request) {
	repo := c.target(w, r)
	if repo == nil {
		return
	}
	known := c.repository(repo)
	rank := repo.permission(c.login).rank()
	known["permissions"] = map[string]any{"admin": rank >= Admin.rank(), "maintain": rank >= Maintain.rank(),
		"push": rank >= Write.rank(), "triage": rank >= Triage.rank(), "pull": rank >= Read.rank()}
	writeJSON(w, http.StatusOK, c.fill("full-repository", known))
}

// getPermission needs push access, as on GitHub; maintain and triage show as write and read with their role beside.
func (c *call) getPermission(w http.ResponseWriter, r *http.Request) {
	repo := c.target(w, r)
	if repo == nil {
		return
	}
	login := r.PathValue("username")
	if repo.permission(c.login).rank() < Write.rank() && !strings.EqualFold(login, c.login) {
		restError(w, http.StatusForbidden, "Must have push access to view collaborator permission.")
		return
	}
	if c.f.users[strings.ToLower(login)] == nil {
		restError(w, http.StatusNotFound, "Not Found")
		return
	}
	role := repo.permission(login)
	legacy := map[Permission]Permission{Maintain: Write, Triage: Read}[role]
	if legacy == "" {
		legacy = role
	}
	user := c.fill("nullable-collaborator", c.person(login))
	user["role_name"] = string(role)
	writeJSON(w, http.StatusOK, map[string]any{"permission": string(legacy), "role_name": string(role), "user": user})
}

// maxStatusChars is GitHub's limit on the description of a status, and MaxStatuses the one on how many of one name a commit has.
const (
	maxStatusChars = 140
	MaxStatuses    = 1000
)

func (c *call) postStatus(w http.ResponseWriter, r *http.Request) {
	repo := c.target(w, r)
	if repo == nil || !c.mayWrite(w, repo.permission(c.login).rank() >= Write.rank()) {
		return
	}
	var in struct {
		State, Context, Description string
		TargetURL                   string `json:"target_url"`
	}
	if !c.decode(w, &in) {
		return
	}
	if in.Context == "" {
		in.Context = "default"
	}
	sha := r.PathValue("sha")
	switch _, err := c.f.git.run(repo.Bare, nil, nil, "rev-parse", "--verify", "--quiet", sha+"^{commit}"); {
	case err != nil:
		restError(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+sha)
		return
	case utf8.RuneCountInString(in.Description) > maxStatusChars:
		restError(w, http.StatusUnprocessableEntity, "Validation Failed: description is too long (maximum is 140 characters)")
		return
	}
	s := Status{SHA: sha, Context: in.Context, State: in.State, Description: in.Description, TargetURL: in.TargetURL, Creator: c.login}
	if !repo.addStatus(s) {
		said := "This SHA and context has reached the maximum number of statuses."
		writeJSON(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest",
			"errors": []any{map[string]any{"resource": "Status", "code": "custom", "message": said}}})
		return
	}
	writeJSON(w, http.StatusCreated, c.status(repo, repo.statuses[len(repo.statuses)-1]))
}

// addStatus reports whether a commit may have one more status of its name, and sets it.
func (r *Repo) addStatus(s Status) bool {
	n := 0
	for _, o := range r.statuses {
		if o.SHA == s.SHA && o.Context == s.Context {
			n++
		}
	}
	if n >= MaxStatuses {
		return false
	}
	s.ID, s.Created = r.f.newID(), r.f.now()
	r.statuses = append(r.statuses, s)
	return true
}

func (c *call) status(repo *Repo, s Status) map[string]any {
	set := stamp(s.Created)
	return c.fill("status", map[string]any{"id": s.ID, "node_id": nodeID("SC", s.ID), "state": s.State,
		"context": s.Context, "description": s.Description, "target_url": s.TargetURL, "created_at": set, "updated_at": set,
		"url": c.api(fmt.Sprintf("/repos/%s/statuses/%s", repo.FullName(), s.SHA)), "creator": c.user(s.Creator)})
}

func (c *call) listStatuses(w http.ResponseWriter, r *http.Request) {
	repo := c.target(w, r)
	if repo == nil {
		return
	}
	var all []any
	for _, s := range slices.Backward(repo.statuses) {
		if s.SHA == r.PathValue("ref") {
			all = append(all, c.status(repo, s))
		}
	}
	c.sendPage(w, r, all)
}

func (c *call) getLatestRelease(w http.ResponseWriter, r *http.Request) {
	repo := c.target(w, r)
	if repo == nil {
		return
	}
	rel := repo.release
	if rel == nil {
		restError(w, http.StatusNotFound, "Not Found")
		return
	}
	assets := []any{}
	for _, a := range rel.Assets {
		assets = append(assets, c.asset(repo, a))
	}
	writeJSON(w, http.StatusOK, c.fill("release", map[string]any{"id": rel.id, "tag_name": rel.Tag, "name": rel.Tag, "target_commitish": "main",
		"assets": assets, "author": c.user(repo.Owner), "html_url": c.web("/" + repo.FullName() + "/releases/tag/" + rel.Tag),
		"created_at": stamp(repo.created), "published_at": stamp(repo.created)}))
}

func (c *call) asset(repo *Repo, a Asset) map[string]any {
	return c.fill("release-asset", map[string]any{"id": a.id, "name": a.Name, "size": len(a.Content), "state": "uploaded",
		"content_type": "application/octet-stream", "url": c.api(fmt.Sprintf("/repos/%s/releases/assets/%d", repo.FullName(), a.id)),
		"browser_download_url": c.web(fmt.Sprintf("/%s/releases/download/%s/%s", repo.FullName(), repo.release.Tag, a.Name))})
}

func (c *call) getAsset(w http.ResponseWriter, r *http.Request) {
	repo := c.target(w, r)
	if repo == nil {
		return
	}
	id, _ := strconv.ParseInt(r.PathValue("asset_id"), 10, 64)
	if repo.release != nil {
		for _, a := range repo.release.Assets {
			if a.id != id {
				continue
			}
			if strings.Contains(r.Header.Get("Accept"), "application/octet-stream") {
				w.Header().Set("Content-Type", "application/octet-stream")
				_, _ = w.Write(a.Content)
				return
			}
			writeJSON(w, http.StatusOK, c.asset(repo, a))
			return
		}
	}
	restError(w, http.StatusNotFound, "Not Found")
}
