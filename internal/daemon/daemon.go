// Package daemon serves repositories: it hears of pull requests and comments, sees to each in its turn, and records why where nothing is done.
//
// What an event, a reconciliation or a restart leads to is only that a look is wanted at a pull request or a comment. What is done is decided when
// the look is taken, from what GitHub says then and from the record of runs. So events that come twice, late, in another order, or never do no harm.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/webhook"
	"github.com/prloop/prloop/review"
)

// The queues: what comments ask for is heard while all reviews are under way.
const (
	reviews  = "reviews"
	comments = "comments"
	// hearing is how many comments are heard at a time.
	hearing = 4
)

// Options of a daemon.
type Options struct {
	// Listen takes webhooks; nil when there are none. Secrets are those they may be signed with.
	Listen net.Listener
	// Fronted says that a front has verified them, and that nobody but it can open Listen.
	Secrets []string
	Fronted bool
	// Serves are the repositories that are served. Every is how often GitHub is asked for what no event told of.
	Serves Served
	Every  time.Duration
	// Reviews is how many pull requests are reviewed at a time; 0 leaves them to other processes.
	Reviews int
	// Drain is how long runs may go on when the process is told to end; 0 interrupts them at once.
	Drain time.Duration
	// Retention is how long finished runs are kept; 0 is for ever.
	Retention time.Duration
	// Settle is how long a pull request is to be left alone before it is reviewed.
	Settle time.Duration
	// Rules say which pull requests are reviewed without anybody asking.
	Rules intake.Rules
	// Order makes the order of a review; with fixes, one that fixes what it finds. Fix makes all of them such.
	Order func(fixes bool) (app.Order, error)
	Fix   bool
	// Bot is the login that comments mention; empty for that of the account, if it is an app's.
	Bot string
	// Host is the one whose account prloop has.
	Host string
	// Heard hears of each delivery that was written down, by its event, and Refused of each that was not; nil for nobody.
	Heard   func(event string)
	Refused func(status int, why string)
	// Lasting reports whether an error comes again however often the same is tried.
	Lasting func(error) bool
	// Said hears of what is decided and done, in one line each.
	Said func(string)
	Log  hclog.Logger
}

// A Daemon serves.
type Daemon struct {
	Options
	service runs
	// github connects as whoever may work on a repository, or to its host where it has no name.
	github func(context.Context, review.Repo) (hub, error)
	record *store.Store
	engine *engine.Engine
	// own is prloop's account.
	own review.Person
	// nudge wakes the dispatcher, listed has the repositories reconciled.
	nudge, listed chan struct{}
	// doubted wakes who sees to doubts.
	doubted chan struct{}

	// held is heldWait, tick and poll are how often what is due and the queue are looked at; tests have their own.
	held, tick, poll time.Duration

	// asking is the constant of this name, but in tests.
	asking int

	// draining is whether the process has been told to end: it begins nothing any more.
	draining atomic.Bool
	// ready is true while tasks are done.
	ready atomic.Bool

	mu sync.Mutex
	// working are the subjects that are seen to at the moment; left are those that somebody is to see to anew, because the database did not take
	// what became of them.
	working, left map[string]bool
	// doubts are pull requests, by their subjects, of which something may have been said for another base branch.
	doubts map[string]review.PullRequest
	// tried is when GitHub was asked about repositories last.
	tried map[review.Repo]time.Time
}

// runs are what a daemon has done: reviews, and answers to comments. They are those of an *app.Service.
type runs interface {
	Record() *store.Store
	Engine() (*engine.Engine, error)
	Reviewed(context.Context, review.PullRequest) (intake.Known, error)
	Unfinished(context.Context, review.PullRequest) (run string, err error)
	Said(context.Context, review.PullRequest, intake.Known) (bool, error)
	NotYet(ctx context.Context, pr review.PullRequest, waits, said bool) error
	Beside(ctx context.Context, pr review.PullRequest, head string) (numbers []int, err error)
	InDoubt(ctx context.Context, pr review.PullRequest, said bool) (bool, error)
	Halt(ctx context.Context, target review.Target, head, said string) error
	Merged(context.Context, app.Order) (first bool, err error)
	Once(ctx context.Context, o app.Order, resume string, emit func(review.Event)) (app.Ended, error)
	Hear(context.Context, app.Comment, app.Order) (asks []app.Ask, why string, err error)
	Reply(context.Context, app.Order, app.Ask) (url string, ok bool, err error)
	Answer(ctx context.Context, target review.Target, a app.Ask, body string) (url string, err error)
	RunAsked(ctx context.Context, o app.Order, a app.Ask, emit func(review.Event)) (app.Ended, error)
	Live() []string
	Cancel(run string) bool
	Prune(ctx context.Context, before time.Time, keep int) (int, error)
}

