package acp

import (
	"slices"
	"strings"
)

// Style is the protocol an agent speaks to its model.
type Style string

// The styles.
const (
	StyleChat      Style = "chat completions"
	StyleResponses Style = "responses"
	StyleAnthropic Style = "anthropic messages"
	StyleGemini    Style = "gemini"
)

// Preset is how one agent is started and kept in bounds: data, no code. In Env values and Files the words {home}, {cwd},
// {base} (base URL, ending in /v1), {root} (base URL without /v1), {token} and {model} are replaced; inside files as the
// inside of a JSON string.
type Preset struct {
	// Name is what configuration calls it.
	Name string
	// Package is the npm package that provides Command, at the version whose switches were tried.
	Package string
	Command string
	Args    []string
	// Env are "NAME=value".
	Env []string
	// Files are written below the agent's home.
	Files []File
	// Mode is the session mode to set; empty leaves the agent's own. FixMode is that of a fixer, which may edit files in its
	// working folder and run nothing; empty means that the preset only reviews.
	Mode, FixMode string
	// Meta is given with session/new, FixMeta instead of it to a fixer's when it is set.
	Meta, FixMeta map[string]any
	// Style is what the model's endpoint has to serve.
	Style Style
	// Needs are programs that must be in PATH besides.
	Needs []string
	// Loads are names at the top of the working folder from which the agent takes configuration, whatever it is told. They
	// must have been moved aside: Ask does not start an agent on a tree that has one (threats.md T03).
	Loads []string
	// OwnServers is true when the agent takes its MCP servers from a file of its configuration and not from session/new. In
	// that file {mcp} is the server's command, args and env, as members of a JSON object.
	OwnServers bool
	// Apart is true when the agent need not work in the tree to review it: what it takes configuration from there is much, or
	// the less it sees the better. It works in an empty folder and reads the tree with prloop's tools alone. A fixer does not.
	Apart bool
	// Loose is why the agent cannot be held to the gateway although that speaks its protocol; empty when it can.
	Loose string
	// Untried says what of the preset has not been seen to work; empty when all of it has.
	Untried string
}

// File is one configuration file.
type File struct{ Path, Text string }

// gatewayStyles are what prloop's gateway serves.
var gatewayStyles = []Style{StyleChat, StyleResponses, StyleAnthropic}

// Confinable reports whether the agent can be held to prloop's gateway, so that it needs no key of its own; why says what
// is in the way.
func (p Preset) Confinable() (ok bool, why string) {
	switch {
	case !slices.Contains(gatewayStyles, p.Style):
		return false, "it speaks " + string(p.Style) + ", and the gateway does not"
	case p.Loose != "":
		return false, p.Loose
	}
	return true, ""
}

// Presets are the agents prloop knows, by name.
func Presets() []Preset { return slices.Clone(presets) }

// Find returns a preset by name.
func Find(name string) (Preset, bool) {
	i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return presets[i], true
}

