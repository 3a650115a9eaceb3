package sanitize

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

var (
	// pages are the parts of a repository that reports point into (threats.md T38).
	pages    = lazyregexp.New(`^(?:blob/[^/]+/.+|commit/[0-9a-fA-F]{7,64}|pull/[0-9]+(?:/files|/commits(?:/[0-9a-fA-F]{7,64})?)?)$`)
	pull     = lazyregexp.New(`^https://[^/]+/[^/]+/[^/]+/pull/([0-9]+)`)
	fragment = lazyregexp.New(`^[0-9A-Za-z_-]*$`)
	plainURL = lazyregexp.New(`^[0-9A-Za-z/._~:@!$+,;=%#?&-]*$`)
)

// ownPage returns the canonical address of a page of repo, and whether raw is one: a file at a commit, a commit, a pull
// request or a comment on one. No query but plain=1 is let through, so nothing can be carried out in one.
func ownPage(raw string, repo review.Repo) (string, bool) {
	if repo.Owner == "" || repo.Name == "" || len(raw) > 2000 || strings.ContainsAny(raw, "\\ \t\n<>\"`|") {
		return "", false
	}
	host := repo.Host
	if host == "" {
		host = "github.com"
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.User != nil || !strings.EqualFold(u.Host, host) {
		return "", false
	}
	if u.RawQuery != "" && u.RawQuery != "plain=1" || !fragment.MatchString(u.Fragment) {
		return "", false
	}
	prefix := "/" + repo.Owner + "/" + repo.Name + "/"
	if len(u.Path) <= len(prefix) || !strings.EqualFold(u.Path[:len(prefix)], prefix) {
		return "", false
	}
	page := u.Path[len(prefix):]
	if !pages.MatchString(page) || strings.Contains(page, "//") || strings.Contains(page, "\\") || hasDots(page) ||
		strings.ContainsAny(page, "\n\r\t%<>\"`|") {
		return "", false
	}
	out := url.URL{Scheme: "https", Host: host, Path: prefix + page, RawQuery: u.RawQuery, Fragment: u.Fragment}
	s := strings.NewReplacer("(", "%28", ")", "%29", "*", "%2A", "'", "%27", "[", "%5B", "]", "%5D", "@", "%40", ":+1", ":%2B1", ":-1", ":%2D1", "==", "=%3D").Replace(out.String())
	if !plainURL.MatchString(s) {
		return "", false
	}
	return s, true
}

// page is ownPage for a text that is read so. A field leads to no pull request but the run's own: GitHub tells of each such link on the page of the other one
// (threats.md T564). What the template says of others is not held to that.
func (m mode) page(raw string) (string, bool) {
	url, ok := ownPage(raw, m.policy.Repo)
	to := pull.FindStringSubmatch(url)
	return url, ok && (m.body || to == nil || to[1] == strconv.Itoa(m.policy.PR))
}

// hasDots reports whether a path climbs.
func hasDots(page string) bool {
	for part := range strings.SplitSeq(page, "/") {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}
