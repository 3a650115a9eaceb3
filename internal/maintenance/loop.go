package maintenance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/schedule"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Where a kill has to be survived (threats.md "Fault matrix").
var (
	settled  = failpoint.New("job: branch settled")
	worked   = failpoint.New("job: command done")
	pushed   = failpoint.New("job: pushed")
	proposed = failpoint.New("job: pull request there")
)

// patchLimitBytes is the largest patch that is kept.
const patchLimitBytes = 4 << 20

// pushTries is how often another branch is taken because somebody pushed to the one before meanwhile.
const pushTries = 3

// state is what a run of a job knows by now.
type state struct {
	req   Request
	place place
	works []review.JobWork
	// tip is what is to be pushed, empty while nothing is; pull are the words for it, by is the command that asked last.
	tip  string
	pull review.PullWish
	by   int
	// url is the pull request's address.
	url string
	// broken is true for a run that an error ended.
	broken bool
}

// Run does a job, or goes on with it. An error stops the run as it is, to be resumed.
func (l *Loop) Run(ctx context.Context, steps Steps, req Request) (review.RunResult, error) {
	s := state{req: req}
	result, err := l.run(ctx, steps, &s)
	if err != nil {
		if ctx.Err() != nil || !l.permanent(err) {
			return result, err
		}
		s.broken = true
		result = s.result(l, review.Failed, sanitize.Redact(err.Error()))
	}
	return result, l.finish(ctx, steps, &s, &result)
}

func (l *Loop) run(ctx context.Context, steps Steps, s *state) (none review.RunResult, err error) {
	req := s.req
	l.say("looking for the branch of this job")
	if s.place, err = do(ctx, l, steps, "settle the branch", func(ctx context.Context) (place, error) { return l.settle(ctx, req) }); err != nil {
		return none, err
	}
	if err := settled.Hit(); err != nil {
		return none, err
	}
	if err := l.work(ctx, steps, s); err != nil {
		return none, err
	}
	if refused := s.refusals(); len(refused) > 0 {
		return s.result(l, review.Refused, "nothing is pushed: "+refusedWords(refused)), nil
	}
	if s.tip == "" {
		outcome, why := s.idle()
		return s.result(l, outcome, why), nil
	}
	to, refusal, err := l.wanted(ctx, steps, s)
	if err != nil {
		return none, err
	}
	if refusal != nil {
		return s.result(l, review.Refused, "nothing is pushed: "+refusedWords([]review.Refusal{*refusal})), nil
	}
	s.place = to
	if req.DryRun {
		return s.dry(l), nil
	}
	if outcome, why, err := l.push(ctx, steps, s); err != nil || outcome != "" {
		return s.result(l, outcome, "nothing is pushed: "+why), err
	}
	return l.propose(ctx, steps, s)
}

// work has each command do its work, on top of what the one before wants to be pushed.
func (l *Loop) work(ctx context.Context, steps Steps, s *state) error {
	from := s.place.From
	for i, c := range s.req.Commands {
		order := review.JobOrder{
			Run: s.req.Run, Job: s.req.Job, Command: c.ID, Number: i + 1, Head: s.req.Head, From: from, Terms: s.req.Terms, At: s.req.Started,
		}
		w, err := do(ctx, l, steps, fmt.Sprintf("command %d: %s", i+1, c.ID), func(ctx context.Context) (review.JobWork, error) {
			l.say("running " + c.ID)
			return l.Work(ctx, order)
		})
		if err != nil {
			return err
		}
		if err := worked.Hit(); err != nil {
			return err
		}
		s.works = append(s.works, w)
		if w.Tip != "" && w.Pull != nil && len(w.Refusals) == 0 {
			if asked := w.Pull.Branch; s.tip != "" && asked != "" && s.pull.Branch != "" && asked != s.pull.Branch {
				s.works[i].Refusals = append(s.works[i].Refusals, review.Refusal{Rule: schedule.RuleOneBranch,
					Detail: fmt.Sprintf("%s and %s are asked for, and a job has one", sanitize.CodeSpan(s.pull.Branch), sanitize.CodeSpan(asked))})
				continue
			}
			s.take(i, w)
			from = w.Tip
		}
	}
	return nil
}

