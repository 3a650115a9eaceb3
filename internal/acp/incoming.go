package acp

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// gate stands between the agent's output and the SDK. The SDK's reader closes the connection when 1,024 notifications wait,
// decodes update kinds it does not know as some other, and starts a goroutine for each request. So the gate handles
// session updates itself, in order, where they are read; drops what is no JSON object and every other notification;
// counts requests; and passes on the rest.
type gate struct {
	to     *io.PipeWriter
	update func(update)
	// excess is called once, when the agent asks too often.
	excess func()

	mu       sync.Mutex
	requests int
	dropped  int // lines that are no message of the protocol
	unknown  int // updates and notifications of kinds prloop does not know
}

// update is what prloop reads of a session update.
type update struct {
	Kind    string `json:"sessionUpdate"`
	Title   string `json:"title"`
	Tool    string `json:"kind"`
	Status  string `json:"status"`
	Call    string `json:"toolCallId"`
	Content json.RawMessage
}

// text is that of a message chunk.
func (u update) text() string {
	var c struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(u.Content, &c) != nil || c.Type != "text" {
		return ""
	}
	return c.Text
}

// The kinds of updates that are read. Others are valid and say nothing prloop needs.
const (
	kindMessage    = "agent_message_chunk"
	kindThought    = "agent_thought_chunk"
	kindTool       = "tool_call"
	kindToolUpdate = "tool_call_update"
	kindPlan       = "plan"
)

// line takes one line; the slice is only good during the call.
func (g *gate) line(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if line[0] != '{' || json.Unmarshal(line, &m) != nil || m.ID == nil && m.Method == "" {
		g.count(&g.dropped)
		return
	}
	switch {
	case m.ID != nil && m.Method != "":
		if n := g.count(&g.requests); n > maxRequests {
			if n == maxRequests+1 {
				g.excess()
			}
			return
		}
	case m.Method == "session/update":
		g.notice(m.Params)
		return
	case m.ID == nil && m.Method != "$/cancel_request":
		g.count(&g.unknown)
		return
	}
	// One write per line; an error means that nobody reads any more.
	_, _ = g.to.Write(append(bytes.Clone(line), '\n'))
}

func (g *gate) notice(params []byte) {
	var p struct {
		Update update `json:"update"`
	}
	if json.Unmarshal(params, &p) != nil {
		g.count(&g.dropped)
		return
	}
	switch p.Update.Kind {
	case kindMessage, kindThought, kindTool, kindToolUpdate, kindPlan:
		g.update(p.Update)
	case "user_message_chunk", "available_commands_update", "current_mode_update", "config_option_update", "session_info_update", "usage_update":
	default:
		g.count(&g.unknown)
	}
}

func (g *gate) count(what *int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	*what++
	return *what
}

// counts are the numbers so far.
func (g *gate) counts() (dropped, unknown, requests int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dropped, g.unknown, g.requests
}
