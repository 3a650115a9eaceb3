package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/internal/testkit/npmagent"
	"github.com/prloop/prloop/review"
)

// acpEnv is a fresh home whose configuration is config, with a forge, a model and OpenCode in PATH, in full containment.
func acpEnv(t *testing.T, f *forge.Forge, m *fakemodel.Server, config string) (env []string, home string) {
	t.Helper()
	if r := sandbox.Probe(t.Context()); r.Tier > sandbox.Tier1b {
		t.Skipf("this machine has sandbox tier %v; an agent that speaks TCP needs a network namespace", r.Tier)
	}
	agent := npmagent.Need(t, npmagent.OpenCode)
	home = t.TempDir()
	file := filepath.Join(home, "config.yml")
	write(t, file, []byte(config))
	path := append([]string{filepath.Dir(agent.Program)}, agent.Path...)
	path = append(path, os.Getenv("PATH"), filepath.Dir(forgetest.GH(t)))
	return append(f.Env(""), "HOME="+home, "PRLOOP_STATE="+filepath.Join(home, "state"), "PRLOOP_CONFIG="+file,
		"PATH="+strings.Join(path, string(filepath.ListSeparator)), "OPENAI_API_KEY=sk-test-0123456789abcdef0123", "OPENAI_BASE_URL="+m.URL()), home
}

func answers(contains string, all ...fakemodel.Answer) []fakemodel.Rule {
	var rules []fakemodel.Rule
	for _, a := range all {
		rules = append(rules, fakemodel.Rule{Times: 1, Contains: contains, Answer: a})
	}
	return rules
}

func use(tool string, arguments any) fakemodel.Answer {
	data, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{{Name: tool, Arguments: string(data)}}}
}

// TestOpenCodeReviewsAPullRequest runs prloop with the real OpenCode as its reviewer: posted by the real gh, confined, its
// model behind the gateway. The pull request brings configuration for it, which it must not obey and may read.
func TestOpenCodeReviewsAPullRequest(t *testing.T) {
	t.Parallel()
	f := forgetest.Start(t)
	head := t.TempDir()
	if err := os.CopyFS(head, os.DirFS(filepath.Join("testdata", "share", "head"))); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(head, ".opencode", "plugin"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(head, ".opencode", "plugin", "x.js"), []byte(`throw new Error("canary: the pull request's plugin was loaded")`))
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	p, err := f.Open(forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Title: "Count the stock", Author: "contributor",
		Base: os.DirFS(filepath.Join("testdata", "share", "base")), Head: os.DirFS(head)})
	if err != nil {
		t.Fatal(err)
	}
	var found []map[string]any
	if err := json.Unmarshal(must(os.ReadFile(filepath.Join("testdata", "share", "picky.json"))), &struct {
		Findings *[]map[string]any `json:"findings"`
	}{&found}); err != nil || len(found) == 0 {
		t.Fatal(err, found)
	}
	var result map[string]any
	if err := json.Unmarshal(envelope(found), &result); err != nil {
		t.Fatal(err)
	}
	m, err := fakemodel.Start(fakemodel.Script{Rules: answers("You review code. You change nothing.",
		use("bash", map[string]string{"command": "id", "description": "x"}),
		use("prloop_read_file", map[string]string{"path": "stock.go"}),
		use("prloop_read_file", map[string]string{"path": "moved-aside-.opencode/plugin/x.js"}),
		use("prloop_submit_result", result),
	), Default: &fakemodel.Answer{Text: "Done."}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	env, home := acpEnv(t, f, m, "reviewers:\n  - {name: real, use: acp, preset: opencode}\ncomments_analyzer: {use: static}\nfixer: none\n")
	got := start(t, env, home, "prloop", "run", "7", "-R", "acme/widgets", "--json")
	var r review.RunResult
	if err := json.Unmarshal(got.stdout, &r); err != nil {
		t.Fatalf("exit %d: %v\n%s", got.status, err, got.stderr)
	}
	if got.status != 3 || r.Issues.P1 != 1 || r.Consensus == nil || *r.Consensus != string(review.RequestChanges) {
		t.Errorf("exit %d, %s (%s), %+v\n%s", got.status, r.Outcome, r.Reason, r.Issues, got.stderr)
	}
	i := slices.IndexFunc(r.Receipt.Agents, func(a review.AgentReceipt) bool { return a.Name == "real" })
	if i < 0 {
		t.Fatalf("%+v", r.Receipt.Agents)
	}
	a := r.Receipt.Agents[i]
	if a.State != review.AgentComplete || a.Kind != "acp" || a.Usage.LLMCalls < 4 || a.Usage.InputTokens == nil || a.FilesGiven == 0 {
		t.Errorf("%+v", a)
	}
	comments := p.Comments()
	if len(comments) != 1 || !strings.HasPrefix(comments[0].Body, markerLine+"\n") || !strings.Contains(comments[0].Body, "real") ||
		!strings.Contains(comments[0].Body, "Isolation: tier 1") || !strings.Contains(comments[0].Body, found[0]["title"].(string)) {
		t.Errorf("%d comments: %+v", len(comments), comments)
	}
	read := map[string]bool{}
	for _, q := range m.Requests() {
		for _, part := range []string{"func ", "canary: the pull request's plugin was loaded"} {
			for _, message := range q.Messages {
				read[part] = read[part] || message.Role == "tool" && strings.Contains(message.Text, part)
			}
		}
		if slices.Contains(q.Tools, "bash") {
			t.Error("the model is offered a shell")
		}
	}
	if len(read) != 2 || !read["func "] || len(m.Faults()) > 0 {
		t.Errorf("the reviewer read %v; the model finds fault with %q", read, m.Faults())
	}
	t.Logf("%.1f s, %d calls to the model, %s", a.Seconds, a.Usage.LLMCalls, r.Receipt.Isolation)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
