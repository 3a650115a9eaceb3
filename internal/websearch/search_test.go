package websearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// service is a stand-in for a provider, which answers alike whoever it plays.
func service(t *testing.T, status int, body string) (string, *[]*http.Request) {
	t.Helper()
	var asked []*http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(data)))
		asked = append(asked, r)
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL, &asked
}

// Each provider is asked in its own way, and answers in one form.
func TestProviders(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		asked        func(r *http.Request) bool
	}{
		{"searxng", `{"results":[{"title":"A","url":"https://a.example/","content":"words"}]}`, func(r *http.Request) bool {
			return r.URL.Path == "/search" && r.URL.Query().Get("q") == "go mutex & <x>" && r.URL.Query().Get("format") == "json" && r.Header.Get("Authorization") == ""
		}},
		{"brave", `{"web":{"results":[{"title":"A","url":"https://a.example/","description":"words"}]}}`, func(r *http.Request) bool {
			return r.URL.Path == "/res/v1/web/search" && r.URL.Query().Get("q") == "go mutex & <x>" && r.Header.Get("X-Subscription-Token") == "the-key"
		}},
		{"tavily", `{"results":[{"title":"A","url":"https://a.example/","content":"words"}]}`, func(r *http.Request) bool {
			var body struct{ Query string }
			return r.Method == http.MethodPost && r.URL.Path == "/search" && r.Header.Get("Authorization") == "Bearer the-key" &&
				json.NewDecoder(r.Body).Decode(&body) == nil && body.Query == "go mutex & <x>"
		}},
	} {
		address, asked := service(t, http.StatusOK, c.answer)
		got, err := New(c.name, address+"/", "the-key", "").Search(t.Context(), "go mutex & <x>")
		if err != nil || fmt.Sprint(got) != "{[{A https://a.example/ words}]}" {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if len(*asked) != 1 || !c.asked((*asked)[0]) {
			t.Errorf("%s was asked %+v", c.name, *asked)
		}
	}
}

// What may not be asked never leaves the machine.
func TestRefused(t *testing.T) {
	address, asked := service(t, http.StatusOK, `{"results":[]}`)
	s := New("searxng", address, "", "")
	for _, q := range []string{
		"", "  ", strings.Repeat("a", 121), "two\nlines", "hidden\u200btext", "not \xff text",
		"what is ghp_16C7e42F292c6912E7710c838347Ae178B4a", "password=q7Rz2Lm9Xc4Vb8Nt1Wk6",
	} {
		var no *RefusedError
		if _, err := s.Search(t.Context(), q); !errors.As(err, &no) {
			t.Errorf("%q: %v", q, err)
		}
	}
	if len(*asked) != 0 {
		t.Errorf("the provider was asked %d times", len(*asked))
	}
	if _, err := s.Search(t.Context(), strings.Repeat("a", 120)); err != nil || len(*asked) != 1 {
		t.Errorf("the longest query: %v", err)
	}
}

// A provider that fails is named in our words, without what it said, the question or the key.
func TestProviderFails(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{401, "the-key is wrong", "refuses: HTTP 401"}, {403, "no", "search.formats"}, {429, "", "quota"}, {500, "boom", "HTTP 500"}, {302, "", "HTTP 302"},
		{200, "<html>", "no JSON"}, {200, `{"results":7}`, "no JSON"}, {200, strings.Repeat(" ", 1<<20+1), "too long"},
	} {
		address, asked := service(t, c.status, c.body)
		_, err := New("searxng", address, "the-key", "").Search(t.Context(), "question")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "question") || strings.Contains(err.Error(), "the-key") || len(*asked) != 1 {
			t.Errorf("HTTP %d: %v after %d requests", c.status, err, len(*asked))
		}
	}
	if _, err := New("searxng", "http://127.0.0.1:1", "", "").Search(t.Context(), "question"); err == nil || strings.Contains(err.Error(), "question") {
		t.Errorf("nobody there: %v", err)
	}
}

// What strangers wrote comes back on one line each, bounded, and only for addresses of the web.
func TestBounds(t *testing.T) {
	type row struct {
		Title   string `json:"title"`
		URL     string `json:"url"`
		Content string `json:"content"`
	}
	var rows []row
	rows = append(rows, row{"js", "javascript:alert(1)", "x"}, row{"long", "https://a.example/" + strings.Repeat("a", 500), "x"})
	for i := range 20 {
		rows = append(rows, row{strings.Repeat("é", 300), fmt.Sprint("https://a.example/", i), "one\ntwo\x1b[31m\u202ered " + strings.Repeat("w ", 400)})
	}
	data, err := json.Marshal(map[string]any{"results": rows})
	if err != nil {
		t.Fatal(err)
	}
	address, _ := service(t, http.StatusOK, string(data))
	got, err := New("searxng", address, "", "").Search(t.Context(), "question")
	if err != nil || len(got.Results) != resultsMax {
		t.Fatalf("%d results, %v", len(got.Results), err)
	}
	for _, r := range got.Results {
		if len(r.Title) > titleLimit+3 || len(r.Excerpt) > excerptLimit+3 || strings.ContainsAny(r.Excerpt, "\n\x1b\u202e") || !strings.HasPrefix(r.Excerpt, "one two [31m red") {
			t.Errorf("%+v", r)
		}
	}
}
