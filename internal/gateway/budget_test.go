package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// purseOf bounds money of which spent are gone.
func purseOf(spent float64, err error) func(*Options) {
	return func(o *Options) {
		o.Caps = []Cap{{Name: "pull request", USD: 1, Spent: func(context.Context) (float64, error) { return spent, err }}}
	}
}

// Each row is an axis that refuses a call before it is made (design.md "Budgets").
func TestEveryAxisRefusesBeforeTheCall(t *testing.T) {
	usage := &fakemodel.Usage{Input: 60, Output: 40}
	for _, c := range []struct {
		rule   string
		change func(*Options)
		model  string
		calls  int // let through before the refusal
		code   string
		axis   Axis
		scope  string
	}{
		{"tokens of an agent", func(o *Options) { o.AgentTokens = 250 }, mini, 2, CodeBudget, AxisTokens, "agent"},
		{"calls of the run, over all agents", func(o *Options) { o.Run.LLMCalls = 3 }, mini, 3, CodeBudget, AxisCalls, "run"},
		{"tokens of the run", func(o *Options) { o.Run.Tokens = 350 }, mini, 3, CodeBudget, AxisTokens, "run"},
		{"dollars of the run", func(o *Options) { o.Run.CostUSD = 0.0002 }, mini, 1, CodeBudget, AxisCost, "run"},
		{"wall time of the run", func(o *Options) { o.Run.WallTime = time.Nanosecond }, mini, 0, CodeBudget, AxisWallTime, "run"},
		{"dollars spent before the run", purseOf(1, nil), mini, 0, CodeBudget, AxisCost, "pull request"},
		{"what was spent before is unknown", purseOf(0, errors.New("locked")), mini, 0, CodeSpent, "", ""},
		{"calls of the run, some by an earlier process", func(o *Options) { o.Run.LLMCalls, o.Spent.LLMCalls = 3, 2 }, mini, 1, CodeBudget, AxisCalls, "run"},
		{"tokens of the run, some by an earlier process", func(o *Options) { o.Run.Tokens, o.Spent.Tokens = 350, 200 }, mini, 1, CodeBudget, AxisTokens, "run"},
		{"dollars of the run, all by an earlier process", func(o *Options) { o.Run.CostUSD, o.Spent.CostUSD = 0.0002, 0.0002 }, mini, 0, CodeBudget, AxisCost, "run"},
		{"what is spent cannot be kept", func(o *Options) { o.Keep = func(Totals) error { return errors.New("full") } }, mini, 0, CodeSpent, "", ""},
		{"no price, and the operator chose the bound", func(o *Options) { o.RefuseUnpriced = true }, "llama-local", 0, CodePrice, "", ""},
		{"no price, and the run is bounded in dollars", func(o *Options) { o.Run.CostUSD = 9 }, "llama-local", 0, CodePrice, "", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "ok", Usage: usage}}, review.Limits{LLMCalls: 50}, c.change)
			agents := []string{r.token}
			if c.scope != "agent" {
				agents = append(agents, r.g.Issue("r2", review.Limits{LLMCalls: 50}, known...))
			}
			status, body := 0, ""
			for i := range 20 {
				r.token = agents[i%len(agents)]
				if status, body = r.ask(c.model, "x"); status != http.StatusOK {
					break
				}
			}
			if status != http.StatusPaymentRequired || !strings.Contains(body, c.code) || !strings.Contains(body, string(c.axis)) {
				t.Errorf("%d %s", status, body)
			}
			if n := len(r.model.Requests()); n != c.calls {
				t.Errorf("%d calls were let through, want %d", n, c.calls)
			}
			name := []string{"r1", "r2"}[c.calls%len(agents)]
			var over *BudgetError
			if errors.As(r.g.Err(name), &over) && (over.Axis != c.axis || over.Scope != c.scope) || over == nil && c.axis != "" || r.g.Err(name) == nil {
				t.Errorf("err %v (%+v)", r.g.Err(name), over)
			}
		})
	}
}

func TestUnpricedModelIsAskedWhereNobodyChoseABound(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{})
	if status, body := r.ask("llama-local", "x"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	r = setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) {
		o.RefuseUnpriced = true
		o.Prices = map[string]Price{"llama-local": {}}
	})
	if status, body := r.ask("llama-local", "x"); status != http.StatusOK {
		t.Errorf("a free model has a price: %d %s", status, body)
	}
}

