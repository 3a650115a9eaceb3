package github

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/cli/go-gh/v2/pkg/api"

	"github.com/prloop/prloop/internal/effects"
)

// Bounds of reading (threats.md P13): how often one read is tried, and what GitHub wants after a secondary limit that
// names no time.
const (
	readTries     = 5
	secondaryWait = time.Minute
)

// read makes one read until it succeeds, is refused for good, or the bounds are reached. fresh says that the thing was
// there a moment ago, so that a 404 is GitHub lagging behind itself and worth another try (threats.md T59).
func (c *Client) read(ctx context.Context, op string, fresh bool, once func(context.Context) error) error {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = c.firstWait, 20*time.Second
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := once(ctx)
		if err == nil {
			return struct{}{}, nil
		}
		if ctx.Err() != nil {
			return struct{}{}, backoff.Permanent(&Error{Op: op, Kind: ErrUnavailable, Cause: context.Cause(ctx), Detail: "stopped"})
		}
		e := classify(op, err)
		c.heed(e)
		switch {
		case errors.Is(e, ErrRateLimited) && !e.Until.IsZero():
			return struct{}{}, &waitUntil{e, &backoff.RetryAfterError{Duration: max(0, time.Until(e.Until)) + c.margin()}}
		case errors.Is(e, ErrUnavailable), errors.Is(e, ErrBadAnswer) && !errors.Is(err, errTooLarge), errors.Is(e, ErrNotFound) && fresh:
			return struct{}{}, e
		}
		return struct{}{}, backoff.Permanent(e)
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(readTries), backoff.WithMaxElapsedTime(c.maxWait), backoff.WithNotify(func(err error, wait time.Duration) {
		c.log.Debug("reading again", "op", op, "err", err, "wait", wait.String())
	}))
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Op: op, Kind: ErrUnavailable, Cause: err, Detail: "stopped"}
}

// heed keeps the time a limit ends that only the text of an answer tells of.
func (c *Client) heed(e *Error) {
	if errors.Is(e, ErrRateLimited) && e.of != "" {
		c.limits.hold(e.of, e.Until)
	}
}

// margin is added to the times GitHub gives: its clock and ours differ, and its dates are whole seconds.
func (c *Client) margin() time.Duration { return 2 * c.firstWait }

// waitUntil is an error that tells the retry loop how long to wait.
type waitUntil struct {
	limit *Error
	after *backoff.RetryAfterError
}

func (w *waitUntil) Error() string { return w.limit.Error() }

func (w *waitUntil) Unwrap() []error { return []error{w.limit, w.after} }

// classify says what an error of go-gh means.
func classify(op string, err error) *Error {
	e := &Error{Op: op, Kind: ErrUnavailable, Cause: err}
	var own *Error
	var status *api.HTTPError
	var query *api.GraphQLError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &own):
		if own.Op == "" {
			own.Op = op
		}
		return own
	case errors.As(err, &status):
		e.status, e.Detail = status.StatusCode, oneLine(strings.ReplaceAll(status.Message, "\n", ": "))
		e.byStatus(status.StatusCode, status.Message, status.Headers)
	case errors.As(err, &query):
		e.byQuery(query)
	case errors.Is(err, ErrBadAnswer), errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Detail = ErrBadAnswer, oneLine(err.Error())
	default:
		e.Detail = oneLine(err.Error())
	}
	return e
}

// byStatus reads an HTTP status. 403 has four meanings, told apart by headers and words.
func (e *Error) byStatus(status int, message string, h http.Header) {
	switch {
	case status == http.StatusUnauthorized:
		e.Kind = ErrNotLoggedIn
	case status == http.StatusTooManyRequests, status == http.StatusForbidden && limited(message, h):
		e.Kind, e.Until = ErrRateLimited, nextAllowed(h)
	case status == http.StatusForbidden && strings.Contains(strings.ToLower(message), "locked"):
		e.Kind = ErrLocked
	case status == http.StatusForbidden, status == http.StatusGone:
		e.Kind, e.Needs = ErrForbidden, needed(message, h)
	case status == http.StatusNotFound:
		e.Kind = ErrNotFound
	case status >= 300 && status < 400:
		e.Kind, e.Needs = ErrMoved, h.Get("Location")
	case status == http.StatusUnprocessableEntity && strings.Contains(strings.ToLower(message), "too long"):
		e.Kind = ErrTooLong
	case status == http.StatusUnprocessableEntity && strings.Contains(message, "maximum number of statuses"):
		e.Kind = ErrStatusesSpent
	case status == http.StatusUnprocessableEntity && strings.Contains(message, "one pending review"):
		e.Kind = ErrPendingReview
	case status == http.StatusUnprocessableEntity && unplaced(message):
		e.Kind = effects.ErrMisplaced
	case status >= 500:
		e.Kind = ErrUnavailable
	default:
		e.Kind = ErrBadAnswer
	}
}

// unplaced reports whether GitHub refuses a comment for where it stands: it has two wordings of it.
func unplaced(message string) bool {
	lower := strings.ToLower(message)
	return strings.Contains(lower, "could not be resolved") || strings.Contains(lower, "must be part of the diff")
}

func limited(message string, h http.Header) bool {
	return h.Get("Retry-After") != "" || h.Get("X-RateLimit-Remaining") == "0" || strings.Contains(strings.ToLower(message), "rate limit")
}

// nextAllowed is the earliest time of the next request: Retry-After, else the reset of a used-up limit, else a minute. A moment GitHub
// names is one of its own clock, so that it is told by its Date, where there is one, how far away it is (threats.md T96).
func nextAllowed(h http.Header) time.Time {
	now := time.Now()
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		date = now
	}
	after := h.Get("Retry-After")
	if s, err := strconv.Atoi(after); err == nil && s >= 0 {
		return now.Add(time.Duration(min(s, maxRetryAfter)) * time.Second)
	}
	if at, err := http.ParseTime(after); err == nil {
		return now.Add(max(at.Sub(date), leastWait))
	}
	if reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil && h.Get("X-RateLimit-Remaining") == "0" {
		return now.Add(max(time.Unix(reset, 0).Sub(date), leastWait))
	}
	return now.Add(secondaryWait)
}

// Bounds of the times GitHub names: one that is past still means that it wants a pause, and none is followed for more than a week.
const (
	leastWait     = time.Second
	maxRetryAfter = 7 * 24 * 3600
)

// needed is the permission GitHub says is missing, when it says.
func needed(message string, h http.Header) string {
	if v := h.Get("X-Accepted-GitHub-Permissions"); v != "" {
		return oneLine(strings.ReplaceAll(v, "=", ": "))
	}
	if strings.Contains(message, "push access") {
		return "push access"
	}
	return ""
}

// byQuery reads GraphQL's errors, which come with status 200.
func (e *Error) byQuery(q *api.GraphQLError) {
	e.Detail = oneLine(q.Error())
	if len(q.Errors) == 0 {
		e.Kind = ErrBadAnswer
		return
	}
	switch first := q.Errors[0]; first.Type {
	case "NOT_FOUND":
		e.Kind, e.Detail = ErrNotFound, oneLine(first.Message)
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		e.Kind = ErrForbidden
	case "RATE_LIMITED":
		e.Kind, e.Until, e.of = ErrRateLimited, time.Now().Add(secondaryWait), graphql
	case "":
		e.Kind = ErrUnavailable // "Something went wrong": GitHub's own time-outs look like this
	default:
		e.Kind = ErrBadAnswer
	}
}
