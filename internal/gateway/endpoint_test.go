package gateway

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

var pageHeaders = map[string]string{"Content-Type": "text/html"}

// What endpoints really say, by kind of trouble: one sentence with their own words, and the step that helps.
func TestEndpointErrors(t *testing.T) {
	raw := func(status int, body string) fakemodel.Answer { return fakemodel.Answer{Status: status, Raw: body} }
	for _, c := range []struct {
		what    string
		answer  fakemodel.Answer
		trouble Trouble
		// says and next stand in the sentence and in the next step.
		says, next string
	}{
		{"openai: no quota", raw(429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`),
			TroubleQuota, "quota is used up: HTTP 429: You exceeded your current quota", "add credit"},
		{"the same without a code", raw(429, `{"error":{"message":"You exceeded your current quota"}}`), TroubleQuota, "HTTP 429: You exceeded", "add credit"},
		{"openrouter: no credits", raw(402, `{"error":{"message":"Insufficient credits","code":402}}`), TroubleQuota, "HTTP 402: Insufficient credits", "add credit"},
		{"openai: rate", raw(429, `{"error":{"message":"Rate limit reached for gpt-4.1-mini on tokens per min (TPM): Limit 200000. Please try again in 6s.","code":"rate_limit_exceeded"}}`),
			TroubleRate, "asked too often: HTTP 429: Rate limit reached", "wait a minute"},
		{"gemini: quota per minute", raw(429, `[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 20s.","status":"RESOURCE_EXHAUSTED"}}]`),
			TroubleRate, "HTTP 429: You exceeded", "wait"},
		{"a rate with its end", fakemodel.Answer{Status: 429, Message: "slow down", RetryAfter: "7"}, TroubleRate, "HTTP 429: slow down", "wait 7s"},
		{"openai: no such model", raw(404, `{"error":{"message":"The model `+"`gpt-4.1-mini`"+` does not exist or you do not have access to it.","code":"model_not_found"}}`),
			TroubleModel, "does not serve model gpt-4.1-mini: HTTP 404: The model", "prloop models"},
		{"ollama: no such model", raw(404, `{"error":"model 'gpt-4.1-mini' not found"}`), TroubleModel, "HTTP 404: model 'gpt-4.1-mini' not found", "prloop models"},
		{"openrouter: no such model", raw(400, `{"error":{"message":"gpt-4.1-mini is not a valid model ID","code":400}}`), TroubleModel, "not a valid model ID", "prloop models"},
		{"openai: not for this project", raw(403, `{"error":{"message":"Project p does not have access to model gpt-4.1-mini","code":"model_not_found"}}`), TroubleModel, "HTTP 403: Project p", "prloop models"},
		{"a region", raw(403, `{"error":{"message":"Country, region, or territory not supported"}}`), TroubleKey, "refuses the key: HTTP 403: Country", "OPENAI_API_KEY"},
		{"a key in pieces", raw(401, `{"error":{"message":"Incorrect API key provided: sk-real*****cdef. See https://example.com, not `+realKey[4:14]+`"}}`), TroubleKey, "HTTP 401: Incorrect API key provided: [REDACTED]", "OPENAI_API_KEY"},
		{"too long", raw(400, `{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`), TroubleLength, "takes no request of this length: HTTP 400: This", "context.budget_tokens"},
		{"something else", fakemodel.Answer{Status: 400, Message: "seed is negative"}, TroubleRequest, "refuses the request: HTTP 400: seed is negative", "--model"},
		{"fastapi", raw(422, `{"detail":"max_tokens is missing"}`), TroubleRequest, "HTTP 422: max_tokens is missing", "--model"},
		{"a proxy", fakemodel.Answer{Status: 502, Raw: "<html><head><title>502 Bad\nGateway</title></head></html>", Headers: pageHeaders}, TroubleServer, `failed: HTTP 502: a page of HTML, "502 Bad Gateway"`, "try again"},
		{"overloaded", fakemodel.Answer{Status: 503, Message: "overloaded"}, TroubleServer, "failed: HTTP 503: overloaded", "try again"},
		{"an unknown path", raw(404, "404 page not found"), TroubleAddress, "/v1: HTTP 404: 404 page not found", "OPENAI_BASE_URL"},
		{"a page", fakemodel.Answer{Raw: fakemodel.Page, Headers: pageHeaders}, TroubleAddress, `HTTP 200: a page of HTML, "Welcome to fakemodel"`, "OPENAI_BASE_URL"},
		{"a page that says it is JSON", raw(200, "\n <!doctype html><p>x"), TroubleAddress, "HTTP 200: a page of HTML", "OPENAI_BASE_URL"},
		{"nothing at all", fakemodel.Answer{Status: 500, Raw: " "}, TroubleServer, "failed: HTTP 500", "try again"},
		{"what nobody may see", fakemodel.Answer{Status: 400, Message: "ghp_16C7e42F292c6912E7710c838347Ae178B4a \x1b[2J" + strings.Repeat("x", 400)}, TroubleRequest, "HTTP 400: [REDACTED] ", "--model"},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Default: &c.answer}, review.Limits{}, func(o *Options) { o.Retries = -1 })
			_, body := r.ask(mini, "x")
			var e *EndpointError
			if !errors.As(r.g.Err("r1"), &e) {
				t.Fatalf("%s: err %v", body, r.g.Err("r1"))
			}
			got, next := e.Error(), e.Next()
			if e.Trouble != c.trouble || !strings.Contains(got, c.says) || !strings.Contains(next, c.next) {
				t.Errorf("%s: %s\n  try: %s", e.Trouble, got, next)
			}
			if strings.Contains(got, "\x1b") || strings.Contains(got, realKey[4:14]) || strings.Contains(got, "cdef.") || len(e.Said) > saidLimit+10 || strings.ContainsAny(got+next, "\n\r") {
				t.Errorf("it is not fit to be shown: %q", got)
			}
		})
	}
}

