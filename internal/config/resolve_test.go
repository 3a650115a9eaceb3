package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func repo(text string) *File     { return &File{".reviewerc", []byte(text)} }
func operator(text string) *File { return &File{"/home/op/prloop/config.yml", []byte(text)} }

func names(agents []Agent) string {
	var out []string
	for _, a := range agents {
		out = append(out, a.Name+"="+a.Use)
	}
	return strings.Join(out, " ")
}

func setting(t *testing.T, s Settings, key string) Setting {
	t.Helper()
	for _, e := range s.Explain() {
		if e.Key == key {
			return e
		}
	}
	t.Fatalf("explain does not list %s", key)
	return Setting{}
}

func TestReviewersFollowTheModel(t *testing.T) {
	for _, c := range []struct {
		name           string
		in             Input
		want, comments string
	}{
		{"no model: static alone", Input{}, "static=static", review.KindStatic},
		{"a key: one builtin reviewer and static", Input{Env: env("OPENAI_API_KEY", "sk-x")}, "reviewer-1=builtin static=static", review.KindBuiltin},
		{"an endpoint of one's own needs no key", Input{Env: env("OPENAI_BASE_URL", "http://localhost:11434/v1")}, "reviewer-1=builtin static=static", review.KindBuiltin},
		{"configured reviewers are taken as they are", Input{Repository: repo("reviewers:\n- {name: a, use: builtin, lens: security}\n")}, "a=builtin", review.KindStatic},
		{"--reviewers picks configured names and static", Input{Reviewers: []string{"a", "static", "a"},
			Repository: repo("reviewers:\n- {name: a, use: builtin}\n- {name: b, use: static}\n")}, "a=builtin static=static", review.KindStatic},
		{"--reviewers may name the operator's although the repository has its own", Input{Reviewers: []string{"mine"},
			Repository: repo("reviewers:\n- {name: a, use: builtin}\n"), Operator: operator("reviewers:\n- {name: mine, use: static}\n")}, "mine=static", review.KindStatic},
		{"exec: programs are named after their file", Input{Reviewers: []string{"exec:./x/My Review.sh", "exec:/y/my review.py", "exec:static"}},
			"my-review=command my-review-2=command static=command", review.KindStatic},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Resolve(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(s.Reviewers); got != c.want || s.Comments.Use != c.comments {
				t.Errorf("got %s, comments %s; want %s, %s", got, s.Comments.Use, c.want, c.comments)
			}
		})
	}
}

func TestUnknownReviewerIsTyped(t *testing.T) {
	_, err := Resolve(Input{Reviewers: []string{"securty"}, Repository: repo("reviewers:\n- {name: security, use: builtin}\n")})
	var unknown *UnknownAgentError
	if !errors.As(err, &unknown) || unknown.Suggestion != "security" {
		t.Fatalf("got %v", err)
	}
	if want := `unknown reviewer "securty"; did you mean "security"? (known: builtin, security, static, exec:PATH)`; err.Error() != want {
		t.Errorf("got %s, want %s", err, want)
	}
	if _, err := Resolve(Input{Reviewers: strings.Split("exec:a,exec:b,exec:c,exec:d,exec:e,exec:f", ",")}); err == nil {
		t.Error("six reviewers were accepted (spec.md L1: 1 to 5)")
	}
}

// A command of the repository's file is code execution on the operator's machine.
func TestCommandsOfTheRepository(t *testing.T) {
	file := func(path string) *File {
		return repo("reviewers:\n- name: tool\n  use: command\n  path: " + path + "\n")
	}
	allow := operator("allow_repo_commands: true\n")
	for _, c := range []struct {
		name     string
		in       Input
		refused  bool
		relative bool
	}{
		{"refused on a pull request", Input{Repository: file("lint-tool")}, true, false},
		{"refused although --reviewers names it", Input{Repository: file("lint-tool"), Reviewers: []string{"tool"}}, true, false},
		{"not refused when --reviewers leaves it out", Input{Repository: file("lint-tool"), Reviewers: []string{"static"}}, false, false},
		{"allowed on a local range", Input{Repository: file("./lint.sh"), Local: true, Top: "/work/tree"}, false, false},
		{"allowed by the operator", Input{Repository: file("lint-tool"), Operator: allow}, false, false},
		{"allowed by the command line", Input{Repository: file("/opt/lint"), Given: []Given{{"allow_repo_commands", "true", "--allow-repo-commands"}}}, false, false},
		{"a relative path would be the pull request's own file", Input{Repository: file("./lint.sh"), Operator: allow}, true, true},
		{"the comments analyzer is held to the same", Input{Repository: repo("comments_analyzer:\n  use: command\n  path: x\n")}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Resolve(c.in)
			var refused *RepoCommandError
			if got := errors.As(err, &refused); got != c.refused || (err != nil) != c.refused {
				t.Fatalf("refused is %v, want %v: %v", got, c.refused, err)
			}
			if c.refused && (refused.Relative != c.relative || refused.Line == 0) {
				t.Errorf("got %+v", refused)
			}
		})
	}
}

