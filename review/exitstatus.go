package review

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
	case Converged, Answered, LGTM, Opened, Updated, NothingToDo:
		return 0
	case ChangesRequested, Flagged:
		return 3
	case Stuck, Diverging, SetAside, Refused:
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
