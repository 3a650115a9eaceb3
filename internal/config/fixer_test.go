package config

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhoFixes(t *testing.T) {
	key := env("OPENAI_API_KEY", "sk-x")
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"nobody without a model", Input{}, "none"},
		{"a model, and a builtin reviewer", Input{Env: key}, "builtin"},
		{"a model, but only static reviews", Input{Env: key, Reviewers: []string{"static"}}, "none"},
		{"none switches off", Input{Env: key, Repository: repo("fixer: none\n")}, "none"},
		{"off switches off", Input{Env: key, Repository: repo("fixer: off\n")}, "none"},
		{"a word is short for a group", Input{Env: key, Operator: operator("fixer: none\n"), Repository: repo("fixer: builtin\n")}, "builtin"},
		{"false switches off", Input{Env: key, Operator: operator("fixer: false\n")}, "none"},
		{"the repository's file beats the operator's", Input{Env: key, Operator: operator("fixer: none\n"), Repository: repo("fixer:\n  use: builtin\n  model: big\n")}, "builtin big"},
		{"the command line beats both", Input{Env: key, Given: []Given{{"fixer", "none", "--no-fix"}}, Repository: repo("fixer: {use: command, path: x}\n")}, "none"},
		{"an agent over ACP", Input{Operator: operator("fixer: {use: acp, preset: opencode}\n")}, "acp"},
		{"a program of the operator's", Input{Operator: operator("fixer: {use: command, path: ./mend.sh, timeout: 5m}\n")}, "command /home/op/prloop/mend.sh"},
		{"a program of the repository's on a local range", Input{Local: true, Repository: repo("fixer: {use: command, path: ./mend.sh}\n")}, "command ./mend.sh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Resolve(c.in)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.TrimSpace(strings.Join([]string{s.Fixer.Use, s.Fixer.Model, s.Fixer.Path}, " "))
			if got = strings.Join(strings.Fields(got), " "); got != c.want || s.Fixer.Name != FixerName {
				t.Errorf("%s is %q, want %q", s.Fixer.Name, got, c.want)
			}
		})
	}
}

// A fixer of the repository's file is held to the rules of its reviewers (decision 9).
func TestFixerOfTheRepository(t *testing.T) {
	allow := operator("allow_repo_commands: true\n")
	for _, c := range []struct {
		name    string
		in      Input
		refused bool
	}{
		{"a program is refused on a pull request", Input{Repository: repo("fixer: {use: command, path: fix}\n")}, true},
		{"a program the operator allows", Input{Repository: repo("fixer: {use: command, path: fix}\n"), Operator: allow}, false},
		{"a path into the pull request's own files", Input{Repository: repo("fixer: {use: command, path: ./mend}\n"), Operator: allow}, true},
		{"an agent over ACP is a program too", Input{Repository: repo("fixer: {use: acp, preset: opencode}\n")}, true},
	} {
		_, err := Resolve(c.in)
		var refused *RepoCommandError
		if got := errors.As(err, &refused); got != c.refused || (err != nil) != c.refused {
			t.Errorf("%s: %v", c.name, err)
		} else if refused != nil && (refused.Agent != FixerName || refused.Line != 1) {
			t.Errorf("%s: the refusal names %s at line %d", c.name, refused.Agent, refused.Line)
		}
	}
}

