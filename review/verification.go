package review

// VerifyPayload is what the verifier is asked: the distinct findings of a round, each under an id of its own, most urgent first.
type VerifyPayload struct {
	Findings []Finding `json:"findings"`
	// LookBelow is the confidence below which a finding is to be looked up, however plausible it reads (spec.md R8).
	LookBelow float64 `json:"lookBelow,omitempty"`
	// StrongerBelow is the confidence below which a P0 or P1 that stays plausible is put to the stronger model (spec.md R4).
	StrongerBelow float64 `json:"escalateBelow,omitempty"`
	// ExtraFiles is how many files beside the changed ones may be read for each finding, ExtraLines how many lines of each (spec.md R8).
	ExtraFiles int `json:"extraFiles,omitempty"`
	ExtraLines int `json:"extraLines,omitempty"`
	// Disputes is what was said about Findings in their threads, one entry for each. The verifier is then a judge of what people say
	// against findings (docs/threads.md), and gives a ruling on each.
	Disputes []Dispute `json:"disputes,omitempty"`
}

// Dispute is what people said about a finding in its thread, oldest first. Their words are data, and no order to anybody.
type Dispute struct {
	FindingID string   `json:"findingId"`
	Said      []Remark `json:"said"`
}

// Remark is what one said in a thread: "author" for the author of the pull request, "developer" for somebody else who may write to the
// repository, "prloop" for prloop.
type Remark struct {
	By   string `json:"by"`
	Body string `json:"body"`
}

// VerifierResult is what the verifier answers: it tried to refute each finding it was asked about.
type VerifierResult struct {
	Agent       string       `json:"agent"`
	PRNumber    int          `json:"prNumber" jsonschema:"minimum=0"`
	Assessments []Assessment `json:"assessments"`
	// FullReport is Markdown without full diffs.
	FullReport string `json:"fullReport"`
}

// Assessment is what the verifier says of one finding. A finding carries it once prloop has checked its fact.
type Assessment struct {
	// FindingID is the id the finding was asked about under.
	FindingID string           `json:"findingId"`
	Status    AssessmentStatus `json:"status" jsonschema:"enum=confirmed,enum=plausible,enum=refuted,enum=duplicate"`
	// Reason is one or two sentences: what the fact shows.
	Reason string `json:"reason"`
	// Fact is code that proves or contradicts the finding. A refutation counts with one that stands in the file alone (decision 38).
	Fact *Fact `json:"fact,omitempty"`
	// DuplicateOf is the id of the finding that says the same.
	DuplicateOf string `json:"duplicateOf,omitempty"`
	// Introduced is false when the problem was there before this change and is no worse by it; nil when that is not known.
	Introduced *bool `json:"introduced,omitempty"`
	// Probability is how likely a maintainer fixes the problem before the merge, 0.0-1.0; nil when the verifier gave none.
	Probability *float64 `json:"probability,omitempty" jsonschema:"minimum=0,maximum=1"`
	// Importance is the weight against the other findings, 1-100; 0 means none was given.
	Importance int `json:"importance,omitempty" jsonschema:"minimum=1,maximum=100"`
	// Ruling is what a judge says of a disputed finding; empty of every other. Risk is what may happen until a later pull request fixes it,
	// given with RulingLater.
	Ruling Ruling `json:"ruling,omitempty" jsonschema:"enum=conceded,enum=later,enum=maintained,enum=none"`
	Risk   Risk   `json:"risk,omitempty" jsonschema:"enum=none,enum=data_loss,enum=leak,enum=outage"`
}

// Ruling is what a judge says of a dispute.
type Ruling string

// The rulings.
const (
	// RulingConceded: the finding does not hold, and a fact shows it.
	RulingConceded Ruling = "conceded"
	// RulingLater: it holds, and may be left to a later pull request.
	RulingLater Ruling = "later"
	// RulingMaintained: it holds, and what was said against it is wrong.
	RulingMaintained Ruling = "maintained"
	// RulingNone: nobody said anything against it.
	RulingNone Ruling = "none"
)

// Risk is what may happen while a finding waits.
type Risk string

// The risks.
const (
	RiskNone     Risk = "none"
	RiskDataLoss Risk = "data_loss"
	RiskLeak     Risk = "leak"
	RiskOutage   Risk = "outage"
)

// Fact is code at a place, as the reviewed commit has it.
type Fact struct {
	// File is slash-separated and relative to the repository root. It need not be a changed one.
	File string `json:"file"`
	// Line is 1-based in the head version of File; nil when it is not known.
	Line *int `json:"line"`
	// Evidence is quoted from File; it must stand there, white space folded.
	Evidence string `json:"evidence"`
}

// AssessmentStatus is what became of an attempt to refute a finding.
type AssessmentStatus string

// The four.
const (
	Confirmed AssessmentStatus = "confirmed"
	Plausible AssessmentStatus = "plausible"
	Refuted   AssessmentStatus = "refuted"
	Duplicate AssessmentStatus = "duplicate"
)
