package modelagent

import (
	"context"

	api "github.com/sashabaranov/go-openai"
)

// look lets the model call the tools of a box until it stops or its budget does, and gives the conversation. able is false when the endpoint takes no tools: nothing was
// spent then. taken is asked about what the model says without a call; when it takes that for an answer, the conversation is over.
func look(ctx context.Context, m *model, o Options, box Toolbox, messages []api.ChatCompletionMessage, taken func(doc []byte) bool) (said []api.ChatCompletionMessage, able bool, err error) {
	m.tools = toolsOf(box)
	for first := true; m.left > answerCalls && m.toolsLeft > 0; first = false {
		r, err := m.say(ctx, o.Model, "", messages)
		if first && refusesTools(err) {
			m.tools = nil
			m.left++ // a refused parameter costs nothing
			return messages, false, nil
		}
		if err != nil {
			return messages, true, err
		}
		if len(r.calls) == 0 {
			if doc, beside, err := apart(r.text); err == nil && r.fault == "" && taken(doc) {
				m.beside = beside
				return messages, true, nil
			}
			m.keep(r.text)
			return append(messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleAssistant, Content: spoken(r.text)}), true, nil
		}
		m.keep(r.text)
		messages = append(messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleAssistant, Content: r.text, ToolCalls: r.calls})
		for _, c := range r.calls {
			text := call(ctx, m, box, o.Fence, c.Function.Name, c.Function.Arguments)
			if cause := context.Cause(ctx); cause != nil {
				return messages, true, cause
			}
			messages = append(messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleTool, ToolCallID: c.ID, Content: text})
		}
		messages[len(messages)-1].Content += remaining(m)
	}
	return messages, true, nil
}
