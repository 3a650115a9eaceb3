package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// reconciled is where a kill has to be survived (threats.md K61).
var reconciled = failpoint.New("reconcile: before it is noted")

// overlap is how far back comments are read again: GitHub's clock is not ours, and what it lists may lag behind.
const overlap = 5 * time.Minute

// reconcile asks GitHub, now and at an interval, for what no event told of. When the repositories of an installation change, it does so at once as far as the
// interval has room for it: such an event costs whoever makes it nothing (threats.md T471).
func (d *Daemon) reconcile(ctx context.Context) {
	due, room := time.After(0), 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.listed:
			if room <= 0 {
				continue
			}
		case <-due:
			due, room = nil, d.most()
		}
		asked, err := d.reconcileAll(ctx, room)
		if err != nil && ctx.Err() == nil {
			d.Log.Warn("what no event told of was not looked for everywhere", "err", err)
		}
		room -= asked + 1 // a list of repositories is asked for too
		if due == nil {
			due = time.After(d.Every)
		}
	}
}

// asking is about how many repositories GitHub is asked in an hour, at most. Each takes two requests, and an account may have as few as 5,000 an hour
// for everything it does (decision 91).
const asking = 1250

// most is about how many repositories GitHub is asked in the time of an interval.
func (d *Daemon) most() int { return max(int(float64(d.asking)*d.Every.Hours()+0.5), 1) }

// turn chooses the repositories that GitHub is asked about now: all, or where that would be too many those whose turn is the longest ago.
func (d *Daemon) turn(ctx context.Context, all []review.Repo, most int) ([]review.Repo, error) {
	if len(all) <= most {
		return all, nil
	}
	last := make(map[review.Repo]time.Time, len(all))
	for _, r := range all {
		noted, err := d.noted(ctx, noteOf(r))
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		tried := d.tried[r]
		d.mu.Unlock()
		if last[r] = noted; tried.After(noted) { // one that cannot be asked about keeps nobody else waiting
			last[r] = tried
		}
	}
	slices.SortStableFunc(all, func(a, b review.Repo) int { return last[a].Compare(last[b]) })
	return all[:most], nil
}

// reconcileAll asks about all repositories, or about so many, and says about how many it did.
func (d *Daemon) reconcileAll(ctx context.Context, most int) (asked int, err error) {
	repos, err := d.repositories(ctx)
	repos, e := d.turn(ctx, repos, most)
	err = errors.Join(err, e)
	for _, r := range repos {
		d.mu.Lock()
		d.tried[r] = time.Now()
		d.mu.Unlock()
		if ctx.Err() != nil {
			return len(repos), ctx.Err()
		}
		e := d.reconcileOne(ctx, r)
		if e = errors.Join(e, d.told(ctx, r.String(), e)); e != nil { // the others are looked at all the same
			err = errors.Join(err, fmt.Errorf("%s: %w", r, e))
		}
	}
	d.wake()
	return len(repos), err
}

// told says and notes that a repository, or all of an owner, cannot be looked at, and that it can be again.
func (d *Daemon) told(ctx context.Context, repo string, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // whoever ends the daemon needs no word about that
	}
	why, said := "", "GitHub answers again"
	if err != nil {
		why = sanitize.Redact(err.Error())
		if errors.Is(err, github.ErrNotFound) {
			why = "not found, or this login may not read it"
		}
		said = why
	}
	isNew, err := queue.SetUnread(ctx, d.record, repo, why)
	if isNew {
		d.Said(repo + ": " + said)
	}
	return err
}

// repositories are those that are served by name, and those of a served owner that events, or the installation of a GitHub App, told of.
func (d *Daemon) repositories(ctx context.Context) (all []review.Repo, err error) {
	have := map[string]bool{}
	add := func(r review.Repo) {
		if key := strings.ToLower(fullName(r)); !have[key] {
			have[key] = true
			all = append(all, r)
		}
	}
	for _, r := range d.Serves {
		if r.Name != "" {
			add(r)
			continue
		}
		client, e := d.github(ctx, review.Repo{Host: r.Host})
		if e == nil {
			var installed []review.Repo
			installed, e = client.Installed(ctx, r.Owner)
			for _, r := range installed {
				add(r)
			}
		}
		err = errors.Join(err, e, d.told(ctx, r.String()+"*", e))
	}
	known, e := d.record.WantedRepositories(ctx)
	for _, name := range known {
		if r := repoOf(name); d.Serves.refuses(r) == "" {
			add(r)
		}
	}
	return all, errors.Join(err, e)
}

