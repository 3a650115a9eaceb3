package modelagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

const key = "sk-real-0123456789abcdef"

// rig is the way of a builtin agent's calls: socket, gateway, endpoint.
type rig struct {
	model   *fakemodel.Server
	gateway *gateway.Gateway
	options Options
	mu      sync.Mutex
	events  []review.Event
}

func (r *rig) emit(e review.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func setup(t *testing.T, script fakemodel.Script, limits review.Limits) *rig {
	t.Helper()
	script.Key = key
	m, err := fakemodel.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	g, err := gateway.Start(t.Context(), gateway.Options{Upstreams: []gateway.Upstream{{Name: "fake", BaseURL: m.URL(), Key: gateway.NewSecret(key)}}, Retries: -1, FreeTools: []string{SubmitTool, FixTool}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return &rig{model: m, gateway: g, options: Options{Socket: g.Socket(), Token: g.Issue("one", limits, known...), Fence: "Kq7w2Zr9Tn4xBm5c"}}
}

// known are the models the agents of these tests may ask for.
var known = []string{DefaultModel, DefaultStronger, "gpt-4o", "gpt-5-mini", "m"}

func task() review.Task {
	return review.Task{
		Version: 1, Role: review.RoleReviewer, Agent: "one", PRNumber: 7, Title: "Add discount",
		Brief: review.Brief{Status: "ok", Files: []review.BriefFile{{Path: "a.go", Change: "modified", Language: "go", Hunks: 1, HunksGiven: 1, Diff: "@@ -1 +1 @@\n-a\n+b\n"}}},
	}
}

type m = map[string]any

func finding(id string, score int, change ...func(m)) m {
	f := m{"id": id, "priority": string(review.PriorityOfScore(score)), "category": "bug", "file": "a.go", "line": 1, "lineEnd": nil, "title": "title of " + id,
		"description": "d", "suggestion": "s", "score": score, "confidence": 0.9, "evidence": "b", "language": nil}
	for _, c := range change {
		c(f)
	}
	return f
}

func respond(findings ...m) fakemodel.Answer {
	if findings == nil {
		findings = []m{}
	}
	b, _ := json.Marshal(m{"agent": "one", "prNumber": 7, "conclusion": "approve", "issues": m{"p0_blocking": 0, "p1_critical": 0, "p2_important": 0, "p3_suggestion": 0},
		"findings": findings, "fullReport": "Looked at it."})
	return fakemodel.Answer{JSON: b}
}

func brief(findings []review.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", f.ID, f.Priority, f.Score, f.Unconfirmed)))
	}
	return out
}

func TestReview(t *testing.T) {
	doubt := func(f m) { f["confidence"] = 0.4 }
	for _, c := range []struct {
		rule   string
		limits review.Limits
		rules  []fakemodel.Rule
		want   []string
		says   []string // in the report
		models []string // asked, in order
	}{
		{"an answer without findings is a good answer (spec.md D2)", review.Limits{}, []fakemodel.Rule{{Answer: respond()}}, nil, []string{"Looked at it."}, []string{DefaultModel}},
		{"score decides when priority disagrees", review.Limits{}, []fakemodel.Rule{{Answer: respond(finding("A", 9, func(f m) { f["priority"] = "P3" }))}},
			[]string{"A P0 9"}, []string{"a score of 9 is that of P0"}, []string{DefaultModel}},
		{"no evidence, no finding (spec.md R9)", review.Limits{}, []fakemodel.Rule{{Answer: respond(finding("A", 6, func(f m) { f["evidence"] = " \n" }), finding("B", 6))}},
			[]string{"B P2 6"}, []string{"Dropped for want of evidence: title of A in a.go:1"}, []string{DefaultModel}},
		{"but a grave one is prloop's to set aside (decision 32)", review.Limits{}, []fakemodel.Rule{{Answer: respond(finding("A", 7, func(f m) { f["evidence"] = " \n" }), finding("B", 6))}},
			[]string{"A P1 7", "B P2 6"}, nil, []string{DefaultModel}},
		{"what is below the threshold is for who asked to join or to leave (spec.md D3.1)", review.Limits{}, []fakemodel.Rule{{Answer: respond(finding("A", 4), finding("B", 5))}},
			[]string{"B P2 5", "A P3 4"}, nil, []string{DefaultModel}},
		{"most urgent first, and how many are listed is for who asked (threats.md T881)", review.Limits{Findings: 2}, []fakemodel.Rule{{Answer: respond(finding("A", 5), finding("B", 8), finding("C", 10))}},
			[]string{"C P0 10", "B P1 8", "A P2 5"}, nil, []string{DefaultModel}},
		{"a broken answer is repaired once", review.Limits{}, []fakemodel.Rule{{Call: 1, Answer: fakemodel.Answer{Text: "Sure! Here it is:"}}, {Answer: respond(finding("A", 7))}},
			[]string{"A P1 7"}, nil, []string{DefaultModel, DefaultModel}},
		{"an answer that was cut off is asked for again", review.Limits{}, []fakemodel.Rule{{Call: 1, Answer: fakemodel.Answer{Text: `{"agent":"one"`, Finish: "length"}}, {Answer: respond()}},
			nil, nil, []string{DefaultModel, DefaultModel}},
		{"a severe finding with low confidence is the verifier's to look at (spec.md R4)", review.Limits{}, []fakemodel.Rule{{Answer: respond(finding("A", 8, doubt), finding("B", 6, doubt))}},
			[]string{"A P1 8", "B P2 6"}, nil, []string{DefaultModel}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Rules: c.rules}, c.limits)
			tk := task()
			tk.Limits = c.limits
			got, err := Review(t.Context(), tk, r.options, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, brief(got.Findings)); diff != "" {
				t.Error(diff)
			}
			for _, s := range c.says {
				if !strings.Contains(got.FullReport, s) {
					t.Errorf("report does not say %q: %s", s, got.FullReport)
				}
			}
			var asked []string
			for _, q := range r.model.Requests() {
				asked = append(asked, q.Model)
			}
			if diff := cmp.Diff(c.models, asked); diff != "" {
				t.Error(diff)
			}
			if f := r.model.Faults(); len(f) != 0 {
				t.Errorf("the endpoint refused: %v", f)
			}
			check(t, got)
		})
	}
}

