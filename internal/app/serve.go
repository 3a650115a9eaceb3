package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// Record is the record of runs and of what is wanted of a server.
func (s *Service) Record() *store.Store { return s.store }

// Engine is the engine of runs and of tasks.
func (s *Service) Engine() (*engine.Engine, error) { return s.engine() }

// reviewing are the outcomes of runs that have said something about their commit. A quick scan is none of them: a label set since may ask for a full
// review, and a scan that stands costs nothing when it is looked at again.
var reviewing = []review.Outcome{
	review.Converged, review.StaticOnly, review.ChangesRequested, review.Stuck, review.SetAside, review.Diverging, review.Budget, review.Partial, review.NotReviewed,
}

// decided are the outcomes of runs that have judged their commit, a scan's too: people may contest it.
var decided = append(slices.Clone(reviewing), review.LGTM, review.Flagged)

// Reviewed gives what is known of a pull request's last review: its commit and the run that did it, and whether people who may block say something else now of the
// commit that is the head than when it was judged last, but for what is said in threads (Said). It is empty when there was none, and when that was for another base
// branch. Runs about its head are told of whatever they came to, but for those that review nothing: commands, and dry runs.
func (s *Service) Reviewed(ctx context.Context, pr review.PullRequest) (known intake.Known, err error) {
	runs, err := s.store.ListRuns(ctx, ofPull(pr.Repo, pr.RepoID, pr.Number, store.Finished))
	if err != nil {
		return known, err
	}
	judged := false
	for _, r := range runs {
		if r.Head == pr.HeadSHA && s.reviews(ctx, r.ID) {
			known.Lately = append(known.Lately, r.Created)
			if r.Outcome == review.Superseded {
				known.Overtaken = cmp.Or(known.Overtaken, r.ID)
				known.Unjudged = known.Unjudged || !judged
				if refused, err := s.refused(ctx, pr, r.ID); err != nil {
					return known, err
				} else if refused && !judged {
					known.Stopped = "run " + r.ID + " ended because another machine refused the commit"
				}
			}
			judged = judged || slices.Contains(decided, r.Outcome)
		}
	}
	if note, holds, err := s.halted(ctx, pr); err != nil {
		return known, err
	} else if holds {
		known.Stopped, known.StoppedAt = note.Said, note.Asked
	}
	for r, err := range s.ofPull(ctx, review.Target{Repo: pr.Repo, PR: pr.Number}, pr.RepoID) {
		if err != nil || known.Run != "" && known.Judged {
			return known, err
		}
		full, about := slices.Contains(reviewing, r.Outcome), r.Head == pr.HeadSHA && slices.Contains(decided, r.Outcome)
		if (known.Run != "" || !full) && (known.Judged || !about) {
			continue
		}
		st, unread := s.requested(ctx, r.ID)
		if unread == nil && st.DryRun { // nobody was told what it found
			continue
		}
		ended, err := s.store.Run(ctx, r.ID)
		if err != nil {
			return known, err
		}
		res := ended.Result
		if res == nil || res.Command != "" {
			continue
		}
		if same, _, err := s.sameBase(ctx, pr, r.ID); err != nil || !same {
			return known, err
		}
		if full && known.Run == "" {
			known.Head, known.Run = res.Receipt.HeadSHA, r.ID
			if res.Gate != nil {
				if known.Silent, err = s.silenced(ctx, pr, r.ID); err != nil {
					return known, err
				}
			}
		}
		if about && !known.Judged {
			known.Judged, known.Standing, known.Heard = true, res.Receipt.ReviewsRead, res.Receipt.ThreadsRead
			known.Relabelled = relabelled(st.LabelsRead(pr), *res)
		}
	}
	return known, nil
}

// relabelled reports whether labels that a run's verdict rests on say something else now than it read (threats.md T860): those that ask for a full review only where there was
// none. What is older than the record counts as having read none.
func relabelled(now string, r review.RunResult) bool {
	read := cmp.Or(r.Receipt.LabelsRead, intake.NoLabels+" "+intake.NoLabels)
	if !gate.End(r).Quick {
		read, _, _ = strings.Cut(read, " ")
		now, _, _ = strings.Cut(now, " ")
	}
	return r.Gate != nil && read != now
}

// refused reports whether a run ended because another machine refused the same commit for the same base. The word is that one's: to ask reviewers again until they agree is no
// review (threats.md T841).
func (s *Service) refused(ctx context.Context, pr review.PullRequest, run string) (bool, error) {
	ended, err := s.store.Run(ctx, run)
	if err != nil || ended.Result == nil || !ended.Result.Refused {
		return false, err
	}
	same, _, err := s.sameBase(ctx, pr, run)
	return same, err
}

// Said reports whether people who may block say something else now in the threads of an open pull request than what was heard when its head was judged. It rests on what
// GitHub has, and on no event: one may be lost, or come when nobody can look (threats.md T527).
func (s *Service) Said(ctx context.Context, pr review.PullRequest, known intake.Known) (bool, error) {
	if pr.State != openState || known.Heard == "" {
		return false, nil
	}
	client, err := s.GitHubFor(ctx, pr.Repo)
	if err != nil {
		return false, err
	}
	for _, people := range []orchestrator.People{heldPeople{gatekeeper{client}}, gatekeeper{client}} { // a run asks anew what somebody may do
		if now, err := (&orchestrator.Loop{Forge: client, People: people}).Voiced(ctx, pr); err != nil || now == known.Heard {
			return false, err
		}
	}
	return true, nil
}

