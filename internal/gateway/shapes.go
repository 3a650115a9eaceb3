package gateway

// What all protocols know. Sources: the API references of OpenAI (chat completions, responses) and Anthropic (messages), and
// what OpenCode, Claude Code and Copilot were seen to send.
var (
	// cacheControl asks for a place in the provider's cache: Anthropic's, taken by compatible endpoints too. A longer place than the usual one costs more
	// than is counted.
	cacheControl = object(shape{"type": verbatim, "ttl": dropped})
	// words are one word or several.
	words = either(verbatim, list(verbatim))
)

// Why fields are refused.
const (
	noNetwork = "agents have no network"
	noRoutes  = "the operator chooses models and endpoints"
	noStore   = "agents have no use of what is stored with the provider"
	useTools  = "it is out of date, use tools"
)

// foreign are fields of some endpoint or proxy that reach out, bring out what is stored there, or put another model or
// address in the place of the operator's.
var outward = shape{
	"web_search_options": never(noNetwork), "search_parameters": never(noNetwork), "plugins": never(noNetwork), "mcp_servers": never(noNetwork),
	"data_sources": never(noNetwork), "connectors": never(noNetwork), "documents": never(noNetwork), "search": never(noNetwork), "web_search": never(noNetwork),
	"enable_search": never(noNetwork), "search_options": never(noNetwork), "tool_resources": never(noNetwork), "callbacks": never(noNetwork), "webhook": never(noNetwork),

	"conversation": never(noStore), "previous_response_id": never(noStore), "prompt": never(noStore), "container": never(noStore),
	"file_ids": never(noStore), "preset": never(noStore), "prompt_id": never(noStore),

	"models": never(noRoutes), "fallbacks": never(noRoutes), "route": never(noRoutes), "provider": never(noRoutes), "api_base": never(noRoutes), "base_url": never(noRoutes),
	"api_key": never(noRoutes), "api_version": never(noRoutes), "api_type": never(noRoutes), "custom_llm_provider": never(noRoutes), "deployment_id": never(noRoutes),
	"extra_headers": never(noRoutes), "extra_body": never(noRoutes), "extra_query": never(noRoutes), "model_list": never(noRoutes), "context_window_fallbacks": never(noRoutes),
	"content_policy_fallbacks": never(noRoutes), "model_info": never(noRoutes), "organization": never(noRoutes), "proxy": never(noRoutes),

	"functions": never(useTools), "function_call": never(useTools),

	"service_tier": dropped, "store": notStored, "background": dropped, "metadata": dropped, "prompt_cache_retention": dropped,
}

// with gives the fields of several shapes; later ones win.
func with(shapes ...shape) shape {
	all := shape{}
	for _, s := range shapes {
		for name, r := range s {
			all[name] = r
		}
	}
	return all
}

// sampling are parameters of how a model picks its words, of OpenAI's and compatible endpoints.
var sampling = shape{
	"temperature": number, "top_p": number, "top_k": number, "min_p": number, "frequency_penalty": number, "presence_penalty": number,
	"repetition_penalty": number, "seed": number, "top_logprobs": number, "parallel_tool_calls": boolean,
}

// labels say who asks; they are sent, and are no part of the question.
var callerLabels = shape{"user": verbatim, "safety_identifier": verbatim, "prompt_cache_key": verbatim}

// Reasons to refuse an object by its kind.
const (
	unknownTool   = "a tool of the kind %s, which the provider runs: " + noNetwork
	unknownChoice = "a choice of a tool of the kind %s"
	unknownFormat = "a format of the kind %s"
	unknownPart   = "a message part of the kind %s"
	unknownSource = "a message part with an address, or of an unknown source: %s: " + noNetwork
)