// check holds what every result owes: it passes the parent's gate unchanged.
func check(t *testing.T, got review.ReviewerResult) {
	t.Helper()
	data, err := schema.Encode(got)
	if err != nil {
		t.Fatal(err)
	}
	if _, notes, err := answer.DecodeReviewer(data); err != nil || len(notes) > 0 {
		t.Errorf("the parent would refuse or correct this answer: %v %q", err, notes)
	}
	if got.Conclusion != got.Issues.Conclusion() {
		t.Errorf("conclusion %s for %+v", got.Conclusion, got.Issues)
	}
	for _, f := range got.Findings {
		if f.Source.Name != "one" || f.Source.Type != "agent" || f.Source.Timestamp.IsZero() || f.Language != "go" || f.File != "a.go" || f.Category != "bug" {
			t.Errorf("finding %+v", f)
		}
	}
}

func TestWhatIsSent(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: new(respond(finding("A", 7)))}, review.Limits{})
	tk := task()
	tk.Options = review.Options{Lens: "security", Threshold: 7, Model: "gpt-4o"}
	if _, err := Review(t.Context(), tk, r.options, r.emit); err != nil {
		t.Fatal(err)
	}
	q := r.model.Requests()[0]
	if q.Format != "json_schema" || q.Schema == nil || q.Model != "gpt-4o" || q.Messages[0].Role != "system" {
		t.Errorf("request %s %s %d messages", q.Format, q.Model, len(q.Messages))
	}
	last := q.Messages[len(q.Messages)-1].Text
	if !strings.Contains(last, "ways to harm") || !strings.Contains(last, "below 7") {
		t.Errorf("last message: %s", last)
	}
	if q.Authorization != "Bearer "+key || strings.Contains(string(q.Body), r.options.Token) {
		t.Error("the token is not where it belongs")
	}
	var usage, progress int
	for _, e := range r.events {
		switch e.Kind {
		case review.EventUsage:
			usage++
			if *e.Usage.InputTokens == 0 || e.Usage.LLMCalls != 1 {
				t.Errorf("usage %+v", e.Usage)
			}
		case review.EventProgress:
			progress++
		}
	}
	if usage != 1 || progress != 1 {
		t.Errorf("%d usage and %d progress events", usage, progress)
	}
	if u := r.gateway.Usage("one"); u.LLMCalls != 1 || u.CostUSD == nil {
		t.Errorf("gateway counted %+v", u)
	}
}

