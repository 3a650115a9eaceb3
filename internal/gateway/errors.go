package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Codes of the gateway's own answers, in the error object's "code".
const (
	// CodeBudget: the call would go beyond a budget of the agent and was not made.
	CodeBudget = "prloop_budget_exceeded"
	// CodeToken: the placeholder token is unknown or was revoked.
	CodeToken = "prloop_unknown_token"
	// CodeModel: no endpoint is configured for the model.
	CodeModel = "prloop_unknown_model"
	// CodeRefused: the request asks for something agents may not have.
	CodeRefused = "prloop_request_refused"
	// CodeTooLarge: request or answer is over its cap.
	CodeTooLarge = "prloop_too_large"
	// CodeKey: the model endpoint refuses the key.
	CodeKey = "prloop_upstream_refuses_key"
	// CodeUnreachable: the model endpoint cannot be reached, or broke off.
	CodeUnreachable = "prloop_upstream_unreachable"
)

// Axis names a budget (design 5).
type Axis string

// The axes counted so far.
const (
	AxisCalls    Axis = "LLM calls"
	AxisCost     Axis = "cost"
	AxisWallTime Axis = "wall time"
)

// BudgetError says which budget a call would have exceeded.
type BudgetError struct {
	Axis Axis
	// Limit and Spent are in words, with unit.
	Limit, Spent string
}

// Error names budget, limit and what is spent.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("budget for %s is used up: %s of %s", e.Axis, e.Spent, e.Limit)
}

// KeyError says that the model endpoint answered 401 or 403.
type KeyError struct {
	Upstream string
	Status   int
}

// Error names endpoint and status, never the key.
func (e *KeyError) Error() string {
	return fmt.Sprintf("model endpoint %s refuses the key: HTTP %d", e.Upstream, e.Status)
}

// UnreachableError says that the model endpoint gave no whole answer.
type UnreachableError struct {
	Upstream, Host string
	Err            error
}

// Error names endpoint and host, once if they are the same, then the cause.
func (e *UnreachableError) Error() string {
	if e.Upstream == e.Host {
		return fmt.Sprintf("model endpoint %s cannot be reached: %v", e.Host, e.Err)
	}
	return fmt.Sprintf("model endpoint %s (%s) cannot be reached: %v", e.Upstream, e.Host, e.Err)
}

// Unwrap gives the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

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

// send writes the refusal in the shape OpenAI clients know. Statuses are chosen so that clients do not repeat the call
// where repeating is useless: never 429, and 5xx only for endpoints that may come back.
func (r *refusal) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"message": r.message, "type": "prloop_gateway", "param": nil, "code": r.code,
	}})
}
