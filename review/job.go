package review

import "time"

// JobTerms are what a scheduled job may change (spec.md C4).
type JobTerms struct {
	// Include and Exclude are the write scope: globs of the paths that may change. Without Include all may that Exclude does not name.
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	// MaxFiles and MaxDiffLines bound the pull request as a whole; 0 is no bound but the push policy's.
	MaxFiles     int `json:"maxFiles,omitempty"`
	MaxDiffLines int `json:"maxDiffLines,omitempty"`
}

// JobOrder is one command of a scheduled job.
type JobOrder struct {
	Run, Job string
	// Command is its id, Number its place in the job, from 1.
	Command string
	Number  int
	// Head is the default branch's commit, which the pull request is compared with; From is where the command starts: Head, or a commit
	// that has it and what the job's pull request holds already. Both are full object ids.
	Head, From string
	Task       Task
	Terms      JobTerms
	// Guidance is that of a FixOrder.
	Guidance []string
	// At is the author and committer date of every commit, as that of a FixOrder.
	At time.Time
}

// JobWork is what one command of a scheduled job came to. It holds only what JSON can carry, so that a durable engine can store it.
type JobWork struct {
	// Answer holds the findings that stand: neither their evidence is false, nor did the work settle them.
	Answer Answer `json:"answer"`
	// Unverified are findings that are set aside, and why. Settled are those whose code the work itself changed.
	Unverified []Unverified `json:"unverified,omitempty"`
	Settled    []Finding    `json:"settled,omitempty"`
	// Tip is the commit that may be pushed; empty when nothing was committed, the command gave no answer, or it did what a rule refuses.
	Tip     string      `json:"tip,omitempty"`
	Commits []FixCommit `json:"commits,omitempty"`
	// Pull is what the command wants to be a pull request; nil when it did not ask for one.
	Pull *PullWish `json:"pull,omitempty"`
	// Refusals are the rules that the work breaks. With one of them there is no Tip.
	Refusals []Refusal `json:"refusals,omitempty"`
	// Files and Lines are how much the pull request would change, refused work included.
	Files int `json:"files"`
	Lines int `json:"lines"`
	// Uncommitted are how many files the command changed and did not commit.
	Uncommitted int `json:"uncommitted,omitempty"`
	// Notes say what a reader of the report should know.
	Notes []string `json:"notes,omitempty"`
}

// PullWish is what an agent wants a pull request to say. It is data until prloop has checked it.
type PullWish struct {
	// Title is one line, Body Markdown.
	Title string `json:"title"`
	Body  string `json:"body"`
	// Branch is the name of the branch; empty for the job's own.
	Branch string `json:"branch,omitempty"`
}