// Five reviewers pay for the long part once.
func TestPromptCacheHits(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: new(respond())}, review.Limits{})
	tk := task()
	tk.Brief.Files[0].Diff = "@@ -0,0 +1,500 @@\n" + strings.Repeat("+a line of code\n", 500)
	for i, lens := range []string{"general", "security"} {
		tk.Agent = fmt.Sprint("r", i)
		o := r.options
		o.Lens, o.Token = lens, r.gateway.Issue(tk.Agent, review.Limits{}, known...)
		if _, err := Review(t.Context(), tk, o, r.emit); err != nil {
			t.Fatal(err)
		}
	}
	first, second := r.gateway.Usage("r0"), r.gateway.Usage("r1")
	if *first.CachedTokens != 0 || *second.CachedTokens*10 < *second.InputTokens*9 {
		t.Errorf("of %d input tokens %d were cached", *second.InputTokens, *second.CachedTokens)
	}
}

// TestPromptCacheAcrossCalls: what a reviewer asks after its passes, and the next round of a run, begin as what was asked before.
func TestPromptCacheAcrossCalls(t *testing.T) {
	long := func(line string) string { return "@@ -0,0 +1,300 @@\n" + strings.Repeat("+"+line+"\n", 300) }
	tk := task()
	tk.BaseSHA, tk.HeadSHA = strings.Repeat("b", 40), strings.Repeat("a", 40)
	tk.Brief.Files = []review.BriefFile{
		{Path: "a.go", Change: "added", Hunks: 1, HunksGiven: 1, Diff: long("a line of code")},
		{Path: "b.go", Change: "added", Hunks: 1, HunksGiven: 1, Diff: long("another line")},
		{Path: "c.go", Change: "added", Hunks: 1, HunksGiven: 1, Diff: "@@ -0,0 +1 @@\n+a fault\n"},
	}
	limits := review.Limits{LLMCalls: 9, ToolCalls: 9}
	tk.Limits, tk.Workspace = limits, &review.Workspace{Tree: "/tree"}
	doubted := finding("A", 7, func(f m) { f["confidence"] = 0.3 })
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{
		atPass(1, calls(submit(1))), atPass(2, calls(submit(2))), atPass(3, calls(submit(3))), atPass(4, calls(submit(4))), {Answer: respond(doubted)},
	}}, limits)
	r.options.Tools = func(review.Workspace, string) (Toolbox, error) { return &shelf{}, nil }
	share := func(calls int) float64 {
		t.Helper()
		r.options.Token = r.gateway.Issue("one", limits, known...)
		before := len(r.model.Requests())
		if _, err := Review(t.Context(), tk, r.options, r.emit); err != nil {
			t.Fatal(err)
		}
		if n := len(r.model.Requests()) - before; n != calls {
			t.Fatalf("%d requests", n)
		}
		last := r.model.Requests()[len(r.model.Requests())-1]
		return float64(last.Cached) / float64(last.Tokens)
	}
	if got := share(5); got < 0.9 {
		t.Errorf("%.0f %% of the last question were cached", 100*got)
	}
	// The fixer changed the last file; the next round is about another head.
	first := r.model.Requests()[0]
	tk.HeadSHA = strings.Repeat("c", 40)
	tk.Brief.Files[2].Diff = "@@ -0,0 +1 @@\n+mended\n"
	before := len(r.model.Requests())
	share(5)
	if next := r.model.Requests()[before]; float64(next.Cached) < 0.85*float64(first.Tokens) {
		t.Errorf("%d of %d tokens of the next round were cached", next.Cached, next.Tokens)
	}
}

