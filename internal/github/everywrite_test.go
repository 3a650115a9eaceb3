package github_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

var markerKey = []byte(strings.Repeat("k", 32))

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

var policy = sanitize.Policy{Repo: widgets}

func marker(nonce string, pr int) sanitize.Marker {
	return sanitize.Marker{ReviewID: "4f1c", Run: "run", Round: 1, Part: 1, Parts: 1, RepoID: widgets.String(), PR: pr, Nonce: nonce, Key: markerKey}
}

func comment(t *testing.T, nonce string, pr int) string {
	t.Helper()
	out, err := sanitize.Comment("A report.", marker(nonce, pr), policy)
	if err != nil {
		t.Fatal(err)
	}
	return out[0].String()
}

// sealed are other words for a comment of ours.
func sealed(t *testing.T, nonce string) sanitize.Text {
	t.Helper()
	out, err := sanitize.Comment("Other words.", marker(nonce, 7), policy)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func note(t *testing.T, nonce string) sanitize.Text {
	t.Helper()
	out, err := sanitize.Note("A finding.", []sanitize.Value{{Name: "finding", Text: "a"}}, marker(nonce, 7), policy)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// bench is a world with everything in it that writes are about.
type bench struct {
	*world
	t       *testing.T
	repo    *forge.Repo
	pull    *forge.PullRequest
	store   *store.Store
	runs    int
	said    int64  // a comment of somebody's
	comment string // one of ours, by its node id
	mine    int64  // and by its number
	first   int64  // the first comment of our thread
	thread  string // its node id
	crew    *agentrun.JobExecutor
	old     string // where the branch of a trial has to be that is pushed
	theirs  string // where somebody put it meanwhile; empty when nobody did
	undo    []func()
	// rig changes the client of a trial.
	rig func(b *bench, c *github.Client)
}

func tree(content string) fstest.MapFS {
	return fstest.MapFS{"main.go": &fstest.MapFile{Data: []byte(content)}}
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{world: newWorld(t), t: t}
	var err error
	b.pull, err = b.Open(forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Title: "Turn faster", Body: "Because.", Author: "contributor",
		Base: tree("package main\n"), Head: tree("package main\n\nfunc main() {}\n")})
	if err == nil {
		_, err = b.Open(forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 8, Title: "Docs", Author: "octocat", HeadRef: "docs", Head: tree("package main\n\n// docs\n")})
	}
	if err == nil {
		b.repo, err = b.AddRepo("acme", "widgets")
	}
	if err != nil {
		t.Fatal(err)
	}
	b.repo.SetPermission("octocat", forge.Write)
	b.repo.SetPermission("mona", forge.Read)
	b.said = b.pull.Comment("mona", "@prloop review")
	return b
}

// furnish makes what writes are about: a comment and a thread of ours.
func (b *bench) furnish() {
	b.t.Helper()
	var err error
	if b.store, err = store.Open(b.t.Context(), store.Options{Address: filepath.Join(b.t.TempDir(), "prloop.db")}); err != nil {
		b.t.Fatal(err)
	}
	b.mine = b.pull.Comment("octocat", comment(b.t, "of-before", 7))
	b.comment = forge.CommentID(b.mine)
	b.pull.AddThread(forge.Thread{Path: "main.go", Line: 3, Commit: b.head(), Comments: []*forge.Comment{{Author: "octocat", Body: note(b.t, "thread-of-before").String()}}})
	thread := b.pull.Threads()[0]
	b.first, b.thread = thread.Comments[0].ID, forge.ThreadID(thread.ID)
}

