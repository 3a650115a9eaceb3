package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// spend is one scripted model that would spend without end, and the bound that stops it.
type spend struct {
	rule string
	// config is added to the operator's file; reviewers are the builtin ones, beside a command that finds something.
	config    string
	reviewers []string
	model     fakemodel.Answer
	// least and most are how many calls the endpoint receives.
	least, most int
	// outOf stands in the report and in the receipt of the agent that was cut.
	outOf string
	// raise is how its message names the setting; empty for any.
	raise string
	// check looks at what the endpoint received; nil looks at nothing more.
	check func(*testing.T, []fakemodel.Request)
}

// readFile is a call of a tool, numbered so that no two are the same.
func readFile(n int) fakemodel.ToolCall {
	return fakemodel.ToolCall{ID: fmt.Sprintf("c%d", n), Name: "read_file", Arguments: fmt.Sprintf(`{"path":"stock.go","start":%d}`, n+1)}
}

func dollars(d float64) *fakemodel.Usage {
	return &fakemodel.Usage{Input: 5000, Output: 10, CostUSD: &d}
}

var spends = []spend{
	{
		rule: "LLM calls: a model that loops on tools for ever", config: "limits: {max_llm_calls: 6, max_tool_calls: 500}",
		model: fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{readFile(1)}}, least: 6, most: 6, outOf: "LLM calls",
	},
	{
		rule: "tool calls: ten at a time, three are allowed", config: "limits: {max_llm_calls: 8, max_tool_calls: 3}",
		model: fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{
			readFile(1), readFile(2), readFile(3), readFile(4), readFile(5), readFile(6), readFile(7), readFile(8), readFile(9), readFile(10),
		}}, least: 2, most: 8, outOf: "tool calls",
		check: func(t *testing.T, all []fakemodel.Request) {
			results := 0
			for _, m := range all[len(all)-1].Messages {
				if m.Role == "tool" && !strings.Contains(m.Text, "error:") {
					results++
				}
			}
			if results != 3 {
				t.Errorf("the model was shown the results of %d tool calls, want 3", results)
			}
		},
	},
	{
		rule: "tokens: an answer of 100,000 tokens where 8,192 were asked for", config: "limits: {max_llm_calls: 8}",
		model: fakemodel.Answer{Text: "wordy ", Repeat: 66_000}, least: 1, most: 2, outOf: "tokens", check: allowed(8192),
	},
	{
		rule: "tokens: an answer that never ends", config: "limits: {max_llm_calls: 8}",
		model: fakemodel.Answer{Endless: true}, least: 1, most: 2, outOf: "tokens", check: allowed(8192),
	},
	{
		rule: "tokens: what one agent may use shortens the answer, then refuses the next call", config: "limits: {max_llm_calls: 8, max_tokens: 9000}",
		model: fakemodel.Answer{Text: "no JSON", Usage: &fakemodel.Usage{Input: 3000, Output: 5990}}, least: 1, most: 1, outOf: "tokens", raise: "limits.max_tokens raises it", check: allowed(8000),
	},
	{
		rule: "tokens: a brief that is larger than the bound is never sent", config: "limits: {max_tokens: 1000}",
		model: fakemodel.Answer{Text: "unreached"}, outOf: "tokens",
	},
	{
		rule: "cost: the first answer ate it all", config: "limits: {max_cost_usd: 0.40}",
		model: fakemodel.Answer{Text: "no JSON", Usage: dollars(0.399)}, least: 1, most: 1, outOf: "cost", raise: "limits.max_cost_usd raises it (--max-cost)",
	},
	{
		rule: "cost: not even the question can be paid", config: "limits: {max_cost_usd: 0.0001}",
		model: fakemodel.Answer{Text: "unreached"}, outOf: "cost",
	},
	{
		rule: "wall time: a model that never answers", config: "limits: {max_wall_time_seconds: 1}",
		model: fakemodel.Answer{Hang: true}, most: 1, outOf: "wall time", raise: "limits.max_wall_time_seconds raises it (--max-wall-time)",
	},
	{
		rule: "wall time of the run: a model that never answers", config: "wall_time: 2s",
		model: fakemodel.Answer{Hang: true}, most: 1, outOf: "wall time", raise: "wall_time raises it",
	},
	{
		rule: "LLM calls of the run: three agents, two calls", config: "run_limits: {max_llm_calls: 2}", reviewers: []string{"one", "two", "three"},
		model: fakemodel.Answer{Text: "no JSON"}, least: 2, most: 2, outOf: "LLM calls", raise: "run_limits.max_llm_calls raises it",
	},
	{
		rule: "tool calls of the run: three agents, four calls", config: "limits: {max_llm_calls: 8, max_tool_calls: 9}\nrun_limits: {max_tool_calls: 4}",
		reviewers: []string{"one", "two", "three"}, model: fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{readFile(1), readFile(2)}},
		least: 2, most: 24, outOf: "tool calls", raise: "run_limits.max_tool_calls raises it",
	},
	{
		rule: "tokens of the run: two agents, room for one", config: "limits: {max_llm_calls: 2}\nrun_limits: {max_tokens: 9000}", reviewers: []string{"one", "two"},
		model: fakemodel.Answer{Text: "no JSON", Usage: &fakemodel.Usage{Input: 3000, Output: 5990}}, least: 1, most: 1, outOf: "tokens",
	},
	{
		rule: "cost of the run: the first answer ate it all", config: "run_limits: {max_cost_usd: 0.05}", reviewers: []string{"one", "two"},
		model: fakemodel.Answer{Text: "no JSON", Usage: dollars(0.0499)}, least: 1, most: 2, outOf: "cost of the run", raise: "run_limits.max_cost_usd raises it (--max-run-cost)",
	},
	{
		rule: "cost of the run: the default", config: "limits: {max_cost_usd: 100}", reviewers: []string{"one", "two"},
		model: fakemodel.Answer{Text: "no JSON", Usage: dollars(4.9999)}, least: 1, most: 2, outOf: "cost of the run",
	},
}

