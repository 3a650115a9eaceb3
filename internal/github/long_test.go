package github

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Of a long text the beginning is kept with its secrets masked: what tells them for some may stand behind it, and none is cut in two (threats.md T793).
func TestBeginningsAreMasked(t *testing.T) {
	t.Parallel()
	k := &keeper{c: client(t, forgetest.Start(t), Options{})}
	more := strings.Repeat("    note: nothing to see here\n", 40)
	for name, body := range map[string]string{
		"a Secret":    "apiVersion: v1\ndata:\n  smtp: UTdyMlhtOXZMNHpUMXdLOHBOM2NZNmhC\nmetadata:\n  annotations:\n" + more + "kind: Secret\n",
		"a cut token": "look " + strings.Repeat("and look ", 55) + "UTdyMlhtOXZMNHpUMXdLOHBOM2NZNmhC\n" + more,
	} {
		got, err := k.text(t.Context(), review.Person{Login: "stranger"}, body)
		if err != nil || strings.Contains(got, "UTdyMl") || len(got) < 70 || !strings.HasSuffix(got, sanitize.TruncatedComment) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if k.cut != 2 {
		t.Errorf("%d are cut", k.cut)
	}
}

// A stranger fills threads, reviews and the timeline with the longest texts that GitHub takes, more than one answer may have. All is read, in smaller pages; what
// prloop, the author and who may block wrote is whole, and of the stranger's texts some have their beginning alone (threats.md T378).
func TestLongTextsOfStrangers(t *testing.T) {
	t.Parallel()
	f, p, repo := open(t)
	repo.SetPermission("octocat", forge.Read)
	body := strings.Repeat("\u2028", 65_536) // six bytes each, as JSON has it
	report, word, answer := "report "+strings.Repeat("r", 60_000), "word "+strings.Repeat("w", 60_000), "answer "+strings.Repeat("a", 10_000)
	for i := range 110 {
		p.Comment("stranger", fmt.Sprint(i, body))
		p.AddReview(forge.Review{Author: "stranger", State: "COMMENTED", Body: body})
		if i%10 == 0 {
			th := forge.Thread{Path: "main.go", Line: 1}
			for range 11 {
				th.Comments = append(th.Comments, &forge.Comment{Author: "stranger", Body: body})
			}
			th.Comments = append(th.Comments, &forge.Comment{Author: "octocat", Body: report}, &forge.Comment{Author: "contributor", Body: answer})
			p.AddThread(th)
		}
	}
	p.Comment("octocat", report)
	p.Comment("acme", word)
	p.Comment("passer-by", "short")
	p.AddReview(forge.Review{Author: "acme", State: "CHANGES_REQUESTED", Body: word})
	c := client(t, f, Options{})
	pr := readPull(t, c)
	d, err := c.Discussion(t.Context(), pr)
	if err != nil || d.Truncated || len(d.Threads) != 11 || len(d.Reviews) != 111 || len(d.Comments) != 113 {
		t.Fatalf("%d threads, %d reviews, %d comments, truncated %v, %v", len(d.Threads), len(d.Reviews), len(d.Comments), d.Truncated, err)
	}
	size, cut := 0, 0
	count := func(where, by, said string, want map[string]string) {
		t.Helper()
		size += len(said)
		if strings.HasSuffix(said, sanitize.TruncatedComment) && by == "stranger" {
			cut++
		}
		if whole := want[by]; whole != "" && said != whole {
			t.Errorf("%s: %s wrote %d bytes, %d are kept", where, by, len(whole), len(said))
		}
	}
	for _, th := range d.Threads {
		if len(th.Comments) != 13 {
			t.Errorf("a thread has %d comments", len(th.Comments))
		}
		for _, m := range th.Comments {
			count("thread", m.Author.Login, m.Body, map[string]string{"octocat": report, "contributor": answer})
		}
	}
	for _, r := range d.Reviews {
		count("review", r.Author.Login, r.Body, map[string]string{"acme": word})
	}
	for i, m := range d.Comments {
		count("timeline", m.Author.Login, m.Body, map[string]string{"octocat": report, "acme": word, "passer-by": "short"})
		if begins := fmt.Sprint(i, "\u2028"); i < 110 && !strings.HasPrefix(m.Body, begins) {
			t.Errorf("comment %d begins with %.8q", i, m.Body)
		}
	}
	if cut != d.Cut || cut < 250 || cut > 340 || size > 6<<20 {
		t.Errorf("%d texts are cut, %d are said to be; %d bytes are kept", cut, d.Cut, size)
	}
	since, err := c.CommentsSince(t.Context(), pr, time.Time{})
	if err != nil || len(since) != 113 || since[110].Body != report || since[111].Body != word || since[112].Body != "short" {
		t.Errorf("%d comments, %v", len(since), err)
	}
	all, _, err := c.NewComments(t.Context(), widgets, time.Now().Add(-time.Hour))
	if err != nil || len(all) != 113 || all[112].Body != "short" {
		t.Errorf("%d comments of the repository, %v", len(all), err)
	}
	reviews, err := c.Reviews(t.Context(), pr)
	if err != nil || len(reviews) != 111 || reviews[110].Body != word {
		t.Errorf("%d reviews, %v", len(reviews), err)
	}
}

// Strangers' pull requests with the longest descriptions keep nobody from listing those of the repository (threats.md T378).
func TestLongDescriptions(t *testing.T) {
	t.Parallel()
	f, _, _ := open(t)
	for n := 8; n < 98; n++ {
		forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: n, HeadRef: "topic", Author: "stranger", Body: strings.Repeat("\u2028", 65_536)})
	}
	pulls, err := client(t, f, Options{}).OpenPulls(t.Context(), review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"})
	if err != nil || len(pulls) != 91 {
		t.Errorf("%d pull requests, %v", len(pulls), err)
	}
}
