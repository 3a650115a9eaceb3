package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/review"
)

// server answers instead of GitHub, in a bubble whose clock stands still while anybody works.
type server struct {
	mu     sync.Mutex
	answer func(n int, r *http.Request) *http.Response
	asked  []time.Time
	paths  []string
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.paths = append(s.asked, time.Now()), append(s.paths, r.Method+" "+r.URL.Path)
	resp := s.answer(len(s.asked), r)
	resp.Request = r
	return resp, nil
}

// says is an answer; headers are names and values by turns.
func says(status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Status: strconv.Itoa(status), Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
}

// served is a client whose GitHub is the server.
func served(t *testing.T, s *server) *Client {
	t.Helper()
	c, err := New(t.Context(), Options{Env: []string{"GH_TOKEN=ghp_aaaaaaaaaaaaaaaa", "GH_CONFIG_DIR=" + t.TempDir()}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	c.transport.next = s
	return c
}

const permissionAnswer = `{"permission":"write","role_name":"write"}`

func ask(ctx context.Context, c *Client) error {
	_, err := c.Permission(ctx, widgets, "octocat")
	return err
}

// No request is made before the time GitHub named, whichever run of the process wants to make it (threats.md P13, T175).
func TestLimitsHoldForTheWholeProcess(t *testing.T) {
	const second = "You have exceeded a secondary rate limit."
	for _, row := range []struct {
		says  string
		first func() *http.Response
		wait  time.Duration
	}{
		{"Retry-After", func() *http.Response {
			return says(http.StatusTooManyRequests, `{"message":"`+second+`"}`, "Retry-After", "30")
		}, 30 * time.Second},
		{"Retry-After as a date, by a clock an hour ahead", func() *http.Response {
			ahead := time.Now().Add(time.Hour)
			return says(http.StatusForbidden, `{"message":"`+second+`"}`, "Retry-After", ahead.Add(40*time.Second).UTC().Format(http.TimeFormat), "Date", ahead.UTC().Format(http.TimeFormat))
		}, 40 * time.Second},
		{"a secondary limit without a time", func() *http.Response { return says(http.StatusForbidden, `{"message":"`+second+`"}`) }, time.Minute},
		{"a used-up limit, by a clock a day behind", func() *http.Response {
			behind := time.Now().Add(-24 * time.Hour)
			return says(http.StatusForbidden, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(behind.Add(50*time.Second).Unix(), 10),
				"Date", behind.UTC().Format(http.TimeFormat))
		}, 50 * time.Second},
		{"a reset that is past", func() *http.Response {
			return says(http.StatusForbidden, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10))
		}, time.Second},
		{"the last request of a limit", func() *http.Response {
			return says(http.StatusOK, permissionAnswer, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(20*time.Second).Unix(), 10))
		}, 20 * time.Second},
	} {
		t.Run(row.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{answer: func(n int, _ *http.Request) *http.Response {
					if n == 1 {
						return row.first()
					}
					return says(http.StatusOK, permissionAnswer)
				}}
				c := served(t, s)
				began := time.Now()
				if err := ask(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				var runs sync.WaitGroup
				for range 10 { // other runs, of clients with a count of their own
					other, _ := c.Counted()
					runs.Go(func() {
						if err := ask(t.Context(), other); err != nil {
							t.Error(err)
						}
					})
				}
				runs.Wait()
				for _, at := range s.asked[1:] {
					if waited := at.Sub(began); waited < row.wait || waited > row.wait+5*time.Second {
						t.Errorf("asked after %s, want %s", waited, row.wait)
					}
				}
			})
		})
	}
}

