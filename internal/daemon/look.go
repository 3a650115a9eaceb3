package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/review"
)

// What becomes of what is wanted, beside the outcomes of runs.
const (
	nothing   = "nothing"
	answered  = "answered"
	cancelled = "cancelled"
	failed    = "failed"
)

// Waits before something is tried again.
const (
	// pausedWait is the wait while the queue is paused, which its end cuts short.
	pausedWait = time.Minute
	// heldWait is the wait while another run is in hand, which the end of one of this process cuts short; it is no failure.
	heldWait = 30 * time.Second
	// leastWait is the least wait of what may not begin yet: each look asks GitHub.
	leastWait = 10 * time.Second
	// firstWait is the first wait after a failure, which doubles up to longestWait; after mostTries it is given up.
	firstWait   = 30 * time.Second
	longestWait = 30 * time.Minute
	// interruptedWait is the wait after the last failure to go on with a run.
	interruptedWait = 6 * time.Hour
	mostTries       = 8
	// mostRuns is how often a pull request whose head moves is looked at in one turn.
	mostRuns = 3
)

// pausedWhy is why a review waits while the queue is paused.
const pausedWhy = "the queue is paused"

// in sees to the subjects of a lane, which is a queue of the engine.
func (d *Daemon) in(lane string) func(context.Context, string) error {
	return func(ctx context.Context, subject string) error {
		err := d.see(ctx, lane, subject)
		if err != nil {
			d.mu.Lock()
			d.left[subject] = true
			d.mu.Unlock()
		}
		return err
	}
}

// see sees to one subject.
func (d *Daemon) see(ctx context.Context, lane, subject string) error {
	if d.draining.Load() {
		<-ctx.Done() // it is dropped, and another process sees to it
		return nil
	}
	defer d.enter(subject)()
	w, err := d.record.Begin(ctx, subject)
	if err != nil || !w.Open() {
		return err
	}
	if lane == reviews {
		paused, err := queue.Paused(ctx, d.record)
		if err != nil {
			return err
		}
		if !paused.IsZero() {
			return d.record.Postpone(ctx, subject, pausedWait, store.Settled{Outcome: store.Waits, Why: pausedWhy, Seen: w.Seen})
		}
	}
	l := look{Daemon: d, Wanted: w, lane: lane, target: review.Target{Repo: repoOf(w.Repo), PR: w.PR}}
	take := l.pull
	if w.Comment != 0 {
		take = l.comment
	}
	out, err := take(ctx)
	if ctx.Err() != nil {
		return nil // it stays open, and the next process that serves sees to it
	}
	return d.settle(context.WithoutCancel(ctx), w, out, err)
}

// settle records what became of a look.
func (d *Daemon) settle(ctx context.Context, w store.Wanted, out store.Settled, err error) error {
	var later laterError
	switch {
	case waits(err):
		out.Outcome, out.Why = store.Waits, "another run is in hand on this pull request"
		return d.record.Postpone(ctx, w.Subject, d.held, out)
	case errors.As(err, &later):
		out.Outcome, out.Why = store.Waits, later.why
		if w.Outcome != out.Outcome || w.Why != out.Why { // else it was said before
			d.Said(fmt.Sprintf("%s: waits: %s", w.Subject, later.why))
		}
		return d.record.Postpone(ctx, w.Subject, max(later.wait, leastWait), out)
	case errors.Is(err, app.ErrCancelled):
		out.Outcome, out.Why, out.Unheard = cancelled, "somebody cancelled the run; prloop resume "+out.Run+" goes on with it", true
	case errors.Is(err, errLater):
		return nil // it stands in the queue of reviews
	case err != nil && !d.last(w, err):
		wait := min(firstWait<<w.Tries, longestWait)
		out.Outcome, out.Why = failed, fmt.Sprintf("it failed, and is tried again in %s: %v", wait, err)
		d.Said(fmt.Sprintf("%s: %s", w.Subject, out.Why))
		return d.record.Postpone(ctx, w.Subject, wait, out)
	case err != nil:
		out.Outcome, out.Why, out.Unheard = failed, err.Error(), true
	}
	if w.Outcome != out.Outcome || w.Why != out.Why || w.Run != out.Run || out.Run == "" { // else it was said before
		said := fmt.Sprintf("%s: %s", w.Subject, out.Outcome)
		if out.Why != "" {
			said += ": " + out.Why
		}
		if out.Run != "" {
			said += " (run " + out.Run + ")"
		}
		d.Said(said)
	}
	if err := d.record.Settle(ctx, w.Subject, w.Asked, out); err != nil || out.Outcome == nothing { // nothing was done that others waited for
		return err
	}
	return d.record.Hasten(ctx, w.Repo, w.PR)
}

