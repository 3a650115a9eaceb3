package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/prloop/prloop/internal/values"
)

// usageWire is the usage object of chat completions and of responses, with the cost some providers add.
type usageWire struct {
	PromptTokens     *int `json:"prompt_tokens"`
	CompletionTokens *int `json:"completion_tokens"`
	PromptDetails    *struct {
		CachedTokens *int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	InputTokens  *int `json:"input_tokens"`
	OutputTokens *int `json:"output_tokens"`
	InputDetails *struct {
		CachedTokens *int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Cost *float64 `json:"cost"`
	// BYOK and Details are those of OpenRouter, in whatever shape others use these names.
	BYOK    json.RawMessage `json:"is_byok"`
	Details json.RawMessage `json:"cost_details"`
	// The messages API counts apart what its cache held and what was put into it.
	CacheRead    *int `json:"cache_read_input_tokens"`
	CacheWritten *int `json:"cache_creation_input_tokens"`
}

// input is how many tokens went in, cached ones included.
func (u *usageWire) input() *int {
	n := sane(u.PromptTokens, u.InputTokens)
	if n == nil || u.CacheRead == nil && u.CacheWritten == nil {
		return n
	}
	all := *n + value(sane(u.CacheRead)) + value(sane(u.CacheWritten))
	return &all
}

// cost is what the answer cost in dollars, nil when that is not said. Behind OpenRouter a provider may bill its caller itself, by a key of their own: then cost is the fee
// of OpenRouter alone, mostly 0, and the bill comes on top. Other answers repeat in the details what their cost holds already.
func (u *usageWire) cost() *float64 {
	var d struct {
		Bill *float64 `json:"upstream_inference_cost"`
	}
	_ = json.Unmarshal(u.Details, &d)
	cost, bill := dollars(u.Cost), dollars(d.Bill)
	own := string(u.BYOK) == "true"
	switch {
	case own && bill == nil:
		return nil
	case bill != nil && (own || string(u.BYOK) != "false" && cost != nil && *bill > *cost):
		if cost != nil {
			*bill += *cost
		}
		return bill
	}
	return cost
}

// dollars is a figure that can be what an answer cost; nil for another.
func dollars(v *float64) *float64 {
	if v == nil || !(*v >= 0 && *v < mostCost) {
		return nil
	}
	return v
}

// answerWire is the part of an answer, or of one event of a stream, that is accounted for.
type answerWire struct {
	Choices  []json.RawMessage `json:"choices"`
	Response *responseWire     `json:"response"`
	messageWire
	responseWire
}

// responseWire is the same of the responses API, whole or in the last event of a stream.
type responseWire struct {
	Model      string     `json:"model"`
	Usage      *usageWire `json:"usage"`
	Status     string     `json:"status"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

const maxModelName = 100

// mostCost is what no answer costs, in dollars. A sum of what endpoints say must stay a number that can be written down.
const mostCost = 1e6

// mostValues of answers: reading one costs up to 200 bytes for each of its values, however short they are.
const (
	mostAnswerValues = 1 << 18
	mostEventValues  = 1 << 16
)

// read adds what one answer or event says to s and reports whether it holds nothing but usage.
func (s *spent) read(data []byte) (usageOnly bool) {
	var a answerWire
	if json.Unmarshal(data, &a) != nil {
		return false
	}
	if a.Response == nil {
		a.Response = &a.responseWire
	}
	a.responseWire = *a.Response
	a.begin()
	s.finish = append(s.finish, finishes(a)...)
	if a.Model != "" && len(a.Model) <= maxModelName {
		s.model = a.Model
	}
	if a.Usage == nil {
		return false
	}
	u := a.Usage
	s.count(&s.input, u.input())
	s.count(&s.output, sane(u.CompletionTokens, u.OutputTokens))
	s.count(&s.cached, sane(u.CacheRead))
	s.count(&s.written, sane(u.CacheWritten))
	if u.PromptDetails != nil {
		s.cached = sane(u.PromptDetails.CachedTokens)
	}
	if u.InputDetails != nil {
		s.cached = sane(u.InputDetails.CachedTokens)
	}
	if cost := u.cost(); cost != nil {
		s.cost = cost
	}
	return a.Choices != nil && len(a.Choices) == 0
}

// count takes a figure that is known; a stream of the messages API tells them one after the other.
func (s *spent) count(into **int, n *int) {
	if n != nil {
		*into = n
	}
}

// sane gives the first figure that can be one.
func sane(figures ...*int) *int {
	for _, f := range figures {
		if f != nil && *f >= 0 && *f < 1e9 {
			return f
		}
	}
	return nil
}

var (
	errBroken = errors.New("the stream broke off before its end")
	errHungUp = errors.New("the caller hung up")
)

// maxEvent bounds one line of a stream in bytes.
const maxEvent = 1 << 20

// bytesPerToken is the most bytes of text a token is taken for, so that only answers far beyond their limit are cut;
// outputSlack allows for the first words.
const (
	bytesPerToken = 8
	outputSlack   = 1024
)

// bytesPerStreamed is what looking at one byte of a stream leaves behind, at most.
const bytesPerStreamed = 8

// relay copies one stream.
type relay struct {
	key       Secret
	hideUsage bool
	// limit is in bytes of the whole stream, output in tokens of the answer in it; 0 tokens is without bound.
	limit  int64
	output int
	tools  toolBudget
	// tail is the end of the stream, which copy reads and does not pass on: an agent that saw it may look at once at what its answer
	// cost, or ask again.
	tail []byte
	// left is told how many bytes looking at a part of the stream left behind, at most; nil is told nothing.
	left func(int64)
	// recorded gets the stream as it came, when it is recorded.
	recorded io.Writer
}

// copy passes a stream on line by line as it comes and reads the usage out of it. It ends with nil only after the
// stream's own end mark, after which it reads no further, and with a *BudgetError when the answer goes beyond its limit.
func (r *relay) copy(w http.ResponseWriter, body io.Reader) (s spent, err error) {
	flush := http.NewResponseController(w)
	lines := bufio.NewReaderSize(body, 64<<10)
	whole, skipBlank := false, false
	held := 0
	var buf []byte // one for all lines, of which an endless stream has many
	for total := int64(0); ; {
		line, rerr := readLine(lines, buf[:0])
		buf = line
		if r.left != nil {
			r.left(int64(max(len(line), cap(buf)-held)) * bytesPerStreamed)
			held = cap(buf)
		}
		if total += int64(len(line)); total > r.limit || errors.Is(rerr, errTooLarge) {
			return s, errTooLarge
		}
		line = r.key.scrub(line)
		if r.recorded != nil {
			_, _ = r.recorded.Write(line) // a buffer
		}
		blank := len(bytes.TrimRight(line, "\r\n")) == 0
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = bytes.TrimSpace(data)
			if values.MoreThan(mostEventValues, data) {
				return s, errTooLarge
			}
			whole = whole || ends(data)
			if line, err = r.event(&s, line, data); err != nil {
				return s, err
			}
			skipBlank = line == nil
		}
		if blank && skipBlank {
			skipBlank, line = false, nil
		}
		if whole {
			r.tail = append(r.tail, line...)
			if blank || rerr != nil {
				return s, nil //nolint:nilerr // what breaks off after its end is whole
			}
			continue
		}
		if len(line) > 0 && rerr == nil { // half a line would swallow what is told after it
			if _, err := w.Write(line); err != nil {
				return s, fmt.Errorf("%w: %w", errHungUp, err)
			}
		}
		if blank || rerr != nil {
			_ = flush.Flush()
		}
		switch {
		case rerr == nil:
		case errors.Is(rerr, io.EOF):
			return s, errBroken
		default:
			return s, rerr
		}
	}
}

// ends reports whether an event is the last of its stream.
func ends(data []byte) bool {
	if bytes.Equal(data, []byte("[DONE]")) {
		return true
	}
	if !bytes.Contains(data, []byte(`"response.`)) && !bytes.Contains(data, []byte(`"message_stop"`)) {
		return false
	}
	var e struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(data, &e) == nil && slices.Contains([]string{"response.completed", "response.incomplete", "response.failed", "message_stop"}, e.Type)
}

// event counts one event and gives the line that is passed on; nil for none.
func (r *relay) event(s *spent, line, data []byte) ([]byte, error) {
	if s.read(data) && r.hideUsage {
		return nil, nil
	}
	if s.seen += said(data); r.output > 0 && s.seen > r.output*bytesPerToken+outputSlack {
		return nil, &BudgetError{Axis: AxisTokens, Limit: fmt.Sprint(r.output), Spent: fmt.Sprintf("an answer of %d bytes", s.seen)}
	}
	rest, cut := r.tools.trim(data)
	switch {
	case !cut:
		return line, nil
	case r.tools.kept == 0 || rest == nil:
		return nil, r.tools.account.toolsOver()
	}
	return append(append([]byte("data: "), rest...), '\n'), nil
}

// said is how many bytes of answer an event holds.
func said(data []byte) int {
	var e struct {
		Delta   json.RawMessage `json:"delta"`
		Choices []struct {
			Delta json.RawMessage `json:"delta"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &e) != nil {
		return len(data)
	}
	n := 0
	switch {
	case len(e.Delta) > 0 && e.Delta[0] == '"':
		n = len(e.Delta)
	case len(e.Delta) > 0:
		n = texts(e.Delta)
	}
	for _, c := range e.Choices {
		n += texts(c.Delta)
	}
	return n
}

// texts adds up the texts of a delta, at any depth: content, reasoning, refusal, arguments of tools.
func texts(raw json.RawMessage) int {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return len(raw)
	}
	return textsOf(v)
}

func textsOf(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		n = len(v)
	case []any:
		for _, sub := range v {
			n += textsOf(sub)
		}
	case map[string]any:
		for key, sub := range v {
			if key != "role" && key != "id" && key != "type" {
				n += textsOf(sub)
			}
		}
	}
	return n
}

func readLine(r *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > cap(line) && cap(line) > 0 { // at most three buffers on the way to the longest line
			line = slices.Grow(line, min(4*cap(line), maxEvent+len(part)-len(line)))
		}
		line = append(line, part...)
		switch {
		case len(line) > maxEvent:
			return line[:0], errTooLarge
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}
