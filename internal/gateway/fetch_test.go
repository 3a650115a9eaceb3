package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// getPage asks the gateway for a page with a token.
func (r *rig) getPage(token, body string) (int, string) {
	r.t.Helper()
	return r.call(http.MethodPost, pathFetch, token, body)
}

// Pages are read for agents that were permitted, a bounded number of them, and recorded with the conversations.
func TestPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	read := 0
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) {
		o.Cassette = Cassette{Path: path, Mode: Record}
		o.Fetch = func(_ context.Context, url string) (any, error) {
			if read++; strings.Contains(url, "bad") {
				return nil, errors.New("the host is not allowed")
			}
			return map[string]string{"url": url, "text": "words"}, nil
		}
	})
	if status, body := r.getPage(r.token, `{"url":"https://a.example/"}`); status != http.StatusForbidden || !strings.Contains(body, CodeFetch) || read != 0 {
		t.Errorf("without leave: %d %s", status, body)
	}
	r.g.Permit("r1")
	if status, body := r.getPage("prloop-unknown", `{"url":"https://a.example/"}`); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", status, body)
	}
	for _, body := range []string{`{}`, `[]`, `{"url":7}`, ``} {
		if status, body := r.getPage(r.token, body); status != http.StatusBadRequest {
			t.Errorf("%d %s", status, body)
		}
	}
	if status, body := r.getPage(r.token, `{"url":"https://a.example/x"}`); status != http.StatusOK || body != `{"text":"words","url":"https://a.example/x"}` {
		t.Errorf("%d %s", status, body)
	}
	if status, body := r.getPage(r.token, `{"url":"https://bad.example/"}`); status != http.StatusForbidden || !strings.Contains(body, "not allowed") {
		t.Errorf("%d %s", status, body)
	}
	for i := range 5 {
		r.getPage(r.token, fmt.Sprintf(`{"url":"https://a.example/%d"}`, i))
	}
	if status, body := r.getPage(r.token, `{"url":"https://a.example/"}`); status != http.StatusPaymentRequired || !strings.Contains(body, CodeBudget) || read != fetchesOfAgent {
		t.Errorf("one more than there may be: %d %s after %d", status, body, read)
	}
	if got := fmt.Sprint(r.g.Fetched("r1")); got != "[a.example]" {
		t.Errorf("pages came from %s", got)
	}
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	p := replay(t, path, func(o *Options) {
		o.Fetch = func(context.Context, string) (any, error) { t.Error("the web was asked in a replay"); return nil, nil }
	})
	p.g.Permit("r1")
	if status, body := p.getPage(p.token, `{"url":"https://a.example/x"}`); status != http.StatusOK || !strings.Contains(body, "words") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := p.getPage(p.token, `{"url":"https://a.example/unknown"}`); status != http.StatusForbidden || !strings.Contains(body, "record it again") {
		t.Errorf("%d %s", status, body)
	}
}

// All agents of a run together have a bound too.
func TestPagesOfTheRun(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) {
		o.Fetch = func(context.Context, string) (any, error) { return "page", nil }
	})
	given := 0
	for i := range fetchesOfRun {
		name := fmt.Sprint("agent", i)
		token := r.g.Issue(name, review.Limits{}, known...)
		r.g.Permit(name)
		for range 2 {
			if status, _ := r.getPage(token, `{"url":"https://a.example/"}`); status == http.StatusOK {
				given++
			}
		}
	}
	if given != fetchesOfRun {
		t.Errorf("%d pages were given, want %d", given, fetchesOfRun)
	}
}