// reconcileOne marks the pull requests of a repository that are not as they were seen last: open ones that changed, and those that are not open any
// more, whose merge is looked at. It marks comments that ask for something and that nobody looked at, too.
func (d *Daemon) reconcileOne(ctx context.Context, repo review.Repo) error {
	client, err := d.github(ctx, repo)
	if err != nil {
		return err
	}
	known, err := d.record.WantedOf(ctx, fullName(repo))
	if err != nil {
		return err
	}
	seen := map[string]store.Wanted{}
	for _, w := range known {
		seen[w.Subject] = w
	}
	pulls, err := client.OpenPulls(ctx, repo)
	if err != nil {
		return err
	}
	began := client.Clock().UTC() // GitHub's: comments are asked for by it, and ours may be wrong by hours (threats.md T314)
	open := map[int]bool{}
	var changed []store.Want
	var talked []review.PullRequest
	for _, pr := range pulls {
		open[pr.Number] = true
		w := d.want(repo, intake.Look{PR: pr.Number, Priority: intake.Found, Settles: true})
		w.Key = repo.Key(pr.RepoID)
		d.suspect(ctx, pr, false) // also one that is as it was seen: its commit may have become a success since (threats.md T463)
		before, looked := seen[w.Subject]
		if looked && intake.SeenAs(before.Seen).Still(pr) {
			if again, err := d.fruitless(ctx, before); err != nil {
				return err
			} else if !again {
				continue
			}
		}
		talked = append(talked, pr)
		if !looked || !before.Open() || before.Outcome == store.Waits { // what it waits for lets a success stand that may have to be taken back now (threats.md T865)
			changed = append(changed, w)
		}
	}
	for _, before := range known {
		if before.Comment == 0 && !before.Open() && !open[before.PR] && intake.SeenAs(before.Seen).Open() {
			changed = append(changed, d.want(repo, intake.Look{PR: before.PR, Priority: intake.Found}))
		}
	}
	since, err := d.noted(ctx, firstOf(repo))
	if err != nil {
		return err
	}
	if since.IsZero() && len(changed) > 0 {
		d.Said(fmt.Sprintf("%s is served for the first time: open pull requests to review, but for those that flags leave out: %d; prloop pause holds them back", repo, len(changed)))
	}
	for _, w := range changed {
		if err := d.record.Want(ctx, w); err != nil {
			return err
		}
	}
	for _, pr := range talked {
		if _, waits, err := d.backlog(ctx, repo, pr.Number); waits || err != nil {
			d.suspect(ctx, pr, true)
		}
	}
	upTo, err := d.reconcileComments(ctx, repo, began, seen)
	if err != nil {
		return err
	}
	if err := reconciled.Hit(); err != nil {
		return err
	}
	return d.record.SetNote(ctx, noteOf(repo), upTo.Format(time.RFC3339))
}

// fruitless reports whether a look failed, some time ago, without a run that ended: what kept it from one, such as a fault in the base's .reviewerc or a key that
// was refused, shows in no pull request when it is gone. A run that cannot be gone on with sets two statuses each time, of which a commit takes a thousand: it waits longer.
func (d *Daemon) fruitless(ctx context.Context, w store.Wanted) (bool, error) {
	since := wallclock.Now().Sub(w.Updated)
	if w.Outcome != failed || since < longestWait {
		return false, nil
	}
	run, err := d.record.Run(ctx, w.Run)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return run.State != store.Finished && since >= interruptedWait, err
}

// suspect puts a pull request in doubt if by what an event or a list tells of it a success may have to be taken back, where said is true because of what people say. GitHub
// is not asked for that.
func (d *Daemon) suspect(ctx context.Context, pr review.PullRequest, said bool) {
	if doubt, err := d.service.InDoubt(ctx, pr, said); doubt || err != nil {
		d.doubt(pr)
	}
}

// doubt asks for a check of whether the status of a pull request was set for another base branch, or is contested. The check does not wait for its turn: no look is taken while the
// queue is paused, and others may come before it (threats.md T280).
func (d *Daemon) doubt(pr review.PullRequest) {
	d.mu.Lock()
	d.doubts[store.Subject(fullName(pr.Repo), pr.Number, 0)] = pr
	d.mu.Unlock()
	select {
	case d.doubted <- struct{}{}:
	default:
	}
}

// recant checks doubted pull requests, and takes back a success that was set for another base branch. Repositories are seen to side by side: one about which
// GitHub does not answer keeps no other waiting (threats.md T472).
func (d *Daemon) recant(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	busy, done := map[review.Repo]bool{}, make(chan review.Repo)
	for {
		select {
		case <-ctx.Done():
			return
		case repo := <-done:
			delete(busy, repo)
		case <-d.doubted:
		}
		for repo, doubts := range d.doubtsBut(busy) {
			busy[repo] = true
			wg.Go(func() {
				for _, pr := range doubts {
					d.recantOne(ctx, pr)
				}
				select {
				case <-ctx.Done():
				case done <- repo:
				}
			})
		}
	}
}

// doubtsBut takes the doubted pull requests of all repositories but those that are seen to.
func (d *Daemon) doubtsBut(busy map[review.Repo]bool) map[review.Repo][]review.PullRequest {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := map[review.Repo][]review.PullRequest{}
	for subject, pr := range d.doubts {
		if !busy[pr.Repo] {
			taken[pr.Repo] = append(taken[pr.Repo], pr)
			delete(d.doubts, subject)
		}
	}
	return taken
}