// limits that the endpoint saw.
func asked(t *testing.T, q fakemodel.Request) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(q.Body, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAnswersAreBoundedToWhatIsLeft(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "ok"}}, review.Limits{LLMCalls: 9}, func(o *Options) { o.AgentTokens = 2000 })
	body := `{"model":"gpt-4.1-mini","max_completion_tokens":100000,"messages":[{"role":"user","content":"x"}]}`
	for _, b := range []string{body, strings.Replace(body, `"max_completion_tokens":100000,`, "", 1), strings.Replace(body, "gpt-4.1-mini\",\"max_completion_tokens\":100000", "o3\"", 1)} {
		resp, err := r.post(b)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%d for %s", resp.StatusCode, b)
		}
	}
	for i, field := range []string{"max_completion_tokens", "max_tokens", "max_completion_tokens"} {
		m := asked(t, r.model.Requests()[i])
		if n, _ := m[field].(float64); n < 1500 || n > 2000 {
			t.Errorf("request %d: %s is %v of 2000 tokens", i, field, m[field])
		}
	}
}

// A model that answers far more than it may is cut, streamed or not, and what it said is charged.
func TestAnswerBeyondItsLimitIsCut(t *testing.T) {
	for what, a := range map[string]fakemodel.Answer{
		"100 k tokens": {Text: "word ", Repeat: 100_000},
		"never stops":  {Endless: true},
	} {
		t.Run(what, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Default: &a}, review.Limits{LLMCalls: 9}, func(o *Options) { o.AgentTokens = 1000 })
			text, err := r.streamed(chat(mini, "x", true))
			if err == nil || len(text) > 1<<20 {
				t.Errorf("%d bytes ended like a whole answer", len(text))
			}
			var over *BudgetError
			if !errors.As(r.g.Err("r1"), &over) || over.Axis != AxisTokens {
				t.Errorf("err %v", r.g.Err("r1"))
			}
		})
	}
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "word ", Repeat: 100_000}}, review.Limits{LLMCalls: 9}, func(o *Options) { o.AgentTokens = 1000 })
	r.ask(mini, "x")
	if status, body := r.ask(mini, "x"); status != http.StatusPaymentRequired || !strings.Contains(body, string(AxisTokens)) {
		t.Errorf("the call after an answer of 100 k tokens: %d %s", status, body)
	}
}

func withTools(stream bool, names ...string) string {
	var tools []string
	for _, n := range names {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":%q,"parameters":{"type":"object"}}}`, n))
	}
	return fmt.Sprintf(`{"model":%q,"stream":%v,"max_tokens":100,"messages":[{"role":"user","content":"x"}],"tools":[%s]}`, mini, stream, strings.Join(tools, ","))
}

func calling(names ...string) *fakemodel.Answer {
	a := &fakemodel.Answer{}
	for _, n := range names {
		a.ToolCalls = append(a.ToolCalls, fakemodel.ToolCall{Name: n, Arguments: `{"path":"a"}`})
	}
	return a
}

// A model that loops on tools gets the tool calls that are left, then an answer without tools, then an end.
func TestToolCallsAreCut(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream ", stream), func(t *testing.T) {
			var notes []string
			r := setup(t, fakemodel.Script{Default: calling("read", "read", "submit", "read")}, review.Limits{LLMCalls: 9, ToolCalls: 5},
				func(o *Options) {
					o.FreeTools = []string{"submit"}
					o.Note = func(agent, m string) { notes = append(notes, agent+": "+m) }
				})
			first, err := r.streamed(withTools(stream, "read", "submit"))
			if err != nil || strings.Count(first, `"name":"read"`) != 3 {
				t.Errorf("within the budget: %v %s", err, first)
			}
			second, err := r.streamed(withTools(stream, "read", "submit"))
			if err != nil || strings.Count(second, `"name":"read"`) != 2 || strings.Count(second, `"name":"submit"`) != 1 {
				t.Errorf("two are left, and the free one: %v %s", err, second)
			}
			if u := r.g.Usage("r1"); u.ToolCalls != 5 {
				t.Errorf("usage %+v", u)
			}
			if _, err := r.streamed(withTools(stream, "read", "submit")); err == nil {
				m := asked(t, r.model.Requests()[2])
				if list, _ := m["tools"].([]any); len(list) != 1 || m["tool_choice"] != "auto" {
					t.Errorf("only the free tool is offered: %v", m["tools"])
				}
			}
			if len(notes) == 0 || !strings.Contains(notes[0], "tool calls beyond the budget") {
				t.Error("nobody was told")
			}
			r = setup(t, fakemodel.Script{Default: calling("read")}, review.Limits{LLMCalls: 9, ToolCalls: 1})
			if _, err := r.streamed(withTools(stream, "read")); err != nil {
				t.Fatal(err)
			}
			resp, err := r.post(withTools(stream, "read"))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body) // it breaks off; who hangs up before is told nothing
			_ = resp.Body.Close()
			if m := asked(t, r.model.Requests()[1]); m["tool_choice"] != "none" {
				t.Errorf("tools are still offered: %v", m["tool_choice"])
			}
			if !stream && resp.StatusCode != http.StatusPaymentRequired {
				t.Errorf("status %d", resp.StatusCode)
			}
			var over *BudgetError
			if stream {
				soon(t, "the call is settled", func() bool { return r.g.Err("r1") != nil })
			}
			if !errors.As(r.g.Err("r1"), &over) || over.Axis != AxisToolCalls {
				t.Errorf("err %v", r.g.Err("r1"))
			}
		})
	}
}

