package modelagent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// What one answer may have where nobody set it; it is also what the gateway reserves budget for. The thoughts of a model that
// reasons count too, and are often many times its answer.
const (
	answerTokens   = 8192
	thoughtfulMost = 32768
)

// reasons matches models whose name says that they think before they answer.
var reasons = lazyregexp.New(`(^|/)(o[1-9]|gpt-[5-9]|deepseek-r)|reason|think`)

// Reasons reports whether a model thinks before it answers, as far as its name or the effort that it is asked for tells.
func Reasons(model, effort string) bool {
	return effort != "" && effort != api.ReasoningEffortNone || reasons.MatchString(model)
}

// temperature is low where nobody chose one. The client leaves zero out of the request, so that coldest stands for it.
const (
	temperature = 0.01
	coldest     = 1e-6
)

// ErrBudget says that the gateway refused a call because a budget is used up.
var ErrBudget = errors.New("budget is used up")

// Codes of the gateway: that of ErrBudget, and that of an answer that broke off.
const (
	budgetCode = "prloop_budget_exceeded"
	brokenCode = "prloop_upstream_unreachable"
)

// model is a conversation partner of one agent: one endpoint, and what it turned out to accept.
type model struct {
	client     *http.Client
	url, token string
	emit       func(review.Event)
	// left is how many calls may still be made. With a gateway it is a plan: the gateway counts, and refuses.
	left int
	held bool
	// format is how the shape of answers is asked for; it goes down when an endpoint refuses.
	format format
	// tools are offered with every call once set, so that the prompt's beginning stays the same; toolsLeft is how many
	// calls of them are paid for.
	tools     []api.Tool
	toolsLeft int
	// effort is how much the model is asked to think; empty once an endpoint refused it. asked is what was ordered.
	effort, asked string
	// temperature is what is sent while the endpoint takes one.
	temperature float32
	// most is how many tokens an answer may have; 0 is by the model's name.
	most int
	// refused is the newest answer that was refused, begun what came of answers that broke off, or were given where tools may be called.
	refused []byte
	begun   [][]byte
	// beside is the prose around the newest answer that was taken.
	beside []byte
	// warm, long and streamed are false once an endpoint refused a temperature, an output limit or a stream.
	warm, long, streamed bool
}

// format is a way to ask for JSON, best first.
type format int

const (
	byName format = iota // by the prompt alone
	anyObject
	bySchema
)

func connect(o Options, limits review.Limits, emit func(review.Event)) *model {
	m := &model{
		client: http.DefaultClient, url: strings.TrimRight(o.BaseURL, "/"), token: o.Token, emit: emit, left: limits.LLMCalls, held: o.Socket != "",
		toolsLeft: limits.ToolCalls, asked: o.Effort, most: limits.AnswerTokens, temperature: temperature,
	}
	if o.Temperature != nil {
		m.temperature = float32(max(*o.Temperature, coldest))
	}
	m.anew()
	if o.Socket != "" {
		m.url = "http://gateway/v1"
		m.client = &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "unix", o.Socket)
			},
			DisableKeepAlives: true,
		}}
	}
	m.url += "/chat/completions"
	return m
}

// anew forgets what was refused: another model may take more. One that is to reason takes no temperature; whether any other does
// only its endpoint knows, which is asked with one, and without when it refuses.
func (m *model) anew() {
	m.format, m.warm, m.long, m.streamed, m.effort = bySchema, m.asked == "", true, true, m.asked
}

// room is how many tokens an answer of a model may have.
func (m *model) room(name string) int {
	switch {
	case m.most > 0:
		return m.most
	case Reasons(name, m.effort):
		return thoughtfulMost
	}
	return answerTokens
}

// reply is what a model said.
type reply struct {
	text string
	// calls are the tools the model wants.
	calls []api.ToolCall
	// fault is why the text cannot be an answer, such as having been cut; empty when it may be one.
	fault string
}