// A page of HTML is no answer of a model: the agent is told so, and what it may have cost stays reserved.
func TestAPageIsNoAnswer(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Raw: fakemodel.Page, Headers: pageHeaders}}, review.Limits{})
	status, body := r.ask(mini, "x")
	if status != http.StatusBadGateway || !strings.Contains(body, "a page of HTML") || strings.Contains(body, "dashboard") || r.g.Charged() == 0 || len(r.model.Requests()) != 1 {
		t.Errorf("%d %s, charged %v after %d attempts", status, body, r.g.Charged(), len(r.model.Requests()))
	}
}

// Before anything is spent: an address that lacks the version, a page, and models that are not served.
func TestCheckNamesWhatIsWrong(t *testing.T) {
	short := func(o *Options) { o.Upstreams[0].BaseURL = strings.TrimSuffix(o.Upstreams[0].BaseURL, "/v1") }
	serves := []string{"gpt-4.1", "openai/gpt-4.1-mini", "o3"}
	for _, c := range []struct {
		what   string
		script fakemodel.Script
		change func(*Options)
		next   string // of the error; empty when there is none
	}{
		{"all is well", fakemodel.Script{Models: serves}, nil, ""},
		{"no /v1, and a page", fakemodel.Script{Models: serves, Versioned: true}, short, "OPENAI_BASE_URL=http://127.0.0.1"},
		{"no /v1, which is not needed", fakemodel.Script{Models: serves}, short, ""},
		{"a page below /v1", fakemodel.Script{List: &fakemodel.Answer{Raw: fakemodel.Page, Headers: pageHeaders}}, nil, "OPENAI_BASE_URL to the address"},
		{"no such list", fakemodel.Script{List: &fakemodel.Answer{Status: 404, Raw: "404 page not found"}}, nil, ""},
		{"a page that says that there is no such list", fakemodel.Script{List: &fakemodel.Answer{Status: 404, Raw: fakemodel.Page, Headers: pageHeaders}}, nil, ""},
		{"another shape", fakemodel.Script{List: &fakemodel.Answer{Raw: `{"error":"Unexpected endpoint or method. (GET /models)"}`}}, nil, ""},
		{"no money", fakemodel.Script{List: &fakemodel.Answer{Status: 429, Code: "insufficient_quota", Message: "You exceeded your current quota"}}, nil, "add credit"},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := setup(t, c.script, review.Limits{}, func(o *Options) {
				if c.change != nil {
					c.change(o)
				}
			})
			err := r.g.Check(t.Context())
			var e *EndpointError
			switch errors.As(err, &e); {
			case c.next == "" && err != nil:
				t.Error(err)
			case c.next != "" && (e == nil || !strings.Contains(e.Next(), c.next)):
				t.Errorf("%v; %+v", err, e)
			case e != nil && e.Suggested != "" && !strings.HasSuffix(e.Next(), "/v1"):
				t.Error(e.Next())
			}
			if n := len(r.model.Requests()); n != 0 {
				t.Errorf("%d questions were asked", n)
			}
		})
	}
}

