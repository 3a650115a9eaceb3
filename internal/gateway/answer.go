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

// answerWire is the part of an answer, or of one event of a stream, that is accounted for.
type answerWire struct {
	Choices  []json.RawMessage `json:"choices"`
	Response json.RawMessage   `json:"response"`
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

// mostValues of answers: reading one costs up to 200 bytes for each of its values, however short they are.
const (
	mostAnswerValues = 1 << 18
	mostEventValues  = 1 << 16
)

// read adds what one answer or event says to s and reports whether it holds nothing but usage.
func (s *spent) read(data []byte) (usageOnly bool) {
	var a answerWire
	loosely(data, &a)
	loosely(a.Response, &a.responseWire)
	begins := a.Kind == "message_start"
	if begins {
		loosely(a.Message, &a.responseWire)
	}
	s.finish = append(s.finish, finishes(a)...)
	if a.Model != "" && len(a.Model) <= maxModelName {
		s.model = a.Model
	}
	if a.Usage == nil {
		return false
	}
	u := a.Usage
	s.count(&s.input, u.input())
	s.count(&s.cached, u.cached())
	s.count(&s.written, sane(u.CacheWritten))
	if !begins { // its count of output is not final
		s.count(&s.output, u.output())
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

var (
	errBroken = errors.New("the stream broke off before its end")
	errHungUp = errors.New("the caller hung up")
	errTorn   = errors.New("an event of the stream is spread over several lines")
)

// maxEvent bounds one line of a stream in bytes.
const maxEvent = 1 << 20

// bytesPerToken is the most bytes of text a token is taken for, so that only answers far beyond their limit are cut;
// outputSlack allows for the first words.
const (
	bytesPerToken = 8
	outputSlack   = 1024
)

// byteOrderMark may begin a stream, and is no part of its first line.
var byteOrderMark = []byte("\xef\xbb\xbf")

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
	whole, skipBlank, part := false, false, false
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
		bare := bytes.TrimRight(line, "\r\n")
		blank := len(bare) == 0
		data, ok := bytes.CutPrefix(bytes.TrimPrefix(bare, byteOrderMark), []byte("data:"))
		// Some readers put the lines of an event together, and take each CR for the end of a line.
		if part = part && !blank; part && ok || bytes.ContainsRune(bare, '\r') {
			return s, errTorn
		}
		if ok {
			data = bytes.TrimSpace(data)
			part = len(data) > 0 && !ends(data) && !json.Valid(data)
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