func TestRepairQuotesTheReason(t *testing.T) {
	bad := respond(finding("A", 7, func(f m) { f["priority"] = "urgent" }))
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Times: 1, Answer: bad}}, Default: new(respond())}, review.Limits{})
	if _, err := Review(t.Context(), task(), r.options, r.emit); err != nil {
		t.Fatal(err)
	}
	q := r.model.Requests()[1]
	n := len(q.Messages)
	if q.Messages[n-2].Role != "assistant" || !strings.Contains(q.Messages[n-2].Text, "urgent") || !strings.Contains(q.Messages[n-1].Text, "findings/0/priority") {
		t.Errorf("repair turn: %+v", q.Messages[n-2:])
	}
}

func TestAnswerThatStaysInvalid(t *testing.T) {
	half := `{"agent":"one","findings":[{"id":"A","priority":"P1","category":"bug","file":"a.go","line":1,"title":"t","description":"d","evidence":"b"}],`
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: half}}, review.Limits{LLMCalls: 5})
	_, err := Review(t.Context(), task(), r.options, r.emit)
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("err %v", err)
	}
	if n := len(r.model.Requests()); n != attempts {
		t.Errorf("%d attempts, want %d", n, attempts)
	}
	for _, want := range []string{"did not answer with the JSON that it was asked for (attempts: 2; decode reviewer-result", "--model", "--record-models"} {
		if !strings.Contains(invalid.Error(), want) {
			t.Errorf("%q does not say %q", invalid, want)
		}
	}
	if len(salvaged(invalid)) != 1 {
		t.Errorf("the valid finding cannot be salvaged from %q", invalid.Raw)
	}
}

// The parent may put the question again in a new child (task.Repair).
func TestRepairTurnOfTheParent(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: new(respond())}, review.Limits{})
	tk := task()
	tk.Repair = &review.Repair{Error: "decode reviewer-result: no document", Answer: "hello"}
	if _, err := Review(t.Context(), tk, r.options, r.emit); err != nil {
		t.Fatal(err)
	}
	q := r.model.Requests()[0].Messages
	if q[len(q)-2].Text != "hello" || !strings.Contains(q[len(q)-1].Text, "no document") {
		t.Errorf("messages %+v", q[len(q)-2:])
	}
}

