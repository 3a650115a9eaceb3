package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// call is what the gateway understands of a request.
type call struct {
	// path is below the upstream's base path.
	path   string
	model  string
	stream bool
	// wantsUsage is true when the caller itself asked for usage in the stream.
	wantsUsage bool
	// maxOutput is the most tokens the answers may have together; n is how many answers there are.
	maxOutput, n int
	// size is the request's, in bytes.
	size int
	// fields are what is sent: the caller's JSON, read and written again so that no field stands in it twice.
	fields map[string]json.RawMessage
	// key names the request in a cassette.
	key []byte
}

// outputDefault is the limit, in tokens, of a request that names none; an answer without a limit has no price.
const outputDefault = 8192

// outputFields name the limit of an answer.
var outputFields = []string{"max_tokens", "max_completion_tokens", "max_output_tokens"}

// dropped are parameters that change price or privacy behind the operator's back; endpoints have defaults for them.
var dropped = []string{"service_tier", "store", "background"}

// inspect reads a request body. Agents have no network but the model (design 5), so nothing is let through that makes
// the provider fetch or search something for them: an address can carry out what an agent has read.
//
// mask is applied to every text a model reads.
func inspect(path string, body []byte, mask func(string) string) (*call, *refusal) {
	bad := func(format string, args ...any) (*call, *refusal) {
		return nil, refuse(http.StatusBadRequest, CodeRefused, format, args...)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return bad("request body is not a JSON object")
	}
	c := &call{path: path, fields: fields}
	var tokens [3]int
	n := 1
	for name, into := range map[string]any{
		"model": &c.model, "stream": &c.stream, "n": &n,
		"max_tokens": &tokens[0], "max_completion_tokens": &tokens[1], "max_output_tokens": &tokens[2],
	} {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, into) != nil {
			return bad("field %s has the wrong type", name)
		}
	}
	if c.model == "" {
		return bad("field model is missing")
	}
	if n < 1 || n > 8 {
		return bad("field n is %d, allowed is 1 to 8", n)
	}
	if c.maxOutput = slices.Max(tokens[:]); c.maxOutput <= 0 {
		c.maxOutput = outputDefault
	}
	c.n = n
	c.maxOutput *= n
	reaching := reaches
	if path == pathMessages {
		reaching = messageReaches
	}
	if why := reaching(fields); why != "" {
		return bad("%s: agents have no network", why)
	}
	if path == pathMessages {
		keepMessageFields(fields)
	}
	for _, name := range dropped {
		delete(fields, name)
	}
	maskFields(fields, mask)
	key, err := normal(path, fields)
	if err != nil {
		return bad("request body cannot be written again")
	}
	c.key = key
	if c.stream && path == pathChat {
		if why := c.askUsage(fields); why != "" {
			return bad("%s", why)
		}
	}
	for name, raw := range fields {
		c.size += len(name) + len(raw) + 4 // quotes, colon and comma
	}
	return c, nil
}

// render writes the request for a model, with an answer of at most output tokens and the tools that are left.
func (c *call) render(model string, output int, tools func(map[string]json.RawMessage)) ([]byte, error) {
	fields := maps.Clone(c.fields)
	name, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	fields["model"] = name
	limit := json.RawMessage(strconv.Itoa(max(1, output/c.n)))
	named := false
	for _, f := range outputFields {
		if raw, ok := fields[f]; ok && string(raw) != "null" {
			fields[f], named = limit, true
			if had, err := strconv.Atoi(string(raw)); err == nil && had > 0 && had < output/c.n {
				fields[f] = raw
			}
		}
	}
	switch {
	case named:
	case c.path == pathResponses:
		fields["max_output_tokens"] = limit
	case c.path == pathMessages:
		fields["max_tokens"] = limit
	case reasons.MatchString(model):
		fields["max_completion_tokens"] = limit
	default:
		fields["max_tokens"] = limit
	}
	if c.path == pathMessages {
		fitThinking(fields, max(1, output/c.n))
	}
	tools(fields)
	return json.Marshal(fields)
}

// reasons matches models that know their limit only by its newer name.
var reasons = lazyregexp.New(`^(.*/)?(o[1-9]|gpt-[5-9])`)

// askUsage makes a streamed answer end with its usage, which would otherwise go uncounted.
func (c *call) askUsage(fields map[string]json.RawMessage) string {
	options := map[string]json.RawMessage{}
	if raw, ok := fields["stream_options"]; ok && json.Unmarshal(raw, &options) != nil {
		return "field stream_options has the wrong type"
	}
	if options == nil { // it was null
		options = map[string]json.RawMessage{}
	}
	c.wantsUsage = string(options["include_usage"]) == "true"
	options["include_usage"] = json.RawMessage("true")
	raw, err := json.Marshal(options)
	if err != nil {
		return "field stream_options cannot be written again"
	}
	fields["stream_options"] = raw
	return ""
}

// reaches names the first thing in a request that would make the provider reach out; empty when there is none.
func reaches(fields map[string]json.RawMessage) string {
	for _, name := range []string{"web_search_options", "plugins", "conversation", "previous_response_id", "prompt"} {
		if raw, ok := fields[name]; ok && string(raw) != "null" {
			return "field " + name
		}
	}
	var tools []struct {
		Type string `json:"type"`
	}
	if raw, ok := fields["tools"]; ok && json.Unmarshal(raw, &tools) != nil {
		return "field tools has the wrong shape"
	}
	for _, t := range tools {
		if t.Type != "function" && t.Type != "custom" {
			return "a tool that the provider runs"
		}
	}
	if why := unknownItem(fields["input"]); why != "" {
		return why
	}
	for _, name := range []string{"messages", "input"} {
		var v any
		dec := json.NewDecoder(bytes.NewReader(fields[name]))
		dec.UseNumber()
		if len(fields[name]) > 0 && dec.Decode(&v) != nil {
			return "field " + name + " cannot be read"
		}
		if addressed(v) {
			return "a message part with an address"
		}
	}
	return ""
}

// items are the kinds of input the Responses API takes that say what was said and done. Others bring tools with them, some
// of which the provider runs, or name what an earlier call left with the provider.
var items = []string{"", "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"}

// unknownItem names the first item of an input that is none of these; empty when there is none.
func unknownItem(input json.RawMessage) string {
	var list []struct {
		Type string `json:"type"`
	}
	if len(input) == 0 || input[0] != '[' {
		return "" // a text, or nothing
	}
	if json.Unmarshal(input, &list) != nil {
		return "field input has the wrong shape"
	}
	for _, item := range list {
		if !slices.Contains(items, item.Type) {
			return fmt.Sprintf("an input item of the kind %.40q", item.Type)
		}
	}
	return ""
}

// addressed reports whether a value holds an image, file or server by address instead of by content.
func addressed(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, addressed)
	case map[string]any:
		for key, sub := range v {
			if strings.HasSuffix(key, "url") && !inline(sub) || addressed(sub) {
				return true
			}
		}
	}
	return false
}

func inline(v any) bool {
	switch v := v.(type) {
	case nil, map[string]any:
		return true // looked into by addressed
	case string:
		return strings.HasPrefix(v, "data:")
	}
	return false
}
