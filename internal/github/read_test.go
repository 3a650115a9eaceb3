package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/review"
)

func TestPullRequest(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"github.com", "ghe.example.com"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			f, p, _ := open(t)
			c := client(t, f, Options{Host: host})
			pr := readPull(t, c)
			want := review.PullRequest{
				Repo: review.Repo{Host: host, Owner: "acme", Name: "widgets"}, RepoID: pr.RepoID, Number: 7, URL: "https://" + host + "/acme/widgets/pull/7",
				NodeID: pr.NodeID, Title: "Turn faster", Body: "Because.", State: "OPEN", Author: review.Person{Login: "contributor", ID: pr.Author.ID, Association: "NONE"},
				BaseRef: "main", BaseSHA: p.BaseSHA(), HeadRef: "topic", HeadSHA: p.HeadSHA(),
				HeadRepo: review.Repo{Host: host, Owner: "contributor", Name: "widgets"}, CrossRepository: true, MaintainerCanModify: true,
				Labels: []string{"prloop"}, Labelled: map[string]string{}, ChangedFiles: 1, Additions: 2, Deletions: 0, UpdatedAt: pr.UpdatedAt,
			}
			if diff := cmp.Diff(want, pr); diff != "" {
				t.Error(diff)
			}
			id, name, err := c.RepositoryID(t.Context(), review.Repo{Host: host, Owner: "Acme", Name: "widgets"})
			if err != nil || id != pr.RepoID || id == 0 || name != "acme/widgets" {
				t.Errorf("the repository: %d %q, %v; the pull request's is %d", id, name, err, pr.RepoID)
			}
			if odd, err := c.PullRequest(t.Context(), review.Repo{Host: host, Owner: "Acme", Name: "WIDGETS"}, 7); err != nil || odd.Repo != want.Repo {
				t.Errorf("in another case: %+v, %v; want it as GitHub spells it", odd.Repo, err)
			}
			if pr.NodeID == "" || pr.Author.ID == 0 || pr.UpdatedAt.IsZero() {
				t.Errorf("ids and dates are missing: %+v", pr)
			}
			p.DropFork()
			if pr := readPull(t, c); pr.HeadRepo != (review.Repo{}) || !pr.CrossRepository {
				t.Errorf("with the fork gone: %+v", pr)
			}
		})
	}
}

// TestDiscussionIsWhole reads more than a page of everything, nested pages included.
func TestDiscussionIsWhole(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	submitted := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for i := range 60 {
		th := forge.Thread{Path: "main.go", Line: i + 1, Resolved: i%2 == 0, Outdated: i == 5}
		n := 1
		if i == 7 {
			n = 120
		}
		for j := range n {
			th.Comments = append(th.Comments, &forge.Comment{Author: "contributor", Body: fmt.Sprintf("thread %d comment %d", i, j), Created: submitted.Add(-time.Hour)})
		}
		if i == 9 {
			th.Comments[0].Published = submitted
		}
		p.AddThread(th)
	}
	for i := range 130 {
		p.AddReview(forge.Review{Author: "acme", State: "CHANGES_REQUESTED", Body: fmt.Sprint("review ", i)})
	}
	for i := range 3000 {
		p.Comment("helper[bot]", fmt.Sprint("comment ", i))
	}
	c := client(t, f, Options{})
	d, err := c.Discussion(t.Context(), readPull(t, c))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Threads) != 60 || len(d.Reviews) != 130 || len(d.Comments) != 3000 || d.Truncated {
		t.Fatalf("%d threads, %d reviews, %d comments, truncated %v", len(d.Threads), len(d.Reviews), len(d.Comments), d.Truncated)
	}
	for i := range d.Comments {
		if d.Comments[i].Body != fmt.Sprint("comment ", i) {
			t.Fatalf("comment %d is %q", i, d.Comments[i].Body)
		}
	}
	if who := d.Comments[0].Author; who.Login != "helper[bot]" || !who.Bot || who.ID == 0 {
		t.Errorf("the bot is %+v", who)
	}
	if n := len(d.Threads[7].Comments); n != 120 || d.Threads[7].Comments[119].Body != "thread 7 comment 119" {
		t.Errorf("thread 7 has %d comments", n)
	}
	if drafted, said := d.Threads[9].Comments[0].CreatedAt, d.Threads[8].Comments[0].CreatedAt; !drafted.Equal(submitted) || !said.Equal(submitted.Add(-time.Hour)) {
		t.Errorf("a drafted comment is of %s, another of %s", drafted, said)
	}
	if d.Threads[5].Line != nil || !d.Threads[5].Outdated || d.Threads[6].Line == nil || *d.Threads[6].Line != 7 || !d.Threads[6].Resolved {
		t.Errorf("threads 5 and 6 are %+v and %+v", d.Threads[5], d.Threads[6])
	}
	if r := d.Reviews[129]; r.State != "CHANGES_REQUESTED" || r.Author.Association != "OWNER" || r.Commit == "" || r.SubmittedAt.IsZero() {
		t.Errorf("the last review is %+v", r)
	}
}

