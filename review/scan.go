package review

// Complexity is how much there is to a change, as a scout sees it.
type Complexity string

// The complexities.
const (
	TrivialChange Complexity = "trivial"
	SimpleChange  Complexity = "simple"
	ComplexChange Complexity = "complex"
)

// ScanVerdict is what a scout makes of a change.
type ScanVerdict string

// The verdicts of a quick scan.
const (
	// LooksGood: the scout saw nothing that a reviewer has to look at.
	LooksGood ScanVerdict = "lgtm"
	// Flag: somebody should look closer.
	Flag ScanVerdict = "flag"
)

// ScoutResult is what a scout answers: one look at the whole diff.
type ScoutResult struct {
	Complexity Complexity  `json:"complexity" jsonschema:"enum=trivial,enum=simple,enum=complex"`
	Verdict    ScanVerdict `json:"verdict" jsonschema:"enum=lgtm,enum=flag"`
	// Observations are what the scout noticed, whatever its verdict is.
	Observations []Observation `json:"observations"`
	// Reasons are one sentence each: why the complexity and the verdict are what they are.
	Reasons []string `json:"reasons"`
}

// Observation is one thing a scout noticed. Nothing is decided by it.
type Observation struct {
	// Tag is a word or two of the scout's own choice, such as "migration": there is no list of tags.
	Tag  string `json:"tag"`
	Text string `json:"text"`
	// File is spelled as in the request; empty when the observation is about none. Line is that of the head version.
	File string `json:"file,omitempty"`
	Line *int   `json:"line,omitempty"`
}

// Scan is a quick scan of a run: what the scout said, and what came of it.
type Scan struct {
	// Complexity and Verdict are the scout's; empty when it gave no complete answer.
	Complexity Complexity  `json:"complexity,omitempty"`
	Verdict    ScanVerdict `json:"verdict,omitempty"`
	// Observations and Reasons are the scout's words.
	Observations []Observation `json:"observations"`
	Reasons      []string      `json:"reasons"`
	// Standing is what keeps the pull request from passing by a scan, whatever the scout said: what people, or an earlier review, ask for.
	Standing []string `json:"standing,omitempty"`
	// Comment is the URL of its comment; empty when none was posted.
	Comment string `json:"comment,omitempty"`
	// Escalated says why a full review followed; empty when none did.
	Escalated string `json:"escalated,omitempty"`
}
