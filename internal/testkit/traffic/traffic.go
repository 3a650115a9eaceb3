// Package traffic carries what happened on real pull requests, in its order, for tests of whatever serves repositories. README.md beside it says
// where it comes from.
package traffic

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // names of commits, as git makes them
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

//go:embed sequences.json.gz
var packed []byte

// Kind is what happened.
type Kind string

// The kinds.
const (
	Push    Kind = "push"
	Comment Kind = "comment"
	Review  Kind = "review"
	Dismiss Kind = "dismiss"
	Request Kind = "request"
	Label   Kind = "label"
	Unlabel Kind = "unlabel"
	Draft   Kind = "draft"
	Ready   Kind = "ready"
	Close   Kind = "close"
	Reopen  Kind = "reopen"
)

const (
	approved  = "approved"
	changes   = "changes_requested"
	commented = "commented"
)

// An Event is one thing that happened.
type Event struct {
	Kind Kind
	// ID tells comments and reviews apart, By who did it.
	ID, By string
	Bot    bool
	// After is how long after the pull request was opened; a commit has the time of what stands before it.
	After time.Duration
	// Commit is the head after a push, State that of a review: approved, changes_requested or commented.
	Commit, State string
}

// A Pull is a pull request, from when it was opened.
type Pull struct {
	ID, Author string
	Bot        bool
	// Draft and Head are how it was opened; Closed and Merged how it ended.
	Draft, Closed, Merged bool
	Head                  string
	Events                []Event
}

type row struct {
	PR, State, Author string
	Merged            bool
	CreatedAt         time.Time  `json:"created_at"`
	ClosedAt          *time.Time `json:"closed_at"`
	Events            []struct {
		T                          *time.Time
		Kind, ID, State, Event, By string
		Commit                     string
	}
}

// All gives every pull request. It panics on a damaged archive: it is part of the binary.
func All() []Pull {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	var rows []row
	if err == nil {
		err = json.NewDecoder(z).Decode(&rows)
	}
	if err != nil {
		panic(fmt.Sprintf("unpack the recorded traffic: %v", err))
	}
	all := make([]Pull, len(rows))
	for i, r := range rows {
		all[i] = r.pull()
	}
	return all
}

// pull puts the events in order. A commit has no time: it comes after the event that stands before it on the timeline, and the first one is what
// the pull request was opened with. One that is made ready before it is made a draft began as one. A state that no event tells of is come to
// at the end.
func (r row) pull() Pull {
	type timed struct {
		at time.Time
		Event
	}
	var all []timed
	last := r.CreatedAt
	for _, e := range r.Events {
		at := last
		if e.T != nil {
			at = *e.T
			if e.Kind == "event" {
				last = at
			}
		}
		t := timed{at, Event{ID: e.ID, Commit: e.Commit}}
		t.By, t.Bot = person(e.By)
		switch what := e.Kind + " " + e.Event; what {
		case "comment ":
			t.Kind = Comment
		case "review ":
			t.Kind, t.State = Review, strings.ToLower(e.State)
			if t.State == "dismissed" { // later: what it was before is not known
				t.State = changes
			}
		case "event committed":
			t.Kind = Push
		case "event head_ref_force_pushed":
			t.Kind, t.Commit = Push, commit(r.PR+at.String())
		case "event review_dismissed":
			t.Kind = Dismiss
		case "event review_requested":
			t.Kind = Request
		case "event labeled":
			t.Kind = Label
		case "event unlabeled":
			t.Kind = Unlabel
		case "event ready_for_review":
			t.Kind = Ready
		case "event convert_to_draft":
			t.Kind = Draft
		case "event closed":
			t.Kind = Close
		case "event reopened":
			t.Kind = Reopen
		case "event merged": // comes with a close
			continue
		default:
			panic("recorded traffic has " + what)
		}
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b timed) int { return a.at.Compare(b.at) })
	p := Pull{ID: r.PR, Closed: r.State == "closed", Merged: r.Merged, Head: commit(r.PR)}
	p.Author, p.Bot = person(r.Author)
	if i := slices.IndexFunc(all, func(t timed) bool { return t.Kind == Push }); i >= 0 {
		p.Head = all[i].Commit
		all = slices.Delete(all, i, i+1)
	}
	i := slices.IndexFunc(all, func(t timed) bool { return t.Kind == Ready || t.Kind == Draft })
	p.Draft = i >= 0 && all[i].Kind == Ready
	closed := false
	for _, t := range all {
		switch {
		case t.Kind == Close && !closed, t.Kind == Reopen && closed:
			closed = !closed
		case t.Kind == Close, t.Kind == Reopen:
			continue
		}
		t.After = max(t.at.Sub(r.CreatedAt), 0)
		p.Events = append(p.Events, t.Event)
	}
	end := Event{Kind: Close, By: p.Author, Bot: p.Bot}
	if n := len(p.Events); n > 0 {
		end.After = p.Events[n-1].After
	}
	switch {
	case p.Closed && !closed:
		p.Events = append(p.Events, end)
	case !p.Closed && closed:
		end.Kind = Reopen
		p.Events = append(p.Events, end)
	}
	return p
}

func person(name string) (login string, bot bool) {
	kind, id, _ := strings.Cut(name, ":")
	return kind + "-" + id, kind == "bot"
}

// commit is one that the source does not name.
func commit(of string) string {
	sum := sha1.Sum([]byte(of)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// Changes reports whether a review is one that a verdict rests on.
func (e Event) Changes() bool { return e.Kind == Review && e.State != commented }

// Approves reports whether a review approves.
func (e Event) Approves() bool { return e.Kind == Review && e.State == approved }
