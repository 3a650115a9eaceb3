// Package intake decides what an event that GitHub sends to a server asks for: a look at a pull request, a look at a comment, or nothing. It reads
// the event alone, and an event is a hint: it may come twice, late, in another order, or never. What is done is decided from what GitHub says when
// the look is taken (Decide).
package intake

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/actions"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// The priorities of looks, the most urgent first.
const (
	// Command is what a person asks for.
	Command uint = iota + 1
	// Said is what somebody who may block says in a thread of somebody else's pull request.
	Said
	// First is a pull request that is opened or made ready, and what its author says in a thread who may block.
	First
	// Again is one that was pushed to, or whose reviews and threads changed.
	Again
	// Found is one that no event told of.
	Found
)

// Event is what GitHub tells.
type Event struct {
	// Name is that of the event, Payload its body, whose signature was checked.
	Name    string
	Payload []byte
	// Own is prloop's own account, zero when it is not known: what prloop does with it asks for nothing. Bot is the login that is mentioned in comments.
	Own review.Person
	Bot string
	// Drafts are looked at too.
	Drafts bool
}

// Member stands for somebody who may block by what GitHub says of them, or asked for a look.
const Member = "!"

// Look is what an event asks to look at.
type Look struct {
	PR int
	// Comment is the comment; 0 for the pull request itself.
	Comment int64
	// Priority is one of those above.
	Priority uint
	// Anew is true when the commit is looked at again though it was reviewed.
	Anew bool
	// Said is who said something in a thread, or opened one again; Member where they are known to count. Empty where that is the author, or nobody.
	Said string
	// Settles is true when more of the kind may follow in a moment.
	Settles bool
	// Patient is true when what waits has nothing to gain from a look before its time: the author does it, or a bot, or nobody tells who, and as often as they like.
	Patient bool
	// Labels is true when a label was set or taken off: what was approved may rest on it.
	Labels bool
}

// Contests reports whether somebody may have said something against what was approved.
func (l Look) Contests() bool { return l.Said != "" || l.Priority == Said }

// Told is what was read.
type Told struct {
	Action string
	// Repo is the repository; zero when the event is about none.
	Repo review.Repo
	// Key is what the repository is known by, whatever it is called; empty when the event does not tell.
	Key review.RepoKey
	// Pull is the pull request as it was at the event, as far as its status rests on that; without a head when the event does not tell.
	Pull  review.PullRequest
	Looks []Look
	// Why says why there is nothing to look at.
	Why string
	// Warn is true when Why is for the operator to act on.
	Warn bool
	// Account is that of an installation of which it may be other repositories that are served; empty where the event is about none.
	Account string
}

// payload is what is read of events; all else in them is not looked at.
type payload struct {
	Action     string
	Repository *struct {
		ID       int64
		FullName string `json:"full_name"`
		HTMLURL  string `json:"html_url"`
	}
	Installation *struct {
		Account struct{ Login string }
	}
	Sender      *person
	PullRequest *struct {
		Number int
		State  string
		User   *person
		Head   struct{ SHA string }
		Base   struct{ Ref string }
	} `json:"pull_request"`
	Comment *struct {
		Body        string
		User        *person
		Association string `json:"author_association"`
	}
	Review *struct {
		Body, State string
		User        *person
		Association string `json:"author_association"`
	}
	CheckSuite *checked `json:"check_suite"`
	CheckRun   *checked `json:"check_run"`
}

type person struct {
	ID          int64
	Login, Type string
}

type checked struct {
	PullRequests []struct {
		Number int
		Base   struct{ Repo struct{ ID int64 } }
	} `json:"pull_requests"`
}

// Bounds of what an event may name.
const mostLooks = 20

var fullName = lazyregexp.New(`^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$`)

// Read reads an event. An error means that it is not what GitHub sends.
func Read(e Event) (Told, error) {
	var p payload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return Told{}, fmt.Errorf("read the event: %w", err)
	}
	t := Told{Action: spell(p.Action)}
	switch e.Name {
	case "ping":
		return t.nothing("GitHub asks whether anybody is there"), nil
	case "installation", "installation_repositories":
		if p.Installation == nil || p.Installation.Account.Login == "" {
			return t.nothing("the event names no account"), nil
		}
		t.Account = p.Installation.Account.Login
		return t.nothing("the repositories of an installation changed: they are listed anew"), nil
	}
	read, known := readers[e.Name]
	if !known {
		return t.nothing("nothing is done about this event"), nil
	}
	var err error
	if t.Repo, err = p.repo(); err != nil {
		return Told{}, err
	}
	t.Key = t.Repo.Key(p.Repository.ID)
	if pr := p.PullRequest; pr != nil {
		t.Pull = review.PullRequest{Repo: t.Repo, RepoID: p.Repository.ID, Number: pr.Number, State: strings.ToUpper(pr.State), HeadSHA: pr.Head.SHA, BaseRef: pr.Base.Ref}
	}
	if p.Sender != nil && e.Own.ID != 0 && p.Sender.ID == e.Own.ID && p.posted(e.Name) {
		return t.nothing("prloop did it itself"), nil
	}
	return read(p, t, e)
}

