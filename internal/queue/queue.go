// Package queue is what servers are at, as people ask for it: what runs, what waits and why, what became of the rest, and whether reviews
// may begin at all.
package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/review"
)

// pausedNote is where it stands since when no reviews begin.
const pausedNote = "paused"

// Paused says since when no reviews begin; the zero time when they do.
func Paused(ctx context.Context, s *store.Store) (time.Time, error) {
	note, err := s.Note(ctx, pausedNote)
	if err != nil || note == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, note)
	if err != nil {
		return time.Now(), fmt.Errorf("read since when the queue is paused: %w", err)
	}
	return t, nil
}

// Pause lets no reviews begin any more, whoever serves. Those that are under way end as they would.
func Pause(ctx context.Context, s *store.Store) error {
	since, err := Paused(ctx, s)
	if err != nil || !since.IsZero() {
		return err
	}
	return s.SetNote(ctx, pausedNote, wallclock.Now().UTC().Format(time.RFC3339))
}

// Unpause lets them begin again.
func Unpause(ctx context.Context, s *store.Store) error {
	if err := s.SetNote(ctx, pausedNote, ""); err != nil {
		return err
	}
	return s.HastenAll(ctx)
}

// unreadNote is where the repositories stand that are not to be had from GitHub.
const unreadNote = "unread"

// Unread is a repository, or all of an owner, that is served and of which GitHub gives nothing.
type Unread struct {
	Repo  string    `json:"repo"`
	Why   string    `json:"why"`
	Since time.Time `json:"since"`
}

// AllUnread are those that were noted.
func AllUnread(ctx context.Context, s *store.Store) (all []Unread, err error) {
	note, err := s.Note(ctx, unreadNote)
	if err != nil || note == "" {
		return nil, err
	}
	if err := json.Unmarshal([]byte(note), &all); err != nil {
		return nil, fmt.Errorf("read which repositories GitHub gives nothing of: %w", err)
	}
	return all, nil
}

// NoneUnread forgets them: those that are served now may be others.
func NoneUnread(ctx context.Context, s *store.Store) error { return s.SetNote(ctx, unreadNote, "") }

// SetUnread notes why GitHub gives nothing of a repository; empty when it does. It reports whether that is new.
func SetUnread(ctx context.Context, s *store.Store, repo, why string) (bool, error) {
	all, err := AllUnread(ctx, s)
	if err != nil {
		return false, err
	}
	u := Unread{repo, why, wallclock.Now().UTC()}
	i := slices.IndexFunc(all, func(u Unread) bool { return u.Repo == repo })
	switch {
	case i < 0 && why == "", i >= 0 && all[i].Why == why:
		return false, nil
	case i >= 0:
		u.Since = all[i].Since
		all = slices.Delete(all, i, i+1)
	}
	if why != "" {
		all = append(all, u)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return false, err
	}
	return true, s.SetNote(ctx, unreadNote, string(data))
}

// Status is what runs, what waits, and what became of the rest.
type Status struct {
	Paused     time.Time  `json:"paused,omitzero"`
	Unread     []Unread   `json:"unread,omitempty"`
	Running    []Run      `json:"running"`
	Waiting    []Item     `json:"waiting"`
	SeenTo     []Item     `json:"seenTo"`
	Deliveries []Delivery `json:"deliveries"`
	// Processes have the database open; nil where one machine alone can.
	Processes []store.Process `json:"processes,omitempty"`
	// Created is what accounts created on GitHub in the last hour.
	Created []store.Created `json:"created,omitempty"`
	// Unkept are the files of runs that the blob store does not have yet.
	Unkept store.Unkept `json:"unkept,omitzero"`
}

// Run is one that is under way.
type Run struct {
	Run   string    `json:"run"`
	What  string    `json:"what"`
	State string    `json:"state"`
	Since time.Time `json:"since"`
	// Key is as in store.Run.
	Key review.RepoKey `json:"-"`
}