// allowed checks that every request asks for an answer of at most so many tokens.
func allowed(tokens int) func(*testing.T, []fakemodel.Request) {
	return func(t *testing.T, all []fakemodel.Request) {
		for _, r := range all {
			var w struct {
				Most int `json:"max_completion_tokens"`
			}
			if err := json.Unmarshal(r.Body, &w); err != nil || w.Most <= 0 || w.Most > tokens {
				t.Errorf("call %d asks for up to %d tokens, want at most %d: %v", r.Call, w.Most, tokens, err)
			}
		}
	}
}

// TestBudgets runs prloop with models that would spend without end, and holds every axis to three things: the
// call that would exceed it never reached the endpoint, the run ended with status 5 and names the budget, and what the other
// reviewer found was published all the same.
func TestBudgets(t *testing.T) {
	t.Parallel()
	for _, c := range spends {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			m := endpoint(t, fakemodel.Script{Default: &c.model})
			p, env, home := budgetWorld(t, m, c.config, c.reviewers)
			began := time.Now()
			r := budgetRun(t, env, home, 5)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("the run took %v", took)
			}
			all := m.Requests()
			if len(all) < c.least || len(all) > c.most {
				t.Errorf("the endpoint received %d calls, want %d to %d", len(all), c.least, c.most)
			}
			if c.check != nil && len(all) > 0 {
				c.check(t, all)
			}
			if r.Outcome != review.Budget || !strings.Contains(r.Reason, c.outOf) {
				t.Errorf("outcome %s (%s), want budget for %s", r.Outcome, r.Reason, c.outOf)
			}
			names := func(a review.AgentReceipt) bool { return strings.HasSuffix(a.Reason, "; "+c.raise) }
			if c.raise != "" && !slices.ContainsFunc(r.Receipt.Agents, names) {
				t.Errorf("nobody names the setting %s: %+v", c.raise, r.Receipt.Agents)
			}
			published(t, p, c.outOf)
		})
	}
}

// TestBudgetsBeyondTheRun holds dollars to what earlier runs spent: of the same pull request, and of the day.
func TestBudgetsBeyondTheRun(t *testing.T) {
	t.Parallel()
	for _, bound := range []string{"per_pull_request_usd", "per_day_usd"} {
		t.Run(bound, func(t *testing.T) {
			t.Parallel()
			m := endpoint(t, fakemodel.Script{Default: &fakemodel.Answer{JSON: envelope(nil), Usage: dollars(0.75)}})
			p, env, home := budgetWorld(t, m, "limits: {max_cost_usd: 10}\nbudgets: {"+bound+": 0.752}", nil)
			if r := budgetRun(t, env, home, 3); r.Receipt.Complete != 2 {
				t.Errorf("the first run had %d complete answers, want 2: %s", r.Receipt.Complete, r.Reason)
			}
			if r := budgetRun(t, env, home, 5); !strings.Contains(r.Reason, "cost") {
				t.Errorf("the second run does not name its budget: %s", r.Reason)
			}
			if n := len(m.Requests()); n != 1 {
				t.Errorf("the endpoint received %d calls, want the one of the first run", n)
			}
			published(t, p, "cost")
		})
	}
}