// refusals is how many parameters an endpoint may refuse in a row before it is given up, and breaks how many answers may break off.
const (
	refusals = 6
	breaks   = 2
)

// say makes one call. shape names the schema of the answer; without one the model may call tools.
func (m *model) say(ctx context.Context, name, shape string, messages []api.ChatCompletionMessage) (reply, error) {
	if m.left <= 0 && !m.held { // a gateway says so itself, and remembers it for the receipt
		return reply{}, fmt.Errorf("ask %s: LLM calls: %w", name, ErrBudget)
	}
	m.left--
	m.emit(review.Event{Kind: review.EventProgress, Message: "asking " + name})
	began := time.Now()
	var err error
	var came [][]byte
	for n, broken := 0, 0; n < refusals; n++ {
		var req api.ChatCompletionRequest
		if req, err = m.request(name, shape, messages); err != nil {
			return reply{}, err
		}
		var resp api.ChatCompletionResponse
		if resp, err = m.post(ctx, req, func(tokens int) { m.coming(name, tokens) }); err == nil {
			m.account(resp, name, time.Since(began))
			return understand(resp)
		}
		if len(resp.Choices) > 0 && resp.Choices[0].Message.Content != "" && (shape != "" || answers(resp.Choices[0].Message.Content)) {
			came = append(came, []byte(resp.Choices[0].Message.Content))
			m.begun = append(m.begun, came[len(came)-1])
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			break
		}
		if breaksOff(err) && broken < breaks {
			broken++
			m.emit(review.Event{Kind: review.EventLog, Level: "info", Message: fmt.Sprintf("the answer of %s broke off; asking again", name)})
			continue
		}
		if m.effort != "" && aboutEffort(err) {
			m.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: fmt.Sprintf("%s takes no reasoning effort %q; it is asked without", name, m.effort)})
			m.effort = ""
			continue
		}
		if !m.settleFor(err) {
			break
		}
		m.emit(review.Event{Kind: review.EventLog, Level: "debug", Message: name + " refuses a parameter; asking in a plainer form"})
	}
	status, text := refusalOf(err)
	err = fmt.Errorf("ask %s: %w", name, &refusal{status, text, plain(err)})
	if len(came) > 0 { // it began to answer
		err = &InvalidError{Raw: bytes.Join(came, []byte(answer.Next)), Err: err}
	}
	return reply{}, err
}

// before is what the model said in answer to the question before the answer that was taken.
func (m *model) before() [][]byte { return append(slices.Clone(m.begun), answer.Each(m.refused)...) }

// keep keeps what the model says where it may call tools, when that is an answer and nobody takes it: only talk is gone with the turn.
func (m *model) keep(text string) {
	if answers(text) {
		m.begun = append(m.begun, []byte(text))
	}
}

// answers reports whether a text begins as an answer does, or has a field that only answers have.
func answers(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "{") || answer.Another([]byte(text), "") != nil
}

// coming tells how much of an answer came so far. It is news of what is spent, which the log of a run without a terminal leaves out.
func (m *model) coming(name string, tokens int) {
	m.emit(review.Event{Kind: review.EventUsage, Usage: &review.Usage{}, Message: fmt.Sprintf("%s: about %d tokens so far", name, tokens)})
}

// breaksOff reports whether an answer broke off by itself, so that asking again may help.
func breaksOff(err error) bool {
	var a *api.APIError
	return errors.Is(err, errBroken) || errors.As(err, &a) && a.Code == brokenCode && a.HTTPStatusCode == 0
}

