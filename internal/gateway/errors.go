package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Codes of the gateway's own answers, in the error object's "code".
const (
	// CodeBudget: the call would go beyond a budget of the agent and was not made.
	CodeBudget = "prloop_budget_exceeded"
	// CodeToken: the placeholder token is unknown or was revoked.
	CodeToken = "prloop_unknown_token"
	// CodeModel: the agent may not ask for the model, or no endpoint is configured for it.
	CodeModel = "prloop_unknown_model"
	// CodeRefused: the request asks for something agents may not have.
	CodeRefused = "prloop_request_refused"
	// CodeTooLarge: request or answer is over its cap.
	CodeTooLarge = "prloop_too_large"
	// CodeBusy: other requests of the agent are still in memory.
	CodeBusy = "prloop_busy"
	// CodeKey: the model endpoint refuses the key, or what the key may use.
	CodeKey = "prloop_upstream_refuses_key"
	// CodeUnreachable: the model endpoint cannot be reached, broke off, or is no API.
	CodeUnreachable = "prloop_upstream_unreachable"
	// CodeUnread: the endpoint answered without having read all of the request.
	CodeUnread = "prloop_request_not_read"
	// CodeTimeout: the model was silent for longer, or its call took longer, than it may.
	CodeTimeout = "prloop_model_timeout"
	// CodePrice: the model has no known price, and the operator set a bound in dollars.
	CodePrice = "prloop_unknown_price"
	// CodeSpent: what was spent before cannot be read, so that a bound on it cannot be held.
	CodeSpent = "prloop_spending_unknown"
	// CodeProtocol: the caller speaks another protocol than OpenAI's.
	CodeProtocol = "prloop_protocol_not_served"
	// CodeWeb: a page of the web was not read, or nothing was searched.
	CodeWeb = "prloop_web_refused"
	// CodeCassette: the cassette holds no answer to this call.
	CodeCassette = "prloop_cassette_miss"
)

// Axis names a budget.
type Axis string

// The axes, per agent and per run; dollars also per whatever Options.Caps name.
const (
	AxisCalls     Axis = "LLM calls"
	AxisToolCalls Axis = "tool calls"
	AxisTokens    Axis = "tokens"
	AxisCost      Axis = "cost"
	AxisWallTime  Axis = "wall time"
	AxisPages     Axis = "web pages"
	AxisSearches  Axis = "web searches"
	AxisChecks    Axis = "runs of the verify commands"
)

// scopeRun is the scope of what bounds a whole run.
const scopeRun = "run"

// BudgetError says which budget a call would have exceeded.
type BudgetError struct {
	Axis Axis
	// Limit and Spent are in words, with unit.
	Limit, Spent string
	// Scope is whose budget it is: agent, run, or the name of a cap.
	Scope string
}

// Error names budget, limit, what is spent and, where it is not the agent's own, the setting.
func (e *BudgetError) Error() string {
	if e.own() {
		return fmt.Sprintf("budget for %s is used up: %s of %s", e.Axis, e.Spent, e.Limit)
	}
	said := fmt.Sprintf("budget of the %s for %s is used up: %s of %s", e.Scope, e.Axis, e.Spent, e.Limit)
	if e.Scope == scopeRun && e.Axis == AxisCost {
		said = fmt.Sprintf("the run's limit of %s is reached (spent: %s)", e.Limit, e.Spent)
	}
	return said + e.Raised("")
}

// own reports whether it is the agent's own budget.
func (e *BudgetError) own() bool { return e.Scope == "" || e.Scope == "agent" }

// bounds are the settings of the axes, within a group of them.
var bounds = map[Axis]string{AxisCalls: "max_llm_calls", AxisToolCalls: "max_tool_calls", AxisTokens: "max_tokens", AxisCost: "max_cost_usd", AxisWallTime: "max_wall_time_seconds"}

// flags are the flags of settings that have one.
var flags = map[string]string{"limits.max_wall_time_seconds": "--max-wall-time", "limits.max_cost_usd": "--max-cost", "run_limits.max_cost_usd": "--max-run-cost"}

// Raised is the end of a sentence that says which setting raises the budget; group are the settings that hold an agent's own, such as limits. It is empty
// where there is none.
func (e *BudgetError) Raised(group string) string {
	bound, known := bounds[e.Axis]
	if !known {
		return ""
	}
	key := group + "." + bound
	switch {
	case e.Scope == "pull request":
		key = "budgets.per_pull_request_usd"
	case e.Scope == "day":
		key = "budgets.per_day_usd"
	case e.Scope == scopeRun && e.Axis == AxisWallTime:
		key = "wall_time"
	case e.Scope == scopeRun:
		key = "run_limits." + bound
	case e.Axis == AxisTokens:
		key = "limits." + bound
	}
	said := "; " + key + " raises it"
	if flag := flags[key]; flag != "" {
		said += " (" + flag + ")"
	}
	return said
}

// Of names the budget and, where it is not the agent's own, whose it is.
func (e *BudgetError) Of() string {
	if e.own() {
		return string(e.Axis)
	}
	return fmt.Sprintf("%s of the %s", e.Axis, e.Scope)
}

// ModelError says that a call was not made because the model is none the agent may ask for.
type ModelError struct {
	Model string
	// Allowed are those it may ask for.
	Allowed []string
}

// namedModels is how many of the allowed models an error names.
const namedModels = 5

