package actions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Input is one input of the action.
type Input struct {
	// Name is its spelling, Old the others that are accepted.
	Name string
	Old  []string
	// Setting is the setting it is, if it is one.
	Setting string
}

// Inputs are all inputs of the action. Those without a setting mean something to the action alone.
var Inputs = []Input{
	{Name: "pr"},
	{Name: "label"},
	{Name: "bot-name", Old: []string{"bot_name"}},
	{Name: "fix"},
	{Name: "reviewers"},
	{Name: "model", Setting: "model"},
	{Name: "provider", Setting: "provider"},
	{Name: "base-url", Old: []string{"base_url"}, Setting: "base_url"},
	{Name: "api-key", Old: []string{"api_key", "opencode_api_key", "openai_api_key"}, Setting: "api_key"},
	{Name: "effort", Setting: "effort"},
	{Name: "tier", Setting: "tier"},
	{Name: "problem-score-threshold", Old: []string{"problem_score_threshold"}, Setting: "problem_score_threshold"},
	{Name: "score-elevation-threshold", Old: []string{"score_elevation_threshold"}, Setting: "score_elevation_threshold"},
	{Name: "max-cost", Old: []string{"max_cost_usd"}, Setting: "limits.max_cost_usd"},
	{Name: "max-run-cost", Setting: "run_limits.max_cost_usd"},
	{Name: "context-exclude", Setting: "context.exclude"},
	{Name: "context_path_excludes", Setting: "context.never_read"}, // as the column of a policy that has this name
	{Name: "folders", Setting: "folders"},
	{Name: "enable-web", Old: []string{"enable_web"}},
	{Name: "web-hosts", Setting: "web_fetch.hosts"},
	{Name: "sarif"},
	{Name: "token", Old: []string{"github-token", "github_token"}},
	{Name: "sandbox"},
	{Name: "version"},
}

// Given is what a workflow gave: values by the names of inputs.
type Given map[string]string

// ReadInputs reads the inputs of a workflow, as JSON of names and values. An old spelling stands for its input; two spellings of one
// input that say different things are an error.
func ReadInputs(text string) (Given, error) {
	given := Given{}
	if text == "" {
		return given, nil
	}
	var raw map[string]string
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, fmt.Errorf("read the inputs of the action: %w", err)
	}
	for _, in := range Inputs {
		for _, name := range append([]string{in.Name}, in.Old...) {
			v := strings.TrimSpace(raw[name])
			if v == "" {
				continue
			}
			if had, ok := given[in.Name]; ok && had != v {
				return nil, fmt.Errorf("the inputs %s and %s of the action are the same one, and say different things", in.Name, name)
			}
			given[in.Name] = v
		}
	}
	for _, name := range []string{"fix", "enable-web"} {
		if v, ok := given[name]; ok && !slices.Contains([]string{"true", "false"}, v) {
			return nil, fmt.Errorf("the input %s is true or false, not %q", name, v)
		}
	}
	if _, err := given.number("pr"); err != nil {
		return nil, err
	}
	return given, nil
}

// PR is the pull request that the workflow names; 0 for that of the event.
func (g Given) PR() int {
	n, _ := g.number("pr") // checked when it was read
	return n
}

func (g Given) number(name string) (int, error) {
	if g[name] == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(g[name], "#"))
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("the input %s is a number, not %q", name, g[name])
	}
	return n, nil
}
