package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/artifacts"
	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// hostile is a text that a page must not act on.
const hostile = `<script>alert(1)</script><img src=x onerror=alert(2)> "'` + "`" + ` [x](javascript:alert(3)) {{.}}`

// state is the state folder of a machine on which runs were made.
type state struct {
	dir    string
	store  *store.Store
	folder *artifacts.Folder
	n      int
	// calm leaves hostile texts out, for pictures.
	calm bool
}

func newState(t testing.TB) *state {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), store.Options{Address: filepath.Join(dir, "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := artifacts.Open(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return &state{dir: dir, store: st, folder: folder}
}

func at(owner, name string, pr int) review.Target {
	return review.Target{Repo: review.Repo{Host: "github.com", Owner: owner, Name: name}, PR: pr}
}

func pointer[T any](v T) *T { return &v }

// finding makes a finding of a reviewer.
func made(p review.Priority, title, reviewer string) review.Finding {
	return review.Finding{
		ID: "F1", Priority: p, Category: review.CategoryBug, File: "internal/pay/total.go", Line: pointer(42), Title: title, Score: 8,
		Description: "`Total` divides by the number of items, which is **0** for an empty cart.\n\n" + hostile, Suggestion: "Return 0 when there are no items.",
		Evidence: "return sum / len(items)", Source: review.Source{Type: "agent", Name: reviewer}, Fingerprint: fmt.Sprintf("%x", len(title)*7919),
	}
}

// numbers are those of repositories, by their names.
var numbers = map[string]int64{"acme/shop": 7, "acme/secret": 8, "acme/billing": 9, "acme/web": 10}

// begin records a run that goes on.
func (s *state) begin(t testing.TB, target review.Target) store.Run {
	t.Helper()
	return s.beginAt(t, target, target.Repo.Key(numbers[target.Repo.String()]))
}

// beginAt records one of a repository that has another number than its name has today.
func (s *state) beginAt(t testing.TB, target review.Target, key review.RepoKey) store.Run {
	t.Helper()
	s.n++
	id := fmt.Sprintf("2026112%dT101500Z_%016x", s.n%10, s.n)
	r := store.Run{ID: id, ReviewID: id[17:], Target: target, RepoKey: key, Head: strings.Repeat("c0ffee12", 5)}
	if err := s.store.CreateRun(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// end records how it ended.
func (s *state) end(t testing.TB, r store.Run, outcome review.Outcome, reason string, findings ...review.Finding) {
	t.Helper()
	word, report := string(review.RequestChanges), "**"+reason+"**\n\n<details><summary>Receipt</summary>\n\n| reviewer | files |\n|---|---|\n| security | 3 of 3 |\n\n</details>\n\n"
	if s.calm {
		for i := range findings {
			findings[i].Description = strings.TrimSuffix(findings[i].Description, "\n\n"+hostile)
		}
	} else {
		report += hostile
	}
	agents := []review.AgentReceipt{
		{Name: "security", Role: review.RoleReviewer, Kind: "builtin", Model: "gpt-5-mini", State: review.AgentComplete, Findings: len(findings), Seconds: 31, Usage: review.Usage{LLMCalls: 6, InputTokens: pointer(48_200), OutputTokens: pointer(2_100), CostUSD: pointer(0.061), Models: []string{"gpt-5-mini"}}},
		{Name: "general", Role: review.RoleReviewer, Kind: "builtin", Model: "gpt-5-mini", State: review.AgentDegraded, Reason: "its answer was cut off", Seconds: 44, Usage: review.Usage{LLMCalls: 4, InputTokens: pointer(39_000), OutputTokens: pointer(1_400), CostUSD: pointer(0.049), Models: []string{"gpt-5-mini"}}},
	}
	if !s.calm {
		agents[1].Detail = "its answer was cut off by /opt/inner/agent"
	}
	result := review.RunResult{
		Run: r.ID, Target: r.Target, Outcome: outcome, Reason: reason, Round: 1, Consensus: &word, Findings: findings, Issues: review.Count(findings), DistinctIssues: review.Count(findings),
		Receipt: review.Receipt{HeadSHA: r.Head, Agents: agents, Complete: 1, Status: "ok"}, Rounds: []review.RoundResult{{Round: 1, Head: r.Head, Consensus: &word, Issues: review.Count(findings), Agents: agents}}, Seconds: 64,
	}
	for i, f := range findings {
		result.Groups = append(result.Groups, review.Group{Findings: []int{i}, ID: f.Fingerprint, Counts: f.Priority < review.P2})
		result.Fates = append(result.Fates, review.FindingFate{Fate: review.FateOpen, Priority: f.Priority, Category: f.Category, First: 1, Last: 1, Counted: true, By: []review.Voice{{Name: f.Source.Name, Model: "gpt-5-mini"}}})
	}
	if err := s.store.FinishRun(t.Context(), result); err != nil {
		t.Fatal(err)
	}
	js, _ := json.Marshal(result)
	for name, body := range map[string]string{"review.md": report, "review.json": string(js), "round-1/security.log": "a line\n"} {
		if err := s.folder.Save(r.ID, name, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	e, err := s.store.Intent(t.Context(), effects.Effect{Kind: "comment", Key: r.ID, Run: r.ID, Target: r.Target, Head: r.Head, Nonce: r.ID, Payload: "x"})
	if err == nil {
		err = s.store.Sending(t.Context(), e.Nonce)
	}
	if err == nil {
		err = s.store.Ack(t.Context(), e.Nonce, "https://github.com/o/r/pull/7#issuecomment-1")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// site is a dashboard that is served, with a browser of somebody.
type site struct {
	*Dashboard
	*http.Client
	url string
}

func (s *state) serve(t testing.TB, o Options) *site {
	t.Helper()
	service, err := app.Open(t.Context(), app.Options{State: s.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close(t.Context()) })
	o.Runs = service
	server := httptest.NewUnstartedServer(nil)
	address := url.URL{Scheme: "http", Host: server.Listener.Addr().String()}
	o.Address = address
	if o.GitHub.ID != "" {
		o.GitHub.Callback = address.JoinPath("sign-in", "callback").String()
	}
	out := &site{Dashboard: New(o), url: address.String()}
	server.Config.Handler = out.Dashboard
	server.Start()
	t.Cleanup(func() { // pages that are live hold their connection
		server.CloseClientConnections()
		server.Close()
	})
	out.Client = browser(t)
	return out
}

func browser(t testing.TB) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 30 * time.Second}
}

// talked records what was said on a pull request when a run read it.
func (s *state) talked(t testing.TB, r store.Run, f review.Finding, body string) {
	t.Helper()
	then := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	reply := func(by, body string, after time.Duration) conversation.Reply {
		return conversation.Reply{Author: by, Body: body, Timestamp: then.Add(after), Bot: strings.HasSuffix(by, "[bot]")}
	}
	one := conversation.Thread{
		ID: "1001", URL: "https://github.com/acme/shop/pull/7#discussion_r1001", File: f.File, Line: *f.Line, Status: conversation.Disputed, Identity: f.Fingerprint, Priority: f.Priority,
		Assessment: conversation.Assessment{Finding: f.Title}, Reason: "the caller that is named passes a cart that may be empty",
		DeveloperReplies: []conversation.Reply{reply("mona", "The cart is never empty here: "+body, time.Hour), reply("mona", "I see, `Checkout` can be called first.", 2*time.Hour)},
	}
	two := conversation.Thread{ID: "1002", File: "pay/close.go", Line: 12, Status: conversation.Resolved, Priority: review.P2, Assessment: conversation.Assessment{Finding: "The error of Close is lost"}, Reason: "the error is returned now"}
	three := conversation.Thread{ID: "1003", File: "pay/name.go", Status: conversation.Pending, Closed: true, ClosedBy: "hubot", Priority: review.P3, Assessment: conversation.Assessment{Finding: "A name could be shorter"}}
	comment := func(n int64, by, body string, after time.Duration) review.Comment {
		return review.Comment{DatabaseID: n, URL: fmt.Sprintf("https://github.com/acme/shop/pull/7#issuecomment-%d", n), Author: review.Person{Login: by, Bot: strings.HasSuffix(by, "[bot]")}, Body: body, CreatedAt: then.Add(after)}
	}
	snap := orchestrator.Snapshot{Conversation: &conversation.State{Threads: []conversation.Thread{one, two, three}}, Discussion: review.Discussion{
		Comments: []review.Comment{comment(1, "mona", "Ready for a look. "+body, 10*time.Minute), comment(2, "ci[bot]", "All 214 tests pass.", 20*time.Minute)},
		Reviews:  []review.Review{{Author: review.Person{Login: "hubot"}, State: "CHANGES_REQUESTED", Body: "Please test the empty cart.", SubmittedAt: then.Add(3 * time.Hour)}, {Author: review.Person{Login: "hubot"}, State: "COMMENTED", SubmittedAt: then}},
		Threads: []review.Thread{
			{File: "pay/total.go", Comments: []review.Comment{comment(3, "hubot", "Why a float?", 4*time.Hour)}},
			{File: f.File, Own: true, Comments: []review.Comment{comment(4, "mona", "of ours, which stands above", time.Hour)}},
		},
	}}
	js, err := json.Marshal(snap)
	if err == nil {
		err = s.folder.Save(r.ID, "round-1/snapshot.json", js)
	}
	if err != nil {
		t.Fatal(err)
	}
}