// Item is something that servers were asked for.
type Item struct {
	What     string    `json:"what"`
	Priority string    `json:"priority"`
	Since    time.Time `json:"since"`
	Due      time.Time `json:"due"`
	Tries    int       `json:"tries,omitempty"`
	Outcome  string    `json:"outcome,omitempty"`
	Why      string    `json:"why,omitempty"`
	Run      string    `json:"run,omitempty"`
	Updated  time.Time `json:"updated"`
	// Key is as in store.Want.
	Key review.RepoKey `json:"-"`
}

// Delivery is one that led to nothing.
type Delivery struct {
	Delivery string    `json:"delivery"`
	Event    string    `json:"event"`
	Action   string    `json:"action,omitempty"`
	Why      string    `json:"why"`
	Received time.Time `json:"received"`
}

// Priorities are the words for them.
var Priorities = map[uint]string{intake.Command: "asked for", intake.Said: "said", intake.First: "new", intake.Again: "changed", intake.Found: "found"}

// Read tells how it stands, with at most limit of a kind; running are the runs that are under way. keys are the repositories whose rows are read: nil is any, an
// empty list none.
func Read(ctx context.Context, s *store.Store, running []store.Run, keys []review.RepoKey, limit int) (st Status, err error) {
	st = Status{Running: []Run{}, Deliveries: []Delivery{}}
	for _, r := range running {
		st.Running = append(st.Running, Run{r.ID, r.Target.String(), string(r.State), r.Created, r.RepoKey})
	}
	if st.Paused, err = Paused(ctx, s); err != nil {
		return st, err
	}
	if st.Unread, err = AllUnread(ctx, s); err != nil {
		return st, err
	}
	waiting, err := s.Waiting(ctx, keys, limit)
	if err != nil {
		return st, err
	}
	seen, err := s.SeenTo(ctx, keys, limit)
	if err != nil {
		return st, err
	}
	st.Waiting, st.SeenTo = items(waiting), items(seen)
	deliveries, err := s.Deliveries(ctx, 5*limit)
	if err != nil {
		return st, err
	}
	for _, d := range deliveries {
		if d.Why != "" && len(st.Deliveries) < limit {
			st.Deliveries = append(st.Deliveries, Delivery{d.GUID, d.Event, d.Action, d.Why, d.Received})
		}
	}
	if st.Processes, err = s.Processes(ctx); err != nil {
		return st, err
	}
	if st.Created, err = s.Created(ctx); err != nil {
		return st, err
	}
	st.Unkept, err = s.Unkept(ctx)
	return st, err
}

func items(list []store.Wanted) []Item {
	out := []Item{}
	for _, w := range list {
		out = append(out, Item{w.Subject, Priorities[w.Priority], w.Since, w.Due, w.Tries, w.Outcome, w.Why, w.Run, w.Updated, w.Key})
	}
	return out
}

// Waits is why something waits, in words.
func (i Item) Waits() string {
	if i.Outcome != store.Waits && i.Tries == 0 {
		return "its turn has not come"
	}
	return cmp.Or(i.Why, "its turn has not come")
}

// Failed stands for why a look or a run failed, which is the operator's to know: it may name endpoints, programs and folders (threats.md T682).
const Failed = "it failed; whoever runs prloop sees why"

// Of is the part that is about repositories alone of which may gives the key. What cannot be told of one is left out.
func (s Status) Of(may func(review.RepoKey) bool) Status {
	s.Running = slices.DeleteFunc(slices.Clone(s.Running), func(r Run) bool { return !may(r.Key) })
	not := func(i Item) bool { return !may(i.Key) }
	s.Waiting, s.SeenTo = slices.DeleteFunc(slices.Clone(s.Waiting), not), slices.DeleteFunc(slices.Clone(s.SeenTo), not)
	for _, list := range [][]Item{s.Waiting, s.SeenTo} {
		for i := range list {
			if list[i].Outcome == string(review.Failed) {
				list[i].Why = Failed
			}
		}
	}
	s.Deliveries, s.Processes, s.Unread = nil, nil, nil
	return s
}

// Empty reports whether servers were never asked for anything.
func (s Status) Empty() bool {
	return len(s.Running)+len(s.Waiting)+len(s.SeenTo)+len(s.Deliveries)+len(s.Unread) == 0
}