func (m *model) request(name, shape string, messages []api.ChatCompletionMessage) (api.ChatCompletionRequest, error) {
	req := api.ChatCompletionRequest{Model: name, Messages: messages, ReasoningEffort: m.effort}
	if m.warm {
		req.Temperature = m.temperature
	}
	if m.long {
		req.MaxCompletionTokens = m.room(name)
	}
	if m.streamed {
		req.Stream, req.StreamOptions = true, &api.StreamOptions{IncludeUsage: true}
	}
	if req.Tools = m.tools; len(m.tools) > 0 && shape != "" {
		req.ToolChoice = "none"
	}
	switch format := m.format; {
	case shape == "":
	case format == bySchema:
		schema, err := schema.ForModel(shape)
		if err != nil {
			return req, err
		}
		req.ResponseFormat = &api.ChatCompletionResponseFormat{
			Type: api.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &api.ChatCompletionResponseFormatJSONSchema{
				Name: strings.ReplaceAll(shape, "-", "_"), Schema: json.RawMessage(schema), Strict: true,
			},
		}
	case format == anyObject:
		req.ResponseFormat = &api.ChatCompletionResponseFormat{Type: api.ChatCompletionResponseFormatTypeJSONObject}
	}
	return req, nil
}

// aboutEffort reports whether an endpoint refused how much a model was asked to think.
func aboutEffort(err error) bool {
	status, text := refusalOf(err)
	return errors.Is(err, api.ErrReasoningEffortUnsupported) || plainly(status) && (strings.Contains(text, "reasoning_effort") || strings.Contains(text, "reasoning effort") ||
		strings.Contains(text, "reasoning.effort"))
}

// plainly reports whether a status is that of a request whose form is refused.
func plainly(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == http.StatusNotImplemented
}

// settleFor gives up the parameter an endpoint refused; false when the refusal was about something else.
func (m *model) settleFor(err error) bool {
	for _, known := range []error{api.ErrReasoningModelLimitationsOther, api.ErrReasoningSamplingUnsupported} {
		if errors.Is(err, known) && m.warm {
			m.warm = false
			return true
		}
	}
	status, text := refusalOf(err)
	if !plainly(status) {
		return false
	}
	about := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case m.warm && about("temperature"):
		m.warm = false
	case m.long && about("max_completion_tokens", "max_tokens"):
		m.long = false
	case m.format > byName && about("response_format", "json_schema", "json_object", "structured output", "schema", "grammar"):
		m.format--
	case m.streamed && streamWord.MatchString(text):
		m.streamed = false
	default:
		return false
	}
	return true
}

// streamWord finds that a refusal is about streams; "upstream" is none.
var streamWord = lazyregexp.New(`\b(stream|streams|streaming|stream_options)\b`)

func refusalOf(err error) (status int, text string) {
	var a *api.APIError
	var r *api.RequestError
	switch {
	case errors.As(err, &a):
		status, text = a.HTTPStatusCode, a.Message
		if a.Param != nil {
			text += " " + *a.Param
		}
	case errors.As(err, &r):
		status, text = r.HTTPStatusCode, string(r.Body)
	}
	return status, strings.ToLower(text)
}

// refusal is an endpoint's error with what it said, for whoever can do without what it refuses.
type refusal struct {
	status int
	text   string
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// plain turns the client's errors into one short line.
func plain(err error) error {
	var a *api.APIError
	var r *api.RequestError
	switch {
	case errors.As(err, &a) && a.Code == budgetCode:
		return fmt.Errorf("%w: %s", ErrBudget, clip(a.Message))
	case errors.As(err, &a) && a.HTTPStatusCode == 0: // in the middle of a stream
		return errors.New(clip(a.Message))
	case errors.As(err, &a):
		return fmt.Errorf("HTTP %d: %s", a.HTTPStatusCode, clip(a.Message))
	case errors.As(err, &r):
		return fmt.Errorf("HTTP %d: the answer is no error object", r.HTTPStatusCode)
	}
	return err
}

// errorLimit bounds what an endpoint's own words add to an error, in characters.
const errorLimit = 300

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > errorLimit {
		return string(r[:errorLimit]) + "…"
	}
	return s
}

