package github

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/sanitize"
)

const (
	reviewRoute = "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews"
	replyRoute  = "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies"
)

// note is a sealed text of a thread.
func note(t *testing.T, body string) sanitize.Text {
	t.Helper()
	m := sanitize.Marker{ReviewID: "4f1c", Run: "run", Round: 1, Part: 1, Parts: 1, RepoID: widgets.String(), PR: 7, Nonce: "n", Key: []byte(strings.Repeat("k", 32))}
	s, err := sanitize.Note(body, []sanitize.Value{{Name: "finding", Text: body}, {Name: "score", Number: 7}}, m, sanitize.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A review with comments on lines, an answer in one of its threads, and the thread resolved and opened again, as people see it.
func TestReview(t *testing.T) {
	for _, host := range []string{"github.com", "ghe.example.com"} {
		t.Run(host, func(t *testing.T) {
			f, p, _ := open(t)
			c := client(t, f, Options{Host: host})
			pr := readPull(t, c)
			lines := []effects.LineComment{{Path: "main.go", Line: 3, Body: note(t, "one")}, {Path: "main.go", Start: 1, Line: 3, Body: note(t, "two")}}
			address, err := c.Review(t.Context(), pr, pr.HeadSHA, note(t, "two findings"), lines)
			if err != nil {
				t.Fatal(err)
			}
			reviews, threads := p.Reviews(), p.Threads()
			if len(reviews) != 1 || reviews[0].State != "COMMENTED" || reviews[0].Body != note(t, "two findings").String() || len(threads) != 2 {
				t.Fatalf("%d reviews and %d threads: %+v", len(reviews), len(threads), reviews)
			}
			if want := fmt.Sprintf("https://%s/acme/widgets/pull/7#pullrequestreview-%d", host, reviews[0].ID); address != want {
				t.Errorf("the address is %s, want %s", address, want)
			}
			if a, b := threads[0], threads[1]; a.Line != 3 || a.StartLine != 0 || b.StartLine != 1 || b.Line != 3 || b.Comments[0].Body != note(t, "two").String() {
				t.Errorf("the threads stand elsewhere: %+v, %+v", a, b)
			}
			listed, err := c.Reviews(t.Context(), pr)
			if err != nil || len(listed) != 1 || listed[0].URL != address || listed[0].Body != reviews[0].Body || listed[0].Author.Login != "octocat" {
				t.Errorf("listed as %+v, %v", listed, err)
			}

			since := time.Now().Add(-time.Hour)
			answer, err := c.Reply(t.Context(), pr, threads[0].Comments[0].ID, note(t, "resolved"))
			if err != nil || !strings.Contains(answer, "#discussion_r") {
				t.Fatalf("answered at %q, %v", answer, err)
			}
			said, err := c.ThreadCommentsSince(t.Context(), pr, since)
			if err != nil || len(said) != 3 || said[1].URL != answer {
				t.Errorf("the threads hold %+v, %v", said, err)
			}
			for _, resolved := range []bool{true, true, false, false} { // each is the same however often it is sent
				do := c.Unresolve
				if resolved {
					do = c.Resolve
				}
				if at, err := do(t.Context(), pr, forge.ThreadID(threads[0].ID)); err != nil || at != said[0].URL || p.Threads()[0].Resolved != resolved {
					t.Errorf("resolved %t: at %q, %v, and it is %t", resolved, at, err, p.Threads()[0].Resolved)
				}
			}
		})
	}
}

// GitHub takes a review whole or not at all, and says which line is to blame (threats.md T156).
func TestReviewIsTakenWhole(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	for what, bad := range map[string]effects.LineComment{
		"a line behind the file":   {Path: "main.go", Line: 99},
		"a file that is not there": {Path: "other.go", Line: 1},
		"a start behind the line":  {Path: "main.go", Start: 3, Line: 2},
	} {
		bad.Body = note(t, "x")
		_, err := c.Review(t.Context(), pr, pr.HeadSHA, note(t, "x"), []effects.LineComment{{Path: "main.go", Line: 3, Body: note(t, "x")}, bad})
		var e *Error
		if !errors.Is(err, effects.ErrMisplaced) || !errors.As(err, &e) || !e.Refused() || len(p.Threads())+len(p.Reviews()) != 0 {
			t.Errorf("%s: %v, and %d threads", what, err, len(p.Threads()))
		}
	}
	p.AddReview(forge.Review{Author: "octocat", State: "PENDING"})
	_, err := c.Review(t.Context(), pr, pr.HeadSHA, note(t, "x"), nil)
	var e *Error
	if !errors.Is(err, ErrPendingReview) || !errors.As(err, &e) || !e.Refused() {
		t.Errorf("a pending review in the way: %v", err)
	}
}

// TestReviewFaults is threats.md T58 for reviews, replies and resolving: one call whatever happens, and Refused only when nothing
// was made for certain.
func TestReviewFaults(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	if _, err := c.Review(t.Context(), pr, pr.HeadSHA, note(t, "first"), []effects.LineComment{{Path: "main.go", Line: 3, Body: note(t, "one")}}); err != nil {
		t.Fatal(err)
	}
	thread := p.Threads()[0]
	made := func() int {
		n := len(p.Reviews())
		for _, t := range p.Threads() {
			n += len(t.Comments)
			if t.Resolved {
				n++
			}
		}
		return n
	}
	for op, do := range map[string]func() error{
		reviewRoute: func() error {
			_, err := c.Review(t.Context(), pr, pr.HeadSHA, note(t, "x"), []effects.LineComment{{Path: "main.go", Line: 3, Body: note(t, "y")}})
			return err
		},
		replyRoute: func() error {
			_, err := c.Reply(t.Context(), pr, thread.Comments[0].ID, note(t, "x"))
			return err
		},
		"ResolveThread": func() error {
			_, err := c.Resolve(t.Context(), pr, forge.ThreadID(thread.ID))
			return err
		},
	} {
		for _, row := range []struct {
			mode          forge.Mode
			want          error
			refused, made bool
		}{
			{forge.Unauthorized, ErrNotLoggedIn, true, false},
			{forge.Forbidden, ErrForbidden, true, false},
			{forge.PrimaryLimit, ErrRateLimited, true, false},
			{forge.SecondaryLimit, ErrRateLimited, true, false},
			{forge.SecondaryLimitWait, ErrRateLimited, true, false},
			{forge.NotFound, ErrNotFound, true, false},
			{forge.Gone, ErrForbidden, true, false},
			{forge.PendingReview, ErrPendingReview, true, false},
			{forge.BadLine, effects.ErrMisplaced, true, false},
			{forge.InternalError, ErrUnavailable, false, false},
			{forge.BadGateway, ErrUnavailable, false, false},
			{forge.ResetBefore, ErrUnavailable, false, false},
			{forge.HTML, ErrBadAnswer, false, false},
			{forge.BadGatewayAfter, ErrUnavailable, false, true},
			{forge.ResetAfter, ErrUnavailable, false, true},
			{forge.TruncatedJSON, nil, false, true},
		} {
			before, calls := made(), writes(f)
			f.Heal()
			c.limits.forget() // each row is a process of its own
			f.Fail(forge.Fault{Op: op, Mode: row.mode, After: time.Minute})
			err := do()
			f.Heal()
			var e *Error
			if !errors.As(err, &e) || row.want != nil && !errors.Is(err, row.want) || e.Refused() != row.refused {
				t.Errorf("%s, %s: %v (refused %v), want %v (refused %v)", op, row.mode, err, e != nil && e.Refused(), row.want, row.refused)
			}
			if n := made() - before; (n > 0) != row.made && !p.Threads()[0].Resolved {
				t.Errorf("%s, %s: made %d things", op, row.mode, n)
			}
			if n := writes(f) - calls; n != 1 {
				t.Errorf("%s, %s: %d calls", op, row.mode, n)
			}
		}
	}
}
