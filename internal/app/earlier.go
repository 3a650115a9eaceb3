package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// mostEarlier is how many earlier runs are asked for at once.
const mostEarlier = 20

// ofPull are the runs about a pull request that are in a state, the newest first: those of this very repository, whatever it was called
// then, and not those of another that had its name. Who does not know the repository's number gets none.
func ofPull(repo review.Repo, id int64, pr int, state store.RunState) store.Filter {
	return store.Filter{Keys: []review.RepoKey{repo.Key(id)}, PR: pr, State: state, Limit: mostEarlier}
}

// forgotten tells of runs about a pull request that were kept without its repository's number: nothing shows whose they are.
func (r *run) forgotten(ctx context.Context, t review.Target) error {
	runs, err := r.store.ListRuns(ctx, store.Filter{Repo: t.Repo.String(), Keys: []review.RepoKey{""}, PR: t.PR, State: store.Finished, Limit: mostEarlier})
	if err == nil && len(runs) > 0 {
		r.emit(review.Event{Kind: review.EventLog, Level: "info", Message: fmt.Sprintf(
			"earlier runs of %s are left out, up to %s: they were kept without the number of their repository, which may have been another of that name", t, runs[0].ID)})
	}
	return err
}

// earlier gives the runs about the pull request of a request, the newest first. One that has not ended is told of as well: reviewers may have answered
// (threats.md T331).
func (r *run) earlier(ctx context.Context, req orchestrator.Request) iter.Seq2[orchestrator.Stored, error] {
	return func(yield func(orchestrator.Stored, error) bool) {
		none := true
		for known, err := range r.ofPull(ctx, req.Target, r.repoID) {
			none = false
			if err == nil && (known.ID == req.Run || known.State == store.Running && !r.reviews(ctx, known.ID)) {
				continue
			}
			s := &orchestrator.Stored{}
			if err == nil {
				s, err = r.storedRun(ctx, known.ID, req)
			}
			if err != nil {
				yield(orchestrator.Stored{}, err)
				return
			}
			if !yield(*s, nil) {
				return
			}
		}
		if none {
			if err := r.forgotten(ctx, req.Target); err != nil {
				yield(orchestrator.Stored{}, err)
			}
		}
	}
}

// ofPull gives all runs about a pull request, the newest first: however many came to nothing, none hides an older one.
func (s *Service) ofPull(ctx context.Context, t review.Target, id int64) iter.Seq2[store.Run, error] {
	return func(yield func(store.Run, error) bool) {
		for f := ofPull(t.Repo, id, t.PR, ""); ; {
			runs, err := s.store.ListRuns(ctx, f)
			if err != nil {
				yield(store.Run{}, err)
				return
			}
			for _, known := range runs {
				if !yield(known, nil) {
					return
				}
			}
			if len(runs) < f.Limit {
				return
			}
			last := runs[len(runs)-1]
			f.Before = store.Mark{Created: last.Created, ID: last.ID}
		}
	}
}

// raisedSince reports whether a newer run than one about a pull request raised something grave on another commit than the head, by the record alone. Whether people settled
// that GitHub would have to tell: a run about the head asks (threats.md T734).
func (s *Service) raisedSince(ctx context.Context, pr review.PullRequest, run string) (bool, error) {
	for known, err := range s.ofPull(ctx, review.Target{Repo: pr.Repo, PR: pr.Number}, pr.RepoID) {
		if err != nil || known.ID == run {
			return false, err
		}
		if known.State == store.Running && !s.reviews(ctx, known.ID) {
			continue
		}
		if known, err = s.store.Run(ctx, known.ID); err != nil {
			return false, err
		}
		then := orchestrator.Stored{Unfinished: known.Result == nil}
		then.Result.Receipt.HeadSHA = known.Head
		if known.Result != nil {
			then.Result = *known.Result
		}
		if then.Result.Receipt.HeadSHA != pr.HeadSHA && orchestrator.Raised(then) {
			return true, nil
		}
	}
	return false, nil
}

// unfinished reports whether another run about the pull request of a request was begun, and has not ended.
func (r *run) unfinished(ctx context.Context, req orchestrator.Request) (bool, error) {
	f := ofPull(req.Target.Repo, r.repoID, req.Target.PR, store.Running)
	if r.repoID == 0 {
		f.Repo, f.Keys = req.Target.Repo.String(), nil
	}
	runs, err := r.store.ListRuns(ctx, f)
	return slices.ContainsFunc(runs, func(known store.Run) bool { return known.ID != req.Run }), err
}