// waits reports whether another run is in hand.
func waits(err error) bool {
	return errors.As(err, new(*store.HeldError)) || errors.Is(err, engine.ErrBusy)
}

// last reports whether what failed so is not tried again by itself. No list tells of a comment again that was looked at: what GitHub does not show once may be there,
// and a credential that it refuses may be taken a moment later (threats.md T641).
func (d *Daemon) last(w store.Wanted, err error) bool {
	if w.Comment != 0 && (w.Tries == 0 && errors.Is(err, github.ErrNotFound) || w.Tries+1 < mostTries && refused(err)) {
		return false
	}
	return d.Lasting == nil || d.Lasting(err) || w.Tries+1 >= mostTries
}

// refused reports whether GitHub did not take prloop's own credential.
func refused(err error) bool {
	return slices.ContainsFunc([]error{github.ErrAppKey, github.ErrNotLoggedIn, github.ErrNotInstalled, github.ErrSuspended}, func(kind error) bool { return errors.Is(err, kind) })
}

// look is a look at one subject.
type look struct {
	*Daemon
	store.Wanted
	lane   string
	target review.Target
}

// pull looks at a pull request: a run that was interrupted is gone on with, and one that is wanted is done.
func (l look) pull(ctx context.Context) (out store.Settled, err error) {
	anew, seen := l.Anew, intake.SeenAs(l.Seen)
	out.Seen = intake.Seen{State: seen.State}.String() // until GitHub says how it is: a list of it has it looked at again
	for range mostRuns {
		drafts, stopped := l.Rules.Drafts, ""
		client, err := l.github(ctx, l.target.Repo)
		if err != nil {
			return out, err
		}
		pr, err := client.PullRequest(ctx, l.target.Repo, l.target.PR)
		if errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrMoved) {
			out.Outcome, out.Why, out.Seen, out.Unheard = nothing, err.Error(), seen.Gone().String(), true
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if err := l.left(ctx, pr, seen); err != nil {
			return out, err
		}
		out.Seen = intake.See(pr).String()
		resume, err := l.service.Unfinished(ctx, pr)
		if err != nil {
			return out, err
		}
		cancelled, said := "", false // said: the verdict may be another one by what people say, or by their labels
		if resume != "" {
			was, err := l.record.Note(ctx, cancelNote+resume)
			if err != nil {
				return out, err
			}
			if was != "" { // it is a person's to go on with
				cancelled, resume = resume, ""
			}
		}
		if resume == "" {
			known, err := l.known(ctx, client, pr, cancelled, anew, out.Run == "")
			if err != nil {
				return out, err
			}
			if pr.Refused { // whether a run about that begins, and whatever it waits for
				if err := l.service.NotYet(ctx, pr, known.Run == "" || known.Silent, false); err != nil {
					return out, err
				}
			}
			if why := intake.Decide(pr, l.Rules, known); why != "" {
				if err := cmp.Or(l.service.NotYet(ctx, pr, seen.Retargeted(pr), known.Relabelled), l.merged(ctx, pr)); err != nil {
					return out, err
				}
				if known.Run != "" && !known.Silent { // a success that was taken back is decided anew: no review stands for the head any more (threats.md T754)
					now, err := l.service.Reviewed(ctx, pr)
					if err != nil {
						return out, err
					}
					if now.Silent {
						out.Seen = intake.Seen{State: intake.See(pr).State}.String() // should this turn end here, a list has it looked at again
						continue
					}
				}
				switch {
				case out.Run != "": // this turn's own run says what there is
				case known.Run != "" && !known.Silent && known.Run == l.Settled.Run && l.Outcome != store.Waits && intake.SeenAs(out.Seen).State == seen.State:
					out.Outcome, out.Why, out.Run = l.Outcome, l.Why, l.Settled.Run // what changed since is nothing to us
				default:
					// What was said of a commit that is the head no more, or of a pull request that was closed, may count again.
					out.Outcome, out.Why, out.Unheard = nothing, why, pr.State == intake.Closed || known.Head != "" && !known.About(pr)
				}
				return out, nil
			}
			drafts, stopped, said = drafts || known.Contested(pr) || known.Relabelled, known.Stopped, known.Said || known.Relabelled
			if err := l.begin(ctx, pr, known); err != nil {
				if later := (laterError{}); errors.As(err, &later) {
					err = cmp.Or(l.service.NotYet(ctx, pr, true, known.Relabelled || known.Said && !(later.often && known.Told)), err)
				}
				return out, err
			}
		}
		itself := stopped == "" && (l.Priority != intake.Command || out.Run != "")
		ended, err := l.run(ctx, resume, drafts, itself, l.Fix && stopped == "")
		out.Run = ended.Result.Run
		if stopped != "" { // no other is to begin
			err = errors.Join(err, l.service.Halt(ctx, l.target, pr.HeadSHA, stopped))
		}
		if err != nil {
			if _, e := l.record.Run(ctx, out.Run); errors.Is(e, store.ErrNotFound) { // it never began
				out.Run = ""
			}
			if said { // and no review tells what that comes to
				err = cmp.Or(l.service.NotYet(ctx, pr, false, true), err)
			}
			return out, err
		}
		out.Outcome, out.Why = string(ended.Result.Outcome), ended.Result.Reason
		over := ended.Result.Outcome != review.Superseded
		if resume == "" {
			anew = false
		}
		if ended.Result.Outcome == review.Failed || resume == "" && over {
			if ended.Result.Gate == nil { // it may have kept others from a success, and no status of its own tells that it does no more
				err = l.others(ctx, pr, pr.HeadSHA)
			}
			return out, err
		}
	}
	return out, nil
}

