package gateway

// chatShape is a request for a chat completion.
var chatShape = with(outward, sampling, callerLabels, shape{
	"model": verbatim, "messages": list(asks(object(chatMessage))),
	"stream": boolean, "stream_options": object(shape{"include_usage": boolean, "include_obfuscation": boolean}),
	"n": number, "max_tokens": number, "max_completion_tokens": number, "stop": words, "logit_bias": numbers, "logprobs": boolean,
	"tools": list(chatTool), "tool_choice": either(oneOf("none", "auto", "required", "any"), chatChoice),
	"response_format": chatFormat, "modalities": list(oneOf("text")), "verbosity": verbatim,
	"reasoning_effort": verbatim, "thinking": object(shape{"type": verbatim, "budget_tokens": number}), "enable_thinking": boolean, "thinking_budget": number,
	"reasoning": object(shape{"effort": verbatim, "max_tokens": number, "exclude": boolean, "enabled": boolean, "summary": verbatim}), "include_reasoning": boolean,
	"usage": object(shape{"include": boolean}),
})

// chatMessage has the fields of OpenAI and, for what a model thought and wants to see again, those of DeepSeek
// (reasoning_content), OpenRouter (reasoning, reasoning_details), Copilot (reasoning_opaque, reasoning_text) and Google
// (extra_content, in a call).
var chatMessage = shape{
	"role": verbatim, "name": verbatim, "content": either(text, list(chatPart)), "refusal": text,
	"tool_calls": list(chatCall), "tool_call_id": verbatim, "function_call": never(useTools), "audio": never(noStore),
	"reasoning_content": text, "reasoning": text, "reasoning_text": text, "reasoning_opaque": verbatim,
	"reasoning_details": list(object(shape{
		"type": verbatim, "id": verbatim, "format": verbatim, "index": number, "text": text, "summary": text, "data": verbatim, "signature": verbatim,
	})),
	"cache_control": cacheControl, "prefix": boolean,
}

var chatPart = kinds(unknownPart, map[string]shape{
	"text":        {"text": text, "cache_control": cacheControl},
	"refusal":     {"refusal": text},
	"image_url":   {"image_url": either(inline, object(shape{"url": inline, "detail": verbatim})), "cache_control": cacheControl},
	"input_audio": {"input_audio": object(shape{"data": content, "format": verbatim})},
	"file":        {"file": object(shape{"file_data": inline, "filename": text, "file_id": never(noStore)})},
})

var chatCall = kinds("a call of the kind %s", map[string]shape{
	"":         {"id": verbatim, "index": number, "function": calledFunction, "extra_content": sealedThought},
	"function": {"id": verbatim, "index": number, "function": calledFunction, "extra_content": sealedThought},
	"custom":   {"id": verbatim, "index": number, "custom": object(shape{"name": verbatim, "input": text})},
})

var (
	calledFunction = object(shape{"name": verbatim, "arguments": arguments})
	sealedThought  = object(shape{"google": object(shape{"thought_signature": verbatim})})
)

var chatTool = kinds(unknownTool, map[string]shape{
	"function": {"function": object(shape{"name": verbatim, "description": text, "parameters": schema, "strict": boolean}), "cache_control": cacheControl},
	"custom": {"custom": object(shape{"name": verbatim, "description": text, "format": kinds(unknownFormat, map[string]shape{
		"text":    {},
		"grammar": {"grammar": object(shape{"definition": text, "syntax": verbatim})},
	})})},
})

var (
	named      = object(shape{"name": verbatim})
	chatChoice = kinds(unknownChoice, map[string]shape{
		"function": {"function": named},
		"custom":   {"custom": named},
		"allowed_tools": {"allowed_tools": object(shape{"mode": verbatim, "tools": list(kinds(unknownTool, map[string]shape{
			"function": {"function": named}, "custom": {"custom": named},
		}))})},
	})
)

var chatFormat = kinds(unknownFormat, map[string]shape{
	"text":        {},
	"json_object": {"schema": schema},
	"json_schema": {"json_schema": object(shape{"name": verbatim, "description": text, "schema": schema, "strict": boolean})},
})