// recantOne sees to one pull request. Where that fails for a moment it is tried again.
func (d *Daemon) recantOne(ctx context.Context, pr review.PullRequest) {
	err := d.notYet(ctx, pr)
	if err == nil || ctx.Err() != nil {
		return
	}
	d.Log.Warn("what was said for another base branch is not taken back yet", "pull request", fmt.Sprintf("%s#%d", pr.Repo, pr.Number), "err", err)
	if d.Lasting != nil && !d.Lasting(err) {
		time.AfterFunc(d.held, func() { d.doubt(pr) })
	}
}

// notYet does so for a pull request as it is now: events come late, and in another order.
func (d *Daemon) notYet(ctx context.Context, pr review.PullRequest) error {
	client, err := d.github(ctx, pr.Repo)
	if err != nil {
		return err
	}
	if pr, err = client.PullRequest(ctx, pr.Repo, pr.Number); err != nil {
		return err
	}
	said, err := d.contested(ctx, client, pr)
	if err != nil {
		return err
	}
	return d.service.NotYet(ctx, pr, intake.Decide(pr, d.Rules, intake.Known{}) == "", said)
}

// contested reports whether somebody who may block said something of a pull request that no look has heard, and none hears soon, or what its verdict rests on of its
// labels changed. What others say has nobody read its threads.
func (d *Daemon) contested(ctx context.Context, client hub, pr review.PullRequest) (bool, error) {
	w, waits, err := d.backlog(ctx, pr.Repo, pr.Number)
	if err != nil || !waits {
		return false, err
	}
	l := look{Daemon: d, Wanted: w, target: review.Target{Repo: pr.Repo, PR: pr.Number}}
	known, err := d.service.Reviewed(ctx, pr)
	if err != nil || known.Relabelled {
		return known.Relabelled, err
	}
	if counts, err := l.counts(ctx, client); err != nil || !counts && w.Priority != intake.Found {
		return false, err
	}
	known, err = l.known(ctx, client, pr, "", w.Anew, true)
	return known.Said, err
}

// noteOf is the name of the note of when a repository was reconciled last.
func noteOf(repo review.Repo) string { return "reconciled " + strings.ToLower(fullName(repo)) }

// firstOf is the name of the note of when it was reconciled first.
func firstOf(repo review.Repo) string { return "served since " + strings.ToLower(fullName(repo)) }

// noted reads a time that was noted; the zero time when none was.
func (d *Daemon) noted(ctx context.Context, name string) (time.Time, error) {
	note, err := d.record.Note(ctx, name)
	if err != nil || note == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, note)
	if err != nil {
		err = fmt.Errorf("read the note %q: %w", name, err)
	}
	return t, err
}

// reconcileComments marks comments that were written since the last time, and gives the time to be noted as the last: when it began, or where there were too many
// at once the one from which the next time goes on. Those of before the first time are left alone.
func (d *Daemon) reconcileComments(ctx context.Context, repo review.Repo, began time.Time, seen map[string]store.Wanted) (upTo time.Time, err error) {
	last, err := d.noted(ctx, noteOf(repo))
	if err != nil || last.IsZero() {
		return began, errors.Join(err, d.record.SetNote(ctx, firstOf(repo), began.Format(time.RFC3339)))
	}
	first, err := d.noted(ctx, firstOf(repo))
	if err != nil {
		return began, err
	}
	since := last.Add(-overlap)
	if since.Before(first) {
		since = first
	}
	client, err := d.github(ctx, repo)
	if err != nil {
		return began, err
	}
	all, until, err := client.NewComments(ctx, repo, since)
	if err != nil {
		return began, err
	}
	for _, m := range all {
		w := d.want(repo, intake.Look{PR: m.Number, Comment: m.DatabaseID, Priority: intake.Command})
		if _, looked := seen[w.Subject]; looked || m.CreatedAt.Before(since) {
			continue
		}
		heard := trigger.Comment{Action: "created", PullRequest: m.PullRequest, Author: m.Author, Body: m.Body, Marked: sanitize.HasMarker(m.Body)}
		if _, why := trigger.Heard(heard, d.Bot); why != "" {
			continue
		}
		if err := d.record.Want(ctx, w); err != nil {
			return began, err
		}
	}
	if !until.IsZero() {
		return until.UTC().Add(overlap), nil // which is taken off again
	}
	return began, nil
}

// fullName names a repository with its host, whatever that is.
func fullName(r review.Repo) string { return r.Host + "/" + r.Owner + "/" + r.Name }

func repoOf(name string) review.Repo {
	host, rest, _ := strings.Cut(name, "/")
	owner, repo, _ := strings.Cut(rest, "/")
	return review.Repo{Host: host, Owner: owner, Name: repo}
}