// TestOwnCostCountsOnce holds a fixer to what its own run spent before: $0.40 of $0.70, not twice that.
func TestOwnCostCountsOnce(t *testing.T) {
	t.Parallel()
	submit := fakemodel.ToolCall{ID: "s", Name: "submit_fix_result", Arguments: `{"fixed":[],"rejected":[{"findingId":"BUG-001","reason":"It is meant so."}]}`}
	m := endpoint(t, fakemodel.Script{
		Rules:   []fakemodel.Rule{{Role: "system", Contains: "who fixes a pull request", Answer: fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{submit}, Usage: dollars(0.01)}}},
		Default: &fakemodel.Answer{JSON: envelope(nil), Usage: dollars(0.40)},
	})
	p, env, home := budgetWorld(t, m, "limits: {max_cost_usd: 10}\nbudgets: {per_pull_request_usd: 0.70}\nverify: [\"true\"]\nfixer: {use: builtin}\nfix: {untrusted_authors: true}", nil)
	r := budgetRun(t, env, home, 3)
	if len(r.Rounds) != 1 || r.Rounds[0].Fix == nil {
		t.Fatalf("no fix in %+v", r.Rounds)
	}
	if fix := r.Rounds[0].Fix; fix.Agent.OutOf != "" || fix.Agent.Usage.LLMCalls == 0 {
		t.Errorf("the fixer: %s, %+v", fix.Reason, fix.Agent)
	}
	if n := len(m.Requests()); n < 2 {
		t.Errorf("the endpoint received %d calls, want one of the reviewer and one of the fixer", n)
	}
	if comments := p.Comments(); len(comments) != 2 {
		t.Errorf("%d comments, want the report and that of the fix", len(comments))
	}
}

// TestUnknownCostIsNotNothing holds what a model that never answered may have cost against the budget of the pull request.
func TestUnknownCostIsNotNothing(t *testing.T) {
	t.Parallel()
	m := endpoint(t, fakemodel.Script{Default: &fakemodel.Answer{Hang: true}})
	_, env, home := budgetWorld(t, m, "limits: {max_wall_time_seconds: 2, max_cost_usd: 1}\nbudgets: {per_pull_request_usd: 1}", nil)
	budgetRun(t, env, home, 5)
	asked := len(m.Requests())
	if r := budgetRun(t, env, home, 5); asked != 1 || len(m.Requests()) != asked || !strings.Contains(r.Reason, "cost") {
		t.Errorf("%d calls, then %d: %s", asked, len(m.Requests()), r.Reason)
	}
}

// TestStreamThatNeverEnds holds an agent of one's own that streams: it is cut in the middle of the answer.
func TestStreamThatNeverEnds(t *testing.T) {
	t.Parallel()
	if tier := thisMachine.Probe(t.Context()).Tier; tier > sandbox.Tier1b {
		t.Skip("only agents in full containment are given the gateway's address, and this machine has none: prloop doctor says what is missing")
	}
	m := endpoint(t, fakemodel.Script{
		Rules:   []fakemodel.Rule{{Model: "endless", Answer: fakemodel.Answer{Endless: true}}},
		Default: &fakemodel.Answer{JSON: envelope(nil)},
	})
	p, env, home := budgetWorld(t, m, "  - {name: endless, input_usd: 1, output_usd: 1}\nrun_limits: {max_tokens: 100000}\nmin_reviewers: 3", nil)
	config := filepath.Join(home, "config.yml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("streamer")
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, []byte(strings.Replace(string(text), "reviewers:\n", "reviewers:\n  - {name: streamer, use: command, path: "+program+"}\n", 1)))
	r := budgetRun(t, append(env, "PRLOOP_SANDBOX=required", "PRLOOP_SANDBOX_READ="+filepath.Join(home, "picky.json")), home, 5)
	for _, q := range m.Requests() {
		if strings.Contains(string(q.Body), planted) {
			t.Errorf("a request of an agent of one's own brings a value to a model: %s", q.Body)
		}
	}
	for _, a := range r.Receipt.Agents {
		if a.Name == "streamer" && (a.OutOf != "tokens" || a.Usage.LLMCalls != 1) {
			t.Errorf("the receipt of the streaming agent is %+v", a)
		}
	}
	published(t, p, "tokens")
}

