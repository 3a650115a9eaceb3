package gateway

// messagesShape is a request to Anthropic's Messages API. What belongs to betas is left out: no beta is ever asked for.
var messagesShape = with(outward, shape{
	"store": dropped, // the API has no such field
	"model": verbatim, "max_tokens": number, "stream": boolean, "stop_sequences": list(verbatim),
	"temperature": number, "top_p": number, "top_k": number,
	"system": asks(either(text, list(blocks("text")))),
	"messages": list(asks(object(shape{
		"role": verbatim, "content": either(text, list(blocks("text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking"))),
	}))),
	"tools": list(kinds(unknownTool, map[string]shape{"": messageTool, "custom": messageTool})),
	"tool_choice": kinds(unknownChoice, map[string]shape{
		"auto": {"disable_parallel_tool_use": boolean}, "any": {"disable_parallel_tool_use": boolean},
		"tool": {"name": verbatim, "disable_parallel_tool_use": boolean}, "none": {},
	}),
	"thinking": object(shape{"type": verbatim, "budget_tokens": number, "display": verbatim}),
})

var messageTool = shape{"name": verbatim, "description": text, "input_schema": schema, "strict": boolean, "cache_control": cacheControl}

// blocks takes blocks of content of some kinds.
func blocks(of ...string) rule {
	all := map[string]shape{
		"text":        {"text": text},
		"image":       {"source": messageSource},
		"document":    {"source": messageSource, "title": text, "context": text, "citations": object(shape{"enabled": boolean})},
		"tool_use":    {"id": verbatim, "name": verbatim, "input": data},
		"tool_result": {"tool_use_id": verbatim, "is_error": boolean},
		// Thoughts are signed. The endpoint refuses one that a mask changed, which is better than to be sent what it hides.
		"thinking":          {"thinking": text, "signature": verbatim},
		"redacted_thinking": {"data": verbatim},
	}
	some := map[string]shape{}
	for _, kind := range of {
		s := all[kind]
		if s["cache_control"] = cacheControl; kind == "tool_result" {
			s["content"] = either(text, list(blocks("text", "image", "document")))
		}
		some[kind] = s
	}
	return kinds("a content block of the kind %s", some)
}

// messageSource is content that is given whole.
var messageSource = kinds(unknownSource, map[string]shape{
	"base64": {"media_type": verbatim, "data": content},
	"text":   {"media_type": verbatim, "data": text},
})
