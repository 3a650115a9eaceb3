package modelagent

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// TestAnswersAreStreamed: every call asks for a stream with its usage, and takes an answer that is none all the same.
func TestAnswersAreStreamed(t *testing.T) {
	usage := &fakemodel.Usage{Input: 4000, Cached: 30, Output: 5}
	for what, change := range map[string]func(*fakemodel.Answer){
		"streamed":                 func(a *fakemodel.Answer) { a.PieceRunes = 1 },
		"after comments":           func(a *fakemodel.Answer) { a.KeepAlives = 500 },
		"after thoughts":           func(a *fakemodel.Answer) { a.Reasoning = strings.Repeat("hm ", 1000) },
		"whole, streams unknown":   func(a *fakemodel.Answer) { a.Whole = true },
		"whole and without tokens": func(a *fakemodel.Answer) { a.Whole, a.NoUsage = true, true },
	} {
		t.Run(what, func(t *testing.T) {
			a := respond(finding("A", 6))
			a.Usage = usage
			change(&a)
			r := setup(t, fakemodel.Script{Default: &a}, review.Limits{})
			got, err := Review(t.Context(), task(), r.options, r.emit)
			if err != nil || len(got.Findings) != 1 {
				t.Fatal(got, err)
			}
			if q := r.model.Requests(); len(q) != 1 || !q[0].Stream || !strings.Contains(string(q[0].Body), `"include_usage":true`) {
				t.Errorf("%d requests, %s", len(q), q[0].Body)
			}
			var told *int
			for _, e := range r.events {
				if e.Usage != nil && e.Usage.LLMCalls == 1 {
					told = e.Usage.CachedTokens
				}
			}
			u := r.gateway.Usage("one")
			if a.NoUsage {
				if told != nil || u.InputTokens != nil {
					t.Errorf("unknown is never zero: %v %+v", told, u)
				}
			} else if told == nil || *told != 30 || u.CachedTokens == nil || *u.CachedTokens != 30 || *u.OutputTokens != 5 {
				t.Errorf("told %v, counted %+v", told, u)
			}
		})
	}
}

// TestBrokenStreamIsAskedAgain, without another call of the budget; one that always breaks off fails.
func TestBrokenStreamIsAskedAgain(t *testing.T) {
	broken := fakemodel.Answer{Text: strings.Repeat("word ", 100), Drop: "middle"}
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Times: 2, Answer: broken}, {Answer: respond(finding("A", 6))}}}, review.Limits{LLMCalls: 1})
	got, err := Review(t.Context(), limited(1), r.options, r.emit)
	if err != nil || len(got.Findings) != 1 || r.gateway.Usage("one").LLMCalls != 1 {
		t.Errorf("%v %v %+v", got, err, r.gateway.Usage("one"))
	}
	r = setup(t, fakemodel.Script{Default: &broken}, review.Limits{LLMCalls: 1})
	if _, err = Review(t.Context(), limited(1), r.options, r.emit); err == nil || !strings.Contains(err.Error(), "unexpected EOF") || len(r.model.Requests()) != 1+breaks {
		t.Errorf("%v after %d requests", err, len(r.model.Requests()))
	}
}

func limited(calls int) review.Task {
	q := task()
	q.Limits.LLMCalls = calls
	return q
}

// TestEndlessStreamIsCut at the bytes its tokens may have, and counts as that budget.
func TestEndlessStreamIsCut(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Endless: true}}, review.Limits{})
	if _, err := Review(t.Context(), task(), r.options, r.emit); !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), "tokens") {
		t.Errorf("%v", err)
	}
}

// TestStreamsRefused: an endpoint that refuses streams is asked without; "upstream" is no word about streams.
func TestStreamsRefused(t *testing.T) {
	no := func(message string) fakemodel.Rule {
		return fakemodel.Rule{Times: 1, Answer: fakemodel.Answer{Status: http.StatusBadRequest, Message: message}}
	}
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{no("Unsupported parameter: stream_options"), {Answer: respond()}}}, review.Limits{})
	if _, err := Review(t.Context(), task(), r.options, r.emit); err != nil {
		t.Error(err)
	}
	if q := r.model.Requests(); len(q) != 2 || q[1].Stream {
		t.Errorf("%d requests", len(q))
	}
	r = setup(t, fakemodel.Script{Rules: []fakemodel.Rule{no("the upstream is unwell"), {Answer: respond()}}}, review.Limits{})
	if _, err := Review(t.Context(), task(), r.options, r.emit); err == nil || len(r.model.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(r.model.Requests()))
	}
}