// reviews reports whether a run reviews its pull request and posts what that comes to. Of what nobody can read that is taken for granted.
func (s *Service) reviews(ctx context.Context, id string) bool {
	st, err := s.requested(ctx, id)
	return err != nil || !st.Alone && !st.DryRun
}

// newerThan says which run about the pull request of an interrupted one has taken its place; empty when none has. That is the newest of those which began
// later, and heard reviewers or have not ended: this one would say last what is no longer the last word (threats.md T349). A quick scan takes the place
// of a quick scan alone; one that passes, not of a run that may have gone on to a full review.
func (r *run) newerThan(ctx context.Context, st stored) (string, error) {
	for known, err := range r.ofPull(ctx, st.Target, st.RepoID) {
		switch {
		case err != nil:
			return "", err
		case known.ID == st.Run:
			return r.reportedSince(ctx, st)
		case !r.reviews(ctx, known.ID):
			continue
		}
		run, err := r.store.Run(ctx, known.ID)
		switch {
		case err != nil:
			return "", err
		case run.Result == nil:
			return fmt.Sprintf("run %s began later and has not ended: prloop resume %s", run.ID, run.ID), nil
		case orchestrator.Judged(*run.Result, st.Quick != nil && (st.Quick.Tier != escalate.Auto || run.Result.Outcome != review.LGTM)):
			return fmt.Sprintf("run %s has reviewed the pull request since", run.ID), nil
		}
	}
	return "", nil
}

// reportedSince says which run that is not on record here has reported on the pull request of an interrupted one since that began, as one of another machine;
// empty when none has.
func (r *run) reportedSince(ctx context.Context, st stored) (string, error) {
	pr, err := r.client.PullRequest(ctx, st.Target.Repo, st.Target.PR)
	if errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrMoved) { // the loop says so
		return "", nil
	}
	if err != nil {
		return "", err
	}
	viewer, err := r.client.Viewer(ctx, st.Target.Repo.Host)
	if err != nil {
		return "", err
	}
	since := st.Started.Add(-time.Minute) // by the clock of its machine
	if st.Stops != nil {
		since = st.Stops.Since // by GitHub's
	}
	comments, err := r.client.CommentsSince(ctx, pr, since)
	if err != nil {
		return "", err
	}
	return orchestrator.Unrecorded(ctx, orchestrator.Reports(comments, viewer), since, r.recorded)
}

// recorded reports whether a run is on record here.
func (r *run) recorded(ctx context.Context, id string) (bool, error) {
	_, err := r.store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// storedRun reads an earlier run, with its answers if they are about the head of the request.
func (r *run) storedRun(ctx context.Context, id string, req orchestrator.Request) (*orchestrator.Stored, error) {
	known, err := r.store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	st, unread := r.requested(ctx, id)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if unread != nil { // what nobody can read may be a full review, for any branch
		st = stored{}
	}
	if known.Result == nil {
		return &orchestrator.Stored{
			Result: review.RunResult{Run: id, Receipt: review.Receipt{HeadSHA: known.Head}}, Base: st.BaseRef, Unfinished: true,
			Scans: st.Quick != nil && st.Quick.Tier != escalate.Auto,
		}, nil
	}
	out := &orchestrator.Stored{Result: *known.Result, Base: st.BaseRef}
	if out.Result.Receipt.HeadSHA != req.Head {
		return out, nil
	}
	for round := orchestrator.MaxRounds; round > 0; round-- {
		data, err := r.folder.Load(id, fmt.Sprintf("round-%d/inputs.json", round))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || json.Unmarshal(data, &out.Inputs) != nil {
			out.Other = "its answers cannot be read"
		}
		break
	}
	if unread != nil {
		out.Other = "its answers cannot be read"
		return out, nil //nolint:nilerr // what cannot be read answers nothing
	}
	had, err := json.Marshal(st.Setup)
	if err != nil {
		return nil, err
	}
	now, err := json.Marshal(r.opts.Machine.store(req, r.settings, r.cassette).Setup)
	switch {
	case err != nil:
		return nil, err
	case st.Engine != engine.Version:
		out.Other = "prloop is another version"
	case r.cassette.Mode == gateway.Record:
		out.Other = "conversations with models are to be recorded"
	case !bytes.Equal(had, now):
		out.Other = "models, budgets or limits have changed"
	}
	return out, nil
}

// programLimit is the largest program that is told from others by its content, in bytes.
const programLimit = 64 << 20

// programSum tells the program of an agent from another at the same place; empty when it cannot be read.
func programSum(path string) string {
	if found, err := proc.LookPath(path); err == nil {
		path = found
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(f, programLimit)); err != nil || n == programLimit {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
