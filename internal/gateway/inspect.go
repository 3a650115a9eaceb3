package gateway

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

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
	// media is what its parts that are no text may count for, in tokens.
	media int
	// words is the fewest words that the texts put to the model have (unread.go).
	words int
	// fields are what is sent: the caller's JSON as it was read, written again.
	fields map[string]json.RawMessage
	// left are the names of fields that were left out.
	left []string
	// ticket is the budget that was taken before the request was read, until reserve takes its place.
	ticket *ticket
	// key names the request in a cassette; empty until it is asked for.
	key []byte
}

// outputDefault is the limit, in tokens, of a request that names none; an answer without a limit has no price.
const outputDefault = 8192

// mostOutput is the longest answer a request may ask for, in tokens: far beyond what any model gives, and small enough that no sum
// of what agents ask for overflows, which would give budget back.
const mostOutput = 1 << 24

// outputFields name the limit of an answer.
var outputFields = []string{"max_tokens", "max_completion_tokens", "max_output_tokens"}

// shapes are what a request may hold, by path.
var shapes = map[string]shape{pathChat: chatShape, pathResponses: responsesShape, pathMessages: messagesShape}

// inspect reads a request body, once. Agents have no network but the model, so nothing is let through that makes
// the provider fetch or search something for them: an address can carry out what an agent has read. mask, if any, is applied
// to every text a model reads.
func inspect(path string, body []byte, mask func(string) string) (*call, *refusal) {
	bad := func(format string, args ...any) (*call, *refusal) {
		return nil, refuse(http.StatusBadRequest, CodeRefused, format, args...)
	}
	d, err := parse(body)
	switch {
	case err != nil:
		return bad("request body is refused: %s", err)
	case d.kind(0) != '{':
		return bad("request body is not a JSON object")
	}
	f := filter{document: d, mask: mask}
	fields, why := f.fields(shapes[path])
	if why != nil {
		return bad("%s", why)
	}
	c := &call{path: path, fields: fields, left: f.left, media: f.media, words: f.words}
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
	c.maxOutput = min(c.maxOutput, mostOutput) * n
	if c.stream && path == pathChat {
		if err := c.askUsage(); err != nil {
			return bad("field stream_options cannot be read")
		}
	}
	for name, raw := range fields {
		c.size += len(name) + len(raw) + 4 // quotes, colon and comma
	}
	return c, nil
}

// render writes the request for a model, with an answer of at most output tokens and the tools that are left.
func (c *call) render(model string, output int, tools func(map[string]json.RawMessage)) (segments, error) {
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
	fitThinking(fields, max(1, output/c.n))
	if c.path == pathResponses { // it stores what nobody says anything of
		fields["store"] = json.RawMessage("false")
	}
	tools(fields)
	var out segments
	before := byte('{')
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, append(appendQuoted([]byte{before}, name), ':'), fields[name])
		before = ','
	}
	return append(out, []byte{'}'}), nil
}

// reasons matches models that know their limit only by its newer name.
var reasons = lazyregexp.New(`^(.*/)?(o[1-9]|gpt-[5-9])`)

// askUsage makes a streamed answer end with its usage, which would otherwise go uncounted.
func (c *call) askUsage() error {
	options := map[string]bool{}
	if raw, ok := c.fields["stream_options"]; ok {
		if err := json.Unmarshal(raw, &options); err != nil {
			return err
		}
	}
	if options == nil { // it was null
		options = map[string]bool{}
	}
	c.wantsUsage = options["include_usage"]
	options["include_usage"] = true
	raw, err := json.Marshal(options)
	c.fields["stream_options"] = raw
	return err
}
