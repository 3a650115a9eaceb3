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

// ExitStatus is the process exit status of the run. Documented and never renumbered.
func (r RunResult) ExitStatus() int {
	if r.Outcome == StaticOnly && r.Consensus != nil {
		return ChangesRequested.ExitStatus()
	}
	return r.Outcome.ExitStatus()
}

// ExitStatus is the process exit status for the outcome where that alone decides it: of StaticOnly, when it is clean.
func (o Outcome) ExitStatus() int {
	switch o {
	case Converged:
		return 0
	case ChangesRequested:
		return 3
	case Stuck, Diverging, SetAside:
		return 4
	case Budget:
		return 5
	case Partial, NotReviewed:
		return 6
	case Superseded:
		return 7
	case StaticOnly:
		return 8
	}
	return 1
}