func TestFixSettings(t *testing.T) {
	s, err := Resolve(Input{})
	if err != nil || s.Rounds != 3 || s.Verify != nil || s.VerifyTimeout != 10*time.Minute || s.Fix.UntrustedAuthors || s.Fix.Limits.LLMCalls != 30 {
		t.Errorf("defaults: %+v %v", s.Fix, err)
	}
	if e := setting(t, s, "verify"); e.Value != "(detected)" {
		t.Errorf("verify is explained as %v", e)
	}
	if e := setting(t, s, "fixer"); !strings.HasPrefix(e.String(), "fixer = \"none\"") {
		t.Errorf("fixer is explained as %s", e)
	}
	s, err = Resolve(Input{
		Given:      []Given{{"rounds", "1", "--rounds"}},
		Operator:   operator("rounds: 2\nverify_timeout: 2m\nfix:\n  allow_paths: [go.mod]\n  untrusted_authors: true\n  max_llm_calls: 10\n"),
		Repository: repo("rounds: 3\nverify: []\nverify_timeout: 1h\nfix: {max_llm_calls: 50, max_tool_calls: 9}\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Rounds != 1 || s.Verify == nil || len(s.Verify) != 0 || s.VerifyTimeout != 2*time.Minute || s.Fix.Limits.LLMCalls != 10 || s.Fix.Limits.ToolCalls != 9 {
		t.Errorf("%d rounds, verify %v within %v, limits %+v", s.Rounds, s.Verify, s.VerifyTimeout, s.Fix.Limits)
	}
	if d := cmp.Diff([]string{"go.mod"}, s.Fix.AllowPaths); d != "" || !s.Fix.UntrustedAuthors {
		t.Errorf("the operator's word is lost: %s", d)
	}
	if e := setting(t, s, "verify_timeout"); !strings.Contains(e.Note, "asks for 1h") {
		t.Errorf("the refused value is not named: %v", e)
	}
	if _, err := json.Marshal(s.Explain()); err != nil {
		t.Error(err)
	}
	s, err = Resolve(Input{Operator: operator("verify_registries: [registry.example.com, \"*.example.com\", \"mirror:8081\", \"[::1]:80\"]\nlend_caches: true\n"), Repository: repo("verify_setup: [npm ci]\n")})
	if err != nil || len(s.VerifyRegistries) != 4 || !slices.Equal(s.LendCaches, allCaches) || len(s.VerifySetup) != 1 {
		t.Errorf("%q, %q, %q: %v", s.VerifyRegistries, s.LendCaches, s.VerifySetup, err)
	}
	for _, bad := range []string{"verify_registries: [example]", "verify_registries: [\"*.example.com:80\"]", "verify_registries: [https://registry.example.com]", "verify_registries: [\"*\"]", "lend_caches: [pip]"} {
		if _, err := Resolve(Input{Operator: operator(bad + "\n")}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if s, err := Resolve(Input{Operator: operator("lend_caches: [go]\n")}); err != nil || !slices.Equal(s.LendCaches, []string{"go"}) {
		t.Errorf("%q %v", s.LendCaches, err)
	}
	if _, err := Resolve(Input{Given: []Given{{"rounds", "4", "--rounds"}}}); err == nil {
		t.Error("four rounds were accepted (spec.md L1: 3 at most)")
	}
}

func TestFaultsOfFixSettings(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"paths a fix may touch are the operator's": {"fix:\n  allow_paths: ['**']\n",
			"2 fix.allow_paths: may be set only by the operator (command line, environment or config.yml): a fix could then change what runs with the repository's own rights"},
		"so are strangers": {"fix:\n  max_llm_calls: 5\n  untrusted_authors: true\n",
			"3 fix.untrusted_authors: may be set only by the operator (command line, environment or config.yml): strangers would have their work done at the operator's expense"},
		"a whole group of the operator's": {"budgets:\n  per_day_usd: 5\n",
			"2 budgets.per_day_usd: may be set only by the operator (command line, environment or config.yml): it guards the operator's money"},
		"true names nobody":             {"fixer: true\n", "1 fixer: is true, but must be a group such as {use: acp, preset: opencode}, or one of builtin, off, none, false"},
		"a word names nobody":           {"fixer: noone\n", `1 fixer: is "noone", but must be a group such as {use: acp, preset: opencode}, or one of builtin, off, none, false -> none`},
		"a way to be an agent":          {"fixer:\n  use: static\n", `2 fixer.use: "static" is not one of builtin, command, acp`},
		"a key that is misspelt":        {"fixer:\n  use: builtin\n  modle: m\n", "3 fixer.modle: unknown key -> model"},
		"a command needs its program":   {"fixer:\n  use: command\n", "2 fixer.use: command needs path, the program to run"},
		"an ACP agent needs its preset": {"fixer:\n  use: acp\n", "2 fixer.use: acp needs preset, the agent it is"},
		"a builtin fixer has no path":   {"fixer: {use: builtin, path: x}\n", "1 fixer.path: has no meaning with use: builtin"},
		"a lens is a reviewer's":        {"fixer: {use: builtin, lens: security}\n", "1 fixer.lens: unknown key"},
		"no more than three rounds":     {"rounds: 4\n", "1 rounds: must be at most 3"},
		"an empty line verifies":        {"verify: ['']\n", "1 verify[0]: is empty"},
	} {
		got := strings.Join(faultLines(t, Validate(Repository, ".reviewerc", []byte(c.file))), "\n")
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
	if err := Validate(Operator, "config.yml", []byte("fixer: {use: builtin}\nrounds: 2\nverify: [make lint]\nfix: {allow_paths: ['go.*'], untrusted_authors: true}\n")); err != nil {
		t.Error(err)
	}
}
