package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

const realKey = "sk-real-0123456789abcdef"

// rig is a gateway before a scripted endpoint, and an agent's view of it.
type rig struct {
	t     *testing.T
	model *fakemodel.Server
	g     *Gateway
	token string
}

func setup(t *testing.T, script fakemodel.Script, limits review.Limits, change ...func(*Options)) *rig {
	t.Helper()
	script.Key = realKey
	m, err := fakemodel.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	o := Options{Upstreams: []Upstream{{Name: "fake", BaseURL: m.URL(), Key: NewSecret(realKey)}}, retryMin: time.Millisecond}
	for _, c := range change {
		c(&o)
	}
	g, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return &rig{t, m, g, g.Issue("r1", limits, known...)}
}

func (r *rig) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", r.g.Socket())
	}}}
}

func (r *rig) post(body string, header ...string) (*http.Response, error) {
	r.t.Helper()
	return r.postIn(r.t.Context(), body, header...)
}

func (r *rig) postIn(ctx context.Context, body string, header ...string) (*http.Response, error) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://gateway/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return r.client().Do(req)
}

// call makes one request with a token and gives status and body.
func (r *rig) call(method, path, token, body string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://gateway/v1"+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := r.client().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// ask sends a text to a model and returns status and body.
func (r *rig) ask(model, text string) (int, string) {
	r.t.Helper()
	resp, err := r.post(chat(model, text, false))
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func chat(model, text string, stream bool) string {
	b, _ := json.Marshal(map[string]any{"model": model, "stream": stream, "max_tokens": 100, "messages": []any{map[string]any{"role": "user", "content": text}}})
	return string(b)
}

const mini = "gpt-4.1-mini"

// known are the models the agents of these tests may ask for.
var known = []string{mini, "gpt-4.1-nano", "gpt-4.1", "o3", "claude-x", "llama-local", "m", "S"}

func TestKeyStaysAndUsageIsCounted(t *testing.T) {
	usage := &fakemodel.Usage{Input: 1000, Cached: 400, Output: 50}
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "hello", Usage: usage}}, review.Limits{})
	resp, err := r.post(chat(mini, "hi", false), "X-Api-Key", "smuggled", "Cookie", "a=b", "Openai-Organization", "o", "X-Custom", "c")
	if err != nil {
		t.Fatal(err)
	}
	data, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !bytes.Contains(data, []byte("hello")) {
		t.Fatalf("%d %s", resp.StatusCode, data)
	}
	got := r.model.Requests()[0]
	if got.Authorization != "Bearer "+realKey {
		t.Errorf("the endpoint saw authorization %q", got.Authorization)
	}
	for _, h := range []string{"X-Api-Key", "Cookie", "Openai-Organization", "X-Custom"} {
		if got.Header[h] != nil {
			t.Errorf("header %s of the caller was passed on", h)
		}
	}
	all := fmt.Sprint(got.Header) + string(got.Body)
	if strings.Contains(all, r.token) || strings.Contains(fmt.Sprint(resp.Header)+string(data), realKey) {
		t.Error("a token crossed the gateway")
	}
	u := r.g.Usage("r1")
	if u.LLMCalls != 1 || *u.InputTokens != 1000 || *u.CachedTokens != 400 || *u.OutputTokens != 50 || len(u.Models) != 1 {
		t.Errorf("usage %+v", u)
	}
	// 600 fresh at 0.40, 400 cached at 0.10, 50 out at 1.60 dollars per million
	if want := (600*0.40 + 400*0.10 + 50*1.60) / 1e6; u.CostUSD == nil || *u.CostUSD-want > 1e-12 || want-*u.CostUSD > 1e-12 {
		t.Errorf("cost %v, want %v", *u.CostUSD, want)
	}
}

