package review

import "time"

// Event is one line of news about a run: from an agent's standard output (progress, usage, log) or from the loop itself
// (state). Events feed the live view and the log; no decision is taken from them.
type Event struct {
	// Kind is one of the kinds below. Those of a child are progress, usage and log; the others are prloop's own.
	Kind EventKind `json:"event"`
	// Agent is the agent the event is about; empty for the run as a whole. Set by prloop, never taken from the child.
	Agent string `json:"agent,omitempty"`
	// Time is when prloop saw it.
	Time time.Time `json:"time,omitzero"`
	// Message is one line for people; untrusted when it came from a child.
	Message string `json:"message,omitempty"`
	// Level is debug, info, warn or error, for log events.
	Level string `json:"level,omitempty"`
	// State is set for state events.
	State AgentState `json:"state,omitempty"`
	// Usage is set for usage events: what was spent since the event before.
	Usage *Usage `json:"usage,omitempty"`
	// What follows is prloop's own and never on the wire, so that no child can tell of it.

	// Round is set for round events: which one begins, from 1; Rounds is the most there can be, 0 when not known.
	Round  int `json:"-"`
	Rounds int `json:"-"`
	// Head is a full object id: the commit a round begins with, a check runs on, or that was pushed.
	Head string `json:"-"`
	// Check is set for check events; its state is empty while the command runs.
	Check *Check `json:"-"`
	// Result is set for result events: how a round ended, with its fix.
	Result *RoundResult `json:"-"`
}

// EventKind names the kinds of events.
type EventKind string

// The kinds.
const (
	EventProgress EventKind = "progress"
	EventUsage    EventKind = "usage"
	EventLog      EventKind = "log"
	EventState    EventKind = "state"
	// EventRound: a round begins. EventResult: it is over.
	EventRound  EventKind = "round"
	EventResult EventKind = "result"
	// EventCheck: a verify command begins, or is over. EventPushed: the branch is at Head now.
	EventCheck  EventKind = "check"
	EventPushed EventKind = "pushed"
)

// AgentState is where an agent stands, for the live view and the receipt.
type AgentState string

// The states. Complete is the only one that counts towards min_reviewers.
const (
	AgentWaiting  AgentState = "waiting"
	AgentRunning  AgentState = "running"
	AgentComplete AgentState = "complete"
	AgentDegraded AgentState = "degraded" // its envelope was broken; valid findings were kept
	AgentFailed   AgentState = "failed"
)

// Usage is what an agent spent. Unknown figures are nil: unknown is never zero.
type Usage struct {
	LLMCalls     int  `json:"llmCalls,omitempty"`
	ToolCalls    int  `json:"toolCalls,omitempty"`
	InputTokens  *int `json:"inputTokens,omitempty"`
	CachedTokens *int `json:"cachedTokens,omitempty"`
	OutputTokens *int `json:"outputTokens,omitempty"`
	// CostUSD is nil when a model without a known price was used.
	CostUSD *float64 `json:"costUsd,omitempty"`
	// LLMSeconds is time spent waiting for models.
	LLMSeconds float64 `json:"llmSeconds,omitempty"`
	// Models are those that answered, sorted.
	Models []string `json:"models,omitempty"`
}

// Answered is the model an agent's word is that of; empty when none answered, or several did and nobody knows which said what.
func (r AgentReceipt) Answered() string {
	switch len(r.Usage.Models) {
	case 0:
		return r.Model
	case 1:
		return r.Usage.Models[0]
	}
	return ""
}