// kind says why a call came to nothing, in words that repeat nothing of what the endpoint says: everybody may read them (threats.md T681).
func kind(err error) string {
	for _, known := range []error{ErrBudget, ErrWallTime, ErrRefused} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	var r *refusal
	switch {
	case errors.As(err, &r) && r.status > 0:
		return fmt.Sprintf("HTTP %d", r.status)
	case r == nil && errors.As(err, new(*InvalidError)):
		return "its answer is invalid"
	}
	return "the call came to nothing"
}

// tell gives the operator all of an error of which reports have the kind alone.
func (m *model) tell(err error) {
	m.emit(review.Event{Kind: review.EventLog, Level: "error", Message: clip(err.Error())})
}

// account reports what a call spent. The gateway's own count is the one that is believed.
func (m *model) account(resp api.ChatCompletionResponse, name string, took time.Duration) {
	u := review.Usage{LLMCalls: 1, LLMSeconds: took.Seconds(), Models: []string{name}}
	if resp.Usage.TotalTokens > 0 {
		u.InputTokens, u.OutputTokens = &resp.Usage.PromptTokens, &resp.Usage.CompletionTokens
		if d := resp.Usage.PromptTokensDetails; d != nil {
			u.CachedTokens = &d.CachedTokens
		}
	}
	m.emit(review.Event{Kind: review.EventUsage, Usage: &u})
}

// ErrRefused says that the model or its provider declined to answer at all.
var ErrRefused = errors.New("the model declined to answer")

func understand(resp api.ChatCompletionResponse) (reply, error) {
	if len(resp.Choices) == 0 {
		return reply{fault: "there was no answer"}, nil
	}
	c := resp.Choices[0]
	switch {
	case c.Message.Refusal != "", c.FinishReason == api.FinishReasonContentFilter:
		err := fmt.Errorf("%w: %s", ErrRefused, cmp.Or(clip(c.Message.Refusal), "content filter"))
		if c.Message.Content != "" { // it began to answer
			err = &InvalidError{Raw: []byte(c.Message.Content), Err: err}
		}
		return reply{}, err
	case c.FinishReason == api.FinishReasonLength:
		return reply{text: c.Message.Content, fault: "the answer was cut off at the output limit; answer more briefly, with the most urgent findings only"}, nil
	}
	return reply{text: bare(c.Message.Content), calls: c.Message.ToolCalls}, nil
}

// bare takes off what models without structured output put around JSON: their thoughts and a code fence.
func bare(text string) string {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "<think>"); ok {
		if _, after, closed := strings.Cut(rest, "</think>"); closed {
			text = strings.TrimSpace(after)
		}
		if i := strings.LastIndex(text, "</think>"); i >= 0 { // thoughts may quote a file that has this, and so may an answer
			if last := strings.TrimSpace(text[i+len("</think>"):]); strings.HasPrefix(last, "{") || strings.HasPrefix(last, "```") {
				text = last
			}
		}
	}
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		if inner, closed := strings.CutSuffix(rest, "```"); closed {
			if first, after, ok := strings.Cut(inner, "\n"); ok && (first == "" || strings.EqualFold(strings.TrimSpace(first), "json")) {
				text = strings.TrimSpace(after)
			}
		}
	}
	return text
}

// fencedJSON is a code fence of JSON, or of no language, that holds an object. No JSON text has a line that begins with a fence.
var fencedJSON = lazyregexp.New("(?msi)^```(?:json)?[ \\t]*\r?\n\\s*(\\{.*?)^```[ \\t]*\r?$")

// apart takes the JSON of an answer out of its only fence; beside is the prose that stood around it, where an error says that it may be another answer.
func apart(text string) (doc, beside []byte, err error) {
	all := fencedJSON.FindAllStringSubmatchIndex(text, 2)
	if len(all) != 1 || strings.HasPrefix(text, "{") {
		return []byte(text), nil, nil
	}
	at := all[0]
	beside = []byte(text[:at[0]] + "\n" + text[at[1]:])
	return []byte(text[at[2]:at[3]]), beside, answer.Another(beside, "")
}
