package config

import (
	"github.com/prloop/prloop/internal/lens"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// shape is a JSON Schema.
type shape = map[string]any

func text(minLength, maxLength int) shape {
	return shape{"type": "string", "minLength": minLength, "maxLength": maxLength}
}

func match(pattern string) shape { return shape{"type": "string", "pattern": pattern} }

func integer(low, high int) shape { return shape{"type": "integer", "minimum": low, "maximum": high} }

func number(low, high float64) shape { return shape{"type": "number", "minimum": low, "maximum": high} }

func boolean() shape { return shape{"type": "boolean"} }

func choice(values ...string) shape {
	enum := make([]any, len(values))
	for i, v := range values {
		enum[i] = v
	}
	return shape{"type": "string", "enum": enum}
}

func duration() shape {
	return shape{"type": "string", "pattern": timeSpan, "description": "A time span such as 90s or 10m."}
}

func list(items shape, least, most int) shape {
	return shape{"type": "array", "items": items, "minItems": least, "maxItems": most}
}

// globs are patterns of whole paths, folders those that people may write as gitignore has folders.
func globs(most int) shape { return patterns(pathGlob, most) }

func folders(most int) shape { return patterns(glob, most) }

func patterns(format string, most int) shape {
	return list(shape{"type": "string", "minLength": 1, "maxLength": 500, "format": format}, 0, most)
}

func folderNames() shape {
	s := list(match(folderName), 0, 10)
	s["uniqueItems"] = true
	return s
}

// object makes a strict group of keys out of name and shape pairs.
func object(required []any, pairs ...any) shape {
	properties := shape{}
	for i := 0; i < len(pairs); i += 2 {
		properties[pairs[i].(string)] = pairs[i+1]
	}
	s := shape{"type": "object", "additionalProperties": false, "properties": properties}
	if required != nil {
		s["required"] = required
	}
	return s
}

func described(s shape, doc string) shape {
	s["description"] = doc
	return s
}

// The forms of texts.
const (
	// fetchHost is a name, or all names below one; webfetch looks at it again.
	fetchHost = `^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`
	// registryHost is that, or a host or an address with a port; internal/registries says what the two mean.
	registryHost = `^((\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])|([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\]):[0-9]{1,5})$`
	httpAddress  = `^https?://[^\s@]+$`
	agentName    = `^[a-z0-9][a-z0-9._-]{0,39}$`
	commandID    = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`
	providerName = `^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`
	jobID        = `^[A-Za-z_][A-Za-z0-9_-]{0,99}$`
	folderName   = `^[A-Za-z0-9][A-Za-z0-9._-]{0,62}[A-Za-z0-9_-]?$`
	loginOrTeam  = `^[A-Za-z0-9][A-Za-z0-9-]*(/[A-Za-z0-9._-]+)?$`
	notBlank     = `\S`
	variableName = `^[A-Z][A-Z0-9_]{0,63}$`
	timeSpan     = `^([0-9]{1,6}(s|m)|[0-9]{1,5}h){1,3}$` // which a time.Duration holds
)

// forms says each of them in words, to follow "is not" and "Value:".
var forms = map[string]string{
	fetchHost:    "a host name such as docs.example.com or *.example.com",
	registryHost: "a host such as registry.example.com or *.example.com, or a host with a port such as mirror.corp:8081",
	httpAddress:  "an address that begins with http:// or https://, without spaces and @",
	agentName:    "a name of up to 40 lower-case letters, digits, dots, underscores and dashes, a letter or digit first",
	commandID:    "a name of up to 64 letters, digits, dots, underscores and dashes, a letter or digit first",
	providerName: "the name of one of the operator's endpoints; an address is the operator's to give (upstreams, base_url)",
	jobID:        "the id of a job in a workflow: up to 100 letters, digits, underscores and dashes, a letter or underscore first",
	folderName:   "the name of a folder in the workspace, without a slash: up to 64 letters, digits, dots, underscores and dashes, a letter or digit first",
	loginOrTeam:  "a login such as octocat, or a team such as org/team",
	notBlank:     "a text that says something",
	variableName: "the name of a variable, up to 64 upper-case letters, digits and underscores, a letter first",
	timeSpan:     "a time span such as 90s or 10m",
}

// orWord is an agent's group of keys or one of a few words; review.KindBuiltin is short for {use: builtin}. The group stands in
// "then" so that its faults are told one by one, as those of the other agents.
func orWord(agent shape, words ...any) shape {
	return shape{"if": shape{"type": "object"}, "then": agent, "else": shape{"enum": append([]any{review.KindBuiltin}, words...)}}
}

// fixerShape is the fixer, or a word.
func fixerShape() shape {
	agent := agentShape(false)
	agent["properties"].(shape)["use"] = described(choice(review.KindBuiltin, review.KindCommand, review.KindACP),
		"builtin edits with a model; command runs any program that speaks JSON over stdio; acp drives an agent over the Agent Client Protocol.")
	return orWord(agent, useOff, UseNone, false)
}

// agentShape is a reviewer, or the comments analyzer, which needs no name and has no lens.
func agentShape(reviewer bool) shape {
	pairs := []any{
		"use", described(choice(review.KindBuiltin, review.KindStatic, review.KindCommand, review.KindACP),
			"builtin asks the model; static needs none; command runs any program that speaks JSON over stdio; acp drives an agent over the Agent Client Protocol."),
		"model", described(text(1, 200), "For builtin and acp: the model instead of the common one."),
		"preset", described(choice("opencode", "copilot", "claude", "codex", "gemini"), "For acp: which agent it is (docs/acp.md)."),
		"path", described(text(1, 1000), "For command: the program. For acp: the agent's program, instead of the one in PATH."),
		"args", described(list(shape{"type": "string", "maxLength": 4000}, 0, 100), "For command and acp: its arguments."),
		"timeout", described(duration(), "Wall time, instead of limits.max_wall_time_seconds."),
		"settings", shape{
			"type": "object", "maxProperties": 50, "description": "For command: free options handed to the program; nothing secret.",
			"additionalProperties": shape{"type": []any{"string", "number", "boolean"}},
		},
	}
	if !reviewer {
		return object([]any{"use"}, pairs...)
	}
	pairs = append(pairs,
		"name", described(match(agentName), "Unique; stands in reports and in --reviewers."),
		"lens", described(choice(append(prompts.Lenses(), lens.Auto)...), "For builtin: what the reviewer looks for; auto chooses by the diff."))
	return object([]any{"name", "use"}, pairs...)
}

func ids() shape { return list(match(commandID), 0, 50) }

func pathFilter() shape { return object(nil, "include", globs(200), "exclude", globs(200)) }