// known is what the record tells of a pull request. cancelled is the run that somebody cancelled, empty for none; first is true before a run of this turn.
func (l look) known(ctx context.Context, client hub, pr review.PullRequest, cancelled string, anew, first bool) (intake.Known, error) {
	k, err := l.service.Reviewed(ctx, pr)
	if err != nil {
		return k, err
	}
	k.Anew = anew
	told := false
	if anew && k.About(pr) {
		if told, err = l.counts(ctx, client); err != nil {
			return k, err
		}
	}
	// What waits because the commit was looked at often, and nobody is known to contest, costs no reading of threads for each event (threats.md T380). A list tells of no
	// event: who said something is told by nothing else.
	if _, often := intake.Often(pr, l.Priority, k, wallclock.Now()); often == "" || told || l.Priority == intake.Found {
		if k.Said, err = l.service.Said(ctx, pr, k); err != nil {
			return k, err
		}
	}
	if told && !k.Said {
		k.Said, k.Told = true, k.Standing == intake.Standing(pr)
	}
	if cancelled != "" && k.Stopped == "" {
		if k.Stopped, err = l.halted(ctx, pr, k, cancelled); err != nil {
			return k, err
		}
	}
	if first && l.Priority == intake.Command && l.Asked > k.StoppedAt { // somebody asked since
		k.Stopped = ""
	}
	return k, nil
}

// counts reports whether somebody who may block is among those who said something that no look has heard. Who may by what GitHub says at the event is known; of
// others it is asked (threats.md T493).
func (l look) counts(ctx context.Context, client hub) (bool, error) {
	people := strings.Fields(l.Want.Said)
	if slices.Contains(people, intake.Member) {
		return true, nil
	}
	for _, login := range people {
		if may, err := client.Writes(ctx, l.target.Repo, login); err != nil || may {
			return may, err
		}
	}
	return false, nil
}

