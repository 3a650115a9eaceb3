package review

// Fate is what became of a finding by the end of its run.
type Fate string

// The fates.
const (
	// FateFixed: the fixer reported it fixed, and whoever raised it looked again and did not raise it any more.
	FateFixed Fate = "fixed"
	// FateClaimed: the fixer reported it fixed, and who raised it has not looked since.
	FateClaimed Fate = "claimed"
	// FateRejected: the fixer rejected it, and whoever raised it looked again and did not raise it any more.
	FateRejected Fate = "rejected"
	// FateDisputed: the fixer rejected it, and it was raised again, or who raised it has not looked since.
	FateDisputed Fate = "disputed"
	// FateStuck: it came back after it was reported fixed.
	FateStuck Fate = "stuck"
	// FateResolved: people settled what a person had raised.
	FateResolved Fate = "resolved"
	// FateGone: it was not raised again, and nobody says that it was fixed.
	FateGone Fate = "gone"
	// FateOpen: it is there, and nobody says otherwise.
	FateOpen Fate = "open"
	// FateRefuted: the verifier refuted it.
	FateRefuted Fate = "refuted"
	// FateUnproven: it was set aside for its evidence, or by who raised it.
	FateUnproven Fate = "unproven"
)

// Fates are all of them, the settled ones first.
func Fates() []Fate {
	return []Fate{FateFixed, FateClaimed, FateRejected, FateDisputed, FateStuck, FateResolved, FateGone, FateOpen, FateRefuted, FateUnproven}
}

// FindingFate is one distinct finding of a run and what became of it. It holds none of its words.
type FindingFate struct {
	Fate Fate `json:"fate"`
	// Priority is that of its gravest wording in any round, Category that of this wording.
	Priority Priority `json:"priority"`
	Category string   `json:"category"`
	// First and Last are the rounds in which it was raised.
	First int `json:"first"`
	Last  int `json:"last"`
	// Counted is true when it counted for a verdict, Prominent when it stood in the open part of a report or among what is stuck.
	Counted   bool `json:"counted,omitempty"`
	Prominent bool `json:"prominent,omitempty"`
	// By are the reviewers that raised it, sorted. Person is true when a person did.
	By     []Voice `json:"by"`
	Person bool    `json:"person,omitempty"`
	// Probability is what the verifier gave it last, VerifiedBy the verifier's model; nil and empty where nobody knows.
	Probability *float64 `json:"probability,omitempty"`
	VerifiedBy  string   `json:"verifiedBy,omitempty"`
}

// Voice is a reviewer that raised a finding, with the confidence it gave first.
type Voice struct {
	Name string `json:"name"`
	// Model is the one that answered; empty when none did or several.
	Model      string   `json:"model,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
}
