package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Beside says of another open pull request with the commit as its head that it is not approved; empty when there is none. GitHub keeps a status by commit: it
// speaks for all of them (threats.md T281), also for one that was opened a moment ago (threats.md T463), and for each that GitHub has a status of ours of, whoever opened
// it: the record may be that of another machine (threats.md T838).
func (g gatesRuns) Beside(ctx context.Context, target review.Target, head string) (string, error) {
	said, err := g.service.statusesOn(ctx, target.Repo, g.repo, head)
	if err != nil {
		return "", err
	}
	newest := map[int]store.Entry{}
	for _, e := range said {
		newest[e.Target.PR] = e
	}
	there, err := g.there(ctx, target.Repo, head)
	if err != nil {
		return "", err
	}
	silent, err := g.silent(ctx, target, head, g.service.speakers(ctx, said))
	if err != nil {
		return "", err
	}
	numbers := slices.Concat(slices.Collect(maps.Keys(newest)), slices.Collect(maps.Keys(there)), silent)
	slices.Sort(numbers)
	for _, number := range slices.Compact(numbers) {
		if number == target.PR {
			continue
		}
		pr, err := g.PullRequest(ctx, target.Repo, number)
		if errors.Is(err, github.ErrNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		if pr.State != openState || pr.HeadSHA != head {
			continue
		}
		approved, err := g.approved(ctx, pr, newest[number], there[number])
		if err != nil {
			return "", err
		}
		if !approved {
			return fmt.Sprintf("#%d%s: have it reviewed, or close it", number, notApproved), nil
		}
	}
	return "", nil
}

// there is the newest status that GitHub has as our word on a commit, by the pull requests that they lead to.
func (g gatesRuns) there(ctx context.Context, repo review.Repo, head string) (map[int]github.SetBefore, error) {
	viewer, err := g.Viewer(ctx, repo.Host)
	if err != nil {
		return nil, err
	}
	set, err := g.Statuses(ctx, repo, head)
	newest := map[int]github.SetBefore{}
	for _, s := range slices.Backward(set) {
		if number := leadsTo(s.Target); number > 0 && effects.Same(s.By, viewer) {
			newest[number] = s
		}
	}
	return newest, err
}

// leadsTo is the pull request that the page of a status belongs to, whatever its repository was called then; 0 where it is none's.
func leadsTo(page string) int {
	page, _, _ = strings.Cut(page, "#")
	number, err := strconv.Atoi(path.Base(page))
	if err != nil || path.Base(path.Dir(page)) != "pull" {
		return 0
	}
	return number
}

// approved reports whether a pull request was approved for the base branch that it has now, by its newest status on record, and that holds, or was reviewed for one without a
// gate. Where nothing is on record, as with the folder of another job of GitHub Actions, GitHub tells what we said: the status what it came to, and the report that it
// leads to for which branch (threats.md T839).
func (g gatesRuns) approved(ctx context.Context, pr review.PullRequest, newest store.Entry, there github.SetBefore) (bool, error) {
	if approves(newest) {
		same, _, err := g.service.sameBase(ctx, pr, newest.Run)
		if err != nil {
			return false, err
		}
		if same {
			return g.holds(ctx, pr, newest.Run)
		}
	}
	if free, err := g.service.ungated(ctx, pr); err != nil || free {
		return free, err
	}
	if newest.Key != "" || there.State != review.GateSuccess && !(strings.HasPrefix(there.Description, "#") && strings.Contains(there.Description, notApproved)) {
		return false, nil
	}
	return g.service.reported(ctx, g.Client, pr, there)
}

// reported reports whether a status leads to the newest report about a pull request, for the base branch that it has now. Nobody who may block requests changes then, or said something
// in a thread since the status was set, and no label of the gate was set or taken off since: the report does not tell whether it knew of them.
func (s *Service) reported(ctx context.Context, client *github.Client, pr review.PullRequest, said github.SetBefore) (bool, error) {
	if pr.Refused {
		return false, nil
	}
	labels, _, err := client.Labelled(ctx, pr, gate.Labels)
	if err != nil || slices.ContainsFunc(labels, func(e gate.Labelling) bool { return !e.At.Before(said.At) }) {
		return false, err
	}
	if later, err := (&orchestrator.Loop{Forge: client, People: gatekeeper{client}}).VoicedSince(ctx, pr, said.At); err != nil || later {
		return false, err
	}
	viewer, err := client.Viewer(ctx, pr.Repo.Host)
	if err != nil {
		return false, err
	}
	key, err := s.markerKey(ctx)
	if err != nil {
		return false, err
	}
	comments, err := client.CommentsSince(ctx, pr, time.Time{})
	return err == nil && orchestrator.LastReport(comments, viewer, key, pr, said.Target), err
}

// notApproved is what a status says of another pull request because of which alone it is no success, behind the other's number.
const notApproved = " has the same commit and is not approved"

// silent gives the pull requests that can be merged with a commit as their head, as GitHub lists those that changed last, but those of strangers' forks. authors
// opened others with the commit.
func (g gatesRuns) silent(ctx context.Context, target review.Target, head string, authors []review.Person) (numbers []int, err error) {
	pulls, err := g.LatestPulls(ctx, target.Repo)
	pulls = slices.DeleteFunc(pulls, func(pr review.PullRequest) bool { return pr.HeadSHA != head || pr.Draft && pr.Number != target.PR })
	for _, pr := range pulls {
		if pr.Number == target.PR {
			authors = append(authors, pr.Author)
		}
	}
	for _, pr := range pulls {
		if !strange(pr, authors) {
			numbers = append(numbers, pr.Number)
		}
	}
	return numbers, err
}

// Beside gives the other pull requests of which a run approved a commit: one that has left the commit may have kept it from a success (threats.md T413).
func (s *Service) Beside(ctx context.Context, pr review.PullRequest, head string) (numbers []int, err error) {
	said, err := s.statusesOn(ctx, pr.Repo, pr.Repo.Key(pr.RepoID), head)
	newest := map[int]store.Entry{}
	for _, e := range said {
		if e.Run != effects.NoRun && !begins(e) {
			newest[e.Target.PR] = e
		}
	}
	delete(newest, pr.Number)
	for _, number := range slices.Sorted(maps.Keys(newest)) {
		if approves(newest[number]) {
			numbers = append(numbers, number)
		}
	}
	return numbers, err
}

// speakers are the authors of the pull requests that runs set a status on a commit for; nobody where no record tells.
func (s *Service) speakers(ctx context.Context, said []store.Entry) (authors []review.Person) {
	newest := map[int]string{}
	for _, e := range said {
		if e.Run != effects.NoRun {
			newest[e.Target.PR] = e.Run
		}
	}
	for _, run := range newest {
		st, _ := s.requested(ctx, run) // who cannot be told may be anybody
		authors = append(authors, st.Author)
	}
	return authors
}

// strange reports whether a pull request is a fork's by none of those who opened others with its commit. It has no say in the commit until somebody has it reviewed:
// anybody can open one with a commit that anybody can read (threats.md T478).
func strange(pr review.PullRequest, authors []review.Person) bool {
	return pr.CrossRepository && !slices.ContainsFunc(authors, func(a review.Person) bool { return a == (review.Person{}) || effects.Same(a, pr.Author) })
}

// ungated reports whether a pull request was reviewed as it is, for a base branch without a gate: it never gets a status. Where a run about it had the gate of that
// branch, another without one had other settings, and frees it of nothing.
func (s *Service) ungated(ctx context.Context, pr review.PullRequest) (free bool, err error) {
	runs, err := s.store.ListRuns(ctx, ofPull(pr.Repo, pr.RepoID, pr.Number, store.Finished))
	for _, r := range runs {
		if r.Head != pr.HeadSHA || !slices.Contains(reviewing, r.Outcome) {
			continue
		}
		st, err := s.requested(ctx, r.ID)
		if ctx.Err() != nil {
			return false, err
		}
		if err != nil || st.Alone || st.DryRun {
			continue
		}
		same := st.BaseRef == sanitize.Mask(pr.BaseRef)
		if same && st.Gate != nil || !same && !free {
			return false, nil
		}
		free = free || same
	}
	return free, err
}
