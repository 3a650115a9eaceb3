package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	api "github.com/coder/acp-go-sdk"
)

// gate stands between the agent's output and the SDK. The SDK decodes all of a message, each request in a goroutine of its own, closes
// the connection when 1,024 notifications wait, and takes update kinds it does not know for some other. So the gate handles each line
// where it is read, in order: it reads of it what prloop needs and no more (threats.md T473), takes session updates, answers requests,
// drops what is no JSON object and every other notification, and hands the SDK nothing but the replies to prloop's own requests.
type gate struct {
	// to leads to the SDK, stdin to the agent.
	to     *io.PipeWriter
	stdin  io.Writer
	peer   *client
	update func(update)
	// excess is called once, when the agent asks too often.
	excess func()

	mu       sync.Mutex
	requests int
	dropped  int // lines that are no message of the protocol
	unknown  int // updates and notifications of kinds prloop does not know
}

// message is what prloop reads of a line. What is not named here is stepped over where it stands and costs no memory.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method word            `json:"method"`
	Params struct {
		Update update `json:"update"`
		permission
	} `json:"params"`
	Result *result  `json:"result"`
	Error  *failure `json:"error"`
}

// update is what prloop reads of a session update.
type update struct {
	Kind    word  `json:"sessionUpdate"`
	Title   word  `json:"title"`
	Tool    word  `json:"kind"`
	Status  word  `json:"status"`
	Call    word  `json:"toolCallId"`
	Content chunk `json:"content"`
}

// permission is what prloop reads of a request for one.
type permission struct {
	Call struct {
		ID        word `json:"toolCallId"`
		Title     word `json:"title"`
		Kind      word `json:"kind"`
		Locations part `json:"locations"`
	} `json:"toolCall"`
	Options part `json:"options"`
}

// result is what prloop reads of the replies to its requests, of all in one.
type result struct {
	ProtocolVersion part `json:"protocolVersion,omitempty"`
	SessionID       part `json:"sessionId,omitempty"`
	Modes           *struct {
		Current part `json:"currentModeId,omitempty"`
	} `json:"modes,omitempty"`
	StopReason part `json:"stopReason,omitempty"`
	Usage      part `json:"usage,omitempty"`
}

// failure is what prloop reads of a reply that is an error.
type failure struct {
	Code    part `json:"code,omitempty"`
	Message word `json:"message"`
	Data    *struct {
		Error   part `json:"error,omitempty"`
		Details part `json:"details,omitempty"`
		Message part `json:"message,omitempty"`
	} `json:"data,omitempty"`
}

// The most bytes of a word and of a part.
const (
	maxWord = 300
	maxPart = 64 << 10
)

// word is a short text. Of a longer one it is the beginning, and what is no text is empty.
type word string

// UnmarshalJSON reads no more than the beginning.
func (w *word) UnmarshalJSON(b []byte) error {
	*w = word(beginning(b, maxWord))
	return nil
}

// part is a piece of JSON as it stands in a message; 0 takes the place of one that is longer than any that is read.
type part []byte

// UnmarshalJSON copies it.
func (p *part) UnmarshalJSON(b []byte) error {
	if len(b) > maxPart {
		b = []byte("0")
	}
	*p = bytes.Clone(b)
	return nil
}

// MarshalJSON gives it back.
func (p part) MarshalJSON() ([]byte, error) { return p, nil }

// chunk is the text of a piece of a message, as far as one turn's text is read.
type chunk string

// UnmarshalJSON reads a block of text. Other blocks, and the lists of blocks that tool calls have, are none.
func (c *chunk) UnmarshalJSON(b []byte) error {
	var block struct {
		Type word `json:"type"`
		Text long `json:"text"`
	}
	*c = ""
	if b[0] == '{' && json.Unmarshal(b, &block) == nil && block.Type == "text" {
		*c = chunk(block.Text)
	}
	return nil
}

// long is a text as long as that of a turn.
type long string

// UnmarshalJSON reads no more than that.
func (l *long) UnmarshalJSON(b []byte) error {
	*l = long(beginning(b, maxText))
	return nil
}

// beginning decodes a JSON text up to about so many bytes, and no more of it; an ellipsis stands for the rest.
func beginning(b []byte, most int) (text string) {
	if b[0] != '"' {
		return ""
	}
	for at, n := 1, 0; at < len(b)-1; n++ { // each step is a byte of the text at least
		if n > most {
			b = append(bytes.Clone(b[:at]), `…"`...)
			break
		}
		switch {
		case b[at] != '\\':
			at++
		case b[at+1] == 'u':
			at += len(`\u0000`)
		default:
			at += len(`\n`)
		}
	}
	_ = json.Unmarshal(b, &text) // its syntax is known to be right
	return text
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
	var m message
	var odd *json.UnmarshalTypeError // a part has another type than the protocol says, and the rest was read
	err := json.Unmarshal(line, &m)
	if line[0] != '{' || err != nil && !errors.As(err, &odd) || len(m.ID) > maxWord || m.ID == nil && m.Method == "" {
		g.count(&g.dropped)
		return
	}
	switch {
	case m.ID != nil && m.Method != "":
		g.request(m)
	case m.ID != nil:
		g.reply(m)
	case m.Method == api.ClientMethodSessionUpdate && err != nil:
		g.count(&g.dropped)
	case m.Method == api.ClientMethodSessionUpdate:
		g.notice(m.Params.Update)
	case m.Method != "$/cancel_request": // each request has its answer already
		g.count(&g.unknown)
	}
}

// request answers what the agent asks for: permission, by policy. Nothing else is offered, and an agent that asks all the same is told so.
func (g *gate) request(m message) {
	if n := g.count(&g.requests); n > maxRequests {
		if n == maxRequests+1 {
			g.excess()
		}
		return
	}
	answer := struct {
		Version string            `json:"jsonrpc"`
		ID      json.RawMessage   `json:"id"`
		Result  any               `json:"result,omitempty"`
		Error   *api.RequestError `json:"error,omitempty"`
	}{Version: "2.0", ID: m.ID}
	if m.Method == api.ClientMethodSessionRequestPermission {
		answer.Result = g.peer.answer(m.Params.permission)
	} else {
		answer.Error = api.NewMethodNotFound(string(m.Method))
	}
	line, err := json.Marshal(answer)
	if err != nil {
		g.count(&g.dropped)
		return
	}
	// An agent that does not read must not keep prloop from reading: no more than the answer waits for it.
	go func() { _, _ = g.stdin.Write(append(line, '\n')) }()
}

// reply hands on what is read of a reply.
func (g *gate) reply(m message) {
	line, err := json.Marshal(struct {
		ID     json.RawMessage `json:"id"`
		Result *result         `json:"result,omitempty"`
		Error  *failure        `json:"error,omitempty"`
	}{m.ID, m.Result, m.Error})
	if err != nil {
		g.count(&g.dropped)
		return
	}
	// One write per line; an error means that nobody reads any more.
	_, _ = g.to.Write(append(line, '\n'))
}

func (g *gate) notice(u update) {
	switch u.Kind {
	case kindMessage, kindThought, kindTool, kindToolUpdate, kindPlan:
		g.update(u)
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
