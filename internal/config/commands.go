package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/prloop/prloop/internal/nearest"
)

// Command is one custom prompt (spec.md C3).
type Command struct {
	ID     string        `json:"id"`
	Title  string        `json:"title,omitempty"`
	Prompt string        `json:"prompt"`
	Tools  CommandTools  `json:"tools,omitzero"`
	Limits CommandLimits `json:"limits,omitzero"`
	Output CommandOutput `json:"output,omitzero"`
	// Comment.Type is issue, review or both; empty means Output.CommentType of the file, then both.
	Comment CommandComment `json:"comment,omitzero"`
	Files   Globs          `json:"files,omitzero"`
}

// CommandTools restricts the file's allowlist; it never widens it.
type CommandTools struct {
	Allow []string `json:"allow,omitempty"`
}

// CommandLimits bound cost and noise; 0 means no bound of its own.
type CommandLimits struct {
	MaxFiles     int `json:"maxFiles,omitempty"`
	MaxFindings  int `json:"maxFindings,omitempty"`
	MaxDiffLines int `json:"maxDiffLines,omitempty"`
}

// CommandOutput says how a command answers.
type CommandOutput struct {
	// Format is findings, narrative or checklist.
	Format string `json:"format,omitempty"`
	// SeverityFloor is low, medium, high or critical.
	SeverityFloor string `json:"severityFloor,omitempty"`
	// Mode is feed_main, separate_comment or both.
	Mode string `json:"mode,omitempty"`
}

// CommandComment says what kind of comment a command posts.
type CommandComment struct {
	Type string `json:"type,omitempty"`
}

func commandLimits() shape {
	return object(nil, "maxFiles", integer(1, 100_000), "maxFindings", integer(1, 1000), "maxDiffLines", integer(1, 1_000_000))
}

// tools are the categories of custom prompts, in both spellings found in the wild (decision 12).
func tools() shape {
	s := list(choice("filesystem", "git.read", "git.history", "github.read", "github.pr.read", "github.write", "github.pr.feedback",
		"github.pr", "github.pr.manage", "repo.write", "agent.subagent"), 0, 20)
	s["uniqueItems"] = true
	return s
}

func commandShape() shape {
	return object([]any{"id", "prompt"},
		"id", described(match(commandID), "The name used in comments, review.run and schedule.runs."),
		"title", text(1, 200),
		"prompt", text(1, 20_000),
		"tools", object(nil, "allow", tools()),
		"limits", commandLimits(),
		"output", object(nil, "format", choice("findings", "narrative", "checklist"),
			"severityFloor", choice("low", "medium", "high", "critical"), "mode", choice("feed_main", "separate_comment", "both")),
		"comment", object(nil, "type", choice("issue", "review", "both")),
		"files", pathFilter())
}

func (s *source) checkCommands() {
	known := map[string]bool{}
	list, _ := s.value["commands"].([]any)
	for i, c := range list {
		id := item(c, "id")
		if id != "" && known[id] {
			s.faultAt(index("/commands", i)+"/id", fmt.Sprintf("%q is used twice", id), "")
		}
		known[id] = true
	}
	check := func(pointer string, v any) {
		run, _ := v.([]any)
		for i, r := range run {
			if id, ok := r.(string); ok && !known[id] {
				s.faultAt(index(pointer, i), fmt.Sprintf("no command has the id %q", clip(id)),
					nearest.Name(id, slices.Collect(maps.Keys(known))))
			}
		}
	}
	if review, ok := s.value["review"].(map[string]any); ok {
		check("/review/run", review["run"])
	}
	if schedule, ok := s.value["schedule"].(map[string]any); ok {
		runs, _ := schedule["runs"].(map[string]any)
		for _, job := range slices.Sorted(maps.Keys(runs)) {
			check("/schedule/runs/"+escape(job), runs[job])
		}
	}
}
