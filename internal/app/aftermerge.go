package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/aftermerge"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/stats"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// mostPosted is how many runs of a pull request are looked at for what they posted.
const mostPosted = 100

// Merged keeps what became of the findings that were posted on a pull request, once that is merged. It asks GitHub, reads the merged head by
// the rules of a review, and writes nothing but the record. It reports whether the record is new.
func (s *Service) Merged(ctx context.Context, o Order) (bool, error) {
	repo, number := o.Target.Repo, o.Target.PR
	client, err := s.GitHubFor(ctx, repo)
	if err != nil {
		return false, err
	}
	pr, err := client.PullRequest(ctx, repo, number)
	if err != nil || pr.State != intake.Merged {
		return false, err
	}
	m := store.Merge{Key: pr.Repo.Key(pr.RepoID), Repo: repo.String(), PR: number, Head: pr.HeadSHA}
	if m.Key == "" { // which GitHub always tells
		return false, fmt.Errorf("GitHub did not tell the id of %s, by which merges are kept", repo)
	}
	if _, err := s.store.Merge(ctx, m.Key, number); err == nil || !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	rounds, newest, err := s.posted(ctx, pr)
	if err != nil {
		return false, err
	}
	if all := aftermerge.Posted(rounds); len(all) > 0 {
		facts, err := s.mergedFacts(ctx, o, client, pr, all, newest)
		if err != nil {
			return false, fmt.Errorf("find out what became of the findings of %s: %w", o.Target, err)
		}
		m.Findings = aftermerge.Judge(all, facts)
	}
	return s.store.RecordMerge(ctx, m, stats.MergeFigures(m))
}

// posted are the rounds of the runs that posted on a pull request, in order, and the newest result.
func (s *Service) posted(ctx context.Context, pr review.PullRequest) (all []aftermerge.Round, newest review.RunResult, err error) {
	f := ofPull(pr.Repo, pr.RepoID, pr.Number, store.Finished)
	f.Limit = mostPosted
	runs, err := s.store.ListRuns(ctx, f)
	if err != nil {
		return nil, newest, err
	}
	for _, r := range slices.Backward(runs) {
		run, err := s.store.Run(ctx, r.ID)
		if err != nil {
			return nil, newest, err
		}
		if run.Result == nil || len(run.Result.Comments) == 0 || run.Result.Command != "" {
			continue
		}
		newest = *run.Result
		rounds, err := s.store.Rounds(ctx, r.ID)
		if err != nil {
			return nil, newest, err
		}
		for _, x := range rounds {
			all = append(all, aftermerge.Round{Run: r.ID, Head: x.Receipt.HeadSHA, Agents: x.Receipt.Agents, Findings: x.Findings})
		}
	}
	return all, newest, nil
}

// mergedFacts reads what is known of a merged pull request. Code is looked at where its commits can still be had.
func (s *Service) mergedFacts(ctx context.Context, o Order, client *github.Client, pr review.PullRequest, all []aftermerge.Finding, newest review.RunResult) (aftermerge.Facts, error) {
	key, err := s.markerKey(ctx)
	if err != nil {
		return aftermerge.Facts{}, err
	}
	l := &orchestrator.Loop{Forge: client, People: gatekeeper{client}, MarkerKey: key}
	r := &run{Service: s}
	defer r.cleanup.run()
	w, err := r.pin(ctx, o, pr)
	if errors.Is(err, git.ErrUnknownRevision) { // as of a base branch that was deleted since
		return l.Merged(ctx, pr, all, newest, false, orchestrator.ContextOptions{})
	}
	if err != nil {
		return aftermerge.Facts{}, err
	}
	settings, err := o.Settings(w.rules)
	if err != nil {
		return aftermerge.Facts{}, err
	}
	about := contextOf(settings)
	w.history.withhold(about.NeverRead)
	l.History = w.history
	for _, f := range all {
		w.history.have(ctx, f.Head)
	}
	return l.Merged(ctx, pr, all, newest, true, about)
}

// have fetches a commit that is not here, if it can still be had.
func (h *history) have(ctx context.Context, commit string) {
	if _, err := h.repo.Resolve(ctx, commit); err != nil && git.IsOID(commit) {
		_, _ = h.fetch(ctx, commit) // without it nobody knows what stood there
	}
}

// Refreshed is what a look at pull requests for their merges came to.
type Refreshed struct {
	// Asked were looked at, Merged of them are merged since. Left were not looked at because there are too many.
	Asked, Merged int
	Left          bool
	// Failed says why some could not be looked at.
	Failed []error
}

// mostRefreshed is how many pull requests one look asks GitHub about.
const mostRefreshed = 500

// RefreshMerges looks for pull requests that were merged since they were reviewed. One that cannot be looked at does not keep the others from it.
func (s *Service) RefreshMerges(ctx context.Context, o Order, f store.Filter) (out Refreshed, err error) {
	f.Limit = mostRefreshed + 1
	list, err := s.store.Unmerged(ctx, f)
	if err != nil {
		return out, err
	}
	if out.Left = len(list) > mostRefreshed; out.Left {
		list = list[:mostRefreshed]
	}
	for _, t := range list {
		o.Target = t
		merged, err := s.Merged(ctx, o)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil:
			out.Failed = append(out.Failed, fmt.Errorf("%s: %w", t, err))
			continue
		case merged:
			out.Merged++
		}
		out.Asked++
	}
	return out, nil
}

// EachMerge calls fn with what became of the findings of each merged pull request.
func (s *Service) EachMerge(ctx context.Context, f store.Filter, fn func(store.Merge) error) error {
	return s.store.EachMerge(ctx, f.Repo, f.Since, fn)
}

// Merge is what became of the findings of a pull request by its merge. Errors: store.ErrNotFound.
func (s *Service) Merge(ctx context.Context, key review.RepoKey, pr int) (store.Merge, error) {
	return s.store.Merge(ctx, key, pr)
}

// Observations are what scouts noticed, as people look for it.
func (s *Service) Observations(ctx context.Context, f store.NoticedFilter) ([]store.Noticed, error) {
	return s.store.Observations(ctx, f)
}
