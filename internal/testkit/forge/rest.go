package forge

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// routes maps GitHub's paths, spelled as in the published description, to handlers. Handlers run under the lock.
var routes = map[string]func(*call, http.ResponseWriter, *http.Request){
	"GET /":                 (*call).getRoot,
	"GET /user":             (*call).getViewer,
	"GET /users/{username}": (*call).getUser,
	"GET /rate_limit":       (*call).getRateLimit,

	"GET /repos/{owner}/{repo}":                                                    (*call).getRepo,
	"GET /repos/{owner}/{repo}/collaborators/{username}/permission":                (*call).getPermission,
	"GET /repos/{owner}/{repo}/pulls":                                              (*call).listPulls,
	"POST /repos/{owner}/{repo}/pulls":                                             (*call).openPull,
	"GET /repos/{owner}/{repo}/pulls/{pull_number}":                                (*call).getPull,
	"PATCH /repos/{owner}/{repo}/pulls/{pull_number}":                              (*call).patchPull,
	"GET /repos/{owner}/{repo}/pulls/{pull_number}/files":                          (*call).listFiles,
	"GET /repos/{owner}/{repo}/pulls/{pull_number}/comments":                       (*call).listReviewComments,
	"GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews":                        (*call).listReviews,
	"GET /repos/{owner}/{repo}/issues/{issue_number}/comments":                     (*call).listComments,
	"POST /repos/{owner}/{repo}/issues/{issue_number}/comments":                    (*call).postComment,
	"GET /repos/{owner}/{repo}/issues/comments":                                    (*call).listRepoComments,
	"GET /repos/{owner}/{repo}/issues/comments/{comment_id}":                       (*call).getComment,
	"PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}":                     (*call).patchComment,
	"DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}":                    (*call).deleteComment,
	"POST /repos/{owner}/{repo}/statuses/{sha}":                                    (*call).postStatus,
	"GET /repos/{owner}/{repo}/commits/{ref}/statuses":                             (*call).listStatuses,
	"GET /repos/{owner}/{repo}/releases/latest":                                    (*call).getLatestRelease,
	"GET /repos/{owner}/{repo}/releases/assets/{asset_id}":                         (*call).getAsset,
	"POST /repos/{owner}/{repo}/pulls/{pull_number}/comments":                      (*call).postReviewComment,
	"POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies": (*call).postReply,
	"POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews":                       (*call).postReview,
	"GET /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers":            (*call).listRequested,
	"POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers":           (*call).postRequested,
	"GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments":   (*call).listReviewsComments,
	"POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions":            (*call).postReaction,
}

// findRoute finds the route of a request and notes its path values. GitHub's paths overlap (issues/comments/7 and
// issues/7/comments), which http.ServeMux refuses; here the route with the earliest literal wins.
func findRoute(r *http.Request) (string, func(*call, http.ResponseWriter, *http.Request)) {
	have := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	best, values := "", map[string]string(nil)
	for route := range routes {
		method, path, _ := strings.Cut(route, " ")
		if method != r.Method {
			continue
		}
		if v, ok := matchPath(strings.Split(strings.Trim(path, "/"), "/"), have); ok && (best == "" || strings.ReplaceAll(route, "{", "~") < strings.ReplaceAll(best, "{", "~")) {
			best, values = route, v
		}
	}
	for k, v := range values {
		r.SetPathValue(k, v)
	}
	return best, routes[best]
}

func matchPath(want, have []string) (map[string]string, bool) {
	if len(want) != len(have) {
		return nil, false
	}
	values := map[string]string{}
	for i, w := range want {
		switch {
		case strings.HasPrefix(w, "{"):
			values[strings.Trim(w, "{}")] = have[i]
		case w != have[i]:
			return nil, false
		}
	}
	return values, true
}

