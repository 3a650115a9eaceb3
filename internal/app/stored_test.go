package app

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/folders"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// What is stored of a run is read back whole, and holds no key.
func TestStoredRun(t *testing.T) {
	t.Parallel()
	const key = "sk-abcdefghijklmnopqrstuvwxyz"
	operator := &config.File{Name: "operator.yml", Data: []byte(`
model: own
base_url: https://models.example/v1
upstreams: [{name: other, base_url: "https://other.example/v1", key_env: OTHER_KEY, models: [large]}]
models: [{name: small, input_usd: 1, output_usd: 2, fallbacks: [large]}]
limits: {max_cost_usd: 0.5, max_tokens: 9000}
run_limits: {max_llm_calls: 7, max_tool_calls: 8, max_tokens: 9000, max_cost_usd: 1.5}
budgets: {per_pull_request_usd: 3, per_day_usd: 4}
web_fetch: {hosts: [docs.example]}
web_search: {provider: brave, key_env: SEARCH_KEY}
fix: {untrusted_authors: true, max_cost_usd: 0.25}
verify_registries: [registry.example.com]
lend_caches: true
`)}
	env := func(name string) string {
		return map[string]string{"OPENAI_API_KEY": key, "OTHER_KEY": key + "2", "SEARCH_KEY": key + "3"}[name]
	}
	before, err := config.Resolve(config.Input{Env: env, Operator: operator})
	if err != nil {
		t.Fatal(err)
	}
	before.RunCostDefault = true // of a run whose bound nobody chose
	m := Machine{Readable: []string{"/a", "/b"}, VerifyEnv: []string{"TOKEN=" + key}}
	req := orchestrator.Request{
		Run: "one", Agents: []orchestrator.AgentPlan{{Name: "general", Kind: review.KindBuiltin}}, Limits: before.Limits, WallTime: before.WallTime,
	}
	st := m.store(req, before, gateway.Cassette{}, folders.Folder{Name: "rules", Files: 2, Bytes: 3, Skipped: 1, Sum: "ab"})
	data, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), key) {
		t.Errorf("a key is stored: %s", data)
	}
	var back stored
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || string(again) != string(data) {
		t.Errorf("read back it is\n%s\nnot\n%s\n%v", again, data, err)
	}
	unset := reflect.ValueOf(back.Setup)
	for i := range unset.NumField() {
		if name := unset.Type().Field(i).Name; unset.Field(i).IsZero() && name != "Replay" {
			t.Errorf("%s is not stored", name)
		}
	}

	// Whatever today's configuration says, the run is what it was; the keys are today's.
	const newKey = "sk-zyxwvutsrqponmlkjihgfedcba"
	today, err := config.Resolve(config.Input{
		Env: func(name string) string {
			return map[string]string{"OPENAI_API_KEY": newKey, "OPENAI_BASE_URL": "https://models.example/v1", "NEW_KEY": newKey + "2"}[name]
		},
		Operator: &config.File{Name: "operator.yml", Data: []byte(`
upstreams: [{name: other, base_url: "https://other.example/v1", key_env: NEW_KEY, models: [huge]}]
run_limits: {max_cost_usd: 90}
web_search: {provider: brave, key_env: NEW_KEY}
`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.settings(today)
	if err != nil {
		t.Fatal(err)
	}
	if got.APIKey.Reveal() != newKey || got.Upstreams[0].Key.Reveal() != newKey+"2" {
		t.Error("the keys are not those of today")
	}
	options := func(s config.Settings) gateway.Options {
		o := gatewayOptions(hclog.NewNullLogger(), s)
		r := run{Service: &Service{}, settings: s}
		o.Caps = r.caps(review.Target{})
		return o
	}
	was, is := options(before), options(got)
	for _, o := range []*gateway.Options{&was, &is} {
		for i := range o.Upstreams {
			o.Upstreams[i].Key = gateway.Secret{}
		}
		for i := range o.Caps {
			o.Caps[i].Spent = nil
		}
		if o.Search == nil {
			t.Error("nothing is searched")
		}
		o.Fetch, o.Search, o.Log = nil, nil, nil
	}
	if was, is := runModels(before, req.Agents), runModels(got, back.Agents); !slices.Equal(was, is) || !slices.Equal(was, []string{"large", "own", "small"}) {
		t.Errorf("command agents may ask for %q, and %q when the run goes on", was, is)
	}
	if !reflect.DeepEqual(was, is) {
		t.Errorf("the gateway is\n%+v\nnot\n%+v", is, was)
	}

	if !slices.Equal(got.VerifyRegistries, before.VerifyRegistries) || !slices.Equal(got.LendCaches, before.LendCaches) {
		t.Errorf("setups reach %q with the caches of %q", got.VerifyRegistries, got.LendCaches)
	}
	if got.WebSearch.Key.Reveal() != newKey+"2" {
		t.Error("the search provider's key is not that of today")
	}
	elsewhere := today
	elsewhere.WebSearch.Provider = "tavily"
	if got, err := back.settings(elsewhere); err != nil || got.WebSearch.Provider != "" {
		t.Errorf("a provider is asked that today's configuration does not name: %+v, %v", got.WebSearch, err)
	}

	// A key goes to no endpoint but the one it is configured for.
	today.BaseURL = "https://elsewhere.example/v1"
	if _, err := back.settings(today); err == nil || !strings.Contains(err.Error(), "https://models.example/v1") {
		t.Errorf("another endpoint: %v", err)
	}
	back.Agents = []orchestrator.AgentPlan{{Name: "static", Kind: review.KindStatic}}
	if _, err := back.settings(today); err != nil {
		t.Errorf("a run without a model needs no endpoint: %v", err)
	}
}
