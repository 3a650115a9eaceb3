package github_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/history"
	"github.com/prloop/prloop/review"
)

// likeGH does what gh pr comment does, in this process: it asks for the pull request and comments on it, through the socket its
// configuration names. A hundred of gh would take the test a minute.
func likeGH(spec proc.Spec) (proc.Result, error) {
	file, err := os.ReadFile(spec.Args[4])
	if err != nil {
		return proc.Result{}, err
	}
	through := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(spec.Dir, "s"))
	}}}
	ask := func(query string, vars map[string]any, into any) error {
		body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
		if err != nil {
			return err
		}
		resp, err := through.Post("http://api.github.com/graphql", "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(into)
	}
	var found struct {
		Data struct {
			Repository struct{ PullRequest struct{ ID string } }
		}
	}
	var number int
	if _, err := fmt.Sscan(spec.Args[2], &number); err != nil {
		return proc.Result{}, err
	}
	err = ask(`query PullRequestByNumber($number: Int!) { repository(owner: "acme", name: "widgets") { pullRequest(number: $number) { id } } }`, map[string]any{"number": number}, &found)
	if err != nil {
		return proc.Result{}, err
	}
	var made struct {
		Data struct {
			AddComment struct {
				CommentEdge struct{ Node struct{ URL string } }
			}
		}
	}
	err = ask(`mutation CommentCreate($input: AddCommentInput!) { addComment(input: $input) { commentEdge { node { url } } } }`,
		map[string]any{"input": map[string]any{"subjectId": found.Data.Repository.PullRequest.ID, "body": string(file)}}, &made)
	return proc.Result{Stdout: []byte(made.Data.AddComment.CommentEdge.Node.URL + "\n")}, err
}

// crowd is how many pull requests are reviewed at once.
const crowd = 100

// A hundred pull requests at once, each with two reports, a review, answers in three threads and two statuses, stay within what GitHub
// allows by its own clock: 80 requests a minute that create content and 500 an hour, one at a time and a second apart (threats.md T242).
// Nothing is lost by it, nothing is made twice, and what waited long is asked again whether it is still wanted.
func TestCrowd(t *testing.T) {
	b := newBench(t)
	pulls := make([]*forge.PullRequest, crowd)
	for i := range pulls {
		var err error
		if pulls[i], err = b.Open(forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 100 + i, Title: "Turn faster", Author: "contributor"}); err != nil {
			t.Fatal(err)
		}
		pulls[i].AddThread(forge.Thread{Path: "main.go", Line: 1, Comments: []*forge.Comment{{Author: "octocat", Body: note(t, fmt.Sprint("thread-", i)).String()}}})
	}
	synctest.Test(t, func(t *testing.T) {
		b.t = t
		b.furnish()
		defer b.close()
		c := b.client(t)
		c.Through(b.world, func(_ context.Context, spec proc.Spec) (res proc.Result, err error) {
			b.out.do(func() { res, err = likeGH(spec) })
			return res, err
		})
		me, err := c.Viewer(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		before, from, began := b.things(), len(b.Log()), time.Now()
		var mu sync.Mutex
		var claims []history.Claim
		again := 0
		var all sync.WaitGroup
		for i, p := range pulls {
			all.Go(func() {
				run, target := fmt.Sprint("run-", i), review.Target{Repo: widgets, PR: p.Number}
				if err := b.store.CreateRun(t.Context(), store.Run{ID: run, Target: target}); err != nil {
					t.Error(err)
					return
				}
				lease, err := b.store.Lease(t.Context(), target.String(), run, 100*time.Hour)
				if err != nil {
					t.Error(err)
					return
				}
				asked := 0
				d := effects.Delivery{Outbox: leased{b.store, lease}, Sleep: sleep, Overtaken: func(context.Context) (string, error) { asked++; return "", nil }}
				sent := b.everything(c, p, i)
				for n, one := range sent {
					e := effects.Effect{Key: fmt.Sprint(run, "/", n), Nonce: one.nonce, Run: run, Target: target, Head: one.head, Payload: one.payload, As: me, Since: began.Add(-time.Minute)}
					if _, err := d.Deliver(t.Context(), one.kind, e); err != nil {
						t.Errorf("%s of %d: %v", one.kind.Name(), p.Number, err)
					}
				}
				entries, err := b.store.Outbox(t.Context(), run)
				if err := errors.Join(err, lease.Release(t.Context())); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				again += asked - len(sent)
				for _, entry := range entries {
					claims = append(claims, history.Claim{Kind: entry.Kind, Payload: entry.Payload, Head: entry.Head, Done: entry.State == store.StateAcked, Ref: entry.Ref})
				}
			})
		}
		all.Wait()
		h := history.History{Log: b.Log()[from:], Login: "octocat", Claims: claims, Before: before, After: b.things()}
		for _, breach := range h.Check() {
			t.Error(breach)
		}
		minute, hour, created := h.Created(time.Minute), h.Created(time.Hour), h.Created(1000*time.Hour)
		if created != crowd*6 || minute > 80 || hour > 500 {
			t.Errorf("%d requests that create content, %d of them within a minute and %d within an hour", created, minute, hour)
		}
		if again == 0 {
			t.Error("nobody was asked after a wait")
		}
		t.Logf("%d pull requests, %d requests that create content in %s: at most %d within a minute and %d within an hour; %d were asked for again after a wait",
			crowd, created, time.Since(began).Round(time.Second), minute, hour, again)
	})
}

// sending is one effect of a pull request.
type sending struct {
	kind                 effects.Kind
	nonce, payload, head string
}

// everything is what a pull request gets.
func (b *bench) everything(c *github.Client, p *forge.PullRequest, i int) (all []sending) {
	head := ""
	b.out.do(func() { head = p.HeadSHA() })
	number := 0
	next := func() string { number++; return fmt.Sprintf("%032x-1", i*100+number) }
	add := func(k effects.Kind, payload func(nonce string) (string, error)) {
		nonce := next()
		text, err := payload(nonce)
		if err != nil {
			b.t.Error(err)
		}
		all = append(all, sending{k, nonce, text, head})
	}
	status := func(text string) {
		add(effects.Status{Statuses: c, Policy: policy}, func(string) (string, error) {
			return effects.CommitStatus{State: review.GatePending, Description: text, Target: "https://github.com/acme/widgets/pull/7"}.Payload(), nil
		})
	}
	report := func() {
		add(effects.Comment{Poster: c, Key: markerKey, Policy: policy, Sleep: sleep}, func(nonce string) (string, error) {
			return comment(b.t, strings.TrimSuffix(nonce, "-1"), p.Number), nil
		})
	}
	status("Reviewing")
	report()
	add(effects.Review{Reviewer: c, Key: markerKey, Policy: policy, Sleep: sleep}, func(nonce string) (string, error) {
		return effects.ReviewPayload(note(b.t, nonce), nil)
	})
	first := p.Threads()[0].Comments[0].ID
	for range 3 {
		add(effects.Reply{Replier: c, Key: markerKey, Policy: policy, Sleep: sleep}, func(nonce string) (string, error) {
			return effects.ReplyPayload(first, note(b.t, nonce))
		})
	}
	report()
	status("Done")
	return all
}