// Error names the model, those that are allowed, and who can allow more.
func (e *ModelError) Error() string {
	allowed := "none"
	if n := len(e.Allowed); n > 0 {
		allowed = strings.Join(e.Allowed[:min(n, namedModels)], ", ")
		if n > namedModels {
			allowed += fmt.Sprintf(" and %d more", n-namedModels)
		}
	}
	return fmt.Sprintf("model %.100q is not allowed for this agent; allowed: %s. Set the agent's model in the configuration, or list a command agent's models under models", e.Model, allowed)
}

// PriceError says that a call was not made because nobody knows what it would cost.
type PriceError struct{ Model string }

// Error names the model.
func (e *PriceError) Error() string {
	return fmt.Sprintf("model %s has no known price, so that a budget in dollars cannot be held: give it a price, 0 for a free one", e.Model)
}

// SpentError says that a call was not made because the money spent before is not known.
type SpentError struct {
	Cap string
	Err error
}

// Error names the cap, then the cause.
func (e *SpentError) Error() string {
	return fmt.Sprintf("read what the %s has spent: %v", e.Cap, e.Err)
}

// Unwrap gives the cause.
func (e *SpentError) Unwrap() error { return e.Err }

// UnreachableError says that the model endpoint gave no whole answer.
type UnreachableError struct {
	Upstream, Host string
	Err            error
}

// Error names endpoint and host, once if they are the same, then the cause.
func (e *UnreachableError) Error() string {
	who := e.Upstream
	if e.Upstream != e.Host {
		who += " (" + e.Host + ")"
	}
	return fmt.Sprintf("model endpoint %s %s: %v", who, e.what(), e.Err)
}

func (e *UnreachableError) what() string {
	switch {
	case errors.As(e.Err, new(*SilentError)):
		return "fell silent"
	case errors.As(e.Err, new(*SlowError)):
		return "took too long"
	}
	return "cannot be reached"
}

// Unwrap gives the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// SilentError says that a model was ended because it sent no byte for as long as it may.
type SilentError struct{ Idle time.Duration }

// Error names the time and the setting.
func (e *SilentError) Error() string {
	return fmt.Sprintf("no byte for %s, the most that limits.max_idle_seconds allows", e.Idle)
}

// SlowError says that a call was ended because it took longer than it may.
type SlowError struct{ Limit time.Duration }

// Error names the time and the setting.
func (e *SlowError) Error() string {
	return fmt.Sprintf("no whole answer within %s, the most that limits.max_call_seconds allows", e.Limit)
}

// UnreadError says that a model answered a request of which its endpoint had read only a part.
type UnreadError struct {
	Upstream string
	// Read is how many tokens the endpoint says that it read, Least how many the request has at least.
	Read, Least int
}

// Error names the endpoint, both figures and what is the matter.
func (e *UnreadError) Error() string {
	return fmt.Sprintf("model endpoint %s %s", e.Upstream, e.what())
}

func (e *UnreadError) what() string {
	return fmt.Sprintf("read %d of at least %d tokens: its context is too small", e.Read, e.Least)
}

// Kind says what kept an agent from its model, in words that name no endpoint and repeat nothing of what it says: everybody may read them.
func Kind(err error) string {
	var budget *BudgetError
	var endpoint *EndpointError
	var unreachable *UnreachableError
	var unread *UnreadError
	var price *PriceError
	switch {
	case errors.As(err, &budget):
		return budget.Error()
	case errors.As(err, &price):
		return price.Error()
	case errors.As(err, new(*ModelError)):
		return "its model is not allowed for this agent"
	case errors.As(err, new(*SpentError)):
		return "what was spent before cannot be read"
	case errors.As(err, &endpoint):
		return fmt.Sprintf("the model endpoint %s: HTTP %d", troubles[endpoint.Trouble], endpoint.Status)
	case errors.As(err, &unread):
		return "the model endpoint " + unread.what()
	case errors.As(err, &unreachable):
		what := unreachable.what()
		var silent *SilentError
		var slow *SlowError
		switch {
		case errors.As(err, &silent):
			what += ": " + silent.Error()
		case errors.As(err, &slow):
			what += ": " + slow.Error()
		}
		return "the model endpoint " + what
	}
	return "a call of its model came to nothing"
}

// errTooLarge is an answer beyond the cap.
var errTooLarge = errors.New("answer is larger than the cap")

// refusal is the gateway's own answer to a call.
type refusal struct {
	status  int
	code    string
	message string
}

func refuse(status int, code, format string, args ...any) *refusal {
	return &refusal{status, code, fmt.Sprintf(format, args...)}
}

// send writes the refusal in the shape OpenAI clients know, and Anthropic's read. Statuses are chosen so that clients do not repeat the call
// where repeating is useless: 429 only where memory was short for the moment, and 5xx only for endpoints that may come back.
func (r *refusal) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(r.body())
}

// ownError is the object clients know an error by.
type ownError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

// errorBody has the error first: some clients look for it at the beginning of an event.
type errorBody struct {
	Error ownError `json:"error"`
	Type  string   `json:"type"`
}

func (r *refusal) body() errorBody {
	return errorBody{ownError{Message: r.message, Type: "prloop_gateway", Code: r.code}, "error"}
}

// tell ends a stream that cannot be ended well with an event that says why. The stream is cut off after it.
func (r *refusal) tell(w http.ResponseWriter) {
	data, err := json.Marshal(r.body())
	if err != nil {
		return // not reached: it is plain text
	}
	_, _ = fmt.Fprintf(w, "\n\nevent: error\ndata: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}
