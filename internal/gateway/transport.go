package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/prloop/prloop/internal/values"
)

// network is the last link of the chain. An operator's proxy is honoured: the environment is prloop's own.
func network() http.RoundTripper {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     30 * time.Second,
	}
}

// whole reads answers that are not streams to their end, so that one that breaks off in the middle is an error of the
// attempt and is retried like any other.
type whole struct {
	next  http.RoundTripper
	limit int64
}

// RoundTrip makes one attempt.
func (t whole) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := endSilent(t.next, req)
	if err != nil || streams(resp) {
		return resp, err
	}
	defer resp.Body.Close()
	limit, tokens := answerLimit(req.Context(), t.limit)
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read answer: %w", err)
	case int64(len(data)) > t.limit, values.MoreThan(mostAnswerValues, data):
		return nil, errTooLarge
	case int64(len(data)) > limit:
		return nil, tooLong(tokens, limit)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return resp, nil
}

func streams(resp *http.Response) bool {
	return resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
}

// client builds the chain: retry, whole, network.
func client(o Options) *retryablehttp.Client {
	attempt := &http.Client{
		Transport:     whole{o.transport, o.ResponseLimit},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &retryablehttp.Client{
		HTTPClient:   attempt,
		RetryMax:     o.Retries,
		RetryWaitMin: o.retryMin,
		RetryWaitMax: 20 * time.Second,
		CheckRetry:   shouldRetry,
		Backoff:      retryablehttp.DefaultBackoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler, // the last answer is the answer
	}
}

// segments are a request body in pieces, so that each attempt to send it costs no copy of it.
type segments [][]byte

// open gives a reader from the beginning, which knows its length.
func (s segments) open() (io.Reader, error) {
	var all []io.Reader
	n := 0
	for _, part := range s {
		all = append(all, bytes.NewReader(part))
		n += len(part)
	}
	return sized{io.MultiReader(all...), n}, nil
}

// sized is a reader that knows how long it is before it is read.
type sized struct {
	io.Reader
	n int
}

// Len is read before anything else is.
func (s sized) Len() int { return s.n }

// shouldRetry decides about one more attempt: overload, server faults and broken connections, if there is time for it.
func shouldRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if errors.Is(err, errTooLarge) || errors.As(err, new(*BudgetError)) || errors.As(err, new(*SilentError)) {
		return false, nil
	}
	retry, cause := retryablehttp.DefaultRetryPolicy(ctx, resp, err)
	if !retry || resp == nil {
		return retry, cause
	}
	if resp.StatusCode == http.StatusTooManyRequests && outOfQuota(resp) {
		return false, nil
	}
	if hasOther(ctx) && retryAfter(resp) > patience {
		return false, nil
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < retryAfter(resp) {
		return false, nil
	}
	return true, nil
}

// retryAfter reads the header as seconds or date; 0 without one.
func retryAfter(resp *http.Response) time.Duration {
	h := resp.Header.Get("Retry-After")
	if s, err := strconv.Atoi(h); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(h); err == nil {
		return time.Until(at)
	}
	return 0
}
