package github

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// The open pull requests of a repository and its new comments are listed over all pages, each once, also when a list moves meanwhile.
func TestWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"github.com", "ghe.example.com"} {
		f, p, at := open(t)
		at.SetPermission("mona", forge.Write)
		c := client(t, f, Options{Host: host})
		repo := review.Repo{Host: host, Owner: "acme", Name: "widgets"}
		forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 8, Draft: true, HeadRef: "other", Head: tree("package main // 8\n")})
		closed := forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 9, HeadRef: "third", Head: tree("package main // 9\n")})
		closed.SetState("CLOSED")
		for _, mode := range []forge.Mode{"", forge.DuplicateItems} {
			if mode != "" {
				f.Fail(forge.Fault{Op: "GET /repos/{owner}/{repo}/pulls", Mode: mode, Times: 1})
			}
			pulls, err := c.OpenPulls(t.Context(), repo)
			var got []string
			for _, p := range pulls {
				got = append(got, fmt.Sprintf("%d %s %v %v %s", p.Number, p.State, p.Draft, p.Labels, p.BaseRef))
			}
			slices.Sort(got)
			if err != nil || strings.Join(got, ", ") != "7 OPEN false [prloop] main, 8 OPEN true [] main" || !slices.ContainsFunc(pulls, func(q review.PullRequest) bool { return q.HeadSHA == p.HeadSHA() }) {
				t.Errorf("%s, %v", got, err)
			}
		}
		listed := func() (r review.PullRequest) {
			pulls, err := c.OpenPulls(t.Context(), repo)
			if err != nil {
				t.Fatal(err)
			}
			return pulls[slices.IndexFunc(pulls, func(q review.PullRequest) bool { return q.Number == 7 })]
		}
		standing := func() string {
			pr, err := c.PullRequest(t.Context(), repo, 7)
			if err != nil {
				t.Fatal(err)
			}
			return pr.Standing
		}
		before := listed().UpdatedAt
		p.AddReview(forge.Review{Author: "mona", State: "COMMENTED", Body: "Hm."})
		p.AddReview(forge.Review{Author: "stranger", State: "APPROVED", Body: "Yes."})
		if s := standing(); s != "" || before.IsZero() {
			t.Errorf("nobody decided anything, and %q stands; updated at %v", s, before)
		}
		p.AddReview(forge.Review{Author: "mona", State: "CHANGES_REQUESTED", Body: "No.", Submitted: time.Now().Add(time.Hour)})
		if s := standing(); !strings.HasSuffix(s, " CHANGES_REQUESTED ") {
			t.Errorf("%q stands", s)
		}
		if after := listed().UpdatedAt; after.Before(before) {
			t.Errorf("a review makes it older: %v, %v", before, after)
		}
		for i := range 120 {
			p.Comment("mona", fmt.Sprint("comment ", i))
		}
		closed.Comment("mona", "!prloop help")
		all, _, err := c.NewComments(t.Context(), repo, time.Now().Add(-time.Hour))
		if err != nil || len(all) != 121 || all[0].Number != 7 || all[120].Number != 9 || !all[120].PullRequest || all[120].Body != "!prloop help" || all[0].DatabaseID == 0 {
			t.Errorf("%d comments, %v", len(all), err)
		}
		if all, _, err = c.NewComments(t.Context(), repo, time.Now().Add(time.Hour)); err != nil || len(all) != 0 {
			t.Errorf("%d comments of the future, %v", len(all), err)
		}
	}
}

