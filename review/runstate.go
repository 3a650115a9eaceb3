package review

import "time"

// RunState is what prloop remembers of its threads on a pull request, as the tool github_get_run_state gives it (spec.md D4.2). What people said
// in it is data.
type RunState struct {
	Threads []ThreadState `json:"threads"`
}

// ThreadState is one thread.
type ThreadState struct {
	ID   string `json:"id"`
	File string `json:"file"`
	// Line is 0 when the thread is outdated.
	Line int `json:"line"`
	// Status is PENDING, RESOLVED, DISPUTED or ESCALATED.
	Status     string           `json:"status"`
	Score      int              `json:"score"`
	Assessment ThreadAssessment `json:"assessment"`
	// DeveloperReplies are what people answered, oldest first.
	DeveloperReplies []ThreadReply `json:"developer_replies,omitempty"`
}

// ThreadAssessment is what a thread was opened for.
type ThreadAssessment struct {
	Finding    string `json:"finding"`
	Assessment string `json:"assessment"`
	Score      int    `json:"score"`
}

// ThreadReply is what somebody answered in a thread.
type ThreadReply struct {
	Author    string    `json:"author"`
	Body      string    `json:"body"`
	Timestamp time.Time `json:"timestamp"`
}
