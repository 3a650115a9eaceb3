package review

import (
	"cmp"
	"time"
)

// Verdict is the consensus of one round with its reasons (spec.md A6).
type Verdict struct {
	Consensus Conclusion `json:"consensus"`
	// Issues counts every finding of every reviewer and of the comments analyzer, undeduplicated.
	Issues Counts `json:"issues"`
	// Distinct is the number of findings left when those that are the same one are counted once.
	Distinct int `json:"distinct"`
	// Rules are the numbers of all matching rules (0-4), the deciding one first, the others ascending.
	Rules []int `json:"rules"`
	// Reasons is one sentence for each rule in Rules.
	Reasons []string `json:"reasons"`
}

// Receipt is the proof of review that closes every report: what was handed to whom, what was left out and
// why, who answered, and what it cost.
type Receipt struct {
	ReviewID      string    `json:"reviewId"`
	PromptVersion string    `json:"promptVersion"`
	BaseSHA       string    `json:"baseSha"`
	MergeBaseSHA  string    `json:"mergeBaseSha"`
	HeadSHA       string    `json:"headSha"`
	Files         int       `json:"files"`
	Hunks         int       `json:"hunks"`
	FilesGiven    int       `json:"filesGiven"`
	HunksGiven    int       `json:"hunksGiven"`
	LeftOut       []LeftOut `json:"leftOut"`
	// FilesReviewed is how many files enough complete reviewers were given whole; ReviewResult names them.
	FilesReviewed int            `json:"filesReviewed"`
	Agents        []AgentReceipt `json:"agents"`
	// MinReviewers is how many complete reviewers a verdict needed; Complete how many there were. `static` counts only where
	// nobody else took part.
	MinReviewers int      `json:"minReviewers"`
	Complete     int      `json:"complete"`
	Status       string   `json:"status"`
	Warnings     []string `json:"warnings"`
	// Static is true when no model took part: the report says so in its first line.
	Static bool `json:"static,omitempty"`
	// Isolation is the sandbox tier agents ran in, in words.
	Isolation string `json:"isolation,omitempty"`
	// Config says where the repository's configuration came from, in words.
	Config string `json:"config,omitempty"`
	// Calibration says by which table probabilities were weighed, in words; empty where none is configured.
	Calibration string `json:"calibration,omitempty"`
	// Masked is how many different values that look like secrets were masked in what agents read.
	Masked int `json:"masked,omitempty"`
	// ReviewsRead tells the reviews of people that stood when the pull request was read from those that stand later; empty when none did.
	ReviewsRead string `json:"reviewsRead,omitempty"`
	// ThreadsRead tells what people who may block said in threads when they were read from what they say later; empty where nobody read them.
	ThreadsRead string `json:"threadsRead,omitempty"`
	// LabelsRead tells which labels of the gate stood when the pull request was read, and by which events, from what stands later, and after a space the same of labels that
	// ask for a full review; `none` where none was ever set.
	LabelsRead string `json:"labelsRead,omitempty"`
	// Objected are the objections of people in threads that were open, as the markers of reports keep them for later runs; `none` where none is left of those before.
	Objected []string `json:"objected,omitempty"`
	// Found is what a finder brought to the review; nil where nobody looked.
	Found *Found `json:"found,omitempty"`
}

// Nothing reports whether there was nothing in the change that a reviewer could be given: nobody was asked.
func (r Receipt) Nothing() bool { return r.FilesGiven == 0 && len(r.Agents) == 0 }

// LeftOut is one file that too few complete reviewers were given whole, and why.
type LeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	// Excused is true when the file may go unread for that reason; any other keeps the run from approving.
	Excused bool `json:"excused,omitempty"`
}

// AgentReceipt is one agent's line of the receipt.
type AgentReceipt struct {
	Name  string     `json:"name"`
	Role  Role       `json:"role"`
	Kind  string     `json:"kind"` // one of the Kind constants
	Model string     `json:"model,omitempty"`
	State AgentState `json:"state"`
	// Reason says why it is not complete, in prloop's own words alone: everybody may read it. Empty when it is complete.
	Reason string `json:"reason,omitempty"`
	// Detail is all of the reason, for the operator alone: it may name endpoints, programs and files, and repeat what they say (threats.md T681). Empty
	// when Reason is all there is.
	Detail string `json:"operatorDetail,omitempty"`
	// Next is what the operator may do about it, in prloop's own words; Detail ends with it. Empty when prloop knows nothing.
	Next string `json:"operatorNext,omitempty"`
	// OutOf names the budget that cut the agent short, such as wall time or cost; empty when none did.
	OutOf      string `json:"outOf,omitempty"`
	FilesGiven int    `json:"filesGiven"`
	HunksGiven int    `json:"hunksGiven"`
	Findings   int    `json:"findings"`
	// Grave is how many of them are P0, P1 or about security.
	Grave int `json:"grave,omitempty"`
	// Omitted is how many more it found than the limit on findings let it report.
	Omitted int `json:"omitted,omitempty"`
	// Unheard is true of a complete answer whose silence settles nothing: something of the change went unread, or the agent was not given all that it was asked about, or found more than it may report.
	Unheard  bool    `json:"unheard,omitempty"`
	Attempts int     `json:"attempts"`
	Seconds  float64 `json:"seconds"`
	Usage    Usage   `json:"usage"`
	// Notes are oddities of the answer: unknown fields dropped, counts corrected.
	Notes []string `json:"notes,omitempty"`
}