// Who opened the pull request is the author all the same in a discussion that is read after they gave their account another name (threats.md T798).
func TestDiscussionAfterTheAuthorWasRenamed(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	p.AddThread(forge.Thread{Path: "sum.go", Line: 2, Resolved: true, ResolvedBy: "contributor", Comments: []*forge.Comment{{Author: "contributor", Body: "Name?"}, {Author: "octocat", Body: "P1: No."}}})
	p.AddReview(forge.Review{Author: "contributor", State: "COMMENTED", Body: "So."})
	p.Comment("contributor", "Hello.")
	c := client(t, f, Options{})
	pr := readPull(t, c)
	pr.Author.Login = "before"
	d, err := c.Discussion(t.Context(), pr)
	if err != nil {
		t.Fatal(err)
	}
	thread := d.Threads[0]
	for what, got := range map[string]review.Person{"resolved": *thread.ResolvedBy, "began": thread.Comments[0].Author, "reviewed": d.Reviews[0].Author, "said": d.Comments[0].Author} {
		if got.Login != "before" {
			t.Errorf("who %s is %+v", what, got)
		}
	}
	if got := thread.Comments[1].Author.Login; got != "octocat" {
		t.Error(got)
	}
}

func TestDiscussionBounds(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		change func(*bounds)
	}{
		{"too many threads", func(b *bounds) { b.threads = 50 }},
		{"too many comments in a thread", func(b *bounds) { b.threadComments = 50 }},
		{"too many reviews", func(b *bounds) { b.reviews = 100 }},
		{"too many comments", func(b *bounds) { b.comments = 100 }},
		{"too much text", func(b *bounds) { b.bytes = 100 }},
	}
	f, p, _ := open(t)
	for i := range 51 {
		th := forge.Thread{Path: "main.go", Line: 1}
		for range 1 + i%2*50 {
			th.Comments = append(th.Comments, &forge.Comment{Author: "acme", Body: "hello"})
		}
		p.AddThread(th)
	}
	for range 101 {
		p.AddReview(forge.Review{Author: "acme", State: "COMMENTED"})
		p.Comment("acme", "hello")
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			c := client(t, f, Options{})
			row.change(&c.bounds)
			d, err := c.Discussion(t.Context(), readPull(t, c))
			if err != nil || !d.Truncated {
				t.Errorf("truncated %v, %v", d.Truncated, err)
			}
		})
	}
}