// TestCutShortIsSaid holds a review that lost its passes to a budget, but had a call left for its answer: it counts, and the
// report says that it was not finished.
func TestCutShortIsSaid(t *testing.T) {
	t.Parallel()
	m := endpoint(t, fakemodel.Script{
		Rules:   []fakemodel.Rule{{Call: 6, Answer: fakemodel.Answer{JSON: envelope(nil)}}},
		Default: &fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{readFile(1)}},
	})
	p, env, home := budgetWorld(t, m, "limits: {max_llm_calls: 6, max_tool_calls: 500}", nil)
	if r := budgetRun(t, env, home, 3); r.Receipt.Complete != 2 {
		t.Errorf("%d complete answers, want 2: %s", r.Receipt.Complete, r.Reason)
	}
	if n := len(m.Requests()); n != 6 {
		t.Errorf("the endpoint received %d calls, want 6", n)
	}
	comments := p.Comments()
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "The review was not finished: pass 1 was cut short") {
		t.Errorf("the report does not say that a review was cut short: %+v", comments)
	}
}

// TestFindingsAreBounded holds max_output_issues: a reviewer that reports a hundred findings gets the most urgent ones listed.
func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	var many []map[string]any
	for i := range 100 {
		f := finding("stock.go", 15, "return Count(shelves) / len(shelves)")[0]
		f["id"], f["title"] = fmt.Sprintf("B-%d", i), fmt.Sprintf("Fault number %d", i)
		if i == 77 {
			f["priority"], f["score"] = "P0", 10
		}
		many = append(many, f)
	}
	m := endpoint(t, fakemodel.Script{Default: &fakemodel.Answer{JSON: envelope(many)}})
	_, env, home := budgetWorld(t, m, "limits: {max_output_issues: 4}", nil)
	r := budgetRun(t, env, home, 3)
	var listed []string
	for _, f := range r.Findings {
		if f.Source.Name == "model" {
			listed = append(listed, f.Title)
		}
	}
	if len(listed) != 4 || listed[0] != "Fault number 77" {
		t.Errorf("listed are %q, want four and the P0 first", listed)
	}
}

func endpoint(t *testing.T, s fakemodel.Script) *fakemodel.Server {
	t.Helper()
	m, err := fakemodel.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// budgetWorld opens a pull request and a home with builtin reviewers, one of them by default, and a command that finds
// something.
func budgetWorld(t *testing.T, m *fakemodel.Server, config string, reviewers []string) (*forge.PullRequest, []string, string) {
	t.Helper()
	f := forgetest.Start(t)
	p := forgetest.Open(t, f, forge.PullSpec{
		Owner: "acme", Repo: "widgets", Number: 7, Title: "Count the stock", Author: "contributor",
		Base: os.DirFS("testdata/share/base"), Head: os.DirFS("testdata/share/head"),
	})
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	env, home := caseEnv(t, f, m, finding("stock.go", 15, "return Count(shelves) / len(shelves)"))
	if reviewers == nil {
		reviewers = []string{"model"}
	}
	var b strings.Builder
	b.WriteString("model: scripted\nescalation_model: none\nverifier: off\ncomments_analyzer: {use: static}\nreviewers:\n")
	for _, name := range reviewers {
		fmt.Fprintf(&b, "  - {name: %s, use: builtin}\n", name)
	}
	fmt.Fprintf(&b, "  - {name: second, use: command, path: ./picky.sh}\nmodels:\n  - {name: scripted, input_usd: 2, output_usd: 8}\n%s\n", config)
	write(t, filepath.Join(home, "config.yml"), []byte(b.String()))
	return p, env, home
}

// budgetRun reviews the pull request of budgetWorld to its end.
func budgetRun(t *testing.T, env []string, home string, status int) review.RunResult {
	t.Helper()
	got := start(t, env, home, "prloop", "run", "7", "-R", "acme/widgets", "--force", "--json")
	var r review.RunResult
	if err := json.Unmarshal(got.stdout, &r); err != nil {
		t.Fatalf("exit %d, standard output is not a result: %v\n%s", got.status, err, got.stderr)
	}
	if got.status != status {
		t.Errorf("exit %d (%s: %s), want %d\n%s", got.status, r.Outcome, r.Reason, status, got.stderr)
	}
	return r
}

// published checks that the newest report names the budget and carries what the other reviewer found.
func published(t *testing.T, p *forge.PullRequest, outOf string) {
	t.Helper()
	comments := p.Comments()
	if len(comments) == 0 {
		t.Fatal("nothing was posted")
	}
	body := comments[len(comments)-1].Body
	if !strings.Contains(body, "budget") || !strings.Contains(body, outOf) || !strings.Contains(body, "This line is wrong") {
		t.Errorf("the report does not name the budget for %s and what the other reviewer found:\n%s", outOf, body)
	}
}
