package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// stoppable looks for a comment that asks for a run to stop whenever the loop asks how the pull request is: before each round, comment,
// fix and push (decision 49); and now and then while agents and commands work, which end then.
type stoppable struct {
	orchestrator.Forge
	service *Service
	client  *github.Client
	stops   orchestrator.Stops
	target  review.Target

	// asking is held by whoever looks at comments, seen is the number of the newest one that was looked at, and head the commit that was the head then.
	asking sync.Mutex
	seen   int64
	head   string

	// mu is never held while GitHub is asked: agents begin and end meanwhile.
	mu sync.Mutex
	// said is who asked, or which newer run has taken the place of this one; empty while nobody did.
	said string
	// atWork are those that end once somebody asks, by a number of their own; quit ends the asking when there are none.
	atWork map[int]context.CancelCauseFunc
	number int
	quit   context.CancelFunc
}

// How long is waited between two questions while agents work, each one request: long work is not interrupted at once, and costs little.
const (
	firstLook   = 5 * time.Second
	slowestLook = 30 * time.Second
)

// Watch gives a context that ends with an *orchestrator.StopError once somebody asks the run to stop, until leave is called.
func (f *stoppable) Watch(ctx context.Context) (watched context.Context, leave func()) {
	watched, cancel := context.WithCancelCause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.said != "" {
		cancel(&orchestrator.StopError{Why: f.said})
		return watched, func() {}
	}
	if f.atWork == nil {
		f.atWork = map[int]context.CancelCauseFunc{}
	}
	f.number++
	n := f.number
	f.atWork[n] = cancel
	if len(f.atWork) == 1 {
		var look context.Context
		look, f.quit = context.WithCancel(context.WithoutCancel(ctx))
		go f.look(look)
	}
	return watched, func() {
		cancel(nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		if delete(f.atWork, n); len(f.atWork) == 0 {
			f.quit()
		}
	}
}

// look asks until somebody asked the run to stop, or nobody is at work any more. What GitHub does not answer is asked again.
func (f *stoppable) look(ctx context.Context) {
	for wait := firstLook; sleep(ctx, wait) == nil; wait = min(2*wait, slowestLook) {
		said, err := f.find(ctx, review.PullRequest{Repo: f.target.Repo, Number: f.target.PR}, false)
		if err == nil && said != "" {
			f.stop(said)
			return
		}
	}
}

// stop ends what is at work, and what begins from now on.
func (f *stoppable) stop(said string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = said
	for _, cancel := range f.atWork {
		cancel(&orchestrator.StopError{Why: said})
	}
}

// stopped is who asked; empty while nobody did.
func (f *stoppable) stopped() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.said
}

// PullRequest reads the pull request, and says who asked the run to stop.
func (f *stoppable) PullRequest(ctx context.Context, repo review.Repo, number int) (review.PullRequest, error) {
	pr, err := f.Forge.PullRequest(ctx, repo, number)
	if err != nil || pr.State != openState {
		return pr, err
	}
	if pr.Stopped = f.stopped(); pr.Stopped != "" {
		return pr, nil
	}
	if pr.Stopped, err = f.find(ctx, pr, true); pr.Stopped != "" {
		f.stop(pr.Stopped)
	}
	return pr, err
}

// find looks once at each comment that is new, the oldest first, and says who asks for a stop. They mostly come with the pull request, where that was
// read; only when there are more than that is GitHub asked for them (decision 58).
func (f *stoppable) find(ctx context.Context, pr review.PullRequest, read bool) (said string, err error) {
	f.asking.Lock()
	defer f.asking.Unlock()
	f.head = cmp.Or(pr.HeadSHA, f.head)
	since, answers := f.stops.Since, f.seen == 0 && !f.stops.Event.IsZero()
	if answers { // which may stand in front of what is new
		since = f.stops.Event
	}
	f.seen = max(f.seen, f.stops.After)
	comments := pr.Newest
	if !read || len(comments) == github.NewestComments && (comments[0].DatabaseID > f.seen || answers && comments[0].CreatedAt.After(since)) {
		if comments, err = f.client.CommentsSince(ctx, pr, since); err != nil {
			return "", err
		}
	}
	if answers {
		for _, c := range slices.Backward(comments) { // whoever asks for a review after a stop wants one
			if c.CreatedAt.Before(since) {
				continue
			}
			asks, err := f.asks(ctx, pr.Repo, c, trigger.Review, trigger.Fix)
			if err != nil {
				return "", err
			}
			if asks {
				f.stops.Over = max(f.stops.Over, c.DatabaseID)
				break
			}
		}
		f.seen = max(f.seen, f.stops.Over)
	}
	if said, err := f.answered(ctx, pr, comments); said != "" || err != nil {
		return said, err
	}
	for _, c := range comments {
		if c.DatabaseID <= f.seen {
			continue
		}
		asks, unread := f.asks(ctx, pr.Repo, c, trigger.Stop)
		if asks {
			said := stopWords(c.Author.Login, c.URL)
			return said, f.halt(ctx, said, c.DatabaseID)
		}
		if err = errors.Join(err, unread); err == nil { // what could not be judged is read again, and stands in front of nobody
			f.seen = c.DatabaseID
		}
	}
	return "", err
}

