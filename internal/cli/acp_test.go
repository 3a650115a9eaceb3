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

// acpEnv is a fresh home whose configuration is config, with a forge, a model and an agent in PATH, in full containment.
func acpEnv(t *testing.T, f *forge.Forge, m *fakemodel.Server, a npmagent.Agent, config string) (env []string, home string) {
	t.Helper()
	if r := thisMachine.Probe(t.Context()); r.Tier > sandbox.Tier1b {
		t.Skipf("this machine has sandbox tier %v; an agent that speaks TCP needs a network namespace", r.Tier)
	}
	agent := npmagent.Need(t, a)
	home = t.TempDir()
	file := filepath.Join(home, "config.yml")
	write(t, file, []byte(config))
	// OpenCode's command in Bin is made by an install script, which is not run.
	path := append([]string{filepath.Dir(agent.Program)}, agent.Path...)
	path = append(path, agent.Bin, os.Getenv("PATH"), filepath.Dir(forgetest.GH(t)))
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

// stocked is a pull request that divides by zero and brings configuration for OpenCode.
func stocked(t *testing.T, f *forge.Forge) *forge.PullRequest {
	t.Helper()
	head := t.TempDir()
	if err := os.CopyFS(head, os.DirFS(filepath.Join("testdata", "share", "head"))); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(head, ".opencode", "plugin"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(head, ".opencode", "plugin", "x.js"), []byte(`throw new Error("canary: the plugin was loaded")`))
	write(t, filepath.Join(head, "customers.csv"), []byte("canary: nothing may read this\n"))
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	repo.SetPermission("contributor", forge.Write)
	p, err := f.Open(forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Title: "Count the stock", Author: "contributor",
		Base: os.DirFS(filepath.Join("testdata", "share", "base")), Head: os.DirFS(head)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOpenCodeWorksAPullRequest runs prloop with the real OpenCode as reviewer and as fixer, from "opened" to "approved":
// posted by the real gh, pushed by the real git, confined, its model behind the gateway. The pull request brings configuration for
// it, which it must not obey and may read.
func TestOpenCodeWorksAPullRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("it works a whole pull request with an agent of npm's: go test without -short does")
	}
	t.Parallel()
	const reviews, mends = "You review code. You change nothing.", "You fix code. You run nothing."
	f := forgetest.Start(t)
	p := stocked(t, f)
	before := p.HeadSHA()
	found := finding("stock.go", 15, "return Count(shelves) / len(shelves)")
	m, err := fakemodel.Start(fakemodel.Script{Rules: slices.Concat(
		answers(reviews,
			use("bash", map[string]string{"command": "id", "description": "x"}),
			use("prloop_read_file", map[string]string{"path": "stock.go"}),
			use("prloop_read_file", map[string]string{"path": "moved-aside-.opencode/plugin/x.js"}),
			use("prloop_submit_result", envelope(found)),
			fakemodel.Answer{Text: "Done."},
			use("prloop_submit_result", envelope(nil))),
		answers(mends,
			use("bash", map[string]string{"command": "touch by-shell", "description": "x"}),
			use("read", map[string]string{"filePath": "customers.csv"}),
			use("read", map[string]string{"filePath": "stock.go"}),
			use("edit", map[string]string{"filePath": "stock.go", "oldString": "\treturn Count(shelves) / len(shelves)",
				"newString": "\tif len(shelves) == 0 {\n\t\treturn 0\n\t}\n\treturn Count(shelves) / len(shelves)"}),
			use("prloop_submit_result", map[string]any{"agent": "x", "prNumber": 7, "summary": map[string]int{"fixed": 1, "rejected": 0, "deferred": 0}, "commits": []any{},
				"fixedIssues":    []any{map[string]string{"findingId": "BUG-001", "commitSha": "", "description": "Mean answers 0 for an empty list."}},
				"rejectedIssues": []any{}})),
	), Default: &fakemodel.Answer{Text: "Done."}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	env, home := acpEnv(t, f, m, npmagent.OpenCode, `reviewers:
  - {name: real, use: acp, preset: opencode}
comments_analyzer: {use: static}
fixer: {use: acp, preset: opencode}
context: {exclude: ["*.csv"]}
verify: ["grep -q 'len(shelves) == 0' stock.go", "test ! -e by-shell", "test -f .opencode/plugin/x.js", "grep -q canary customers.csv"]
`)
	got := start(t, env, home, "prloop", "run", "7", "-R", "acme/widgets", "--json")
	var r review.RunResult
	if err := json.Unmarshal(got.stdout, &r); err != nil {
		t.Fatalf("exit %d: %v\n%s", got.status, err, got.stderr)
	}
	if got.status != 0 || r.Outcome != review.Converged || r.Consensus == nil || *r.Consensus != string(review.Approve) {
		t.Errorf("exit %d, %s (%s), %+v\n%s", got.status, r.Outcome, r.Reason, r.Issues, got.stderr)
	}
	for _, a := range r.Receipt.Agents {
		if a.Kind == "acp" && (a.State != review.AgentComplete || a.Usage.LLMCalls == 0 || a.Usage.InputTokens == nil || a.FilesGiven == 0) {
			t.Errorf("%+v", a)
		}
	}
	comments := p.Comments()
	if len(comments) != 3 {
		t.Fatalf("%d comments: %+v\n%s", len(comments), comments, got.stderr)
	}
	for i, parts := range [][]string{
		{markerLine + "\n", "`real`", "Isolation: tier 1", "This line is wrong"},
		{markerLine + "\n", "Mean answers 0 for an empty list", "len(shelves) == 0"},
		{markerLine + "\n", "approve"},
	} {
		for _, part := range parts {
			if !strings.Contains(comments[i].Body, part) {
				t.Errorf("comment %d does not say %q:\n%s", i+1, part, comments[i].Body)
			}
		}
	}
	if p.HeadSHA() == before {
		t.Error("nothing was pushed")
	}
	checkACPModel(t, m)
}

// TestAgentsThatNpmLinks reviews with the real agents that are commands of npm's: the sandbox has to show all they consist of.
func TestAgentsThatNpmLinks(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts agents of npm's: go test without -short does")
	}
	t.Parallel()
	for preset, row := range map[string]struct {
		agent  npmagent.Agent
		submit string
	}{
		"claude":  {npmagent.Claude, "mcp__prloop__submit_result"},
		"copilot": {npmagent.Copilot, "prloop-submit_result"},
	} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			f := forgetest.Start(t)
			p := stocked(t, f)
			m, err := fakemodel.Start(fakemodel.Script{Default: &fakemodel.Answer{Text: "Done."},
				Rules: answers("You are a senior engineer", use(row.submit, envelope(finding("stock.go", 15, "return Count(shelves) / len(shelves)"))))})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			env, home := acpEnv(t, f, m, row.agent, "reviewers: [{name: real, use: acp, preset: "+preset+"}]\ncomments_analyzer: {use: static}\nfixer: none\n")
			got := start(t, env, home, "prloop", "run", "7", "-R", "acme/widgets")
			if comments := p.Comments(); got.status != 3 || len(comments) != 1 || !strings.Contains(comments[0].Body, "This line is wrong") {
				t.Errorf("exit %d, comments %+v\n%s\nthe model finds fault with %q", got.status, comments, got.stderr, m.Faults())
			}
		})
	}
}

// checkACPModel holds what the model was told and offered.
func checkACPModel(t *testing.T, m *fakemodel.Server) {
	t.Helper()
	heard := map[string]bool{"package stock": false, "canary: the plugin was loaded": false}
	for _, q := range m.Requests() {
		for part := range heard {
			heard[part] = heard[part] || slices.ContainsFunc(q.Messages, func(m fakemodel.Message) bool { return m.Role == "tool" && strings.Contains(m.Text, part) })
		}
		if slices.Contains(q.Tools, "bash") {
			t.Error("the model is offered a shell")
		}
		if strings.Contains(string(q.Body), "nothing may read this") {
			t.Error("the model read a path that is excluded")
		}
	}
	for part, was := range heard {
		if !was {
			t.Errorf("the reviewer never read %q", part)
		}
	}
	if faults := m.Faults(); len(faults) > 0 {
		t.Errorf("the model finds fault with %q", faults)
	}
}
