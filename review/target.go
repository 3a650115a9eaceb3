package review

import (
	"fmt"
	"strings"
	"time"
)

// Repo names a repository on a GitHub host.
type Repo struct {
	// Host is the web host, github.com or a GitHub Enterprise Server host.
	Host  string `json:"host,omitempty"`
	Owner string `json:"owner,omitempty"`
	Name  string `json:"name,omitempty"`
}

// String gives owner/name, or host/owner/name away from github.com; empty for a local range without a GitHub remote.
func (r Repo) String() string {
	switch {
	case r.Owner == "":
		return ""
	case r.Host == "" || r.Host == "github.com":
		return r.Owner + "/" + r.Name
	}
	return r.Host + "/" + r.Owner + "/" + r.Name
}

// RepoKey is GitHub's host and number of a repository, such as github.com/5. It stays when the repository is renamed, and whoever takes
// over the name has another. It is empty when GitHub did not tell the number, and equals nothing then.
type RepoKey string

// Key is the key of the repository that has the number.
func (r Repo) Key(number int64) RepoKey {
	if number <= 0 || r.Owner == "" {
		return ""
	}
	host := r.Host
	if host == "" {
		host = "github.com"
	}
	return RepoKey(fmt.Sprintf("%s/%d", strings.ToLower(host), number))
}

// Target is what a run works on: a pull request, a repository's default branch when it is a scheduled Job, or else a local range.
type Target struct {
	// Repo is left out for a local range, which may belong to no repository on GitHub.
	Repo Repo `json:"repo,omitzero"`
	// PR is the pull request's number; 0, and left out, for all others.
	PR int `json:"pr,omitempty"`
	// Job is the id of a scheduled job.
	Job string `json:"job,omitempty"`
	// Base is, for a local range, the revision the range starts from as the person typed it.
	Base string `json:"base,omitempty"`
	// Change says which local change it is other than the range since Base. Commit is then the object id of the commit that has it
	// on top of its first parent.
	Change Change `json:"change,omitempty"`
	Commit string `json:"commit,omitempty"`
}

// EmptyTree is git's name of the tree without files. As the Base of a local range it makes all files new.
const EmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Change is a local change that is one commit.
type Change string

// The changes.
const (
	ChangeStaged Change = "staged" // what the index has and HEAD has not
	ChangeCommit Change = "commit" // what a commit changed
	ChangePatch  Change = "patch"  // a patch, applied to HEAD
)

// Local reports whether the target is a local change, which touches no GitHub at all.
func (t Target) Local() bool { return t.PR == 0 && t.Job == "" }

// String names the target for people: owner/name#7, "owner/name, job nightly", or "local changes since main".
func (t Target) String() string {
	short := t.Commit[:min(len(t.Commit), 10)]
	switch {
	case t.Job != "":
		return fmt.Sprintf("%s, job %s", t.Repo, t.Job)
	case !t.Local():
		return fmt.Sprintf("%s#%d", t.Repo, t.PR)
	case t.Change == ChangeStaged:
		return "staged changes " + short
	case t.Change == ChangeCommit:
		return "commit " + short
	case t.Change == ChangePatch:
		return "patch " + short
	case t.Base == EmptyTree:
		return "all files"
	}
	return "local changes since " + t.Base
}

// Again is the command that begins a new run of the target.
func (t Target) Again() string {
	switch {
	case t.Job != "":
		return "prloop schedule " + t.Job + " -R " + t.Repo.String()
	case !t.Local():
		return "prloop run " + t.String()
	case t.Change == ChangeStaged:
		return "prloop run --staged"
	case t.Change == ChangeCommit:
		return "prloop run --commit " + t.Commit
	case t.Change == ChangePatch:
		return "prloop run --patch FILE"
	case t.Base == EmptyTree:
		return "prloop run --all"
	}
	return "prloop run --base " + t.Base
}

