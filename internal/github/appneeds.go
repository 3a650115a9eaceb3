package github

import (
	"encoding/json"
	"net/http"
	"strings"

	gogithub "github.com/google/go-github/v88/github"
)

// need is a kind of operation.
type need string

// The kinds of operations, and the permissions that a token for one has. What is not granted is left out but for the first, without which there is
// no token. No token has workflows, administration, secrets or actions.
const (
	reading    need = "read"
	commenting need = "comment and review"
	marking    need = "set commit statuses"
	resolving  need = "resolve threads"
	proposing  need = "open pull requests"
	pushing    need = "push"
	naming     need = "say who it is"
)

type permission struct{ name, level string }

func (p permission) String() string { return p.name + ": " + p.level }

var permissionsOf = map[need][]permission{
	reading:    {{"pull_requests", "read"}, {"contents", "read"}, {"issues", "read"}, {"statuses", "read"}, {"checks", "read"}, {"metadata", "read"}},
	commenting: {{"pull_requests", "write"}, {"issues", "write"}, {"metadata", "read"}},
	marking:    {{"statuses", "write"}, {"metadata", "read"}},
	resolving:  {{"contents", "write"}, {"pull_requests", "write"}, {"metadata", "read"}}, // GitHub wants contents: write for it
	proposing:  {{"pull_requests", "write"}, {"contents", "read"}, {"metadata", "read"}},
	pushing:    {{"contents", "write"}, {"metadata", "read"}},
	naming:     {{"metadata", "read"}},
}

// grants reports whether permissions have one.
func grants(have map[string]string, p permission) bool {
	level, some := have[p.name]
	return some && (level == p.level || level == "write" || level == "admin")
}

// needOf is what a request does.
func needOf(r *http.Request) need {
	path := r.URL.Path
	switch {
	case strings.HasSuffix(path, "/graphql"):
		return needOfQuery(r)
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		return reading
	case strings.Contains(path, "/statuses/"):
		return marking
	case strings.HasSuffix(path, "/pulls"), r.Method == http.MethodPatch && strings.Contains(path, "/pulls/"):
		return proposing
	}
	return commenting
}

func needOfQuery(r *http.Request) need {
	if r.GetBody == nil {
		return reading
	}
	body, err := r.GetBody()
	if err != nil {
		return reading
	}
	defer body.Close()
	var q struct{ Query string }
	if json.NewDecoder(body).Decode(&q) != nil || !strings.HasPrefix(strings.TrimSpace(q.Query), "mutation") {
		return reading
	}
	if strings.Contains(q.Query, "resolveReviewThread") {
		return resolving
	}
	return commenting
}

// asked are the permissions of a token, as the library takes them.
func asked(have map[string]string, n need) *gogithub.InstallationPermissions {
	want := map[string]string{}
	for _, p := range permissionsOf[n] {
		if grants(have, p) {
			want[p.name] = p.level
		}
	}
	data, err := json.Marshal(want)
	out := &gogithub.InstallationPermissions{}
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil { // words to words
		panic(err)
	}
	return out
}
