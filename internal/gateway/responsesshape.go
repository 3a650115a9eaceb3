package gateway

// responsesShape is a request to the Responses API.
var responsesShape = with(outward, sampling, callerLabels, shape{
	"model": verbatim, "input": either(asks(text), list(asks(responseItem))), "instructions": asks(text),
	"stream": boolean, "stream_options": object(shape{"include_obfuscation": boolean}), "max_output_tokens": number, "truncation": verbatim,
	"tools": list(responseTool), "tool_choice": either(oneOf("none", "auto", "required"), responseChoice),
	"text":      object(shape{"format": responseFormat, "verbosity": verbatim}),
	"reasoning": object(shape{"effort": verbatim, "summary": verbatim, "generate_summary": verbatim}),
	"include":   list(oneOf("reasoning.encrypted_content", "message.output_text.logprobs")),
})

// responseItem takes the kinds of input that say what was said and done. Others bring tools with them, some of which the
// provider runs, or name what an earlier call left with the provider; so does an item of no kind that nobody said.
func responseItem(f *filter, n int) *fault {
	if why := responseItems(f, n); why != nil {
		return why
	}
	if f.kind(n) == '{' && f.absent(n, "type") && f.absent(n, "role") {
		return refused("an input item of no kind that nobody said: %s", noStore)
	}
	return nil
}

var responseItems = kinds("an input item of the kind %s", map[string]shape{
	"":        {"id": verbatim, "status": verbatim, "role": verbatim, "phase": verbatim, "content": responseContent},
	"message": {"id": verbatim, "status": verbatim, "role": verbatim, "phase": verbatim, "content": responseContent},
	"reasoning": {
		"id": verbatim, "status": verbatim, "encrypted_content": verbatim, "summary": list(thought), "content": list(thought),
	},
	"function_call":           {"id": verbatim, "call_id": verbatim, "status": verbatim, "name": verbatim, "namespace": verbatim, "arguments": arguments},
	"function_call_output":    {"id": verbatim, "call_id": verbatim, "status": verbatim, "output": responseContent},
	"custom_tool_call":        {"id": verbatim, "call_id": verbatim, "status": verbatim, "name": verbatim, "namespace": verbatim, "input": text},
	"custom_tool_call_output": {"id": verbatim, "call_id": verbatim, "status": verbatim, "output": responseContent},
})

// thought is what comes back beside its encrypted form.
var thought = object(shape{"type": verbatim, "text": text})

var responseContent = either(text, list(kinds(unknownPart, map[string]shape{
	"text":        {"text": text},
	"input_text":  {"text": text},
	"output_text": {"text": text, "annotations": empty, "logprobs": empty},
	"refusal":     {"refusal": text},
	"input_image": {"image_url": inline, "detail": verbatim, "file_id": never(noStore)},
	"input_file":  {"file_data": inline, "filename": text, "file_url": never("a message part with an address: " + noNetwork), "file_id": never(noStore)},
})))

// empty keeps a list that says nothing, which the API wants to see, and leaves out others.
func empty(f *filter, n int) *fault {
	if string(f.raw(n)) == "[]" {
		f.out = append(f.out, "[]"...)
	}
	return nil
}

var responseTool = kinds(unknownTool, map[string]shape{
	"function": {"name": verbatim, "description": text, "parameters": schema, "strict": boolean},
	"custom": {"name": verbatim, "description": text, "format": kinds(unknownFormat, map[string]shape{
		"text":    {},
		"grammar": {"definition": text, "syntax": verbatim},
	})},
})

var responseChoice = kinds(unknownChoice, map[string]shape{
	"function": {"name": verbatim},
	"custom":   {"name": verbatim},
	"allowed_tools": {"mode": verbatim, "tools": list(kinds(unknownTool, map[string]shape{
		"function": {"name": verbatim}, "custom": {"name": verbatim},
	}))},
})

var responseFormat = kinds(unknownFormat, map[string]shape{
	"text":        {},
	"json_object": {},
	"json_schema": {"name": verbatim, "description": text, "schema": schema, "strict": boolean},
})