func TestOperatorsCommandsStandBesideTheOperatorsFile(t *testing.T) {
	s, err := Resolve(Input{Operator: operator("reviewers:\n- {name: a, use: command, path: bin/a}\n- {name: b, use: command, path: b}\n"), Reviewers: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Reviewers[0].Path != "/home/op/prloop/bin/a" || s.Reviewers[1].Path != "b" {
		t.Errorf("paths are %q and %q", s.Reviewers[0].Path, s.Reviewers[1].Path)
	}
}

// A person in a sub-folder means the same program as one at the root.
func TestTheRepositorysCommandsStandInTheWorkingTree(t *testing.T) {
	file := repo("reviewers:\n- {name: a, use: command, path: tools/a}\n- {name: b, use: command, path: b}\n- {name: c, use: command, path: /opt/c}\n- {name: d, use: acp, preset: opencode, path: ./d}\n")
	s, err := Resolve(Input{Repository: file, Reviewers: []string{"a", "b", "c", "d", "exec:./e"}, Local: true, Top: "/work/tree"})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, a := range s.Reviewers {
		paths = append(paths, a.Path)
	}
	if d := cmp.Diff([]string{"/work/tree/tools/a", "b", "/opt/c", "/work/tree/d", "./e"}, paths); d != "" {
		t.Error(d)
	}
}

// Whoever pays sets the cap: a repository may lower the operator's limits, not raise them.
func TestLimitsOfTheOperatorCapTheRepository(t *testing.T) {
	s, err := Resolve(Input{
		Operator:   operator("wall_time: 10m\nlimits:\n  max_cost_usd: 0.2\n  max_llm_calls: 4\n"),
		Repository: repo("wall_time: 2h\nlimits:\n  max_cost_usd: 50\n  max_llm_calls: 3\n  max_tool_calls: 9\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Limits.CostUSD != 0.2 || s.Limits.LLMCalls != 3 || s.Limits.ToolCalls != 9 || s.WallTime.Minutes() != 10 {
		t.Errorf("got %+v, wall time %v", s.Limits, s.WallTime)
	}
	e := setting(t, s, "limits.max_cost_usd")
	if e.Layer != LayerOperator || !strings.Contains(e.Note, ".reviewerc:3 asks for 50") {
		t.Errorf("explain says %+v", e)
	}
	if s, err = Resolve(Input{Operator: operator("limits: {max_cost_usd: 0.2}\n"), Given: []Given{{"limits.max_cost_usd", "1.5", "--max-cost"}}}); err != nil || s.Limits.CostUSD != 1.5 {
		t.Errorf("the command line may raise it: %v, %v", s.Limits.CostUSD, err)
	}
}

// A limit nobody set is not explained as a limit of nothing; where zero can be set, it is what it says.
func TestUnsetLimitsAreExplained(t *testing.T) {
	s, err := Resolve(Input{Operator: operator("run_limits: {max_cost_usd: 3}\nlimits: {max_tool_calls: 0}\n")})
	if err != nil {
		t.Fatal(err)
	}
	for key, note := range map[string]string{
		"limits.max_tokens": "no bound", "run_limits.max_tokens": "no bound", "budgets.per_day_usd": "no bound",
		"run_limits.max_cost_usd": "", "limits.max_tool_calls": "",
	} {
		if e := setting(t, s, key); e.Note != note {
			t.Errorf("%s has the note %q, want %q", e, e.Note, note)
		}
	}
}

func TestGivenValuesAreHeldToTheSchema(t *testing.T) {
	for given, want := range map[Given]string{
		{"model", "", "--model"}:                                            "--model: is empty",
		{"min_reviewers", "nine", "--min-reviewers"}:                        `--min-reviewers: "nine" is not a whole number`,
		{"min_reviewers", "9", "--min-reviewers"}:                           "--min-reviewers: must be at most 5",
		{"limit.max_cost_usd", "1", "--set"}:                                `--set: limit.max_cost_usd: unknown setting; did you mean "limits.max_cost_usd"?`,
		{"base_url", "ftp://x", "--base-url"}:                               "--base-url: is not an address that begins with http:// or https://, without spaces and @",
		{"limits.max_cost_usd", "ten", "--max-cost"}:                        `--max-cost: limits.max_cost_usd: "ten" is not a number`,
		{"limits.max_cost_usd", "NaN", "--max-cost"}:                        `--max-cost: limits.max_cost_usd: "NaN" is not a number`,
		{"run_limits.max_cost_usd", "0", "--max-run-cost"}:                  "--max-run-cost: 0 dollars would let no model be asked",
		{"limits.max_cost_usd", "0.0", "--max-cost"}:                        "--max-cost: 0 dollars would let no model be asked",
		{"run_limits.max_cost_usd", "0.001", "x"}:                           "x: run_limits.max_cost_usd: must be at least 0.01",
		{"allow_repo_commands", "maybe", "x"}:                               `x: allow_repo_commands: "maybe" is not true or false`,
		{Key: "context.exclude", Value: "a/**,[b-", From: "input excludes"}: "input excludes: context.exclude: is not a valid glob",
	} {
		_, err := Resolve(Input{Given: []Given{given}})
		if err == nil || err.Error() != want {
			t.Errorf("%+v: got %v, want %s", given, err, want)
		}
	}
	s, err := Resolve(Input{Given: []Given{{"context.exclude", "a/**, b/*", "x"}, {"wall_time", "90s", "y"}, {"limits.max_cost_usd", ".5", "z"}}})
	if err != nil || len(s.Context.Exclude) != 2 || s.WallTime.Seconds() != 90 || s.Limits.CostUSD != 0.5 {
		t.Errorf("got %+v %v, %v", s.Context, s.WallTime, err)
	}
}

func TestTheKeyIsNeverPrinted(t *testing.T) {
	s, err := Resolve(Input{Operator: operator("api_key: sk-canary-1\n")})
	if err != nil || s.APIKey.Reveal() != "sk-canary-1" {
		t.Fatalf("key %q, %v", s.APIKey.Reveal(), err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%v %+v %s %q %x", s.APIKey, s.APIKey, s.APIKey, s.APIKey, s.APIKey)
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	for _, e := range s.Explain() {
		out.WriteString(e.String())
	}
	if strings.Contains(out.String(), "canary") || strings.Contains(out.String(), fmt.Sprintf("%x", "canary")) {
		t.Errorf("the key stands in %s", out.String())
	}
}

func TestOperatorFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yml")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := ReadOperator(env("XDG_CONFIG_HOME", dir)); f != nil || err != nil {
		t.Errorf("no file: %v, %v", f, err)
	}
	own := filepath.Join(t.TempDir(), "prloop")
	if err := os.Symlink(filepath.Join(dir, "nothing"), own); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOperator(env("XDG_CONFIG_HOME", filepath.Dir(own))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is a link to nothing: %v", err)
	}
	if err := errors.Join(os.Remove(own), os.Mkdir(own, 0o700), os.Symlink(path, filepath.Join(own, "config.yml"))); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOperator(env("XDG_CONFIG_HOME", filepath.Dir(own))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a link to nothing: %v", err)
	}
	if name := OperatorLookalike(env("XDG_CONFIG_HOME", filepath.Dir(own))); name != "" {
		t.Errorf("%q is not there", name)
	}
	if err := os.WriteFile(filepath.Join(own, "config.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if name := OperatorLookalike(env("XDG_CONFIG_HOME", filepath.Dir(own))); name != filepath.Join(own, "config.yaml") {
		t.Errorf("found %q", name)
	}
	if _, err := ReadOperator(env("PRLOOP_CONFIG", path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a named file that is missing: %v", err)
	}
	write("model: a\n", 0o644)
	if f, err := ReadOperator(env("PRLOOP_CONFIG", path)); err != nil || string(f.Data) != "model: a\n" {
		t.Errorf("%v, %v", f, err)
	}
	write("api_key: sk-canary-1\n", 0o644)
	if _, err := ReadOperator(env("PRLOOP_CONFIG", path)); err == nil || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), "canary") {
		t.Errorf("a key others may read: %v", err)
	}
	write("api_key: sk-canary-1\n", 0o600)
	if _, err := ReadOperator(env("PRLOOP_CONFIG", path)); err != nil {
		t.Error(err)
	}
	if p, named := OperatorPath(env("HOME", "/h", "XDG_CONFIG_HOME", "relative")); p != "/h/.config/prloop/config.yml" || named {
		t.Errorf("path %q", p)
	}
}