func TestEndpointsThatKnowLess(t *testing.T) {
	refuse := func(times int, message string) fakemodel.Rule {
		return fakemodel.Rule{Times: times, Answer: fakemodel.Answer{Status: 400, Message: message}}
	}
	fenced := respond(finding("A", 7))
	fenced.Text, fenced.JSON = "<think>hm {</think>\n```json\n"+string(fenced.JSON)+"\n```", nil
	for _, c := range []struct {
		rule   string
		model  string
		rules  []fakemodel.Rule
		format string
	}{
		{"no schemas: plain JSON mode", "m", []fakemodel.Rule{refuse(1, "response_format type json_schema is not supported"), {Answer: respond(finding("A", 7))}}, "json_object"},
		{"no JSON mode at all: by the prompt alone, fences and thoughts taken off", "m", []fakemodel.Rule{refuse(2, "unknown field response_format"), {Answer: fenced}}, ""},
		{"no temperature", "m", []fakemodel.Rule{refuse(1, "Unsupported value: temperature"), {Answer: respond(finding("A", 7))}}, "json_schema"},
		{"no max_completion_tokens", "m", []fakemodel.Rule{refuse(1, "Unrecognized: max_completion_tokens"), {Answer: respond(finding("A", 7))}}, "json_schema"},
		{"reasoning models take no temperature", "gpt-5-mini", []fakemodel.Rule{{Answer: respond(finding("A", 7))}}, "json_schema"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Rules: c.rules}, review.Limits{})
			r.options.Model = c.model
			got, err := Review(t.Context(), task(), r.options, r.emit)
			if err != nil || len(got.Findings) != 1 {
				t.Fatalf("%v %+v", err, got)
			}
			all := r.model.Requests()
			if last := all[len(all)-1]; last.Format != c.format {
				t.Errorf("format %q, want %q", last.Format, c.format)
			}
			if u := r.gateway.Usage("one"); u.LLMCalls != 1 {
				t.Errorf("%d calls counted", u.LLMCalls)
			}
		})
	}
}

func TestTroubleHasAName(t *testing.T) {
	for _, c := range []struct {
		rule   string
		answer fakemodel.Answer
		change func(*rig, *review.Task)
		is     error
		says   string
	}{
		{"a model that declines", fakemodel.Answer{Refusal: "I would rather not"}, nil, ErrRefused, "I would rather not"},
		{"a content filter", fakemodel.Answer{Text: "x", Finish: "content_filter"}, nil, ErrRefused, "content filter"},
		{"the wall time", fakemodel.Answer{Hang: true}, func(_ *rig, t *review.Task) { t.Limits.WallTimeSeconds = 1 }, ErrWallTime, "wall time"},
		{"a gateway without budget", respond(), func(r *rig, _ *review.Task) {
			r.options.Token = r.gateway.Issue("one", review.Limits{CostUSD: 1e-9}, known...)
		}, ErrBudget, "cost"},
		{"a refused key is named, and never shown", fakemodel.Answer{Status: 401, Message: key}, nil, nil, "refuses the key"},
		{"a server fault", fakemodel.Answer{Status: 500, Message: "boom"}, nil, nil, "boom"},
		{"a body that is not JSON", fakemodel.Answer{Raw: "<html>"}, nil, nil, "ask gpt-4.1-mini"},
		{"a revoked token", respond(), func(r *rig, _ *review.Task) { r.gateway.Release("one") }, nil, "not known here"},
		{"a gateway that is gone", respond(), func(r *rig, _ *review.Task) { _ = r.gateway.Close() }, nil, "ask gpt-4.1-mini"},
		{"an unknown lens", respond(), func(r *rig, _ *review.Task) { r.options.Lens = "vibes" }, nil, "lens \"vibes\""},
		{"a threshold that is none", respond(), func(_ *rig, t *review.Task) { t.Options.Threshold = 11 }, nil, "1 to 10"},
		{"no gateway at all", respond(), func(r *rig, _ *review.Task) { r.options.Socket = "" }, nil, "no model gateway"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Default: &c.answer}, review.Limits{})
			tk := task()
			if c.change != nil {
				c.change(r, &tk)
			}
			_, err := Review(t.Context(), tk, r.options, r.emit)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), key) {
				t.Errorf("err %v", err)
			}
		})
	}
}

func TestCancelledReviewEnds(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Hang: true}}, review.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := Review(ctx, task(), r.options, r.emit); !errors.Is(err, context.Canceled) {
		t.Errorf("err %v", err)
	}
}