// A token that leaks is worth nothing (threats.md T74).
func TestPlaceholderIsWorthNothing(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{})
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.model.URL()+"/chat/completions", strings.NewReader(chat(mini, "x", false)))
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the endpoint took the placeholder: %d", resp.StatusCode)
	}
	old := r.token
	for what, token := range map[string]func() string{
		"no token":          func() string { return "" },
		"an invented token": func() string { return "prloop-00000000000000000000000000000000" },
		"the real key":      func() string { return realKey },
		"a replaced token":  func() string { r.g.Issue("r1", review.Limits{}, known...); return old },
		"a released token":  func() string { n := r.g.Issue("r2", review.Limits{}, known...); r.g.Release("r2"); return n },
	} {
		r.token = token()
		if status, body := r.ask(mini, "x"); status != http.StatusUnauthorized || !strings.Contains(body, CodeToken) {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
	if n := len(r.model.Requests()); n != 0 {
		t.Errorf("%d calls reached the endpoint", n)
	}
}

func TestUnknownPriceIsNotZero(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 9})
	r.ask("llama-local", "x")
	if u := r.g.Usage("r1"); u.CostUSD != nil || u.InputTokens == nil {
		t.Errorf("usage %+v: cost of an unpriced model must be unknown", u)
	}
	r.ask(mini, "x")
	if u := r.g.Usage("r1"); u.CostUSD != nil {
		t.Error("a sum with an unknown part is unknown")
	}
	if u := r.g.Usage("nobody"); u.LLMCalls != 0 || u.InputTokens != nil || u.CostUSD != nil {
		t.Errorf("usage of nobody: %+v", u)
	}
	r = setup(t, fakemodel.Script{Default: &fakemodel.Answer{NoUsage: true}}, review.Limits{})
	r.ask(mini, "x")
	if u := r.g.Usage("r1"); u.InputTokens != nil || u.CostUSD != nil || u.LLMCalls != 1 {
		t.Errorf("usage %+v: an endpoint that reports none leaves it unknown", u)
	}
}

func TestPrices(t *testing.T) {
	told := 0.25
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Contains: "told", Answer: fakemodel.Answer{Usage: &fakemodel.Usage{Input: 1, Output: 1, CostUSD: &told}}}},
		Default: &fakemodel.Answer{Usage: &fakemodel.Usage{Input: 1_000_000}}}, review.Limits{CostUSD: 99, LLMCalls: 9},
		func(o *Options) { o.Prices = map[string]Price{"own": {Input: 3}} })
	for _, c := range []struct {
		rule, model, text string
		want              float64
	}{
		{"configuration adds prices", "own", "x", 3},
		{"a dated version costs what its name costs", "gpt-4.1-2025-04-14", "x", 2},
		{"what the endpoint says it cost counts", "gpt-4.1", "told", 0.25},
	} {
		r.token = r.g.Issue("r1", review.Limits{CostUSD: 99}, c.model)
		r.ask(c.model, c.text)
		if u := r.g.Usage("r1"); u.CostUSD == nil || *u.CostUSD != c.want {
			t.Errorf("%s: %+v", c.rule, u)
		}
	}
	if _, err := time.Parse(time.DateOnly, builtinPrices().Date); err != nil {
		t.Error("the price table has no date:", err)
	}
	if got := r.g.Models(); len(got) != 3 {
		t.Errorf("models of the run: %v", got)
	}
}

func TestBudgets(t *testing.T) {
	clock := time.Now()
	for _, c := range []struct {
		rule   string
		limits review.Limits
		before func(r *rig)
		model  string
		axis   Axis
	}{
		{"beyond maxLlmCalls (spec.md R3)", review.Limits{LLMCalls: 1}, func(r *rig) { r.ask(mini, "x") }, mini, AxisCalls},
		{"zero is the default of two calls", review.Limits{}, func(r *rig) { r.ask(mini, "x"); r.ask(mini, "x") }, mini, AxisCalls},
		{"beyond maxCostUsd, by estimate, before the call", review.Limits{CostUSD: 0.0001}, func(*rig) {}, "gpt-4.1", AxisCost},
		{"beyond maxWallTimeSeconds", review.Limits{WallTimeSeconds: 5}, func(*rig) { clock = clock.Add(6 * time.Second) }, mini, AxisWallTime},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := setup(t, fakemodel.Script{}, c.limits, func(o *Options) { o.now = func() time.Time { return clock } })
			c.before(r)
			n, calls := len(r.model.Requests()), r.g.Usage("r1").LLMCalls
			status, body := r.ask(c.model, "x")
			if status != http.StatusPaymentRequired || !strings.Contains(body, CodeBudget) || !strings.Contains(body, string(c.axis)) {
				t.Errorf("%d %s", status, body)
			}
			if len(r.model.Requests()) != n || r.g.Usage("r1").LLMCalls != calls {
				t.Error("the refused call was made or counted")
			}
			var over *BudgetError
			if !errors.As(r.g.Err("r1"), &over) || over.Axis != c.axis {
				t.Errorf("err %v", r.g.Err("r1"))
			}
		})
	}
}