// PullRequest is what GitHub says about a pull request at one moment.
type PullRequest struct {
	Repo Repo `json:"repo"`
	// RepoID is GitHub's number of the repository, which stays when it is renamed.
	RepoID int64  `json:"repoId,omitempty"`
	Number int    `json:"number"`
	URL    string `json:"url"`
	// NodeID is GraphQL's id of the pull request.
	NodeID string `json:"nodeId,omitempty"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	Author Person `json:"author"`
	// State is OPEN, CLOSED or MERGED.
	State string `json:"state"`
	Draft bool   `json:"draft"`
	// Locked is true when the conversation is locked; comments then need write permission.
	Locked bool `json:"locked"`
	// BaseRef and HeadRef are branch names; BaseSHA and HeadSHA full object ids at the time of reading.
	BaseRef string `json:"baseRef"`
	BaseSHA string `json:"baseSha"`
	HeadRef string `json:"headRef"`
	HeadSHA string `json:"headSha"`
	// HeadRepo is where the head branch lives; empty when the fork is gone.
	HeadRepo Repo `json:"headRepo"`
	// CrossRepository is true for a pull request from a fork.
	CrossRepository bool `json:"crossRepository"`
	// MaintainerCanModify is true when maintainers of the base may push to the fork's branch.
	MaintainerCanModify bool     `json:"maintainerCanModify"`
	Labels              []string `json:"labels"`
	// ChangedFiles, Additions and Deletions are GitHub's counts, used to check that our diff is whole.
	ChangedFiles int       `json:"changedFiles"`
	Additions    int       `json:"additions"`
	Deletions    int       `json:"deletions"`
	UpdatedAt    time.Time `json:"updatedAt"`
	// Stopped says who asked, in a comment, that the run at hand stop; empty when nobody did. It is asked anew, and not stored.
	Stopped string `json:"-"`
	// Standing names the newest review that approves or requests changes of each of those who may block, with what it says; empty when there are none.
	Standing string `json:"standing,omitempty"`
	// Refused is true when somebody who may block requests changes, and has said nothing else in a review since. It is read anew, and not stored.
	Refused bool `json:"-"`
	// Labelled has of each label, in small letters, the newest event that set it or took it off, and of "" the newest of all labels where those are not all. It is read anew,
	// and not stored.
	Labelled map[string]string `json:"-"`
	// Newest are the newest comments of its timeline, the oldest of them first. They are read anew, and not stored.
	Newest []Comment `json:"-"`
}

// By reports whether somebody opened the pull request: by their number, which stays when an account is renamed, or by their login as it was read with this.
func (pr PullRequest) By(p Person) bool {
	return p.ID != 0 && p.ID == pr.Author.ID || strings.EqualFold(p.Login, pr.Author.Login)
}

// Person is somebody on GitHub.
type Person struct {
	Login string `json:"login"`
	// ID is GitHub's numeric id; logins can be renamed and reused.
	ID int64 `json:"id,omitempty"`
	// Association is GitHub's author association to the repository; it may only block, never grant.
	Association string `json:"association,omitempty"`
	// Bot is true for apps and bot accounts.
	Bot bool `json:"bot,omitempty"`
}

// Discussion is everything people said on a pull request, as read at one moment.
type Discussion struct {
	Threads []Thread `json:"threads"`
	Reviews []Review `json:"reviews"`
	// Comments are those of the timeline (issue comments).
	Comments []Comment `json:"comments"`
	// Truncated is true when a bound on pages, threads or comments was hit; it becomes threadsTruncated.
	Truncated bool `json:"truncated"`
	// Cut is how many long texts of people who may not block are not whole; each ends in [TRUNCATED_COMMENT].
	Cut int `json:"cut,omitempty"`
}

// Thread is one inline conversation.
type Thread struct {
	ID       string `json:"id"`
	Resolved bool   `json:"resolved"`
	Outdated bool   `json:"outdated"`
	File     string `json:"file"`
	// Line is 1-based at the head; nil when the thread is outdated or about the whole file.
	Line *int `json:"line"`
	// Origin is the line it was opened on, at the head of then; 0 when it is about the whole file.
	Origin int `json:"originalLine,omitempty"`
	// Own is true of a thread that prloop opened: its first comment is left out, and it is no conversation that somebody has to settle.
	Own bool `json:"own,omitempty"`
	// Cured is true of a thread that prloop opened and called resolved, or would call so, and that is theirs for what somebody has said there of the cure.
	Cured bool `json:"cured,omitempty"`
	// Lost is true of one in which somebody objected, and that prloop knows no more as its own: its first comment was changed or deleted, or all of it.
	Lost bool `json:"lost,omitempty"`
	// Overruled is true of a thread that people began and in which somebody says P0 or P1, where whoever resolved it does not settle that.
	Overruled bool `json:"overruled,omitempty"`
	// Unresolvable is true of a thread that the account which prloop reads and posts as may not resolve, or, where it is resolved, not open again.
	Unresolvable bool `json:"unresolvable,omitempty"`
	// ResolvedBy is who resolved it, as far as GitHub says: it names no apps.
	ResolvedBy *Person   `json:"resolvedBy,omitempty"`
	Comments   []Comment `json:"comments"`
}

// Review is one submitted review.
type Review struct {
	ID     string `json:"id"`
	Author Person `json:"author"`
	// State is APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED or PENDING.
	State string `json:"state"`
	Body  string `json:"body"`
	// Commit is the object id the review was made on.
	Commit      string    `json:"commit"`
	SubmittedAt time.Time `json:"submittedAt"`
	// EditedBy is who changed its text last, where that is another than its author; ghost where GitHub does not say who.
	EditedBy string `json:"editedBy,omitempty"`
}

// Comment is one comment, of a thread or of the timeline.
type Comment struct {
	// ID is GraphQL's node id; DatabaseID the number in URLs and in the REST API.
	ID         string `json:"id"`
	DatabaseID int64  `json:"databaseId"`
	URL        string `json:"url,omitempty"`
	Author     Person `json:"author"`
	Body       string `json:"body"`
	// CreatedAt is when it was said: of one that was drafted in a review, when that was submitted.
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// EditedAt is when somebody changed its text last, where GitHub says; zero when nobody has.
	EditedAt time.Time `json:"editedAt,omitzero"`
	// EditedBy is who did, where that is another than its author; ghost where GitHub does not say who.
	EditedBy string `json:"editedBy,omitempty"`
	// Commit is the head at which a comment of a thread was said, where GitHub says.
	Commit string `json:"commit,omitempty"`
	// Minimized is true when somebody collapsed it.
	Minimized bool `json:"minimized,omitempty"`
	// Mailed is true of an answer to a mail.
	Mailed bool `json:"mailed,omitempty"`
	// Deleted is true of one that is not on GitHub any more: prloop remembers who objected there, and its text is prloop's.
	Deleted bool `json:"deleted,omitempty"`
	// ReplyTo is the number of the first comment of the thread that it answers in, where it is read alone; it is not stored.
	ReplyTo int64 `json:"-"`
}
