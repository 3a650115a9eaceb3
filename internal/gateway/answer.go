package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
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
}

// answerWire is the part of an answer, or of one event of a stream, that is accounted for.
type answerWire struct {
	Model    string            `json:"model"`
	Usage    *usageWire        `json:"usage"`
	Choices  []json.RawMessage `json:"choices"`
	Response *struct {
		Model string     `json:"model"`
		Usage *usageWire `json:"usage"`
	} `json:"response"`
}

const maxModelName = 100

// read adds what one answer or event says to s and reports whether it holds nothing but usage.
func (s *spent) read(data []byte) (usageOnly bool) {
	var a answerWire
	if json.Unmarshal(data, &a) != nil {
		return false
	}
	if a.Response != nil {
		a.Model, a.Usage = a.Response.Model, a.Response.Usage
	}
	if a.Model != "" && len(a.Model) <= maxModelName {
		s.model = a.Model
	}
	if a.Usage == nil {
		return false
	}
	u := a.Usage
	s.input, s.output = sane(u.PromptTokens, u.InputTokens), sane(u.CompletionTokens, u.OutputTokens)
	if u.PromptDetails != nil {
		s.cached = sane(u.PromptDetails.CachedTokens)
	}
	if u.InputDetails != nil {
		s.cached = sane(u.InputDetails.CachedTokens)
	}
	if u.Cost != nil && *u.Cost >= 0 {
		s.cost = u.Cost
	}
	return a.Choices != nil && len(a.Choices) == 0
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
	errSilent = errors.New("the stream fell silent")
)

// maxEvent bounds one line of a stream in bytes.
const maxEvent = 1 << 20

// relay copies a stream line by line as it comes and reads the usage out of it. It ends with nil only after the
// stream's own end mark. quiet is called when nothing came for idle and must make body fail.
func relay(w http.ResponseWriter, body io.Reader, key Secret, hideUsage bool, limit int64, idle time.Duration, quiet func()) (s spent, err error) {
	watch := time.AfterFunc(idle, quiet)
	defer watch.Stop()
	flush := http.NewResponseController(w)
	lines := bufio.NewReaderSize(body, 64<<10)
	whole, skipBlank := false, false
	for total := int64(0); ; {
		line, rerr := readLine(lines)
		watch.Reset(idle)
		if total += int64(len(line)); total > limit || errors.Is(rerr, errTooLarge) {
			return s, errTooLarge
		}
		blank := len(bytes.TrimRight(line, "\r\n")) == 0
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = bytes.TrimSpace(data)
			whole = whole || bytes.Equal(data, []byte("[DONE]")) || bytes.Contains(data, []byte(`"response.completed"`))
			if s.read(data) && hideUsage {
				skipBlank = true
				line = nil
			}
		}
		if blank && skipBlank {
			skipBlank, line = false, nil
		}
		if len(line) > 0 {
			if _, err := w.Write(key.scrub(line)); err != nil {
				return s, err
			}
		}
		if blank || rerr != nil {
			_ = flush.Flush()
		}
		switch {
		case rerr == nil:
		case whole:
			return s, nil
		case errors.Is(rerr, io.EOF):
			return s, errBroken
		default:
			return s, rerr
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxEvent:
			return nil, errTooLarge
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}
