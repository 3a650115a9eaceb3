package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

var askedOf = map[string]string{
	pathChat:      `{"model":%q,"messages":[{"role":"user","content":"x"}]}`,
	pathResponses: `{"model":%q,"input":"x"}`,
	pathMessages:  `{"model":%q,"max_tokens":9,"messages":[{"role":"user","content":"x"}]}`,
}

// An agent asks for its own models, spelt as they were given to it, and for no others: not for one that searches the web, nor
// for the model of another agent.
func TestAgentsAskForTheirOwnModelsAlone(t *testing.T) {
	for path, body := range askedOf {
		t.Run(path, func(t *testing.T) {
			var seen []Observation
			r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) { o.Observe = func(s Observation) { seen = append(seen, s) } })
			r.token = r.g.Issue("r1", review.Limits{LLMCalls: 50}, "openai/gpt-4.1-mini", "gpt-4.1")
			other := r.g.Issue("r2", review.Limits{}, mini)
			for _, model := range []string{
				"gpt-4o-search-preview", "o1-pro", mini, "OpenAI/gpt-4.1-mini", "openai/GPT-4.1-mini", " gpt-4.1", "gpt-4.1 ", "gpt-4.1\n", "gpt-4.1\x00",
				"openrouter/openai/gpt-4.1-mini", "openrouter/auto", "openai/gpt-4.1-mini:online", "gpt-4.1:online", "gpt-4.1:nitro", "gpt-4.1-2025-04-14",
				"models/gpt-4.1", "gpt-4.1,o1-pro", "gpt\u20114.1",
				"ghp_16C7e42F292c6912E7710c838347Ae178B4a",
			} {
				seen = nil
				status, answer := r.call(http.MethodPost, path, r.token, fmt.Sprintf(strings.Replace(body, "%q", "%s", 1), quoted(model)))
				var refused *ModelError
				if err := r.g.Err("r1"); !errors.As(err, &refused) || refused.Model != model {
					t.Errorf("%q: %d %s, err %v", model, status, answer, err)
					continue
				}
				for _, must := range []string{CodeModel, quoted(refused.Error())[1:], "allowed: openai/gpt-4.1-mini, gpt-4.1. Set the agent's model"} {
					if status != http.StatusNotFound || !strings.Contains(answer, strings.TrimSuffix(must, `"`)) {
						t.Errorf("%q: %d %s", model, status, answer)
					}
				}
				if len(seen) != 1 || seen[0].Attributes[AttrFate] != FateDenied || seen[0].Attributes[AttrErrorType] != "model_not_allowed" ||
					seen[0].Attributes[AttrRequestModel] != "(other)" { // a word of the agent's, which may be a token, goes to no collector
					t.Errorf("%q: observed %v", model, seen)
				}
			}
			if n := len(r.model.Requests()); n != 0 {
				t.Fatalf("%d requests reached the endpoint", n)
			}
			for token, model := range map[string]string{r.token: "openai/gpt-4.1-mini", other: mini} {
				if status, answer := r.call(http.MethodPost, path, token, fmt.Sprintf(body, model)); status != http.StatusOK {
					t.Errorf("%s is allowed: %d %s", model, status, answer)
				}
			}
			if err := r.g.Err("r2"); err != nil {
				t.Errorf("another agent: %v", err)
			}
		})
	}
}

func quoted(s string) string { return string(appendQuoted(nil, s)) }

func TestNoModelIsAllowedUnlessItIsNamed(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{})
	r.token = r.g.Issue("r1", review.Limits{})
	if status, body := r.ask(mini, "x"); status != http.StatusNotFound || !strings.Contains(body, "allowed: none.") {
		t.Errorf("%d %s", status, body)
	}
	long := &ModelError{"x", []string{"a", "b", "c", "d", "e", "f", "g"}}
	if s := long.Error(); !strings.Contains(s, "allowed: a, b, c, d, e and 2 more.") {
		t.Error(s)
	}
}

func TestModelsListedAreThoseAllowed(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{})
	for _, row := range []struct {
		models []string
		want   string
	}{
		{nil, `{"data":[],"object":"list"}`},
		{[]string{"a", `b"<`}, `{"data":[{"id":"a","object":"model"},{"id":"b\"\u003c","object":"model"}],"object":"list"}`},
	} {
		status, body := r.call(http.MethodGet, pathModels, r.g.Issue("r1", review.Limits{}, row.models...), "")
		if d := cmp.Diff(row.want, strings.TrimSpace(body)); status != http.StatusOK || d != "" {
			t.Error(status, d)
		}
	}
}

// What stands in for a model is the operator's choice, not the agent's.
func TestFallbacksAnswerButAreNotAskedFor(t *testing.T) {
	r, second, _ := pair(t, fakemodel.Answer{Status: 503})
	r.token = r.g.Issue("r1", review.Limits{LLMCalls: 20}, mini)
	if status, body := r.ask("gpt-4.1-nano", "x"); status != http.StatusNotFound || len(second.Requests()) != 0 {
		t.Errorf("%d %s", status, body)
	}
	if status, body := r.ask(mini, "x"); status != http.StatusOK || len(second.Requests()) != 1 {
		t.Errorf("%d %s", status, body)
	}
}
