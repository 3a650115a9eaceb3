package review

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Converged Outcome = "converged"
	// StaticOnly: rules alone looked, no model and no foreign agent. It never approves, whatever they found.
	StaticOnly       Outcome = "static_only"
	ChangesRequested Outcome = "changes_requested"
	Stuck            Outcome = "stuck"
	// SetAside: nothing is left but a P0 or P1 that prloop set aside. Whether it is real is for a person to say.
	SetAside    Outcome = "set_aside"
	Diverging   Outcome = "diverging"
	Budget      Outcome = "budget"
	Partial     Outcome = "partial"
	NotReviewed Outcome = "not_reviewed"
	Superseded  Outcome = "superseded"
	Failed      Outcome = "failed"
)