// hub is what a daemon asks GitHub itself.
type hub interface {
	Viewer(ctx context.Context, host string) (review.Person, error)
	PullRequest(ctx context.Context, repo review.Repo, number int) (review.PullRequest, error)
	Writes(ctx context.Context, repo review.Repo, login string) (bool, error)
	Comment(ctx context.Context, pr review.PullRequest, id int64) (review.Comment, error)
	OpenPulls(context.Context, review.Repo) ([]review.PullRequest, error)
	NewComments(ctx context.Context, repo review.Repo, since time.Time) (all []github.NumberedComment, until time.Time, err error)
	Installed(ctx context.Context, owner string) ([]review.Repo, error)
	Clock() time.Time
}

// New makes a daemon over a service.
func New(ctx context.Context, s *app.Service, o Options) (*Daemon, error) {
	return build(ctx, s, func(ctx context.Context, r review.Repo) (hub, error) {
		if r.Name == "" {
			return s.GitHub(ctx, r.Host)
		}
		return s.GitHubFor(ctx, r)
	}, o)
}

func build(ctx context.Context, s runs, hubs func(context.Context, review.Repo) (hub, error), o Options) (*Daemon, error) {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Said == nil {
		o.Said = func(string) {}
	}
	d := &Daemon{Options: o, service: s, github: hubs, record: s.Record(), nudge: make(chan struct{}, 1), listed: make(chan struct{}, 1), doubted: make(chan struct{}, 1), doubts: map[string]review.PullRequest{}, working: map[string]bool{}, left: map[string]bool{}, held: heldWait, tick: tick, asking: asking, tried: map[review.Repo]time.Time{}}
	var err error
	if d.engine, err = s.Engine(); err != nil {
		return nil, err
	}
	client, err := d.github(ctx, review.Repo{Host: o.Host})
	if err != nil {
		return nil, err
	}
	if d.own, err = client.Viewer(ctx, o.Host); err != nil {
		return nil, err
	}
	if d.Bot == "" && d.own.Bot {
		d.Bot = d.own.Login
	}
	return d, nil
}

// Run serves until ctx ends. Runs that are under way then are interrupted; the next process that serves goes on with them.
func (d *Daemon) Run(ctx context.Context) error {
	return unlessTold(ctx, d.serve(ctx))
}

