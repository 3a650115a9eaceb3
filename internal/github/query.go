package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/cli/go-gh/v2/pkg/api"
)

// query runs one GraphQL query with retries.
func (c *Client) query(ctx context.Context, op string, fresh bool, query string, vars map[string]any, into any) error {
	return c.read(ctx, op, fresh, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
		defer cancel()
		c.tally.read(1)
		return c.graphql.DoWithContext(ctx, query, vars, into)
	})
}

// get reads one REST address with retries and returns the address of the next page, empty on the last.
func (c *Client) get(ctx context.Context, op string, fresh bool, address string, into any) (next string, err error) {
	if !strings.HasPrefix(address, "https://") {
		address = c.rest + address
	}
	err = c.read(ctx, op, fresh, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
		defer cancel()
		next = ""
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		c.tally.read(1)
		resp, err := c.http.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return api.HandleHTTPError(resp)
		}
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		next = nextPage(resp.Header.Get("Link"))
		return json.Unmarshal(raw, into)
	})
	return next, err
}

// errEndless: there is more of a list than is read of one.
var errEndless = fmt.Errorf("%w: the list has no end", ErrBadAnswer)

// eachOf reads a list page by page, and hands each thing to take, which may get one twice: where a page is too large for one answer the list is read anew, in
// smaller ones. most bounds the things that are read.
func eachOf[T any](ctx context.Context, c *Client, op string, fresh bool, address string, query url.Values, most int, take func(T) error) error {
	once := func(size int) error {
		query.Set("per_page", strconv.Itoa(size))
		next := address + "?" + query.Encode()
		for range most / size {
			var page []T
			var err error
			if next, err = c.get(ctx, op, fresh, next, &page); err != nil {
				return err
			}
			for _, one := range page {
				if err := take(one); err != nil {
					return err
				}
			}
			if next == "" {
				return nil
			}
		}
		return &Error{Op: op, Kind: errEndless}
	}
	size := manyAtOnce
	err := once(size)
	for errors.Is(err, errTooLarge) && size > 1 {
		size = max(size/4, 1)
		err = once(size)
	}
	return err
}

// nextPage finds rel="next" in a Link header.
func nextPage(link string) string {
	for part := range strings.SplitSeq(link, ",") {
		address, params, _ := strings.Cut(part, ";")
		if strings.Contains(params, `rel="next"`) {
			return strings.Trim(strings.TrimSpace(address), "<>")
		}
	}
	return ""
}