// posted reports whether an event of prloop's own account may be prloop's doing, which asks for nothing: all that it writes bears its marker, and threads it resolves and opens.
// What else that account does is a person's who has its login (threats.md T494).
func (p payload) posted(event string) bool {
	switch {
	case event == threadEvent:
		return true
	case p.Comment != nil:
		return sanitize.HasMarker(p.Comment.Body)
	}
	return p.Review != nil && sanitize.HasMarker(p.Review.Body)
}

// threadEvent is the event of a thread that was resolved or opened again.
const threadEvent = "pull_request_review_thread"

// mergeGroup is the event of a merge queue that wants to merge something.
const mergeGroup = "merge_group"

// readers read events by their names.
var readers = map[string]func(payload, Told, Event) (Told, error){
	"pull_request":                payload.pull,
	"issue_comment":               payload.comment,
	"pull_request_review":         payload.review,
	"pull_request_review_comment": payload.reply,
	threadEvent:                   payload.thread,
	"check_suite":                 payload.checks,
	"check_run":                   payload.checks,
	mergeGroup:                    payload.queue,
}

// repo is the repository of an event, with the host of its page.
func (p payload) repo() (review.Repo, error) {
	if p.Repository == nil || !fullName.MatchString(p.Repository.FullName) {
		return review.Repo{}, errors.New("the event names no repository")
	}
	u, err := url.Parse(p.Repository.HTMLURL)
	if err != nil || u.Host == "" || strings.ContainsAny(u.Host, "@ ") {
		return review.Repo{}, errors.New("the event does not say where its repository is")
	}
	owner, name, _ := strings.Cut(p.Repository.FullName, "/")
	return review.Repo{Host: strings.ToLower(u.Host), Owner: owner, Name: name}, nil
}

func (t Told) nothing(format string, args ...any) Told {
	t.Why = fmt.Sprintf(format, args...)
	return t
}

func (t Told) at(l Look) (Told, error) {
	if l.PR <= 0 {
		return Told{}, errors.New("the event names no pull request")
	}
	t.Looks = append(t.Looks, l)
	return t, nil
}

// number is the pull request of an event.
func (p payload) number() int {
	if p.PullRequest == nil {
		return 0
	}
	return p.PullRequest.Number
}

// pull reads an event of a pull request: as a job of GitHub Actions would, and besides what ends a run or lets it begin. A draft that gets another base branch
// is looked at too: what was said of it for the old one is taken back (threats.md T280). So is whatever gets a label, or loses one: a verdict may rest on it (threats.md T864).
func (p payload) pull(t Told, e Event) (Told, error) {
	switch t.Action {
	case "closed", "converted to draft":
		return t.at(Look{PR: p.number(), Priority: Again})
	case "labeled", "unlabeled":
		return t.at(Look{PR: p.number(), Priority: Again, Settles: t.Action == "labeled", Labels: true})
	}
	d, err := actions.Decide(actions.Event{Name: e.Name, Payload: e.Payload, Repository: p.Repository.FullName, Drafts: e.Drafts || t.Action == "edited"})
	if err != nil {
		return Told{}, err
	}
	if d.Do != actions.Review {
		return t.nothing("%s", d.Why), nil
	}
	l := Look{PR: d.PR, Priority: First, Settles: true, Anew: t.Action == "edited"}
	if t.Action == "synchronize" || t.Action == "edited" {
		l.Priority = Again
	}
	return t.at(l)
}

// comment reads an event of a comment on the timeline.
func (p payload) comment(t Told, e Event) (Told, error) {
	d, err := actions.Decide(actions.Event{Name: e.Name, Payload: e.Payload, Repository: p.Repository.FullName})
	if err != nil {
		return Told{}, err
	}
	if d.Do != actions.Comment {
		return t.nothing("%s", d.Why), nil
	}
	a := d.Asked
	if _, why := trigger.Heard(trigger.Comment{Action: a.Action, PullRequest: a.PullRequest, Author: a.Author, Body: a.Body}, e.Bot); why != "" {
		return t.nothing("%s", why), nil
	}
	return t.at(Look{PR: d.PR, Comment: a.ID, Priority: Command})
}