func TestAnalyzeComments(t *testing.T) {
	ann := review.Person{Login: "ann", Association: "MEMBER"}
	tk := task()
	tk.Agent, tk.Role = "comments-analyzer", review.RoleCommentsAnalyzer
	tk.Discussion = &review.Discussion{
		Truncated: true,
		Threads: []review.Thread{
			{ID: "T1", File: "a.go", Comments: []review.Comment{{Author: ann, Body: "This loses money."}}},
			{ID: "T2", Resolved: true, Comments: []review.Comment{{Author: ann, Body: "done"}}},
		},
		Reviews: []review.Review{{ID: "R1", Author: ann, State: "CHANGES_REQUESTED", SubmittedAt: time.Now()}},
	}
	// The model lies about everything the rules have settled.
	lie, _ := json.Marshal(m{
		"agent": "me", "prNumber": 1, "reviewState": m{"hasChangesRequested": false, "changesRequestedBy": []any{}},
		"stats": m{"totalThreads": 0, "resolvedThreads": 0, "unresolvedThreads": 0}, "threadsTruncated": false,
		"issues":        m{"p0_blocking": 0, "p1_critical": 0, "p2_important": 0, "p3_suggestion": 0},
		"pendingIssues": []m{{"id": "thread-T1", "priority": "P0", "category": "bug", "file": "b.go", "line": 9, "title": "Money is lost", "description": "d", "suggestion": "s"}, {"id": "new", "priority": "P0", "category": "bug", "file": "b.go", "line": 9, "title": "x", "description": "d", "suggestion": "s"}},
		"fullReport":    "One conversation is open.",
	})
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{JSON: lie}}, review.Limits{})
	got, err := AnalyzeComments(t.Context(), tk, r.options, r.emit)
	if err != nil {
		t.Fatal(err)
	}
	if !got.ReviewState.HasChangesRequested || got.Stats != (review.ThreadStats{Total: 2, Resolved: 1, Unresolved: 1}) || !got.ThreadsTruncated || got.PRNumber != 7 || got.Agent != "comments-analyzer" {
		t.Errorf("the model overruled the rules: %+v", got)
	}
	if len(got.PendingIssues) != 1 || got.PendingIssues[0].Title != "Money is lost" || got.PendingIssues[0].Priority != review.P1 || got.PendingIssues[0].File != "a.go" {
		t.Errorf("pending: %+v", got.PendingIssues)
	}
	for _, s := range []string{"One conversation is open.", "P0 was asked for", "about no open thread"} {
		if !strings.Contains(got.FullReport, s) {
			t.Errorf("report does not say %q: %s", s, got.FullReport)
		}
	}
	data, _ := schema.Encode(got)
	if _, notes, err := answer.DecodeComments(data); err != nil || len(notes) > 0 {
		t.Errorf("the parent would refuse or correct this answer: %v %q", err, notes)
	}
	if f := r.model.Faults(); len(f) != 0 {
		t.Errorf("the endpoint refused: %v", f)
	}

	tk.Discussion = &review.Discussion{}
	got, err = AnalyzeComments(t.Context(), tk, r.options, r.emit)
	if err != nil || len(got.PendingIssues) != 0 || len(r.model.Requests()) != 1 {
		t.Errorf("nothing is pending, so nobody needs to be asked: %v, %d calls", err, len(r.model.Requests()))
	}
}

func TestEscalationDefault(t *testing.T) {
	for _, c := range []struct {
		rule    string
		options Options
		named   string
		want    string
	}{
		{"both models are the default ones (spec.md R5)", Options{}, "", DefaultStronger},
		{"another model has no escalation unless one is named", Options{Model: "llama"}, "", ""},
		{"a named one is used", Options{Model: "llama"}, "llama-big", "llama-big"},
		{"none turns it off", Options{Stronger: NoStronger}, "", ""},
	} {
		c.options.Socket = "s"
		got, err := c.options.complete(review.Task{Options: review.Options{Stronger: c.named}})
		if err != nil || got.Stronger != c.want || len(got.Fence) < 16 {
			t.Errorf("%s: %+v %v", c.rule, got, err)
		}
	}
}
