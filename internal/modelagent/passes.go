package modelagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// SubmitTool ends a pass (spec.md D4.2). It only hands over results, so it is not counted as a tool call.
const SubmitTool = "submit_pass_results"

// passCalls is the budget of model calls from which a review has passes: one for each, and one for the answer. Below it
// the whole review is one question and one verification turn.
const passCalls = prompts.Passes + 1

// nudges is how often one pass may go on without a tool call before it counts as ended.
const nudges = 1

// session is the conversation of the passes.
type session struct {
	m        *model
	name     string
	fence    string
	box      Toolbox
	messages []api.ChatCompletionMessage
	// cut says what was left undone.
	cut string
	// blocks is what the newest pass that was handed in says: that one of its findings blocks.
	blocks bool
}

// submission is what the model hands over at the end of a pass.
type submission struct {
	Number   *int    `json:"pass_number"`
	Summary  *string `json:"summary"`
	Blocking *bool   `json:"has_blocking_issues"`
}

var submitParameters = json.RawMessage(`{"type":"object","properties":{"pass_number":{"type":"integer","minimum":1,"maximum":4},` +
	`"summary":{"type":"string"},"has_blocking_issues":{"type":"boolean"}},"required":["pass_number","summary","has_blocking_issues"],"additionalProperties":false}`)

// offered lists the tools of a session for the endpoint: the box's, then the one that ends a pass.
func offered(box Toolbox) []api.Tool {
	return append(toolsOf(box), api.Tool{Type: api.ToolTypeFunction, Function: &api.FunctionDefinition{
		Name: SubmitTool, Description: "End the current pass.", Parameters: submitParameters,
	}})
}

// toolsOf are those of a box.
func toolsOf(box Toolbox) []api.Tool {
	var all []api.Tool
	for _, s := range box.Specs() {
		all = append(all, api.Tool{Type: api.ToolTypeFunction, Function: &api.FunctionDefinition{Name: s.Name, Description: s.Description, Parameters: s.Parameters}})
	}
	return all
}

// passes leads through all passes, and keeps a call for the answer. false means that the endpoint takes no tools and
// nothing was spent on it; an error other than that ends the review.
func (s *session) passes(ctx context.Context) (bool, error) {
	s.m.tools = offered(s.box)
	for n := 1; n <= prompts.Passes; n++ {
		text, err := prompts.Pass(n)
		if err != nil {
			return true, err
		}
		s.messages = append(s.messages, said(api.ChatMessageRoleUser, text))
		done, err := s.pass(ctx, n)
		if n == 1 && refusesTools(err) {
			s.m.tools = nil
			s.m.left++ // a refused parameter costs nothing
			return false, nil
		}
		if errors.Is(err, ErrBudget) {
			s.cut, err = fmt.Sprintf("pass %d was cut short: %s", n, clip(err.Error())), nil
			return true, err
		}
		if err != nil {
			return true, err
		}
		if !done {
			s.cut = fmt.Sprintf("pass %d was cut short: one LLM call is kept for the answer", n)
			return true, nil
		}
	}
	return true, nil
}

// pass leads through one; done is false when the calls ran out.
func (s *session) pass(ctx context.Context, n int) (done bool, err error) {
	s.m.emit(review.Event{Kind: review.EventProgress, Message: fmt.Sprintf("pass %d of %d", n, prompts.Passes)})
	for silent := 0; s.m.left > 1; {
		r, err := s.m.say(ctx, s.name, "", s.messages)
		if err != nil {
			return false, err
		}
		s.m.keep(r.text)
		if len(r.calls) == 0 || r.fault != "" {
			s.messages = append(s.messages, said(api.ChatMessageRoleAssistant, spoken(r.text)))
			if silent++; silent > nudges {
				return true, nil
			}
			s.messages = append(s.messages, said(api.ChatMessageRoleUser, fmt.Sprintf("End pass %d by calling %s.", n, SubmitTool)))
			continue
		}
		s.messages = append(s.messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleAssistant, Content: r.text, ToolCalls: r.calls})
		ended := false
		for _, c := range r.calls {
			answer, over := s.answer(ctx, n, c)
			if cause := context.Cause(ctx); cause != nil {
				return false, cause
			}
			ended = ended || over
			s.messages = append(s.messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleTool, ToolCallID: c.ID, Content: answer})
		}
		s.messages[len(s.messages)-1].Content += remaining(s.m)
		if ended {
			return true, nil
		}
	}
	return false, nil
}