// clone gives the bench a repository to push from.
func (b *bench) clone() {
	b.t.Helper()
	g, err := git.Find(b.t.Context(), git.Options{Protocols: []string{"http"}})
	if err != nil {
		b.t.Fatal(err)
	}
	repo, err := g.Open(b.t.Context(), filepath.Join(b.t.TempDir(), "widgets.git"))
	if err != nil {
		b.t.Fatal(err)
	}
	c, err := github.New(b.t.Context(), github.Options{Env: b.Env(""), GH: b.gh})
	if err != nil {
		b.t.Fatal(err)
	}
	at := c.Pushed(widgets)
	login, err := at.Env(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := repo.Fetch(b.t.Context(), git.FetchOptions{URL: at.URL, Helper: at.Helper, Env: login, Refs: []string{"refs/heads/topic"}}); err != nil {
		b.t.Fatal(err)
	}
	b.crew = &agentrun.JobExecutor{Launcher: &agentrun.Launcher{Repo: repo}, Server: git.Server{URL: at.URL, Helper: at.Helper, Env: login, Timeout: time.Minute}}
}

func (b *bench) close() {
	if err := b.store.Close(); err != nil {
		b.t.Error(err)
	}
}

// pusher pushes from outside the bubble.
type pusher struct{ *bench }

func (p pusher) PushBranch(_ context.Context, repo review.Repo, push effects.BranchPush) (ref string, err error) {
	p.tick()
	p.out.do(func() { ref, err = p.crew.PushBranch(context.Background(), repo, push) })
	return ref, err
}

func (p pusher) FindPushed(_ context.Context, repo review.Repo, push effects.BranchPush) (ref string, err error) {
	p.tick()
	p.out.do(func() { ref, err = p.crew.FindPushed(context.Background(), repo, push) })
	return ref, err
}

// write is one way to change something on GitHub.
type write struct {
	kind func(b *bench, c *github.Client) effects.Kind
	// payload is what the nth effect of a bench sends.
	payload func(b *bench, n int, nonce string) string
	// graphql is true where GraphQL carries it, pushes where git does.
	graphql, pushes bool
	// words is true for what changes the pull request of our own, 8.
	words bool
	// short is true where the answer has the pull request in a short form, in which GitHub's contract knows none without a head repository.
	short bool
}

var writes = map[string]write{
	"comment": {graphql: true,
		kind: func(_ *bench, c *github.Client) effects.Kind {
			return effects.Comment{Poster: c, Key: markerKey, Policy: policy, Sleep: sleep}
		},
		payload: func(b *bench, _ int, nonce string) string { return comment(b.t, strings.TrimSuffix(nonce, "-1"), 7) }},
	"edit-comment": {
		kind: func(_ *bench, c *github.Client) effects.Kind { return effects.Edit{Editor: c, Policy: policy} },
		payload: func(b *bench, _ int, nonce string) string {
			p, err := effects.EditPayload(fmt.Sprintf("https://github.com/acme/widgets/pull/7#issuecomment-%d", b.mine), sealed(b.t, nonce))
			if err != nil {
				b.t.Fatal(err)
			}
			return p
		}},
	"rewrite-comment": {
		kind: func(_ *bench, c *github.Client) effects.Kind {
			return effects.Rewrite{Editor: c, Poster: c, Key: markerKey, Policy: policy, Sleep: sleep}
		},
		payload: func(b *bench, _ int, nonce string) string {
			p, err := effects.EditPayload(fmt.Sprintf("https://github.com/acme/widgets/pull/7#issuecomment-%d", b.mine), sealed(b.t, nonce))
			if err != nil {
				b.t.Fatal(err)
			}
			return p
		}},
	"minimize": {graphql: true,
		kind:    func(_ *bench, c *github.Client) effects.Kind { return effects.Minimize{Minimizer: c} },
		payload: func(b *bench, _ int, _ string) string { return b.comment }},
	"review": {
		kind: func(_ *bench, c *github.Client) effects.Kind {
			return effects.Review{Reviewer: c, Key: markerKey, Policy: policy, Sleep: sleep}
		},
		payload: func(b *bench, _ int, nonce string) string {
			p, err := effects.ReviewPayload(note(b.t, nonce), []effects.LineComment{{Path: "main.go", Line: 3, Body: note(b.t, nonce+"a")}, {Path: "main.go", Start: 2, Line: 3, Body: note(b.t, nonce+"b")}})
			if err != nil {
				b.t.Fatal(err)
			}
			return p
		}},
	"reply": {
		kind: func(_ *bench, c *github.Client) effects.Kind {
			return effects.Reply{Replier: c, Key: markerKey, Policy: policy, Sleep: sleep}
		},
		payload: func(b *bench, _ int, nonce string) string {
			p, err := effects.ReplyPayload(b.first, note(b.t, nonce))
			if err != nil {
				b.t.Fatal(err)
			}
			return p
		}},
	"resolve": {graphql: true,
		kind:    func(_ *bench, c *github.Client) effects.Kind { return effects.Resolve{Resolver: c} },
		payload: func(b *bench, _ int, _ string) string { return b.thread }},
	"unresolve": {graphql: true,
		kind:    func(_ *bench, c *github.Client) effects.Kind { return effects.Unresolve{Resolver: c} },
		payload: func(b *bench, _ int, _ string) string { return b.thread }},
	"ask": {short: true,
		kind:    func(_ *bench, c *github.Client) effects.Kind { return effects.Ask{Requester: c} },
		payload: func(*bench, int, string) string { return effects.AskPayload([]string{"mona"}) }},
	"reaction": {
		kind:    func(_ *bench, c *github.Client) effects.Kind { return effects.Reaction{Reactor: c} },
		payload: func(b *bench, _ int, _ string) string { return effects.ReactionPayload(b.said, effects.Seen) }},
	"status": {
		kind: func(_ *bench, c *github.Client) effects.Kind { return effects.Status{Statuses: c, Policy: policy} },
		payload: func(_ *bench, n int, _ string) string {
			return effects.CommitStatus{State: review.GatePending, Description: fmt.Sprint("Reviewing ", n), Target: "https://github.com/acme/widgets/pull/7"}.Payload()
		}},
	"pull-request": {
		kind: func(_ *bench, c *github.Client) effects.Kind {
			return effects.OpenPull{Pulls: c, Key: markerKey, Policy: policy, Sleep: sleep}
		},
		payload: func(b *bench, n int, nonce string) string {
			head := fmt.Sprint("prloop/docs-", n)
			b.out.do(func() {
				if err := b.Commit(b.repo, head, b.pull.BaseSHA(), "Docs", tree("package main\n\n// documented\n")); err != nil {
					b.t.Error(err)
				}
			})
			return effects.PullWords{Head: head, Base: "main", Title: "Update the docs", Body: comment(b.t, nonce, 0)}.Payload()
		}},
	"pull-request-words": {words: true,
		kind: func(_ *bench, c *github.Client) effects.Kind { return effects.EditPull{Pulls: c, Policy: policy} },
		payload: func(b *bench, _ int, nonce string) string {
			return effects.PullWords{Title: "Update the docs", Body: comment(b.t, nonce, 0)}.Payload()
		}},
	"branch": {pushes: true,
		kind:    func(b *bench, _ *github.Client) effects.Kind { return effects.Branch{Pusher: pusher{b}} },
		payload: func(b *bench, _ int, _ string) string { return b.push(none, true) }},
	"branch-update": {pushes: true,
		kind: func(b *bench, _ *github.Client) effects.Kind { return effects.Branch{Pusher: pusher{b}} },
		payload: func(b *bench, _ int, _ string) string {
			old := ""
			b.out.do(func() {
				old = b.pull.BaseSHA()
				if err := b.repo.MoveBranch(b.branch(), old); err != nil {
					b.t.Error(err)
				}
			})
			return b.push(old, false)
		}},
}

// none is where a branch is that does not exist.
var none = strings.Repeat("0", 40)

// push is what brings the branch of a trial from one commit to the head of the pull request.
func (b *bench) push(old string, replace bool) string {
	b.old = old
	return effects.BranchPush{Ref: "refs/heads/" + b.branch(), Old: old, New: b.head(), Replace: replace}.Payload()
}
