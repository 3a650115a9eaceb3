package gateway

import (
	"bytes"
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

func TestRender(t *testing.T) {
	c, no := inspect(pathChat, []byte(`{"model":"m","stream":true,"stream_options":null,"service_tier":"priority","store":true,"n":2,"max_tokens":30,`+
		`"messages":[{"role":"user","content":"x"}]}`), nil)
	if no != nil {
		t.Fatal(no)
	}
	out, err := c.render("n", c.maxOutput, func(map[string]json.RawMessage) {})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"max_tokens":30,"messages":[{"role":"user","content":"x"}],"model":"n","n":2,"store":false,"stream":true,"stream_options":{"include_usage":true}}`
	if body := string(bytes.Join(out, nil)); body != want || c.model != "m" || c.maxOutput != 60 {
		t.Errorf("%+v\n%s\nwant\n%s", c, body, want)
	}
}

// The Responses API stores what it is not told to forget.
func TestResponsesAreNeverStored(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 9})
	for _, store := range []string{"", `,"store":false`, `,"store":true`, `,"store":null`} {
		if status, body := r.send(pathResponses, `{"model":"m","input":"x"`+store+`}`); status != http.StatusOK {
			t.Fatal(status, body)
		}
	}
	for _, q := range r.model.Requests() {
		if !strings.Contains(string(q.Body), `"store":false`) {
			t.Errorf("%s", q.Body)
		}
	}
	if n := len(r.model.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
}
