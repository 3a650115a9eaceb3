package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

func TestPlanFixer(t *testing.T) {
	resolve := func(operator string) config.Settings {
		t.Helper()
		s, err := config.Resolve(config.Input{Operator: &config.File{Name: "/op/config.yml", Data: []byte(operator)}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name, operator string
		want           orchestrator.AgentPlan
		some           bool
	}{
		{"nobody", "fixer: none\n", orchestrator.AgentPlan{}, false},
		{"a builtin one with a model of its own", "fixer: {use: builtin, model: big, timeout: 5m}\nfix: {allow_paths: [go.mod, 'docs/**']}\n",
			orchestrator.AgentPlan{Name: "pr-fix", Role: review.RoleFixer, Kind: review.KindBuiltin, Model: "big", Timeout: 5 * time.Minute,
				AllowPaths: []string{"go.mod", "docs/**"}}, true},
		{"a program beside the operator's file", "fixer: {use: command, path: ./mend, args: [-q], settings: {depth: 3}}\n",
			orchestrator.AgentPlan{Name: "pr-fix", Role: review.RoleFixer, Kind: review.KindCommand, Path: "/op/mend", Args: []string{"-q"}, Settings: map[string]string{"depth": "3"}}, true},
	} {
		got, some := planFixer(resolve(c.operator), "/here")
		if d := cmp.Diff(c.want, got); d != "" || some != c.some {
			t.Errorf("%s: %v\n%s", c.name, some, d)
		}
	}
	if l := fixLimits(resolve("fix: {max_llm_calls: 7}\ncontext: {budget_tokens: 5000}\nlimits: {max_idle_seconds: 70, max_call_seconds: 80, max_answer_tokens: 9000}\n")); l.LLMCalls != 7 ||
		l.ContextTokens != 5000 || l.IdleSeconds != 70 || l.CallSeconds != 80 || l.AnswerTokens != 9000 {
		t.Errorf("%+v", l)
	}
}

// A reviewer whose model reasons has the time for that; the verifier has budgets of its own.
func TestPlanOfAModelThatReasons(t *testing.T) {
	s := config.Settings{Limits: review.DefaultLimits(), ThinkingLimits: review.Limits{WallTimeSeconds: 300}, Verifier: config.Agent{Use: review.KindBuiltin, Model: "gpt-5"}}
	for _, c := range []struct {
		model, effort string
		want          *review.Limits
	}{{"gpt-4.1", "", nil}, {"gpt-4.1", "none", nil}, {"gpt-4.1", "low", &s.ThinkingLimits}, {"openai/gpt-5-mini", "", &s.ThinkingLimits}} {
		s.ReasoningEffort, s.Reviewers = c.effort, []config.Agent{{Name: "r", Use: review.KindBuiltin, Model: c.model}}
		if got := plan(s, review.Target{Base: "main"}, "")[0].Limits; !cmp.Equal(got, c.want) {
			t.Errorf("%s %s: %+v", c.model, c.effort, got)
		}
	}
	if got := planVerifier(s, "").Agent.Limits; got != nil {
		t.Errorf("the verifier: %+v", got)
	}
}

// What stands behind a command is masked before any agent, foreign ones too, or file of the run has it (threats.md T778).
func TestPlanMasksWhatStandsBehindACommand(t *testing.T) {
	s, err := config.Resolve(config.Input{Operator: &config.File{Name: "/op/config.yml", Data: []byte("base_url: http://127.0.0.1:1/v1\nmodel: m\n")},
		Repository: &config.File{Name: ".reviewerc", Data: []byte("version: 1\ncommands:\n  - {id: c, prompt: Look.}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for _, c := range []CommandOrder{{ID: "c", Argv: []string{"--key", token}}, {ID: "c", Args: "--key " + token}, {ID: "c", Args: `--header "Authorization: Bearer ` + token + `"`}} {
		agents, _, err := Order{Command: &c}.planAll(s)
		if err != nil {
			t.Fatal(err)
		}
		got := agents[0].Command
		if all := got.Args + strings.Join(got.Argv, " "); strings.Contains(all, token) || !strings.Contains(got.Args, "--") || len(got.Argv) != 2 {
			t.Errorf("%q is %q and %q", c, got.Args, got.Argv)
		}
	}
}

// So is what settings say in words for agents, whoever wrote it (threats.md T879).
func TestPlanMasksWhatSettingsSay(t *testing.T) {
	const token, password = "ghp_0123456789abcdefghijABCDEFGHIJ012345", "Zq8RnB5mK2vXw4Tj"
	const words = "Look, with the token " + token + ".\nLog in with password: " + password
	said := `{prompt: "` + strings.ReplaceAll(words, "\n", `\n`) + `"`
	s, err := config.Resolve(config.Input{
		Operator:   &config.File{Name: "/op/config.yml", Data: []byte("base_url: http://127.0.0.1:1/v1\nmodel: m\n")},
		Repository: &config.File{Name: ".reviewerc", Data: []byte("version: 1\ntier: auto\nfull: " + said + "}\nquick: " + said + "}\ndiscovery: " + said + ", full: true, extract_prompt: \"token: " + token + "\"}\ncommands:\n  - " + said + ", id: c, title: \"Own " + token + "\"}\nreview: {run: [c]}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	agents, _, err := Order{}.planAll(s)
	if err != nil {
		t.Fatal(err)
	}
	last := agents[len(agents)-1]
	quick, find := planQuick(s, Order{}), planFind(s, Order{})
	for _, text := range []string{agents[0].Prompt, last.Prompt, last.Command.Title, quick.Scout.Prompt, find.Prompt, find.ExtractPrompt} {
		if !strings.Contains(text, "[REDACTED]") || strings.Contains(text, token) || strings.Contains(text, password) {
			t.Errorf("%q", text)
		}
	}
}