// Whole is why the agent is not complete, as the operator reads it.
func (r AgentReceipt) Whole() string { return cmp.Or(r.Detail, r.Reason) }

// RunResult is what `prloop run --json` prints and what review.json holds.
type RunResult struct {
	Run       string  `json:"run"`
	Target    Target  `json:"target"`
	URL       string  `json:"url,omitempty"`
	Outcome   Outcome `json:"outcome"`
	Reason    string  `json:"reason"`
	Round     int     `json:"round"`
	Consensus *string `json:"consensus"`
	Rules     []int   `json:"rules"`
	Issues    Counts  `json:"issues"`
	Distinct  int     `json:"distinct"`
	// DistinctIssues counts the distinct findings that count, each once under its gravest wording: what reports and terminals say.
	DistinctIssues Counts    `json:"distinctIssues"`
	Findings       []Finding `json:"findings"`
	// Groups are the distinct findings, in the order of their first wordings in Findings.
	Groups []Group `json:"groups"`
	// Unsupported is how many of Findings fewer reviewers raised than consensus.min_support asks for; they are not counted
	// in Issues and Distinct (decision 19).
	Unsupported int `json:"unsupported,omitempty"`
	// NotTaken is how many of Findings the rule of consensus.rule leaves out; they are not counted either (decision 39).
	NotTaken int `json:"notTaken,omitempty"`
	// Unverified are findings that were set aside: their evidence was checked and is false, the reviewer that raised them did not
	// confirm them, or the verifier refuted them. They are not counted, and a P0 or P1 among them keeps the run from approving.
	Unverified []Unverified `json:"unverified"`
	// Dismissed are findings that people dismissed: listed, and counted nowhere (decision 45). DismissalNotes say which dismissals do
	// nothing, and why.
	Dismissed      []Dismissed `json:"dismissed,omitempty"`
	DismissalNotes []string    `json:"dismissalNotes,omitempty"`
	Receipt        Receipt     `json:"receipt"`
	// Objected is true when a person who may block requests changes, or says of something that it is a P0 or a P1 and nobody has settled that, or when not all that
	// people say was read.
	Objected bool `json:"objected,omitempty"`
	// Review is the last round's review as other tools read it; nil when nothing was judged.
	Review *ReviewResult `json:"review,omitempty"`
	// Stuck are the findings that came back after the fixer had reported them fixed; they stand in Findings too.
	Stuck []Finding `json:"stuck"`
	// Fates say what became of each distinct finding of all rounds; empty while the run goes on.
	Fates []FindingFate `json:"fates,omitempty"`
	// Rounds is how the run went, in order.
	Rounds []RoundResult `json:"rounds"`
	// Comments are the URLs of what was posted, in order.
	Comments []string `json:"comments"`
	// Answers are own comments of commands: those of Comments, or what they would be where nothing is posted.
	Answers []CommandComment `json:"answers,omitempty"`
	// Command is the id of the command that was all this run did; empty for a review.
	Command string `json:"command,omitempty"`
	// Scan is the quick scan of the run; nil when there was none (decision 71).
	Scan *Scan `json:"scan,omitempty"`
	// Gate is what the commit status says of the run; nil where none is set (decision 52).
	Gate *Gate `json:"gate,omitempty"`
	// Again is the earlier run that came to this verdict at the same commit; nobody was asked and nothing was posted. Empty otherwise.
	Again string `json:"again,omitempty"`
	// Refused is true where the run would have let the change pass, and one that is not on record here refused the same commit meanwhile: the word is that one's.
	Refused   bool      `json:"refused,omitempty"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Artifacts string    `json:"artifacts,omitempty"`
}

// Group is one distinct finding: all that say the same.
type Group struct {
	// Findings are their places in RunResult.Findings, the gravest wording first.
	Findings []int `json:"findings"`
	// ID is its identity, 16 hex digits; empty in results of before.
	ID string `json:"id,omitempty"`
	// Counts is true when it counts for the verdict; Stuck when it was reported fixed and came back.
	Counts bool `json:"counts"`
	Stuck  bool `json:"stuck,omitempty"`
}

// Unverified is a finding that was set aside, and why.
type Unverified struct {
	Finding Finding `json:"finding"`
	Reason  string  `json:"reason"`
}

// Dismissed is a distinct finding that somebody dismissed.
type Dismissed struct {
	// ID is its identity, Finding its gravest wording.
	ID      string  `json:"id"`
	Finding Finding `json:"finding"`
	// By is who dismissed it, as the dismissal says, empty where a comment in the code did; Until the last day it holds.
	By    string `json:"by,omitempty"`
	Why   string `json:"why"`
	Until string `json:"until,omitempty"`
	// File and Line are where the dismissal is written. MergedBy is who merged it, where that had to be proven.
	File     string `json:"file"`
	Line     int    `json:"line"`
	MergedBy string `json:"mergedBy,omitempty"`
	// Thread is the address of the thread in which the finding was settled; By is then who settled it, and File and Line are where it stands.
	Thread string `json:"thread,omitempty"`
}
