package review

import (
	"encoding/json"
	"strings"
)

// CommandResult is what a command of `.reviewerc` answers (spec.md C1): the one contract of all commands.
type CommandResult struct {
	// Summary is a short overview in Markdown.
	Summary  string           `json:"summary"`
	Findings []CommandFinding `json:"findings"`
	// Notes are observations that block nothing.
	Notes []string `json:"notes"`
	// Confidence is how sure the agent is of the whole.
	Confidence Confidence `json:"confidence" jsonschema:"enum=low,enum=medium,enum=high"`
	// Wishes are what the agent would have written on the pull request; prloop checks them and carries them out. They count only where
	// the command may use the tools of github.write.
	Wishes []Wish `json:"wishes,omitempty"`
}

// CommandFinding is one finding in the words of custom prompts (spec.md C1).
type CommandFinding struct {
	// Title is one line.
	Title string `json:"title"`
	// Severity is that of the severity table; it decides the priority, P0 for critical to P3 for low.
	Severity string `json:"severity" jsonschema:"enum=critical,enum=high,enum=medium,enum=low"`
	// Location is where it is; nil when it is about no file. A text such as "docs/usage.md:12" is read too.
	Location *Location `json:"location,omitempty"`
	// Details say why it is a problem. Markdown.
	Details string `json:"details"`
	// Suggestion says what to do about it. Markdown; never a block GitHub could commit.
	Suggestion string `json:"suggestion,omitempty"`
	// Evidence is code quoted from the file, if any is. It must stand in that file at the reviewed commit, white space folded.
	Evidence string `json:"evidence,omitempty"`
	// Unconfirmed is why the agent itself does not stand by the finding, as that of Finding.
	Unconfirmed string `json:"unconfirmed,omitempty"`
}

// Location is a place in a file.
type Location struct {
	// File is slash-separated and relative to the repository root.
	File string `json:"file"`
	// Line is 1-based in the head version of File; nil when it is not known. LineEnd is the last line of a range, nil for one line.
	Line    *int `json:"line,omitempty"`
	LineEnd *int `json:"lineEnd,omitempty"`
}

// Confidence is how sure an agent is of what it says.
type Confidence string

// The three.
const (
	LowConfidence    Confidence = "low"
	MediumConfidence Confidence = "medium"
	HighConfidence   Confidence = "high"
)

// WishKind is what an agent would have written on the pull request, or in a scheduled job on the repository.
type WishKind string

// The kinds, named as the tools of github.write and of github.pr.
const (
	WishComment     WishKind = "comment"
	WishSuggest     WishKind = "suggest"
	WishPostSummary WishKind = "post_summary"
	WishCommit      WishKind = "commit_changes"
	WishPush        WishKind = "push_pr"
)

// Wish is one thing an agent would have written. It is data until prloop has checked it.
type Wish struct {
	Kind WishKind `json:"kind" jsonschema:"enum=comment,enum=suggest,enum=post_summary,enum=commit_changes,enum=push_pr"`
	// Body is Markdown; of commit_changes the message.
	Body string `json:"body"`
	// Paths are, for commit_changes, the files and folders whose changes are committed; without them all are.
	Paths []string `json:"paths,omitempty"`
	// Title is, for push_pr, that of the pull request, Branch the name of its branch; without one it is the job's own.
	Title  string `json:"title,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Location is where a comment or a suggestion belongs; nil for the pull request as a whole.
	Location *Location `json:"location,omitempty"`
}

// CommandAnswer is a command's answer in prloop's own shape: its findings are findings as those of reviewers.
type CommandAnswer struct {
	Summary    string     `json:"summary"`
	Findings   []Finding  `json:"findings"`
	Notes      []string   `json:"notes,omitempty"`
	Confidence Confidence `json:"confidence,omitempty"`
	Wishes     []Wish     `json:"wishes,omitempty"`
}

// CommandTask is what the agent of a command is told beside the prompt of its task.
type CommandTask struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// Args is the raw text behind the command, Argv the same split at white space, with quoted texts whole. Whoever asked wrote them.
	Args string   `json:"args,omitempty"`
	Argv []string `json:"argv,omitempty"`
	// Format is findings, narrative or checklist; empty is findings.
	Format string `json:"format,omitempty"`
	// Place is where the command runs, Tools are the names of the tools it has there: no other exists for it.
	Place Place    `json:"place,omitempty"`
	Tools []string `json:"tools,omitempty"`
	// Terms are what a scheduled job may change; nil elsewhere.
	Terms *JobTerms `json:"terms,omitempty"`
}

// ArgvText is Argv as a JSON list, such as ["last 48 hours","--scope","docs/"].
func (c CommandTask) ArgvText() (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	argv := c.Argv
	if argv == nil {
		argv = []string{}
	}
	err := enc.Encode(argv)
	return strings.TrimRight(b.String(), "\n"), err
}

// Place is where a command runs.
type Place string

// The places.
const (
	// PlaceReview: on a pull request, beside the reviewers or alone. PlaceComment: a comment asked for it. PlaceLocal: on a change that is no
	// pull request.
	PlaceReview  Place = "review"
	PlaceComment Place = "comment"
	PlaceLocal   Place = "local"
	// PlaceSchedule: in a scheduled job, which has no pull request.
	PlaceSchedule Place = "schedule"
)

// OutputMode is where the answer of a command goes (spec.md C1).
type OutputMode string

// The modes.
const (
	// FeedMain: a section of the main report, whose findings count for the verdict. SeparateComment: a comment of its own. FeedBoth: both.
	FeedMain        OutputMode = "feed_main"
	SeparateComment OutputMode = "separate_comment"
	FeedBoth        OutputMode = "both"
)

// CommentType is of what kind a command's own comment is (spec.md C1).
type CommentType string

// The types.
const (
	// IssueComment: on the pull request as a whole. LineComments: on lines. BothComments: on lines, and a summary on the pull request.
	IssueComment CommentType = "issue"
	LineComments CommentType = "review"
	BothComments CommentType = "both"
)

// CommandComment is a comment that a command's answer has of its own.
type CommandComment struct {
	Command string `json:"command"`
	// URL is empty where nothing is posted, and Text is the comment there, in Markdown.
	URL  string `json:"url"`
	Text string `json:"text,omitempty"`
}

// PriorityOfSeverity maps a severity of the one table to its priority.
func PriorityOfSeverity(severity string) (Priority, bool) {
	for _, l := range Levels() {
		if l.Severity == severity {
			return l.Priority, true
		}
	}
	return "", false
}