// A limit that ends too late fails at once and makes no request, of reads and of writes; a write was not sent then.
func TestLimitsThatEndTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(int, *http.Request) *http.Response {
			return says(http.StatusTooManyRequests, `{"message":"secondary rate limit"}`, "Retry-After", "3600")
		}}
		c := served(t, s)
		pr := review.PullRequest{Repo: widgets, Number: 7}
		for range 3 {
			var e *Error
			if err := ask(t.Context(), c); !errors.As(err, &e) || !errors.Is(err, ErrRateLimited) || time.Until(e.Until) > time.Hour || time.Until(e.Until) < 59*time.Minute || e.Op == "" {
				t.Errorf("a read: %v", err)
			}
			if _, err := c.Reply(t.Context(), pr, 1, text(t, "x")); !errors.As(err, &e) || !errors.Is(err, ErrRateLimited) || !e.Refused() || e.Op == "" {
				t.Errorf("a write: %v", err)
			}
		}
		if len(s.asked) != 1 {
			t.Errorf("%d requests within the hour: %v", len(s.asked), s.paths)
		}
		time.Sleep(time.Hour + time.Second)
		s.answer = func(int, *http.Request) *http.Response { return says(http.StatusOK, permissionAnswer) }
		if err := ask(t.Context(), c); err != nil {
			t.Errorf("after the hour: %v", err)
		}
	})
}

// Writes go one at a time and a second apart, of all runs of a process, and none is made twice.
func TestWritesAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(n int, _ *http.Request) *http.Response {
			if n%3 == 0 {
				return says(http.StatusBadGateway, `{"message":"no"}`)
			}
			return says(http.StatusCreated, fmt.Sprintf(`{"html_url":"https://github.com/acme/widgets/pull/7#discussion_r%d"}`, n))
		}}
		c := served(t, s)
		pr := review.PullRequest{Repo: widgets, Number: 7}
		var runs sync.WaitGroup
		for range 12 {
			other, tally := c.Counted()
			runs.Go(func() {
				_, _ = other.Reply(t.Context(), pr, 1, text(t, "x"))
				if tally.Writes() != 1 || tally.Reads() != 0 {
					t.Errorf("counted %s", tally)
				}
			})
		}
		runs.Wait()
		if len(s.asked) != 12 {
			t.Errorf("%d requests for 12 writes", len(s.asked))
		}
		for i := 1; i < len(s.asked); i++ {
			if gap := s.asked[i].Sub(s.asked[i-1]); gap < time.Second {
				t.Errorf("two writes within %s", gap)
			}
		}
	})
}

// What GitHub says is unchanged is not sent again, and everything else is (decision 58).
func TestETags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tag, status := `W/"1"`, http.StatusOK
		var conditions []string
		s := &server{answer: func(_ int, r *http.Request) *http.Response {
			have := r.Header.Get("If-None-Match")
			conditions = append(conditions, have)
			switch {
			case status != http.StatusOK:
				return says(status, `{"message":"Not Found"}`)
			case have == tag:
				return says(http.StatusNotModified, "", "ETag", tag, "X-RateLimit-Remaining", "7")
			}
			return says(http.StatusOK, `{"permission":"`+tag[3:4]+`"}`, "ETag", tag)
		}}
		c := served(t, s)
		want := func(permission string, wantErr error) {
			t.Helper()
			if got, err := c.Permission(t.Context(), widgets, "octocat"); got != permission || !errors.Is(err, wantErr) {
				t.Errorf("got %q, %v; want %q, %v", got, err, permission, wantErr)
			}
		}
		want("1", nil)
		want("1", nil) // 304
		tag = `W/"2"`
		want("2", nil) // changed
		want("2", nil)
		status = http.StatusNotFound
		want("", ErrNotFound) // gone, and forgotten: it is asked for again without a condition
		status = http.StatusOK
		want("2", nil)
		if got := fmt.Sprint(conditions); got != `[ W/"1" W/"1" W/"2" W/"2"     ]` {
			t.Errorf("asked with %s", got)
		}
		for i := range 3 * maxKept {
			if _, err := c.Permission(t.Context(), widgets, fmt.Sprint("user", i)); err != nil {
				t.Fatal(err)
			}
		}
		if e := c.transport.etags; len(e.entries) > maxKept || e.order.Len() != len(e.entries) || e.bytes > maxKeptBytes {
			t.Errorf("%d answers of %d bytes are kept", len(e.entries), e.bytes)
		}
	})
}
