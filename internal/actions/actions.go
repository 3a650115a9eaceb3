// Package actions decides what an event of GitHub Actions asks of prloop: a review of a pull request, an answer to a comment, a
// scheduled job, or nothing. It reads the event alone: what is open, who may ask and what the repository wants is asked elsewhere.
package actions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/drafts"
	"github.com/prloop/prloop/review"
)

// Doing is what is to be done about an event.
type Doing string

// The doings.
const (
	Nothing Doing = "nothing"
	Review  Doing = "review"
	// Words is a review where no report stands for the commit: nothing but the title or the description of the pull request was edited.
	Words    Doing = "words"
	Comment  Doing = "comment"
	Schedule Doing = "schedule"
)

// Event is an event as a job of GitHub Actions is told of it.
type Event struct {
	// Name is GITHUB_EVENT_NAME, Payload the file that GITHUB_EVENT_PATH names, Job GITHUB_JOB, Repository GITHUB_REPOSITORY.
	Name       string
	Payload    []byte
	Job        string
	Repository string
	// PR is the pull request the workflow names itself; 0 takes it from the event.
	PR int
	// Drafts are reviewed too.
	Drafts bool
	// Label narrows reviews to pull requests that have it; empty for all.
	Label string
}

// Decision is what follows from an event.
type Decision struct {
	Do Doing
	// Why says why nothing is done, or need be.
	Why string
	// PR is the pull request of a review or comment, or of an event of a pull request about which nothing is done.
	PR int
	// Head is the commit of the event, on which the job's own check stands; empty where the event is not one of PR.
	Head string
	// At is when the event of PR was; zero where the payload does not tell.
	At time.Time
	// Anew is true when the event proposes the commit for a branch: what its status says may have been said of another change.
	Anew bool
	// Fork is true when the event is a fork's: GitHub then gives the job no secrets, and a token that cannot write.
	Fork bool
	// Asked is the comment of a Comment.
	Asked Asked
	// Job is that of a Schedule.
	Job string
}

// Asked is a comment as the event has it.
type Asked struct {
	// Action is what happened to it: created, edited, deleted.
	Action string
	// ID is its number, Author who wrote it.
	ID     int64
	Author review.Person
	Body   string
	// PullRequest is false when it is on an issue.
	PullRequest bool
	// UpdatedAt is when it was last changed.
	UpdatedAt time.Time
}

// payload is what is read of events; all else in them is not looked at.
type payload struct {
	Action      string
	Number      int
	Repository  *repository
	PullRequest *struct {
		Number int
		State  string
		Draft  bool
		Labels []struct{ Name string }
		Head   struct {
			SHA  string
			Repo *repository
		}
		UpdatedAt time.Time `json:"updated_at"`
	} `json:"pull_request"`
	Label *struct{ Name string }
	// Changes is what an edit changed; Base is set when the pull request is to be merged into another branch.
	Changes *struct{ Base *struct{} }
	Issue   *struct {
		Number      int
		PullRequest *struct{} `json:"pull_request"`
	}
	Comment *struct {
		ID        int64
		Body      string
		UpdatedAt time.Time `json:"updated_at"`
		User      *struct {
			Login string
			ID    int64
			Type  string
		}
	}
}

type repository struct {
	FullName string `json:"full_name"`
}

// reviewed are the actions of pull_request that lead to a review. An edit always does where it chose another base: what was said of the commit
// before, its status included, was said of another change by the rules of another branch (threats.md T220).
var reviewed = []string{"opened", "reopened", "synchronize", "ready_for_review", "labeled", "edited"}

// Decide says what an event asks for. An error means that it is not what GitHub sends.
func Decide(e Event) (Decision, error) {
	switch {
	case e.Name == "schedule", e.Name == "workflow_dispatch" && e.PR == 0:
		return Decision{Do: Schedule, Job: e.Job}, nil
	case e.Name == "workflow_dispatch":
		return Decision{Do: Review, PR: e.PR}, nil
	case e.Name == "merge_group":
		return Decision{Do: Nothing, Why: "prloop sets no status in a merge queue, which waits in vain where it requires one: docs/ci.md has what to do"}, nil
	case !strings.HasPrefix(e.Name, pullRequest) && e.Name != "issue_comment":
		return Decision{Do: Nothing, Why: fmt.Sprintf(aboutNothing, e.Name)}, nil
	}
	var p payload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return Decision{}, fmt.Errorf("read the event %s: %w", e.Name, err)
	}
	if p.Repository == nil || !strings.EqualFold(p.Repository.FullName, e.Repository) {
		return Decision{}, fmt.Errorf("the event %s is not one of %s", e.Name, e.Repository)
	}
	if e.Name == "issue_comment" {
		return p.comment()
	}
	return p.review(e)
}

