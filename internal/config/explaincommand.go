package config

import (
	"cmp"
	"slices"

	"github.com/prloop/prloop/internal/toolset"
	"github.com/prloop/prloop/review"
)

// explainCommands lists what holds for each command on a pull request, with the layer that set it.
func (s Settings) explainCommands() (out []Setting) {
	for i, c := range s.Commands {
		pointer := index("/commands", i)
		row := func(name string, v any, note string, keys ...string) {
			o := s.commandOrigin(pointer+"/"+name, keys...)
			if o.layer == LayerDefault {
				o.note = note
			}
			out = append(out, Setting{Key: "commands." + c.ID + "." + dotted(name), Value: v, Layer: o.layer, Source: o.where, Line: o.line, Note: o.note})
		}
		at, mode, comment := review.PlaceComment, "feed_main in review.run", "issue in review.run"
		if slices.Contains(s.Review.Run, c.ID) {
			at, mode, comment = review.PlaceReview, "separate_comment when a comment asks for it", "both when a comment asks for it"
		}
		m, l := s.modelOf(c, review.PlaceReview), s.commandLimits(c.Limits)
		row("title", cmp.Or(c.Title, c.ID), "its id")
		row("prompt", c.Prompt, "")
		row("agent", cmp.Or(c.Agent.Use, "builtin"), "")
		row("provider", m.Provider, "whichever endpoint serves the model", "review.defaults.provider", "provider")
		row("model", m.Model, "", "review.defaults.model", "model")
		row("reasoning", m.Reasoning, "", "review.defaults.reasoning", "reasoning_effort")
		row("temperature", m.Temperature, "the model's own", "review.defaults.temperature")
		row("tools/allow", toolset.Allowed(s.Tools.Allow, c.Tools.Allow), "all categories", "tools.allow")
		row("limits/maxFiles", c.Limits.MaxFiles, "no bound")
		row("limits/maxFindings", c.Limits.MaxFindings, "no bound")
		row("limits/maxDiffLines", c.Limits.MaxDiffLines, "no bound")
		row("limits/maxLlmCalls", l.LLMCalls, "")
		row("limits/maxToolCalls", l.ToolCalls, "")
		row("limits/maxWallTimeSeconds", l.WallTimeSeconds, "")
		row("limits/maxCostUsd", l.CostUSD, "")
		row("output/format", cmp.Or(c.Output.Format, "findings"), "")
		row("output/severityFloor", cmp.Or(c.Output.SeverityFloor, "low"), "")
		row("output/mode", s.mode(c, at), mode)
		row("output/counts", c.Output.Counts == nil || *c.Output.Counts, "")
		row("comment/type", s.commentType(c, at), comment, "output.commentType")
		row("files/include", c.Files.Include, "all files")
		row("files/exclude", c.Files.Exclude, "")
	}
	return out
}

func dotted(name string) string { return keyOf("/" + name) }

// commandOrigin is where a value of a command comes from: a key that was set at run time, the command itself, or the first key that
// any layer set.
func (s Settings) commandOrigin(pointer string, keys ...string) origin {
	r := s.resolved
	if i := slices.IndexFunc(keys, s.atRunTime); i >= 0 {
		return r.origins[keys[i]]
	}
	if p, own := r.repository.places[pointer]; own {
		return origin{layer: LayerRepository, where: r.repository.name, line: p.line}
	}
	for _, key := range keys {
		if o := r.origins[key]; o.layer != LayerDefault {
			return o
		}
	}
	return origin{layer: LayerDefault}
}