func TestBudgetHoldsUnderConcurrency(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 3})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { r.ask(mini, "x") })
	}
	wg.Wait()
	if n := len(r.model.Requests()); n != 3 {
		t.Errorf("%d calls were made with a budget of 3", n)
	}
}

// A call that is on its way holds its money: two calls cannot both be let in on the same last cent.
func TestMoneyIsReservedBeforeTheCall(t *testing.T) {
	c, no := inspect(pathChat, []byte(chat("gpt-4.1", "x", false)), nil)
	if no != nil {
		t.Fatal(no)
	}
	price := priceOf(priceTable(nil), "gpt-4.1")
	a := newAccount("r1", review.Limits{LLMCalls: 9, CostUSD: 1.5 * price.Cost(c.size/3+1, 0, c.maxOutput)}, 0, 0, &runBudget{}, time.Now())
	first, err := a.reserve(c, c.model, price, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.reserve(c, c.model, price, nil, time.Now()); err == nil {
		t.Error("the second call was let in while the first holds the money")
	}
	zero := 0
	first.settle(spent{input: &zero, output: &zero}, time.Now())
	second, err := a.reserve(c, c.model, price, nil, time.Now())
	if err != nil {
		t.Errorf("the first call was cheap, the rest is free again: %v", err)
	}
	second.lose(time.Now())
	if _, err := a.reserve(c, c.model, price, nil, time.Now()); err == nil {
		t.Error("what a lost call cost is unknown; its money must stay held")
	}
}

func TestRefusedCallsCostNothingButEnd(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Status: 400, Message: "response_format is not supported"}}, review.Limits{LLMCalls: 2})
	status, body := r.ask(mini, "x")
	if status != http.StatusBadRequest || !strings.Contains(body, "response_format is not supported") {
		t.Errorf("the endpoint's words should pass: %d %s", status, body)
	}
	if u := r.g.Usage("r1"); u.LLMCalls != 0 {
		t.Errorf("a refused call was counted: %+v", u)
	}
	for range 20 {
		r.ask(mini, "x")
	}
	if n := len(r.model.Requests()); n != 2+refunds {
		t.Errorf("%d calls were made, want %d", n, 2+refunds)
	}
}

func TestRetry(t *testing.T) {
	for _, c := range []struct {
		rule  string
		first fakemodel.Answer
		times int
		want  int // status in the end
		calls int // that reached the endpoint
	}{
		{"429 is retried", fakemodel.Answer{Status: 429}, 2, 200, 3},
		{"503 is retried", fakemodel.Answer{Status: 503}, 1, 200, 2},
		{"a connection cut before the answer is retried", fakemodel.Answer{Drop: "before"}, 1, 200, 2},
		{"an answer that breaks off is retried", fakemodel.Answer{Text: "a long text", Drop: "middle"}, 1, 200, 2},
		{"400 is not retried", fakemodel.Answer{Status: 400}, 1, 400, 1},
		{"an account without money is not retried", fakemodel.Answer{Status: 429, Code: "insufficient_quota"}, 1, 429, 1},
		{"Retry-After beyond the wall time is not waited for", fakemodel.Answer{Status: 429, RetryAfter: "3600"}, 1, 429, 1},
		{"after the last retry the answer is passed on", fakemodel.Answer{Status: 503}, 9, 503, 4},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Times: c.times, Answer: c.first}}}, review.Limits{})
			if status, body := r.ask(mini, "x"); status != c.want {
				t.Errorf("%d %s", status, body)
			}
			if n := len(r.model.Requests()); n != c.calls {
				t.Errorf("%d attempts, want %d", n, c.calls)
			}
			if u := r.g.Usage("r1"); c.want == 200 && (u.LLMCalls != 1 || u.CostUSD == nil) {
				t.Errorf("retries count as one call: %+v", u)
			}
			var e *EndpointError
			if errors.As(r.g.Err("r1"), &e); c.want == 200 && e != nil || c.want != 200 && (e == nil || e.Status != c.want) {
				t.Errorf("err %v", r.g.Err("r1"))
			}
		})
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Times: 1, Answer: fakemodel.Answer{Status: 429, RetryAfter: "1"}}}}, review.Limits{})
	began := time.Now()
	if status, _ := r.ask(mini, "x"); status != http.StatusOK || time.Since(began) < time.Second {
		t.Errorf("status %d after %v", status, time.Since(began))
	}
}