// halted says that the newest run about a head was cancelled, also where nobody was at work on it then; empty where it is not so.
func (l look) halted(ctx context.Context, pr review.PullRequest, known intake.Known, run string) (string, error) {
	r, err := l.record.Run(ctx, run)
	if err != nil || r.Head != pr.HeadSHA || len(known.Lately) > 0 && known.Lately[0].After(r.Created) {
		return "", err
	}
	return app.CancelWords(run), nil
}

// left has those pull requests looked at that have a commit which this one has left, by another head or its end: its word on the commit may have been the last.
func (l look) left(ctx context.Context, pr review.PullRequest, seen intake.Seen) error {
	now := intake.See(pr)
	if now.State == seen.State {
		return nil
	}
	for _, head := range []string{seen.Head(), now.Head()} {
		if head == "" || now.Open() && head == now.Head() {
			continue
		}
		if err := l.others(ctx, pr, head); err != nil {
			return err
		}
	}
	return nil
}

// others has the other pull requests that were approved at a commit looked at again.
func (l look) others(ctx context.Context, pr review.PullRequest, head string) error {
	others, err := l.service.Beside(ctx, pr, head)
	if err != nil {
		return err
	}
	for _, number := range others {
		if err := l.record.Want(ctx, l.want(l.target.Repo, intake.Look{PR: number, Priority: intake.Again})); err != nil {
			return err
		}
	}
	return nil
}

// A laterError says for how long a review may not begin, and why.
type laterError struct {
	wait time.Duration
	why  string
	// often is true where that is because the commit was looked at often.
	often bool
}

func (e laterError) Error() string { return e.why }

// begin gives a laterError when a review of the pull request may not begin yet: while the queue is paused, in quiet hours, when its commit was looked at often, and when its author has had
// as many as there are in a day. What a person asked for begins all the same, and does not count.
func (l look) begin(ctx context.Context, pr review.PullRequest, known intake.Known) error {
	paused, err := queue.Paused(ctx, l.record)
	if err != nil {
		return err
	}
	if !paused.IsZero() { // since this turn began
		return laterError{wait: pausedWait, why: pausedWhy}
	}
	now, urgent := wallclock.Now(), known.Urgent(pr) // what people say of what is approved
	if until, why := intake.Quiet(l.Priority, l.Rules, now); why != "" && !urgent {
		return laterError{wait: until.Sub(now), why: why}
	}
	if until, why := intake.Often(pr, l.Priority, known, now); why != "" {
		return laterError{until.Sub(now), why, true}
	}
	if urgent || l.Rules.PerAuthor == 0 || l.Priority == intake.Command {
		return nil
	}
	about, most := material(pr, known), l.Rules.PerAuthor
	for _, turn := range []struct{ whose, about, why string }{
		{intake.AuthorOf(l.target.Repo.Host, pr.Author), about, fmt.Sprintf("%s has had %d reviews today", pr.Author.Login, most)},
		{l.Subject + " " + about, pr.BaseSHA, fmt.Sprintf("the commit %.7s was reviewed for %d commits of its base branch today", pr.HeadSHA, most)},
	} {
		wait, err := l.record.TakeTurn(ctx, turn.whose, l.Subject, turn.about, most)
		if err != nil {
			return err
		}
		if wait > 0 {
			return laterError{wait: wait, why: turn.why + ", which is the limit: it goes on at midnight UTC, or when somebody asks by comment"}
		}
	}
	return nil
}

// material tells what its author has chosen of what a review is about, and what agents are asked anew for when it changes, or was overtaken. What others say in its
// threads is not, and costs its author no turn. Nor does another commit of the base branch, for which agents are asked anew too: others push it, and others' words
// have the pull request looked at then. Those are counted apart, for what the author has chosen (threats.md T470).
func material(pr review.PullRequest, known intake.Known) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{pr.HeadSHA, pr.BaseRef, pr.Title, pr.Body, known.Overtaken}))
	return hex.EncodeToString(sum[:])
}