var presets = []Preset{
	{
		Name: "opencode", Package: "opencode-ai@1.18.33", Command: "opencode", Args: []string{"acp"},
		Style: StyleChat, Needs: []string{"rg"}, Mode: "reviewer", FixMode: "fixer",
		// Version 1.18.33 has two readers of configuration, and the second heeds neither switch nor --pure: a plugin in
		// .opencode/plugin of the tree ran with all of them set.
		Loads: []string{".opencode", "opencode.json", "opencode.jsonc"},
		Env: []string{
			"OPENCODE_CONFIG={home}/opencode.json",
			"OPENCODE_DISABLE_PROJECT_CONFIG=1", // opencode.json, .opencode and AGENTS.md of the pull request
			"OPENCODE_DISABLE_CLAUDE_CODE=1", "OPENCODE_DISABLE_EXTERNAL_SKILLS=1",
			"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER=1",
		},
		Files: []File{{"opencode.json", openCodeConfig}},
	},
	{
		Name: "claude", Package: "@agentclientprotocol/claude-agent-acp@0.49.0", Command: "claude-agent-acp",
		Style: StyleAnthropic, Apart: true, FixMode: "default", // it then asks before each edit
		Loads: []string{".claude", ".mcp.json"},
		Env: []string{
			"ANTHROPIC_BASE_URL={root}", "ANTHROPIC_API_KEY={token}", "ANTHROPIC_MODEL={model}",
			// It asks a small model for titles and the like, has a model for each of its aliases, and replaces old models by new ones.
			// The gateway serves {model} alone.
			"ANTHROPIC_SMALL_FAST_MODEL={model}", "CLAUDE_CODE_SUBAGENT_MODEL={model}", "ANTHROPIC_DEFAULT_HAIKU_MODEL={model}",
			"ANTHROPIC_DEFAULT_SONNET_MODEL={model}", "ANTHROPIC_DEFAULT_OPUS_MODEL={model}", "ANTHROPIC_DEFAULT_FABLE_MODEL={model}",
			"CLAUDE_CODE_DISABLE_LEGACY_MODEL_REMAP=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
			"IS_SANDBOX=1", // started as root it opens no session without
		},
		Meta: claudeOptions(), FixMeta: claudeOptions("Read", "Grep", "Glob", "Edit", "Write"),
	},
	{
		Name: "codex", Package: "@agentclientprotocol/codex-acp@2.6.0", Command: "codex-acp",
		Style: StyleResponses, Loads: []string{".codex"},
		Mode:  "read-only", // it starts as "agent", which writes
		Env:   []string{"CODEX_HOME={home}/codex", "PRLOOP_MODEL_TOKEN={token}"},
		Files: []File{{"codex/config.toml", codexConfig}},
		// Seen with codex 0.169.0: a call for a title to a model nobody configured; tools handed over as an interpreter for
		// JavaScript, inside input items, where the gateway cannot tell what the provider would run; AGENTS.md of the tree.
		Loose:   "it calls a model of its own choice, and hands over its tools where the gateway cannot check them",
		Untried: "a whole review",
	},
	{
		Name: "copilot", Package: "@github/copilot@1.0.102", Command: "copilot",
		Args: []string{
			"--acp", "--available-tools=" + strings.Join(ownTools("prloop-"), ","), "--allow-tool=prloop", "--disable-builtin-mcps",
			"--no-custom-instructions", "--no-ask-user", "--no-auto-update", "--no-remote", "--no-remote-export",
		},
		Style: StyleChat, OwnServers: true,
		// In ACP version 1.0.102 runs .github/hooks and reads AGENTS.md, CLAUDE.md, GEMINI.md and .github of its working folder
		// whatever it is told, in a folder nobody trusted too.
		Apart: true,
		Env: []string{
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_HOME={home}/copilot",
			"COPILOT_PROVIDER_BASE_URL={base}", "COPILOT_PROVIDER_API_KEY={token}", "COPILOT_MODEL={model}",
		},
		Files: []File{{"copilot/mcp-config.json", copilotServers}},
	},
	{
		Name: "gemini", Package: "@google/gemini-cli@0.61.0", Command: "gemini", Args: []string{"--acp"},
		Style: StyleGemini, Loads: []string{".gemini", ".env"},
		Env: []string{
			"GEMINI_API_KEY={token}", "GOOGLE_GEMINI_BASE_URL={root}", "GEMINI_MODEL={model}",
			// Without trust it drops the session's MCP server; with it the project's own settings are read.
			"GEMINI_CLI_TRUST_WORKSPACE=true",
		},
		Files:   []File{{".gemini/settings.json", geminiConfig}},
		Untried: "a whole review; it does not end at the end of its input and is killed",
	},
}

// claudeOptions leave Claude Code these tools of its own and prloop's, and nothing that settings of the tree could change. What
// is neither read nor prloop's is asked for.
func claudeOptions(tools ...string) map[string]any {
	return map[string]any{"claudeCode": map[string]any{"options": map[string]any{
		"tools":           append([]string{}, tools...),
		"allowedTools":    ownTools("mcp__prloop__"),
		"disallowedTools": []string{"Bash", "NotebookEdit", "WebFetch", "WebSearch", "Task"},
		"settingSources":  []string{}, "strictMcpConfig": true,
	}}}
}

const openCodeConfig = `{
  "model": "prloop/{model}", "small_model": "prloop/{model}",
  "share": "disabled", "autoupdate": false, "enabled_providers": ["prloop"],
  "provider": {"prloop": {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": "{base}", "apiKey": "{token}"},
    "models": {"{model}": {"tool_call": true, "limit": {"context": 128000, "output": 16384}}}
  }},
  "default_agent": "reviewer",
  "agent": {
    "build": {"disable": true}, "plan": {"disable": true},
    "reviewer": {
      "mode": "primary", "description": "reviews a pull request",
      "prompt": "You review code. You change nothing.",
      "permission": {"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow", "prloop_*": "allow"}
    },
    "fixer": {
      "mode": "primary", "description": "fixes a pull request",
      "prompt": "You fix code. You run nothing.",
      "permission": {"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow", "edit": "allow", "prloop_*": "allow"}
    }
  }
}
`

// The mode set on the session decides what is asked; prloop's own tool is then asked for and allowed.
const codexConfig = `model = "{model}"
model_provider = "prloop"
approval_policy = "never"
sandbox_mode = "read-only"

[model_providers.prloop]
name = "prloop"
base_url = "{base}"
env_key = "PRLOOP_MODEL_TOKEN"
wire_api = "responses"
`

const copilotServers = `{"mcpServers": {"prloop": {"type": "local", "tools": ["*"], {mcp}}}}
`

const geminiConfig = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false}
}
`
