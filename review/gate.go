package review

import "time"

// GateState is a state of a commit status, in GitHub's words.
type GateState string

// The states.
const (
	GatePending GateState = "pending"
	GateSuccess GateState = "success"
	GateFailure GateState = "failure"
	GateError   GateState = "error"
)

// Gate is what the commit status says of a run, and why (decision 52).
type Gate struct {
	// Policy is the repository's, Effective the one that holds for this pull request with its labels.
	Policy      string    `json:"policy"`
	Effective   string    `json:"effective"`
	State       GateState `json:"state"`
	Description string    `json:"description"`
	// Trivial is true when the change is so by rule and all of it was reviewed.
	Trivial bool `json:"trivial"`
	// Labels are those of the gate that stand on the pull request.
	Labels []GateLabel `json:"labels,omitempty"`
	// Missing says why the status could not be set; empty when it could.
	Missing string `json:"missing,omitempty"`
}

// GateLabel is a label that changes the gate, or is refused.
type GateLabel struct {
	Name string    `json:"name"`
	By   string    `json:"by,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Refused says why it does not count; empty when it does.
	Refused string `json:"refused,omitempty"`
}