func TestServes(t *testing.T) {
	serves := []string{"gpt-4.1", "openai/gpt-4.1-mini", "llama3:latest", "o3"}
	for _, c := range []struct {
		what, model string
		script      fakemodel.Script
		asked       int
		near        []string // nil when it is served
	}{
		{"listed", "gpt-4.1", fakemodel.Script{Models: serves}, 0, nil},
		{"by its newest version", "llama3", fakemodel.Script{Models: serves}, 0, nil},
		{"a variant", "gpt-4.1:nitro", fakemodel.Script{Models: serves}, 0, nil},
		{"nothing is listed", "whatever", fakemodel.Script{}, 0, nil},
		{"without its maker", "gpt-4.1-mini", fakemodel.Script{Models: serves}, 1, []string{"openai/gpt-4.1-mini"}},
		{"misspelt", "gtp-4.1", fakemodel.Script{Models: serves}, 1, []string{"gpt-4.1"}},
		{"nothing is near", "claude", fakemodel.Script{Models: serves}, 1, []string{}},
		{"served, and not listed", "my-deployment", fakemodel.Script{List: &fakemodel.Answer{Raw: `{"data":[{"id":"gpt-4.1"}]}`}}, 1, nil},
		{"nothing proves that it is not", "my-deployment", fakemodel.Script{List: &fakemodel.Answer{Raw: `{"data":[{"id":"gpt-4.1"}]}`}, Default: &fakemodel.Answer{Status: 400}}, 1, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := setup(t, c.script, review.Limits{}, func(o *Options) { o.Retries = -1 })
			if err := r.g.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			err := r.g.Serves(t.Context(), c.model)
			var e *EndpointError
			if errors.As(err, &e); (e == nil) != (c.near == nil) || e != nil && (e.Trouble != TroubleModel || !slices.Equal(e.Near, c.near)) {
				t.Errorf("%v, near %q", err, near(c.model, serves))
			}
			if n := len(r.model.Requests()); n != c.asked {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// A list that anybody gets proves nothing of the key: whether it is refused is asked, once for each model, and told in the error alone.
func TestServesHeedsARefusedKey(t *testing.T) {
	for _, c := range []struct {
		what, model, key string
		open             bool
		asked            int // questions that were answered
	}{
		{"the list needs the key", "gpt-4.1", realKey, false, 0},
		{"it needs none, and the key is right", "gpt-4.1", realKey, true, 1},
		{"it needs none, and the key is wrong", "gpt-4.1", "sk-wrong", true, 0},
		{"so it is of a model that is not listed", "my-deployment", "sk-wrong", true, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			var logged bytes.Buffer
			r := setup(t, fakemodel.Script{Models: []string{"gpt-4.1"}, Open: c.open}, review.Limits{}, func(o *Options) {
				o.Retries, o.Upstreams[0].Key, o.Log = -1, NewSecret(c.key), hclog.New(&hclog.LoggerOptions{Output: &logged})
			})
			if err := r.g.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			err := r.g.Serves(t.Context(), c.model)
			var e *EndpointError
			if errors.As(err, &e); (e != nil) != (c.key != realKey) || e != nil && e.Trouble != TroubleKey {
				t.Error(err)
			}
			if n := len(r.model.Requests()); n != c.asked {
				t.Errorf("asked %d times", n)
			}
			if logged.Len() > 0 {
				t.Errorf("logged %s", &logged)
			}
		})
	}
}

// The question whether a model is served is within the budgets of the run.
func TestServesHoldsToTheBudget(t *testing.T) {
	r := setup(t, fakemodel.Script{List: &fakemodel.Answer{Raw: `{"data":[{"id":"gpt-4.1"}]}`}}, review.Limits{}, func(o *Options) {
		o.Run = Totals{LLMCalls: 1, WallTime: time.Hour}
		o.Spent = Totals{LLMCalls: 1}
	})
	if err := errors.Join(r.g.Check(t.Context()), r.g.Serves(t.Context(), "my-deployment")); err != nil || len(r.model.Requests()) != 0 {
		t.Errorf("%v after %d questions", err, len(r.model.Requests()))
	}
}

// Everybody may read of what kind an error is: nothing of that is the endpoint's own, or names it (threats.md T681).
func TestKind(t *testing.T) {
	const secret = "vllm-7.acme.internal"
	for _, row := range []struct {
		err  error
		want string
	}{
		{&EndpointError{Upstream: secret, BaseURL: secret, Status: 429, Trouble: TroubleRate, Said: secret}, "the model endpoint is asked too often: HTTP 429"},
		{&EndpointError{Upstream: secret, BaseURL: secret, Status: 404, Trouble: TroubleAddress, Said: secret}, "the model endpoint has no API at its address: HTTP 404"},
		{&EndpointError{Upstream: secret, Model: secret, Status: 404, Trouble: TroubleModel, Near: []string{secret}}, "the model endpoint does not serve the model: HTTP 404"},
		{&UnreachableError{Upstream: secret, Host: secret, Err: errors.New(secret)}, "the model endpoint cannot be reached"},
		{&UnreachableError{Upstream: secret, Host: secret, Err: &SilentError{Idle: time.Second}}, "the model endpoint fell silent: no byte for 1s, the most that limits.max_idle_seconds allows"},
		{&UnreadError{Upstream: secret, Read: 1, Least: 2}, "the model endpoint read 1 of at least 2 tokens: its context is too small"},
		{&ModelError{Model: secret, Allowed: []string{secret}}, "its model is not allowed for this agent"},
		{&SpentError{Cap: secret, Err: errors.New(secret)}, "what was spent before cannot be read"},
		{&BudgetError{Axis: AxisCost, Limit: "1 USD", Spent: "2 USD"}, "budget for cost is used up: 2 USD of 1 USD"},
		{errors.New(secret), "a call of its model came to nothing"},
	} {
		if got := Kind(row.err); got != row.want {
			t.Errorf("of %T: %q, want %q", row.err, got, row.want)
		}
	}
	for trouble := range troubles {
		if e := (&EndpointError{Upstream: secret, BaseURL: secret, Model: secret, Said: secret, Trouble: trouble}); strings.Contains(Kind(e), secret) {
			t.Errorf("%s: %q", trouble, Kind(e))
		}
	}
}