func TestWallTimeCutsACallThatHangs(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Hang: true}}, review.Limits{}, func(o *Options) { o.Run.WallTime = 100 * time.Millisecond })
	status, body := r.ask(mini, "x")
	var over *BudgetError
	if status != http.StatusPaymentRequired || !strings.Contains(body, CodeBudget) || !errors.As(r.g.Err("r1"), &over) || over.Axis != AxisWallTime || over.Scope != "run" {
		t.Errorf("%d %s, err %v", status, body, r.g.Err("r1"))
	}
}

// A child that is ended in the middle of an answer has hung up; its receipt must not blame the endpoint for that.
func TestHangingUpIsNoTroubleOfTheEndpoint(t *testing.T) {
	for _, stream := range []bool{false, true} {
		r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Hang: true}}, review.Limits{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			if resp, err := r.postIn(ctx, withTools(stream, "read")); err == nil {
				resp.Body.Close()
			}
		}()
		soon(t, "the model is asked", func() bool { return len(r.model.Requests()) > 0 })
		cancel()
		<-done
		soon(t, "the call is settled", func() bool { return r.g.Usage("r1").LLMSeconds > 0 })
		if err := r.g.Err("r1"); err != nil {
			t.Errorf("stream %v: %v", stream, err)
		}
	}
}

// soon waits for what another goroutine brings about.
func soon(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 5 s: %s", what)
		}
	}
}

// What a gateway spent is kept before each call, with what is held for it, and when it has ended; what was spent before it is
// included, and is none of its own.
func TestSpendingIsKept(t *testing.T) {
	var kept []Totals
	before := Totals{LLMCalls: 5, ToolCalls: 6, Tokens: 7, CostUSD: 0.5}
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "ok", Usage: &fakemodel.Usage{Input: 60, Output: 40}}}, review.Limits{},
		func(o *Options) {
			o.Spent, o.Keep = before, func(s Totals) error { kept = append(kept, s); return nil }
		}, purseOf(0.999, nil))
	if status, body := r.ask(mini, "x"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if err := r.g.Close(); err != nil { // the call is settled by then
		t.Fatal(err)
	}
	if len(kept) != 2 {
		t.Fatalf("kept %+v, want the state before the call and after it", kept)
	}
	held, settled := kept[0], kept[1]
	if held.LLMCalls != 6 || held.Tokens <= settled.Tokens || held.CostUSD <= settled.CostUSD {
		t.Errorf("before the call %+v is kept, after it %+v", held, settled)
	}
	if settled.LLMCalls != 6 || settled.ToolCalls != 6 || settled.Tokens != 107 || settled.CostUSD <= 0.5 {
		t.Errorf("after the call %+v is kept", settled)
	}
	if own := r.g.Charged(); own <= 0 || own >= 0.01 {
		t.Errorf("the gateway itself charged $%f", own)
	}
}

