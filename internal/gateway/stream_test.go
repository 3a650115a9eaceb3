package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
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
	for what, row := range map[string]struct {
		answer fakemodel.Answer
		calls  int // a call that broke off by itself is given back
	}{
		"cut in the middle": {fakemodel.Answer{Text: strings.Repeat("word ", 100), Drop: "middle"}, 0},
		"never stops":       {fakemodel.Answer{Endless: true}, 1},
	} {
		t.Run(what, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Default: &row.answer}, review.Limits{}, func(o *Options) { o.ResponseLimit = 100_000 })
			if text, err := r.streamed(chat(mini, "x", true)); err == nil {
				t.Errorf("%d bytes ended like a whole answer", len(text))
			}
			if u := r.g.Usage("r1"); u.LLMCalls != row.calls || u.InputTokens != nil || u.CostUSD != nil {
				t.Errorf("what it cost is unknown: %+v", u)
			}
			if r.g.Err("r1") == nil {
				t.Error("the trouble was not kept")
			}
		})
	}
}

// TestModelsMayThink: what is bounded is the silence, not the time. Times are a hundredth of those of a model that sends a token
// every 20 s for 12 minutes; the idle limit is a hundredth of 2 minutes.
func TestModelsMayThink(t *testing.T) {
	const idle = 1200 * time.Millisecond
	for what, a := range map[string]fakemodel.Answer{
		"a token now and then": {Text: "abcdefghijklmnopqrstuvwxyz0123456789", PieceRunes: 1, PaceMillis: 200},
		"thoughts":             {Text: "a", Reasoning: "abcdefghijklmnopqrst", PieceRunes: 1, PaceMillis: 200},
		"comments":             {Text: "a", KeepAlives: 20, PaceMillis: 200},
	} {
		for path, body := range map[string]string{
			pathChat:      chat(mini, "x", true),
			pathResponses: `{"model":"` + mini + `","stream":true,"input":"x"}`,
			pathMessages:  `{"model":"` + mini + `","stream":true,"max_tokens":100,"messages":[{"role":"user","content":"x"}]}`,
		} {
			if a.Reasoning != "" && path != pathChat {
				continue
			}
			t.Run(what+path, func(t *testing.T) {
				t.Parallel()
				r := setup(t, fakemodel.Script{Default: &a}, review.Limits{}, func(o *Options) { o.idle = idle })
				began := time.Now()
				status, text := r.call(http.MethodPost, path, r.token, body)
				if took := time.Since(began); status != http.StatusOK || strings.Contains(text, CodeTimeout) || r.g.Err("r1") != nil || took < 2*idle {
					t.Errorf("%d after %s: %v\n%s", status, took, r.g.Err("r1"), text)
				}
			})
		}
	}
}

// TestSilentModelsAreEnded: before the first byte, in the middle of a stream and of a whole answer.
func TestSilentModelsAreEnded(t *testing.T) {
	for what, row := range map[string]struct {
		answer fakemodel.Answer
		stream bool
	}{
		"no byte at all":               {fakemodel.Answer{Hang: true}, true},
		"no byte of a whole answer":    {fakemodel.Answer{Hang: true}, false},
		"nothing more after two words": {fakemodel.Answer{Text: strings.Repeat("word ", 100), Stall: 2}, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := setup(t, fakemodel.Script{Default: &row.answer}, review.Limits{}, func(o *Options) { o.idle = 150 * time.Millisecond })
			if q := r.g.Quiet("r1"); q < time.Hour {
				t.Errorf("a model that was never asked was heard %s ago", q)
			}
			began := time.Now()
			var text string
			if resp, err := r.post(chat(mini, "x", row.stream)); err == nil {
				data, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				text = string(data)
			}
			const why = "fell silent: no byte for 150ms, the most that limits.max_idle_seconds allows"
			if err := r.g.Err("r1"); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("kept: %v", err)
			}
			if !strings.Contains(text, CodeTimeout) || !strings.Contains(text, why) {
				t.Errorf("told: %s", text)
			}
			if n, took := len(r.model.Requests()), time.Since(began); n != 1 || took > 5*time.Second {
				t.Errorf("asked %d times in %s", n, took)
			}
			if q := r.g.Quiet("r1"); q <= 0 || q > time.Minute {
				t.Errorf("quiet for %s", q)
			}
		})
	}
}

// TestWaitingIsNotSilence: while a model is waited for, nobody is to blame its agent.
func TestWaitingIsNotSilence(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "x", DelayMillis: 400}}, review.Limits{})
	var asking sync.WaitGroup
	defer asking.Wait() // whoever asks is part of the test
	asking.Go(func() { _, _ = r.ask(mini, "x") })
	soon(t, "the model was asked", func() bool { return len(r.model.Requests()) == 1 })
	for range 10 {
		if q := r.g.Quiet("r1"); q != 0 {
			t.Errorf("quiet for %s while the model thinks", q)
		}
		time.Sleep(10 * time.Millisecond)
	}
	soon(t, "the wait is over", func() bool { return r.g.Quiet("r1") > 0 })
}