// heldPeople are asked about once an hour: looks are many.
type heldPeople struct{ gatekeeper }

// Permission is write or none.
func (p heldPeople) Permission(ctx context.Context, repo review.Repo, login string) (string, error) {
	may, err := p.Writes(ctx, repo, login)
	if err != nil || !may {
		return "none", err
	}
	return "write", nil
}

// Unfinished gives the run about a pull request that stopped before its end and that this prloop can go on with, unless it answers a comment;
// empty when there is none.
func (s *Service) Unfinished(ctx context.Context, pr review.PullRequest) (string, error) {
	runs, err := s.Runs(ctx, ofPull(pr.Repo, pr.RepoID, pr.Number, store.Running))
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if r.State != Interrupted {
			continue
		}
		st, err := s.requested(ctx, r.ID)
		if errors.Is(err, engine.ErrNotFound) {
			if err := s.abandon(ctx, r); err != nil {
				return "", err
			}
			continue
		}
		if err != nil {
			return "", fmt.Errorf("read what run %s was asked: %w", r.ID, err)
		}
		if st.Engine == engine.Version && st.Asked == nil && !st.Alone && !st.DryRun && st.Job == nil {
			return r.ID, nil
		}
	}
	return "", nil
}

// abandon ends a run that the engine never had, and whose request is on another machine: nobody here can go on with it, and that machine must not once
// another run has taken its place (threats.md T289).
func (s *Service) abandon(ctx context.Context, r store.Run) (err error) {
	// Under another name than the run's, whose own process may be just beginning with it.
	lease, err := s.store.Take(ctx, r.Target.String(), "end of "+r.ID, leaseTime)
	if errors.Is(err, store.ErrAlive) || errors.As(err, new(*store.HeldError)) { // somebody is at work on the pull request
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release(context.WithoutCancel(ctx))) }()
	s.log.Warn("a run that another machine began and did not store is over", "run", r.ID, "pull request", r.Target.String())
	return s.store.FinishRun(ctx, review.RunResult{
		Run: r.ID, Target: r.Target, Outcome: review.Superseded, Reason: "the machine that began it lost the database before anything was done; another run takes its place",
		Rules: []int{}, Findings: []review.Finding{}, Unverified: []review.Unverified{}, Stuck: []review.Finding{}, Rounds: []review.RoundResult{}, Comments: []string{},
		Receipt: review.Receipt{ReviewID: r.ReviewID, LeftOut: []review.LeftOut{}, Agents: []review.AgentReceipt{}},
	})
}

// Once reviews a pull request, and goes on with a run of an order that stopped before its end when resume names it. A run that cannot be gone on
// with any more leaves the pull request to a new one.
func (s *Service) Once(ctx context.Context, o Order, resume string, emit func(review.Event)) (Ended, error) {
	if resume != "" {
		ended, err := s.Resume(ctx, resume, Today{Layers: o.Layers, Cassette: o.Cassette}, emit)
		if !errors.Is(err, engine.ErrVersion) && !errors.Is(err, engine.ErrNotFound) && !errors.As(err, new(*ChangedError)) {
			return ended, err
		}
		s.log.Warn("a run that was interrupted cannot be gone on with", "run", resume, "err", err)
	}
	p, err := s.Prepare(ctx, o)
	if err != nil {
		return Ended{}, err
	}
	ended, err := s.Start(ctx, p, emit)
	if ended.Result.Run == "" {
		ended.Result.Run = p.Request.Run
	}
	return ended, err
}

// ErrCancelled: somebody cancelled the run.
var ErrCancelled = errors.New("the run was cancelled")

// Cancel interrupts a run of this process; it reports whether there is one.
func (s *Service) Cancel(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.live[id]
	if r == nil || r.cancel == nil {
		return false
	}
	r.cancel(ErrCancelled)
	return true
}

// Live names the runs that are under way in this process.
func (s *Service) Live() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.live))
}

// requested gives what a run was asked: from its files, or from the engine when another machine has them.
func (s *Service) requested(ctx context.Context, id string) (st stored, err error) {
	data, err := s.folder.Load(id, requestName)
	if errors.Is(err, fs.ErrNotExist) {
		var e *engine.Engine
		if e, err = s.engine(); err == nil {
			data, err = e.Input(ctx, id)
		}
	}
	if err == nil {
		err = json.Unmarshal(data, &st)
	}
	return st, err
}

// Shared reports whether other machines may work on the runs of this database.
func (s *Service) Shared() bool { return s.opts.Database != "" }

// Confined gives what confines the agents of pull requests here, or why none can be started.
func (s *Service) Confined(ctx context.Context) (string, error) {
	c, err := s.opts.Machine.confinement(ctx, review.Target{PR: 1})
	return c.String(), err
}
