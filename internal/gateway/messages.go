package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/prloop/prloop/internal/broker"
)

// pathMessages is the Anthropic Messages API, which Claude Code speaks. It is handed to the endpoint of the model as it is:
// nothing is translated, the endpoint has to serve it.
const pathMessages = "/messages"

// anthropicVersion is the version of the API the gateway knows. No beta header is ever sent.
const anthropicVersion = "2023-06-01"

// fitThinking takes the wish to think out of a request whose answer has become too short for it; the API of messages refuses the two together. Other limits of
// thoughts, which some endpoints do not count as answer, are cut to what an answer may have.
func fitThinking(fields map[string]json.RawMessage, output int) {
	var t struct {
		Budget int `json:"budget_tokens"`
	}
	if raw, ok := fields["thinking"]; ok && (json.Unmarshal(raw, &t) != nil || t.Budget >= output) {
		delete(fields, "thinking")
	}
	most := json.RawMessage(strconv.Itoa(output))
	over := func(raw json.RawMessage) bool {
		n, err := strconv.Atoi(string(raw))
		return string(raw) != "null" && (err != nil || n > output)
	}
	if raw, ok := fields["thinking_budget"]; ok && over(raw) {
		fields["thinking_budget"] = most
	}
	var reasoning map[string]json.RawMessage
	if json.Unmarshal(fields["reasoning"], &reasoning) == nil {
		if raw, ok := reasoning["max_tokens"]; ok && over(raw) {
			reasoning["max_tokens"] = most
			fields["reasoning"], _ = json.Marshal(reasoning) // as it was read
		}
	}
}

// anthropicHost asks for its list of models as it does for messages; its chat completions are as everywhere.
const anthropicHost = "api.anthropic.com"

// authorize puts the key where the API looks for it.
func (u *upstream) authorize(h http.Header, path string) {
	if u.Key.s == broker.Held {
		h.Set(broker.EndpointHeader, u.Name)
	}
	if path == pathMessages || path == pathModels && u.base.Hostname() == anthropicHost {
		h.Set("Anthropic-Version", anthropicVersion)
		if !u.Key.Empty() {
			h.Set("X-Api-Key", u.Key.s)
		}
		return
	}
	if !u.Key.Empty() {
		h.Set("Authorization", "Bearer "+u.Key.s)
	}
}

// messageWire is what an answer of the messages API, or an event of its stream, says beside model and usage.
type messageWire struct {
	Kind       string          `json:"type"`
	Message    json.RawMessage `json:"message"`
	Delta      json.RawMessage `json:"delta"`
	StopReason string          `json:"stop_reason"`
}

// stopped is why an answer ended; empty when it did not, or another API says so.
func (a *answerWire) stopped() string {
	switch a.Kind {
	case "message":
		return a.StopReason
	case "message_delta":
		var d messageWire
		loosely(a.Delta, &d)
		return d.StopReason
	}
	return ""
}
