package github

import (
	"context"
	"net/http"

	"github.com/prloop/prloop/internal/proc"
)

// Through has a test carry a client's requests, and start gh.
func (c *Client) Through(next http.RoundTripper, run func(context.Context, proc.Spec) (proc.Result, error)) {
	c.transport.next, c.run = next, run
}

// Forget makes the client one of a process that knows no limits.
func (c *Client) Forget() { c.limits.forget() }

// Hurry takes the time between writes away.
func (c *Client) Hurry() { c.writeGap = 0 }
