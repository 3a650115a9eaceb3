package app

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// stands gives the success that a commit may have now, by the statuses that were set on it. One that was sent and not acknowledged may never have come.
func stands(said []store.Entry) (success effects.CommitStatus, ok bool, err error) {
	for _, e := range slices.Backward(said) {
		if !reached(e) {
			continue
		}
		status, err := effects.ReadStatus(e.Payload)
		if err != nil || status.State == review.GateSuccess {
			return status, err == nil, err
		}
		if e.State == store.StateAcked {
			return effects.CommitStatus{}, false, nil
		}
	}
	return effects.CommitStatus{}, false, nil
}

// undue gives the success of a commit that is the head of an open pull request which nobody has approved for the base branch that it has now, as Beside has it, or of
// which what was approved does not hold any more. said is true where such people, or labels, are known to have said something else since: that takes its own success also from a closed one,
// which may be open again in a moment (threats.md T865).
// Where a review of it has to wait that is also one whose base branch then nobody can tell. gated is true where the base branch is known to have a gate now: what was
// reviewed without one counts for nothing. last is what was set last on the commit.
func (s *Service) undue(ctx context.Context, pr review.PullRequest, waits, said, gated bool) (success effects.CommitStatus, last store.Entry, undue bool, err error) {
	all, err := s.statusesOn(ctx, pr.Repo, pr.Repo.Key(pr.RepoID), pr.HeadSHA)
	if err != nil || len(all) == 0 {
		return success, last, false, err
	}
	newest := all[len(all)-1]
	if pr.State != openState && !(said && pr.State == intake.Closed && newest.Target.PR == pr.Number) {
		return success, last, false, nil
	}
	success, ok, err := stands(all)
	if err != nil || !ok {
		return success, last, false, err
	}
	last = newest
	own := slices.DeleteFunc(slices.Clone(all), func(e store.Entry) bool { return e.Target.PR != pr.Number || unsaid(e) || begins(e) })
	if len(own) == 0 {
		undue = !pr.Draft && !strange(pr, s.speakers(ctx, all))
	} else if e := own[len(own)-1]; approves(e) {
		same, known, err := s.sameBase(ctx, pr, e.Run)
		if err != nil {
			return success, last, false, err
		}
		undue = same && said || !same && (waits || known)
		if same && !undue {
			due, err := s.holds(ctx, pr, e.Run)
			if err != nil {
				return success, last, false, err
			}
			undue = !due
		}
	} else {
		undue = true
	}
	if !undue || gated || ctx.Err() != nil {
		return success, last, undue && ctx.Err() == nil, ctx.Err()
	}
	free, err := s.ungated(ctx, pr)
	return success, last, !free, err
}

// unknown gives the success that GitHub has as our word on the head of a pull request of which there is none on record here: a backup may be older
// (threats.md T465). One that leads to the report by which it was approved for this base is due, until people who
// may block, or labels of the gate, say something else. One that leads to another pull request speaks for a fork's only where that has the same author (threats.md T478).
func (s *Service) unknown(ctx context.Context, client *github.Client, pr review.PullRequest) (success effects.CommitStatus, undue bool, err error) {
	viewer, err := client.Viewer(ctx, pr.Repo.Host)
	if err != nil {
		return success, false, err
	}
	set, err := client.Statuses(ctx, pr.Repo, pr.HeadSHA)
	if (gatekeeper{}).Denied(err) { // who may not read them sets none
		return success, false, nil
	}
	if err != nil || len(set) == 0 || !effects.Same(set[0].By, viewer) {
		return success, false, err
	}
	undue = set[0].State == review.GateSuccess
	number := leadsTo(set[0].Target)
	if undue && number == pr.Number {
		approved, err := s.reported(ctx, client, pr, set[0])
		return set[0].CommitStatus, !approved, err
	}
	if undue && pr.CrossRepository && number > 0 {
		other, err := client.PullRequest(ctx, pr.Repo, number)
		if err != nil && !errors.Is(err, github.ErrNotFound) {
			return success, false, err
		}
		undue = err != nil || !strange(pr, []review.Person{other.Author})
	}
	return set[0].CommitStatus, undue, nil
}

// begins reports whether a status says that somebody is at work: it decides nothing.
func begins(e store.Entry) bool {
	s, err := effects.ReadStatus(e.Payload)
	return err == nil && s.State == review.GatePending
}