// asks reports whether a comment asks for something of the kind, and its author may.
func (f *stoppable) asks(ctx context.Context, repo review.Repo, c review.Comment, words ...string) (bool, error) {
	says := func(mailed bool) bool {
		lines, _ := trigger.Heard(trigger.Comment{
			Action: "created", PullRequest: true, Author: c.Author, Body: c.Body, Marked: sanitize.HasMarker(c.Body), Changed: !c.UpdatedAt.Equal(c.CreatedAt), Mailed: mailed,
		}, f.stops.Bot)
		return slices.ContainsFunc(trigger.Choose(lines, nil), func(a trigger.Ask) bool { return slices.Contains(words, a.Word) })
	}
	if !says(false) {
		return false, nil
	}
	if may, err := f.service.mayAsk(ctx, f.client, repo, c.Author.Login); err != nil || !may || says(true) {
		return may, err
	}
	mailed, err := f.client.Mailed(ctx, repo, c.ID)
	return err == nil && !mailed, err
}

// answered says who asked for a stop, as the newest answer that is proven ours and about the head tells, whatever comment it answers (threats.md T637). A run that somebody ordered
// ends for one to a comment that is younger than the order, about whatever head, also where that comment is gone (threats.md T737). It is kept for that head, and no other.
func (f *stoppable) answered(ctx context.Context, pr review.PullRequest, comments []review.Comment) (said string, err error) {
	for _, c := range slices.Backward(comments) {
		m, _ := sanitize.ParseMarker(c.Body)
		head, stop := strings.CutPrefix(m.Run, stopRun(""))
		comment := commentOf(m)
		ends := head == f.head && c.CreatedAt.After(f.stops.Event) && comment > f.stops.Over
		if f.stops.Event.IsZero() {
			ends = comment > f.stops.After
		}
		if !stop || !ends {
			continue
		}
		viewer, err := f.client.Viewer(ctx, pr.Repo.Host)
		if err != nil {
			return "", err
		}
		key, err := f.service.markerKey(ctx)
		if err != nil {
			return "", err
		}
		if (effects.Comment{Key: key}).Authentic(c, pr, viewer) { // others post as the same account in Actions
			note, err := f.service.stopNoted(ctx, f.target, head)
			if err != nil || note.Comment != comment {
				note.Said = "somebody asked for a stop: " + c.URL
			}
			return note.Said, errors.Join(err, f.service.haltBy(ctx, f.target, head, note.Said, comment))
		}
	}
	return "", nil
}

// stopRun is what the marker of an answer to a stop has for its run: the commit that the stop is about.
func stopRun(head string) string { return "stopped:" + head }

// commentOf is the comment that a marker's comment answers; 0 for none.
func commentOf(m sanitize.Marker) int64 {
	id, _, _ := strings.Cut(m.Asked, ".")
	n, _ := strconv.ParseInt(id, 10, 64)
	return n
}

// halt keeps a stop about the head that was read last, where whoever answers it has kept it so; else about the one that there is now, as they will.
func (f *stoppable) halt(ctx context.Context, said string, comment int64) error {
	note, err := f.service.stopNoted(ctx, f.target, f.head)
	if err == nil && note.Comment < comment {
		var now review.PullRequest
		now, err = f.client.PullRequest(ctx, f.target.Repo, f.target.PR)
		f.head = now.HeadSHA
	}
	if err != nil {
		return err
	}
	return f.service.haltBy(ctx, f.target, f.head, said, comment)
}

func stopWords(login, url string) string { return fmt.Sprintf("%s asked for a stop: %s", login, url) }

// A stopped is a note that somebody asked for a stop while a commit was the head, by which comment, which run about the pull request was the newest then, and how often it
// had been asked for. No clock tells what came first: machines have their own.
type stopped struct {
	Comment int64  `json:"comment,omitempty"`
	Run     string `json:"run,omitempty"`
	Asked   int64  `json:"asked,omitempty"`
	Said    string `json:"said"`
}

func stopNote(t review.Target, head string) string {
	return "stopped " + strings.ToLower(t.String()) + " " + head
}