const (
	// pullRequest is the event that leads to reviews, and begins the names of the others of pull requests.
	pullRequest  = "pull_request"
	aboutNothing = "nothing is done about %q"
)

// review decides about an event of a pull request.
func (p payload) review(e Event) (Decision, error) {
	pr := p.PullRequest
	if pr == nil || max(p.Number, pr.Number) <= 0 {
		return Decision{}, fmt.Errorf("the event %s names no pull request", e.Name)
	}
	d := Decision{Do: Review, PR: cmp.Or(p.Number, pr.Number), Head: pr.Head.SHA, At: pr.UpdatedAt, Fork: pr.Head.Repo == nil || !strings.EqualFold(pr.Head.Repo.FullName, p.Repository.FullName)}
	d.Anew = e.Name == pullRequest && p.proposes()
	if e.PR > 0 && e.PR != d.PR {
		d.PR, d.Head, d.Anew = e.PR, "", false
	}
	if d.Why = p.left(e); d.Why != "" {
		d.Do = Nothing
		return d, nil
	}
	if p.Action == "edited" && !d.Anew {
		d.Do, d.Why = Words, "nothing is done when the words of a pull request are edited"
	}
	return d, nil
}

// proposes reports whether a commit may now be merged into a branch into which it could not before the event. A draft cannot be merged, but may have been reviewed
// for the branch that it had.
func (p payload) proposes() bool {
	if p.Action == "edited" {
		return p.Changes != nil && p.Changes.Base != nil
	}
	return !p.PullRequest.Draft && slices.Contains([]string{"opened", "reopened", "synchronize", "ready_for_review"}, p.Action)
}

// left says why an event of a pull request leads to no review; empty when it may.
func (p payload) left(e Event) string {
	pr := p.PullRequest
	has := false
	for _, l := range pr.Labels {
		has = has || l.Name == e.Label
	}
	switch {
	case e.Name == "pull_request_target":
		// Whoever opens a pull request would spend the job's secrets (decision 49).
		return "pull_request_target lends a stranger's pull request this job's secrets; use pull_request, and ask for reviews of forks by comment"
	case e.Name != pullRequest:
		return fmt.Sprintf(aboutNothing, e.Name)
	case !slices.Contains(reviewed, p.Action):
		return "nothing is done when a pull request is " + spell(p.Action)
	case pr.State != "open":
		return "the pull request is " + spell(pr.State)
	case drafts.Why(pr.Draft, e.Drafts, false) != "":
		return drafts.Why(pr.Draft, e.Drafts, false)
	case e.Label == "":
		return ""
	case p.Action == "labeled" && (p.Label == nil || p.Label.Name != e.Label):
		return fmt.Sprintf("the label that was added is not %q", e.Label)
	case !has:
		return fmt.Sprintf("the pull request does not have the label %q", e.Label)
	}
	return ""
}

// comment decides about an event of a comment. Whether prloop listens to it is asked elsewhere.
func (p payload) comment() (Decision, error) {
	c := p.Comment
	if c == nil || c.ID <= 0 || p.Issue == nil || p.Issue.Number <= 0 {
		return Decision{}, errors.New("the event issue_comment names no comment")
	}
	d := Decision{Do: Comment, PR: p.Issue.Number, Asked: Asked{
		Action: spell(p.Action), ID: c.ID, Author: review.Person{Login: "ghost"}, Body: c.Body, PullRequest: p.Issue.PullRequest != nil, UpdatedAt: c.UpdatedAt,
	}}
	if c.User != nil {
		d.Asked.Author = review.Person{Login: c.User.Login, ID: c.User.ID, Bot: c.User.Type == "Bot"}
	}
	return d, nil
}

// spell is a word of an event as it may stand in a line of the log.
func spell(word string) string {
	word = strings.Map(func(r rune) rune {
		if r == '_' {
			return ' '
		}
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, word)
	return word[:min(len(word), 40)]
}
