package github

import (
	"errors"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/testkit/forge"
)

const (
	outsider = "ghp_outsider"
	jobToken = "ghs_job0000000000000000000000000000000000"
	appToken = "ghs_app0000000000000000000000000000000000"
)

// Each row changes acme/widgets#7, which comes from a fork that lets maintainers edit, or asks as somebody else.
func TestMayPush(t *testing.T) {
	rows := []struct {
		name   string
		change func(f *forge.Forge, p *forge.PullRequest, base, fork *forge.Repo)
		token  string
		reason string // empty: allowed
	}{
		{"a maintainer, and the fork allows edits", nil, forge.DefaultToken, ""},
		{"somebody who may write to the fork itself", func(_ *forge.Forge, _ *forge.PullRequest, _, fork *forge.Repo) {
			fork.SetPermission("outsider", forge.Write)
		}, outsider, ""},
		{"an outsider", nil, outsider, "may not write to the base repository"},
		{"the job's own token", func(_ *forge.Forge, _ *forge.PullRequest, base, _ *forge.Repo) {
			base.SetPermission(jobLogin, forge.Write)
		}, jobToken, "the job's own token reaches no fork"},
		{"the token of another app", func(_ *forge.Forge, _ *forge.PullRequest, base, _ *forge.Repo) {
			base.SetPermission("other[bot]", forge.Write)
		}, appToken, ""},
		{"the fork is gone", func(_ *forge.Forge, p *forge.PullRequest, _, _ *forge.Repo) { p.DropFork() }, forge.DefaultToken, "is gone"},
		{"the fork is archived", func(_ *forge.Forge, _ *forge.PullRequest, _, fork *forge.Repo) { fork.Archive() }, forge.DefaultToken, "archived"},
		{"the branch is protected", func(_ *forge.Forge, _ *forge.PullRequest, _, fork *forge.Repo) {
			fork.RefusePushes("topic", forge.ProtectedBranch)
		}, forge.DefaultToken, `protected by the rule "topic"`},
		{"the branch wants signatures", func(_ *forge.Forge, _ *forge.PullRequest, _, fork *forge.Repo) {
			fork.RefusePushes("topic", forge.SignatureRequired)
		}, forge.DefaultToken, "signed commits"},
		{"a ruleset, of which GitHub tells nobody", func(_ *forge.Forge, _ *forge.PullRequest, _, fork *forge.Repo) {
			fork.RefusePushes("topic", forge.RepositoryRule)
		}, forge.DefaultToken, ""},
		{"the pull request was closed", func(_ *forge.Forge, p *forge.PullRequest, _, _ *forge.Repo) { p.SetState("CLOSED") }, forge.DefaultToken, "is closed"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f, p, base := open(t)
			fork, err := f.AddRepo("contributor", "widgets")
			if err != nil {
				t.Fatal(err)
			}
			f.AddToken(outsider, forge.Token{Login: "outsider"})
			f.AddToken(jobToken, forge.Token{Login: jobLogin, Repo: "acme/widgets"})
			f.AddToken(appToken, forge.Token{Login: "other[bot]"})
			pr := readPull(t, client(t, f, Options{}))
			if row.change != nil {
				row.change(f, p, base, fork)
			}
			got, err := client(t, f, Options{Env: f.EnvWithToken("", row.token)}).MayPush(t.Context(), pr)
			if err != nil {
				t.Fatal(err)
			}
			if got.Allowed != (row.reason == "") || !strings.Contains(got.Reason, row.reason) {
				t.Errorf("%+v, want %q", got, row.reason)
			}
			if v := f.Violations(); len(v) > 0 {
				t.Error(v)
			}
		})
	}
}

// The branch of a pull request within one repository is never the default branch (threats.md P7).
func TestMayPushInOneRepository(t *testing.T) {
	for _, row := range []struct {
		branch, permission string
		reason             string
	}{
		{"topic", "write", ""},
		{"topic", "read", "may not write to the repository"},
		{"main", "write", "default branch"},
	} {
		f, _, repo := open(t)
		base := "main"
		if row.branch == "main" {
			base = "release"
		}
		if _, err := f.Open(forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 8, Title: "x", HeadRef: row.branch, BaseRef: base,
			Base: tree("package main\n"), Head: tree("package main\n\n// x\n")}); err != nil {
			t.Fatal(err)
		}
		repo.SetPermission("octocat", forge.Permission(row.permission))
		c := client(t, f, Options{})
		pr, err := c.PullRequest(t.Context(), widgets, 8)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.MayPush(t.Context(), pr)
		if err != nil || got.Allowed != (row.reason == "") || !strings.Contains(got.Reason, row.reason) {
			t.Errorf("%s with %s: %+v, %v; want %q", row.branch, row.permission, got, err, row.reason)
		}
	}
}

func TestMayPushDoesNotGuess(t *testing.T) {
	f, _, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	f.Fail(forge.Fault{Op: "PushRight", Mode: forge.Forbidden})
	if got, err := c.MayPush(t.Context(), pr); !errors.Is(err, ErrForbidden) || got.Allowed {
		t.Errorf("refused: %+v, %v", got, err)
	}
	f.Heal()
	f.Fail(forge.Fault{Op: "PushRight", Mode: forge.BadGateway, Times: 1})
	if got, err := c.MayPush(t.Context(), pr); err != nil || !got.Allowed {
		t.Errorf("after one 502: %+v, %v", got, err)
	}
	// An app's token does not see what it may do.
	var a pushAnswer
	a.Repository.PullRequest.HeadRepository = &headRepository{}
	for _, fork := range []bool{false, true} {
		a.Repository.PullRequest.IsCrossRepository, a.Repository.PullRequest.MaintainerCanModify = fork, fork
		if reason := a.permitted(false, false); reason != "" {
			t.Errorf("unknown permission, fork %t: %q", fork, reason)
		}
	}
}

func TestActionsToken(t *testing.T) {
	f, _, _ := open(t)
	f.AddToken(jobToken, forge.Token{Login: jobLogin, Repo: "acme/widgets"})
	f.AddToken(appToken, forge.Token{Login: "other[bot]"})
	for token, want := range map[string]bool{forge.DefaultToken: false, jobToken: true, appToken: false} {
		got, err := client(t, f, Options{Env: f.EnvWithToken("", token)}).ActionsToken(t.Context())
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", token, got, err)
		}
	}
}

// threats.md K13 and K14: stopped before the call nothing is said; stopped after it the comment is there and nobody knows.
func TestPostStoppedAtItsFailpoints(t *testing.T) {
	for name, sent := range map[string]bool{"github: before comment": false, "github: after comment": true} {
		f, p, _ := open(t)
		c := client(t, f, Options{})
		pr := readPull(t, c)
		stop := errors.New("stopped")
		failpoint.Arm(func(at string) error {
			if at == name {
				return stop
			}
			return nil
		})
		_, err := c.Post(t.Context(), pr, text(t, "hello"))
		failpoint.Arm(nil)
		var e *Error
		if !errors.Is(err, stop) || !errors.As(err, &e) || e.Refused() == sent || (len(p.Comments()) == 1) != sent {
			t.Errorf("%s: %v, %d comments", name, err, len(p.Comments()))
		}
	}
}