// What an agent asks for, however much and however often in one call, gives no budget back: not while the call is on its way, and not
// when the agent hangs up, after which nobody knows what it cost.
func TestNoLengthOfAnAnswerGivesBudgetBack(t *testing.T) {
	for _, ask := range []string{
		`"n":8,"max_tokens":2305843008213693952`, // eight of them are 8e9 below zero
		`"n":8,"max_tokens":1152921504606846976`, `"n":8,"max_completion_tokens":2305843009213693952`,
		`"n":7,"max_tokens":9223372036854775807`, `"max_tokens":9223372036854775807`, `"n":8,"max_tokens":-5`,
	} {
		t.Run(ask, func(t *testing.T) {
			t.Parallel()
			told := make(chan Totals, 8)
			r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 50, CostUSD: 0.5}, func(o *Options) {
				o.AgentTokens, o.Run = 2000, Totals{Tokens: 4000, CostUSD: 1}
				o.Keep = func(t Totals) error { told <- t; return nil }
				o.transport = transportFunc(func(req *http.Request) (*http.Response, error) {
					<-req.Context().Done()
					return nil, req.Context().Err()
				})
			})
			ctx, hangUp := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer hangUp()
			if resp, err := r.postIn(ctx, `{"model":"`+mini+`",`+ask+`,"messages":[{"role":"user","content":"x"}]}`); err == nil {
				resp.Body.Close()
			}
			for _, when := range []string{"while the call is on its way", "after it"} {
				if now := <-told; now.Tokens <= 0 || now.CostUSD <= 0 || now.Tokens > 4000 || now.CostUSD > 1 {
					t.Errorf("%s the run has spent %+v", when, now)
				}
			}
		})
	}
}

// transportFunc is an endpoint in a function.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The default bound of a run refuses no model for want of a price; one that was chosen does.
func TestDefaultBoundAdmitsModelsWithoutPrice(t *testing.T) {
	for admit, want := range map[bool]int{true: http.StatusOK, false: http.StatusPaymentRequired} {
		r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) { o.Run.CostUSD, o.AdmitUnpriced = 5, admit })
		r.token = r.g.Issue("r1", review.Limits{}, "nobody-knows")
		if status, body := r.ask("nobody-knows", "x"); status != want {
			t.Errorf("admitted %v: %d %s", admit, status, body)
		}
	}
}

// What a provider bills its caller itself, by a key of their own, uses up the budget; what an answer repeats of its own cost does not twice (threats.md T629).
func TestABillOfTheProviderCounts(t *testing.T) {
	for usage, want := range map[string]float64{ // -1 is unknown
		`"cost":0.36`:   0.36,
		`"cost":"0.36"`: 0.36,
		`"cost":{"input_tokens_cost":0.06,"request_cost":0.3,"total_cost":0.36}`:      0.36,
		`"cost":0,"is_byok":true,"cost_details":{"upstream_inference_cost":0.36}`:     0.36,
		`"cost":0.02,"is_byok":true,"cost_details":{"upstream_inference_cost":0.36}`:  0.38,
		`"is_byok":true,"cost_details":{"upstream_inference_cost":0.36}`:              0.36,
		`"cost":0.02,"cost_details":{"upstream_inference_cost":0.36}`:                 0.38,
		`"cost":0.36,"cost_details":{"upstream_inference_cost":0.36}`:                 0.36,
		`"cost":0.36,"is_byok":false,"cost_details":{"upstream_inference_cost":0.36}`: 0.36,
		`"cost":0.36,"is_byok":false,"cost_details":{"upstream_inference_cost":null}`: 0.36,
		`"cost":0,"is_byok":true`:                                                                        -1,
		`"cost":0.36,"cost_details":"none","is_byok":"no"`:                                               0.36,
		`"cost":0.36,"is_byok":true,"cost_details":{"upstream_inference_cost":-1}`:                       -1,
		`"cost":0,"is_byok":true,"cost_details":{"upstream_inference_cost":"much"}`:                      -1,
		`"cost":0.36,"is_byok":true,"cost_details":{"upstream_inference_cost":1e300}`:                    -1,
		`"prompt_tokens":5,"cost_details":{"upstream_inference_cost":0.36},"is_byok":false,"cost":1e300`: -1,
	} {
		var s spent
		s.read([]byte(`{"choices":[],"usage":{` + usage + `}}`))
		if got := s.cost; got == nil && want >= 0 || got != nil && math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", usage, got, want)
		}
	}
	now, over := time.Now(), (*BudgetError)(nil)
	a := newAccount("r", review.Limits{CostUSD: 1, LLMCalls: 100}, 0, 1<<20, newPurse(Options{}), now)
	for i := range 5 {
		r, err := a.reserve(&call{size: 3000, maxOutput: 20000, n: 1}, mini, &Price{Input: 2, Output: 8}, nil, now)
		if errors.As(err, &over) && over.Axis == AxisCost && i == 3 {
			return
		}
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		var s spent
		s.read([]byte(`{"choices":[],"usage":{"prompt_tokens":100000,"completion_tokens":20000,"cost":0,"is_byok":true,"cost_details":{"upstream_inference_cost":0.36}}}`))
		r.settle(s, now)
	}
	t.Error("a dollar is never used up")
}
