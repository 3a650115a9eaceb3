package github

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

var widgets = review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}

func tree(content string) fstest.MapFS {
	return fstest.MapFS{"main.go": &fstest.MapFile{Data: []byte(content)}}
}

// open serves a forge with acme/widgets#7, on which octocat may write.
func open(t testing.TB) (*forge.Forge, *forge.PullRequest, *forge.Repo) {
	t.Helper()
	f := forgetest.Start(t)
	p := forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Title: "Turn faster", Body: "Because.",
		Author: "contributor", Fork: "contributor/widgets", Labels: []string{"prloop"}, MaintainerCanModify: true,
		Base: tree("package main\n"), Head: tree("package main\n\nfunc main() {}\n")})
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	return f, p, repo
}

// client talks to the forge in a hurry.
func client(t testing.TB, f *forge.Forge, o Options) *Client {
	t.Helper()
	if o.Env == nil {
		o.Env = f.Env(o.Host)
	}
	if o.GH == "" {
		o.GH = forgetest.GH(t)
	}
	if brokered {
		o = throughBroker(t, o)
	}
	c, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c.firstWait, c.writeGap = time.Millisecond, 0
	return c
}

func text(t *testing.T, body string) sanitize.Text {
	t.Helper()
	s, err := sanitize.Filter(body)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readPull(t testing.TB, c *Client) review.PullRequest {
	t.Helper()
	repo := widgets
	repo.Host = c.Host()
	pr, err := c.PullRequest(t.Context(), repo, 7)
	if err != nil {
		t.Fatal(err)
	}
	return pr
}
