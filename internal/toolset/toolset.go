// Package toolset says which tools the agent of a command has (spec.md C5): a pure function of where the command runs and of
// what the allowlists say. A tool that is not named here does not exist for the agent.
package toolset

import (
	"slices"

	"github.com/prloop/prloop/review"
)

// Places are all of them, in the order of the documentation.
func Places() []review.Place {
	return []review.Place{review.PlaceReview, review.PlaceComment, review.PlaceLocal, review.PlaceSchedule}
}

// The names of the tools.
const (
	Read      = "read"
	Grep      = "grep"
	Find      = "find"
	Ls        = "ls"
	TodoWrite = "todowrite"
	TodoRead  = "todoread"

	GetDiff         = "get_diff"
	GetChangedFiles = "get_changed_files"
	GitLog          = "git_log"
	GitDiffRange    = "git_diff_range"

	GetPRInfo    = "get_pr_info"
	ListComments = "list_comments"
	ListThreads  = "list_threads"
	WishComment  = "comment"
	Suggest      = "suggest"
	PostSummary  = "post_summary"

	Write         = "write"
	Edit          = "edit"
	Delete        = "delete"
	CommitChanges = "commit_changes"
	PushPR        = "push_pr"
)

// The categories, by the shorter of their spellings.
const (
	Filesystem  = "filesystem"
	GitRead     = "git.read"
	GitHistory  = "git.history"
	GitHubRead  = "github.read"
	GitHubWrite = "github.write"
	GitHubPR    = "github.pr"
	RepoWrite   = "repo.write"
	Subagent    = "agent.subagent"
)

// category is what an allowlist names.
type category struct {
	name string
	// also is the other spelling in use (decision 12).
	also  string
	tools []string
	// places are where its tools make sense: those about a pull request only where there is one, those that write only
	// where nothing but the maintenance of the repository is asked for.
	places []review.Place
}

var categories = []category{
	{Filesystem, "", []string{Read, Grep, Find, Ls}, Places()},
	{GitRead, "", []string{GetDiff, GetChangedFiles}, []review.Place{review.PlaceReview, review.PlaceComment, review.PlaceLocal}},
	{GitHistory, "", []string{GitLog, GitDiffRange}, Places()},
	{GitHubRead, "github.pr.read", []string{GetPRInfo, ListComments, ListThreads}, []review.Place{review.PlaceReview, review.PlaceComment}},
	{GitHubWrite, "github.pr.feedback", []string{WishComment, Suggest, PostSummary}, []review.Place{review.PlaceReview, review.PlaceComment}},
	{GitHubPR, "github.pr.manage", []string{CommitChanges, PushPR}, []review.Place{review.PlaceSchedule}},
	{RepoWrite, "", []string{Write, Edit, Delete}, []review.Place{review.PlaceSchedule}},
	{Subagent, "", nil, nil}, // known, without a tool (decision 47)
}

// free are the tools that need no permission: an agent's notes to itself.
var free = []string{TodoWrite, TodoRead}

// Spellings are the words an allowlist may hold.
func Spellings() []string {
	var all []string
	for _, c := range categories {
		all = append(all, c.name)
		if c.also != "" {
			all = append(all, c.also)
		}
	}
	return all
}

// Allowed are the categories that every one of the allowlists names, each by its shorter spelling, in a fixed order. A nil list
// allows all, an empty one none.
func Allowed(lists ...[]string) []string {
	all := []string{}
	for _, c := range categories {
		refused := func(list []string) bool {
			return list != nil && !slices.Contains(list, c.name) && (c.also == "" || !slices.Contains(list, c.also))
		}
		if !slices.ContainsFunc(lists, refused) {
			all = append(all, c.name)
		}
	}
	return all
}

// Names are the tools of a command at a place, in a fixed order. The allowlists are those of Allowed.
func Names(at review.Place, lists ...[]string) []string {
	allowed := Allowed(lists...)
	all := []string{}
	for _, c := range categories {
		if slices.Contains(allowed, c.name) && slices.Contains(c.places, at) {
			all = append(all, c.tools...)
		}
	}
	return append(all, free...)
}