// serveREST answers one REST request.
func (f *Forge) serveREST(w http.ResponseWriter, c *call) {
	in := c.r.Clone(c.r.Context())
	in.URL = &url.URL{Path: c.path, RawQuery: c.r.URL.RawQuery}
	route, handler := findRoute(in)
	asked := Exchange{Op: route, Login: c.login, Authorized: c.r.Header.Get("Authorization") != "", Write: c.r.Method != http.MethodGet && c.r.Method != http.MethodHead}
	if asked.Write {
		_ = json.Unmarshal(c.body, &asked.Input) // what is none is refused below
	}
	at := f.note(c.r, asked)
	c.fault = f.fault("rest", route, touching(asked.Write))
	if c.fault.before(w, f.opt.Now()) {
		f.settle(at, c.fault, nil)
		return
	}
	out := newAnswer()
	c.limits(out.header)
	switch {
	case !c.known && c.r.Header.Get("Authorization") != "" && !appRoutes[route]:
		restError(out, http.StatusUnauthorized, "Bad credentials")
	case route == "":
		f.violate("rest: %s %s is not a path the forge has", c.r.Method, c.path)
		restError(out, http.StatusNotFound, "Not Found")
	case c.lacks(out, route):
	default:
		f.mu.Lock()
		handler(c, out, in)
		f.mu.Unlock()
	}
	c.conditional(out)
	f.settle(at, c.fault, out)
	if f.opt.Contract != nil && route != "" {
		if err := f.opt.Contract.Check(in, c.body, out.status, out.header, out.body); err != nil {
			f.violate("rest: %s %s: %v", c.r.Method, c.path, err)
		}
	}
	c.fault.after(w, c.r, out, f.opt.Now())
}

// conditional answers 304 to a reader who already has this answer.
func (c *call) conditional(out *answer) {
	if c.r.Method != http.MethodGet || out.status != http.StatusOK {
		return
	}
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(out.body))
	out.header.Set("ETag", tag)
	if c.r.Header.Get("If-None-Match") == tag {
		out.status, out.body = http.StatusNotModified, nil
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// target finds the repository of a request, answering 404 itself when there is none to see.
func (c *call) target(w http.ResponseWriter, r *http.Request) *Repo {
	repo := c.visible(r.PathValue("owner") + "/" + r.PathValue("repo"))
	if repo == nil {
		restError(w, http.StatusNotFound, "Not Found")
		return nil
	}
	if asked := r.PathValue("owner") + "/" + r.PathValue("repo"); !strings.EqualFold(asked, repo.FullName()) {
		w.Header().Set("Location", c.api(strings.Replace(r.URL.Path, asked, repo.FullName(), 1)))
		restError(w, http.StatusMovedPermanently, "Moved Permanently")
		return nil
	}
	return repo
}

// targetPull finds the pull request of a request.
func (c *call) targetPull(w http.ResponseWriter, r *http.Request, name string) *PullRequest {
	repo := c.target(w, r)
	if repo == nil {
		return nil
	}
	n, _ := strconv.Atoi(r.PathValue(name))
	p := repo.prs[n]
	if p == nil {
		restError(w, http.StatusNotFound, "Not Found")
	}
	return p
}

// mayWrite judges a write, answering itself when it is refused.
func (c *call) mayWrite(w http.ResponseWriter, ok bool) bool {
	switch {
	case !c.known:
		restError(w, http.StatusUnauthorized, "Requires authentication")
	case c.token.ReadOnly:
		restError(w, http.StatusForbidden, "Resource not accessible by integration")
	case !ok:
		restError(w, http.StatusForbidden, "Must have push access to the repository")
	default:
		return true
	}
	return false
}

// decode reads a JSON body, answering 400 itself when it is none.
func (c *call) decode(w http.ResponseWriter, into any) bool {
	if err := json.Unmarshal(c.body, into); err != nil {
		restError(w, http.StatusBadRequest, "Problems parsing JSON")
		return false
	}
	return true
}

// sendPage sends one page of a list with GitHub's Link header.
func (c *call) sendPage(w http.ResponseWriter, r *http.Request, all []any) {
	sendPageOf(c, w, r, all, func(item any) any { return item })
}

// sendPageOf sends one page of a list, as sendPage does, and makes no more objects than are on it.
func sendPageOf[T any](c *call, w http.ResponseWriter, r *http.Request, all []T, object func(T) any) {
	size, number := 30, 1
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil && n > 0 {
		size = min(n, pageLimit)
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil && n > 0 {
		number = n
	}
	if c.fault.Mode == StaleList {
		all = all[:max(0, len(all)-max(1, c.fault.Count))]
	}
	from, to := min(len(all), (number-1)*size), min(len(all), number*size)
	if c.fault.Mode == DuplicateItems && from > 0 {
		from--
	}
	var links []string
	link := func(page int, rel string) {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(page))
		links = append(links, fmt.Sprintf(`<%s?%s>; rel="%s"`, c.api(r.URL.Path), q.Encode(), rel))
	}
	if to < len(all) {
		link(number+1, "next")
		link((len(all)+size-1)/size, "last")
	}
	if number > 1 {
		link(number-1, "prev")
		link(1, "first")
	}
	if links != nil {
		w.Header().Set("Link", strings.Join(links, ", "))
	}
	page := []any{}
	for _, item := range all[from:to] {
		page = append(page, object(item))
	}
	writeJSON(w, http.StatusOK, page)
}
