package github

import (
	"context"
	"fmt"
	"net/url"

	"github.com/prloop/prloop/review"
)

// Clone is how git reaches a repository. The credential stands in Env alone: not in the address, not in an argument, not
// in any file (threats.md T73).
type Clone struct {
	// URL is the address without a credential.
	URL string
	// Helper is a git credential helper that answers for the address's host only, out of Env.
	Helper string
	// Env gives the environment entries the helper reads, when git is started.
	Env func(context.Context) ([]string, error)
}

// helper is a shell function, as git runs helpers that begin with "!". git asks it with the protocol and the host; after a
// redirect it would ask for another host, and gets no answer.
const helper = `!f() { test "$1" = get || return 0; p=; h=; ` +
	`while IFS= read -r l && test -n "$l"; do case "$l" in protocol=*) p=${l#protocol=};; host=*) h=${l#host=};; esac; done; ` +
	`test "$p://$h" = "$PRLOOP_GIT_ORIGIN" || return 0; ` +
	`printf 'username=x-access-token\npassword=%s\n' "$PRLOOP_GIT_TOKEN"; }; f`

// Clone says how to fetch from a repository on the client's host.
func (c *Client) Clone(repo review.Repo) Clone { return c.remote(repo, reading) }

// Pushed says how to push to it.
func (c *Client) Pushed(repo review.Repo) Clone { return c.remote(repo, pushing) }

func (c *Client) remote(repo review.Repo, n need) Clone {
	if c.relay != nil {
		return c.relay.remote(repo)
	}
	out := Clone{URL: c.gitURL + repo.Owner + "/" + repo.Name + ".git", Helper: helper}
	u, err := url.Parse(c.gitURL)
	if err != nil {
		return Clone{URL: out.URL}
	}
	out.Env = func(ctx context.Context) ([]string, error) {
		token, err := c.credential(ctx, fmt.Sprintf("get a token to %s %s/%s", n, repo.Owner, repo.Name), repo, n)
		if err != nil {
			return nil, err
		}
		return []string{"PRLOOP_GIT_ORIGIN=" + u.Scheme + "://" + u.Host, "PRLOOP_GIT_TOKEN=" + token}, nil
	}
	return out
}
