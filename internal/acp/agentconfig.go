package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	api "github.com/coder/acp-go-sdk"
)

// prepared is an agent ready to be started.
type prepared struct {
	command string
	args    []string
	env     []string
	cwd     string
}

// writeAgentConfig writes the preset's configuration into the agent's home and writes out its environment.
func writeAgentConfig(spec Spec, server api.McpServerStdio) (prepared, error) {
	if !filepath.IsAbs(spec.Dir) || !filepath.IsAbs(spec.Self) {
		return prepared{}, errors.New("the agent's home and prloop's own path have to be absolute")
	}
	f := prepared{command: spec.Preset.Command, args: spec.Preset.Args, cwd: spec.Cwd}
	if spec.Command != "" {
		f.command, f.args = spec.Command, spec.Args
	}
	if f.cwd == "" || spec.apart() {
		f.cwd = filepath.Join(spec.Dir, "work")
		if err := os.MkdirAll(f.cwd, 0o700); err != nil {
			return prepared{}, fmt.Errorf("make the agent's working folder: %w", err)
		}
	}
	if err := uncontrolled(f.cwd, spec.Preset); err != nil {
		return prepared{}, err
	}
	words := map[string]string{
		"{home}": spec.Dir, "{cwd}": f.cwd, "{base}": spec.Endpoint.BaseURL,
		"{root}":  strings.TrimSuffix(strings.TrimSuffix(spec.Endpoint.BaseURL, "/"), "/v1"),
		"{token}": spec.Endpoint.Token, "{model}": spec.Model,
	}
	f.env = environment(spec, fill(words, plain))
	inside := fill(words, quoted, "{mcp}", members(server))
	for _, file := range spec.Preset.Files {
		path := filepath.Join(spec.Dir, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return prepared{}, fmt.Errorf("configure %s: %w", spec.Preset.Name, err)
		}
		if err := os.WriteFile(path, []byte(inside.Replace(file.Text)), 0o600); err != nil {
			return prepared{}, fmt.Errorf("configure %s: %w", spec.Preset.Name, err)
		}
	}
	return f, nil
}

// ErrLoads is wrapped when the working folder holds configuration the agent would take.
var ErrLoads = errors.New("the tree has configuration this agent would load")

// uncontrolled fails when something at the top of the tree would configure the agent. Case is no difference: it is none on
// some file systems.
func uncontrolled(cwd string, p Preset) error {
	if len(p.Loads) == 0 {
		return nil
	}
	entries, err := os.ReadDir(cwd)
	if err != nil {
		return fmt.Errorf("look at the agent's working folder: %w", err)
	}
	for _, e := range entries {
		for _, name := range p.Loads {
			if strings.EqualFold(e.Name(), name) {
				return fmt.Errorf("start %s: %w: move %s aside", p.Name, ErrLoads, name)
			}
		}
	}
	return nil
}

// environment is the caller's, then the home, then the preset's; a later entry replaces an earlier one.
func environment(spec Spec, words *strings.Replacer) []string {
	var env []string
	at := map[string]int{}
	set := func(entry string) {
		name, _, _ := strings.Cut(entry, "=")
		if i, ok := at[name]; ok {
			env[i] = entry
			return
		}
		at[name] = len(env)
		env = append(env, entry)
	}
	for _, e := range spec.Env {
		set(e)
	}
	set("HOME=" + spec.Dir)
	set("TMPDIR=" + spec.Dir)
	for _, e := range spec.Preset.Env {
		set(words.Replace(e))
	}
	return env
}

// members are the command, args and env of an MCP server as most agents' files have them.
func members(s api.McpServerStdio) string {
	env := map[string]string{}
	for _, e := range s.Env {
		env[e.Name] = e.Value
	}
	b, _ := json.Marshal(map[string]any{"command": s.Command, "args": s.Args, "env": env}) // texts always encode
	return string(b[1 : len(b)-1])
}

func fill(words map[string]string, as func(string) string, more ...string) *strings.Replacer {
	pairs := more
	for word, value := range words {
		pairs = append(pairs, word, as(value))
	}
	return strings.NewReplacer(pairs...)
}

func plain(s string) string { return strings.ReplaceAll(s, "\x00", "") }

// quoted is a value as it stands inside a JSON or TOML string.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b[1 : len(b)-1])
}