// newest is the run about a pull request that began last, but for those of commands and dry runs, which are no word on a stop, and the comment that asked for it; empty when
// there is none.
func (s *Service) newest(ctx context.Context, t review.Target) (run string, asked int64, err error) {
	all := store.Filter{Repo: t.Repo.String(), PR: t.PR, Limit: mostEarlier}
	for {
		runs, err := s.store.ListRuns(ctx, all)
		for _, r := range runs {
			st, unread := s.requested(ctx, r.ID)
			switch {
			case unread != nil:
				return r.ID, 0, ctx.Err()
			case st.Alone || st.DryRun:
			case st.Asked != nil:
				return r.ID, st.Asked.Comment, nil
			default:
				return r.ID, 0, nil
			}
		}
		if err != nil || len(runs) < mostEarlier {
			return "", 0, err
		}
		last := runs[len(runs)-1]
		all.Before = store.Mark{Created: last.Created, ID: last.ID}
	}
}

// Halt keeps that somebody asked for a stop: about that head no run begins by itself (threats.md T486).
func (s *Service) Halt(ctx context.Context, target review.Target, head, said string) error {
	return s.haltBy(ctx, target, head, said, 0)
}

// haltBy is Halt for a comment, by its number.
func (s *Service) haltBy(ctx context.Context, target review.Target, head, said string, comment int64) error {
	run, _, err := s.newest(ctx, target)
	if err != nil {
		return err
	}
	wanted, err := s.store.Wanted(ctx, store.Subject(target.Repo.Host+"/"+target.Repo.Owner+"/"+target.Repo.Name, target.PR, 0))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	data, err := json.Marshal(stopped{comment, run, wanted.Asked, said})
	if err != nil {
		return err
	}
	return s.store.SetNote(ctx, stopNote(target, head), string(data))
}

// cancelled keeps that somebody cancelled the run, as a stop about the head that it was at work on.
func (f *stoppable) cancelled(ctx context.Context, run string) error {
	f.asking.Lock()
	defer f.asking.Unlock()
	return f.service.Halt(ctx, f.target, f.head, CancelWords(run))
}

// CancelWords say that somebody cancelled a run, as the words of a stop.
func CancelWords(run string) string { return "somebody cancelled run " + run }

// halt keeps that somebody asked for a stop about the head that a pull request has now, and gives that.
func (s *Service) halt(ctx context.Context, target review.Target, a Ask) (head string, err error) {
	client, err := s.GitHubFor(ctx, target.Repo)
	if err != nil {
		return "", err
	}
	pr, err := client.PullRequest(ctx, target.Repo, target.PR)
	if err != nil {
		return "", err
	}
	return pr.HeadSHA, s.haltBy(ctx, target, pr.HeadSHA, stopWords(a.By, a.URL), a.Comment)
}

// stopNoted is what is kept of a stop about a commit; the zero value where nothing is.
func (s *Service) stopNoted(ctx context.Context, target review.Target, head string) (note stopped, err error) {
	text, err := s.store.Note(ctx, stopNote(target, head))
	if err != nil || text == "" {
		return note, err
	}
	if err := json.Unmarshal([]byte(text), &note); err != nil {
		return note, fmt.Errorf("read who asked for a stop: %w", err)
	}
	return note, nil
}

// halted is what is kept of a stop about the head of a pull request, and whether it holds: nobody did, or the last run about it began later.
func (s *Service) halted(ctx context.Context, pr review.PullRequest) (note stopped, holds bool, err error) {
	target := review.Target{Repo: pr.Repo, PR: pr.Number}
	if note, err = s.stopNoted(ctx, target, pr.HeadSHA); err != nil || note.Said == "" {
		return note, false, err
	}
	last, asked, err := s.newest(ctx, target)
	return note, err == nil && last == note.Run && (note.Comment == 0 || asked <= note.Comment), err
}

// stopsOf is where comments begin that can stop a run which is ordered now: behind the one that asked for it, or the newest there is. A stop that does not hold any more
// is over for what begins by itself too.
func (s *Service) stopsOf(ctx context.Context, pr review.PullRequest, o Order) (*orchestrator.Stops, error) {
	if o.Asked != nil {
		return &orchestrator.Stops{Since: o.Asked.Since, After: o.Asked.Comment, Bot: o.Bot}, nil
	}
	out := &orchestrator.Stops{Bot: o.Bot}
	if note, holds, err := s.halted(ctx, pr); err != nil {
		return nil, err
	} else if !holds {
		out.Over = note.Comment
	}
	if !pr.UpdatedAt.IsZero() {
		out.Since = pr.UpdatedAt.Add(-time.Minute)
	}
	if o.Itself {
		out.Event = cmp.Or(o.Since, out.Since)
	}
	for _, c := range pr.Newest {
		if !o.Itself || o.Since.IsZero() || c.CreatedAt.Before(o.Since) { // what is younger than the event is about its commit
			out.After = max(out.After, c.DatabaseID)
		}
	}
	return out, nil
}