func TestListsThatShift(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	for i := range 250 {
		p.Comment("acme", fmt.Sprint(i))
	}
	c := client(t, f, Options{})
	pr := readPull(t, c)
	for _, mode := range []forge.Mode{forge.DuplicateItems, forge.PageDrift} {
		f.Heal()
		f.Fail(forge.Fault{Op: "*", Mode: mode, Skip: 1})
		got, err := c.CommentsSince(t.Context(), pr, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]int{}
		for _, m := range got {
			have[m.Body]++
		}
		for i := range 250 {
			if have[fmt.Sprint(i)] != 1 {
				t.Errorf("%s: comment %d came %d times", mode, i, have[fmt.Sprint(i)])
			}
		}
		d, err := c.Discussion(t.Context(), pr)
		if err != nil || len(d.Comments) < 250 {
			t.Errorf("%s: %d comments in the discussion, %v", mode, len(d.Comments), err)
		}
	}
}

func TestCommentsSince(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	p.Comment("octocat", "<!-- nonce -->")
	c := client(t, f, Options{})
	pr := readPull(t, c)
	got, err := c.CommentsSince(t.Context(), pr, time.Now().Add(-time.Minute))
	if err != nil || len(got) != 1 || got[0].Body != "<!-- nonce -->" || got[0].Author.Login != "octocat" || got[0].Author.ID == 0 || got[0].DatabaseID == 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	viewer, err := c.Viewer(t.Context(), "github.com")
	if err != nil || viewer.ID != got[0].Author.ID {
		t.Errorf("the viewer is %+v, %v", viewer, err)
	}
	if got, err = c.CommentsSince(t.Context(), pr, time.Now().Add(time.Minute)); err != nil || len(got) != 0 {
		t.Errorf("in the future: %+v, %v", got, err)
	}
}

func TestPermission(t *testing.T) {
	t.Parallel()
	f, _, repo := open(t)
	c := client(t, f, Options{})
	repo.SetPermission("keeper", forge.Maintain)
	for login, want := range map[string]string{"acme": "admin", "keeper": "maintain", "octocat": "write", "contributor": "read"} {
		if got, err := c.Permission(t.Context(), widgets, login); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", login, got, err, want)
		}
	}
	if _, err := c.Permission(t.Context(), widgets, "nobody-knows"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a user who does not exist: %v", err)
	}
	repo.SetPermission("octocat", forge.Read) // the permission is dropped while we look
	if _, err := c.Permission(t.Context(), widgets, "keeper"); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "push access") {
		t.Errorf("a reader asks: %v", err)
	}
}

func TestCanComment(t *testing.T) {
	t.Parallel()
	f, p, repo := open(t)
	c := client(t, f, Options{})
	rows := []struct {
		name   string
		change func()
		want   error
	}{
		{"an open pull request takes comments", func() {}, nil},
		{"a draft too", func() { p.SetDraft(true) }, nil},
		{"a locked one from writers", func() { p.Lock() }, nil},
		{"a locked one not from readers", func() { repo.SetPermission("octocat", forge.Read) }, ErrLocked},
		{"a closed one is not reviewed", func() { p.SetState("CLOSED") }, ErrClosed},
		{"nor a merged one", func() { p.SetState("MERGED") }, ErrClosed},
	}
	for _, row := range rows {
		row.change()
		if err := c.CanComment(t.Context(), readPull(t, c)); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	f, _, repo := open(t)
	c := client(t, f, Options{MaxWait: 10 * time.Second})
	ctx := t.Context()
	if _, err := c.PullRequest(ctx, widgets, 8); !errors.Is(err, ErrNotFound) {
		t.Errorf("no such pull request: %v", err)
	}
	if _, err := c.PullRequest(ctx, review.Repo{Owner: "acme", Name: "nothing"}, 7); !errors.Is(err, ErrNotFound) {
		t.Errorf("no such repository: %v", err)
	}
	rows := []struct {
		mode  forge.Mode
		times int // 0 is for ever
		want  error
	}{
		{forge.BadGateway, 2, nil},
		{forge.InternalError, 3, nil},
		{forge.Unavailable, 0, ErrUnavailable},
		{forge.ResetBefore, 1, nil},
		{forge.ResetAfter, 2, nil},
		{forge.TruncatedJSON, 1, nil},
		{forge.TruncatedJSON, 0, ErrBadAnswer},
		{forge.HTML, 1, nil},
		{forge.HTML, 0, ErrBadAnswer},
		{forge.GraphQLErrors, 2, nil},
		{forge.GzipBomb, 0, ErrBadAnswer},
		{forge.RedirectElsewhere, 0, ErrMoved},
		{forge.Unauthorized, 0, ErrNotLoggedIn},
		{forge.Forbidden, 0, ErrForbidden},
		{forge.SecondaryLimit, 0, ErrRateLimited},
		{forge.SecondaryLimitWait, 0, ErrRateLimited},
		{forge.PrimaryLimit, 0, ErrRateLimited},
		{forge.NotFound, 0, ErrNotFound},
		{forge.SlowBody, 0, nil},
	}
	for _, row := range rows {
		f.Heal()
		c.limits.forget() // each row is a process of its own
		f.Fail(forge.Fault{Op: "PullRequest", Mode: row.mode, Times: row.times, After: 40 * time.Second * time.Duration(1-row.times%2)})
		if row.mode == forge.SlowBody {
			f.Heal()
			f.Fail(forge.Fault{Op: "PullRequest", Mode: row.mode, After: 100 * time.Millisecond})
		}
		_, err := c.PullRequest(ctx, widgets, 7)
		if !errors.Is(err, row.want) {
			t.Errorf("%s, %d times: %v, want %v", row.mode, row.times, err, row.want)
		}
	}
	f.Heal()
	c.limits.forget()
	repo.Rename("acme", "gadgets")
	_, err := c.PullRequest(ctx, widgets, 7)
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrMoved) || e.Needs != "acme/gadgets" {
		t.Errorf("a renamed repository: %v", err)
	}
}