// spoken keeps a text that said nothing sendable: endpoints refuse empty messages.
func spoken(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(nothing)"
	}
	return text[:min(len(text), echoLimit)]
}

// answer does what one call asks for; over is true when it ended the pass. What goes wrong is told to the model.
func (s *session) answer(ctx context.Context, n int, c api.ToolCall) (text string, over bool) {
	if c.Function.Name == SubmitTool {
		blocks, err := submitted(n, c.Function.Arguments)
		if err != nil {
			return "error: " + err.Error(), false
		}
		s.blocks = blocks
		return "ok", true
	}
	return call(ctx, s.m, s.box, s.fence, c.Function.Name, c.Function.Arguments), false
}

func submitted(n int, arguments string) (blocks bool, err error) {
	var got submission
	if err := json.Unmarshal([]byte(arguments), &got); err != nil {
		return false, fmt.Errorf("the arguments are not the object described: %s", clip(err.Error()))
	}
	switch {
	case got.Number == nil || got.Summary == nil || got.Blocking == nil:
		return false, errors.New("pass_number, summary and has_blocking_issues are required")
	case *got.Number != n:
		return false, fmt.Errorf("this is pass %d", n)
	}
	return *got.Blocking, nil
}

// held holds an answer against what the last pass said of it: that something blocks, and nothing grave is listed, is a claim above the
// list (decision 34). The model is asked about it once, and then has its word.
func held(blocks bool) func([]byte) (review.ReviewerResult, schema.Notes, error) {
	return func(doc []byte) (review.ReviewerResult, schema.Notes, error) {
		r, notes, err := answer.DecodeModel(doc)
		grave := slices.ContainsFunc(r.Findings, func(f review.Finding) bool { return f.Priority.Severe() })
		if err != nil || !blocks || grave {
			return r, notes, err
		}
		blocks = false
		const why = "it said in its last pass that an issue blocks (has_blocking_issues), and lists no P0 or P1"
		r.Findings = answer.Doubt(r.Findings, why)
		r.Issues = review.Count(r.Findings)
		r.Conclusion = r.Issues.Conclusion()
		return r, notes, &answer.ClaimError{Why: why}
	}
}

// remaining says what is left after the calls of an answer. Time is not told: a recorded conversation has to be the same again.
func remaining(m *model) string {
	text := fmt.Sprintf("\nLeft: model calls: %d, tool calls: %d.", max(m.left, 0), max(m.toolsLeft, 0))
	if m.toolsLeft <= 0 {
		text += " What an answer asked for beyond the last one was not done: it was cut off the answer, or is refused as an error."
	}
	return text
}

// call spends one tool call, if one is left.
func call(ctx context.Context, m *model, box Toolbox, fence, name, arguments string) string {
	if box == nil || m.toolsLeft <= 0 {
		return "error: limit: no tool call is left; go on with what you know"
	}
	m.toolsLeft--
	m.emit(review.Event{Kind: review.EventProgress, Message: "calling " + clip(name)})
	m.emit(review.Event{Kind: review.EventUsage, Usage: &review.Usage{ToolCalls: 1}})
	got, err := box.Call(ctx, name, []byte(arguments))
	if err != nil {
		return "error: " + clip(err.Error())
	}
	shown, _ := sanitize.Visible(got)
	text, err := prompts.ToolResult(fence, name, shown)
	if err != nil {
		return "error: " + err.Error()
	}
	return text
}

// refusesTools reports whether an endpoint knows no tools at all.
func refusesTools(err error) bool {
	var r *refusal
	return errors.As(err, &r) && plainly(r.status) &&
		(strings.Contains(r.text, "tool") || strings.Contains(r.text, "function"))
}

// question ends the session with the question for the answer.
func (s *session) question() ([]api.ChatCompletionMessage, error) {
	text, err := prompts.Final(s.cut)
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(s.messages), said(api.ChatMessageRoleUser, text)), nil
}
