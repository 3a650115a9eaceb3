package openai

import (
	"context"
	"encoding/json"
	"fmt"

	"slices"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// uncertain is the confidence below which a draft finding is verified (spec.md R8).
const uncertain = 0.65

// pathIn finds names of files in running text.
var pathIn = lazyregexp.New(`[A-Za-z0-9_][A-Za-z0-9_./-]*\.[A-Za-z]{1,6}\b`)

// weak reports whether a draft finding needs more context: low confidence, evidence that does not stand in what was
// shown, or a claim about a file that was not (spec.md R8).
func weak(t review.Task, f review.Finding) bool {
	return f.Confidence == nil || *f.Confidence < uncertain || !shown(t, f) || len(others(t, f)) > 0
}

// shown reports whether the evidence stands, white space folded, in what the model was given of the finding's file.
func shown(t review.Task, f review.Finding) bool {
	for _, b := range t.Brief.Files {
		if b.Path != f.File {
			continue
		}
		var text strings.Builder
		for l := range strings.SplitSeq(b.Diff, "\n") {
			if l != "" && l[0] != '@' {
				text.WriteString(l[1:] + "\n")
			}
		}
		for _, r := range b.Context {
			text.WriteString(r.Text + "\n")
		}
		return strings.Contains(folded(text.String()), folded(f.Evidence))
	}
	return false
}

func folded(s string) string { return strings.Join(strings.Fields(s), " ") }

// others are the files a finding speaks of that are not among the changed ones.
func others(t review.Task, f review.Finding) []string {
	var out []string
	for _, p := range pathIn.FindAllString(f.File+" "+f.Description, 20) {
		changed := slices.ContainsFunc(t.Brief.Files, func(b review.BriefFile) bool {
			return b.Path == p || strings.HasSuffix(b.Path, "/"+p)
		})
		if !changed && strings.Contains(p, "/") && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// verify reads what the weak drafts need, within the tool calls left and the expansion caps, and asks about them once.
// Without tools there is nothing new to show, so nothing is asked.
func (s *settler) verify(ctx context.Context, m *model, o Options, limits review.Limits, box Toolbox, shared []api.ChatCompletionMessage) error {
	var drafts []review.Finding
	for _, f := range s.findings {
		if weak(s.task, f) {
			drafts = append(drafts, f)
		}
	}
	slices.SortStableFunc(drafts, func(a, b review.Finding) int { return a.Priority.Rank() - b.Priority.Rank() })
	drafts = drafts[:min(len(drafts), limits.Candidates)]
	switch {
	case len(drafts) == 0 || box == nil || m.toolsLeft == 0:
		return nil
	case m.left <= 0:
		s.note("%d draft findings were not verified: no LLM call was left.", len(drafts))
		return nil
	case m.left == 1 && o.Escalation != "" && len(s.doubtful(limits.Candidates)) > 0:
		return nil // the last call belongs to the stronger model
	}
	var changed []string
	for _, b := range s.task.Brief.Files {
		changed = append(changed, b.Path)
	}
	box.Expand(changed)
	read := gather(ctx, m, box, o.Fence, s.task, drafts)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	text, err := prompts.Verify(s.task.Agent, o.Fence, drafts, read)
	if err != nil {
		return err
	}
	r, err := m.say(ctx, o.Model, reviewerShape, append(slices.Clone(shared), said(api.ChatMessageRoleUser, text)))
	if err != nil {
		return err
	}
	return s.lookAgain(drafts, r, o.Model)
}

// gather reads around each draft and into the files it speaks of, once each, while tool calls are left.
func gather(ctx context.Context, m *model, box Toolbox, fence string, t review.Task, drafts []review.Finding) []prompts.Reading {
	var read []prompts.Reading
	done := map[string]bool{}
	look := func(name, file string, line int) {
		args := map[string]any{"path": file}
		if line > 0 && name == "get_function_context" {
			args["line"] = line
		} else if line > 0 {
			args["start"], args["end"] = max(1, line-40), line+40
		}
		data, err := json.Marshal(args)
		if err != nil || done[string(data)] || m.toolsLeft == 0 {
			return
		}
		done[string(data)] = true
		read = append(read, prompts.Reading{Name: fmt.Sprintf("%s %s", name, file), Text: call(ctx, m, box, fence, name, string(data))})
	}
	around := "read_file"
	if slices.ContainsFunc(box.Specs(), func(s ToolSpec) bool { return s.Name == "get_function_context" }) {
		around = "get_function_context"
	}
	for _, f := range drafts {
		switch {
		case f.File == "":
		case f.Line != nil:
			look(around, f.File, *f.Line)
		default:
			look("read_file", f.File, 0)
		}
		for _, p := range others(t, f) {
			look("read_file", p, 0)
		}
	}
	return read
}
