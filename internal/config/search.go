package config

// WebSearch is the search provider that builtin reviewers may ask; without a provider there is no search.
type WebSearch struct {
	Provider string `json:"provider,omitempty"`
	// BaseURL is where SearXNG is; the other providers have an address of their own.
	BaseURL string `json:"base_url,omitempty"`
	// KeyEnv names the variable that holds the key; Key is what it held.
	KeyEnv string `json:"key_env,omitempty"`
	Key    Secret `json:"-"`
}

// selfHosted is the provider that people run themselves: it needs an address, and the others a key.
const selfHosted = "searxng"

func webSearchShape() shape {
	return object([]any{"provider"},
		"provider", described(choice(selfHosted, "brave", "tavily"), "The service that is asked."),
		"base_url", described(match(httpAddress), "Where SearXNG is; its `search.formats` must list `json`."),
		"key_env", described(match(variableName), "The variable that holds the key of Brave Search or Tavily."))
}

// crossCheckSearch refuses a provider without what it is asked with.
func (s *source) crossCheckSearch() {
	m, ok := s.value["web_search"].(map[string]any)
	if !ok {
		return
	}
	provider := item(m, "provider")
	needs, foreign, what := "key_env", "base_url", "the variable that holds its key"
	if provider == selfHosted {
		needs, foreign, what = "base_url", "key_env", "its address"
	}
	if provider != "" && m[needs] == nil {
		s.faultAt("/web_search/provider", provider+" needs "+needs+", "+what, "")
	}
	if provider != "" && m[foreign] != nil {
		s.faultAt("/web_search/"+foreign, "has no meaning with provider: "+provider, "")
	}
}
