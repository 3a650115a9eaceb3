package github

import (
	"net/http"
	"strconv"
	"time"
)

// Budget is how many requests GitHub lets one login make, as it said last.
type Budget struct {
	// Account is whose installation of a GitHub App it is; empty for a login.
	Account string
	// Resource is core or graphql.
	Resource         string
	Limit, Remaining int
	Reset            time.Time
}

// budget keeps what an answer says is left. The caller holds no lock.
func (l *limits) budget(r *http.Request, h http.Header) {
	limit, err := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	left, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	what := resource(r)
	if err != nil || err2 != nil || limit < 0 || left < 0 || what == free {
		return
	}
	b := Budget{Resource: what, Limit: limit, Remaining: left}
	if at, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil {
		b.Reset = time.Unix(at, 0)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == nil {
		l.left = map[string]Budget{}
	}
	l.left[what] = b
}

// budgets are what is left, for an account.
func (l *limits) budgets(account string) (all []Budget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, what := range []string{core, graphql} {
		if b, known := l.left[what]; known {
			b.Account = account
			all = append(all, b)
		}
	}
	return all
}

// Budgets are what is left of each login of the client: its own, or one for each installation of its App.
func (c *Client) Budgets() (all []Budget) {
	if c.app == nil {
		return c.limits.budgets("")
	}
	c.app.mu.Lock()
	defer c.app.mu.Unlock()
	for _, in := range c.app.known {
		if s := c.app.shared[in.ID]; s != nil {
			all = append(all, s.limits.budgets(in.Account)...)
		}
	}
	return all
}
