package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// bearing is GitHub that has reviews already.
type bearing struct {
	*picky
	reviews []review.Comment
	hidden  []string
}

func (b *bearing) Reviews(context.Context, review.PullRequest) ([]review.Comment, error) {
	return b.reviews, nil
}

func (b *bearing) Minimize(_ context.Context, _ review.PullRequest, id string) (string, error) {
	b.hidden = append(b.hidden, id)
	return id, nil
}

// What another run left of the answer to the same line of a comment, under the same account, is found: its comments on lines are not made again, and its parts
// are collapsed once the whole answer stands. What answers another line, is somebody else's or this run's own is let be.
func TestLeftovers(t *testing.T) {
	asked := review.Asked{Comment: 9, Line: 1, URL: "https://github.com/o/r/pull/7#issuecomment-9", By: "mona"}
	comment := func(run, line string, part, parts int) string {
		m := sanitize.Marker{Run: run, Round: 1, Command: "asked/sec", Part: part, Parts: parts, Nonce: strings.Repeat("a", 32), Asked: line, RepoID: "github.com/o/r", PR: 7, Key: []byte(strings.Repeat("k", 32))}
		texts, err := sanitize.Comment("Words.", m, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return texts[0].String()
	}
	const dead = "20260101T000000.000Z_0123456789abcdef"
	for _, c := range []struct {
		what          string
		review, part  string // bodies of a review and of a comment that stand there
		theirs        bool
		lines, hidden int
	}{
		{"nothing", "", "", false, 1, 0},
		{"lines of a run that died", comment(dead, asked.Key(), 1, 2), "", false, 0, 0},
		{"a part of its answer", "", comment(dead, asked.Key(), 1, 2), false, 1, 1},
		{"both", comment(dead, asked.Key(), 1, 2), comment(dead, asked.Key(), 1, 2), false, 0, 1},
		{"those of another line", comment(dead, "9.2", 1, 2), comment(dead, "9.2", 1, 1), false, 1, 0},
		{"somebody else's", comment(dead, asked.Key(), 1, 2), comment(dead, asked.Key(), 1, 2), true, 1, 0},
	} {
		in := commandInputs(review.BothComments, foundAt(review.P2, 2, "Two is bad"))
		in.Request.Asked = &asked
		in.Request.Agents[0].Command.Place = review.PlaceComment
		w := &bearing{picky: &picky{world: &world{now: time.Unix(1_800_000_000, 0), head: headSHA}}}
		l := w.loop()
		l.Reviewer, l.Minimizer = w, w
		drawn := 0
		l.Nonce = func() string { drawn++; return fmt.Sprintf("%032x", drawn) }
		author := w.account()
		if c.theirs {
			author = review.Person{Login: "mallory", ID: 666}
		}
		if c.review != "" {
			w.reviews = []review.Comment{{ID: "R_1", URL: "https://github.com/o/r/pull/7#pullrequestreview-1", Author: author, Body: c.review}}
		}
		if c.part != "" {
			w.add(c.part)
			w.comments[len(w.comments)-1].Author = author
		}
		before := len(w.comments)
		if _, overtaken, err := l.publishCommand(t.Context(), inline{}, in, in.Reports[0]); err != nil || overtaken != "" {
			t.Fatalf("%s: %v, %q", c.what, err, overtaken)
		}
		if len(w.sent) != c.lines || len(w.comments) != before+1 || len(w.hidden) != c.hidden {
			t.Errorf("%s: %d reviews, %d comments, %d collapsed", c.what, len(w.sent), len(w.comments)-before, len(w.hidden))
		}
		answer := w.comments[len(w.comments)-1].Body
		if names := strings.Contains(answer, "its [comments on lines](https://github.com/o/r/pull/7#pullrequestreview-1) stand"); names != (c.lines == 0) || names != strings.Contains(answer, "#### P2: Two is bad") {
			t.Errorf("%s: the answer says\n%s", c.what, answer)
		}
	}
}