// TestFreshlyMade is threats.md T59: right after a pull request was seen, a 404 is GitHub lagging behind.
func TestFreshlyMade(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	p.Comment("acme", "hello")
	c := client(t, f, Options{})
	pr := readPull(t, c)
	f.Fail(forge.Fault{Op: "*", Mode: forge.NotFound, Times: 2})
	if got, err := c.CommentsSince(t.Context(), pr, time.Time{}); err != nil || len(got) != 1 {
		t.Errorf("%d comments, %v", len(got), err)
	}
}

// TestWaitsAsToldTo is threats.md P13: no request before the time GitHub asked for.
func TestWaitsAsToldTo(t *testing.T) {
	t.Parallel()
	f, _, _ := open(t)
	c := client(t, f, Options{})
	for _, mode := range []forge.Mode{forge.SecondaryLimitWait, forge.PrimaryLimit} {
		f.Heal()
		before := len(f.Log())
		f.Fail(forge.Fault{Op: "PullRequest", Mode: mode, Times: 1, After: 2 * time.Second})
		readPull(t, c)
		log := f.Log()[before:]
		if len(log) != 2 {
			t.Fatalf("%s: %d requests, want 2", mode, len(log))
		}
		if wait := log[1].At.Sub(log[0].At); wait < time.Second || wait > 10*time.Second { // a reset is a whole second, rounded down
			t.Errorf("%s: the second request came after %s", mode, wait)
		}
	}
	f.Heal()
	f.Fail(forge.Fault{Op: "PullRequest", Mode: forge.SecondaryLimitWait, After: time.Hour})
	started := time.Now()
	_, err := c.PullRequest(t.Context(), widgets, 7)
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrRateLimited || time.Until(e.Until) < 59*time.Minute || time.Since(started) > 10*time.Second {
		t.Errorf("an hour's wait: %v after %s", err, time.Since(started))
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	f, _, _ := open(t)
	c := client(t, f, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the person pressed a key")
	f.Fail(forge.Fault{Op: "PullRequest", Mode: forge.SlowBody, After: time.Minute, Do: func() { cancel(reason) }})
	if _, err := c.PullRequest(ctx, widgets, 7); !errors.Is(err, reason) {
		t.Errorf("got %v, want the cause", err)
	}
}