// TestGathered holds what differs between endpoints.
func TestGathered(t *testing.T) {
	delta := func(d string) string { return `data: {"choices":[{"delta":` + d + "}]}\n\n" }
	end := `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	for what, row := range map[string]struct{ stream, text, calls, fails string }{
		"a stream":                    {delta(`{"content":"a"}`) + delta(`{"content":"b"}`) + end + "data: [DONE]\n\n", "ab", "", ""},
		"carriage returns":            {strings.ReplaceAll(delta(`{"content":"a"}`)+end, "\n", "\r\n") + "data: [DONE]\r\n\r\n", "a", "", ""},
		"no blank after the colon":    {`data:{"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + end + "data:[DONE]", "a", "", ""},
		"names, comments, ids":        {"event: x\nid: 7\nretry: 10\n: hello\n" + delta(`{"content":"a"}`) + end + "data: [DONE]\n", "a", "", ""},
		"no end mark but a reason":    {delta(`{"content":"a"}`) + end, "a", "", ""},
		"neither":                     {delta(`{"content":"a"}`), "a", "", "broke off"},
		"nothing at all":              {"", "", "", "broke off"},
		"null content":                {delta(`{"content":null,"role":"assistant"}`) + end + "data: [DONE]\n\n", "", "", ""},
		"thoughts of two shapes":      {delta(`{"reasoning":"x"}`) + delta(`{"reasoning_content":["y"]}`) + delta(`{"content":"a"}`) + end, "a", "", ""},
		"an error in the middle":      {delta(`{"content":"a"}`) + `data: {"error":{"message":"overloaded","code":"x"}}` + "\n\n", "a", "", "overloaded"},
		"no JSON":                     {"data: {\n\n", "", "", "read the answer"},
		"usage of other types":        {delta(`{"content":"a"}`) + `data: {"choices":[],"usage":{"prompt_tokens":5.0,"prompt_tokens_details":[]}}` + "\n\n" + `data: {"choices":[],"usage":"none"}` + "\n\n" + end, "a", "", ""},
		"a line without an end":       {"data: " + strings.Repeat("x", lineBytes), "", "", "token too long"},
		"two calls in pieces":         {delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}}]}`) + delta(`{"tool_calls":[{"index":1,"id":"2","function":{"name":"g","arguments":"["}},{"index":0,"function":{"arguments":"}"}}]}`) + delta(`{"tool_calls":[{"index":1,"function":{"arguments":"]"}}]}`) + end, "", "1 f {} 2 g []", ""},
		"calls without an index":      {delta(`{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}`) + delta(`{"tool_calls":[{"id":"2","function":{"name":"g","arguments":"["}}]}`) + delta(`{"tool_calls":[{"function":{"arguments":"]"}}]}`) + end, "", "1 f {} 2 g []", ""},
		"an index beyond all measure": {delta(`{"tool_calls":[{"index":1000000000,"id":"1","function":{"name":"f","arguments":"{}"}}]}`) + end, "", "1 f {}", ""},
	} {
		t.Run(what, func(t *testing.T) {
			resp, err := gathered(strings.NewReader(row.stream), func(int) {})
			if row.fails != "" {
				came := ""
				if len(resp.Choices) > 0 {
					came = resp.Choices[0].Message.Content
				}
				if err == nil || !strings.Contains(err.Error(), row.fails) || came != row.text {
					t.Errorf("%+v %v", resp, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			for _, c := range resp.Choices[0].Message.ToolCalls {
				calls = append(calls, fmt.Sprint(c.ID, " ", c.Function.Name, " ", c.Function.Arguments))
				if c.Index != nil || c.Type != api.ToolTypeFunction {
					t.Errorf("%+v", c)
				}
			}
			if got := resp.Choices[0].Message.Content; got != row.text || strings.Join(calls, " ") != row.calls {
				t.Errorf("%q, calls %q", got, calls)
			}
		})
	}
}

// TestNewsOfAnAnswer: while it comes, how much there is so far is told, not in every log and not more than once a second.
func TestNewsOfAnAnswer(t *testing.T) {
	a := respond()
	a.Reasoning, a.PieceRunes, a.PaceMillis = strings.Repeat("h", 400), 40, 250
	r := setup(t, fakemodel.Script{Default: &a}, review.Limits{})
	began := time.Now()
	if _, err := Review(t.Context(), task(), r.options, r.emit); err != nil {
		t.Fatal(err)
	}
	news := 0
	for _, e := range r.events {
		if strings.Contains(e.Message, "tokens so far") {
			news++
			if e.Kind != review.EventUsage || e.Usage == nil || e.Usage.LLMCalls != 0 {
				t.Errorf("%+v", e)
			}
		}
	}
	if most := int(time.Since(began) / newsEvery); news == 0 || news > most {
		t.Errorf("%d times in %s", news, time.Since(began))
	}
}
