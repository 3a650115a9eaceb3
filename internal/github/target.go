package github

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cli/go-gh/v2/pkg/repository"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

var (
	shortTarget = lazyregexp.New(`^(?:([^/\s]+)/)?([A-Za-z0-9_-]+)/([A-Za-z0-9._-]+)#(\d+)$`)
	pullPath    = lazyregexp.New(`^/([^/]+)/([^/]+)/(?:pull|issues)/(\d+)(?:/.*)?$`)
	ownerName   = lazyregexp.New(`^[A-Za-z0-9_-]+$`)
	repoName    = lazyregexp.New(`^[A-Za-z0-9._-]+$`)
	number      = lazyregexp.New(`^#?(\d+)$`)
)

// ParseTarget reads what a person typed for a pull request: 7, #7, owner/repo#7, host/owner/repo#7, or its address in the
// browser, on github.com or any other host. A number alone is of the repository here. ErrTarget otherwise.
func ParseTarget(arg string, here review.Repo) (review.Target, error) {
	arg = strings.TrimSpace(arg)
	if m := number.FindStringSubmatch(arg); m != nil {
		if here.Owner == "" {
			return review.Target{}, badTarget(arg, "a number needs a repository: say owner/repo#number, or use -R")
		}
		return target(arg, here, m[1])
	}
	if m := shortTarget.FindStringSubmatch(arg); m != nil {
		host := m[1]
		if host == "" {
			host = here.Host
		}
		return target(arg, review.Repo{Host: host, Owner: m[2], Name: m[3]}, m[4])
	}
	u, err := url.Parse(arg)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return review.Target{}, badTarget(arg, "give a number, owner/repo#number or an address")
	}
	m := pullPath.FindStringSubmatch(u.Path)
	if m == nil {
		return review.Target{}, badTarget(arg, "the address is not that of a pull request")
	}
	return target(arg, review.Repo{Host: strings.TrimPrefix(strings.ToLower(u.Host), "www."), Owner: m[1], Name: m[2]}, m[3])
}

// ParseBranch reads what a person typed as a branch, BRANCH or OWNER:BRANCH as `gh pr view` takes them; false when it can only
// be a number or an address.
func ParseBranch(arg string) (owner, branch string, ok bool) {
	arg = strings.TrimSpace(arg)
	if number.MatchString(arg) || Whole(arg) || strings.ContainsFunc(arg, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("~^?*[\\", r) }) {
		return "", "", false
	}
	if o, b, found := strings.Cut(arg, ":"); found {
		return o, b, ownerName.MatchString(o) && b != "" && !strings.Contains(b, ":")
	}
	return "", arg, arg != "" && !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, ".") && !strings.HasPrefix(arg, "/") && !strings.HasSuffix(arg, "/")
}

// Whole reports whether what a person typed names its repository too: an address, or owner/repo#number.
func Whole(arg string) bool {
	arg = strings.TrimSpace(arg)
	return strings.Contains(arg, "://") || shortTarget.MatchString(arg)
}

func target(arg string, repo review.Repo, digits string) (review.Target, error) {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 1<<31-1 {
		return review.Target{}, badTarget(arg, "no pull request has that number")
	}
	if repo, err = checkRepo(repo); err != nil {
		return review.Target{}, badTarget(arg, err.Error())
	}
	return review.Target{Repo: repo, PR: n}, nil
}

func badTarget(arg, why string) error {
	return &Error{Op: fmt.Sprintf("read target %q", oneLine(arg)), Kind: ErrTarget, Detail: why}
}

// checkRepo refuses names that GitHub does not allow; they become parts of addresses and arguments.
func checkRepo(r review.Repo) (review.Repo, error) {
	if r.Host == "" {
		r.Host = dotCom
	}
	if !ownerName.MatchString(r.Owner) || !repoName.MatchString(r.Name) || strings.Trim(r.Name, ".") == "" || strings.HasPrefix(r.Owner, "-") {
		return r, fmt.Errorf("%q is no repository", oneLine(r.Owner+"/"+r.Name))
	}
	return r, nil
}

// ParseRepo reads [HOST/]OWNER/REPO or a repository's address, as gh's -R does: ErrRepository. defaultHost is used when none is named.
func ParseRepo(arg, defaultHost string) (review.Repo, error) {
	r, err := repository.ParseWithHost(arg, defaultHost)
	if err != nil {
		return review.Repo{}, badRepo(arg, err)
	}
	repo, err := checkRepo(review.Repo{Host: strings.ToLower(r.Host), Owner: r.Owner, Name: r.Name})
	if err != nil {
		return review.Repo{}, badRepo(arg, err)
	}
	return repo, nil
}

func badRepo(arg string, why error) error {
	return &Error{Op: fmt.Sprintf("read %q", oneLine(arg)), Kind: ErrRepository, Detail: oneLine(why.Error())}
}

// Remote is one remote of a checkout, as git reports it.
type Remote struct{ Name, URL string }

// RepoOfRemotes picks the repository a checkout is about, in gh's order: the remote named upstream, then github, then
// origin, then the first of the others. Only remotes on the given hosts count (KnownHosts). ErrTarget when there is none.
func RepoOfRemotes(remotes []Remote, hosts []string) (review.Repo, error) {
	rank := func(name string) int {
		if i := slices.Index([]string{"upstream", "github", "origin"}, strings.ToLower(name)); i >= 0 {
			return i
		}
		return 3
	}
	sorted := slices.Clone(remotes)
	slices.SortStableFunc(sorted, func(a, b Remote) int { return rank(a.Name) - rank(b.Name) })
	for _, r := range sorted {
		if repo, ok := RepoOfURL(r.URL); ok && slices.Contains(hosts, repo.Host) {
			return repo, nil
		}
	}
	return review.Repo{}, &Error{Op: "find the repository of this folder", Kind: ErrTarget, Detail: "none of its git remotes points to a GitHub host gh is logged in to"}
}

// RepoOfURL reads a repository out of a clone address: https, ssh, git or scp-like.
func RepoOfURL(address string) (review.Repo, bool) {
	repo, err := ParseRepo(address, dotCom)
	if err != nil || !strings.ContainsAny(address, ":") {
		return review.Repo{}, false
	}
	if repo.Host == "ssh.github.com" {
		repo.Host = dotCom
	}
	return repo, true
}
