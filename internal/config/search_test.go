package config

import (
	"strings"
	"testing"
)

// A provider is named with what it is asked with, and by the operator alone.
func TestWebSearch(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"web_search: {provider: searxng, base_url: \"http://search.internal:8080\"}", ""},
		{"web_search: {provider: brave, key_env: SEARCH_KEY}", ""},
		{"web_search: {provider: tavily, key_env: SEARCH_KEY}", ""},
		{"web_search: {provider: searxng}", "searxng needs base_url, its address"},
		{"web_search: {provider: brave}", "brave needs key_env, the variable that holds its key"},
		{"web_search: {provider: tavily, key_env: SEARCH_KEY, base_url: \"https://x.example\"}", "has no meaning with provider: tavily"},
		{"web_search: {provider: searxng, base_url: \"https://x.example\", key_env: K}", "has no meaning with provider: searxng"},
		{"web_search: {provider: altavista}", "altavista"},
		{"web_search: {base_url: \"https://x.example\"}", "provider"},
	} {
		s, err := Resolve(Input{Operator: operator(c.file), Env: env("SEARCH_KEY", "the-key")})
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.file, err)
			}
		case err != nil || s.WebSearch.Provider == "" || (s.WebSearch.Key.Reveal() == "the-key") != (s.WebSearch.KeyEnv != ""):
			t.Errorf("%s: %+v, %v", c.file, s.WebSearch, err)
		}
	}
	if _, err := Resolve(Input{Repository: &File{Name: ".reviewerc", Data: []byte("web_search: {provider: brave, key_env: K}")}}); err == nil || !strings.Contains(err.Error(), "way out of the sandbox") {
		t.Errorf("a repository names a provider: %v", err)
	}
}
