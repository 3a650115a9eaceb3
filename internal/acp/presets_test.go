package acp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	api "github.com/coder/acp-go-sdk"

	"github.com/prloop/prloop/review"
)

func TestPresetsAreWrittenOut(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), `a"b`)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			f, err := writeAgentConfig(Spec{Preset: p, Dir: dir, Self: "/prloop", Model: `m"1`, Env: []string{"HOME=/root", "PATH=/bin"},
				Endpoint: Endpoint{BaseURL: "http://127.0.0.1:1/v1", Token: "placeholder"}},
				api.McpServerStdio{Command: "/prloop", Args: []string{"agent", "mcp"}, Env: []api.EnvVariable{{Name: "A", Value: `"b`}}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(f.env, "HOME="+dir) || slices.Contains(f.env, "HOME=/root") || !slices.Contains(f.env, "PATH=/bin") {
				t.Errorf("environment %q", f.env)
			}
			if p.Style == StyleAnthropic && !slices.Contains(f.env, "ANTHROPIC_BASE_URL=http://127.0.0.1:1") {
				t.Errorf("environment %q", f.env)
			}
			all := strings.Join(f.env, "\n")
			for _, file := range p.Files {
				data, err := os.ReadFile(filepath.Join(dir, file.Path))
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(file.Path, ".json") && !json.Valid(data) {
					t.Errorf("%s is no JSON:\n%s", file.Path, data)
				}
				all += string(data)
			}
			for _, word := range []string{"{home}", "{cwd}", "{base}", "{root}", "{token}", "{model}", "{mcp}"} {
				if strings.Contains(all, word) {
					t.Errorf("%s was not replaced", word)
				}
			}
			for _, must := range []string{"127.0.0.1:1", "placeholder", `m`} {
				if !strings.Contains(all, must) {
					t.Errorf("%q is nowhere: the agent would look for its model elsewhere", must)
				}
			}
		})
	}
}

func TestOnlyWhatTheGatewayServesIsConfinable(t *testing.T) {
	for _, p := range Presets() {
		ok, why := p.Confinable()
		if ok != slices.Contains([]string{"opencode", "copilot", "claude"}, p.Name) || ok != (why == "") {
			t.Errorf("%s: %v %q", p.Name, ok, why)
		}
	}
}

// The gateway serves an agent its own model alone, so each place where a confined agent names a model names that one.
func TestEveryModelOfAConfinedAgentIsPinned(t *testing.T) {
	for name, places := range map[string][]string{
		"opencode": {`"model": "prloop/M"`, `"small_model": "prloop/M"`, `"models": {"M":`},
		"copilot":  {"COPILOT_MODEL=M"},
		"claude": {
			"ANTHROPIC_MODEL=M", "ANTHROPIC_SMALL_FAST_MODEL=M", "CLAUDE_CODE_SUBAGENT_MODEL=M", "ANTHROPIC_DEFAULT_HAIKU_MODEL=M",
			"ANTHROPIC_DEFAULT_SONNET_MODEL=M", "ANTHROPIC_DEFAULT_OPUS_MODEL=M", "ANTHROPIC_DEFAULT_FABLE_MODEL=M",
		},
	} {
		p, _ := Find(name)
		all := strings.Join(p.Env, "\n")
		for _, f := range p.Files {
			all += f.Text
		}
		all = strings.ReplaceAll(all, "{model}", "M")
		for _, place := range places {
			if !strings.Contains(all, place) {
				t.Errorf("%s: %s is nowhere", name, place)
			}
		}
	}
	for _, p := range Presets() {
		for _, v := range p.Env {
			if name, value, _ := strings.Cut(v, "="); strings.HasSuffix(name, "_MODEL") && value != "{model}" {
				t.Errorf("%s: %s", p.Name, v)
			}
		}
	}
}

func TestMissingProgramsAreNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	p, ok := Find("opencode")
	if path, missing := p.Installed(); !ok || path != "" || !slices.Equal(missing, []string{"opencode", "rg"}) {
		t.Errorf("%q %q", path, missing)
	}
	if _, ok := Find("nobody"); ok {
		t.Error("found nobody")
	}
}

func TestATreeThatConfiguresTheAgentIsRefused(t *testing.T) {
	for _, p := range Presets() {
		for _, name := range p.Loads {
			tree := t.TempDir()
			if err := os.MkdirAll(filepath.Join(tree, strings.ToUpper(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			spec := actorSpec(t, "ok")
			spec.Preset, spec.Cwd = p, tree
			task := question()
			if p.Apart { // then only a fixer works in the tree
				spec.Role, task = review.RoleFixer, fixQuestion()
			}
			a := Ask(t.Context(), spec, task, "review this", nil)
			if a.Receipt.State != review.AgentFailed || !strings.Contains(a.Receipt.Whole(), "move "+name+" aside") {
				t.Errorf("%s with %s: %+v", p.Name, name, a.Receipt)
			}
		}
		if len(p.Loads) == 0 && !p.Apart {
			t.Errorf("%s: nothing is known of what it loads", p.Name)
		}
	}
}

func TestVersion(t *testing.T) {
	dir := t.TempDir()
	program := func(name, text string) string {
		writeTree(t, dir, map[string]string{name: text})
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	inPackage := program("node_modules/@x/agent/dist/index.js", "#!/bin/sh\nexit 7\n")
	writeTree(t, dir, map[string]string{"node_modules/@x/agent/package.json": `{"version":"2.3.4-rc.1"}`})
	link := filepath.Join(dir, "agent")
	if err := os.Symlink(inPackage, link); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, path, want string }{
		{"an npm package says it, by a link too", link, "2.3.4-rc.1"},
		{"a program says it among other words", program("said", "#!/bin/sh\necho 'Agent CLI 1.0.102. See --help.'\n"), "1.0.102"},
		{"a program that waits for a conversation says none", program("waits", "#!/bin/sh\nread x\n"), ""},
		{"a program that fails says none", program("fails", "#!/bin/sh\necho 1.2.3\nexit 3\n"), ""},
	} {
		got, err := Preset{Name: "x"}.Version(t.Context(), row.path)
		if got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%s: %q %v", row.name, got, err)
		}
	}
}
