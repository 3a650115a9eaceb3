package app

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// gatekeeper lends the loop what commit statuses need of GitHub.
type gatekeeper struct{ *github.Client }

// gatesRuns lends it also what other runs said of a commit.
type gatesRuns struct {
	gatekeeper
	service *Service
	// repo is the repository, whatever it is called; empty where nobody knows it by its number.
	repo review.RepoKey
}

// Rebased says that the pull request of a run has another base branch now than the run reviewed, or that nobody can tell; empty when it has not. What was
// decided for one branch may be sent long after, by whoever goes on with the run (threats.md T410).
func (g gatesRuns) Rebased(ctx context.Context, target review.Target, run string) (string, error) {
	pr, err := g.PullRequest(ctx, target.Repo, target.PR)
	if err != nil {
		return "", err
	}
	if same, _, err := g.service.sameBase(ctx, pr, run); err != nil || same {
		return "", err
	}
	return fmt.Sprintf("#%d is to be merged into another branch now", target.PR), nil
}

// approves reports whether a status says that its pull request has come to a success by itself.
func approves(e store.Entry) bool {
	s, err := effects.ReadStatus(e.Payload)
	return err == nil && cmp.Or(s.Own, s.State) == review.GateSuccess
}

// mostStatuses is how many statuses of ours a commit has when it is called a success no more. GitHub takes a thousand: the others are left for what takes a
// success back.
const mostStatuses = 900

// SetStatus sets the status of a commit, unless that is what we said last and GitHub has now: whoever may say something on a pull request has it looked at
// again, and could use up all statuses that GitHub takes (threats.md T389).
func (g gatesRuns) SetStatus(ctx context.Context, repo review.Repo, commit string, s effects.CommitStatus) (string, error) {
	again, err := g.again(ctx, repo, commit, s)
	if err != nil {
		return "", effects.NotSent(err)
	}
	if again || s.State == review.GateSuccess {
		viewer, err := g.Viewer(ctx, repo.Host)
		if err != nil {
			return "", effects.NotSent(err)
		}
		set, err := g.Statuses(ctx, repo, commit)
		switch {
		case err != nil:
			return "", effects.NotSent(err)
		case again && len(set) > 0 && effects.Same(set[0].By, viewer) && set[0].State == s.State && set[0].Description == s.Description && set[0].Target == s.Target:
			return set[0].URL, nil
		case s.State == review.GateSuccess && len(set) >= mostStatuses:
			return "", &effects.WithheldError{Why: fmt.Sprintf("The commit has %d statuses or more, and GitHub takes 1,000: push a new one", mostStatuses)}
		}
	}
	return g.Client.SetStatus(ctx, repo, commit, s)
}

// again reports whether a status is the one that was set last on a commit, as far as is known here. What GitHub lists may be what was there a moment ago.
func (g gatesRuns) again(ctx context.Context, repo review.Repo, commit string, s effects.CommitStatus) (bool, error) {
	said, err := g.service.statusesOn(ctx, repo, g.repo, commit)
	for _, e := range slices.Backward(said) {
		switch {
		case !reached(e):
		case e.Payload != s.Payload():
			return false, err
		case e.State == store.StateAcked:
			return true, err
		}
	}
	return false, err
}

// Later reports whether another run has set the status of a commit since a run did.
func (g gatesRuns) Later(ctx context.Context, target review.Target, run, head string) (bool, error) {
	said, err := g.service.statusesOn(ctx, target.Repo, g.repo, head)
	i := slices.IndexFunc(said, func(e store.Entry) bool { return e.Run == run })
	if err != nil || i < 0 {
		return false, err
	}
	last := said[i]
	for _, e := range said[i:] {
		if e.Run == run || reached(e) {
			last = e
		}
	}
	return last.Run != run, nil
}

// reached reports whether GitHub may have got a status.
func reached(e store.Entry) bool { return e.State == store.StateSent || e.State == store.StateAcked }

// openState is GitHub's word for a pull request that can be merged.
const openState = "OPEN"