// unlessTold is err, or nil where a process was told to end before it had begun.
func unlessTold(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (d *Daemon) serve(ctx context.Context) error {
	var front *http.Server
	if d.Listen != nil {
		o := webhook.Options{Secrets: d.Secrets, Take: d.take, Refused: d.Refused, Log: d.Log.Named("webhook")}
		h := webhook.Verified(o)
		if !d.Fronted {
			var err error
			if h, err = webhook.New(o); err != nil {
				return err
			}
		}
		front = NewServer(d.mux(h))
	}
	workers, err := d.engine.Serve(ctx, d.queues()...)
	if err != nil {
		return err
	}
	defer d.end(workers)
	if err := errors.Join(d.recount(ctx), d.record.HastenAll(ctx), queue.NoneUnread(ctx, d.record)); err != nil { // what waited for a limit may have another one now
		return err
	}
	failed := make(chan error, 1)
	d.ready.Store(true)
	defer d.ready.Store(false)
	if front != nil {
		go func() { failed <- front.Serve(Bounded(d.Listen)) }()
		defer func() {
			soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
			defer cancel()
			_ = front.Shutdown(soon) // deliveries that are being written down are answered
			_ = front.Close()
		}()
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	wg.Go(func() { d.dispatch(ctx) })
	wg.Go(func() { d.reconcile(ctx) })
	wg.Go(func() { d.recant(ctx) })
	wg.Go(func() { d.reap(ctx, workers) })
	select {
	case <-ctx.Done():
		return nil
	case <-d.gone():
		return context.Cause(d.engine.Gone())
	case err := <-failed:
		return fmt.Errorf("serve webhooks on %s: %w", d.Listen.Addr(), err)
	}
}

// closing is how long deliveries may take to be answered when the daemon ends.
const closing = 3 * time.Second

// Intervals of the dispatcher.
const (
	// tick is how often it looks for what is due, batch how much it puts into the queue at once.
	tick  = 250 * time.Millisecond
	batch = 200
	// aside is how long what another process is at work on is not looked at.
	aside = 2 * time.Second
	// sweep is how often what is over is forgotten, prune how often runs are; kept is how long deliveries are.
	sweep = time.Minute
	prune = time.Hour
	kept  = 30 * 24 * time.Hour
)

// wake has the dispatcher look at once.
func (d *Daemon) wake() {
	select {
	case d.nudge <- struct{}{}:
	default:
	}
}

// dispatch puts what is due into the queues.
func (d *Daemon) dispatch(ctx context.Context) {
	ticker, sweeper := time.NewTicker(d.tick), time.NewTicker(sweep)
	defer ticker.Stop()
	defer sweeper.Stop()
	var pruned time.Time
	for {
		if err := errors.Join(d.putBack(ctx), d.enqueue(ctx), d.cancelWanted(ctx)); err != nil && ctx.Err() == nil {
			d.Log.Error("what is wanted was not put into the queue", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-d.nudge:
		case <-ticker.C:
		case <-sweeper.C:
			if d.Retention > 0 && time.Since(pruned) >= prune {
				pruned = time.Now()
				d.forget(ctx, pruned)
			}
			_, err := d.record.ForgetDeliveries(ctx, kept)
			if err = errors.Join(err, d.record.ForgetComments(ctx, kept), d.record.ForgetTurns(ctx), d.engine.ForgetTasks(ctx)); err != nil && ctx.Err() == nil {
				d.Log.Warn("what is over is still kept", "err", err)
			}
		}
	}
}

// forget forgets finished runs that are older than they are to be kept.
func (d *Daemon) forget(ctx context.Context, now time.Time) {
	n, err := d.service.Prune(ctx, now.Add(-d.Retention), 0)
	if n > 0 {
		d.Said(fmt.Sprintf("forgot %d runs that are older than %s", n, d.Retention))
	}
	if err != nil && ctx.Err() == nil {
		d.Log.Warn("old runs are still kept", "err", err)
	}
}

func (d *Daemon) enqueue(ctx context.Context) error {
	due, err := d.record.Due(ctx, batch+d.atWork())
	if err != nil {
		return err
	}
	paused, err := queue.Paused(ctx, d.record)
	if err != nil {
		return err
	}
	for _, w := range due {
		if !paused.IsZero() && w.Comment == 0 {
			continue
		}
		if d.isWorking(w.Subject) {
			continue // it is asked for again once that is over
		}
		lane := reviews
		if w.Comment != 0 {
			lane = comments
		}
		if err := d.record.Queued(ctx, w.Subject); err != nil {
			return err
		}
		added, err := d.engine.Add(ctx, engine.Task{Queue: lane, Key: w.Subject, Priority: place(w)})
		switch {
		case err != nil:
			err = errors.Join(err, d.record.Requeue(ctx, w.Subject))
		case !added: // another process is at work on it
			err = d.record.Aside(ctx, w.Subject, aside)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rise is after how long of waiting something stands beside what is one step more urgent and comes then.
const rise = 10 * time.Minute

// place is where something stands in its queue, the lowest first. What people ask for comes first. All else goes by how long it waits and how urgent it is: who
// keeps asking for something more urgent is overtaken (threats.md T424).
func place(w store.Wanted) uint {
	if w.Priority <= intake.Command {
		return intake.Command
	}
	return intake.Command + uint(max(w.Since.Add(time.Duration(w.Priority)*rise).Unix()/60, 1)) //nolint:gosec // minutes since 1970 fit
}

// recount has those subjects put into the queue again that are noted as having a task and have none: who noted it died before adding the task, or the task was dropped
// and who dropped it did not say so. What is settled between the two lists is left alone, and what gets its task then is asked about once more than needed.
func (d *Daemon) recount(ctx context.Context) error {
	noted, err := d.record.InQueue(ctx)
	if err != nil || len(noted) == 0 {
		return err
	}
	tasks, err := d.engine.Tasks(ctx, reviews, comments)
	if err != nil {
		return err
	}
	stands := map[string]bool{}
	for _, t := range tasks {
		stands[t.Key] = true
	}
	for _, subject := range noted {
		if !stands[subject] {
			err = errors.Join(err, d.record.Requeue(ctx, subject))
		}
	}
	return err
}

// atWork counts the subjects this process is at work on.
func (d *Daemon) atWork() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.working)
}

// backlog gives what is wanted of a pull request, and whether that waits for its turn: the queue is paused, all who review are at work, which of other processes nobody
// knows here, or somebody is at work on it who began before all was said.
func (d *Daemon) backlog(ctx context.Context, repo review.Repo, pr int) (w store.Wanted, waits bool, err error) {
	w, err = d.record.Wanted(ctx, store.Subject(fullName(repo), pr, 0))
	if errors.Is(err, store.ErrNotFound) {
		return w, false, nil
	}
	if err != nil || !w.Open() || w.Begun {
		return w, false, err
	}
	paused, err := queue.Paused(ctx, d.record)
	if err != nil || !paused.IsZero() || d.atWork() >= d.Reviews || d.isWorking(w.Subject) {
		return w, true, err
	}
	runs, err := d.record.ListRuns(ctx, store.Filter{Repo: repo.String(), PR: pr, State: store.Running, Limit: 1})
	return w, len(runs) > 0, err
}

func (d *Daemon) isWorking(subject string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.working[subject]
}

// enter makes a subject one that is seen to, until the function is called.
func (d *Daemon) enter(subject string) (leave func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.working[subject] = true
	return func() {
		d.mu.Lock()
		delete(d.working, subject)
		d.mu.Unlock()
		d.wake()
	}
}

// take writes a delivery down, with what it asks for.
func (d *Daemon) take(ctx context.Context, v webhook.Delivery) error {
	told, err := intake.Read(intake.Event{Name: v.Event, Payload: v.Body, Own: d.own, Bot: d.Bot, Drafts: d.Rules.Drafts})
	if err != nil {
		d.Log.Warn("a delivery cannot be read", "delivery", v.GUID, "event", v.Event, "err", err)
		return webhook.ErrMalformed
	}
	if why := d.Serves.refuses(told.Repo); why != "" && told.Repo.Name != "" {
		told.Looks, told.Why, told.Warn, told.Pull = nil, why, false, review.PullRequest{}
	}
	if told.Account != "" && !d.Serves.any(told.Account) {
		told.Account, told.Why = "", "no repository of the account is served"
	}
	wants := make([]store.Want, len(told.Looks))
	for i, l := range told.Looks {
		wants[i] = d.want(told.Repo, l)
		wants[i].Key = told.Key
	}
	first, err := d.record.Deliver(ctx, store.Delivery{GUID: v.GUID, Event: v.Event, Action: told.Action, Why: told.Why}, wants...)
	if err != nil {
		return err
	}
	if first && d.Heard != nil {
		d.Heard(v.Event)
	}
	if first && told.Warn {
		d.Log.Warn(told.Why, "repository", told.Repo.String())
	}
	if first && len(wants) > 0 {
		d.wake()
	}
	if first && told.Pull.HeadSHA != "" {
		d.suspect(ctx, told.Pull, d.objected(ctx, told))
	}
	if first && told.Account != "" {
		select {
		case d.listed <- struct{}{}:
		default:
		}
	}
	return nil
}

// objected reports whether what somebody said, at an event or before it, waits to be heard. What was said before is not
// asked about at an event that brings no look forward.
func (d *Daemon) objected(ctx context.Context, told intake.Told) bool {
	w, waits, err := d.backlog(ctx, told.Repo, told.Pull.Number)
	return err != nil || waits && slices.ContainsFunc(told.Looks, func(l intake.Look) bool { return l.Contests() || l.Labels || w.Said != "" && !l.Patient })
}

// want is a look as it is recorded.
func (d *Daemon) want(repo review.Repo, l intake.Look) store.Want {
	name := fullName(repo)
	w := store.Want{Subject: store.Subject(name, l.PR, l.Comment), Repo: name, PR: l.PR, Comment: l.Comment, Priority: l.Priority, Anew: l.Anew, Said: l.Said, Patient: l.Patient}
	if l.Settles {
		w.Settle = d.Settle
	}
	return w
}

// Served are the repositories that are served: HOST/OWNER/NAME, and HOST/OWNER for all of an owner.
type Served []review.Repo

// Has reports whether the repository HOST/OWNER/NAME is served.
func (s Served) Has(name string) bool { return s.refuses(repoOf(name)) == "" }

// any reports whether repositories of an account are served.
func (s Served) any(account string) bool {
	return slices.ContainsFunc(s, func(o review.Repo) bool { return strings.EqualFold(o.Owner, account) })
}

// refuses says why a repository is not served; empty when it is.
func (s Served) refuses(r review.Repo) string {
	if slices.ContainsFunc(s, func(o review.Repo) bool { return matches(o, r) }) {
		return ""
	}
	return "the repository is not served"
}
