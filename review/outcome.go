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
	// Answered: a command that was run by itself gave its answer, and nothing in it has to be fixed. It is no verdict on the change.
	Answered Outcome = "answered"
	// LGTM: a quick scan saw every changed line and nothing to look at closer. It is no review. Flagged: somebody should look closer.
	LGTM    Outcome = "lgtm"
	Flagged Outcome = "flagged"
)

// The outcomes of scheduled jobs, beside Partial, Superseded and Failed.
const (
	// Opened: a pull request was opened. Updated: the one that was open was.
	Opened  Outcome = "opened"
	Updated Outcome = "updated"
	// NothingToDo: nothing was committed, or nobody asked for a pull request of it.
	NothingToDo Outcome = "nothing_to_do"
	// Refused: a rule, or the server, does not let the work through. A person has to look.
	Refused Outcome = "refused"
)