// TestBrokenStreamsGiveTheCallBack, as answers that are not streamed are asked for again within one call; thrice at most.
func TestBrokenStreamsGiveTheCallBack(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: strings.Repeat("word ", 100), Drop: "middle"}}, review.Limits{LLMCalls: 2})
	for n, calls := range []int{0, 0, 0, 1, 2} {
		text, err := r.streamed(chat(mini, "x", true))
		if err == nil || !strings.Contains(text, CodeUnreachable) || strings.Contains(text, "[DONE]") {
			t.Errorf("%v: %s", err, text)
		}
		soon(t, "it was settled", func() bool { return r.g.Usage("r1").LLMCalls == calls })
		if u := r.g.Usage("r1"); u.CostUSD != nil {
			t.Errorf("stream %d: what it cost is unknown: %+v", n, u)
		}
	}
	if status, body := r.ask(mini, "x"); status != http.StatusPaymentRequired {
		t.Errorf("%d %s", status, body)
	}
}

// TestUsageIsKnownAtTheEnd: whoever has read the end mark of a stream finds what it cost.
func TestUsageIsKnownAtTheEnd(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 50})
	for n := range 50 {
		resp, err := r.post(chat(mini, "x", true))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() && lines.Text() != "data: [DONE]" {
		}
		u := r.g.Usage("r1")
		_ = resp.Body.Close()
		if lines.Text() != "data: [DONE]" || u.OutputTokens == nil || u.LLMCalls != n+1 {
			t.Fatalf("stream %d: %q %+v", n, lines.Text(), u)
		}
	}
}

// TestStreamLimit: each token may come in an event of its own, and a stream without an end has one.
func TestStreamLimit(t *testing.T) {
	for _, row := range []struct {
		tokens int
		want   int64
	}{{0, 8 << 20}, {8192, 8 << 20}, {32768, 16 << 20}, {1 << 40, 32 << 20}} {
		if got := streamLimit(8<<20, row.tokens); got != row.want {
			t.Errorf("%d tokens: %d bytes, want %d", row.tokens, got, row.want)
		}
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
	one := relay{limit: 1 << 20}
	s, err := one.copy(w, strings.NewReader(body))
	if err != nil || s.model != "m" || *s.input != 5 || *s.output != 6 || *s.cached != 1 || w.String()+string(one.tail) != body || !strings.HasPrefix(string(one.tail), "data:") {
		t.Errorf("%+v %v %q %q", s, err, w.String(), one.tail)
	}
	if _, err := (&relay{limit: 1 << 30}).copy(w, strings.NewReader("data: "+strings.Repeat("x", maxEvent+1))); err == nil {
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

// TestEventsComeInOneLine (threats.md T630): what readers may put together of several lines is an event that nobody has counted.
func TestEventsComeInOneLine(t *testing.T) {
	const head, end = `{"choices":[{"index":0,`, `"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"read","arguments":"{}"}}]}}]}`
	for what, body := range map[string]string{
		"two lines":        "data: " + head + "\ndata: " + end + "\n\n",
		"a name between":   "data: " + head + "\nevent: x\ndata: " + end + "\n\n",
		"CR":               "event: x\rdata: " + head + end + "\r\r\n\n",
		"byte order mark":  "\xef\xbb\xbfdata: " + head + end + "\n\n",
		"no blank between": "data: {}\ndata: " + head + end + "\n\n",
	} {
		a := newAccount("r", review.Limits{ToolCalls: 1}, 0, 1<<20, newPurse(Options{}), time.Now())
		a.takeTools(1)
		w := &recorder{header: http.Header{}}
		if _, err := (&relay{limit: 1 << 20, tools: toolBudget{account: a}}).copy(w, strings.NewReader(body+"data: [DONE]\n\n")); err == nil || strings.Contains(w.String(), "read") {
			t.Errorf("%s: %v\n%s", what, err, w.String())
		}
	}
	for what, body := range map[string]string{
		"no JSON":          "data: ping\n\ndata:\n\n",
		"lines of Windows": ": x\r\ndata: {}\r\n\r\n",
		"an empty line":    "data:\ndata: {}\n\n",
		"no blank between": "data: {}\ndata: {\"a\": 1}\n",
	} {
		w := &recorder{header: http.Header{}}
		if _, err := (&relay{limit: 1 << 20}).copy(w, strings.NewReader(body+"data: [DONE]\n\n")); err != nil || w.String() != body {
			t.Errorf("%s: %v\n%q", what, err, w.String())
		}
	}
}