// merged keeps what became of the findings that were posted on a pull request, once that is merged.
func (l look) merged(ctx context.Context, pr review.PullRequest) error {
	if pr.State != intake.Merged {
		return nil
	}
	o, err := l.order(false)
	if err != nil {
		return err
	}
	_, err = l.service.Merged(ctx, o)
	return err
}

// run reviews the pull request.
func (l look) run(ctx context.Context, resume string, drafts, itself, fixes bool) (app.Ended, error) {
	o, err := l.order(fixes)
	if err != nil {
		return app.Ended{}, err
	}
	o.Drafts, o.Itself = drafts, itself
	return l.service.Once(ctx, o, resume, l.news(resume))
}

func (l look) order(fixes bool) (app.Order, error) {
	o, err := l.Order(fixes)
	o.Target, o.Bot = l.target, l.Bot
	return o, err
}

// news hears of a run.
func (l look) news(run string) func(review.Event) {
	log := l.Log.With("pull_request", l.target.String())
	if run != "" {
		log = log.With("run", run)
	}
	return func(e review.Event) {
		switch {
		case e.Kind == review.EventLog && (e.Level == "warn" || e.Level == "error"):
			log.Warn(e.Message, "agent", e.Agent)
		case e.Kind == review.EventState:
			log.Debug("agent", "agent", e.Agent, "state", e.State)
		default:
			log.Debug(e.Message, "agent", e.Agent)
		}
	}
}

// errLater: what a comment asks for needs a run, and waits for its turn among the reviews.
var errLater = errors.New("what the comment asks for waits for its turn")

// givenUp is what is said to who asked for what failed. Why it did is the operator's to know.
const givenUp = "Nothing was done: the run failed to begin, or stopped before its end. Whoever operates prloop finds the reason with `prloop status`; ask again once it is gone."

// comment looks at a comment: what needs no agent is answered at once, and the rest waits for its turn among the reviews.
func (l look) comment(ctx context.Context) (out store.Settled, err error) {
	client, err := l.github(ctx, l.target.Repo)
	if err != nil {
		return out, err
	}
	m, err := client.Comment(ctx, review.PullRequest{Repo: l.target.Repo, Number: l.target.PR}, l.Comment)
	if errors.Is(err, github.ErrNotFound) {
		return store.Settled{Outcome: nothing, Why: "the comment is gone"}, nil
	}
	if err != nil {
		return out, err
	}
	o, err := l.order(false)
	if err != nil {
		return out, err
	}
	// Of one that was edited since it was written only a stop is heard: whoever read it may have read something else.
	asks, why, err := l.service.Hear(ctx, app.Comment{
		Target: l.target, ID: l.Comment, UpdatedAt: m.CreatedAt, Read: &m, Bot: l.Bot,
		Heard: trigger.Comment{Action: "created", PullRequest: true, Author: m.Author, Body: m.Body},
	}, o)
	if err != nil || why != "" {
		return store.Settled{Outcome: nothing, Why: why}, err
	}
	out = store.Settled{Outcome: answered, Why: m.Author.Login + " was answered"}
	for _, a := range asks {
		_, done, err := l.service.Reply(ctx, o, a)
		if err == nil && !done {
			out.Run, err = l.ask(ctx, a)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// ask does the run that a line of a comment asks for, if this is the queue for it.
func (l look) ask(ctx context.Context, a app.Ask) (run string, err error) {
	if l.lane != reviews {
		_, err := l.engine.Add(ctx, engine.Task{Queue: reviews, Key: l.Subject, Priority: intake.Command})
		return "", errors.Join(err, errLater)
	}
	o, err := l.order(l.Fix || a.Word == trigger.Fix)
	if err != nil {
		return "", err
	}
	if a.ID != "" {
		o.Command = &app.CommandOrder{ID: a.ID, Args: a.Args, Argv: a.Argv}
	}
	ended, err := l.service.RunAsked(ctx, o, a, l.news(""))
	if err != nil && ctx.Err() == nil && !waits(err) && !errors.Is(err, app.ErrCancelled) && l.last(l.Wanted, err) {
		_, told := l.service.Answer(ctx, l.target, a, givenUp)
		err = errors.Join(err, told)
	}
	return ended.Result.Run, err
}