// InDoubt reports whether NotYet may have something to take back, by what is on record here. said is true where people may have said something since.
func (s *Service) InDoubt(ctx context.Context, pr review.PullRequest, said bool) (bool, error) {
	_, _, undue, err := s.undue(ctx, pr, true, said, false)
	return undue, err
}

// NotYet takes an undue success back (threats.md T280), where a review waits, or another base branch was chosen, also one that only GitHub knows of; where people who may
// block, or labels, said something since, any. Of those who ask for it at once for a commit, one does so (threats.md T415).
func (s *Service) NotYet(ctx context.Context, pr review.PullRequest, waits, said bool) error {
	return s.takeBack(ctx, pr, waits, said, false)
}

// takeBack is NotYet, where gated also against what was reviewed without a gate.
func (s *Service) takeBack(ctx context.Context, pr review.PullRequest, waits, said, gated bool) error {
	one := &s.takingBack[crc32.ChecksumIEEE([]byte(pr.HeadSHA))%uint32(len(s.takingBack))]
	one.Lock()
	defer one.Unlock()
	status, last, undue, err := s.undue(ctx, pr, waits, said, gated)
	if err != nil || !undue && (!waits || status.State != "") {
		return err
	}
	client, err := s.GitHubFor(ctx, pr.Repo)
	if err != nil {
		return err
	}
	if !undue {
		if status, undue, err = s.unknown(ctx, client, pr); err != nil || !undue {
			return err
		}
	}
	what := "Not reviewed yet"
	if leadsTo(status.Target) == pr.Number {
		what = "To be reviewed again"
	}
	status = effects.CommitStatus{State: review.GateError, Description: fmt.Sprintf("%s: #%d", what, pr.Number), Target: pr.URL} // the page of another pull request with the commit says what that one came to
	key := effects.StatusKey(pr.Repo.Host+"/"+pr.Repo.String(), "not yet/"+hex.EncodeToString(randomBytes(16)))
	if unsaid(last) && last.Target == (review.Target{Repo: pr.Repo, PR: pr.Number}) {
		key = last.Key
	}
	_, err = s.deliver(ctx, client, effects.Status{Statuses: client, Policy: sanitize.Policy{Known: client.Secrets()}}, effects.Effect{Key: key, Payload: status.Payload()}, pr)
	if errors.Is(err, store.ErrState) { // another process says it, or has; where that came to nothing a list tells of it
		return nil
	}
	if (gatekeeper{}).Denied(err) { // nothing can be said of the commit any more
		s.log.Warn("the commit status of a pull request that waits is still a success", "pull request", fmt.Sprintf("%s#%d", pr.Repo, pr.Number), "err", err)
		return nil
	}
	return err
}

// speaks reports whether the run of an order may say something of its pull request.
func (o Order) speaks() bool {
	return !o.Target.Local() && !o.DryRun && !o.Estimate && o.Command == nil
}

// unprepared takes an undue success back where no run began, unless the rules of the base set no status: what they are is asked by themselves, as it may be the
// change that could not be read. What cannot be said is for who looks next.
func (r *run) unprepared(ctx context.Context, o Order, pr review.PullRequest) {
	ctx = context.WithoutCancel(ctx)
	asking, done := context.WithTimeout(ctx, leaveTime)
	plan, err := r.gateOf(asking, o, pr)
	done()
	if err == nil && plan == nil {
		return
	}
	saying, done := context.WithTimeout(ctx, leaveTime)
	defer done()
	if err := r.takeBack(saying, pr, true, false, plan != nil); err != nil {
		r.log.Warn("a success that the commit may have for another base branch was not taken back", "pull request", o.Target.String(), "err", err)
	}
}

// gateOf is the gate that an order's pull request has by the rules of its base.
func (r *run) gateOf(ctx context.Context, o Order, pr review.PullRequest) (plan *gate.Plan, err error) {
	h := r.history
	if h == nil {
		if h, err = r.openHistory(ctx, o.Target, ""); err != nil {
			return nil, err
		}
	}
	if err := h.fetchMissing(ctx, pr.BaseSHA); err != nil {
		return nil, err
	}
	var rules Rules
	if rules.File, err = rulesAt(ctx, h.repo, pr.BaseSHA); err != nil {
		return nil, err
	}
	if err := r.withPolicy(ctx, &rules, pr.Repo, pr.RepoID); err != nil {
		return nil, err
	}
	settings, err := o.Settings(rules)
	return o.gate(settings), err
}

// unsaid reports whether a status takes a success back and GitHub has not acknowledged it.
func unsaid(e store.Entry) bool { return e.Run == effects.NoRun && e.State != store.StateAcked }