// review reads an event of somebody's review: a verdict rests on them. Whether it is one that was not seen yet shows when the look is taken.
func (p payload) review(t Told, _ Event) (Told, error) {
	state := ""
	if p.Review != nil {
		state = strings.ToLower(p.Review.State)
	}
	if t.Action == "dismissed" || t.Action == "submitted" && (state == "changes_requested" || state == "approved") {
		l := Look{PR: p.number(), Priority: Again, Settles: true}
		switch member := p.Review != nil && review.MayBlock(p.Review.Association); {
		case !member: // whoever may write blocks too, which GitHub does not say here of a member whose membership is private
			l.Anew = true
		case state == "changes_requested":
			l.Priority = Said
		}
		return t.at(l)
	}
	return t.nothing("a review that only comments changes no verdict"), nil
}

// reply reads an event of a comment on a line.
func (p payload) reply(t Told, _ Event) (Told, error) {
	switch {
	case t.Action != "created":
		return t.nothing("only new comments are read, and this one was %s", t.Action), nil
	case p.Comment == nil:
		return t.nothing("the event tells of no comment"), nil
	case p.Comment.User != nil && p.Comment.User.Type == bot:
		return t.nothing("the comment is a bot's"), nil
	}
	l := Look{PR: p.number(), Priority: Again, Anew: true, Settles: true}
	switch by, member := p.Comment.User, review.MayBlock(p.Comment.Association); {
	case member && p.authors(by):
		l.Priority = First
	case member:
		l.Priority, l.Said = Said, Member
	default: // whether they may write GitHub does not say here (threats.md T493)
		l.Said = p.other(by)
		l.Patient = l.Said == ""
	}
	return t.at(l)
}

// authors reports whether the pull request is somebody's own.
func (p payload) authors(by *person) bool {
	pr := p.PullRequest
	return by != nil && pr != nil && pr.User != nil && pr.User.ID == by.ID
}

// other is the login of a person who is not the author of the pull request.
func (p payload) other(by *person) string {
	if by == nil || by.Type == bot || p.authors(by) {
		return ""
	}
	return by.Login
}

// bot is GitHub's word for the account of an app.
const bot = "Bot"

// thread reads an event of a thread that was resolved or opened again.
func (p payload) thread(t Told, _ Event) (Told, error) {
	l := Look{PR: p.number(), Priority: Again, Anew: true, Settles: true}
	if t.Action == "unresolved" {
		l.Said = p.other(p.Sender)
	}
	l.Patient = l.Said == ""
	return t.at(l)
}

// checks reads an event of checks: somebody asked for them again. Among their pull requests may be those that go from this repository to another.
func (p payload) checks(t Told, _ Event) (Told, error) {
	c := p.CheckSuite
	if p.CheckRun != nil {
		c = p.CheckRun
	}
	if t.Action != "rerequested" || c == nil {
		return t.nothing("nothing is done when checks are %s", t.Action), nil
	}
	for _, pr := range c.PullRequests[:min(len(c.PullRequests), mostLooks)] {
		if to := pr.Base.Repo.ID; to != 0 && to != p.Repository.ID {
			continue
		}
		if l := (Look{PR: pr.Number, Priority: Command, Anew: true, Said: Member}); pr.Number > 0 && !slices.Contains(t.Looks, l) {
			t.Looks = append(t.Looks, l)
		}
	}
	if len(t.Looks) == 0 {
		return t.nothing("the checks belong to no pull request"), nil
	}
	return t, nil
}

// queue reads an event of a merge queue. Whoever operates the server has to hear of it: the queue may wait for a status that never comes (threats.md T469).
func (p payload) queue(t Told, e Event) (Told, error) {
	d, err := actions.Decide(actions.Event{Name: e.Name})
	t.Warn = t.Action == "checks requested"
	return t.nothing("%s", d.Why), err
}

// spell is a word of an event as it may stand in a line.
func spell(word string) string {
	word = strings.Map(func(r rune) rune {
		switch {
		case r == '_':
			return ' '
		case r < 'a' || r > 'z':
			return -1
		}
		return r
	}, word)
	return word[:min(len(word), 40)]
}
