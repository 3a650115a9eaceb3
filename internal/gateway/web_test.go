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
		o.Fetch = func(_ context.Context, url string, asked func(string)) (any, error) {
			asked("a.example")
			if read++; strings.Contains(url, "bad") {
				return nil, errors.New("the host is not allowed")
			}
			return map[string]string{"url": url, "text": "words"}, nil
		}
	})
	if status, body := r.getPage(r.token, `{"url":"https://a.example/"}`); status != http.StatusForbidden || !strings.Contains(body, CodeWeb) || read != 0 {
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
	if status, body := r.getPage(r.token, `{"url":"https://a.example/"}`); status != http.StatusPaymentRequired || !strings.Contains(body, CodeBudget) || read != questionsOfAgent {
		t.Errorf("one more than there may be: %d %s after %d", status, body, read)
	}
	if got := fmt.Sprint(r.g.Fetched("r1")); got != "[a.example]" {
		t.Errorf("pages came from %s", got)
	}
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	p := replay(t, path, func(o *Options) {
		o.Fetch = func(context.Context, string, func(string)) (any, error) {
			t.Error("the web was asked in a replay")
			return nil, nil
		}
	})
	p.g.Permit("r1")
	if status, body := p.getPage(p.token, `{"url":"https://a.example/x"}`); status != http.StatusOK || !strings.Contains(body, "words") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := p.getPage(p.token, `{"url":"https://a.example/unknown"}`); status != http.StatusForbidden || !strings.Contains(body, "record it again") {
		t.Errorf("%d %s", status, body)
	}
}

// Searches are permitted, counted and recorded as pages are, in books of their own.
func TestSearches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) {
		o.Cassette = Cassette{Path: path, Mode: Record}
		o.Fetch = func(context.Context, string, func(string)) (any, error) { return "page", nil }
		o.Search = func(_ context.Context, query string) (any, error) { return []string{"found " + query}, nil }
	})
	search := func(r *rig, body string) (int, string) { return r.call(http.MethodPost, pathSearch, r.token, body) }
	if status, body := search(r, `{"query":"q"}`); status != http.StatusForbidden || !strings.Contains(body, CodeWeb) {
		t.Errorf("without leave: %d %s", status, body)
	}
	r.g.Permit("r1")
	if status, body := search(r, `{"url":"https://a.example/"}`); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, body)
	}
	for i := range questionsOfAgent {
		if status, body := search(r, fmt.Sprintf(`{"query":"q%d"}`, i)); status != http.StatusOK || body != fmt.Sprintf(`["found q%d"]`, i) {
			t.Errorf("%d %s", status, body)
		}
	}
	if status, body := search(r, `{"query":"q"}`); status != http.StatusPaymentRequired || !strings.Contains(body, string(AxisSearches)) {
		t.Errorf("one more than there may be: %d %s", status, body)
	}
	if status, _ := r.getPage(r.token, `{"url":"https://a.example/"}`); status != http.StatusOK {
		t.Error("searches count as pages")
	}
	if got := r.g.Searched("r1"); got != questionsOfAgent {
		t.Errorf("%d searches are counted", got)
	}
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	p := replay(t, path, func(o *Options) {
		o.Search = func(context.Context, string) (any, error) { t.Error("the web was asked in a replay"); return nil, nil }
	})
	p.g.Permit("r1")
	if status, body := search(p, `{"query":"q1"}`); status != http.StatusOK || body != `["found q1"]` {
		t.Errorf("%d %s", status, body)
	}
	none := setup(t, fakemodel.Script{}, review.Limits{})
	none.g.Permit("r1")
	if status, _ := search(none, `{"query":"q"}`); status != http.StatusForbidden {
		t.Error("there is a search although nobody named a provider")
	}
}

// What a host was told has left, whatever it answers: it is named, and so are those that it sends on to (threats.md T744).
func TestHostsThatWereAsked(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) {
		o.Fetch = func(_ context.Context, url string, asked func(string)) (any, error) {
			asked("b.example")
			if strings.Contains(url, "hop") {
				asked("a.example")
				return "page", nil
			}
			return nil, errors.New("the page is no text")
		}
	})
	r.g.Permit("r1")
	r.getPage(r.token, `{"url":"https://b.example/?d=what-the-agent-read"}`)
	if got := fmt.Sprint(r.g.Fetched("r1")); got != "[b.example]" {
		t.Errorf("of a page that is refused: %s", got)
	}
	r.getPage(r.token, `{"url":"https://b.example/hop"}`)
	if got := fmt.Sprint(r.g.Fetched("r1")); got != "[a.example b.example]" {
		t.Errorf("of a page that is elsewhere: %s", got)
	}
}

// All agents of a run together have a bound too.
func TestPagesOfTheRun(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) {
		o.Fetch = func(context.Context, string, func(string)) (any, error) { return "page", nil }
	})
	given := 0
	for i := range questionsOfRun {
		name := fmt.Sprint("agent", i)
		token := r.g.Issue(name, review.Limits{}, known...)
		r.g.Permit(name)
		for range 2 {
			if status, _ := r.getPage(token, `{"url":"https://a.example/"}`); status == http.StatusOK {
				given++
			}
		}
	}
	if given != questionsOfRun {
		t.Errorf("%d pages were given, want %d", given, questionsOfRun)
	}
}
