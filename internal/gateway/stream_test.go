package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

func (r *rig) streamed(body string) (string, error) {
	r.t.Helper()
	resp, err := r.post(body)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		r.t.Errorf("status %d", resp.StatusCode)
	}
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

func TestStreamPassesAndIsCounted(t *testing.T) {
	answer := fakemodel.Answer{Text: strings.Repeat("word ", 100), Usage: &fakemodel.Usage{Input: 10, Cached: 4, Output: 7}}
	r := setup(t, fakemodel.Script{Default: &answer}, review.Limits{})
	plain, err := r.streamed(chat(mini, "x", true))
	if err != nil || strings.Contains(plain, "prompt_tokens") || !strings.HasSuffix(plain, "data: [DONE]\n\n") || strings.Contains(plain, "\n\n\n") {
		t.Errorf("a caller that did not ask for usage gets none: %v\n%s", err, plain)
	}
	asked, err := r.streamed(strings.Replace(chat(mini, "x", true), `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1))
	if err != nil || !strings.Contains(asked, "prompt_tokens") {
		t.Errorf("a caller that asked for usage gets it: %v\n%s", err, asked)
	}
	if u := r.g.Usage("r1"); u.LLMCalls != 2 || *u.InputTokens != 20 || *u.CachedTokens != 8 || *u.OutputTokens != 14 || u.CostUSD == nil {
		t.Errorf("usage %+v", u)
	}
}

func TestBrokenStreamIsSeenAsBroken(t *testing.T) {
	for what, a := range map[string]fakemodel.Answer{
		"cut in the middle": {Text: strings.Repeat("word ", 100), Drop: "middle"},
		"never stops":       {Endless: true},
	} {
		t.Run(what, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Default: &a}, review.Limits{}, func(o *Options) { o.ResponseLimit = 100_000 })
			if text, err := r.streamed(chat(mini, "x", true)); err == nil {
				t.Errorf("%d bytes ended like a whole answer", len(text))
			}
			if u := r.g.Usage("r1"); u.LLMCalls != 1 || u.InputTokens != nil || u.CostUSD != nil {
				t.Errorf("what it cost is unknown: %+v", u)
			}
			if r.g.Err("r1") == nil {
				t.Error("the trouble was not kept")
			}
		})
	}
}

func TestSilentStreamIsGivenUp(t *testing.T) {
	pr, pw := io.Pipe()
	w := &recorder{header: http.Header{}}
	go func() { _, _ = io.WriteString(pw, "data: {\"model\":\"m\"}\n\n") }()
	_, err := (&relay{limit: 1 << 20, idle: 20 * time.Millisecond, quiet: func() { _ = pw.CloseWithError(errSilent) }}).copy(w, pr)
	if !errors.Is(err, errSilent) {
		t.Errorf("err %v", err)
	}
}

type recorder struct {
	header http.Header
	strings.Builder
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) WriteHeader(int)     {}
func (r *recorder) Flush()              {}

func TestResponsesUsage(t *testing.T) {
	w := &recorder{header: http.Header{}}
	body := "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"model\":\"m\",\"usage\":{\"input_tokens\":5,\"output_tokens\":6,\"input_tokens_details\":{\"cached_tokens\":1}}}}\n\n"
	s, err := (&relay{limit: 1 << 20, idle: time.Minute, quiet: func() {}}).copy(w, strings.NewReader(body))
	if err != nil || s.model != "m" || *s.input != 5 || *s.output != 6 || *s.cached != 1 || w.String() != body {
		t.Errorf("%+v %v %q", s, err, w.String())
	}
	if _, err := (&relay{limit: 1 << 30, idle: time.Minute, quiet: func() {}}).copy(w, strings.NewReader("data: "+strings.Repeat("x", maxEvent+1))); err == nil {
		t.Error("a giant line passed")
	}
}

func TestInspect(t *testing.T) {
	user := `"messages":[{"role":"user","content":"x"}]`
	for _, c := range []struct{ rule, body, want string }{
		{"a plain question passes", `{"model":"m",` + user + `}`, ""},
		{"function tools pass", `{"model":"m",` + user + `,"tools":[{"type":"function"}]}`, ""},
		{"an image in the message passes", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}]}`, ""},
		{"an image by address does not: it can carry data out", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://evil.example/?q=1"}}]}]}`, "address"},
		{"nor in the form of the responses API", `{"model":"m","input":[{"content":[{"type":"input_image","image_url":"https://evil.example"}]}]}`, "address"},
		{"nor a file by address", `{"model":"m","input":[{"content":[{"type":"input_file","file_url":"https://evil.example"}]}]}`, "address"},
		{"a search by the provider is refused", `{"model":"m",` + user + `,"web_search_options":{}}`, "web_search_options"},
		{"so is a tool the provider runs", `{"model":"m",` + user + `,"tools":[{"type":"mcp","server_url":"https://evil.example"}]}`, "provider runs"},
		{"an address in text is only text", `{"model":"m","messages":[{"role":"user","content":"see https://example.com"}]}`, ""},
		{"input that brings tools of its own is refused", `{"model":"m","input":[{"type":"additional_tools","tools":[{"type":"web_search"}]}]}`, "additional_tools"},
		{"so is what an earlier call left there", `{"model":"m","input":[{"type":"item_reference","id":"x"}]}`, "item_reference"},
		{"and a prompt stored with the provider", `{"model":"m","input":"x","prompt":{"id":"p"}}`, "field prompt"},
		{"a conversation with calls passes", `{"model":"m","input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"y"}]}`, ""},
		{"a model is needed", `{` + user + `}`, "model is missing"},
		{"the model is a string", `{"model":["m"],` + user + `}`, "wrong type"},
		{"many answers at once are refused", `{"model":"m","n":100,` + user + `}`, "n is 100"},
		{"it is an object", `[]`, "not a JSON object"},
		{"null is no object", `null`, "not a JSON object"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, no := inspect(pathChat, []byte(c.body), asIs)
			if c.want == "" && no != nil || c.want != "" && (no == nil || !strings.Contains(no.message, c.want)) {
				t.Errorf("%+v", no)
			}
		})
	}
	c, no := inspect(pathChat, []byte(`{"model":"cheap","model":"m","stream":true,"stream_options":null,"service_tier":"priority","store":true,"n":2,"max_tokens":30,`+user+`}`), asIs)
	if no != nil {
		t.Fatal(no)
	}
	out, err := c.render(c.model, c.maxOutput, func(map[string]json.RawMessage) {})
	if err != nil {
		t.Fatal(err)
	}
	body := string(out)
	if c.model != "m" || strings.Contains(body, "cheap") || strings.Contains(body, "priority") || strings.Contains(body, "store") || c.maxOutput != 60 || !strings.Contains(body, `"include_usage":true`) {
		t.Errorf("%+v %s", c, body)
	}
}
