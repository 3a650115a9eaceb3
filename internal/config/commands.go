package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/internal/toolset"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// Command is one custom prompt as its file has it (spec.md C3). Settings.Command says what holds for it where it runs.
type Command struct {
	ID     string       `json:"id"`
	Title  string       `json:"title,omitempty"`
	Prompt string       `json:"prompt"`
	Tools  CommandTools `json:"tools,omitzero"`
	// Agent is who runs it; the zero value is builtin.
	Agent Agent `json:"agent,omitzero"`
	ModelSettings
	Limits  CommandLimits  `json:"limits,omitzero"`
	Output  CommandOutput  `json:"output,omitzero"`
	Comment CommandComment `json:"comment,omitzero"`
	// Files choose the changed files it is about.
	Files Globs `json:"files,omitzero"`
}

// CommandTools restricts the file's allowlist; it never widens it. Nil is all that the file allows.
type CommandTools struct {
	Allow []string `json:"allow,omitempty"`
}

// ModelSettings choose a model and how it is asked.
type ModelSettings struct {
	// Provider names an endpoint of the operator's: never an address.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// Reasoning is off, minimal, low, medium, high or xhigh.
	Reasoning   string   `json:"reasoning,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

// CommandLimits bound cost and noise; 0 means no bound of its own.
type CommandLimits struct {
	MaxFiles     int `json:"maxFiles,omitempty"`
	MaxFindings  int `json:"maxFindings,omitempty"`
	MaxDiffLines int `json:"maxDiffLines,omitempty"`
	// The others are budgets of the agent in one run of the command.
	MaxLLMCalls        int     `json:"maxLlmCalls,omitempty"`
	MaxToolCalls       int     `json:"maxToolCalls,omitempty"`
	MaxWallTimeSeconds int     `json:"maxWallTimeSeconds,omitempty"`
	MaxCostUSD         float64 `json:"maxCostUsd,omitempty"`
}

// CommandOutput says how a command answers.
type CommandOutput struct {
	// Format is findings, narrative or checklist.
	Format string `json:"format,omitempty"`
	// SeverityFloor is low, medium, high or critical.
	SeverityFloor string `json:"severityFloor,omitempty"`
	// Mode is feed_main, separate_comment or both.
	Mode string `json:"mode,omitempty"`
	// Counts is false when findings that feed the main report have no part in the verdict; nil is true.
	Counts *bool `json:"counts,omitempty"`
}

// CommandComment says what kind of comment a command posts.
type CommandComment struct {
	// Type is issue, review or both.
	Type string `json:"type,omitempty"`
}

// The output modes of commands and the types of their comments.
const (
	ModeFeedMain = "feed_main"
	ModeSeparate = "separate_comment"
	ModeBoth     = "both"

	CommentIssue  = "issue"
	CommentReview = "review"
	CommentBoth   = "both"
)

// ReservedCommands are words that mean something of prloop's own in a comment; no command may have one of them as its id.
func ReservedCommands() []string {
	return []string{"prloop", "review", "fix", "stop", "status", "help"}
}

func commentType() shape { return choice(CommentIssue, CommentReview, CommentBoth) }

// budgets are the keys of a group of limits that bound the agent; maxFiles and its like stand before them.
func commandLimits() shape {
	return object(nil,
		"maxFiles", described(integer(1, 100_000), "Changed files it may be given, or change in a scheduled job. Where there are more, a review in which it counts approves nothing."),
		"maxFindings", described(integer(1, 1000), "Findings it may report; the gravest are kept, and no P0 or P1 is left out."),
		"maxDiffLines", described(integer(1, 1_000_000), "Changed lines it may be given, or make in a scheduled job. Where there are more, as for maxFiles."),
		"maxLlmCalls", described(integer(1, 200), "Model calls. It lowers what the settings of prloop allow, as the keys below do."),
		"maxToolCalls", described(integer(0, 1000), "Tool calls."),
		"maxWallTimeSeconds", described(integer(1, 7200), "Seconds."),
		"maxCostUsd", described(number(leastBound, 100), "Dollars."))
}

// toolCategories are the categories of custom prompts, in both spellings found in the wild (decision 12).
func toolCategories() shape {
	s := list(choice(toolset.Spellings()...), 0, 20)
	s["uniqueItems"] = true
	return s
}

func reasoning() shape { return choice("off", "minimal", "low", "medium", "high", "xhigh") }

const providerDoc = "The name of one of the operator's `upstreams`, or of the endpoint at `base_url` (`provider`); never an address."

func commandShape() shape {
	agent := agentShape(false)
	properties := agent["properties"].(shape)
	properties["use"] = described(choice(review.KindBuiltin, review.KindCommand, review.KindACP),
		"builtin asks the model, with tools; command runs any program that speaks JSON over stdio; acp drives an agent over the Agent Client Protocol.")
	delete(properties, "model")
	return object([]any{"id", "prompt"},
		"id", described(match(commandID), "The name used in comments, review.run and schedule.runs."),
		"title", described(text(1, 200), "What people read in comments; without it the id."),
		"prompt", described(shape{"type": "string", "pattern": notBlank, "maxLength": 20_000}, "The task. `${command.args}` and `${command.argv}` stand for what was written behind the command in a comment."),
		"tools", object(nil, "allow", described(toolCategories(), "The categories of tools it may use, of those that tools.allow names. Without it: all of these.")),
		"agent", described(agent, "Who runs it. Without it: builtin."),
		"provider", described(match(providerName), providerDoc),
		"model", text(1, 200),
		"reasoning", reasoning(),
		"temperature", number(0, 2),
		"limits", commandLimits(),
		"output", object(nil,
			"format", described(choice("findings", "narrative", "checklist"), "How its answer is written. Without it: findings."),
			"severityFloor", described(choice("low", "medium", "high", "critical"), "Findings below it are left out. Without it: low, which leaves out none."),
			"mode", described(choice(ModeFeedMain, ModeSeparate, ModeBoth), "A section of the main report, a comment of its own, or both. Without it: feed_main in review.run and on local changes, separate_comment elsewhere."),
			"counts", described(boolean(), "Whether findings in the main report count for the verdict. Without it: true.")),
		"comment", object(nil, "type", described(commentType(), "A comment on the pull request, comments on lines, or both. Without it: output.commentType.")),
		"files", described(pathFilter(), "Globs of the changed files it is about. Without it: all."))
}

func reviewDefaults() []key {
	row := func(name, doc string, s shape, field func(*ModelSettings) any) key {
		return key{path: "review.defaults." + name, shape: s, repositoryOnly: true, doc: doc,
			field: func(s *Settings) any { return field(&s.Review.Defaults) }}
	}
	return []key{
		row("provider", "The endpoint of commands on pull requests. "+providerDoc, match(providerName), func(m *ModelSettings) any { return &m.Provider }),
		row("model", "The model of commands on pull requests, where they name none. Without it: `model`.", text(1, 200), func(m *ModelSettings) any { return &m.Model }),
		row("reasoning", "How much it is asked to think. Without it: `reasoning_effort`.", reasoning(), func(m *ModelSettings) any { return &m.Reasoning }),
		row("temperature", "The temperature of builtin agents. Without it: a low one. It is not sent to models that are asked to think, nor to endpoints that take none.", number(0, 2), func(m *ModelSettings) any { return &m.Temperature }),
	}
}

var variables = lazyregexp.New(`(?i)\$\{command\b[^}\n]*\}`)

// Misspelt finds what reads as a variable in the prompts of commands and is none: it stays in the prompt as it is. That is no mistake for certain,
// so each is a warning. A file that is not valid has none.
func Misspelt(f File) []Fault {
	s, err := load(Repository, f.Name, f.Data)
	if err != nil {
		return nil
	}
	list, _ := s.value["commands"].([]any)
	for i, c := range list {
		for _, v := range variables.FindAllString(item(c, "prompt"), -1) {
			if known := prompts.Variables(); !slices.Contains(known, v) {
				s.faultAt(index("/commands", i)+"/prompt", clip(v)+" is no variable, and stays as it is", nearest.Name(v, known))
			}
		}
	}
	for i := range s.faults {
		s.faults[i].Excerpt = ""
	}
	return s.faults
}

// checkCommands finds ids that are used twice, kept for prloop, or named and not there.
func (s *source) checkCommands() {
	known := map[string]bool{}
	list, _ := s.value["commands"].([]any)
	for i, c := range list {
		pointer := index("/commands", i)
		id := item(c, "id")
		switch {
		case id == "":
		case known[id]:
			s.faultIn(pointer+"/id", fmt.Sprintf("%q is used twice", id), "")
		case slices.Contains(ReservedCommands(), id):
			s.faultIn(pointer+"/id", fmt.Sprintf("%q is a word of prloop's own", id), "")
		}
		known[id] = true
		if m, ok := c.(map[string]any); ok && m["agent"] != nil {
			s.checkAgent(pointer+"/agent", m["agent"])
			for _, name := range []string{"provider", "model", "reasoning", "temperature"} {
				use := item(m["agent"], "use")
				told := use != review.KindCommand && (use != review.KindACP || name == "provider" || name == "model")
				if !told && m[name] != nil {
					s.faultAt(pointer+"/"+name, "has no meaning with agent.use: "+use, "")
				}
			}
		}
	}
	ids := slices.Sorted(maps.Keys(known))
	check := func(pointer string, v any) {
		run, _ := v.([]any)
		for i, r := range run {
			if id, ok := r.(string); ok && !known[id] {
				s.faultAt(index(pointer, i), fmt.Sprintf("no command has the id %q (known: %s)", clip(id), knownNames(ids)), nearest.Name(id, ids))
			}
		}
	}
	check("/review/run", s.in("review")["run"])
	runs, _ := s.in("schedule")["runs"].(map[string]any)
	for _, job := range slices.Sorted(maps.Keys(runs)) {
		if !jobIDs.MatchString(job) {
			s.faultAt("/schedule/runs/"+escape(job), "is not "+forms[jobID], "")
		}
		check("/schedule/runs/"+escape(job), runs[job])
	}
	jobs, _ := s.in("schedule")["jobs"].(map[string]any)
	for _, job := range slices.Sorted(maps.Keys(jobs)) {
		if _, ok := runs[job]; !ok {
			all := slices.Sorted(maps.Keys(runs))
			s.faultAt("/schedule/jobs/"+escape(job), fmt.Sprintf("schedule.runs has no job %q (known: %s)", clip(job), knownNames(all)), nearest.Name(job, all))
		}
	}
}

var jobIDs = lazyregexp.New(jobID)

// in is a group of keys at the top; nil when there is none.
func (s *source) in(group string) map[string]any {
	m, _ := s.value[group].(map[string]any)
	return m
}

// knownNames lists names for a sentence.
func knownNames(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	const most = 10
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}