// take has a command's work pushed. The first command's title stands; the branch is the one that is asked for, whoever asks.
func (s *state) take(i int, w review.JobWork) {
	branch := s.pull.Branch
	if s.tip == "" {
		s.pull.Title = w.Pull.Title
	}
	s.tip, s.by = w.Tip, i
	if s.pull.Branch = branch; w.Pull.Branch != "" {
		s.pull.Branch = w.Pull.Branch
	}
}

func (s *state) refusals() (all []review.Refusal) {
	for _, w := range s.works {
		all = append(all, w.Refusals...)
	}
	return all
}

func refusedWords(all []review.Refusal) string {
	r := all[0]
	text := "the rule " + r.Rule + " refuses "
	if r.Path != "" {
		text += sanitize.CodeSpan(r.Path) + ": "
	} else {
		text += "it: "
	}
	text += sanitize.Line(sanitize.Redact(r.Detail), 300)
	if n := len(all) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// idle says why nothing is pushed.
func (s *state) idle() (review.Outcome, string) {
	var failed, unasked, uncommitted []string
	empty := ""
	for i, w := range s.works {
		id := s.req.Commands[i].ID
		switch {
		case w.Answer.Receipt.State != review.AgentComplete:
			failed = append(failed, fmt.Sprintf("%s did not end well: %s", id, w.Answer.Receipt.Reason))
		case w.Pull != nil:
			empty = id + ": push_pr failed: no committed changes are present; commit_changes comes first"
		case w.Tip != "":
			unasked = append(unasked, id)
		case w.Uncommitted > 0:
			uncommitted = append(uncommitted, id)
		}
	}
	switch {
	case len(failed) > 0:
		return review.Partial, sanitize.Line(sanitize.Redact(strings.Join(failed, "; ")), 400)
	case empty != "":
		return review.Failed, empty
	case len(unasked) > 0:
		return review.NothingToDo, strings.Join(unasked, ", ") + " committed changes and did not call push_pr: nothing is pushed"
	case len(uncommitted) > 0:
		return review.NothingToDo, strings.Join(uncommitted, ", ") + " changed files and did not call commit_changes: nothing is pushed"
	}
	return review.NothingToDo, "nothing was changed"
}

// wanted is where the work goes.
func (l *Loop) wanted(ctx context.Context, steps Steps, s *state) (place, *review.Refusal, error) {
	type asked struct {
		Place   place           `json:"place"`
		Refusal *review.Refusal `json:"refusal,omitempty"`
	}
	a, err := do(ctx, l, steps, "check the branch", func(ctx context.Context) (a asked, err error) {
		a.Place, a.Refusal, err = l.asked(ctx, s.req, s.place, s.pull.Branch)
		return a, err
	})
	return a.Place, a.Refusal, err
}

// pushDone is what became of a push.
type pushDone struct {
	URL string `json:"url,omitempty"`
	// Refused says why the server does not let it in, Moved that the branch is not where it was.
	Refused string `json:"refused,omitempty"`
	Moved   string `json:"moved,omitempty"`
	// Kept says why a pull request keeps the words it has.
	Kept string `json:"kept,omitempty"`
	// Left is the branch that is not the job's any more, Closed says that its pull request is not open any more.
	Left   *leftBranch `json:"left,omitempty"`
	Closed string      `json:"closed,omitempty"`
}

// push moves the branch, or makes another one where a person pushed meanwhile, or has a pull request of it go elsewhere.
// outcome is empty when it did; else why says why nothing was pushed.
func (l *Loop) push(ctx context.Context, steps Steps, s *state) (outcome review.Outcome, why string, err error) {
	for try := 1; try <= pushTries; try++ {
		nonce, err := do(ctx, l, steps, fmt.Sprintf("push %d: name it", try), func(context.Context) (string, error) { return l.Nonce(), nil })
		if err != nil {
			return "", "", err
		}
		p := s.place
		e := effects.Effect{
			Key: fmt.Sprintf("%s/push/%d", s.req.Run, try), Nonce: nonce, Run: s.req.Run, Target: s.req.Target, Head: s.tip,
			Payload: effects.BranchPush{Ref: "refs/heads/" + p.Branch, Old: p.Old, New: s.tip, Replace: p.Replace || p.Old == git.NoCommit}.Payload(),
		}
		done, err := do(ctx, l, steps, fmt.Sprintf("push %d", try), func(ctx context.Context) (d pushDone, err error) {
			l.say(fmt.Sprintf("pushing %s to %s", s.tip[:10], p.Branch))
			got, err := l.deliver(ctx, effects.Branch{Pusher: l.Pusher}, e, func(ctx context.Context) (why string, err error) {
				if d.Left, d.Closed, err = l.overtaken(ctx, s.req, p); d.Left != nil {
					return d.Left.Why, err
				}
				return d.Closed, err
			})
			var moved *effects.MovedError
			var refused *effects.RefusedError
			switch {
			case errors.As(err, &moved):
				return pushDone{Moved: moved.Error()}, nil
			case errors.As(err, &refused):
				return pushDone{Refused: refused.Error()}, nil
			}
			d.URL = got.Ref
			return d, err
		})
		if err != nil {
			return "", "", err
		}
		if err := pushed.Hit(); err != nil {
			return "", "", err
		}
		switch {
		case done.Refused != "":
			return review.Refused, sanitize.Line(sanitize.Redact(done.Refused), 300), nil
		case done.Closed != "":
			return review.Superseded, done.Closed, nil
		case done.Moved == "" && done.Left == nil:
			l.Emit(review.Event{Kind: review.EventPushed, Head: s.tip, Time: l.Now()})
			return "", "", nil
		}
		left := done.Left
		if left == nil {
			same, err := do(ctx, l, steps, fmt.Sprintf("push %d: look who was first", try), func(ctx context.Context) (bool, error) { return l.sameJob(ctx, s.req, s.place.Branch) })
			if err != nil || same {
				return review.NothingToDo, "another run of this job, which this machine has no record of, pushed to " + s.place.Branch + " meanwhile", err
			}
			left = &leftBranch{Branch: p.Branch, Pull: p.Pull, Why: "somebody pushed to it meanwhile"}
		}
		if s.place, err = do(ctx, l, steps, fmt.Sprintf("push %d: another branch", try), func(ctx context.Context) (place, error) {
			return l.another(ctx, p, *left)
		}); err != nil {
			return "", "", err
		}
	}
	return review.Refused, fmt.Sprintf("%d branches moved, or had pull requests that go elsewhere, while they were pushed to", pushTries), nil
}

// another is a name that is free, beside a branch that is left as it is.
func (l *Loop) another(ctx context.Context, p place, left leftBranch) (place, error) {
	q := place{Old: git.NoCommit, From: p.From, Left: append(p.Left[:len(p.Left):len(p.Left)], left)}
	for n := 2; n <= mostBranches; n++ {
		q.Branch = schedule.Numbered(p.Branch, n)
		if head, inWay, err := l.look(ctx, q.Branch); err != nil || head == "" && inWay == "" {
			return q, err
		}
	}
	return q, fmt.Errorf("%d branches are there, from %s on: close or delete some", mostBranches, p.Branch)
}

// deliver makes an effect of a job, unless overtaken, which is asked right before, says why not.
func (l *Loop) deliver(ctx context.Context, k effects.Kind, e effects.Effect, overtaken func(context.Context) (string, error)) (effects.Done, error) {
	viewer, err := l.Forge.Viewer(ctx, e.Target.Repo.Host)
	if err != nil {
		return effects.Done{}, err
	}
	e.As = viewer
	return effects.Delivery{Outbox: l.Outbox, Sleep: l.Sleep, Overtaken: overtaken}.Deliver(ctx, k, e)
}

func (l *Loop) permanent(err error) bool {
	var e *storedError
	return errors.As(err, &e) || l.Permanent != nil && l.Permanent(err)
}

// storedError is an error that ends the run; it comes out of a step's stored result, so it is text alone.
type storedError struct{ text string }

func (e *storedError) Error() string { return e.text }

// do is Steps.Do for a value that is stored as JSON, or for the text of an error that no later try gets past.
func do[T any](ctx context.Context, l *Loop, steps Steps, name string, fn func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		Value  T      `json:"value"`
		Failed string `json:"failed,omitempty"`
	}
	var out outcome
	data, err := steps.Do(ctx, name, func(ctx context.Context) ([]byte, error) {
		v, err := fn(ctx)
		if err != nil && (ctx.Err() != nil || !l.permanent(err)) {
			return nil, err
		}
		if err != nil {
			return json.Marshal(outcome{Failed: sanitize.Redact(err.Error())})
		}
		return json.Marshal(outcome{Value: v})
	})
	if err != nil {
		return out.Value, err
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out.Value, fmt.Errorf("read stored result of %q: %w", name, err)
	}
	if out.Failed != "" {
		return out.Value, &storedError{out.Failed}
	}
	return out.Value, nil
}