// statusesOn are the statuses that runs about any pull request of a repository set on a commit, the newest last. key finds also those of runs that knew the
// repository by another name.
func (s *Service) statusesOn(ctx context.Context, repo review.Repo, key review.RepoKey, head string) (out []store.Entry, err error) {
	all, err := s.store.EffectsOn(ctx, effects.Status{}.Name(), head)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if !strings.EqualFold(e.Target.Repo.String(), repo.String()) {
			run, err := s.store.Run(ctx, e.Run)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return nil, err
			}
			if key == "" || run.RepoKey != key {
				continue
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// sameBase reports whether a run about a pull request was for the base branch that it has now. Where nobody can tell both are false: what nobody can tell is not
// taken for reviewed.
func (s *Service) sameBase(ctx context.Context, pr review.PullRequest, run string) (same, known bool, err error) {
	st, err := s.requested(ctx, run)
	if ctx.Err() != nil {
		return false, false, err
	}
	return err == nil && st.BaseRef == sanitize.Mask(pr.BaseRef), err == nil, nil
}

// silenced reports whether another pull request, or NotYet, has set the status of the head since a run about a pull request did. So it is where the success of the run
// was withheld: what kept it may be gone; and where it left the head pending.
func (s *Service) silenced(ctx context.Context, pr review.PullRequest, run string) (bool, error) {
	said, err := s.statusesOn(ctx, pr.Repo, pr.Repo.Key(pr.RepoID), pr.HeadSHA)
	for i, e := range slices.Backward(said) {
		if e.Run == run && !reached(e) && pending(said[:i]) {
			return true, err
		}
		if e.Run == run || reached(e) {
			status, unread := effects.ReadStatus(e.Payload)
			return e.Target.PR != pr.Number || e.Run == effects.NoRun || unread != nil || status.Own != "", err
		}
	}
	return false, err
}

// pending reports whether GitHub may have a status of a commit as pending, by what was set on it.
func pending(said []store.Entry) bool {
	for _, e := range slices.Backward(said) {
		if reached(e) {
			return begins(e)
		}
	}
	return false
}

// Denied reports whether an error says that the credential lacks a permission, that there is no such repository any more, or that the commit has all the
// statuses that GitHub takes. GitHub hides what a token may not see behind 404.
func (gatekeeper) Denied(err error) bool {
	return errors.Is(err, github.ErrForbidden) || errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrMoved) || errors.Is(err, github.ErrStatusesSpent)
}

// leftName stands in the key of a status that ends what a process of ours left pending, againName in that of one that takes it back, and besideName in that of
// one in the place of a success.
const (
	leftName   = "left"
	againName  = "again"
	besideName = "beside"
)

// leaveTime is how long a run that stops may take to say so in its status. What takes longer is for the next start.
const leaveTime = 5 * time.Second

// repairStatuses ends what runs left pending that nobody is at work on, whatever their pull requests (threats.md T162). It is done
// when a run of whatever kind begins. What cannot be ended now is left to the next start.
func (s *Service) repairStatuses(ctx context.Context, mine string) {
	newest, err := s.store.Newest(ctx, effects.Status{}.Name())
	if err != nil {
		s.log.Warn("statuses that were left pending were not looked for", "err", err)
		return
	}
	for _, e := range newest {
		if e.Run == mine || e.Run == effects.NoRun || settled(e) { // what belongs to no run is for NotYet
			continue
		}
		if err := s.repairStatus(ctx, e); err != nil && ctx.Err() == nil {
			s.log.Warn("a commit status is still pending", "run", e.Run, "pull request", e.Target.String(), "err", err)
		}
	}
}

// settled reports whether a status is known to be there and says how something ended.
func settled(e store.Entry) bool {
	s, err := effects.ReadStatus(e.Payload)
	return err != nil || e.State == store.StateAcked && s.State != review.GatePending
}

// repairStatus ends a status of another run, if nobody is at work on its pull request.
func (s *Service) repairStatus(ctx context.Context, e store.Entry) error {
	if alive, err := engine.Executing(s.database(), e.Run); alive || err != nil {
		return err
	}
	lease, err := s.store.Take(ctx, e.Target.String(), e.Run, leaseTime)
	if errors.Is(err, store.ErrAlive) || errors.As(err, new(*store.HeldError)) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(s.endStatus(ctx, lease, e), lease.Release(context.WithoutCancel(ctx)))
}

// endStatus says of what is pending that nobody is at work any more, or makes what had been decided. lease is that of the run.
func (s *Service) endStatus(ctx context.Context, lease *store.Lease, e store.Entry) error {
	all, err := s.statusesOf(ctx, e.Run)
	if err != nil {
		return err
	}
	if len(all) == 0 || all[len(all)-1].Nonce != e.Nonce { // somebody has said more
		return nil
	}
	known, err := s.store.Run(ctx, e.Run)
	if err != nil {
		return err
	}
	if later, err := (gatesRuns{service: s, repo: known.RepoKey}).Later(ctx, e.Target, e.Run, e.Head); later || err != nil { // by another name of the repository
		return err
	}
	pending, err := effects.ReadStatus(e.Payload)
	if err != nil {
		return err
	}
	next := e.Effect
	if pending.State == review.GatePending {
		if e.State == store.StateSent { // it may still arrive, and would be the last word
			if err := sleep(ctx, effects.Quarantine); err != nil {
				return err
			}
		}
		said := "Interrupted; to go on: prloop resume " + e.Run
		if known.State == store.Finished {
			said = "The review has ended and left no status; start a new run"
		}
		next = statusOf(e, leftName, len(all), effects.CommitStatus{State: review.GateError, Description: said, Target: pending.Target})
	}
	return s.setStatus(ctx, lease, next)
}

// statusOf is another status of the run and commit of one.
func statusOf(e store.Entry, what string, n int, s effects.CommitStatus) effects.Effect {
	return effects.Effect{
		Key: effects.StatusKey(e.Run, fmt.Sprintf("%s/%d", what, n)), Nonce: hex.EncodeToString(randomBytes(16)), Run: e.Run, Target: e.Target, Head: e.Head,
		Payload: s.Payload(), As: e.As,
	}
}

// setStatus makes an effect under the lease of its run; a success only while neither another base branch nor another pull request with the commit keeps it
// from being one.
func (s *Service) setStatus(ctx context.Context, lease *store.Lease, e effects.Effect) error {
	client, err := s.GitHubFor(ctx, e.Target.Repo)
	if err != nil {
		return err
	}
	if e.As, err = client.Viewer(ctx, e.Target.Repo.Host); err != nil {
		return err
	}
	run, err := s.store.Run(ctx, e.Run)
	if err != nil {
		return err
	}
	gates := gatesRuns{gatekeeper{client}, s, run.RepoKey}
	status, err := effects.ReadStatus(e.Payload)
	if err != nil {
		return err
	}
	d := effects.Delivery{Outbox: outbox{s.store, lease}, Sleep: sleep, Overtaken: func(ctx context.Context) (string, error) {
		if status.State != review.GateSuccess {
			return "", nil
		}
		if why, err := gates.Beside(ctx, e.Target, e.Head); err != nil || why != "" {
			return why, err
		}
		return gates.Rebased(ctx, e.Target, e.Run) // last, as in the loop
	}}
	later := func(ctx context.Context) (bool, error) { return gates.Later(ctx, e.Target, e.Run, e.Head) }
	done, err := d.DeliverStatus(ctx, effects.Status{Statuses: gates, Policy: sanitize.Policy{Known: client.Secrets()}}, e, later)
	if err != nil || done.Overtaken == "" {
		return err
	}
	return s.setStatus(ctx, lease, statusOf(store.Entry{Effect: e}, besideName, 1, status.Withheld(done.Overtaken)))
}

// statusesOf are the statuses of a run, the newest last.
func (s *Service) statusesOf(ctx context.Context, run string) (out []store.Entry, err error) {
	all, err := s.store.Outbox(ctx, run)
	for _, e := range all {
		if e.Kind == (effects.Status{}).Name() {
			out = append(out, e)
		}
	}
	return out, err
}

// leaveStatus says in the status of a run that stops before its end that nobody is at work. What may still be on its way is for
// the next start.
func (r *run) leaveStatus(ctx context.Context) {
	if r.lease == nil || r.newer != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	all, err := r.statusesOf(ctx, r.id)
	if n := len(all); err == nil && n > 0 && !settled(all[n-1]) && all[n-1].State != store.StateSent {
		err = r.endStatus(ctx, r.lease, all[n-1])
	}
	if err != nil {
		r.log.Warn("the commit status stays pending until the next start", "err", err)
	}
}

// takeBackStatus says that a run goes on of which was said that nobody is at work on it, unless a newer one has taken its place. Where it cannot be said the run goes on.
func (r *run) takeBackStatus(ctx context.Context) {
	if r.lease == nil || r.newer != "" {
		return
	}
	all, err := r.statusesOf(ctx, r.id)
	left := func(e store.Entry) bool { return strings.HasPrefix(e.Key, effects.StatusKey(r.id, leftName+"/")) }
	for _, e := range all { // those of the loop are made by their steps
		if (left(e) || strings.HasPrefix(e.Key, effects.StatusKey(r.id, againName+"/"))) && e.State != store.StateAcked {
			err = cmp.Or(err, r.setStatus(ctx, r.lease, e.Effect))
		}
	}
	if n := len(all); err == nil && n > 0 && left(all[n-1]) {
		err = r.goesOn(ctx, all[n-1], n)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("the commit status does not say that the run goes on", "err", err)
	}
}

// goesOn says of a commit that its review goes on. What another run has said since stays where the pull request of this one has gone from the commit.
func (r *run) goesOn(ctx context.Context, left store.Entry, n int) error {
	later, err := gatesRuns{gatekeeper{r.client}, r.Service, left.Target.Repo.Key(r.repoID)}.Later(ctx, left.Target, r.id, left.Head)
	if err != nil {
		return err
	}
	if later {
		if pr, err := r.client.PullRequest(ctx, left.Target.Repo, left.Target.PR); err != nil || pr.State != openState || pr.HeadSHA != left.Head {
			return err
		}
	}
	s, err := effects.ReadStatus(left.Payload)
	if err != nil {
		return err
	}
	s.State, s.Description = review.GatePending, "The review goes on"
	return r.setStatus(ctx, r.lease, statusOf(left, againName, n, s))
}

// GateMissing says why the newest run with a gate could not set its status, of the newest runs of all pull requests; empty when it could.
// ran is false when there was none.
func (s *Service) GateMissing(ctx context.Context) (missing string, ran bool, err error) {
	newest := errors.New("found")
	err = s.store.EachRun(ctx, store.Filter{State: store.Finished, Limit: mostEarlier}, func(r store.Run) error {
		if r.Result == nil || r.Result.Gate == nil {
			return nil
		}
		ran = true
		if g := r.Result.Gate; g.Missing != "" {
			missing = fmt.Sprintf("run %s could not set the commit status %s: %s", r.ID, gate.Context, g.Missing)
		}
		return newest
	})
	if errors.Is(err, newest) {
		err = nil
	}
	return missing, ran, err
}