func TestEndpointTroubleIsTyped(t *testing.T) {
	for _, status := range []int{401, 403} {
		r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Status: status, Message: "Incorrect API key provided: " + realKey}}, review.Limits{})
		got, body := r.ask(mini, "x")
		var e *EndpointError
		if got != http.StatusForbidden || !strings.Contains(body, CodeKey) || strings.Contains(body, realKey) || !errors.As(r.g.Err("r1"), &e) || e.Trouble != TroubleKey || e.Status != status {
			t.Errorf("%d: %d %s, err %v", status, got, body, r.g.Err("r1"))
		}
	}
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) { o.Upstreams[0].Key = NewSecret("sk-wrong-wrong") })
	var e *EndpointError
	if err := r.g.Check(t.Context()); !errors.As(err, &e) || e.Trouble != TroubleKey {
		t.Errorf("check with a wrong key: %v", err)
	}
	r = setup(t, fakemodel.Script{}, review.Limits{})
	if err := r.g.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
	r = setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) { o.Retries = -1 })
	_ = r.model.Close() // before any call: a connection that was open would break instead of being refused
	status, body := r.ask(mini, "x")
	var un *UnreachableError
	if status != http.StatusBadGateway || !strings.Contains(body, CodeUnreachable) || !errors.As(r.g.Err("r1"), &un) || strings.Contains(body, "://") {
		t.Errorf("%d %s, err %v", status, body, r.g.Err("r1"))
	}
	if u := r.g.Usage("r1"); u.LLMCalls != 0 {
		t.Errorf("a call that never left was counted: %+v", u)
	}
	if err := r.g.Check(t.Context()); !errors.As(err, &un) {
		t.Errorf("check: %v", err)
	}
}

func TestEchoedKeyIsScrubbed(t *testing.T) {
	for _, a := range []fakemodel.Answer{{Text: "your key is " + realKey}, {Status: 400, Message: "bad key " + realKey}} {
		r := setup(t, fakemodel.Script{Default: &a}, review.Limits{})
		if _, body := r.ask(mini, "x"); strings.Contains(body, realKey) || !strings.Contains(body, "***") {
			t.Errorf("body %s", body)
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	var leaked []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked = append(leaked, r.Header.Get("Authorization")) }))
	defer thief.Close()
	turn := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer turn.Close()
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) { o.Upstreams[0].BaseURL = turn.URL })
	if status, body := r.ask(mini, "x"); status != http.StatusBadGateway || !strings.Contains(body, "redirects are not followed") {
		t.Errorf("%d %s", status, body)
	}
	if len(leaked) != 0 {
		t.Errorf("another host was called with %q", leaked)
	}
}

func TestOnlyCompletionsAreForwarded(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) { o.Upstreams[0].Models = []string{mini} })
	for _, c := range []struct{ method, path string }{
		{"GET", "/v1/files"}, {"POST", "/v1/files"}, {"POST", "/v1/chat/completions/../files"}, {"GET", "/v1/chat/completions"},
		{"POST", "/chat/completions"}, {"DELETE", "/v1/models"}, {"GET", "/"},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), c.method, "http://gateway"+c.path, nil)
		req.Header.Set("Authorization", "Bearer "+r.token)
		resp, err := r.client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s: %d", c.method, c.path, resp.StatusCode)
		}
	}
	if status, body := r.ask("gpt-4.1", "x"); status != http.StatusNotFound || !strings.Contains(body, CodeModel) {
		t.Errorf("a model that is not configured: %d %s", status, body)
	}
	if len(r.model.Requests())+len(r.model.Faults()) != 0 {
		t.Error("something reached the endpoint")
	}
}

