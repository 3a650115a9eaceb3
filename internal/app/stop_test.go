package app

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// stoppableRun is a run about a pull request, whose comments can stop it; octocat, as which it posts, and mona may write.
func stoppableRun(t *testing.T) (*forge.Forge, *forge.PullRequest, *stoppable) {
	t.Helper()
	f := forgetest.Start(t)
	p := forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Title: "Turn", Author: "contributor",
		Base: fstest.MapFS{"a.go": {Data: []byte("package a\n")}}, Head: fstest.MapFS{"a.go": {Data: []byte("package b\n")}}})
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	repo.SetPermission("mona", forge.Write)
	hub := github.Options{Env: f.Env("github.com"), GH: forgetest.GH(t)}
	c, err := github.New(t.Context(), hub)
	if err != nil {
		t.Fatal(err)
	}
	target := review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, PR: 7}
	service, err := Open(t.Context(), Options{State: t.TempDir(), GitHub: hub})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close(context.WithoutCancel(t.Context())) })
	return f, p, &stoppable{Forge: c, service: service, client: c, target: target, stops: orchestrator.Stops{}}
}

// Whoever may write ends the agents that are at work, while the loop asks how the pull request is too; nobody else does (threats.md T388).
func TestAStopEndsWhatIsAtWork(t *testing.T) {
	t.Parallel()
	_, p, s := stoppableRun(t)
	target := s.target
	ctx, leave := s.Watch(t.Context())
	defer leave()
	var asking sync.WaitGroup
	defer asking.Wait()
	asking.Go(func() {
		for ctx.Err() == nil {
			if pr, err := s.PullRequest(t.Context(), target.Repo, target.PR); err != nil || pr.Stopped != "" && ctx.Err() == nil {
				t.Errorf("the loop is told %q, %v, and the agents work on", pr.Stopped, err)
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	p.Comment("mallory", "!prloop stop")
	within, cancel := context.WithTimeout(ctx, firstLook+time.Second)
	if <-within.Done(); ctx.Err() != nil {
		t.Errorf("stopped by somebody who may not: %v", context.Cause(ctx))
	}
	cancel()
	p.Comment("mona", "!prloop stop")
	select {
	case <-ctx.Done():
	case <-time.After(slowestLook):
		t.Fatal("nobody stopped the agents within half a minute")
	}
	if !errors.As(context.Cause(ctx), new(*orchestrator.StopError)) {
		t.Errorf("ended by %v", context.Cause(ctx))
	}
	if again, _ := s.Watch(t.Context()); again.Err() == nil {
		t.Error("what begins after the stop works on")
	}
}

// A stop that somebody has edited before the run looks still counts (threats.md T737).
func TestAStopThatWasEdited(t *testing.T) {
	t.Parallel()
	_, p, s := stoppableRun(t)
	id := p.Comment("mona", "!prloop stop")
	time.Sleep(1100 * time.Millisecond) // GitHub's times are those of seconds
	p.EditComment(id, "!prloop stop\n\nThe pool is drained already.")
	if said, err := s.find(t.Context(), review.PullRequest{Repo: s.target.Repo, Number: s.target.PR}, false); err != nil || !strings.HasPrefix(said, "mona asked") {
		t.Errorf("%q, %v", said, err)
	}
}

// A stop that was answered ends what was ordered before it, also where its comment is gone or another commit was pushed; it is kept for the commit that the answer is about
// alone (threats.md T737).
func TestAnAnsweredStopEndsOlderOrders(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(p *forge.PullRequest, stop int64) error{
		"deleted": func(p *forge.PullRequest, stop int64) error { p.DeleteComment(stop); return nil },
		"pushed": func(p *forge.PullRequest, _ int64) error {
			_, err := p.Push("contributor", "More", map[string]string{"more.go": "package a\n"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, p, s := stoppableRun(t)
			about := p.HeadSHA()
			ask := p.Comment("mona", "!prloop review")
			stop := p.Comment("mona", "!prloop stop")
			if _, _, err := s.service.Reply(t.Context(), Order{Target: s.target}, Ask{Asked: review.Asked{Comment: stop, By: "mona", URL: "https://x"}, Ask: trigger.Ask{Word: trigger.Stop}}); err != nil {
				t.Fatal(err)
			}
			if err := then(p, stop); err != nil {
				t.Fatal(err)
			}
			for after, ends := range map[int64]bool{ask: true, stop: false} {
				run := &stoppable{Forge: s.client, service: s.service, client: s.client, target: s.target, stops: orchestrator.Stops{After: after}}
				pr, err := run.PullRequest(t.Context(), s.target.Repo, s.target.PR)
				if err != nil || strings.HasPrefix(pr.Stopped, "mona asked for a stop") != ends {
					t.Errorf("ordered by comment %d: %q, %v", after, pr.Stopped, err)
				}
			}
			for head, kept := range map[string]bool{about: true, p.HeadSHA(): p.HeadSHA() == about} {
				if note, err := s.service.stopNoted(t.Context(), s.target, head); err != nil || (note.Comment == stop) != kept {
					t.Errorf("of %.7s there is kept %+v, %v", head, note, err)
				}
			}
		})
	}
}

// What prloop's account posts with the marker of an answer ends nothing that it is not proven for: workflows share the account (threats.md T737).
func TestAnAnswerToAStopIsProven(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		login string
		pr    int
		key   []byte
		ends  bool
	}{
		"as prloop answers":                {login: "octocat", pr: 7, ends: true},
		"by somebody else":                 {login: "mallory", pr: 7},
		"under another key":                {login: "octocat", pr: 7, key: randomBytes(32)},
		"copied from another pull request": {login: "octocat", pr: 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, p, s := stoppableRun(t)
			own, err := s.service.markerKey(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			texts, err := sanitize.Comment("The run ends.", sanitize.Marker{Run: stopRun(p.HeadSHA()), RepoID: s.target.Repo.String(), PR: row.pr,
				Nonce: strings.Repeat("ab", 16), Asked: review.Asked{Comment: 1 << 40, Line: 1}.Key(), Key: []byte(cmp.Or(string(row.key), string(own)))}, sanitize.Policy{Repo: s.target.Repo})
			if err != nil {
				t.Fatal(err)
			}
			p.Comment(row.login, texts[0].String())
			pr, err := s.PullRequest(t.Context(), s.target.Repo, s.target.PR)
			if err != nil || (pr.Stopped != "") != row.ends {
				t.Errorf("%q, %v", pr.Stopped, err)
			}
			if note, err := s.service.stopNoted(t.Context(), s.target, p.HeadSHA()); err != nil || (note.Said != "") != row.ends {
				t.Errorf("there is kept %+v, %v", note, err)
			}
		})
	}
}

// A stop that stands in what a mail quotes is somebody else's; below prose that was written on GitHub it counts (threats.md T759).
func TestAStopThatAMailQuotes(t *testing.T) {
	t.Parallel()
	_, p, s := stoppableRun(t)
	pr := review.PullRequest{Repo: s.target.Repo, Number: s.target.PR}
	const body = "Thanks, looks good.\n\nFrom: mallory\nSubject: Re: Turn\n\n!prloop stop\n"
	p.Mail("mona", body)
	if said, err := s.find(t.Context(), pr, false); err != nil || said != "" {
		t.Errorf("by mail: %q, %v", said, err)
	}
	for made, c := range map[string]int64{"by mail": p.Mail("mona", body), "on GitHub": p.Comment("mona", body)} {
		read, err := s.client.Comment(t.Context(), pr, c)
		if err != nil {
			t.Fatal(err)
		}
		_, lines, why, err := s.service.now(t.Context(), s.client, Comment{ID: c, Heard: trigger.Comment{Action: "created", PullRequest: true, Body: body}, UpdatedAt: read.UpdatedAt}, pr)
		if err != nil || (why == "") != (made == "on GitHub") || (len(lines) == 1) != (made == "on GitHub") {
			t.Errorf("%s: %+v, %q, %v", made, lines, why, err)
		}
	}
	if said, err := s.find(t.Context(), pr, false); err != nil || !strings.HasPrefix(said, "mona asked") {
		t.Errorf("on GitHub: %q, %v", said, err)
	}
}

// A stop that nobody can judge, as GitHub does not answer, does not stand in front of a later one (threats.md T395).
func TestAStopBehindOneThatNobodyCanJudge(t *testing.T) {
	t.Parallel()
	f, p, s := stoppableRun(t)
	f.Fail(forge.Fault{Op: "GET /repos/{owner}/{repo}/collaborators/{username}/permission", Mode: forge.Unauthorized, Times: 1})
	p.Comment("mallory", "!prloop stop")
	pr := review.PullRequest{Repo: s.target.Repo, Number: s.target.PR}
	if said, err := s.find(t.Context(), pr, false); err == nil || said != "" || s.seen != 0 {
		t.Errorf("%q, %v: it counts as read", said, err)
	}
	f.Fail(forge.Fault{Op: "GET /repos/{owner}/{repo}/collaborators/{username}/permission", Mode: forge.Unauthorized, Times: 1})
	p.Comment("mona", "!prloop stop")
	if said, err := s.find(t.Context(), pr, false); err != nil || !strings.HasPrefix(said, "mona asked") {
		t.Errorf("%q, %v", said, err)
	}
}