// Each person's newest review that approves or requests changes counts, as on GitHub, of whoever may write, also of a member whose membership is private (threats.md T493),
// and of members who may not write. Nobody is asked about, and however many reviews of strangers there are, they hide none (threats.md T528).
func TestWhoseReviewsStand(t *testing.T) {
	t.Parallel()
	f, p, at := open(t)
	c := client(t, f, Options{})
	for _, login := range []string{"mona", "lisa", "joe"} {
		at.SetPermission(login, forge.Maintain)
	}
	at.Conceal("lisa")
	before := len(f.Log())
	rows := []struct {
		by, association, state string
		times                  int
		refused                bool
		stand                  int
	}{
		{"joe", "COLLABORATOR", "APPROVED", 1, false, 1},
		{"nobody", "NONE", "CHANGES_REQUESTED", 1, false, 1},
		{"lisa", "CONTRIBUTOR", "CHANGES_REQUESTED", 1, true, 2},
		{"joe", "COLLABORATOR", "APPROVED", 1, true, 2},
		{"nobody", "NONE", "APPROVED", 120, true, 2},
		{"mona", "COLLABORATOR", "CHANGES_REQUESTED", 1, true, 3},
		{"lisa", "CONTRIBUTOR", "APPROVED", 1, true, 3},
		{"joe", "COLLABORATOR", "APPROVED", 1, true, 3},
		{"mona", "COLLABORATOR", "COMMENTED", 1, true, 3},
		{"mona", "COLLABORATOR", "DISMISSED", 1, false, 2},
		{"reader", "MEMBER", "CHANGES_REQUESTED", 1, true, 3},
	}
	for i, row := range rows {
		for range row.times {
			p.AddReview(forge.Review{Author: row.by, Association: row.association, State: row.state, Body: "So."})
		}
		was, err := c.PullRequest(t.Context(), widgets, 7)
		if err != nil || was.Refused != row.refused || len(strings.Fields(was.Standing)) != 2*row.stand {
			t.Errorf("%d, %s by %s: refused %v, %q stands, %v", i, row.state, row.by, was.Refused, was.Standing, err)
		}
	}
	if n := len(f.Log()) - before; n != len(rows) {
		t.Errorf("%d requests for %d pull requests", n, len(rows))
	}
}

// One 404 about who may write is no answer, and that somebody was not found is not kept (threats.md T529).
func TestOneNotFoundIsNoAnswer(t *testing.T) {
	t.Parallel()
	f, _, at := open(t)
	at.SetPermission("lisa", forge.Maintain)
	c := client(t, f, Options{})
	for _, times := range []int{1, readTries} {
		f.Fail(forge.Fault{Op: "GET /repos/{owner}/{repo}/collaborators/{username}/permission", Mode: forge.NotFound, Times: times})
		if may, err := c.Writes(t.Context(), widgets, "lisa"); err != nil || may != (times == 1) {
			t.Errorf("not found %d times: %v, %v", times, may, err)
		}
		c = client(t, f, Options{})
	}
	f.Fail(forge.Fault{Op: "GET /repos/{owner}/{repo}/collaborators/{username}/permission", Mode: forge.NotFound, Times: readTries})
	for _, want := range []bool{false, true} {
		if may, err := c.Writes(t.Context(), widgets, "lisa"); err != nil || may != want {
			t.Errorf("%v, %v", may, err)
		}
	}
}

// Of more comments than are read at once the first are given, with the time from which the rest are read the next time.
func TestNewCommentsOfAFlood(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	for i := range sinceLimit + 50 {
		p.Comment("mona", fmt.Sprint("build ", i, " passed"))
	}
	c, since := client(t, f, Options{Host: "github.com"}), time.Now().Add(-time.Hour)
	all, until, err := c.NewComments(t.Context(), widgets, since)
	if err != nil || len(all) != sinceLimit || !until.Equal(all[len(all)-1].UpdatedAt) || all[0].Body != "build 0 passed" {
		t.Errorf("%d comments up to %s, %v", len(all), until, err)
	}
}

// Of the open pull requests those that changed last come first, and one page of them (threats.md T463).
func TestTheLatestPulls(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c, repo := client(t, f, Options{}), review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}
	for n := range manyAtOnce {
		forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 10 + n, HeadRef: fmt.Sprint("topic-", n), Head: tree(fmt.Sprintf("package main // %d\n", n))})
	}
	p.Label("mona", "kind")
	pulls, err := c.LatestPulls(t.Context(), repo)
	if err != nil || len(pulls) != manyAtOnce || !slices.ContainsFunc(pulls, func(q review.PullRequest) bool { return q.Number == 7 && q.HeadSHA == p.HeadSHA() }) {
		t.Errorf("%d, %v", len(pulls), err)
	}
}