func TestSizes(t *testing.T) {
	small := func(o *Options) { o.RequestLimit, o.ResponseLimit = 4096, 8192 }
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "x", Repeat: 100_000}}, review.Limits{}, small)
	if status, body := r.ask(mini, strings.Repeat("y", 5000)); status != http.StatusRequestEntityTooLarge || !strings.Contains(body, CodeTooLarge) {
		t.Errorf("request: %d %s", status, body)
	}
	if status, body := r.ask(mini, "y"); status != http.StatusBadGateway || !strings.Contains(body, CodeTooLarge) {
		t.Errorf("answer: %d %.200s", status, body)
	}
	if u := r.g.Usage("r1"); u.LLMCalls != 1 || u.CostUSD != nil {
		t.Errorf("an answer that was thrown away was paid for, nobody knows how much: %+v", u)
	}
	r = setup(t, fakemodel.Script{Default: &fakemodel.Answer{Endless: true}}, review.Limits{}, small)
	if status, body := r.ask(mini, "y"); status != http.StatusBadGateway || !strings.Contains(body, CodeTooLarge) {
		t.Errorf("endless answer: %d %.200s", status, body)
	}
}

func TestSilentEndpointIsGivenUp(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Hang: true}}, review.Limits{}, func(o *Options) { o.call = 50 * time.Millisecond })
	if status, body := r.ask(mini, "x"); status != http.StatusBadGateway || !strings.Contains(body, CodeTimeout) || !strings.Contains(body, "took too long: no whole answer within 50ms, the most that limits.max_call_seconds allows") {
		t.Errorf("%d %s", status, body)
	}
}

func TestSocketIsPrivate(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{})
	dir, err := os.Stat(filepath.Dir(r.g.Socket()))
	if err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v %v", dir.Mode(), err)
	}
	if len(r.g.Socket()) > socketLimit {
		t.Errorf("path %s is long", r.g.Socket())
	}
	if err := r.g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(r.g.Socket())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was left behind: %v", err)
	}
	deep := filepath.Join(t.TempDir(), strings.Repeat("d", 90))
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", deep)
	g, err := Start(t.Context(), Options{Upstreams: []Upstream{{Name: "u", BaseURL: "https://example.invalid/v1"}}})
	if err != nil {
		t.Fatalf("a long temporary folder: %v", err)
	}
	defer g.Close()
	if left, _ := os.ReadDir(deep); len(left) != 0 {
		t.Error("a folder was left where the path was too long")
	}
}

func TestUpstreamAddress(t *testing.T) {
	for _, c := range []struct{ rule, url, want string }{
		{"a scheme is needed", "api.example.com/v1", "want http(s)"},
		{"no password in the address", "https://u:hunter2@example.com/v1", "user, query and fragment"},
		{"a key is not sent in the clear", "http://example.com/v1", "only sent over https"},
		{"nonsense is refused without repeating it", "https://u:hunter2@ex ample.com:x", "base URL of u"},
	} {
		_, err := Start(t.Context(), Options{Upstreams: []Upstream{{Name: "u", BaseURL: c.url, Key: NewSecret(realKey)}}})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
	if _, err := Start(t.Context(), Options{}); err == nil {
		t.Error("a gateway without endpoint started")
	}
}

func TestSecretNeverPrints(t *testing.T) {
	s := NewSecret(realKey)
	u := Upstream{Name: "n", Key: s}
	j, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %x %d", s, s, s, s, s, s, s), fmt.Sprintf("%v %+v %#v", u, u, &u), string(j), s.String(), s.GoString(),
		fmt.Sprintf("%v", map[string]any{"k": s}), fmt.Errorf("x: %v", []Secret{s}).Error(), fmt.Sprintf("%+v", Options{Upstreams: []Upstream{u}}),
	} {
		if strings.Contains(text, "real") || strings.Contains(text, fmt.Sprintf("%x", "sk-real")) {
			t.Errorf("printed: %s", text)
		}
	}
}
